from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from sklearn.cluster import KMeans

from dayline.method.communities import find_communities, find_recurring_events, in_order_of_appearance
from dayline.metrics import score_labels


def test_three_heaps_are_found_and_numbered_as_they_appear(xp, random):
    truth = np.repeat([0, 1, 0, 2, 1], 8)
    centres = np.asarray([[9.0, 0.0], [0.0, 9.0], [-9.0, -9.0]])
    found = find_communities(xp.asarray(centres[truth] + random.normal(scale=0.1, size=(40, 2))), 3)
    assert found.tolist() == truth.tolist()


def test_no_more_communities_than_different_frames():
    x = np.repeat([[1.0, 0.0], [0.0, 1.0]], 5, axis=0)
    assert find_communities(x, 10).tolist() == [0] * 5 + [1] * 5
    assert find_communities(np.zeros((4, 2)), 10).tolist() == [0] * 4
    assert find_communities(np.zeros((1, 2)), 10).tolist() == [0]


@pytest.mark.parametrize(("difference", "n_found"), [(4e-8, 1), (4e-7, 2)])
def test_frames_that_differ_by_rounding_alone_are_one_community(difference, n_found):
    x = 1000 * np.asarray([[1.0, 0.0], [1.0, difference]] * 4)
    assert len(set(find_communities(x, 2).tolist())) == n_found


@pytest.mark.parametrize("seed", [3, 6, 18, 38])
def test_the_best_of_ten_restarts_is_taken(seed):
    """On these points the tenth or the eleventh restart finds better groups than any before it."""
    x = np.random.default_rng(seed).normal(size=(40, 3))
    expected = KMeans(6, n_init=10, random_state=0).fit_predict(x)
    assert score_labels(find_communities(x, 6), expected).adjusted_rand == pytest.approx(1.0)


def test_same_seed_same_communities(random):
    x = random.normal(size=(60, 4))
    assert np.array_equal(find_communities(x, 5, random_state=3), find_communities(x, 5, random_state=3))


def test_events_of_one_context_share_a_number_and_neighbours_never_do():
    looks = np.eye(3)[[0, 1, 0, 2, 1, 0]]
    x = np.repeat(looks, [4, 9, 30, 5, 2, 7], axis=0)
    found = find_recurring_events(x, np.asarray([4, 13, 43, 48, 50]))
    assert found[[0, 4, 13, 43, 48, 50]].tolist() == [0, 1, 0, 2, 1, 0]
    same = find_recurring_events(np.ones((9, 2)), np.asarray([3, 6]))
    assert same[[0, 3, 6]].tolist()[:2] == [0, 1]
    assert find_recurring_events(np.ones((3, 2)), np.zeros(0, dtype=int)).tolist() == [0, 0, 0]


def slow_recurring_events(x, boundaries):
    """Merge the two nearest groups without neighbouring events, comparing all pairs each time."""
    edges = [0, *boundaries.tolist(), len(x)]
    events = [x[a:b] for a, b in pairwise(edges)]
    steps = [np.sum((a.mean(axis=0) - b.mean(axis=0)) ** 2) for a, b in pairwise(events)]
    groups = [[k] for k in range(len(events))]
    while True:
        pairs = [
            (float(np.sum((_mean(events, a) - _mean(events, b)) ** 2)), i, i + 1 + j)
            for i, a in enumerate(groups)
            for j, b in enumerate(groups[i + 1 :])
            if all(abs(k - m) > 1 for k in a for m in b)
        ]
        if not pairs or min(pairs)[0] >= 0.65 * np.median(steps):
            break
        _, i, j = min(pairs)
        groups[i] += groups.pop(j)
    labels = np.empty(len(events), dtype=int)
    for number, group in enumerate(sorted(groups, key=min)):
        labels[group] = number
    return np.repeat(labels, np.diff(edges))


def _mean(events, group):
    return np.concatenate([events[k] for k in group]).mean(axis=0)


@pytest.mark.parametrize("seed", range(12))
def test_recurring_events_agree_with_a_slow_twin(seed):
    rng = np.random.default_rng(seed)
    contexts = rng.normal(size=(4, 3))
    n_events = int(rng.integers(1, 16))
    x = np.concatenate([contexts[rng.integers(4)] + 0.3 * rng.normal(size=(5, 3)) for _ in range(n_events)])
    boundaries = np.arange(1, n_events) * 5
    np.testing.assert_array_equal(find_recurring_events(x, boundaries), slow_recurring_events(x, boundaries))


def test_labels_are_renumbered_in_the_order_in_which_they_first_appear():
    assert in_order_of_appearance(np.asarray([7, 7, 2, 9, 2, 7])).tolist() == [0, 0, 1, 2, 1, 0]
