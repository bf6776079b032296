"""Evidence for boundaries, and the model that weighs it."""

from __future__ import annotations

import tracemalloc
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.ndimage import uniform_filter1d

from dayline import EventSegmenter, score_boundaries
from dayline.arrays import unit_rows
from dayline.decision.decide import Requests, decide, nested_levels
from dayline.decision.evidence import (
    SHARES,
    abruptness,
    agreement,
    boundary_weights,
    build_hierarchies,
    compare_neighbors,
    gather_evidence,
    hard_cuts,
    share_of_change,
    slowness,
    two_views,
)
from dayline.decision.model import expected_f1, load_model
from dayline.decision.partition import build_hierarchy
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


@pytest.mark.parametrize(("slow", "n_different"), [(1.0, 1), (1.02, 1), (100.0, 3)])
def test_each_share_of_the_slowness_has_its_own_candidates(slow, n_different):
    views, weights, model = unit_rows(MADE), np.linspace(0.0, 1.0, 160), load_model()
    found = build_hierarchies(views, weights, slow, model)
    for share, hierarchy in zip(SHARES, found, strict=True):
        penalty = model.candidate_penalty * slow**share
        own = build_hierarchy(views, weights, penalty=penalty, required=NONE, forbidden=NONE)
        assert hierarchy.penalty == penalty
        assert hierarchy.boundaries.tolist() == own.boundaries.tolist()
        np.testing.assert_array_equal(hierarchy.log_heights, own.log_heights)
    assert len({tuple(hierarchy.boundaries.tolist()) for hierarchy in found}) == n_different


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


def drifting(random, n=400):
    """A slow drift with one hard cut at frame 200."""
    steps = 0.05 * random.normal(size=(n, 30))
    steps[0] = random.normal(size=30)
    steps[200] = 3 * random.normal(size=30)
    return np.cumsum(steps, axis=0)


def test_only_the_hard_cut_is_abrupt(random):
    found = abruptness(compare_neighbors(standardize(drifting(random))))
    assert np.argmax(found) == 200
    assert found[200] > 4
    assert np.mean(found > 2) < 0.05


