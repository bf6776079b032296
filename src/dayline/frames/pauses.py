"""Long pauses and clocks that jump, found from the frames' times alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dayline.arrays import FloatArray

__all__ = ["ClockJump", "Pause", "check_pauses", "find_clock_jumps", "find_pauses"]

HOUR = 3600.0
LARGEST_CLOCK_CHANGE_HOURS = 14
"""A larger step forward is taken for a pause: flights cross fewer time zones than that."""


@dataclass(frozen=True)
class Pause:
    """A time without frames: the camera was off.

    Attributes
    ----------
    before : int
        Index of the first frame after the pause.
    seconds : float
        How long it lasted.
    """

    before: int
    seconds: float


@dataclass(frozen=True)
class ClockJump:
    """A place where the camera's clock seems to have been set anew.

    Attributes
    ----------
    before : int
        Index of the first frame on the new clock.
    seconds : float
        By how much the clock moved; negative when it went back.
    """

    before: int
    seconds: float


def find_pauses(times: Sequence[float] | None, *, factor: float = 10.0, at_least: float = 300.0) -> tuple[Pause, ...]:
    """Find the times when the camera was off.

    A gap is a pause when it is longer than `factor` times the usual gap and longer than `at_least`.
    The first asks for a gap that is unlike this camera's rhythm, so that somebody who takes a photo
    every ten minutes does not get an event per photo; the second keeps a missed exposure or two of a
    wearable camera, and the seconds between bursts, from counting. The usual gap is the median of
    the gaps above zero, so that photos within one second do not shrink it.

    Parameters
    ----------
    times : sequence of float or None
        Seconds, one per frame. None, or fewer than two, has no pauses.
    factor : float > 0
        How many times the usual gap.
    at_least : float >= 0
        Seconds. A pause is always longer than this.
    """
    check_pauses(factor, at_least)
    gaps = _gaps(times)
    longer = gaps > max(factor * _usual(gaps), at_least)
    return tuple(Pause(int(i) + 1, float(gaps[i])) for i in np.flatnonzero(longer))


def check_pauses(factor: float, at_least: float) -> None:
    """Refuse what cannot say how long a pause is; see `find_pauses`."""
    if not factor > 0 or not at_least >= 0:
        raise ValueError(f"pauses need factor > 0 and at_least >= 0 seconds, not {factor} and {at_least}")


def find_clock_jumps(
    times: Sequence[float] | None, *, backwards_over: float = 1.0, rhythm: float = 0.5
) -> tuple[ClockJump, ...]:
    """Find where the clock went back, or forward by whole hours (travel, summer time).

    Going back is certain: time does not. Going forward is told from a pause only in a sequence with
    a rhythm: where at least half of the gaps lie within `rhythm` of the usual one, a gap of whole
    hours plus one usual gap is taken for a change of the clock (up to 14 hours).

    Parameters
    ----------
    times : sequence of float or None
        Seconds in the order in which the frames were taken, as far as anything but the clock tells.
    backwards_over : float >= 0
        Seconds that a clock may go back unnoticed (rounding, two files written out of turn).
    rhythm : float in (0, 1)
        Part of the usual gap by which a gap may differ from it.
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
    # What the clock moved by is the gap less the one that would have been there anyway.
    moved = np.where(back, gaps - min(usual, HOUR), hours * HOUR)
    return tuple(ClockJump(int(i) + 1, float(moved[i])) for i in np.flatnonzero(found))


def _gaps(times: Sequence[float] | None) -> FloatArray:
    return np.diff(np.asarray([] if times is None else times, dtype=np.float64))


def _usual(gaps: FloatArray) -> float:
    above = gaps[gaps > 0]
    return float(np.median(above)) if above.size else 0.0
