"""Find trips among the days of an album: days away from home, and the names that a person gave."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from dayline.arrays import FloatArray
from dayline.events import Segmentation
from dayline.files import UnreadableFileError, read_json, write_text_whole
from dayline.media.breaks import distance_km
from dayline.text import clean_text

TRIPS = "trips.json"
FORMAT = "dayline-trips"
VERSION = 1
HOME_KM, AWAY_KM = 30.0, 50.0
FEWEST_HOME_DAYS = 3
CLEARLY = 2.0
"""Home has at least three days, and twice as many as any other place."""

LONGEST_GAP = 7
"""Days without photos within one trip."""

NO_TOWN = "Trip"
MOST_COUNTRIES = 3
LONGEST_NAME = 200


@dataclass(frozen=True)
class Trip:
    """Days away from home that follow each other.

    Attributes
    ----------
    days : tuple of int
        Positions among the days of the album.
    title : str
        Town or countries, until a person gives a name; "Trip" if no town is known.
    towns : tuple of str
        The towns away from home, in order.
    name : str or None
        Name given by a person.
    """

    days: tuple[int, ...]
    title: str
    towns: tuple[str, ...] = ()
    name: str | None = None


@dataclass(frozen=True)
class TripName:
    """A name that a person gave to a trip, or to a day.

    Attributes
    ----------
    name : str
        The name.
    digests : tuple of str
        Photos of the trip, one of each event.
    """

    name: str
    digests: tuple[str, ...]


def find_trips(
    days: Sequence[Segmentation | None], names: Sequence[TripName] = ()
) -> tuple[Trip, ...]:
    """Find trips; none if it is not clear where home is, or whether somebody came back.

    Home is where the last photos of most days were taken. A trip is at least two days, with days at
    home before and after it: days on which the last photos, or most of them, are more than 50 km
    from home.

    Parameters
    ----------
    days : sequence of Segmentation or None
        The days of the album, in order; None for one without a result.
    names : sequence of TripName
        Names that a person gave, the newest first. A name belongs to the trip with most of its
        photos.
    """
    home = _home(days)
    if home is None:
        return ()
    # Whether each day is away; None if that is not known.
    away = [None if day is None else _is_away(day, home) for day in days]
    trips = []
    run: list[int] = []
    was_home = False
    for number, is_away in enumerate([*away, False]):
        if is_away is None:
            continue
        if run and (not is_away or _days_between(days[run[-1]], days[number]) > LONGEST_GAP):
            came_back = False in away[number:]
            if was_home and came_back and len(run) > 1:
                whole = tuple(k for k in range(run[0], run[-1] + 1) if days[k] is not None)
                trips.append(Trip(whole, *_towns([days[k] for k in whole], home)))
            run = []
        if is_away:
            run.append(number)
        else:
            was_home = True
    return _named(trips, days, names)


def _located(day: Segmentation) -> list[tuple[tuple[float, float], int]]:
    """Return the locations of the events of a day and their photos, in order."""
    return [(e.location, e.n_frames) for e in day.events if e.location is not None]


def _home(days: Sequence[Segmentation | None]) -> tuple[float, float] | None:
    """Return where the last photos of most days were taken; None if that is not clear."""
    dated = [day for day in days if day is not None and day.date_span is not None]
    nights = [_located(day)[-1][0] for day in dated if _located(day)]
    if len(nights) < FEWEST_HOME_DAYS:
        return None
    points = np.asarray(nights)
    near = np.asarray([_km(points, one) <= HOME_KM for one in nights])
    best = int(np.argmax(near.sum(axis=1)))
    here = near[best]
    elsewhere = near[~here][:, ~here].sum(axis=1)
    most_elsewhere = int(elsewhere.max()) if elsewhere.size else 0
    if here.sum() < max(FEWEST_HOME_DAYS, CLEARLY * most_elsewhere):
        return None
    return nights[best]


def _km(points: FloatArray, one: tuple[float, float]) -> FloatArray:
    return distance_km(points, np.broadcast_to(np.asarray(one), points.shape))


def _is_away(day: Segmentation, home: tuple[float, float]) -> bool | None:
    """Return whether the last photos of a day, or most of them, are far from home."""
    located = _located(day)
    if not located or day.date_span is None:
        return None
    far = _km(np.asarray([location for location, _ in located]), home) > AWAY_KM
    frames = np.asarray([n_frames for _, n_frames in located])
    return bool(far[-1]) or 2 * int(frames[far].sum()) > int(frames.sum())


def _days_between(before: Segmentation | None, after: Segmentation | None) -> int:
    spans = [None if day is None else day.date_span for day in (before, after)]
    return 0 if spans[0] is None or spans[1] is None else (spans[1][0] - spans[0][1]).days


def _towns(
    days: Sequence[Segmentation | None], home: tuple[float, float]
) -> tuple[str, tuple[str, ...]]:
    """Return the town of at least half of the photos, or else the countries; and all towns."""
    towns: Counter[str] = Counter()
    countries: Counter[str] = Counter()
    for day in days:
        for event in () if day is None else day.events:
            if event.location is None or not event.town:
                continue
            if _km(np.asarray([event.location]), home)[0] > AWAY_KM:
                towns[event.town] += event.n_frames
                countries[event.country or event.town] += event.n_frames
    if not towns:
        return NO_TOWN, ()
    town, n_frames = towns.most_common(1)[0]
    if 2 * n_frames >= towns.total():
        return town, tuple(towns)
    names = [country for country, _ in countries.most_common(MOST_COUNTRIES)]
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1]))), tuple(towns)


def _named(
    trips: Sequence[Trip], days: Sequence[Segmentation | None], names: Sequence[TripName]
) -> tuple[Trip, ...]:
    named = list(trips)
    photos = [
        {d for k in trip.days if (day := days[k]) for d in day.digests or ()} for trip in trips
    ]
    for one in names:
        shared = [len(inside.intersection(one.digests)) for inside in photos]
        best = int(np.argmax(shared)) if shared else -1
        if best >= 0 and 2 * shared[best] > sum(shared) and named[best].name is None:
            named[best] = replace(named[best], name=one.name)
    return tuple(named)


def named_days(
    days: Sequence[Segmentation | None], names: Sequence[TripName], trips: Sequence[Trip]
) -> dict[int, str]:
    """Return the names that a person gave to single days in no trip, by their positions.

    Parameters
    ----------
    days : sequence of Segmentation or None
        The days of the album, in order.
    names : sequence of TripName
        Names that a person gave, the newest first. A name belongs to the day with most of its
        photos.
    trips : sequence of Trip
        See `find_trips`.
    """
    away = {k for trip in trips for k in trip.days}
    here = {k: day for k, day in enumerate(days) if day is not None and k not in away}
    of_photo = {digest: k for k, day in here.items() for digest in day.digests or ()}
    found: dict[int, str] = {}
    for one in names:
        counts = Counter(of_photo[digest] for digest in one.digests if digest in of_photo)
        for k, n_photos in counts.items():
            if 2 * n_photos > len(one.digests):
                found.setdefault(k, one.name)
    return found


def read_trip_names(folder: Path) -> tuple[TripName, ...]:
    """Read the names of trips that a folder of days keeps, the newest first.

    Parameters
    ----------
    folder : Path
        The folder of all days.
    """
    path = folder / TRIPS
    try:
        content = read_json(path, kind="a file of trips", form=FORMAT, version=VERSION) or {}
        trips = content.get("trips", [])
        return tuple(TripName(_name(one["name"]), _digests(one["digests"])) for one in trips)
    except (ValueError, TypeError, KeyError) as error:
        why = error if isinstance(error, ValueError) else "a trip has no name or no photos"
        raise UnreadableFileError(f"{path}: {why}; repair or remove it") from None


def name_trip(folder: Path, days: Sequence[Segmentation], name: str) -> None:
    """Keep the name of a trip, or of a day; an empty one takes it back.

    The name of another trip that these photos were part of is replaced.

    Parameters
    ----------
    folder : Path
        The folder of all days, which is open for writing.
    days : sequence of Segmentation
        The days of the trip.
    name : str
        The name.
    """
    inside = {digest for day in days for digest in day.digests or ()}
    digests = [(day.digests or ())[e.start] for day in days if day.digests for e in day.events]
    kept = [
        one
        for one in read_trip_names(folder)
        if 2 * len(inside.intersection(one.digests)) <= len(one.digests)
    ]
    if _name(name):
        kept.insert(0, TripName(_name(name), tuple(digests)))
    trips = [{"name": one.name, "digests": list(one.digests)} for one in kept]
    content = {"format": FORMAT, "version": VERSION, "trips": trips}
    write_text_whole(folder / TRIPS, json.dumps(content, indent=1) + "\n")


def _name(text: object) -> str:
    if not isinstance(text, str):
        raise ValueError("a name of a trip is not text")
    return clean_text(text)[:LONGEST_NAME].strip()


def _digests(listed: object) -> tuple[str, ...]:
    if not isinstance(listed, list) or not all(isinstance(one, str) for one in listed):
        raise ValueError("the photos of a trip are not a list of digests")
    return tuple(listed)