@pytest.mark.parametrize("n", [60, 61, 101, 102, 400])
def test_abruptness_is_blind_to_scale_and_follows_time_reversal(random, n):
    x = standardize(drifting(random)[200 - n // 2 : 200 + n - n // 2])
    forward = abruptness(compare_neighbors(x))
    np.testing.assert_allclose(abruptness(compare_neighbors(5 * x)), forward, atol=1e-6)
    np.testing.assert_allclose(
        abruptness(compare_neighbors(x[::-1]))[1:], forward[1:][::-1], atol=1e-6
    )


def test_a_cut_is_the_highest_of_five_frames_and_bounded():
    jumps = np.asarray([0.0, 1.0, 3.0, 6.0, 2.5, 0.0, 0.0, 0.0, 50.0, 0.0, 1.9, 0.0])
    assert hard_cuts(jumps).tolist() == [0, 0, 0, 4, 0, 0, 0, 0, 10, 0, 0, 0]


@pytest.mark.parametrize("n", range(1, 7))
def test_a_few_frames_have_an_abruptness(n):
    assert np.isfinite(abruptness(compare_neighbors(np.eye(6)[:n]))).all()


@pytest.mark.parametrize("entries", [1, 30, 100, 1000])
def test_blocks_of_rows_give_the_same_as_the_whole(random, monkeypatch, entries):
    x = standardize(drifting(random)[150:240])
    whole = abruptness(compare_neighbors(x))
    monkeypatch.setattr("dayline.arrays.HOST_BLOCK", entries)
    np.testing.assert_array_equal(abruptness(compare_neighbors(x)), whole)


def test_slowness_is_1_for_noise_4_for_a_walk_and_bounded_for_motion(random):
    events = 5 * np.repeat(random.normal(size=(10, 30)), 30, axis=0)
    walk = np.cumsum(random.normal(size=(600, 30)), axis=0)
    motion = np.cumsum(np.cumsum(random.normal(size=(600, 30)), axis=0), axis=0)
    cases = ((events + random.normal(size=events.shape), 1.0), (walk, 4.0), (motion, 10.0))
    for x, expected in cases:
        assert slowness(compare_neighbors(standardize(x))) == pytest.approx(expected, rel=0.15)


def test_slowness_grows_with_the_frame_rate_and_ignores_equal_frames(random):
    noise = standardize(random.normal(size=(400, 30)))
    assert slowness(compare_neighbors(noise)) == pytest.approx(1.0, abs=0.05)
    assert slowness(compare_neighbors(np.repeat(noise, 2, axis=0))) > 2
    assert slowness(compare_neighbors(np.repeat(noise, 5, axis=0))) == 10.0
    steps = np.repeat(random.normal(size=(12, 30)), 8, axis=0)
    assert slowness(compare_neighbors(steps)) == 1.0
    assert slowness(compare_neighbors(steps + 1e-6 * random.normal(size=steps.shape))) == 1.0
    assert slowness(compare_neighbors(noise[:9])) == 1.0
    assert slowness(compare_neighbors(np.repeat(noise[:12], 5, axis=0))) == 60 / 24


falling = st.lists(st.floats(-3, 8), max_size=30).map(
    lambda v: np.sort(np.asarray(v, dtype=float))[::-1]
)


def test_the_model_is_small_and_higher_is_more_probable():
    model = load_model()
    assert len(model.kinds) >= 20
    found = model.probabilities(np.linspace(-5, 5, 50))
    assert found.shape == (len(model.kinds), 50)
    assert np.all((found > 0) & (found < 1))
    assert np.all(np.diff(found.mean(axis=0)) > 0)


def test_odds_are_added_and_required_boundaries_are_certain():
    model = load_model()
    strengths = np.asarray([np.inf, 1.0, -1.0])
    found, doubled = (
        model.probabilities(strengths),
        model.probabilities(strengths, log_odds=np.log(2.0)),
    )
    assert np.all(found[:, 0] == 1.0)
    np.testing.assert_allclose(
        doubled[:, 1:] / (1 - doubled[:, 1:]), 2 * found[:, 1:] / (1 - found[:, 1:])
    )


@given(falling)
@settings(max_examples=60, deadline=None)
def test_the_split_has_the_highest_variance_between_classes(heights):
    if len(heights) < 3 or np.ptp(heights) < 1e-6:
        return
    # In under 48 frames no candidates are added.
    found = replace(load_model(), split_counts_as=0.0).split(heights, 47, penalty=1.0)

    def between(k):
        high, low = heights[:k], heights[k:]
        return len(high) * len(low) * (high.mean() - low.mean()) ** 2

    best = max(between(k) for k in range(1, len(heights)))
    k = int(np.sum(heights > found)) or int(np.sum(heights >= found))
    assert between(min(k, len(heights) - 1)) == pytest.approx(best, rel=1e-6)


def test_few_candidates_are_split_near_the_usual_height():
    model = replace(load_model(), usual_split=2.0, split_counts_as=3.0)
    assert model.split(np.zeros(0), 47, penalty=1.0) == 2.0
    assert model.split(np.asarray([5.0]), 47, penalty=np.e) == pytest.approx((1 + 3 * 2) / 4)
    many = np.repeat([6.0, 0.0], 50)
    assert model.split(many, 47, penalty=1.0) == pytest.approx((100 * 3 + 3 * 2) / 103)


def test_where_all_candidates_are_boundaries_the_split_is_below_them():
    model = replace(load_model(), split_counts_as=0.0)
    clear = np.linspace(6.0, 5.0, 20)
    assert model.split(clear, 240, penalty=np.e) == pytest.approx(3.0)
    assert model.split(np.zeros(0), 240, penalty=np.e) == pytest.approx(1.0)
    # A few frames have none to spare for the rest.
    assert model.split(clear, 47, penalty=np.e) > 5.0


@given(st.lists(st.floats(0.01, 0.99), max_size=8))
@settings(max_examples=40, deadline=None)
def test_expected_f1_is_a_share_and_none_at_all_counts(p):
    by_kind = np.sort(np.asarray([p], dtype=float).reshape(1, -1))[:, ::-1]
    found = expected_f1(by_kind)
    assert len(found) == len(p) + 1
    assert np.all((found >= 0) & (found <= 1))
    assert found[0] == pytest.approx(np.prod(1 - by_kind))


@given(st.lists(st.floats(0.05, 0.95), min_size=1, max_size=7))
@settings(max_examples=30, deadline=None)
def test_the_number_it_prefers_is_nearly_the_best_there_is(p):
    """Against the exact expectation over every way in which independent boundaries may be right."""
    p = np.sort(p)[::-1]
    exact = np.zeros(len(p) + 1)
    for truth in product([0, 1], repeat=len(p)):
        chance = np.prod(np.where(truth, p, 1 - p))
        for k in range(len(p) + 1):
            total = k + sum(truth)
            exact[k] += chance * (2 * sum(truth[:k]) / total if total else 1.0)
    chosen = int(np.argmax(expected_f1(p[None, :])))
    assert exact[chosen] > exact.max() - 0.05


def test_every_kind_counts_the_same():
    model = replace(
        load_model(),
        kinds=("a", "b"),
        slopes=np.asarray([0.0, 0.0]),
        intercepts=np.asarray([9.0, -9.0]),
    )
    found = expected_f1(model.probabilities(np.zeros(4)))
    np.testing.assert_allclose(
        found[1:], 0.5 * 2 * np.arange(1, 5) / (np.arange(1, 5) + 4), atol=0.01
    )


def test_agreement_is_the_mean_f1_of_every_level_and_every_answer():
    """Each boundary matches one of an answer at most, within two frames."""
    random = np.random.default_rng(0)
    order = random.permutation(np.arange(6, 300, 6))
    answers = [np.sort(random.choice(np.arange(3, 300, 6), k, replace=False)) for k in (0, 9, 30)]
    answers[1] += random.integers(-1, 2, 9)
    found = agreement(order, answers, 300)
    expected = [
        np.mean([
            1.0 if k == len(a) == 0 else score_boundaries(order[:k], a, tolerance=2).f1
            for a in answers
        ])
        for k in range(len(order) + 1)
    ]  # fmt: skip
    np.testing.assert_allclose(found, expected, atol=1e-12)


def test_the_answers_agree_on_events_that_everyone_sees():
    random = np.random.default_rng(3)
    x = np.repeat(random.normal(size=(6, 12)), 40, axis=0) + 0.1 * random.normal(size=(240, 12))
    evidence = EventSegmenter().fit(x).evidence_
    for answer in evidence.answers:
        # The peaks of windows are those above the mean of all, so not all of them.
        assert len(answer) >= 3
        assert np.min(np.abs(answer[:, None] - [40, 80, 120, 160, 200]), axis=1).max() <= 2
    assert evidence.agreed_number == 5
    assert evidence.agreement[5] > 0.8
    fewest, most = evidence.n_events_range
    assert fewest <= 6 <= most


def test_slowness_that_leaves_no_boundary_does_not_count():
    """Smooth, short and with many events: all of the slowness leaves no candidate."""
    random = np.random.default_rng(0)
    rows = np.repeat(np.abs(random.normal(size=(12, 12))), 12, axis=0)
    x = uniform_filter1d(rows, 7, axis=0) + 0.001 * random.normal(size=rows.shape)
    evidence = EventSegmenter().fit(x).evidence_
    assert len(evidence.hierarchy.boundaries) > 0
    assert len(EventSegmenter().fit(x).boundaries_) > 1
