"""The optimal partition against brute force, and the hierarchy of its boundaries."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from brute_force import best_between, best_partition, worth
from dayline.arrays import unit_rows
from dayline.decision import partition as module
from dayline.decision.contexts import context_distance, pick_boundaries
from dayline.decision.partition import build_hierarchy, partition, partition_between


def slow_partition(x, penalties, min_length):
    """The same dynamic programme without pruning, for sequences too long to try everything."""
    n = len(x)
    best, previous = [0.0] + [-np.inf] * n, [0] * (n + 1)
    for stop in range(1, n + 1):
        for start in range(stop - min_length + 1):
            gain = best[start] + np.sum(x[start:stop].sum(axis=0) ** 2) / (stop - start)
            gain -= penalties[start] if start else 0.0
            if gain > best[stop]:
                best[stop], previous[stop] = gain, start
    cuts, at = [], previous[n]
    while at > 0:
        cuts.append(at)
        at = previous[at]
    return cuts[::-1]


@given(
    st.integers(0, 1000), st.floats(0.1, 20), st.booleans(), st.integers(1, 6), st.integers(6, 50)
)
@settings(max_examples=60, deadline=None)
def test_partition_agrees_with_a_slow_twin(seed, penalty, by_frame, min_length, n):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 3))
    penalties = penalty * rng.uniform(0, 2, n) if by_frame else np.full(n, penalty)
    found = partition(x, penalty=penalties if by_frame else penalty, min_length=min_length)
    assert found.tolist() == slow_partition(x, penalties, min_length)


@pytest.mark.parametrize("block", [1, 2, 5, 64])
@pytest.mark.parametrize("min_length", [1, 2, 7])
def test_the_size_of_blocks_changes_nothing(random, monkeypatch, block, min_length):
    x = np.repeat(random.normal(size=(30, 3)), 7, axis=0) + 0.3 * random.normal(size=(210, 3))
    penalties = random.uniform(0.1, 4, 210)
    penalties[random.random(210) < 0.2] = np.inf
    whole = partition(x, penalty=penalties, min_length=min_length)
    monkeypatch.setattr(module, "BLOCK", block)
    np.testing.assert_array_equal(partition(x, penalty=penalties, min_length=min_length), whole)


def test_clear_boundaries_need_few_starts(random, monkeypatch):
    """In a long event every frame may still start the last one; almost none of them does."""
    x = np.repeat(random.normal(size=(6, 4)), 100, axis=0) + 0.05 * random.normal(size=(600, 4))
    exact = partition(x, penalty=3.0)
    assert exact.tolist() == [100, 200, 300, 400, 500]
    monkeypatch.setattr(module, "MOST_STARTS", 20)
    np.testing.assert_array_equal(partition(x, penalty=3.0), exact)


def made(seed):
    """A short sequence and penalties by frame, some of them close to 0 and some infinite."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 13))
    penalties = rng.exponential(rng.choice([0.3, 1.0, 3.0]), n)
    penalties[rng.random(n) < rng.choice([0.0, 0.1, 0.4])] = np.inf
    return rng, rng.normal(size=(n, int(rng.integers(1, 4)))), penalties


@pytest.mark.parametrize("min_length", [1, 2, 3, 4])
def test_partition_is_the_best_of_all_partitions(min_length):
    for seed in range(150):
        _, x, penalties = made(seed)
        found = partition(x, penalty=penalties, min_length=min_length).tolist()
        assert found == best_partition(x, penalties, min_length=min_length), f"seed {seed}"


@pytest.mark.parametrize("block", [1, 3, 64])
def test_partition_between_fixed_boundaries_is_the_best_of_every_piece(monkeypatch, block):
    monkeypatch.setattr(module, "BLOCK", block)
    for seed in range(200):
        rng, x, penalties = made(seed)
        fixed = rng.choice(
            np.arange(1, len(x)), min(int(rng.integers(0, 3)), len(x) - 1), replace=False
        )
        fixed = np.sort(fixed).astype(np.int64)
        found = partition_between(x, penalties, fixed).tolist()
        assert found == best_between(x, penalties, fixed.tolist(), min_length=2), f"seed {seed}"


