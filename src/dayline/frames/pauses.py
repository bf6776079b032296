"""Find long pauses and clock jumps from the frame times alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dayline.arrays import FloatArray

__all__ = ["ClockJump", "Pause", "check_pauses", "find_clock_jumps", "find_pauses"]

HOUR = 3600.0
LONGEST_GAP = 2 * HOUR
"""A longer gap is a pause even among few photos, whose usual gap is hours long itself."""

MANY_GAPS = 10
"""Fewer gaps may be equal by chance."""

LARGEST_CLOCK_CHANGE_HOURS = 14
"""A larger step forward counts as a pause: no flight crosses more time zones."""


@dataclass(frozen=True)
class Pause:
    """A time without frames: the camera was off.

    Attributes
    ----------
    before : int
        Index of the first frame after the pause.
    seconds : float
        Length of the pause.
    """

    before: int
    seconds: float


@dataclass(frozen=True)
class ClockJump:
    """A frame at which the camera's clock appears to have been reset.

    Attributes
    ----------
    before : int
        Index of the first frame on the new clock.
    seconds : float
        How far the clock moved; negative if it went back.
    """

    before: int
    seconds: float


def find_pauses(times: Sequence[float] | None, *, factor: float = 10.0, at_least: float = 300.0) -> tuple[Pause, ...]:
    """Find the times when the camera was off.

    A gap is a pause if it is longer than both `factor` times the usual gap and `at_least`. The first
    condition adapts to the rhythm of the camera: one photo every ten minutes does not give one event
    per photo. The second ignores one or two missed exposures of a wearable camera and the seconds
    between bursts. The usual gap is the median of the positive gaps, so that photos taken within one
    second do not shrink it.

    The median of a few gaps says little: of 30 seconds and 13 hours, it is half of the pause. Therefore a gap of
    more than two hours that is longer than `at_least` is a pause whatever the usual gap, unless photos are taken at
    regular intervals, as in a time-lapse: more than ten gaps, of which three quarters differ from the usual one by
    at most a quarter.

    Parameters
    ----------
    times : sequence of float or None
        Seconds, one per frame. None, or fewer than two times, gives no pauses.
    factor : float > 0
        Minimum length of a pause in units of the usual gap.
    at_least : float >= 0
        Minimum length of a pause in seconds.
    """
    check_pauses(factor, at_least)
    gaps = _gaps(times)
    usual = _usual(gaps)
    limit = factor * usual if _is_regular(gaps, usual) else min(factor * usual, LONGEST_GAP)
    longer = gaps > max(limit, at_least)
    return tuple(Pause(int(i) + 1, float(gaps[i])) for i in np.flatnonzero(longer))


def check_pauses(factor: float, at_least: float) -> None:
    """Raise ValueError if the parameters of `find_pauses` are out of range."""
    if not factor > 0 or not at_least >= 0:
        raise ValueError(f"pauses need factor > 0 and at_least >= 0 seconds, not {factor} and {at_least}")


def find_clock_jumps(
    times: Sequence[float] | None, *, backwards_over: float = 1.0, rhythm: float = 0.5
) -> tuple[ClockJump, ...]:
    """Find where the clock went back, or forward by whole hours (travel, summer time).

    A step back is always a jump. A step forward can be distinguished from a pause only in a regular
    sequence: if at least half of the gaps lie within `rhythm` of the usual one, a gap of whole hours
    plus one usual gap counts as a clock change (up to 14 hours).

    Parameters
    ----------
    times : sequence of float or None
        Seconds, in the order in which the frames were taken (by anything but the clock).
    backwards_over : float >= 0
        Steps back of up to this many seconds are ignored (rounding, two files written out of order).
    rhythm : float in (0, 1)
        Allowed deviation from the usual gap, as a fraction of it.
    """
    gaps = _gaps(times)
    usual = _usual(gaps)
    hours = np.round((gaps - usual) / HOUR)
    spare = np.abs(gaps - usual - hours * HOUR)
    near_usual = np.abs(gaps - usual) <= rhythm * usual
    has_rhythm = gaps.size >= 4 and 0 < usual < HOUR / 10 and 2 * np.sum(near_usual) >= gaps.size
    forward = (hours >= 1) & (hours <= LARGEST_CLOCK_CHANGE_HOURS) & (spare <= rhythm * usual)
    back = gaps < -backwards_over
    found = back | (forward if has_rhythm else False)
    # The clock moved by the gap minus the gap expected without a jump.
    moved = np.where(back, gaps - min(usual, HOUR), hours * HOUR)
    return tuple(ClockJump(int(i) + 1, float(moved[i])) for i in np.flatnonzero(found))


def _gaps(times: Sequence[float] | None) -> FloatArray:
    return np.diff(np.asarray([] if times is None else times, dtype=np.float64))


def _usual(gaps: FloatArray) -> float:
    above = gaps[gaps > 0]
    return float(np.median(above)) if above.size else 0.0


def _is_regular(gaps: FloatArray, usual: float) -> bool:
    """Whether photos are taken at regular intervals."""
    above = gaps[gaps > 0]
    return above.size > MANY_GAPS and bool(np.mean(np.abs(above - usual) <= usual / 4) >= 3 / 4)
