from __future__ import annotations

import math
from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dayline.baselines.kts import KernelTemporalSegmenter, cut_automatically, cut_into, scatter_sums


def loss(x: np.ndarray, boundaries) -> float:
    """Sum of squared distances to the mean of the event, the slow way."""
    edges = [0, *boundaries, len(x)]
    return sum(float(((x[a:b] - x[a:b].mean(axis=0)) ** 2).sum()) for a, b in pairwise(edges))


def penalised(x: np.ndarray, boundaries, penalty: float) -> float:
    m = len(boundaries)
    return loss(x, boundaries) + (penalty * m * (math.log(len(x) / m) + 1) if m else 0.0)


def made(seed: int, n: int, jumps: float = 1.0) -> np.ndarray:
    generator = np.random.default_rng(seed)
    steps = generator.normal(size=(n, 3)) * (generator.random((n, 1)) < 0.25) * jumps
    return np.cumsum(steps, axis=0) + 0.3 * generator.normal(size=(n, 3)) + 5.0


def test_scatter_is_the_squared_distance_to_the_mean(random):
    x = random.normal(size=(9, 4)) + 3.0
    table = scatter_sums(x)
    for start, stop in combinations(range(10), 2):
        assert table[stop, start] == pytest.approx(loss(x[start:stop], []), abs=1e-10)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 9), st.data())
def test_a_given_number_is_cut_as_well_as_any_other_way(seed, n, data):
    x = made(seed, n)
    k = data.draw(st.integers(1, n))
    found = cut_into(scatter_sums(x), n_events=k)
    assert len(found) == k - 1
    best = min(loss(x, b) for b in combinations(range(1, n), k - 1))
    assert loss(x, found) == pytest.approx(best, abs=1e-9)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 9), st.sampled_from([0.02, 0.1, 0.5, 2.0]))
def test_the_automatic_number_is_the_best_of_all(seed, n, penalty):
    x = made(seed, n)
    found = cut_automatically(scatter_sums(x), penalty=penalty)
    best = min(penalised(x, b, penalty) for m in range(n) for b in combinations(range(1, n), m))
    assert penalised(x, found, penalty) == pytest.approx(best, abs=1e-9)


@pytest.mark.parametrize("seed", range(5))
def test_the_automatic_number_is_the_best_of_a_table_of_all_numbers(seed):
    x = made(seed, 80, jumps=3.0)
    table = scatter_sums(x)
    found = cut_automatically(table)
    every = [penalised(x, cut_into(table, n_events=k), 0.5) for k in range(1, 81)]
    assert penalised(x, found, 0.5) == pytest.approx(min(every), abs=1e-8)
    assert len(found) == int(np.argmin(every))


def test_the_cosine_kernel_ignores_the_length_of_frames(random):
    x = made(4, 60, jumps=4.0)
    scaled = x * random.uniform(0.2, 5.0, size=(60, 1))
    found = KernelTemporalSegmenter(5).fit(x).boundaries_
    assert KernelTemporalSegmenter(5).fit(scaled).boundaries_.tolist() == found.tolist()
    assert KernelTemporalSegmenter(5, kernel="linear").fit(scaled).boundaries_.tolist() != found.tolist()
