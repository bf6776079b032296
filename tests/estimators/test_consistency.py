"""Boundaries, confidence, levels, numbers and notes of a result agree, whatever comes in."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from dayline import EventSegmenter
from dayline.research.datasets.annotations import find_groups, read_labeled


def contexts(random, *, n_events=6, length=40, n_columns=8, noise=0.5):
    clean = np.repeat(random.normal(size=(n_events, n_columns)), length, axis=0)
    return clean + noise * random.normal(size=clean.shape)


ODD = {
    "two frames": lambda random: random.normal(size=(2, 3)),
    "four frames": lambda random: random.normal(size=(4, 3)),
    "nine frames": lambda random: random.normal(size=(9, 5)),
    "two events of ten frames": lambda random: contexts(random, n_events=2, length=5),
    "contexts": contexts,
    "contexts without noise": lambda random: contexts(random, noise=0.0),
    "one column of levels": lambda random: contexts(random, n_columns=1, noise=0.3),
    "equal frames": lambda random: np.ones((50, 4)),
    "one other frame": lambda random: np.eye(1, 200, 70).T @ np.ones((1, 3)),
    "ones and zeros": lambda random: np.repeat(random.integers(0, 2, (12, 6)), 15, axis=0) * 1.0,
    "alternating": lambda random: np.tile([[0.0, 1.0], [1.0, 0.0]], (60, 1)),
    "white noise": lambda random: random.normal(size=(300, 5)),
    "few columns of noise": lambda random: random.normal(size=(150, 1)),
    "random walk": lambda random: np.cumsum(random.normal(size=(300, 4)), axis=0),
    "trend": lambda random: np.linspace(0, 1, 200)[:, None] * np.ones((1, 3)),
    "cycle": lambda random: np.sin(np.arange(400) / 5)[:, None],
    "spread": lambda random: np.repeat([1.0, 3.0], 200)[:, None] * random.normal(size=(400, 2)),
    "huge numbers": lambda random: 1e12 * contexts(random),
    "tiny numbers": lambda random: 1e-12 * contexts(random),
    "more columns than frames": lambda random: contexts(random, n_columns=500, length=10),
}


def check(x, make):
    """Raise AssertionError where parts of a result contradict each other."""
    fitted = make().fit(x)
    result = fitted.segmentation_
    boundaries = fitted.boundaries_.tolist()
    n_events = len(boundaries) + 1
    assert len(result.events) == n_events == len(set(fitted.labels_.tolist()))
    assert len(fitted.confidence_) == len(boundaries)
    assert np.all((fitted.confidence_ >= 0) & (fitted.confidence_ <= 1))
    fewest, most = result.n_events_range
    assert fewest <= n_events <= most

    # Levels are nested, say the same of the same boundary, and are those of `choose`.
    by_level = {one.level: one for one in result.levels}
    if result.levels:
        assert by_level[0].boundaries == tuple(boundaries)
    known = dict(zip(boundaries, fitted.confidence_.round(4).tolist(), strict=True))
    for coarser, finer in zip(result.levels, result.levels[1:], strict=False):
        assert set(coarser.boundaries) < set(finer.boundaries)
    for number, one in by_level.items():
        chosen = fitted.choose(level=number)
        assert tuple(event.start for event in chosen.events[1:]) == one.boundaries
        for boundary, confidence in zip(one.boundaries, one.confidences, strict=True):
            assert known.get(boundary, confidence) == confidence

    of_one_event = [note for note in result.notes if note.startswith("one event: ")]
    assert len(of_one_event) == (n_events == 1)
    differs = len(x) >= 4 and len(np.unique(x, axis=0)) > 1
    if n_events == 1 and differs:
        # A finer level is there, and the note says what it has.
        assert f"level 1 has {len(by_level[1].boundaries) + 1} events" in of_one_event[0]
    if differs:
        for wanted in (1, 2, min(5, len(x) // 2)):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                assert len(fitted.choose(n_events=wanted).events) <= wanted
        assert len(fitted.choose(n_events=2).events) == 2


@pytest.mark.parametrize("make", [EventSegmenter, EventSegmenter.fast])
@pytest.mark.parametrize("name", ODD)
def test_parts_of_a_result_agree_for_odd_inputs(name, make, random):
    check(ODD[name](random), make)


@pytest.mark.slow
def test_parts_of_a_result_agree_for_every_kind_of_recording(shared):
    groups = find_groups(shared)
    if not groups:
        pytest.skip("the development sets are not there")
    for files in groups.values():
        check(np.asarray(read_labeled(files[0]).features)[:1500], EventSegmenter.fast)
