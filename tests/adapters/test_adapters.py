"""The adapters pass the own checks of the libraries that they are for.

sktime and aeon need older versions of other packages than the tests do; `make adapters` runs these
tests where both are installed.
"""

from __future__ import annotations

import doctest
import re
import subprocess
import sys
from importlib import import_module

import numpy as np
import pytest

from dayline import EventSegmenter
from dayline.installation import EXTRAS

LIBRARIES = ("sktime", "aeon", "skchange", "ruptures")
ELSEWHERE = "is not installed here; `make adapters` runs this"
X = np.repeat(np.eye(4), 25, axis=0) + np.random.default_rng(0).normal(scale=0.1, size=(100, 4))
BOUNDARIES = [25, 50, 75]


def adapter(library):
    pytest.importorskip(library, reason=f"{library} {ELSEWHERE}")
    return import_module(f"dayline.adapters.{library}")


@pytest.mark.parametrize("library", LIBRARIES)
def test_the_example_of_an_adapter_prints_what_it_says(library):
    failed, tried = doctest.testmod(adapter(library))
    assert (failed, tried > 3) == (0, True)


@pytest.mark.parametrize("library", LIBRARIES)
def test_an_adapter_imports_no_other_library_and_names_the_extra_that_is_missing(library):
    code = f"""
import sys
sys.modules[{library!r}] = None
try:
    import dayline.adapters.{library}
except ValueError as error:
    print(error)
print([name for name in {LIBRARIES!r} if sys.modules.get(name)])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    said, loaded = done.stdout.splitlines()
    assert said.endswith(f'pip install "dayline[{library}]"')
    assert loaded == "[]"
    assert library in EXTRAS


def test_the_page_of_the_adapters_runs_and_prints_what_it_says(capsys):
    for library in LIBRARIES:
        adapter(library)
    from test_docs import BLOCKS

    known: dict[str, object] = {}
    said = []
    for block in BLOCKS["docs/how-to/other-libraries.md"]:
        if block.language == "python":
            exec(compile(block.text, str(block), "exec", dont_inherit=True), known)
            said += re.findall(r"^print.*  # (.*)$", block.text, re.M)
    printed = capsys.readouterr().out.splitlines()
    assert len(said) > 5
    assert [line for line in printed if line in said] == said


def test_sktime_s_own_checks():
    detector = adapter("sktime").DaylineDetector
    from sktime.utils.estimator_checks import check_estimator

    passed = check_estimator(detector, raise_exceptions=False, verbose=False)
    assert len(passed) > 50
    assert {name: said for name, said in passed.items() if said != "PASSED"} == {}


def test_sktime_gets_boundaries_scores_and_segments_and_gives_times():
    detector = adapter("sktime").DaylineDetector(EventSegmenter(expected_duration="25min"))
    import pandas as pd

    frame = pd.DataFrame(X, index=pd.date_range("2024-05-12", periods=100, freq="min"))
    assert detector.fit_predict(frame).ilocs.tolist() == BOUNDARIES
    assert detector.predict_segments(frame).ilocs.array.left.tolist() == [0, *BOUNDARIES]
    assert detector.predict_scores(frame)[0].between(0, 1).all()
    assert detector.transform_scores(frame).scores.nlargest(3).index.tolist()
    assert detector.transform_scores(frame).index.equals(frame.index)


def test_aeon_s_own_checks():
    segmenter = adapter("aeon").DaylineSegmenter
    from aeon.testing.estimator_checking import check_estimator

    passed = check_estimator(segmenter)
    assert len(passed) > 10
    assert {name: said for name, said in passed.items() if said != "PASSED"} == {}
    for axis, x in ((0, X), (1, X.T)):
        assert segmenter().fit_predict(x, axis=axis).tolist() == BOUNDARIES


def skchange_checks():
    try:
        from skchange.detectors.tests import test_all
    except ModuleNotFoundError:
        return []
    return [function for name, function in vars(test_all).items() if name.startswith("test_")]


@pytest.mark.parametrize("segmenter", [EventSegmenter(), EventSegmenter.fast()], ids=["", "fast"])
@pytest.mark.parametrize("check", skchange_checks(), ids=lambda check: check.__name__)
def test_skchange_s_own_checks(check, segmenter):
    check(adapter("skchange").DaylineDetector(segmenter))


def test_skchange_gets_the_boundaries():
    from sklearn.exceptions import NotFittedError

    detector = adapter("skchange").DaylineDetector()
    with pytest.raises(NotFittedError):
        detector.predict(X)
    assert detector.fit(X).predict(X).tolist() == BOUNDARIES
    assert detector.set_params(segmenter=EventSegmenter()).segmenter.level == 0
    with pytest.raises(ValueError, match="X has 3 features"):
        detector.predict(X[:, :3])


def test_ruptures_gets_breakpoints_that_its_metrics_take():
    algorithm = adapter("ruptures").Dayline()
    from ruptures.metrics import precision_recall, randindex

    with pytest.raises(ValueError, match=r"call fit\(signal\) before"):
        algorithm.predict()
    found = algorithm.fit_predict(X)
    assert found == [*BOUNDARIES, 100]
    assert precision_recall([25, 50, 75, 100], found, margin=1) == (1.0, 1.0)
    assert randindex(found, algorithm.predict(n_bkps=3)) == 1.0
    assert len(algorithm.predict(n_bkps=1)) == 2
    assert algorithm.fit(X[:, 0]).predict()[-1] == 100
