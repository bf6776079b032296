from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest

from dayline.research.baselines.sr_clustering import (
    SRClustering,
    adaptive_windows,
    expand_labels,
    linked_clusters,
    potts_energy,
)


def slow_windows(x: np.ndarray, confidence: float) -> list[int]:
    """ADWIN frame by frame and cut by cut, as published."""
    dims, start, boundaries = x.shape[1], 0, []
    for stop in range(6, len(x) + 1):
        window = x[start:stop]
        variance = np.var(np.linalg.norm(window, axis=1) / math.sqrt(dims), ddof=1)
        while len(window) > 1:
            excess = []
            for i in range(1, len(window)):
                n0, n1 = i, len(window) - i
                m = n0 * n1 / (math.sqrt(n0) + math.sqrt(n1)) ** 2
                log = math.log(2 / (confidence / (dims * (n0 + n1))))
                allowed = math.sqrt(dims) * math.sqrt(2 / m * variance * log) + 2 / (3 * m) * log
                excess.append(
                    np.linalg.norm(window[:i].mean(axis=0) - window[i:].mean(axis=0)) - allowed
                )
            if max(excess) < 0:
                break
            start += int(np.argmax(excess)) + 1
            boundaries.append(start)
            window = x[start:stop]
    return boundaries


def test_windows_are_those_of_the_published_rule(random):
    x = np.clip(
        np.repeat(random.random((3, 30)), 50, axis=0) + 0.05 * random.normal(size=(150, 30)), 0, 1
    )
    found = adaptive_windows(x).tolist()
    assert found == slow_windows(x, 0.1)
    assert found == [50, 100]


def test_less_confidence_is_required_if_more_false_changes_are_allowed(random):
    x = random.random((300, 6))
    assert adaptive_windows(x, confidence=0.01).tolist() == []
    x[150:] = 0.75 + 0.25 * x[150:]
    found = adaptive_windows(x, confidence=0.1)
    assert np.abs(found - 150).min() <= 5


def test_single_linkage_chains_neighbors_and_splits_gaps():
    a = np.deg2rad([0, 30, 60, 150, 170])
    # Steps of 30 degrees are 0.134 apart, the gap of 90 degrees is 1.
    x = np.column_stack([np.cos(a), np.sin(a)])
    assert linked_clusters(x, cutoff=0.2).tolist() == [0, 0, 0, 1, 1]
    assert linked_clusters(x, cutoff=0.1).tolist() == [0, 1, 2, 3, 3]


def test_pairs_smooth_and_both_witnesses_are_kept(random):
    means = np.abs(random.normal(size=(3, 40)))
    x = np.abs(np.repeat(means, 40, axis=0) + 0.1 * random.normal(size=(120, 40)))
    fitted = SRClustering().fit(x)
    assert fitted.boundaries_.tolist() == [40, 80]
    assert fitted.windows_.shape == fitted.clusters_.shape == (120,)
    assert SRClustering(pair_weight=1000.0).fit(x).boundaries_.tolist() == []


def problem(seed: int, n_labels: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    generator = np.random.default_rng(seed)
    pairs = np.array([(i, j) for i in range(7) for j in range(i + 1, min(i + 3, 7))])
    return generator.random((7, n_labels)), pairs, generator.random(len(pairs)) * 0.6


def least(costs, pairs, weights) -> float:
    every = product(range(costs.shape[1]), repeat=len(costs))
    return min(potts_energy(np.array(labels), costs, pairs, weights) for labels in every)


@pytest.mark.parametrize("seed", range(8))
def test_two_labels_are_cut_exactly(seed):
    costs, pairs, weights = problem(seed, 2)
    found = expand_labels(np.zeros(7, dtype=int), costs=costs, pairs=pairs, weights=weights)
    assert potts_energy(found, costs, pairs, weights) == pytest.approx(
        least(costs, pairs, weights), abs=1e-6
    )


@pytest.mark.parametrize("seed", range(8))
def test_more_labels_come_close_and_never_get_worse(seed):
    costs, pairs, weights = problem(seed, 3)
    start = np.argmin(costs, axis=1)
    found = potts_energy(
        expand_labels(start, costs=costs, pairs=pairs, weights=weights), costs, pairs, weights
    )
    assert found <= potts_energy(start, costs, pairs, weights)
    # The published guarantee is a factor of two; chains like these nearly always end at the
    # optimum.
    assert found <= 1.1 * least(costs, pairs, weights)


def test_strong_pairs_make_one_label_and_none_leave_the_cheapest():
    costs, pairs, weights = problem(3, 3)
    start = np.argmin(costs, axis=1)
    assert (
        len(
            set(expand_labels(start, costs=costs, pairs=pairs, weights=100 * weights + 50).tolist())
        )
        == 1
    )
    assert (
        expand_labels(start, costs=costs, pairs=pairs, weights=0 * weights).tolist()
        == start.tolist()
    )
