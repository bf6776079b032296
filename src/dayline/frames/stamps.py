"""Repair single time stamps of a video that do not fit those around them."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from dayline.arrays import FloatArray

__all__ = ["gaps_in_rate", "mended_stamps"]

NEIGHBOURS = 8
"""Frames on each side that a stamp is compared with."""

DEEPEST_REORDERING = 16
"""Largest number of frames by which a codec stores a frame early."""

FAR_STEPS = 10
FAR_LENGTHS = 10


def mended_stamps(stamps: Sequence[int], *, ticks_per_second: float, exact_rate: bool) -> dict[int, int]:
    """Find frames with a wrong time stamp, and the stamp that fits between their neighbours.

    A stamp is wrong if it is out of order and far from what the frames before and after it suggest. A pause, a
    clock reset or an uneven frame rate shifts all following frames and is kept. The first and last frame have
    neighbours on one side only: there a stamp is wrong if it lies seconds away from frames at a steady rate, or
    at many times the length of all others.

    With `exact_rate`, a stamp between the steps of an otherwise exact frame rate is also wrong if a frame is
    missing at a nearby step.

    Parameters
    ----------
    stamps : sequence of int
        Presentation time stamps in file order, all different.
    ticks_per_second : float
        Unit of the stamps.
    exact_rate : bool
        Whether the container has an exact frame rate, as broadcast streams do.

    Returns
    -------
    dict of int to int
        Position in `stamps` and repaired value of each wrong stamp.
    """
    n = len(stamps)
    if n <= 2 * NEIGHBOURS:
        return {}
    values = np.asarray(stamps, dtype=np.float64)
    gaps = np.diff(np.sort(values))
    step = float(np.median(gaps))
    wrong = _out_of_line(values, step)
    wrong |= _lone_ends(values, wrong, step=step, seconds=5 * ticks_per_second)
    # With so many outliers, the stamps are irregular rather than wrong.
    if np.mean(wrong) > 0.1:
        return {}
    between = _between_steps(values, step) & ~wrong if exact_rate else np.zeros(n, dtype=bool)
    return _places(stamps, wrong, between, step)


def gaps_in_rate(stamps: Sequence[int]) -> list[int]:
    """Find the frames that follow missing ones in a video with an exact frame rate; empty for any other video.

    Parameters
    ----------
    stamps : sequence of int
        Time stamps in display order.
    """
    gaps = np.diff(np.asarray(stamps, dtype=np.float64))
    if len(gaps) < 2 * NEIGHBOURS or not _is_exact(steps := gaps / np.median(gaps)):
        return []
    return [int(i) + 1 for i in np.flatnonzero(steps > 1.5)]


def _is_exact(steps: FloatArray) -> bool:
    return bool(np.mean(np.abs(steps - 1) <= 0.05) >= 0.95)


def _out_of_line(values: FloatArray, step: float) -> NDArray[np.bool_]:
    steady = values - step * np.arange(len(values))
    away = np.fmin(np.abs(steady - _medians_before(steady)), np.abs(steady - _medians_after(steady)))
    # Codecs store some frames early, so a few always deviate.
    usual = float(np.quantile(away, 0.95))
    out_of_order = (values < _medians_before(values)) | (values > _medians_after(values))
    return np.asarray(out_of_order & (away > 2 * usual + 3 * step))


def _lone_ends(values: FloatArray, wrong: NDArray[np.bool_], *, step: float, seconds: float) -> NDArray[np.bool_]:
    """Find a first or last frame far from all others."""
    good = np.flatnonzero(~wrong)
    order = good[np.argsort(values[good], kind="stable")]
    lone = np.zeros(len(values), dtype=bool)
    for end, rest in ((order[-1], order[:-1]), (order[0], order[1:])):
        ranked = values[rest]
        gap = min(abs(values[end] - ranked[0]), abs(values[end] - ranked[-1]))
        is_steady = np.mean(np.abs(np.diff(ranked) - step) <= step / 2) >= 0.9
        far = max(FAR_STEPS * step, seconds)
        is_near_an_end = min(end, len(values) - 1 - end) <= DEEPEST_REORDERING
        lone[end] = is_near_an_end and gap > (far if is_steady else max(far, FAR_LENGTHS * (ranked[-1] - ranked[0])))
    return lone


def _between_steps(values: FloatArray, step: float) -> NDArray[np.bool_]:
    """Find frames that are not a whole number of steps from either neighbour, if almost all others are."""
    order = np.argsort(values, kind="stable")
    steps = np.diff(values[order]) / step
    if not _is_exact(steps):
        return np.zeros(len(values), dtype=bool)
    uneven = np.abs(steps - np.round(steps)) > 0.1
    inside = uneven[1:] & uneven[:-1]
    # The first and last frame have one neighbour, which may itself be wrong.
    first, last = uneven[0] and not inside[0], uneven[-1] and not inside[-1]
    found = np.zeros(len(values), dtype=bool)
    found[order] = [first, *inside, last]
    return found


def _medians_before(values: FloatArray) -> FloatArray:
    """Median of the frames before each frame; NaN for the first."""
    windows = np.lib.stride_tricks.sliding_window_view(values, NEIGHBOURS)
    full = np.median(windows[: len(values) - NEIGHBOURS], axis=1)
    head = [np.nan, *(float(np.median(values[:i])) for i in range(1, NEIGHBOURS))]
    return np.concatenate([np.asarray(head), full])


def _medians_after(values: FloatArray) -> FloatArray:
    return _medians_before(values[::-1])[::-1]


def _places(
    stamps: Sequence[int], wrong: NDArray[np.bool_], between: NDArray[np.bool_], step: float
) -> dict[int, int]:
    """Move each wrong frame into a gap between the others, near its position in the file.

    Frames in `between` are moved only if there is such a gap.
    """
    ranked = sorted(stamp for stamp, out in zip(stamps, wrong | between, strict=True) if not out)
    mended = {}
    for i in np.flatnonzero(wrong | between).tolist():
        # Frames already repaired are in `ranked`, so that positions in it and in the file agree.
        nearby = range(max(i - DEEPEST_REORDERING, 1), min(i + DEEPEST_REORDERING, len(ranked) - 1) + 1)
        gaps = {k: ranked[k] - ranked[k - 1] for k in nearby}
        wide = [k for k, gap in gaps.items() if 1.5 * step < gap < (DEEPEST_REORDERING + 0.5) * step]
        if wide:
            k = min(wide, key=lambda k: abs(k - i))
            stamp = ranked[k - 1] + round(gaps[k] / round(gaps[k] / step))
        elif i + DEEPEST_REORDERING >= len(ranked):
            stamp = ranked[-1] + round(step)
        elif i == 0:
            stamp = ranked[0] - round(step)
        else:
            stamp = stamps[i] if between[i] else (ranked[i - 1] + ranked[i]) // 2
        while (at := bisect_left(ranked, stamp)) < len(ranked) and ranked[at] == stamp:
            stamp += 1
        insort(ranked, stamp)
        mended[i] = stamp
    return {i: stamp for i, stamp in mended.items() if stamp != stamps[i]}