entries = st.floats(-4, 4, width=16)
sequences = st.tuples(st.integers(1, 11), st.integers(1, 3)).flatmap(
    lambda s: arrays(np.float64, s, elements=entries)
)


@given(
    sequences,
    st.lists(st.floats(0, 8) | st.just(np.inf), min_size=11, max_size=11),
    st.integers(1, 4),
)
@settings(max_examples=150)
def test_no_partition_beats_the_one_found(x, penalties, min_length):
    """Any numbers, ties among them: only the worth of what is found is determined."""
    penalties = np.asarray(penalties[: len(x)])
    found = partition(x, penalty=penalties, min_length=min_length).tolist()
    best = best_partition(x, penalties, min_length=min_length)
    assert not found or min(np.diff([0, *found, len(x)])) >= min_length
    assert worth(x, found, penalties) == pytest.approx(
        worth(x, best, penalties), rel=1e-9, abs=1e-9
    )


def test_one_penalty_for_all_frames_is_the_same_penalty_for_each(random):
    x = random.normal(size=(60, 3))
    for penalty in (0.5, 2, 7.0):
        found = partition(x, penalty=penalty, min_length=3).tolist()
        assert found == partition(x, penalty=np.full(60, penalty), min_length=3).tolist()
        assert found


def test_partition_finds_the_steps_of_a_staircase(xp):
    x = np.repeat(np.eye(3), [10, 7, 12], axis=0)
    assert partition(xp.asarray(x), penalty=1.0).tolist() == [10, 17]
    assert partition(xp.asarray(x), penalty=100.0).tolist() == []


@pytest.mark.parametrize("n", [1, 2, 3])
def test_partition_of_a_few_frames(n):
    assert partition(np.eye(3)[:n], penalty=0.5, min_length=2).tolist() == []


@pytest.mark.parametrize("penalty", [-0.5, np.nan, "high", [1.0, -2.0], [1.0, np.nan], np.ones(3)])
def test_two_frames_are_enough_to_refuse_a_wrong_penalty(penalty):
    with pytest.raises(ValueError, match="penalty="):
        partition(np.eye(2), penalty=penalty, min_length=1)


def test_context_distance_by_hand(xp, assert_close):
    """Two directions at a right angle, window 2: at the change the two means are orthogonal."""
    x = xp.asarray([[1.0, 0.0]] * 4 + [[0.0, 1.0]] * 4, dtype=xp.float64)
    s = 1 / np.sqrt(2)
    assert_close(context_distance(x, window=2), [0, 0, 1 - s, 1.0, 1.0, 1 - s, 0, 0], atol=1e-12)


def test_context_distance_is_blind_to_scale_and_rotation_and_follows_time_reversal(random):
    x = random.normal(size=(40, 3))
    scores = context_distance(x)
    turn, _ = np.linalg.qr(random.normal(size=(3, 3)))
    np.testing.assert_allclose(context_distance(7 * x @ turn), scores, atol=1e-12)
    np.testing.assert_allclose(context_distance(x[::-1]), scores[::-1], atol=1e-12)


def test_too_few_frames_have_no_score():
    assert context_distance(np.eye(4)).tolist() == [0, 0, 0, 0]


def test_peaks_must_rise_above_the_mean_of_all_peaks():
    scores = np.zeros(40)
    scores[[8, 20, 32]] = [0.5, 0.9, 0.6]
    assert pick_boundaries(scores).tolist() == [20]
    scores[33] = 0.6  # a plateau is not a strict maximum
    assert pick_boundaries(scores).tolist() == [20]
    scores[33] = 0.0
    scores[23] = 0.95  # within 5 frames of the lower peak, which is then not a maximum
    assert pick_boundaries(scores).tolist() == [23]


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_no_boundary_in_a_few_frames(n):
    assert pick_boundaries(np.arange(n) % 2).tolist() == []


NONE = np.zeros(0, dtype=np.int64)
cases = st.tuples(st.integers(0, 10_000), st.integers(2, 70))


