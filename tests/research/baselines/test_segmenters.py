"""What all baselines have in common, and their table."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

from dayline import score_boundaries
from dayline.research.baselines.catalogue import BASELINES, is_seeded, make_baseline

pytest.importorskip("ruptures")
pytest.importorskip("torch")

QUICK = {
    "tw-finch": {"level": 1},
    "tsc": {"n_atoms": 10, "n_iterations": 40},
    "lrt": {"n_directions": 10},
    "vcp": {"n_units": 16, "n_epochs": 8},
    "kmeans": {"n_communities": 5},
    "ac-color": {"time_window": 20},
    "sr-clustering": {"pair_weight": 0.01},
}
"""Settings for 110 frames of 12 features; all others are the published ones."""
SEGMENTERS = {name: make_baseline(name).set_params(**QUICK.get(name, {})) for name in BASELINES}
SEGMENTERS["ces denoised"] = make_baseline("ces").set_params(denoise=True)
NUMBERED = [name for name, segmenter in SEGMENTERS.items() if "n_events" in segmenter.get_params()]
EXACT = [name for name in NUMBERED if name not in {"tw-finch", "tsc", "lrt", "ac-color"}]
"""Those that return as many events as requested, in the right places; the groups of the others may
recur."""

TRUE = [25, 60, 78]
one_by_one = pytest.mark.parametrize("segmenter", SEGMENTERS.values(), ids=SEGMENTERS)


def made_events() -> np.ndarray:
    generator = np.random.default_rng(3)
    means = generator.normal(size=(4, 12))
    # Never negative: some methods are made for histograms.
    return np.abs(
        np.repeat(means, np.diff([0, *TRUE, 110]), axis=0) + 0.1 * generator.normal(size=(110, 12))
    )


@pytest.mark.slow
@parametrize_with_checks(list(SEGMENTERS.values()))
def test_scikit_learn_s_own_checks(estimator, check):
    if check.func.__name__ == "check_fit1d":
        pytest.skip("an array of one dimension is a sequence of one value per frame")
    check(estimator)


@one_by_one
def test_labels_and_boundaries_agree(segmenter):
    fitted = clone(segmenter)
    labels = fitted.fit_predict(made_events())
    assert fitted.boundaries_.dtype == np.int64
    assert np.all((fitted.boundaries_ >= 1) & (fitted.boundaries_ < 110))
    assert (np.flatnonzero(np.diff(labels)) + 1).tolist() == fitted.boundaries_.tolist()
    assert labels[0] == 0
    assert labels[-1] == len(fitted.boundaries_)


@one_by_one
def test_plain_events_are_found(segmenter):
    score = score_boundaries(clone(segmenter).fit(made_events()).boundaries_, TRUE, tolerance=2)
    # The CES rule drops whatever is below the mean of its maxima, even where all are true: one may
    # be all it keeps. AC-color's own cut finds all of them and more.
    finds_more = segmenter is SEGMENTERS["ac-color"]
    assert score.f1 >= 0.5 or (score.recall == 1.0 and finds_more)


@pytest.mark.parametrize("name", EXACT)
def test_plain_events_are_found_exactly_where_their_number_is_given(name):
    found = clone(SEGMENTERS[name]).set_params(n_events=4).fit(made_events()).boundaries_
    assert len(found) == 3
    assert np.abs(found - TRUE).max() <= 1


@pytest.mark.parametrize("name", EXACT)
@pytest.mark.parametrize("n_events", [1, 2, 9])
def test_as_many_events_as_requested(name, n_events):
    labels = clone(SEGMENTERS[name]).set_params(n_events=n_events).fit_predict(made_events())
    assert labels.max() + 1 == n_events


@pytest.mark.parametrize("name", NUMBERED)
def test_more_events_than_frames_are_refused(name):
    with pytest.raises(ValueError, match="n_events=111 for 110 frames"):
        clone(SEGMENTERS[name]).set_params(n_events=111).fit(made_events())


@one_by_one
@pytest.mark.parametrize(
    "x",
    [np.zeros((30, 4)), np.full((30, 4), 0.1), np.ones((1, 5)), np.ones((3, 1))],
    ids=["zero", "identical", "1 frame", "3 equal frames of one column"],
)
def test_where_nothing_happens_there_is_one_event(segmenter, x):
    assert clone(segmenter).fit_predict(x).tolist() == [0] * len(x)


@one_by_one
def test_missing_frames_are_named_or_repaired(segmenter):
    x = made_events()
    x[17] = np.nan
    with pytest.raises(ValueError, match="frame 17 holds NaN"):
        clone(segmenter).fit(x)
    assert len(clone(segmenter).set_params(missing="interpolate").fit_predict(x)) == 110


@one_by_one
def test_input_is_never_modified(segmenter):
    x = made_events()
    clone(segmenter).fit(x)
    assert np.array_equal(x, made_events())


@pytest.mark.parametrize("entry", BASELINES.values(), ids=BASELINES)
def test_the_catalogue_agrees_with_the_class(entry):
    baseline = make_baseline(entry.name, number=7, seed=3)
    parameters = baseline.get_params()
    assert type(baseline).__name__ == entry.estimator
    assert entry.parameters.items() <= parameters.items()
    assert parameters.get("n_events", parameters.get("n_communities", 7)) == 7
    assert parameters.get("random_state", 3) == 3
    assert is_seeded(entry.name) == ("random_state" in parameters)
