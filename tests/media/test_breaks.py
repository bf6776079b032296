from __future__ import annotations

import numpy as np
import pytest

from dayline.media.breaks import (
    distance_km,
    find_jumps,
    group_frames,
    signature,
    takes_photos_by_itself,
)

HOME = (39.57, 2.65)
KM = 1 / 111.195
"""Degrees of latitude."""


def north(kilometers: float, start: tuple[float, float] = HOME) -> tuple[float, float]:
    return start[0] + KM * kilometers, start[1]


def walk(n: int, start: float = 0.0, step: float = 0.05) -> list[tuple[float, float]]:
    return [north(start + step * k) for k in range(n)]


def befores(*args, **kwargs) -> list[int]:
    return list(find_jumps(*args, **kwargs))


def test_a_worn_camera_takes_photos_at_regular_times():
    worn = np.cumsum([0, 30, 31, 30, 29, 30, 7200, 30, 31, 30, 30])
    assert takes_photos_by_itself(worn)
    person = np.cumsum([0, 2, 40, 3, 600, 2, 2, 90, 1500, 5, 3])
    assert not takes_photos_by_itself(person)
    assert not takes_photos_by_itself(np.zeros(20))  # a burst, or dates alone
    assert not takes_photos_by_itself(worn[:2])
    assert not takes_photos_by_itself(None)


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
    assert found == {10: pytest.approx(5.0 - 0.45, abs=1e-3)}


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
    assert find_jumps(places, [60.0 * k for k in range(len(places))]) == {}


def test_the_date_line_is_no_jump():
    assert befores([(-17.0, 179.999), (-17.0, -179.999), (-17.0, 179.998)]) == []


def thumbnails(*greys: int) -> np.ndarray:
    return np.repeat(np.asarray(greys, dtype=np.uint8)[:, None], 9, axis=1)


def bursts(times, signatures, **options) -> tuple[int, ...]:
    return tuple(group_frames(times, signatures, **options).of_frame.tolist())


def test_close_and_alike_photos_are_one_burst():
    times = [0.0, 1.0, 1.5, 30.0, 31.0, 60.0]
    assert bursts(times, thumbnails(100, 104, 98, 100, 180, 180)) == (0, 0, 0, 1, 2, 3)


def test_likeness_is_to_the_first_of_the_burst_so_that_it_cannot_drift():
    """Steps of 8 grey levels: the third is 16 from the first, more than the 12 allowed."""
    assert bursts([0.0, 1.0, 2.0, 3.0], thumbnails(100, 108, 116, 124)) == (0, 0, 1, 1)


def test_dark_and_light_do_not_wrap_around():
    assert bursts([0.0, 1.0], thumbnails(2, 252)) == (0, 1)


def test_a_time_lapse_of_a_still_scene_stays_many_frames():
    times = [2.0 * i for i in range(13)]
    assert bursts(times, thumbnails(*[90] * 13)) == (0,) * 6 + (1,) * 6 + (2,)


def test_a_required_boundary_splits_a_burst():
    assert bursts([0.0, 1.0, 2.0], thumbnails(9, 9, 9), opened=[2, 7]) == (0, 0, 1)


def test_without_times_every_photo_stands_alone():
    assert bursts(None, thumbnails(7, 7, 7)) == (0, 1, 2)


def test_a_clock_that_goes_back_ends_a_burst():
    assert bursts([10.0, 9.0], thumbnails(7, 7)) == (0, 1)


def test_a_signature_is_the_mean_grey_of_each_field():
    image = np.zeros((32, 64), dtype=np.uint8)
    image[:16, 32:] = 200
    fields = signature(image).reshape(16, 16)
    assert (fields[:8, 8:] == 200).all()
    assert fields.sum() == 64 * 200
