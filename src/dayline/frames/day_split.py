"""Where one day ends and the next begins: at night, in the longest pause."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dayline.arrays import FloatArray, IntArray

__all__ = ["day_numbers", "day_text"]

DAY = 86_400.0
NIGHT_ENDS = 6 * 3600.0
USUAL_START = 4 * 3600.0
SHORTEST_NIGHT = 3600.0


def day_numbers(times: Sequence[float] | FloatArray) -> IntArray:
    """Return the day of each photo, counted from 1970-01-01.

    A day begins in the longest pause that lies in or touches the time from midnight to 06:00, so that a party that
    ends at 03:00 belongs to its evening and a start at 05:00 to the day that follows. If no pause there lasts an
    hour, the day begins at 04:00.

    Parameters
    ----------
    times : sequence of float
        Local times in seconds since 1970, in any order.
    """
    seconds = np.asarray(times, dtype=np.float64)
    ordered = np.sort(seconds)
    numbers = np.floor(seconds / DAY).astype(np.int64)
    for day in np.unique(numbers[(seconds % DAY) < NIGHT_ENDS]).tolist():
        start = _start(ordered, day * DAY)
        before = (numbers == day) & (seconds < start)
        numbers[before] = day - 1
    return numbers


def _start(ordered: FloatArray, midnight: float) -> float:
    """Return when the day that follows a midnight begins."""
    first, stop = np.searchsorted(ordered, [midnight, midnight + NIGHT_ENDS])
    # The photos of the night, with one on each side; there, a day without photos counts as a long pause.
    early = ordered[first - 1] if first else -np.inf
    late = ordered[stop] if stop < len(ordered) else np.inf
    night = np.concatenate([[max(early, midnight - DAY)], ordered[first:stop], [min(late, midnight + DAY)]])
    gaps = np.diff(night)
    longest = int(np.argmax(gaps))
    if gaps[longest] < SHORTEST_NIGHT:
        return midnight + USUAL_START
    return float(night[longest] + gaps[longest] / 2)


def day_text(number: int) -> str:
    """Return the date of a day as 2023-07-15."""
    return str(np.datetime64(number, "D"))
