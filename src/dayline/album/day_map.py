"""Lay out where the photos of a day were taken, for the small map on its page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dayline.album.where import on_sphere, towns_near
from dayline.arrays import FloatArray
from dayline.events import Event
from dayline.installation import MissingExtraError
from dayline.media.breaks import EARTH_RADIUS_KM, located_frames

LEAST_KM = 0.2
"""If all photos are closer together, a map says nothing."""

STEPS = 250
"""A photo less than one part in 250 of the map from the last one drawn is not drawn."""

MOST_TOWNS = 40
KM_PER_DEGREE = np.radians(EARTH_RADIUS_KM)


def day_map(
    events: Sequence[Event],
    locations: Sequence[tuple[float, float] | None],
    times: Sequence[float] | None,
) -> dict[str, Any] | None:
    """Return the points and the towns of a map in kilometers, or None if there is nothing to show.

    Parameters
    ----------
    events : sequence of Event
        Each has a point if one of its frames has a location.
    locations : sequence of (float, float) or None
        Latitude and longitude of every frame; empty if no frame has one. Those that nothing could
        have reached in time are left out.
    times : sequence of float or None
        Seconds, one per frame.

    Returns
    -------
    dict or None
        "points": frame, kilometers to the east and to the south of the middle; "towns": name, and
        the same. The scale is true in the middle.
    """
    frames, known = located_frames(locations, times)
    if len(frames) < 2:
        return None
    middle = _middle(known)
    points = _flat(known, middle)
    size = float(np.ptp(points, axis=0).max())
    if size < LEAST_KM:
        return None

    starts = np.searchsorted([event.start for event in events], frames, side="right")
    drawn = [0]
    for k in range(1, len(frames)):
        is_far = np.abs(points[k] - points[drawn[-1]]).max() > size / STEPS
        if is_far or starts[k] != starts[k - 1]:
            drawn.append(k)
    return {
        "points": [[frames[k], *_rounded(points[k])] for k in drawn],
        "towns": _towns(middle, size, {event.town for event in events}),
    }


def _middle(locations: FloatArray) -> tuple[float, float]:
    """Return the middle of locations, also of those on both sides of the date line."""
    x, y, z = on_sphere([(a, b) for a, b in locations.tolist()]).mean(axis=0).tolist()
    around = float(np.degrees(np.arctan2(y, x)))
    return float(np.degrees(np.arctan2(z, np.hypot(x, y)))), around


def _flat(locations: FloatArray, middle: tuple[float, float]) -> FloatArray:
    """Return kilometers to the east and to the south of the middle."""
    east = (locations[:, 1] - middle[1] + 180.0) % 360.0 - 180.0
    scale = KM_PER_DEGREE * np.cos(np.radians(middle[0]))
    return np.column_stack([east * scale, (middle[0] - locations[:, 0]) * KM_PER_DEGREE])


def _rounded(point: FloatArray) -> list[float]:
    return [round(float(value), 3) for value in point]


def _towns(middle: tuple[float, float], size: float, own: set[str | None]) -> list[list[Any]]:
    """Return the largest towns on the map, those of events first."""
    try:
        near = towns_near(middle, max(size, 1.0))
    except MissingExtraError:
        return []
    near = sorted(near, key=lambda town: town.name not in own)[:MOST_TOWNS]
    if not near:
        return []
    points = _flat(np.asarray([(town.latitude, town.longitude) for town in near]), middle)
    return [[town.name, *_rounded(p)] for town, p in zip(near, points, strict=True)]