def made_events(seed: int, n: int):
    random = np.random.default_rng(seed)
    events = np.repeat(random.normal(size=(n, 4)), random.integers(1, 12, n), axis=0)[:n]
    return unit_rows(events + 0.3 * random.normal(size=(n, 4))), random.uniform(-1, 1, n)


def gain(x, start, here, stop):
    """Frames times squared contrast, from the definition."""
    apart = x[start:here].mean(axis=0) - x[here:stop].mean(axis=0)
    return (here - start) * (stop - here) / (stop - start) * float(apart @ apart)


def by_brute_force(x, log_weights, frames):
    """Remove the boundary of lowest gain, again and again, computing all gains anew each time."""
    left, removed, height = sorted(frames), [], 0.0
    while left:
        edges = [0, *left, len(x)]
        gains = [
            gain(x, *edges[k - 1 : k + 2]) * np.exp(log_weights[edges[k]])
            for k in range(1, len(edges) - 1)
        ]
        height = max(height, min(gains))
        removed.append((left.pop(int(np.argmin(gains))), height))
    return removed[::-1]


@given(cases)
@settings(max_examples=40, deadline=None)
def test_the_lowest_gain_goes_first(case):
    x, log_weights = made_events(*case)
    found = build_hierarchy(x, log_weights, penalty=0.5, required=NONE, forbidden=NONE)
    candidates = partition(x, penalty=0.5 * np.exp(-log_weights))
    expected = by_brute_force(x, log_weights, candidates.tolist())
    assert found.boundaries.tolist() == [frame for frame, _ in expected]
    np.testing.assert_allclose(
        np.exp(found.log_heights), [height for _, height in expected], rtol=1e-9
    )


@given(cases, st.sets(st.integers(1, 69), max_size=4), st.sets(st.integers(1, 69), max_size=9))
@settings(max_examples=40, deadline=None)
def test_required_boundaries_come_first_and_forbidden_ones_never(case, required, forbidden):
    x, log_weights = made_events(*case)
    required = np.asarray(sorted({m for m in required if m < len(x)} - forbidden), dtype=np.int64)
    forbidden = np.asarray(sorted(m for m in forbidden if m < len(x)), dtype=np.int64)
    found = build_hierarchy(x, log_weights, penalty=0.5, required=required, forbidden=forbidden)
    assert found.boundaries[: len(required)].tolist() == required.tolist()
    assert np.isposinf(found.log_heights[: len(required)]).all()
    assert np.all(np.diff(found.log_heights[len(required) :]) <= 0)
    assert not set(found.boundaries.tolist()) & set(forbidden.tolist())
    assert len(set(found.boundaries.tolist())) == len(found.boundaries)


@given(cases, st.integers(0, 80))
@settings(max_examples=40, deadline=None)
def test_more_candidates_follow_those_that_were_there(case, wanted):
    x, log_weights = made_events(*case)
    first = build_hierarchy(x, log_weights, penalty=2.0, required=NONE, forbidden=NONE)
    more = first.first(wanted)
    assert more[: len(first.boundaries)].tolist() == first.boundaries[:wanted].tolist()
    assert len(set(more.tolist())) == len(more) <= wanted
    fewer = first.first(wanted // 2)
    assert more[: len(fewer)].tolist() == fewer.tolist()


def test_frames_that_are_alike_have_no_candidates():
    found = build_hierarchy(
        np.ones((9, 3)), np.zeros(9), penalty=1.0, required=NONE, forbidden=NONE
    )
    assert len(found.boundaries) == 0


def test_a_weight_of_eight_is_eight_times_the_height():
    angles = np.repeat([0.0, 1.0, 2.0], 40)
    x = np.column_stack([np.cos(angles), np.sin(angles)])
    plain = build_hierarchy(x, np.zeros(120), penalty=1.0, required=NONE, forbidden=NONE)
    weights = np.zeros(120)
    weights[80] = np.log(8.0)
    heavier = build_hierarchy(x, weights, penalty=1.0, required=NONE, forbidden=NONE)
    assert sorted(plain.boundaries) == sorted(heavier.boundaries) == [40, 80]
    assert heavier.boundaries[0] == 80
    last = gain(x, 0, 80, 120)
    assert np.exp(heavier.log_heights[0]) == pytest.approx(8 * last)
