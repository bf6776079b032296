"""Tell which photos belong apart and which together: other dates, moves by kilometers, bursts."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from dayline.arrays import FloatArray, IntArray
from dayline.events import Event, NestedLevel


def find_dates(
    times: Sequence[float | None] | None, dates: Sequence[str | None] | None
) -> frozenset[int]:
    """Find where another date begins, or photos without a time of day: the first frame of each.

    Parameters
    ----------
    times : sequence of float or None
        Time of each frame; None where it is not known.
    dates : sequence of str or None
        Date of each frame. None gives no dates.
    """
    found = set()
    last = None
    for frame, day in enumerate(dates or ()):
        is_timed = times is not None and times[frame] is not None
        now = "timed" if is_timed else day
        # Nothing is known of a photo without a date.
        if now is not None and last is not None and now != last:
            found.add(frame)
        last = now or last
    return frozenset(found)


LEAST_REGULAR = 0.8
"""Share of photos that follow the one before in the usual time, above which no person took them."""


def takes_photos_by_itself(times: Sequence[float] | FloatArray | None) -> bool:
    """Return whether a camera took photos by itself, such as a worn one every thirty seconds.

    It does if most photos follow the one before within half to one and a half of the median gap,
    which is a second at least. People take photos when something happens.

    Parameters
    ----------
    times : sequence of float or None
        Seconds of each photo, in order.
    """
    if times is None or len(times) < 3:
        return False
    gaps = np.diff(np.asarray(times, dtype=np.float64))
    usual = float(np.median(gaps))
    is_usual = np.abs(gaps - usual) <= usual / 2
    return usual >= 1.0 and float(np.mean(is_usual)) >= LEAST_REGULAR


EARTH_RADIUS_KM = 6371.0
NEARBY_STEPS, JUMP_FACTOR = 3, 10.0
FASTEST = 1000.0
"""Kilometers per hour of an airliner."""


def find_jumps(
    locations: Sequence[tuple[float, float] | None],
    times: Sequence[float] | None = None,
    *,
    at_least: float = 2.0,
) -> dict[int, float]:
    """Find where the camera moved far between two photos: the first frame there, and kilometers.

    A step between two located photos is a jump if it is longer than both `at_least` and ten times
    the typical step nearby: the larger of the medians of the three steps before and of the
    three after. On a train or in a car, where photos are taken on the way, all steps are long, and
    none of them is a jump. If nothing could have moved fast enough to take a single photo
    elsewhere, its location is wrong and is ignored.

    Parameters
    ----------
    locations : sequence of (float, float) or None
        Latitude and longitude of each frame in degrees; None if unknown. An empty sequence gives no
        jumps.
    times : sequence of float, optional
        Seconds, one per frame. Between two located frames with others between them, the jump is put
        where the longest time passed; without times, before the second of them.
    at_least : float > 0
        Minimum length of a jump in kilometers.
    """
    frames, points = located_frames(locations, times, at_least=at_least)
    if len(points) < 2:
        return {}
    steps = distance_km(points[:-1], points[1:])
    jumps: dict[int, float] = {}
    for k, step in enumerate(steps.tolist()):
        nearby = max(
            _median(steps[max(0, k - NEARBY_STEPS) : k]),
            _median(steps[k + 1 : k + 1 + NEARBY_STEPS]),
        )
        if step > max(at_least, JUMP_FACTOR * nearby):
            jumps[_longest_wait(frames[k], frames[k + 1], times)] = step
    return jumps


def located_frames(
    locations: Sequence[tuple[float, float] | None],
    times: Sequence[float] | None = None,
    *,
    at_least: float = 2.0,
) -> tuple[list[int], FloatArray]:
    """Return the frames with a location that can be true, and these locations; see `find_jumps`."""
    frames = [i for i, location in enumerate(locations) if location is not None]
    points = np.asarray(
        [location for location in locations if location is not None], dtype=np.float64
    ).reshape(-1, 2)
    if times is not None and len(points) > 2:
        good = ~_impossible(points, np.asarray(times, dtype=np.float64)[frames], at_least)
        frames, points = [frame for frame, ok in zip(frames, good, strict=True) if ok], points[good]
    return frames, points


def distance_km(a: FloatArray, b: FloatArray) -> FloatArray:
    """Return the great-circle distances between points (latitude, longitude), row by row."""
    (lat_a, lon_a), (lat_b, lon_b) = np.radians(a).T, np.radians(b).T
    half = (
        np.sin((lat_b - lat_a) / 2) ** 2
        + np.cos(lat_a) * np.cos(lat_b) * np.sin((lon_b - lon_a) / 2) ** 2
    )
    distance: FloatArray = 2 * EARTH_RADIUS_KM * np.arcsin(np.sqrt(np.clip(half, 0.0, 1.0)))
    return distance


def _impossible(points: FloatArray, times: FloatArray, at_least: float) -> NDArray[np.bool_]:
    """Find points far from both neighbors, which lie together, too far for the time between."""
    wrong = np.zeros(len(points), dtype=bool)
    to, back = distance_km(points[:-2], points[1:-1]), distance_km(points[1:-1], points[2:])
    hours = np.maximum(np.diff(times) / 3600.0, 0.0)
    too_fast = (to > FASTEST * hours[:-1]) | (back > FASTEST * hours[1:])
    wrong[1:-1] = (
        too_fast
        & (np.minimum(to, back) > at_least)
        & (distance_km(points[:-2], points[2:]) < at_least)
    )
    return wrong


def _longest_wait(first: int, last: int, times: Sequence[float] | None) -> int:
    """Return the frame after `first` and up to `last` before which most time passed."""
    if times is None:
        return last
    return (
        first + 1 + int(np.argmax(np.diff(np.asarray(times[first : last + 1], dtype=np.float64))))
    )


def _median(values: FloatArray) -> float:
    return float(np.median(values)) if values.size else 0.0


SIDE = 16


def signature(gray: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Shrink an image to a small thumbnail for comparing near-identical photos.

    Parameters
    ----------
    gray : array of shape (height, width), uint8
        Shades of gray.

    Returns
    -------
    array of shape (SIDE * SIDE,), uint8
    """
    from PIL import Image

    small = Image.fromarray(gray).resize((SIDE, SIDE), Image.Resampling.BOX)
    return np.asarray(small, dtype=np.uint8).ravel()


