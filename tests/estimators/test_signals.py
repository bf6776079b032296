"""Signals: raw rows or windows, chosen by rows held out; evidence of windows in rows."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.signal import lfilter
from sklearn.base import clone

from dayline import EventSegmenter, score_boundaries
from dayline.estimators.signals import choose_signal_features

ROWS = np.arange(600)
INSIDE = (ROWS >= 200) & (ROWS < 380)
TRUE = (200, 380)


def filtered(coefficient, random, n=600):
    return np.sqrt(1 - coefficient**2) * lfilter([1], [1, -coefficient], random.normal(size=n))


CHANGES = {
    "step": lambda r: r.normal(size=600) + 3 * INSIDE,
    "spread": lambda r: r.normal(size=600) * np.where(INSIDE, 4, 1),
    "frequency": lambda r: (
        np.sin(np.cumsum(2 * np.pi / np.where(INSIDE, 10, 20))) + 0.3 * r.normal(size=600)
    ),
    "autocorrelation": lambda r: np.where(INSIDE, filtered(0.9, r), filtered(0.1, r)),
    "slope": lambda r: np.cumsum(np.where(INSIDE, -0.05, 0.05)) + 0.5 * r.normal(size=600),
    "season with a step": lambda r: (
        2 * np.sin(2 * np.pi * ROWS / 24) + 2 * INSIDE + 0.5 * r.normal(size=600)
    ),
}


@pytest.mark.parametrize("kind", CHANGES)
def test_changes_of_many_kinds_are_found(kind):
    scores, gains, steps = [], [], []
    for seed in range(10):
        chosen = choose_signal_features(CHANGES[kind](np.random.default_rng(seed))[:, None])
        scores.append(score_boundaries(chosen.boundaries, TRUE, tolerance=10).f1)
        gains.append(chosen.gain)
        steps.append(chosen.step)
        assert (chosen.period is not None) == ("season" in kind)
        assert ("24 rows was taken out" in chosen.note) == ("season" in kind)
        assert ("windows" in chosen.note) == (chosen.step > 1)
    # Where a slope changes is seen in many rows only.
    assert np.mean(scores) > (0.35 if kind == "slope" else 0.7)
    assert np.mean(np.asarray(gains) > 0) >= (0.5 if kind == "slope" else 0.9)
    if kind in ("frequency", "autocorrelation"):
        assert min(steps) > 1


NOTHING = {
    "white noise": lambda r: r.normal(size=600),
    "AR(.5)": lambda r: filtered(0.5, r),
    "AR(.95)": lambda r: filtered(0.95, r, 800)[200:],
    "random walk": lambda r: np.cumsum(r.normal(size=600)),
    "trend": lambda r: 0.02 * ROWS + r.normal(size=600),
    "season": lambda r: 2 * np.sin(2 * np.pi * ROWS / 24) + 0.5 * r.normal(size=600),
    "sine": lambda r: np.sin(ROWS / 5 + r.uniform(0, 6)),
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", NOTHING)
def test_where_nothing_changes_no_answer_predicts_better_than_one_event(kind):
    x = [NOTHING[kind](np.random.default_rng(seed))[:, None] for seed in range(20)]
    assert sum(choose_signal_features(one).gain > 0 for one in x) <= 1


def test_features_of_many_columns_are_no_signal():
    random = np.random.default_rng(0)
    assert choose_signal_features(random.normal(size=(100, 9))) is None
    assert choose_signal_features(random.normal(size=(100, 8))) is not None


@pytest.mark.parametrize("n", [1, 2, 5, 23, 24, 90])
def test_short_signals_have_an_answer(n):
    x = np.random.default_rng(0).normal(size=(n, 2))
    chosen = choose_signal_features(x)
    assert len(chosen.features) * chosen.step >= n - chosen.step
    assert np.all((chosen.boundaries > 0) & (chosen.boundaries < n))


def test_a_period_that_is_given_is_taken_out():
    x = (
        np.random.default_rng(0).normal(size=(600, 1))
        + 0.3 * np.sin(2 * np.pi * ROWS / 40)[:, None]
    )
    assert choose_signal_features(x).period is None
    chosen = choose_signal_features(x, period=40)
    assert chosen.period == 40
    assert np.std(chosen.signals) < np.std(x)


@pytest.fixture(scope="module", params=[EventSegmenter, EventSegmenter.fast])
def in_windows(request):
    """A signal whose frequency changes, fitted; its events are seen in windows."""
    fitted = request.param().fit(CHANGES["frequency"](np.random.default_rng(6))[:, None])
    (note,) = fitted.segmentation_.notes
    assert "events were found in windows" in note
    return fitted


def test_evidence_of_windows_is_decided_in_rows(in_windows):
    evidence = in_windows.evidence_
    assert len(in_windows.embedding_) == len(in_windows.scores_) == len(evidence.hierarchy.x) == 600
    order = evidence.hierarchy.boundaries
    assert len(np.unique(order)) == len(order)
    assert np.all((order > 0) & (order < 600))

    assert np.max(abs(in_windows.boundaries_ - TRUE)) <= 10
    many = [event.start for event in in_windows.choose(n_events=60).events]
    assert len(many) == 60
    assert set(in_windows.boundaries_) <= set(many)


def test_constraints_on_rows_are_kept(in_windows):
    first = int(in_windows.boundaries_[0])
    x = CHANGES["frequency"](np.random.default_rng(6))[:, None]
    bound = clone(in_windows).fit(x, must=[103], must_not=[first])
    assert 103 in bound.boundaries_
    assert first not in bound.boundaries_


def test_periods_are_named_or_given_and_for_few_columns_only():
    x = CHANGES["season with a step"](np.random.default_rng(0))[:, None]
    (note,) = EventSegmenter.fast().fit(x).segmentation_.notes
    assert note == "a period of 24 rows was taken out"
    given = EventSegmenter(period=40).fit(np.random.default_rng(0).normal(size=(200, 1)))
    assert "a period of 40 rows was taken out" in given.segmentation_.notes
    with pytest.raises(ValueError, match="period=24 is for features of at most 8 columns"):
        EventSegmenter(period=24).fit(np.zeros((100, 9)) + np.arange(9))
    with pytest.raises(ValueError, match="period=80"):
        EventSegmenter(period=80).fit(x[:100])


def test_times_and_pauses_of_a_signal_in_windows():
    """The clock, the breaks and the durations are those of rows."""
    x = CHANGES["frequency"](np.random.default_rng(6))[:, None]
    times = 10.0 * ROWS + np.where(ROWS >= 500, 1e5, 0.0)
    result = EventSegmenter.fast().segment(x, times=times, breaks=[500])
    starts = [event.start for event in result.events]
    assert 500 in starts
    assert result.events[starts.index(500)].reason == "pause"
