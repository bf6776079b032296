"""The order of photos: by when they were taken, or by name, and what speaks against it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from dayline.frames.capture_time import CaptureTime, date_in_name, time_in_name, times_of_day
from dayline.frames.clock_notes import clock_notes, contradiction_notes, offset_notes
from dayline.frames.names import natural_key

__all__ = ["Order", "order_photos"]

DAY = 86_400.0
# Photos from just before and just after midnight belong to one evening when the camera was off for hours at
# another time of the day; somebody who starts one minute after midnight and ends one before it is rarer.
ACROSS_MIDNIGHT_WITHIN = 3600.0
OFF_BY_DAY = 4 * 3600.0


@dataclass(frozen=True)
class Order:
    """The order of photos: which comes when, at what time, by which rule, with what doubts."""

    indices: tuple[int, ...]
    times: tuple[float, ...] | None
    rule: str
    notes: tuple[str, ...]


def order_photos(
    names: Sequence[str],
    exif_times: Sequence[CaptureTime | None],
    *,
    folder_name: str = "",
    by: Literal["time", "name"] = "time",
) -> Order:
    """Put photos in order.

    Parameters
    ----------
    names : sequence of str
        Names relative to the folder.
    exif_times : sequence of CaptureTime or None
        What the EXIF data of each says.
    folder_name : str
        Name of the folder; a date in it is the date of photos whose names hold a time of day only.
    by : {"time", "name"}
        "time": by EXIF time, else by a time in the name, else by name. "name": by name whatever the
        times say (for a camera whose clock was set back on the way).
    """
    by_name = sorted(range(len(names)), key=lambda i: (natural_key(names[i]), names[i]))
    times, rule, notes = _times(names, exif_times, folder_name)
    known = sum(t is not None for t in times)
    if known == 0:
        return Order(tuple(by_name), None, "by name, numbers counted (no capture times found)", notes)
    if 2 * known < len(names):
        few = f"only {known} of {len(names)} photos have a capture time; ordered by name, times left out"
        return Order(tuple(by_name), None, "by name, numbers counted", (*notes, few))
    if known < len(names):
        notes = (*notes, _filled_note(names, times))
    filled = _filled(times, by_name)
    if by == "name":
        chosen, rule = by_name, f"by name, as asked (times: {rule})"
    else:
        place = {index: k for k, index in enumerate(by_name)}
        chosen, rule = sorted(by_name, key=lambda i: (filled[i], place[i])), f"by {rule}"
        if any(exif_times):
            notes = (*notes, *contradiction_notes(names, filled, exif_times, by_name))
    in_order = [filled[i] for i in chosen]
    notes = (*notes, *offset_notes([names[i] for i in chosen], [exif_times[i] for i in chosen]))
    notes = (*notes, *clock_notes([names[i] for i in chosen], in_order))
    return Order(tuple(chosen), tuple(in_order), rule, notes)


def _times(
    names: Sequence[str], exif_times: Sequence[CaptureTime | None], folder_name: str
) -> tuple[list[float | None], str, tuple[str, ...]]:
    """Find each photo's time; say from where; note what was assumed."""
    in_names = [time_in_name(name) for name in names]
    exif = _on_one_clock(exif_times)
    times = [e if e is not None else n for e, n in zip(exif, in_names, strict=True)]
    n_exif = sum(e is not None for e in exif)
    n_name = sum(t is not None for t in times) - n_exif
    if n_exif and n_name:
        mixed = f"{n_exif} photos have an EXIF time; for {n_name} without one the time in the file name was used"
        return times, "capture time (EXIF, else the file name)", (mixed,)
    if n_exif:
        return times, "capture time (EXIF)", ()
    if n_name:
        return times, "the time in the file names", ()
    clock = times_of_day(names)
    if clock is None:
        return times, "", ()
    return _dated(names, clock, folder_name)


def _dated(
    names: Sequence[str], clock: list[float], folder_name: str
) -> tuple[list[float | None], str, tuple[str, ...]]:
    """Put times of day on the date in the folder's name, and those after midnight on the next."""
    dates = [date_in_name(name.rsplit("/", 1)[0]) if "/" in name else date_in_name(folder_name) for name in names]
    if len(set(dates)) > 1:
        # Folders per day: each photo has its own date, or the one of the folder above.
        base = date_in_name(folder_name)
        days = [d if d is not None else base for d in dates]
        if None not in days:
            return (
                [t + (d or 0.0) for t, d in zip(clock, days, strict=True)],
                "time of day in the file names",
                (),
            )
    day = (dates[0] or 0.0) if len(set(dates)) == 1 else 0.0
    ranked = sorted(clock)
    gaps = [b - a for a, b in pairwise(ranked)]
    over_midnight = ranked[0] + DAY - ranked[-1]
    if over_midnight > ACROSS_MIDNIGHT_WITHIN or max(gaps, default=0.0) < OFF_BY_DAY:
        return [day + t for t in clock], "time of day in the file names", ()
    starts = ranked[gaps.index(max(gaps)) + 1]
    times: list[float | None] = [day + t + (DAY if t < starts else 0.0) for t in clock]
    night = "the names hold times of day on both sides of midnight; those after it were put on the next day"
    return times, "time of day in the file names", (night,)


def _on_one_clock(exif_times: Sequence[CaptureTime | None]) -> list[float | None]:
    """Bring times with different offsets from UTC onto the clock of the earliest one that has an offset."""
    with_offset = [(t.seconds - t.offset, t.offset) for t in exif_times if t is not None and t.offset is not None]
    home = min(with_offset)[1] if with_offset else 0.0
    return [None if t is None else t.seconds if t.offset is None else t.seconds - t.offset + home for t in exif_times]


def _filled(times: Sequence[float | None], by_name: Sequence[int]) -> list[float]:
    """Give a photo without a time the time of the one before it by name."""
    last = next(t for i in by_name if (t := times[i]) is not None)
    filled = [0.0] * len(times)
    for i in by_name:
        now = times[i]
        last = last if now is None else now
        filled[i] = last
    return filled


def _filled_note(names: Sequence[str], times: Sequence[float | None]) -> str:
    without = [name for name, t in zip(names, times, strict=True) if t is None]
    return (
        f"{len(without)} of {len(names)} photos have no capture time (first {without[0]}); each took the "
        "time of the photo before it by name"
    )
