"""The events as a calendar (iCalendar, RFC 5545)."""

from __future__ import annotations

import math
import re
import uuid
from datetime import date, timedelta

from dayline.album.export.table import event_titles, place_name
from dayline.events import Event, Segmentation, frames_text
from dayline.text import clean_text, moment

NAMESPACE = uuid.UUID("6d3f1c1e-3a0f-5c1f-9d0a-5f6b1e7a2c48")
"""Drawn once, for all calendars; an event keeps its identifier if it is exported again."""

LONGEST_LINE = 75
"""Bytes of a line, without its end."""

SHORTEST = 60.0
"""Seconds that an event of one photo lasts: many calendars do not show events of length zero."""


def ics_text(segmentation: Segmentation) -> str:
    """Return one calendar event per event, in the local time of the camera.

    Times have no time zone ("floating"), so that a calendar shows the clock of the camera wherever
    it is opened. The file depends on the events alone: exported and imported again, an event
    replaces itself.

    Parameters
    ----------
    segmentation : Segmentation
        Events with dates.
    """
    if not segmentation.is_dated:
        raise ValueError(
            "a calendar needs dates, and these frames have none; export events of dated photos"
        )
    lines = ["BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//dayline//dayline//EN"]
    lines.append("CALSCALE:GREGORIAN")
    used: set[str] = set()
    titles = event_titles(segmentation)
    spans = zip(segmentation.start_times, segmentation.stop_times, strict=True)
    days = segmentation.start_dates
    for event, title, day, span in zip(segmentation.events, titles, days, spans, strict=True):
        lines += _event(segmentation, event, title, _when(event, day, *span), used)
    lines.append("END:VCALENDAR")
    return "".join(f"{_folded(line)}\r\n" for line in lines)


def _event(
    segmentation: Segmentation,
    event: Event,
    title: str,
    when: tuple[str, str],
    used: set[str],
) -> list[str]:
    start, stop = when
    is_day = "T" not in start
    town = ", ".join(filter(None, (event.town, event.country)))
    place = place_name(segmentation, event) or clean_text(town)
    photos = frames_text(segmentation, range(event.start, event.stop))
    lines = [
        "BEGIN:VEVENT",
        f"UID:{_identifier(segmentation, start, used)}",
        f"DTSTAMP:{start}{'T000000' if is_day else ''}Z",
        f"DTSTART{';VALUE=DATE' if is_day else ''}:{start}",
        f"DTEND{';VALUE=DATE' if is_day else ''}:{stop}",
        f"SUMMARY:{_escaped(title)}",
        f"DESCRIPTION:{photos}",
        "TRANSP:TRANSPARENT",
    ]
    if place:
        lines.append(f"LOCATION:{_escaped(place)}")
    if event.location is not None:
        lines.append("GEO:{:.6f};{:.6f}".format(*event.location))
    return [*lines, "END:VEVENT"]


def _when(
    event: Event, day: str | None, start: float | None, stop: float | None
) -> tuple[str, str]:
    """Return start and end; whole days if only the date is known."""
    if start is None and day is not None:
        first = date.fromisoformat(day)
        return f"{first:%Y%m%d}", f"{first + timedelta(days=1):%Y%m%d}"
    if start is None or not math.isfinite(start):
        raise ValueError(f"frame {event.start} has no usable time; repair it")
    # If the clock was set back within the event, its end is unknown.
    end = start if stop is None or not stop >= start else stop
    return _moment(start), _moment(max(end, start + SHORTEST))


def _identifier(segmentation: Segmentation, start: str, used: set[str]) -> str:
    """Derive an identifier from source and start, which names and settings do not change."""
    about = f"{clean_text(segmentation.source or '')}\n{start}"
    identifier, k = str(uuid.uuid5(NAMESPACE, about)), 1
    while identifier in used:
        k += 1
        identifier = str(uuid.uuid5(NAMESPACE, f"{about}\n{k}"))
    used.add(identifier)
    return f"{identifier}@dayline"


def _moment(seconds: float) -> str:
    when = moment(math.floor(seconds))
    # strftime("%Y") does not pad years before 1000 everywhere.
    return f"{when.year:04d}{when:%m%dT%H%M%S}"


def _escaped(text: str) -> str:
    return re.sub(r"([\\;,])", r"\\\1", text)


def _folded(line: str) -> str:
    """Break a line between characters into parts of at most 75 bytes, the later ones indented."""
    parts, part = [], ""
    for character in line:
        if len((part + character).encode()) > LONGEST_LINE:
            parts.append(part)
            part = " "
        part += character
    return "\r\n".join([*parts, part])
