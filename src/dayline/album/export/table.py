"""Events as text for people: their titles, places and times, and a table of them."""

from __future__ import annotations

import csv
import math
from collections.abc import Sequence
from pathlib import Path

from dayline.album.hidden import without_hidden
from dayline.album.titles import automatic_title
from dayline.events import Event, Segmentation
from dayline.events.table import context_letters
from dayline.files import writing_whole
from dayline.text import clean_text, clock_text, moment

COLUMNS = (
    "event",
    "title",
    "context",
    "start",
    "stop",
    "n_frames",
    "start_time",
    "stop_time",
    "started",
    "stopped",
    "duration",
    "key_frame",
    "key_photo",
    "first_photo",
    "last_photo",
    "confidence",
    "reason",
    "town",
    "country",
)
UNNAMED = "Event"
"""Label of an event without a name."""

Cell = str | int | float | None


def event_titles(segmentation: Segmentation, labels: Sequence[str] = ()) -> tuple[str, ...]:
    """Return what every event is called, or "Event 3 (kitchen)": its number and label.

    Parameters
    ----------
    segmentation : Segmentation
        The events.
    labels : sequence of str
        What events of which nothing is known have in brackets; empty for none.
    """
    titles = []
    for k, known in enumerate(known_titles(segmentation)):
        label = f" ({labels[k]})" if labels and labels[k] else ""
        titles.append(known or f"Event {k + 1}{label}")
    return tuple(titles)


def known_titles(segmentation: Segmentation) -> tuple[str, ...]:
    """Return what the page calls every event: its name, or a title of what is known of it, if any.

    Parameters
    ----------
    segmentation : Segmentation
        The events.
    """
    is_wall = segmentation.clock == "wall"
    spans = list(zip(segmentation.start_times, segmentation.stop_times, strict=True))
    # Of a day in one town, it says nothing about an event.
    has_towns = len({event.town for event in segmentation.events if event.town}) > 1
    titles, before = [], None
    for event, (start, stop) in zip(segmentation.events, spans, strict=True):
        name = clean_text(event.name or "")
        is_known = is_wall and start is not None and math.isfinite(start)
        made = automatic_title(
            start if is_known else None,
            stop,
            place=place_name(segmentation, event),
            town=clean_text(event.town or "") if has_towns else "",
            before=before,
        )
        titles.append(name or clean_text(event.title or "") or made)
        before = name, stop
    return tuple(titles)


def event_label(segmentation: Segmentation, event: Event) -> str:
    """Return the name or title of an event, else the name of its place, else "Event"."""
    return clean_text(event.name or event.title or "") or place_name(segmentation, event) or UNNAMED


def place_name(segmentation: Segmentation, event: Event) -> str:
    """Return the name that a person gave to the place of an event, or an empty string."""
    names = (place.name for place in segmentation.places if place.community == event.community)
    return clean_text(next(names, None) or "")


def context_labels(segmentation: Segmentation) -> tuple[str, ...]:
    """Return for each event the name that a person gave its context, else its letter."""
    letters = context_letters(segmentation.events, segmentation.places)
    return tuple(
        place_name(segmentation, event) or letter
        for event, letter in zip(segmentation.events, letters, strict=True)
    )


def time_text(segmentation: Segmentation, seconds: float | None) -> str:
    """Format a time for people; an empty string if it is unknown.

    With the date if a wall clock has one, else hours and minutes.
    """
    if seconds is None or not math.isfinite(seconds):
        return ""
    if segmentation.clock != "wall":
        return clock_text(max(seconds, 0.0), digits=3)
    if segmentation.times is not None and not segmentation.is_dated:
        return clock_text(seconds % 86_400)
    return moment(seconds).strftime("%Y-%m-%d %H:%M:%S")


def write_csv(segmentation: Segmentation, path: str | Path) -> Path:
    """Write one row per event (UTF-8, comma, header line).

    `event` counts from 1, as titles do; `start`, `stop` and `key_frame` are frames and count from
    0. `start_time` and `stop_time` are seconds on the segmentation's clock, `started` and `stopped`
    the same as text, or only the date; `duration` is the seconds between first and last frame,
    empty if the clock was set back.

    Hidden photos, and events without others, are left out, and the frames numbered without them.

    Text that a spreadsheet would run as a formula gets a leading apostrophe.

    Parameters
    ----------
    segmentation : Segmentation
        The events to write; times and names are optional.
    path : str or Path
        The file to write.
    """
    path = Path(path)
    shown = without_hidden(segmentation)
    if shown is None:
        with writing_whole(path) as file:
            csv.writer(file, lineterminator="\n").writerow(COLUMNS)
        return path
    segmentation = shown
    rows = segmentation.to_dicts()
    labels = context_labels(segmentation)
    titles = event_titles(segmentation, labels)
    for row, title, label in zip(rows, titles, labels, strict=True):
        row |= {"title": title, "context": label}
        row["started"] = time_text(segmentation, row["start_time"]) or row["date"]
        row["stopped"] = time_text(segmentation, row["stop_time"])
        if row["duration"] is not None:
            row["duration"] = round(row["stop_time"] - row["start_time"], 3)

    with writing_whole(path) as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        writer.writerows([_safe(row[column]) for column in COLUMNS] for row in rows)
    return path


def _safe(cell: Cell) -> Cell:
    """Keep a spreadsheet from running untrusted text as a formula."""
    if not isinstance(cell, str):
        return cell
    text = clean_text(cell)
    return f"'{text}" if text.startswith(("=", "+", "-", "@", "＝", "＋", "－", "＠")) else text
