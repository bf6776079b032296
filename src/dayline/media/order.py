"""Put photos on one clock and in order, by capture time or by name, and note contradictions."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from itertools import pairwise
from math import inf
from statistics import median
from typing import Literal, TypeVar
from zoneinfo import ZoneInfo

from dayline.media.exif import date_in_file_name, date_in_name, time_in_name, times_of_day
from dayline.media.frame import NOON, Camera, CaptureTime, Frame, natural_key
from dayline.text import counted, midnight, moment

T = TypeVar("T")

HOUR, DAY = 3600.0, 86_400.0
# Photos from just before and just after midnight belong to one evening if the camera was off for
# hours at another time of day; a recording from just after midnight to just before the next is
# rarer.
ACROSS_MIDNIGHT_WITHIN = 3600.0
OFF_BY_DAY = 4 * 3600.0
DAY_STARTS = 4 * 3600.0
"""Seconds after midnight: earlier photos belong to the evening before."""


def in_order(
    frames: Sequence[Frame], *, folder_name: str = "", by: Literal["time", "name"] = "time"
) -> tuple[tuple[Frame, ...], str, tuple[str, ...]]:
    """Put photos in order and set their times.

    Parameters
    ----------
    frames : sequence of Frame
        Photos with names relative to their folder, in any order. Their times become those of
        `taken`, else those in the names, with `shift` added. A photo whose name has only a date
        keeps that, and gets no time.
    folder_name : str
        Name of the folder; a date in it is the date of photos whose names contain only a time of
        day.
    by : {"time", "name"}
        "time": by EXIF time, else by a time in the name, else by name. "name": by name, ignoring
        the times (for a camera whose clock was set back during the recording).

    Returns
    -------
    frames : tuple of Frame
        With their times, or the dates of those without one.
    rule : str
        The rule behind the order.
    notes : tuple of str
        Doubtful times.
    """
    frames = sorted(frames, key=lambda frame: (natural_key(frame.name), frame.name))
    names, taken = [frame.name for frame in frames], [frame.taken for frame in frames]
    times, rule, notes = _times(names, taken, folder_name)
    times = [None if t is None else t + f.shift for t, f in zip(times, frames, strict=True)]
    frames = [
        replace(frame, time=t, date=date_in_file_name(frame.name) if t is None else None)
        for frame, t in zip(frames, times, strict=True)
    ]
    known = [t for t in times if t is not None]
    if known and max(known) < 3 * DAY:
        # Times of day without a date are in the first days of 1970, and cannot be compared with
        # dates.
        frames = [replace(frame, date=None) for frame in frames]

    dated = [frame.name for frame in frames if frame.date is not None]
    n_placed = len(known) + len(dated)
    if 2 * n_placed < len(frames) or not n_placed:
        rule = "by name, in natural order"
        if n_placed:
            few = f"only {n_placed} of {len(frames)} photos have a capture time"
            notes = (*notes, f"{few}; ordered by name, without times")
        else:
            rule = f"{rule} (no capture times found)"
        return tuple(replace(frame, time=None, date=None) for frame in frames), rule, notes

    if dated:
        notes = (
            *notes,
            f"{len(dated)} of {len(names)} photos have a date but no time in their names (first"
            f" {dated[0]}); they follow the other photos of that day, in name order",
        )
    if n_placed < len(frames):
        without = [f.name for f in frames if f.time is None and f.date is None]
        few = f"{len(without)} of {len(names)} photos have no capture time (first {without[0]})"
        notes = (*notes, f"{few}; each follows the previous photo in name order")
    rule = rule or "the date in the file names, then by name"

    if by == "name":
        rule = f"by name, as requested (times: {rule})"
        steps = _set_back_notes(frames)
        notes = (*notes, *steps[:MOST_STEPS])
        if len(steps) > MOST_STEPS:
            notes = (*notes, f"the clock goes back {len(steps) - MOST_STEPS} more times")
    else:
        rule = f"by {rule}"
        if any(taken):
            notes = (*notes, *_contradictions(frames))
        frames = sorted_by_time(frames)
    return tuple(frames), rule, (*notes, *zone_notes(frames))


def _times(
    names: Sequence[str], exif_times: Sequence[CaptureTime | None], folder_name: str
) -> tuple[list[float | None], str, tuple[str, ...]]:
    """Find the time of each photo; return the times, their origin and notes on assumptions."""
    in_names = [time_in_name(name) for name in names]
    exif = on_one_clock(exif_times)
    times = [e if e is not None else n for e, n in zip(exif, in_names, strict=True)]
    n_takeout = sum(t is not None and t.is_utc for t in exif_times)
    n_exif = sum(e is not None for e in exif) - n_takeout
    n_name = sum(t is not None for t in times) - n_exif - n_takeout
    origins = (("EXIF", n_exif), ("Google Takeout", n_takeout), ("the file name", n_name))
    used = [(origin, n) for origin, n in origins if n]
    if n_exif or n_takeout:
        rule = f"capture time ({', else '.join(origin for origin, _ in used)})"
        mixed = ", ".join(f"{n} from {origin}" for origin, n in used)
        return times, rule, (f"times of photos: {mixed}",) if len(used) > 1 else ()
    if n_name:
        return times, "the time in the file names", ()
    clock = times_of_day(names)
    if clock is None:
        return times, "", ()
    return _dated(names, clock, folder_name)


def _dated(
    names: Sequence[str], clock: Sequence[float | None], folder_name: str
) -> tuple[list[float | None], str, tuple[str, ...]]:
    """Add the date in the folder name to times of day; times after midnight get the next date."""
    rule = "time of day in the file names"
    base = date_in_name(folder_name)
    own = [date_in_name(name.rsplit("/", 1)[0]) if "/" in name else base for name in names]
    dates = {d for d, t in zip(own, clock, strict=True) if t is not None}
    if len(dates) > 1 and (base is not None or None not in dates):
        # One folder per day: each photo has the date of its own folder, or of the one above.
        days = [d if d is not None else base or 0.0 for d in own]
        return [None if t is None else d + t for d, t in zip(days, clock, strict=True)], rule, ()
    day = (dates.pop() or 0.0) if len(dates) == 1 else 0.0
    ranked = sorted(t for t in clock if t is not None)
    gaps = [b - a for a, b in pairwise(ranked)]
    over_midnight = ranked[0] + DAY - ranked[-1]
    if over_midnight > ACROSS_MIDNIGHT_WITHIN or max(gaps, default=0.0) < OFF_BY_DAY:
        return [None if t is None else day + t for t in clock], rule, ()
    starts = ranked[gaps.index(max(gaps)) + 1]
    times = [None if t is None else day + t + (DAY if t < starts else 0.0) for t in clock]
    night = (
        "the names contain times of day before and after midnight; those after midnight get the"
        " next day"
    )
    return times, rule, (night,)


def sorted_by_time(frames: Sequence[Frame]) -> list[Frame]:
    """Sort photos by time; those with only a date follow the others of their day.

    A photo with neither follows the one before it.

    Parameters
    ----------
    frames : sequence of Frame
        In the order of photos of the same time.
    """
    last: dict[float, float] = {}
    for frame in frames:
        if frame.time is not None:
            day = (frame.time - DAY_STARTS) // DAY * DAY
            last[day] = max(frame.time, last.get(day, frame.time))

    places: list[tuple[float, bool] | None] = []
    for frame in frames:
        if frame.time is not None:
            places.append((frame.time, False))
        elif frame.date is not None:
            day = midnight(frame.date)
            places.append((last.get(day, day + NOON), True))
        else:
            places.append(None)
    order = sorted(zip(filled(places), range(len(frames)), strict=True))
    return [frames[i] for _, i in order]


def filled(values: Sequence[T | None]) -> list[T]:
    """Give a photo without a value that of the previous photo."""
    last = next(value for value in values if value is not None)
    found = []
    for value in values:
        last = last if value is None else value
        found.append(last)
    return found


SAME_TIME_WITHIN = 2.0
MOST_STEPS = 3


def _contradictions(frames: Sequence[Frame]) -> tuple[str, ...]:
    """Report where EXIF times and file names disagree, among photos in name order."""
    notes: list[str] = []
    # Two cameras take turns, each with its names in order, in folders of their own or in one.
    rolls: dict[tuple[str, Camera], list[float]] = {}
    timed = [frame for frame in frames if frame.time is not None]
    for frame in timed:
        roll = frame.name.rpartition("/")[0], frame.camera
        rolls.setdefault(roll, []).append(frame.time or 0.0)
    if any(values != sorted(values) for values in rolls.values()):
        notes.append("times contradict names: by name, the photos have another order")
        # If there are many steps, the names are unrelated to time.
        steps = _set_back_notes(frames)
        if len(rolls) == 1 and len(steps) <= min(MOST_STEPS, max(1, len(timed) // 10)):
            notes += [f"{step}; --order name keeps name order" for step in steps]

    differences = [
        abs(frame.taken.seconds - said)
        for frame in frames
        if frame.taken is not None
        and not frame.taken.is_utc
        and (said := time_in_name(frame.name)) is not None
    ]
    apart = [d for d in differences if d > SAME_TIME_WITHIN]
    if apart:
        notes.append(
            f"EXIF times and times in the file names differ for {len(apart)} of {len(differences)}"
            f" photos, typically by {span_text(median(apart))}; EXIF times are used"
        )
    return tuple(notes)


def _set_back_notes(frames: Sequence[Frame]) -> tuple[str, ...]:
    """Report where the clock goes back among photos in name order, by more than a second."""
    timed = [frame for frame in frames if frame.time is not None]
    gaps = [(b.time or 0.0) - (a.time or 0.0) for a, b in pairwise(timed)]
    # Without the step, the usual time would have passed.
    usual = median([gap for gap in gaps if gap > 0] or [0.0])
    return tuple(
        f"from {a.name} to {b.name} the clock goes back by {span_text(min(usual, HOUR) - gap)}"
        " (summer time, travel or reset?)"
        for (a, b), gap in zip(pairwise(timed), gaps, strict=True)
        if gap < -1.0
    )


def span_text(seconds: float) -> str:
    """Format a duration in its two largest units."""
    whole = round(seconds)
    days, hours, minutes = whole // 86_400, whole // 3600 % 24, whole // 60 % 60
    if days:
        return f"{days} d {hours} h"
    if hours:
        return f"{hours} h {minutes:02d} min"
    return f"{minutes} min {whole % 60:02d} s" if minutes else f"{whole} s"


MOST_CHANGES = 3


def time_zone(name: str) -> ZoneInfo:
    """Return a time zone of the IANA database; raise ValueError if there is none of this name."""
    try:
        return ZoneInfo(name)
    except (OSError, ValueError, KeyError):
        raise ValueError(
            f"time zone {name!r} is not known; use a name such as Europe/Madrid (or install the"
            " package tzdata, if this system has no time zones)"
        ) from None


def in_local_time(
    taken: Sequence[CaptureTime | None], *, zone: ZoneInfo | None = None
) -> tuple[tuple[CaptureTime | None, ...], tuple[str, ...]]:
    """Give photos that record only UTC their local time, and say what was assumed.

    Parameters
    ----------
    taken : sequence of CaptureTime or None
        Times of photos; those with `is_utc` and without an offset are in UTC.
    zone : ZoneInfo, optional
        Time zone of photos that record none. Without it, photos in UTC get the offset of the
        nearest photo that records one, and the others keep the time that the camera shows.
    """
    found = list(taken)
    if zone is not None:
        n_assumed = 0
        for i, t in enumerate(taken):
            if t is not None and t.offset is None:
                found[i], n_assumed = _zoned(t, zone), n_assumed + 1
        many = counted(n_assumed, "photo")
        note = f"{many} without a time zone: {zone.key}, as requested"
        return tuple(found), (note,) if n_assumed else ()

    in_utc = [
        (i, t) for i, t in enumerate(taken) if t is not None and t.is_utc and t.offset is None
    ]
    if not in_utc:
        return tuple(found), ()
    note = f"the times of {counted(len(in_utc), 'photo')} are in UTC (Google Takeout, videos)"
    known = sorted(
        (t.seconds - t.offset, t.offset) for t in taken if t is not None and t.offset is not None
    )
    if not known:
        way_out = "--timezone, such as Europe/Madrid, gives local times"
        return tuple(found), (f"{note}, which may be hours off; {way_out}",)
    offsets = set()
    for i, t in in_utc:
        after = bisect_left(known, (t.seconds, -inf))
        near = known[max(after - 1, 0) : after + 1]
        _, offset = min(near, key=lambda k: abs(k[0] - t.seconds))
        found[i] = replace(t, seconds=t.seconds + offset, offset=offset)
        offsets.add(offset)
    shown = ", ".join(f"UTC{offset_text(offset)}" for offset in sorted(offsets))
    zones = f"they are shown in the time zone of the nearest photo that records one ({shown})"
    return tuple(found), (f"{note}; {zones}",)


def _zoned(t: CaptureTime, zone: ZoneInfo) -> CaptureTime:
    when = moment(t.seconds)
    aware = when.astimezone(zone) if t.is_utc else when.replace(tzinfo=zone)
    offset = (aware.utcoffset() or timedelta()).total_seconds()
    return replace(t, seconds=t.seconds + offset if t.is_utc else t.seconds, offset=offset)


def on_one_clock(taken: Sequence[CaptureTime | None]) -> list[float | None]:
    """Convert times to the offset from UTC of the earliest photo that has one."""
    with_offset = [
        (t.seconds - t.offset, t.offset) for t in taken if t is not None and t.offset is not None
    ]
    home = min(with_offset)[1] if with_offset else 0.0
    return [
        None if t is None else t.seconds if t.offset is None else t.seconds - t.offset + home
        for t in taken
    ]


def zone_notes(frames: Sequence[Frame]) -> tuple[str, ...]:
    """Report changes of the time zone among photos in order, and photos without one."""
    dated = [(frame.name, frame.taken) for frame in frames if frame.taken is not None]
    known = [(name, t.offset) for name, t in dated if t.offset is not None]
    changes = [(a[1], *b) for a, b in pairwise(known) if a[1] != b[1]]
    if not changes:
        return ()

    first = f"UTC{offset_text(known[0][1])}"
    notes = [
        f"at {name} the camera's clock changes from UTC{offset_text(old)} to"
        f" UTC{offset_text(new)}; all times are given in its first time zone, {first}"
        for old, name, new in changes[:MOST_CHANGES]
    ]
    if len(changes) > MOST_CHANGES:
        notes.append(
            f"the camera's clock changes its time zone {len(changes) - MOST_CHANGES} more times"
        )
    if len(dated) > len(known):
        without = len(dated) - len(known)
        notes.append(f"{without} photos have no time zone; {first} is assumed for them")
    return tuple(notes)


def offset_text(seconds: float) -> str:
    """Format an offset from UTC: +02:00."""
    hours, minutes = divmod(round(abs(seconds) / 60), 60)
    return f"{'-' if seconds < 0 else '+'}{hours:02d}:{minutes:02d}"
