from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dayline.decision.context_distance import context_distance, pick_boundaries
from dayline.decision.partition import partition


def slow_partition(x, penalty, min_length):
    n = len(x)
    best, previous = [0.0] + [-np.inf] * n, [0] * (n + 1)
    for stop in range(1, n + 1):
        for start in range(stop - min_length + 1):
            gain = best[start] + np.sum(x[start:stop].sum(axis=0) ** 2) / (stop - start) - penalty
            if gain > best[stop]:
                best[stop], previous[stop] = gain, start
    cuts, at = [], previous[n]
    while at > 0:
        cuts.append(at)
        at = previous[at]
    return cuts[::-1]


@given(st.integers(0, 1000), st.floats(0.1, 20), st.integers(1, 6), st.integers(6, 50))
@settings(max_examples=60, deadline=None)
def test_partition_agrees_with_a_slow_twin(seed, penalty, min_length, n):
    x = np.random.default_rng(seed).normal(size=(n, 3))
    assert partition(x, penalty=penalty, min_length=min_length).tolist() == slow_partition(x, penalty, min_length)


def test_partition_finds_the_steps_of_a_staircase(xp):
    x = np.repeat(np.eye(3), [10, 7, 12], axis=0)
    assert partition(xp.asarray(x), penalty=1.0).tolist() == [10, 17]
    assert partition(xp.asarray(x), penalty=100.0).tolist() == []


@pytest.mark.parametrize("n", [1, 2, 3])
def test_partition_of_a_few_frames(n):
    assert partition(np.eye(3)[:n], penalty=0.5, min_length=2).tolist() == []


def test_context_distance_by_hand(xp, assert_close):
    """Two looks at a right angle, window 2: at the change the two means are orthogonal."""
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
    scores[33] = 0.6  # a plateau is no strict maximum
    assert pick_boundaries(scores).tolist() == [20]
    scores[33] = 0.0
    scores[23] = 0.95  # within 5 frames of the lower peak, which is then none
    assert pick_boundaries(scores).tolist() == [23]


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_no_boundary_in_a_few_frames(n):
    assert pick_boundaries(np.arange(n) % 2).tolist() == []
