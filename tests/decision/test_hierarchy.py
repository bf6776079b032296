from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dayline.arrays import unit_rows
from dayline.decision.partition import build_hierarchy, partition

NONE = np.zeros(0, dtype=np.int64)
cases = st.tuples(st.integers(0, 10_000), st.integers(2, 70))


def made(seed: int, n: int):
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
    x, log_weights = made(*case)
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
    x, log_weights = made(*case)
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
    x, log_weights = made(*case)
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
