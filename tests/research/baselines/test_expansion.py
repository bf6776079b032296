from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from dayline.research.baselines.sr_clustering import expand_labels, potts_energy


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
