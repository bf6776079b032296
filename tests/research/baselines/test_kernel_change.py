"""Kernel change points and KTS against other implementations."""

from __future__ import annotations

import math
from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dayline.metrics import score_boundaries
from dayline.research.baselines.kernel_change import (
    KernelChangeSegmenter,
    KernelTemporalSegmenter,
    cut_automatically,
    cut_into,
    kernel_penalty,
    scatter_sums,
)
from dayline.research.datasets.annotations import load_group

pytest.importorskip("ruptures")


def test_penalties_are_as_stated():
    assert kernel_penalty(np.ones((50, 2)), kernel="rbf") == pytest.approx(math.log(50))
    # Half the frames along each axis: the mean unit row is (1/2, 1/2), so V = 1 - 1/2.
    x = np.repeat([[3.0, 0.0], [0.0, 0.1]], 25, axis=0)
    assert kernel_penalty(x, kernel="cosine") == pytest.approx(0.5 * math.log(50) * 0.5)


def test_a_higher_penalty_gives_fewer_events(random):
    x = np.cumsum(random.normal(size=(120, 3)), axis=0)
    counts = [len(KernelChangeSegmenter(penalty=p).fit(x).boundaries_) for p in (0.5, 2.0, 8.0)]
    assert counts == sorted(counts, reverse=True)
    assert counts[0] > counts[2]


@pytest.mark.parametrize("segmenter", [KernelChangeSegmenter(7), KernelTemporalSegmenter(7)])
def test_events_that_do_not_fit_are_refused(segmenter, random):
    with pytest.raises(ValueError, match="n_events=7 of at least 2 frames"):
        segmenter.fit(random.normal(size=(12, 3)))


@pytest.mark.parametrize("kernel", ["rbf", "cosine"])
def test_the_scale_of_a_column_does_not_matter(kernel, random):
    x = np.repeat(random.normal(size=(6, 4)), 20, axis=0) + 0.1 * random.normal(size=(120, 4))
    plain, scaled = KernelChangeSegmenter(kernel=kernel), KernelChangeSegmenter(kernel=kernel)
    plain.fit(x)
    scaled.fit(x * [1.0, 8.0, 64.0, 0.5] + [0.0, 4.0, 0.0, 32.0])
    assert len(plain.boundaries_) > 2
    assert plain.boundaries_.tolist() == scaled.boundaries_.tolist()


def test_mocap_scores_as_measured_elsewhere(shared):
    scores = [
        score_boundaries(
            KernelChangeSegmenter(standardize=False).fit(s.features).boundaries_,
            s.boundaries,
            tolerance=s.tolerance,
        )
        for s in load_group(shared, "mocap6")
    ]
    assert np.mean([score.f1 for score in scores]) == pytest.approx(0.761, abs=0.005)


def loss(x: np.ndarray, boundaries) -> float:
    """Sum of squared distances to the mean of the event, the slow way."""
    edges = [0, *boundaries, len(x)]
    return sum(float(((x[a:b] - x[a:b].mean(axis=0)) ** 2).sum()) for a, b in pairwise(edges))


def penalised(x: np.ndarray, boundaries, penalty: float) -> float:
    m = len(boundaries)
    return loss(x, boundaries) + (penalty * m * (math.log(len(x) / m) + 1) if m else 0.0)


def ways(n: int, shortest: int) -> list[tuple[int, ...]]:
    """All ways to cut n frames into events of at least `shortest` frames, and the whole."""
    every = [b for m in range(n) for b in combinations(range(1, n), m)]
    return [b for b in every if not b or np.diff([0, *b, n]).min() >= shortest]


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
@given(st.integers(0, 10**6), st.integers(2, 9), st.integers(1, 3), st.data())
def test_a_given_number_is_cut_as_well_as_any_other_way(seed, n, shortest, data):
    x = made(seed, n)
    k = data.draw(st.integers(1, max(n // shortest, 1)))
    found = cut_into(scatter_sums(x), n_events=k, min_length=shortest)
    best = min(loss(x, b) for b in ways(n, shortest) if len(b) == k - 1)
    assert len(found) == k - 1
    assert np.diff([0, *found, n]).min() >= min(shortest, n)
    assert loss(x, found) == pytest.approx(best, abs=1e-9)


@settings(max_examples=60, deadline=None)
@given(
    st.integers(0, 10**6),
    st.integers(1, 9),
    st.sampled_from([0.02, 0.1, 0.5, 2.0]),
    st.integers(1, 3),
)
def test_the_automatic_number_is_the_best_of_all(seed, n, penalty, shortest):
    x = made(seed, n)
    found = cut_automatically(scatter_sums(x), penalty=penalty, min_length=shortest)
    best = min(penalised(x, b, penalty) for b in ways(n, shortest))
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
    assert (
        KernelTemporalSegmenter(5, kernel="linear").fit(scaled).boundaries_.tolist()
        != found.tolist()
    )


def test_single_frames_are_the_published_answer_for_noise_and_not_ours(random):
    x = np.repeat(random.normal(size=(4, 50)), 30, axis=0) + 1.1 * random.normal(size=(120, 50))
    assert len(KernelTemporalSegmenter(min_length=1).fit(x).boundaries_) == 119
    assert KernelTemporalSegmenter().fit(x).boundaries_.tolist() == [30, 60, 90]
