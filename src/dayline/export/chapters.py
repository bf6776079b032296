"""The start and end of every event on a player's clock, for all chapter formats."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from dayline.arrays import FloatArray
from dayline.events import Segmentation
from dayline.export.titles import event_titles

__all__ = ["Chapter", "chapters", "frame_ranges", "milliseconds", "timeline_rate"]

SHORTEST = 0.001
"""Seconds. Files count in milliseconds, and most readers refuse a chapter of length zero."""

WITHOUT_TIMES = "pass fps, the frames per second (dayline export --fps)"
"""The way out for frames without usable times; no other command has this option."""

DEFAULT_RATE = 25.0
SLOWEST_RATE = 1.0


@dataclass(frozen=True)
class Chapter:
    """One event on a player's clock: from `start` to `end` in seconds, with its `title`."""

    start: float
    end: float
    title: str


def chapters(
    segmentation: Segmentation, *, fps: float | None = None, duration: float | None = None
) -> tuple[Chapter, ...]:
    """Place the events on a player's clock, one after the other without gaps.

    Times on a media clock are kept; times on a wall clock count from the first frame. An event ends
    when the next one starts; the last one ends with the recording.

    Parameters
    ----------
    segmentation : Segmentation
        Events, with times unless `fps` is given.
    fps : float, optional
        Frames per second: frame k is at k / fps, in place of its time.
    duration : float, optional
        End of the recording in seconds. By default, the last event ends one median frame interval
        after its last frame.
    """
    starts, last, distance = _at_rate(segmentation, fps) if fps is not None else _at_times(segmentation)
    for k in range(1, len(starts)):
        # The photos on the two sides of a boundary may have the same time.
        starts[k] = max(starts[k], starts[k - 1] + SHORTEST)
    end = last + distance if duration is None else duration
    if duration is not None and starts[-1] >= duration:
        msg = f"the last event starts at {starts[-1]:.3f} s, but the recording ends at {duration:.3f} s; "
        raise ValueError(msg + "use the events of this recording")
    edges = [*starts, max(end, starts[-1] + SHORTEST)]
    titles = event_titles(segmentation, letters=False)
    return tuple(Chapter(a, b, title) for (a, b), title in zip(pairwise(edges), titles, strict=True))


def _at_rate(segmentation: Segmentation, fps: float) -> tuple[list[float], float, float]:
    """Return the start of every event, the time of the last frame and the interval between frames, in seconds."""
    if not 1e-6 <= fps <= 1e6:
        raise ValueError(f"fps={fps}; it must be between 1e-6 and 1e6 frames per second")
    return [event.start / fps for event in segmentation.events], (segmentation.n_frames - 1) / fps, 1.0 / fps


def _at_times(segmentation: Segmentation) -> tuple[list[float], float, float]:
    """Return the same from the times of the frames."""
    times, origin = _player_times(segmentation)
    distance = float(np.median(np.diff(times))) if len(times) > 1 else 1.0
    starts = [max(time - origin, 0.0) for time in segmentation.start_times if time is not None]
    return starts, float(times[-1]), distance


def _player_times(segmentation: Segmentation) -> tuple[FloatArray, float]:
    """Return the times of the frames on a player's clock, and the time that is its zero."""
    if segmentation.times is None:
        raise ValueError(f"the frames have no times, which chapters need; {WITHOUT_TIMES}")
    times = np.asarray(segmentation.times, dtype=np.float64)
    bad = np.flatnonzero(~np.isfinite(times))
    if bad.size:
        raise ValueError(f"frame {bad[0]} has no usable time; repair it or {WITHOUT_TIMES}")
    backwards = np.flatnonzero(np.diff(times) < 0)
    if backwards.size:
        raise ValueError(
            f"the clock runs backwards at frame {backwards[0] + 1}; sort the frames by time or {WITHOUT_TIMES}"
        )
    origin = 0.0 if segmentation.clock == "media" else float(times[0])
    # Some files have a first timestamp slightly below zero, where no player can go.
    return np.maximum(times - origin, 0.0), origin


def timeline_rate(fps: float | None, rate: float | None) -> float:
    """Return the frames per second of an editor's timeline.

    Parameters
    ----------
    fps : float or None
        Frames per second of the events; taken if an editor can use it and `rate` is None, else 25.
    rate : float or None
        The rate itself: 24, 25, 29.97, ...
    """
    if rate is not None:
        return rate
    return fps if fps is not None and fps >= SLOWEST_RATE else DEFAULT_RATE


def milliseconds(seconds: float) -> int:
    """Round up to the millisecond, the unit of most chapter files; a player shows the frame before until then."""
    # Times are known to the microsecond.
    return math.ceil(round(seconds * 1000, 3))


def frame_ranges(marks: tuple[Chapter, ...], *, rate: float) -> list[tuple[int, int]]:
    """Return the first and the end frame of each chapter on a timeline with `rate` frames per second."""
    if not (np.isfinite(rate) and rate >= SLOWEST_RATE):
        raise ValueError(f"rate={rate} is not a valid timeline rate; use 24, 25, 29.97, 30, ...")
    edges = [round(mark.start * rate) for mark in marks] + [round(marks[-1].end * rate)]
    for number, (start, end) in enumerate(pairwise(edges)):
        if end <= start:
            msg = f"event {number + 1} is shorter than one frame at {rate:g} frames per second; "
            raise ValueError(msg + "pass a higher rate")
    return list(pairwise(edges))
