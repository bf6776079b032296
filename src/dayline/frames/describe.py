"""A sequence as rows of text: which frames, in which order, at which times."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Literal

from dayline.frames.sequence import FrameSequence
from dayline.text import clock_text

__all__ = ["FrameRow", "describe", "time_text"]

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class FrameRow:
    """One frame: its index, its name and its time as text ("" if unknown)."""

    index: int
    name: str
    time: str


def describe(sequence: FrameSequence) -> list[FrameRow]:
    """List the frames of a sequence in order, with their times as text."""
    times: list[str] = [""] * sequence.n_frames
    if sequence.times is not None:
        times = [time_text(t, clock=sequence.clock) for t in sequence.times]
    return [FrameRow(i, n, t) for i, (n, t) in enumerate(zip(sequence.names, times, strict=True))]


def time_text(seconds: float, *, clock: Literal["wall", "media"] | None) -> str:
    """Format a time for display, with milliseconds only if they are not zero.

    Parameters
    ----------
    seconds : float
        Seconds since 1970 on the camera's clock, or since the start of the recording.
    clock : {"wall", "media"} or None
        "wall" gives 2015-03-12 14:22:33, or 14:22:33 if the day is unknown (times of day are stored
        as seconds in the first days of 1970); otherwise 0:01:23.400.
    """
    milliseconds = round(seconds * 1000)
    whole, rest = divmod(milliseconds, 1000)
    if clock == "wall":
        # Added to 1970 rather than converted: this also works before 1970 and ignores time zones.
        try:
            moment = EPOCH + timedelta(seconds=whole)
        except OverflowError:
            raise ValueError(f"time {seconds:g} s is outside the years 1 to 9999; leave out the times") from None
        text = moment.strftime("%H:%M:%S" if moment.year == EPOCH.year else "%Y-%m-%d %H:%M:%S")
        return f"{text}.{rest:03d}" if rest else text
    return f"{'-' if milliseconds < 0 else ''}{clock_text(abs(milliseconds) / 1000, digits=3, short=True)}"
