"""Signals: raw rows or windows, chosen by rows held out; evidence of windows in rows."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.signal import lfilter

from dayline import DynamicGraphEmbedding, PrincipalComponents, score_boundaries
from dayline.decision.decide import Requests, decide, nested_levels
from dayline.decision.evidence import gather_evidence
from dayline.estimators.signals import choose_signal_features, evidence_in_rows

ROWS = np.arange(600)
INSIDE = (ROWS >= 200) & (ROWS < 380)
TRUE = (200, 380)
NONE = np.zeros(0, dtype=np.int64)


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


@pytest.fixture(scope="module", params=[DynamicGraphEmbedding, PrincipalComponents])
def windows(request):
    """A signal whose spread changes, what was chosen, and the evidence of its windows."""
    x = CHANGES["spread"](np.random.default_rng(6))[:, None]
    chosen = choose_signal_features(x * np.linspace(1, 1.2, 600)[:, None])
    embedder = request.param().fit(chosen.features)
    embedding = None if request.param is PrincipalComponents else embedder.embedding_
    directions = embedder.main_directions()
    evidence = gather_evidence(
        chosen.features, directions, embedding, required=NONE, forbidden=NONE, times=None
    )
    assert chosen.step > 1
    return chosen, evidence


def in_rows(windows, required=(), forbidden=()):
    chosen, evidence = windows
    return evidence_in_rows(
        evidence,
        chosen,
        clock=np.arange(601.0),
        required=np.asarray(required, dtype=np.int64),
        forbidden=np.asarray(forbidden, dtype=np.int64),
    )


def test_evidence_of_windows_is_decided_in_rows(windows):
    evidence = in_rows(windows)
    assert len(evidence.embedding) == len(evidence.hierarchy.x) == 600
    assert evidence.strengths == pytest.approx(windows[1].strengths)
    assert evidence.n_events_range == windows[1].n_events_range

    order = evidence.hierarchy.boundaries
    assert len(np.unique(order)) == len(order)
    assert np.all((order > 0) & (order < 600))
    assert np.max(abs(order - windows[0].step * windows[1].hierarchy.boundaries)) < 40

    levels = nested_levels(evidence)
    three = decide(evidence, levels, Requests(n_events=3)).boundaries
    assert np.max(abs(three - TRUE)) <= 5
    many = decide(evidence, levels, Requests(n_events=60)).boundaries
    assert len(many) == 59
    assert set(three) <= set(many)


def test_constraints_on_rows_are_kept(windows):
    free = in_rows(windows)
    first = int(free.hierarchy.boundaries[0])
    bound = in_rows(windows, required=[103], forbidden=[first])
    assert 103 in bound.hierarchy.boundaries
    assert first not in bound.hierarchy.boundaries
    assert len(bound.log_odds) == len(bound.hierarchy.boundaries) == len(bound.agreement) - 1
    found = decide(bound, nested_levels(bound), Requests()).boundaries
    assert 103 in found
    assert first not in found
