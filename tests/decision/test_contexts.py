"""Events that look alike share a context."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from dayline.decision import contexts
from dayline.decision.contexts import find_recurring_events


def test_events_of_one_context_share_a_number_and_neighbors_never_do():
    looks = np.eye(3)[[0, 1, 0, 2, 1, 0]]
    x = np.repeat(looks, [4, 9, 30, 5, 2, 7], axis=0)
    found = find_recurring_events(x, np.asarray([4, 13, 43, 48, 50]))
    assert found[[0, 4, 13, 43, 48, 50]].tolist() == [0, 1, 0, 2, 1, 0]
    same = find_recurring_events(np.ones((9, 2)), np.asarray([3, 6]))
    assert same[[0, 3, 6]].tolist()[:2] == [0, 1]
    assert find_recurring_events(np.ones((3, 2)), np.zeros(0, dtype=int)).tolist() == [0, 0, 0]


def slow_recurring_events(x, boundaries):
    """Merge the two nearest groups without neighboring events, comparing all pairs each time."""
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
    x = np.concatenate(
        [contexts[rng.integers(4)] + 0.3 * rng.normal(size=(5, 3)) for _ in range(n_events)]
    )
    boundaries = np.arange(1, n_events) * 5
    np.testing.assert_array_equal(
        find_recurring_events(x, boundaries), slow_recurring_events(x, boundaries)
    )


@pytest.mark.parametrize("n_contexts", [3, 12, 200])
def test_many_events_agree_with_a_slow_twin_and_blocks_change_nothing(
    n_contexts, random, monkeypatch
):
    contexts_ = random.normal(size=(n_contexts, 4))
    x = np.repeat(contexts_[random.integers(n_contexts, size=70)], 3, axis=0) + 0.2 * random.normal(
        size=(210, 4)
    )
    boundaries = np.arange(3, 210, 3)
    found = find_recurring_events(x, boundaries)
    np.testing.assert_array_equal(found, slow_recurring_events(x, boundaries))
    monkeypatch.setattr(contexts, "BLOCK", 7)
    np.testing.assert_array_equal(find_recurring_events(x, boundaries), found)
