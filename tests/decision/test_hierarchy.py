from __future__ import annotations

from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dayline.decision.hierarchy import (
    Level,
    boundary_confidence,
    boundary_heights,
    drop_short_events,
    finer_levels,
    keep_strongest,
    nearest_to_duration,
    nested_levels,
)
from dayline.method.graph import unit_rows

NONE = np.zeros(0, dtype=np.int64)


def made(seed: int, n: int):
    random = np.random.default_rng(seed)
    looks = np.repeat(random.normal(size=(n, 4)), random.integers(1, 12, n), axis=0)[:n]
    return unit_rows(looks + 0.3 * random.normal(size=(n, 4))), random.uniform(0.5, 4, n)


cases = st.tuples(st.integers(0, 10_000), st.integers(2, 70))


@given(cases, st.sets(st.integers(1, 69), max_size=4), st.sets(st.integers(1, 69), max_size=9))
@settings(max_examples=40, deadline=None)
def test_every_coarse_boundary_is_also_a_fine_one_and_constraints_hold(case, must, must_not):
    x, prices = made(*case)
    n = len(x)
    must = {m for m in must if m < n} - must_not
    prices[[m for m in must_not if m < n]] = np.inf
    levels = nested_levels(x, prices, must=must)
    factors = [level.factor for level in levels]
    assert factors == sorted(factors, reverse=True)
    for coarse, fine in pairwise(levels):
        assert set(coarse.boundaries.tolist()) < set(fine.boundaries.tolist())
    for level in levels:
        found = set(level.boundaries.tolist())
        assert must <= found
        assert not found & must_not
        assert all(1 <= b < n for b in found)


def test_the_usual_level_is_the_optimal_partition():
    from dayline.decision.partition import partition

    x, prices = made(3, 60)
    usual = min(nested_levels(x, prices), key=lambda level: abs(np.log2(level.factor)))
    assert usual.boundaries.tolist() == partition(x, penalty=prices).tolist()


@given(cases, st.integers(0, 30))
@settings(max_examples=40, deadline=None)
def test_any_number_up_to_the_finest_can_be_had(case, wanted):
    x, prices = made(*case)
    levels = finer_levels(nested_levels(x, prices), x, prices, n_boundaries=wanted)
    possible = len(levels[-1].boundaries)
    found = keep_strongest(levels, min(wanted, possible), x, prices, NONE)
    assert len(found) == min(wanted, possible)
    assert possible >= min(wanted, (len(x) - 1) // 3)


def test_the_boundary_given_up_adds_least_for_its_price():
    """The second cut adds more than the first, but costs more than that."""
    angles = np.repeat([0.0, 0.6, 1.4], 10)
    x = np.column_stack([np.cos(angles), np.sin(angles)])
    levels = (Level(1.0, 1.0, np.asarray([10, 20])),)
    for price, kept in ((1.0, 20), (50.0, 10)):
        prices = np.ones(30)
        prices[20] = price
        assert keep_strongest(levels, 1, x, prices, NONE).tolist() == [kept]


def test_heights_by_hand():
    sets = ((4.0, 7.0, [9]), (2.0, 2.0, [5, 9]), (1.0, 1.5, [2, 5, 9]))
    levels = tuple(Level(factor, highest, np.asarray(b)) for factor, highest, b in sets)
    assert boundary_heights(levels, np.asarray([2, 5, 7, 9])).tolist() == [1.5, 2, 0, 7]


def test_a_clear_boundary_stands_at_any_price_below_what_it_is_worth():
    """Two still looks at a right angle: parting 20 + 20 frames gains 20, ten times the price of 2."""
    x = np.repeat(np.eye(2), 20, axis=0)
    levels = nested_levels(x, np.full(40, 2.0))
    height = boundary_heights(levels, np.asarray([20]))[0]
    assert 10 / 2**0.25 < height <= 10


def test_confidence_rises_with_height_and_is_certain_where_asked():
    boundaries = np.asarray([2, 5, 9])
    confidence = boundary_confidence(np.asarray([1.0, 8.0, 1.0]), must=np.asarray([9]), boundaries=boundaries)
    assert 0.3 < confidence[0] < confidence[1] < 0.9
    assert confidence[2] == 1


def test_short_events_join_the_neighbour_they_resemble():
    x = np.repeat(np.asarray([[1.0, 0.0], [0.9, np.sqrt(0.19)], [0.0, 1.0]]), [10, 3, 10], axis=0)
    frames = np.arange(24.0)
    found = drop_short_events(np.asarray([10, 13]), x, clock=frames, shortest=5, must=NONE)
    assert found.tolist() == [13]
    kept = drop_short_events(np.asarray([10, 13]), x, clock=frames, shortest=5, must=np.asarray([10]))
    assert kept.tolist() == [10]
    seconds = np.concatenate([np.arange(10.0), 9 + 60 * np.arange(1, 4), 190 + np.arange(11.0)])
    assert drop_short_events(np.asarray([10, 13]), x, clock=seconds, shortest=5, must=NONE).tolist() == [10, 13]


@given(st.integers(0, 10_000), st.integers(1, 25))
@settings(max_examples=60, deadline=None)
def test_of_all_ways_to_drop_boundaries_the_best_is_taken(seed, shortest):
    rng = np.random.default_rng(seed)
    x = unit_rows(rng.normal(size=(40, 3)))
    boundaries = np.unique(rng.integers(1, 40, 7))
    must = rng.choice(boundaries, int(rng.integers(0, 2)), replace=False)
    found = drop_short_events(boundaries, x, clock=np.arange(41.0), shortest=shortest, must=must)

    def worth(kept):
        events = np.split(x, kept)
        return sum(np.sum(e.sum(axis=0) ** 2) / len(e) for e in events)

    fixed = {0, 40, *must.tolist()}
    allowed = []
    for n in range(len(boundaries) + 1):
        for kept in combinations(boundaries.tolist(), n):
            steps = pairwise([0, *kept, 40])
            long_enough = all(b - a >= shortest or {a, b} <= fixed for a, b in steps)
            if set(must.tolist()) <= set(kept) and long_enough:
                allowed.append(kept)
    assert tuple(found.tolist()) in allowed
    assert worth(found) == pytest.approx(max(worth(np.asarray(kept, dtype=int)) for kept in allowed))


def test_a_wish_for_a_duration_moves_the_level():
    levels = tuple(Level(2.0**-k, 2.0**-k, np.arange(1, 2**k + 1)) for k in range(-1, 6))
    strong = nearest_to_duration(levels, 10.0, total=100.0, strength=100.0)
    weak = nearest_to_duration(levels, 10.0, total=100.0, strength=0.01)
    assert len(strong.boundaries) + 1 == 9
    assert weak.factor == pytest.approx(1.0)
