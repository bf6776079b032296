"""Gaps in the times of frames that are far longer than usual: the recording paused there."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dayline.arrays import FloatArray

HOUR = 3600.0
LONGEST_USUAL_GAP = 2 * HOUR
"""A longer gap is a pause even among few photos, whose usual gap is hours long itself."""

MANY_GAPS = 10
"""Fewer gaps may be equal by chance."""

FEW_PAUSES = 2
"""More pauses than these are hardly equal by chance: they are far longer than most gaps."""

FAR_LONGER = 10.0
"""How many times as long as a usual gap a pause is at least."""


def find_pauses(
    times: Sequence[float] | FloatArray | None,
    *,
    factor: float = FAR_LONGER,
    at_least: float = 300.0,
    durations: Sequence[float | None] | None = None,
) -> dict[int, float]:
    """Find the times when the camera was off: the first frame after each, and its seconds.

    A gap is a pause if it is longer than both `factor` times the usual gap and `at_least`. The
    first condition adapts to the rhythm of the camera: one photo every ten minutes does not give
    one event per photo. The second ignores one or two missed exposures of a wearable camera and the
    seconds between bursts. The usual gap is the median of the positive gaps, so that photos taken
    within one second do not shrink it.

    The median of a few gaps says little: of 30 seconds and 13 hours, it is half of the pause.
    Therefore a gap of more than two hours that is longer than `at_least` is a pause whatever the
    usual gap, unless photos are taken at regular intervals, as in a time-lapse: more than ten gaps,
    of which three quarters differ from the usual one by at most a quarter.

    Parameters
    ----------
    times : sequence of float or None
        Seconds, one per frame. None, or fewer than two times, gives no pauses.
    factor : float > 0
        Minimum length of a pause in units of the usual gap.
    at_least : float >= 0
        Minimum length of a pause in seconds.
    durations : sequence of float or None, optional
        Seconds that frames last; while a video is recorded, the camera is not off.
    """
    gaps = np.diff(np.asarray([] if times is None else times, dtype=np.float64))
    if durations is not None:
        gaps = gaps - np.asarray([seconds or 0.0 for seconds in durations[: len(gaps)]])
    above = gaps[gaps > 0]
    usual = float(np.median(above)) if above.size else 0.0
    limit = factor * usual if _is_regular(above, usual) else min(factor * usual, LONGEST_USUAL_GAP)
    longer = gaps > max(limit, at_least)
    return {i + 1: float(gaps[i]) for i in np.flatnonzero(longer).tolist()}


def long_gap(times: FloatArray) -> float:
    """Return how long a gap is that is far longer than usual, whatever was recorded.

    Five minutes say nothing of a sensor or of prices. A pause there is longer than ten times the
    gap that only ten others exceed: only a quarter of them in a short sequence, one in a hundred in
    a long one. So the weekends between days are none, nor are the many silences of a conversation.
    Three pauses or more of about the same length, such as nights between values of every minute,
    are usual, too; only what is ten times as long again is a pause there.

    Parameters
    ----------
    times : ndarray of shape (n_frames,)
        Seconds, nondecreasing.
    """
    gaps = np.diff(times)
    gaps = np.sort(gaps[gaps > 0])[::-1]
    if gaps.size == 0:
        return float("inf")

    n_longer = min(max(MANY_GAPS, gaps.size // 100), gaps.size // 4)
    limit = FAR_LONGER * float(gaps[n_longer])
    pauses = gaps[gaps > limit]
    usual = float(np.median(pauses)) if pauses.size else 0.0
    return FAR_LONGER * usual if _is_regular(pauses, usual, many=FEW_PAUSES) else limit


def _is_regular(gaps: FloatArray, usual: float, *, many: int = MANY_GAPS) -> bool:
    """Whether most of more than `many` gaps are about as long as the usual one."""
    return gaps.size > many and bool(np.mean(np.abs(gaps - usual) <= usual / 4) >= 3 / 4)
