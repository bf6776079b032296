"""Find where the camera moved kilometres between two photos."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dayline.arrays import FloatArray

__all__ = ["Jump", "check_jumps", "distance_km", "find_jumps"]

EARTH_RADIUS_KM = 6371.0
NEARBY_STEPS = 3
FASTEST = 1000.0
"""Kilometres per hour of an airliner."""


@dataclass(frozen=True)
class Jump:
    """A way of kilometres on which no photos were taken.

    Attributes
    ----------
    before : int
        Index of the first frame after the jump.
    kilometres : float
        Length of the jump, in a straight line.
    """

    before: int
    kilometres: float


def find_jumps(
    locations: Sequence[tuple[float, float] | None],
    times: Sequence[float] | None = None,
    *,
    factor: float = 10.0,
    at_least: float = 2.0,
) -> tuple[Jump, ...]:
    """Find where the camera moved kilometres between two photos.

    A step between two located photos is a jump if it is longer than both `at_least` and `factor` times the typical
    step nearby: the larger of the medians of the three steps before and of the three after. On a train or in a car,
    where photos are taken on the way, all steps are long, and none of them is a jump. If nothing could have moved
    fast enough to take a single photo elsewhere, its location is wrong and is ignored.

    Parameters
    ----------
    locations : sequence of (float, float) or None
        Latitude and longitude of each frame in degrees; None if unknown. An empty sequence gives no jumps.
    times : sequence of float, optional
        Seconds, one per frame. Between two located frames with others between them, the jump is put where the
        longest time passed; without times, before the second of them.
    factor : float > 0
        Minimum length of a jump in units of the typical step nearby.
    at_least : float > 0
        Minimum length of a jump in kilometres.
    """
    check_jumps(at_least)
    frames = [i for i, location in enumerate(locations) if location is not None]
    points = np.asarray([location for location in locations if location is not None], dtype=np.float64).reshape(-1, 2)
    if times is not None and len(points) > 2:
        good = ~_impossible(points, np.asarray(times, dtype=np.float64)[frames], at_least)
        frames, points = [frame for frame, ok in zip(frames, good, strict=True) if ok], points[good]
    if len(points) < 2:
        return ()
    steps = distance_km(points[:-1], points[1:])
    jumps = []
    for k, step in enumerate(steps.tolist()):
        nearby = max(_median(steps[max(0, k - NEARBY_STEPS) : k]), _median(steps[k + 1 : k + 1 + NEARBY_STEPS]))
        if step > max(at_least, factor * nearby):
            jumps.append(Jump(_longest_wait(frames[k], frames[k + 1], times), step))
    return tuple(jumps)


def check_jumps(at_least: float) -> None:
    """Raise ValueError if the shortest jump is not a positive number of kilometres."""
    if not at_least > 0:
        raise ValueError(f"a jump must have more than 0 kilometres (jump_km), not {at_least}")


def distance_km(a: FloatArray, b: FloatArray) -> FloatArray:
    """Return the great-circle distance between points (latitude, longitude) in degrees, row by row."""
    (lat_a, lon_a), (lat_b, lon_b) = np.radians(a).T, np.radians(b).T
    half = np.sin((lat_b - lat_a) / 2) ** 2 + np.cos(lat_a) * np.cos(lat_b) * np.sin((lon_b - lon_a) / 2) ** 2
    distance: FloatArray = 2 * EARTH_RADIUS_KM * np.arcsin(np.sqrt(np.clip(half, 0.0, 1.0)))
    return distance


def _impossible(points: FloatArray, times: FloatArray, at_least: float) -> NDArray[np.bool_]:
    """Find single points that lie far from both neighbours, which lie together, too far for the time between."""
    wrong = np.zeros(len(points), dtype=bool)
    to, back = distance_km(points[:-2], points[1:-1]), distance_km(points[1:-1], points[2:])
    hours = np.maximum(np.diff(times) / 3600.0, 0.0)
    too_fast = (to > FASTEST * hours[:-1]) | (back > FASTEST * hours[1:])
    wrong[1:-1] = too_fast & (np.minimum(to, back) > at_least) & (distance_km(points[:-2], points[2:]) < at_least)
    return wrong


def _longest_wait(first: int, last: int, times: Sequence[float] | None) -> int:
    """Return the frame after `first` and up to `last` before which most time passed."""
    if times is None:
        return last
    return first + 1 + int(np.argmax(np.diff(np.asarray(times[first : last + 1], dtype=np.float64))))


def _median(steps: FloatArray) -> float:
    return float(np.median(steps)) if steps.size else 0.0