LONGEST_GAP, LONGEST_BURST = 2.0, 10.0
"""Seconds between two photos of a burst, and from its first to its last: a time-lapse of a still
scene must not become one frame."""

LARGEST_DIFFERENCE = 12.0
"""Mean gray levels, of 0 to 255, between a photo and the first of its burst."""


@dataclass(frozen=True)
class FrameGroups:
    """Which frames the method sees as one.

    Attributes
    ----------
    of_frame : ndarray of int, shape (n_frames,)
        Group of each frame; numbered without gaps, in order.
    """

    of_frame: IntArray

    @property
    def firsts(self) -> IntArray:
        """First frame of each group."""
        return np.flatnonzero(np.diff(self.of_frame, prepend=-1))

    def means(self, values: FloatArray) -> FloatArray:
        """Average the rows of each group."""
        counts = np.diff(np.append(self.firsts, len(self.of_frame)))
        return np.asarray(np.add.reduceat(values, self.firsts, axis=0) / counts[:, None])

    def numbers(self, frames: Collection[int]) -> tuple[int, ...]:
        """Return the groups that start at these frames; frames inside a group are ignored."""
        opened = set(self.firsts.tolist())
        return tuple(int(self.of_frame[f]) for f in sorted(frames) if f in opened)

    def expand_scores(
        self, scores: Sequence[float] | None, *, held: bool = False
    ) -> tuple[float, ...] | None:
        """Turn scores of groups into scores of frames: no boundary can lie inside a burst.

        If held, all frames of a group have its score: no frame is far from a possible boundary.
        """
        if scores is None:
            return None
        if held:
            return tuple(np.asarray(scores)[self.of_frame].tolist())
        expanded = np.zeros(len(self.of_frame))
        expanded[self.firsts] = scores
        return tuple(expanded.tolist())

    def expand_events(self, events: Sequence[Event]) -> tuple[Event, ...]:
        """Turn events of groups into events of frames."""
        edges = np.append(self.firsts, len(self.of_frame))
        return tuple(
            replace(
                e,
                start=int(edges[e.start]),
                stop=int(edges[e.stop]),
                interval=e.interval and tuple(edges[list(e.interval)].tolist()),
            )
            for e in events
        )

    def expand_levels(self, levels: Sequence[NestedLevel]) -> tuple[NestedLevel, ...]:
        """Turn levels of groups into levels of frames."""
        return tuple(
            replace(v, boundaries=tuple(self.firsts[list(v.boundaries)].tolist())) for v in levels
        )

    @property
    def n_bursts(self) -> int:
        """Number of groups with more than one frame."""
        return int(np.sum(np.bincount(self.of_frame) > 1))

    @property
    def n_in_bursts(self) -> int:
        """Number of frames in such groups."""
        counts = np.bincount(self.of_frame)
        return int(counts[counts > 1].sum())


def group_frames(
    times: Sequence[float | None] | None,
    signatures: NDArray[np.uint8],
    *,
    opened: Collection[int] = (),
) -> FrameGroups:
    """Find bursts of near-identical photos; every other frame is a group of its own.

    A photo joins the current burst if it closely follows the last photo of the burst and resembles
    the first.

    Parameters
    ----------
    times : sequence of float or None
        Seconds, one per photo, in order; a photo without a time is in no burst. Without times there
        are no bursts.
    signatures : array of shape (n_photos, k)
        See `signature`.
    opened : collection of int
        Frames that always start a group: required boundaries.
    """
    if times is None:
        return FrameGroups(np.arange(len(signatures)))
    seconds = np.asarray(times, dtype=np.float64)  # NaN where there is none
    gray = signatures.astype(np.int16)
    opens = np.ones(len(gray), dtype=bool)
    first = 0
    for i in range(1, len(gray)):
        opens[i] = not (
            0 <= seconds[i] - seconds[i - 1] <= LONGEST_GAP
            and seconds[i] - seconds[first] <= LONGEST_BURST
            and np.mean(np.abs(gray[i] - gray[first])) <= LARGEST_DIFFERENCE
        )
        first = i if opens[i] else first
    opens[[frame for frame in opened if 0 <= frame < len(opens)]] = True
    return FrameGroups(np.cumsum(opens) - 1)
