from __future__ import annotations

from dataclasses import replace

import pytest

from dayline.album.trips import TRIPS, Trip, find_trips, name_trip, named_days, read_trip_names
from dayline.events import Event, Segmentation
from dayline.files import UnreadableFileError

FIRST = 1_715_158_800.0  # 8 May 2024, 09:00
HAMBURG = ((53.56, 9.98), "Hamburg", "Germany")
LISBON = ((38.71, -9.13), "Lisbon", "Portugal")
SINTRA = ((38.80, -9.38), "Sintra", "Portugal")
PORTO = ((41.15, -8.61), "Porto", "Portugal")
SEVILLE = ((37.39, -5.99), "Sevilla", "Spain")
UNKNOWN = (None, None, None)


def day(number: int, *places, frames: int = 10) -> Segmentation:
    """A day with an event of so many photos at each place."""
    start = FIRST + 86_400 * number
    events = tuple(
        Event(
            frames * k,
            frames * (k + 1),
            location=location,
            town=town,
            country=country,
            start_time=start + 3600 * k,
            stop_time=start + 3600 * k + frames,
        )
        for k, (location, town, country) in enumerate(places)
    )
    n = frames * len(places)
    return Segmentation(
        events,
        times=tuple(start + 3600 * (t // frames) + t % frames for t in range(n)),
        clock="wall",
        digests=tuple(f"{number}-{t}" for t in range(n)),
    )


HOME_DAYS = [day(k, HAMBURG) for k in range(4)]
TRIP_DAYS = [
    day(4, HAMBURG, LISBON),
    day(5, LISBON, LISBON, LISBON),
    day(6, LISBON, SINTRA),
    day(7, SEVILLE),
]
AFTER = [day(k, HAMBURG) for k in range(8, 13)]


def test_days_away_between_days_at_home_are_a_trip_with_its_town():
    # Five of its seven events abroad are in Lisbon.
    assert find_trips([*HOME_DAYS, *TRIP_DAYS, *AFTER]) == (
        Trip((4, 5, 6, 7), "Lisbon", ("Lisbon", "Sintra", "Sevilla")),
    )


def test_a_trip_through_several_towns_has_its_countries():
    days = [day(4, LISBON), day(5, PORTO), day(6, SINTRA), day(7, SEVILLE)]
    (trip,) = find_trips([*HOME_DAYS, *days, *AFTER])
    assert trip.title == "Portugal and Spain"
    (trip,) = find_trips([*HOME_DAYS, *days[:3], *AFTER])
    assert (trip.title, trip.towns) == ("Portugal", ("Lisbon", "Porto", "Sintra"))


def test_a_trip_without_known_towns_has_no_title_of_its_own():
    days = [day(k, (LISBON[0], None, None)) for k in (4, 5)]
    assert find_trips([*HOME_DAYS, *days, *AFTER]) == (Trip((4, 5), "Trip"),)


@pytest.mark.parametrize(
    ("days", "why"),
    [
        ([*HOME_DAYS, *TRIP_DAYS], "nobody came back"),
        ([*TRIP_DAYS, *AFTER], "nobody left"),
        ([*HOME_DAYS, day(4, LISBON), *AFTER], "one day"),
        ([*HOME_DAYS, day(4, SINTRA, HAMBURG), day(5, HAMBURG), *AFTER], "back in the evening"),
        ([*HOME_DAYS[:2], *TRIP_DAYS], "no home"),
        ([*HOME_DAYS[:3], *[day(k, LISBON) for k in range(4, 7)], *AFTER[:2]], "two homes"),
        ([day(k, UNKNOWN) for k in range(9)], "no locations"),
        ([None, None], "no results"),
        ([], "no days"),
    ],
)
def test_if_it_is_not_clear_there_is_no_trip(days, why):
    assert find_trips(days) == (), why


def test_days_without_locations_or_results_stay_in_their_trip_but_a_long_gap_ends_it():
    days = [*HOME_DAYS, day(4, LISBON), day(5, UNKNOWN), None, day(7, LISBON), *AFTER]
    assert find_trips(days) == (Trip((4, 5, 7), "Lisbon", ("Lisbon",)),)
    late = [day(k, HAMBURG) for k in range(40, 44)]
    days = [*HOME_DAYS, day(4, LISBON), day(5, LISBON), day(20, PORTO), day(21, PORTO), *late]
    assert find_trips(days) == (
        Trip((4, 5), "Lisbon", ("Lisbon",)),
        Trip((6, 7), "Porto", ("Porto",)),
    )


def test_a_name_stays_with_its_photos(tmp_path):
    name_trip(tmp_path, TRIP_DAYS, "Spring in the south")
    days = [*HOME_DAYS, *TRIP_DAYS, *AFTER]
    (trip,) = find_trips(days, read_trip_names(tmp_path))
    assert trip.name == "Spring in the south"

    # A day at home is added in front, one of the trip is removed, and events are found anew.
    again = replace(TRIP_DAYS[1], events=(Event(0, 30, location=LISBON[0], town="Lisbon"),))
    days = [day(-1, HAMBURG), *HOME_DAYS, TRIP_DAYS[0], again, TRIP_DAYS[3], *AFTER]
    (trip,) = find_trips(days, read_trip_names(tmp_path))
    assert (trip.days, trip.name) == ((5, 6, 7), "Spring in the south")


def test_a_name_is_replaced_and_taken_back_and_those_of_other_trips_stay(tmp_path):
    other = [day(30, PORTO), day(31, PORTO)]
    name_trip(tmp_path, other, "Porto again")
    name_trip(tmp_path, TRIP_DAYS, "First")
    name_trip(tmp_path, TRIP_DAYS[:3], "Second")
    assert [one.name for one in read_trip_names(tmp_path)] == ["Second", "Porto again"]
    name_trip(tmp_path, TRIP_DAYS, "  ")
    assert [one.name for one in read_trip_names(tmp_path)] == ["Porto again"]


@pytest.mark.parametrize(
    "text",
    [
        "[]",
        '{"format": "dayline-trips", "version": 1, "trips": 3}',
        '{"format": "dayline-trips", "version": 1, "trips": [{"name": 1, "digests": []}]}',
        '{"format": "dayline-trips", "version": 1, "trips": [{"name": "a", "digests": "x"}]}',
        '{"format": "dayline-trips", "version": 1, "trips": [{}]}',
    ],
)
def test_a_damaged_file_is_named(tmp_path, text):
    (tmp_path / TRIPS).write_text(text)
    with pytest.raises(UnreadableFileError, match=r"trips\.json: .*; repair or remove it"):
        read_trip_names(tmp_path)


def test_a_name_of_one_day_is_no_name_of_a_trip_and_the_newest_holds(tmp_path):
    days = [*HOME_DAYS, *TRIP_DAYS, *AFTER]
    name_trip(tmp_path, TRIP_DAYS, "Spring")
    name_trip(tmp_path, [days[1]], "Anniversary")
    names = read_trip_names(tmp_path)
    trips = find_trips(days, names)
    assert [trip.name for trip in trips] == ["Spring"]
    assert named_days(days, names, trips) == {1: "Anniversary"}
    # Once nobody knows where home is, the name of four days is that of none.
    assert named_days(TRIP_DAYS, names, ()) == {}
    name_trip(tmp_path, [days[1]], "Birthday")
    assert named_days(days, read_trip_names(tmp_path), trips) == {1: "Birthday"}
