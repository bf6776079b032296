"""Read a person's calendars, whose entries are suggested as names of events at the same time."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta, timezone
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dayline.events.table import EPOCH, moment
from dayline.files import UnreadableFileError
from dayline.installation import needs_extra
from dayline.media.frame import FrameSequence
from dayline.text import clean_text

if TYPE_CHECKING:
    from icalendar import Calendar

MOST_BYTES = 20 * 2**20
MOST_SERIES = 1_000
MOST_ENTRIES = 500
"""Entries within the photos' time."""

LONGEST_TITLE = 200
"""Characters, as many as the name of an event may have."""

NEEDED = {"SUMMARY", "DTSTART", "DTEND", "DURATION", "RRULE", "RDATE", "EXDATE", "STATUS"}
DAMAGES = (
    ValueError,
    LookupError,
    TypeError,
    ArithmeticError,
    AttributeError,
    OSError,  # a time zone called "Europe", which is a folder of time zones
    RecursionError,
)
"""What the libraries raise for damaged calendars."""

OFTEN = ("SECONDLY", "MINUTELY", "HOURLY")
EARLIEST_SERIES = 1970


@dataclass(frozen=True)
class Entry:
    """An entry of a calendar, on the clock of the photos.

    Attributes
    ----------
    title : str
        What it is called.
    start, stop : float
        Seconds since 1970 on the camera's clock.
    all_day : bool
        Whether it is about whole days.
    """

    title: str
    start: float
    stop: float
    all_day: bool = False


def calendar_entries(paths: Sequence[Path], sequence: FrameSequence) -> tuple[Entry, ...]:
    """Return the entries of calendars at the time of photos, in order.

    Times of the calendars are converted to the time zone that the photos record, in which their
    times are given. If they record none, wall-clock times are compared.

    Parameters
    ----------
    paths : sequence of Path
        Files of calendars (.ics).
    sequence : FrameSequence
        Photos with dates; others have no entries.
    """
    known = [time for time in sequence.times or () if time is not None]
    first, last = (moment(min(known)), moment(max(known))) if known else (None, None)
    if sequence.clock != "wall" or first is None or last is None or first.year == EPOCH.year:
        return ()
    offsets = (frame.taken.offset for frame in sequence.frames if frame.taken is not None)
    offset = next((offset for offset in offsets if offset is not None), None)

    found: set[Entry] = set()
    for path in paths:
        calendar = read_calendar(path)
        with _reading(path):
            found.update(_entries(calendar, first, last, offset))
    start, stop = (first - EPOCH).total_seconds(), (last - EPOCH).total_seconds()
    inside = [entry for entry in found if entry.start <= stop and entry.stop >= start]
    return tuple(sorted(inside, key=lambda e: (e.start, e.stop, e.title)))[:MOST_ENTRIES]


def read_calendar(path: Path) -> Calendar:
    """Read a calendar; raise ValueError if it cannot be used.

    Series that repeat within a day, or began before 1970, are left out: no person's days have them,
    and an untrusted file must not keep the run busy.

    Parameters
    ----------
    path : Path
        The file (.ics).
    """
    try:
        about = path.stat()
        if not path.is_file() or about.st_size > MOST_BYTES:
            raise UnreadableFileError(
                f"{path}: not a calendar file of at most {MOST_BYTES // 2**20} MB; export a part"
                " of the calendar"
            )
        return _parsed(path, about.st_mtime_ns, about.st_size)
    except OSError as error:
        raise UnreadableFileError(f"{path}: {error.strerror}") from None


@lru_cache(maxsize=8)  # each of many days reads the same files
@needs_extra("calendar", "reading calendars")
def _parsed(path: Path, modified: int, size: int) -> Calendar:  # noqa: ARG001
    import recurring_ical_events  # noqa: F401 - here, the extra is asked for before long work
    from icalendar import Calendar

    with _reading(path):
        calendar = Calendar.from_ical(path.read_bytes())
        usable = [part for part in calendar.walk("VEVENT") if _is_usable(part)]
        if calendar.name != "VCALENDAR":
            raise ValueError(f"a {calendar.name}")

    n_series = sum("RRULE" in part or "RDATE" in part for part in usable)
    if n_series > MOST_SERIES:
        raise UnreadableFileError(
            f"{path}: {n_series:,} entries repeat, more than {MOST_SERIES:,}; export a part of the"
            " calendar"
        )
    others = [part for part in calendar.subcomponents if part.name != "VEVENT"]
    calendar.subcomponents = [*others, *usable]
    return calendar


@contextmanager
def _reading(path: Path) -> Iterator[None]:
    """Turn what the libraries raise for damaged calendars into one line."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    except DAMAGES as error:
        why = " ".join(clean_text(str(error)).split())[:100]
        raise UnreadableFileError(
            f"{path}: not a calendar ({why}); export it again from your calendar as an .ics file"
        ) from None


def _is_usable(part: Any) -> bool:
    broken = {name for name, _ in part.errors}
    if "DTSTART" not in part or "SUMMARY" not in part or broken & NEEDED:
        return False
    rules = part.get("RRULE", [])
    rules = rules if isinstance(rules, list) else [rules]
    often = any(str(word).upper() in OFTEN for rule in rules for word in rule.get("FREQ", ()))
    is_early = bool(rules) and part["DTSTART"].dt.year < EARLIEST_SERIES
    return str(part.get("STATUS", "")).upper() != "CANCELLED" and not often and not is_early


def _entries(
    calendar: Calendar, first: datetime, last: datetime, offset: float | None
) -> list[Entry]:
    """Return the entries within a day of the photos."""
    import recurring_ical_events

    day = timedelta(days=1)
    query = recurring_ical_events.of(calendar, skip_bad_series=True)
    parts = query.between(first.date() - day, last.date() + 2 * day)
    entries = []
    for part in parts:
        title = clean_text(str(part.get("SUMMARY", "")))[:LONGEST_TITLE].strip()
        start, stop = part["DTSTART"].dt, part["DTEND"].dt if "DTEND" in part else None
        if not title:
            continue
        all_day = not isinstance(start, datetime)
        stop = start + day * all_day if stop is None else stop
        # The last second of a day belongs to it; midnight to the next.
        seconds = _seconds(stop, offset) - all_day
        entries.append(Entry(title, _seconds(start, offset), seconds, all_day))
    return entries


def _seconds(when: date, offset: float | None) -> float:
    """Return a time on the clock of the photos, in seconds since 1970."""
    if not isinstance(when, datetime):
        when = datetime.combine(when, time())
    if when.tzinfo is not None and offset is not None:
        when = when.astimezone(timezone(timedelta(seconds=offset)))
    return (when.replace(tzinfo=None) - EPOCH).total_seconds()
