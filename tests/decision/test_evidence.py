from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

from dayline import EventSegmenter
from dayline.arrays import unit_rows
from dayline.decision.decide import Requests, decide, nested_levels
from dayline.decision.evidence import (
    boundary_weights,
    compare_neighbors,
    gather_evidence,
    share_of_change,
    two_views,
)
from dayline.decision.model import load_model
from dayline.method.denoise import comparable_columns, standardize
from dayline.research.datasets.synthetic import make_communities

NONE = np.zeros(0, dtype=np.int64)
MADE = make_communities(160, stay=200.0, n_features=12, random_state=1).features


def evidence_of(x):
    fitted = EventSegmenter().fit(x)
    return fitted.evidence_


@pytest.mark.parametrize("change", ["scaled", "shifted", "permuted", "reversed"])
def test_evidence_does_not_depend_on_units_or_the_order_of_columns(change):
    plain, made = evidence_of(MADE), None
    if change == "scaled":
        made = evidence_of(MADE * np.geomspace(1e-3, 1e3, 12))
    elif change == "shifted":
        made = evidence_of(MADE + np.linspace(-50, 50, 12))
    elif change == "permuted":
        made = evidence_of(MADE[:, ::-1])
    else:
        made = evidence_of(MADE[::-1])
        assert set((160 - made.hierarchy.boundaries[:8]).tolist()) == set(
            plain.hierarchy.boundaries[:8].tolist()
        )
        return
    assert made.hierarchy.boundaries.tolist() == plain.hierarchy.boundaries.tolist()
    np.testing.assert_allclose(made.strengths, plain.strengths, atol=1e-4)


def test_a_few_columns_of_noise_change_little():
    noisy = np.column_stack([MADE, np.random.default_rng(0).normal(size=(160, 3))])
    found, with_noise = (set(EventSegmenter().fit(x).boundaries_.tolist()) for x in (MADE, noisy))
    assert len(found & with_noise) >= 0.8 * max(len(found), len(with_noise))


def test_both_views_have_the_same_weight(random):
    views = two_views(
        unit_rows(random.normal(size=(30, 5))), unit_rows(random.normal(size=(30, 5)))
    )
    assert views.shape == (30, 10)
    np.testing.assert_allclose(np.sum(views[:, :5] ** 2, axis=1), 0.5)
    np.testing.assert_allclose(np.sum(views[:, 5:] ** 2, axis=1), 0.5)


def test_a_hard_cut_weighs_more(random):
    x = np.cumsum(0.05 * random.normal(size=(300, 20)), axis=0)
    x[150:] += 3
    weights = boundary_weights(compare_neighbors(standardize(x)), load_model())
    assert np.argmax(weights) == 150
    assert weights[150] > 2


def test_steps_change_at_their_boundaries_and_drift_everywhere(random):
    steps = np.repeat(random.normal(size=(4, 20)), 50, axis=0)
    boundaries = np.asarray([50, 100, 150])
    noisy = steps + 0.5 * random.normal(size=(200, 20))
    assert share_of_change(noisy, boundaries, part=0.0) == pytest.approx(1.0, abs=0.15)
    drift = np.linspace(0, 1, 200)[:, None] * random.normal(size=20)
    assert share_of_change(drift, boundaries, part=0.0) == pytest.approx(4 / 50, rel=0.01)
    assert share_of_change(drift, boundaries, part=0.25) == pytest.approx(12 / 50, rel=0.01)
    assert share_of_change(drift, NONE, part=0.0) == 1.0


def test_constraints_leave_the_strength_of_the_others(random):
    x = np.repeat(random.normal(size=(5, 12)), 40, axis=0) + 0.2 * random.normal(size=(200, 12))
    free = EventSegmenter().fit(x).evidence_
    bound = EventSegmenter().fit(x, must=[83], must_not=[7]).evidence_
    where = {int(b): s for b, s in zip(free.hierarchy.boundaries, free.strengths, strict=True)}
    assert bound.hierarchy.boundaries[0] == 83
    for frame, strength in zip(bound.hierarchy.boundaries, bound.strengths, strict=True):
        if int(frame) == 160:
            assert strength == pytest.approx(where[160], abs=0.5)


def test_a_forbidden_frame_does_not_make_noise_of_the_others(random):
    """The candidate moves by a frame, and all others keep their odds."""
    x = np.repeat(random.normal(size=(6, 12)), 60, axis=0) + 0.5 * random.normal(size=(360, 12))
    free = EventSegmenter().fit(x)
    bound = EventSegmenter().fit(x, must_not=[int(free.boundaries_[2])])
    others = np.delete(free.boundaries_, 2)
    assert set(others.tolist()) <= set(bound.boundaries_.tolist())
    assert len(bound.boundaries_) == len(free.boundaries_)
    moved = np.setdiff1d(bound.boundaries_, others)
    assert bound.confidence_[np.searchsorted(bound.boundaries_, moved)] == pytest.approx(
        free.confidence_[2], abs=0.15
    )


def test_a_few_frames_have_evidence():
    for n in (1, 2, 3, 4, 5):
        x = np.eye(5)[:n]
        found = gather_evidence(
            comparable_columns(x), x, x, required=NONE, forbidden=NONE, times=None
        )
        assert np.isfinite(found.strengths).all()


def test_the_main_directions_alone_are_evidence_too(random):
    """Without an embedding, contrast and recurring contexts are those of the directions."""
    x = standardize(
        np.repeat(random.normal(size=(6, 9)), 20, axis=0) + 0.1 * random.normal(size=(120, 9))
    )
    alone = gather_evidence(x, x, None, required=NONE, forbidden=NONE, times=None)
    twice = gather_evidence(x, x, x, required=NONE, forbidden=NONE, times=None)
    assert alone.hierarchy.x.shape == (120, 9)
    assert alone.hierarchy.boundaries.tolist() == twice.hierarchy.boundaries.tolist()
    np.testing.assert_allclose(alone.strengths, twice.strengths, atol=1e-9)
    np.testing.assert_array_equal(alone.embedding, twice.embedding)


@pytest.mark.slow
def test_the_memory_of_a_decision_grows_linearly(random):
    """At most 1,400 bytes a frame, of which the views and their running sums take 480."""
    n = 200_000
    directions = np.repeat(random.normal(size=(n // 200, 15)), 200, axis=0) + 0.3 * random.normal(
        size=(n, 15)
    )
    tracemalloc.start()
    try:
        evidence = gather_evidence(
            directions, directions, directions, required=NONE, forbidden=NONE, times=None
        )
        decision = decide(evidence, nested_levels(evidence), Requests(min_duration=3))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert decision.boundaries.tolist() == list(range(200, n, 200))
    assert peak < 1400 * n
