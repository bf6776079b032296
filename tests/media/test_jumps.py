from __future__ import annotations

import numpy as np
import pytest

from dayline.media.breaks import distance_km, find_jumps

HOME = (39.57, 2.65)
KM = 1 / 111.195
"""Degrees of latitude."""


def north(kilometers: float, start: tuple[float, float] = HOME) -> tuple[float, float]:
    return start[0] + KM * kilometers, start[1]


def walk(n: int, start: float = 0.0, step: float = 0.05) -> list[tuple[float, float]]:
    return [north(start + step * k) for k in range(n)]


def befores(*args, **kwargs) -> list[int]:
    return [jump.before for jump in find_jumps(*args, **kwargs)]


def test_distances_by_hand():
    a = np.asarray([[0.0, 0.0], [0.0, 179.5], [60.0, 10.0], [52.52, 13.405]])
    b = np.asarray([[1.0, 0.0], [0.0, -179.5], [60.0, 11.0], [48.8566, 2.3522]])
    degree = 2 * np.pi * 6371 / 360
    np.testing.assert_allclose(distance_km(a, b)[:2], degree, rtol=1e-9)
    np.testing.assert_allclose(
        distance_km(a, b)[2], degree / 2, rtol=1e-4
    )  # the cosine of 60 degrees
    assert distance_km(a, b)[3] == pytest.approx(878, abs=2)  # Berlin to Paris


def test_a_way_of_kilometers_is_a_jump():
    found = find_jumps([*walk(10), *walk(10, 5.0)])
    assert [jump.before for jump in found] == [10]
    assert found[0].kilometers == pytest.approx(5.0 - 0.45, abs=1e-3)


def test_a_way_shorter_than_two_kilometers_is_none_unless_asked_for():
    places = [*walk(10), *walk(10, 2.0)]
    assert befores(places) == []
    assert befores(places, at_least=1.0) == [10]


def test_a_train_ride_with_photos_has_no_jumps():
    assert befores([*walk(10), *walk(12, 3.0, 2.5), *walk(10, 33.0)]) == []


def test_a_hike_has_none_either():
    assert befores(walk(30, step=0.4)) == []


def test_a_single_photo_elsewhere_is_a_visit_if_there_was_time_for_it():
    places = [*walk(5), north(8), *walk(5)]
    unhurried, hurried = (np.arange(11.0) * seconds for seconds in (1800, 10))
    assert befores(places, unhurried.tolist()) == [5, 6]
    assert befores(places, hurried.tolist()) == []
    assert befores(places) == [5, 6]


def test_photos_without_location_are_passed_over():
    places = [*walk(4), None, None, None, *walk(4, 6.0)]
    times = [0, 60, 120, 180, 240, 1800, 1860, 1920, 1980, 2040, 2100]
    assert befores(places, times) == [5]
    assert befores(places) == [7]


@pytest.mark.parametrize("places", [[], [None, None], [HOME], [None, HOME, None]])
def test_too_few_locations_give_no_jumps(places):
    assert find_jumps(places, [60.0 * k for k in range(len(places))]) == ()


def test_the_date_line_is_no_jump():
    assert befores([(-17.0, 179.999), (-17.0, -179.999), (-17.0, 179.998)]) == []
