"""Write the page of many days: calendar, time per place, search, and a row per day."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote

from dayline.album.page.page import day_heading, events_mark
from dayline.album.page.template import embedded_data, render
from dayline.events import Segmentation
from dayline.files import write_text_whole
from dayline.text import counted

MOST_PICTURES = 6

EventNumber = tuple[int, int]
"""An event of one of several days: number of the day and of the event, both from 0."""


@dataclass(frozen=True)
class Day:
    """One day on the page.

    Attributes
    ----------
    name : str
        Name of the folder of its photos.
    folder : str
        Folder of its result, relative to the page.
    segmentation : Segmentation or None
        Its events; None if it could not be used.
    why : str
        Why it could not be used.
    pictures : mapping of int to str
        Picture of every frame, relative to `folder`.
    """

    name: str
    folder: str
    segmentation: Segmentation | None
    why: str = ""
    pictures: Mapping[int, str] = field(default_factory=dict)

    @property
    def address(self) -> str:
        """The URL of the folder, relative to the page."""
        # A folder's name may be any bytes, so the URL is built from bytes.
        return quote(os.fsencode(self.folder))


def write_overview(
    days: Sequence[Day],
    folder: str | Path,
    *,
    title: str,
    similar: Mapping[EventNumber, Sequence[EventNumber]] | None = None,
) -> Path:
    """Write `folder`/index.html: calendar, time per place, search, and the events of every day.

    Parameters
    ----------
    days : sequence of Day
        The days, in the order shown.
    folder : str or Path
        The folder that contains the days' folders.
    title : str
        Heading.
    similar : mapping, optional
        For each event, others that look like it, the most similar first.
    """
    data = {
        "title": title,
        **_data(days, similar or {}),
        # So that the page can be written again after the events of a day were saved.
        "folders": [day.address for day in days],
        "why": [day.why for day in days],
    }
    content = {
        "rows": [_row(day) for day in days],
        "title": title,
        "n_days": len(days),
        "n_events": sum(len(day.segmentation.events) for day in days if day.segmentation),
    }
    path = Path(folder) / "index.html"
    write_text_whole(path, render("overview", content, data=data))
    return path


def overview_data(folder: Path) -> dict[str, Any] | None:
    """Return the data in `folder`/index.html if `write_overview` wrote it, else None.

    Parameters
    ----------
    folder : Path
        The folder that contains the days' folders.
    """
    data = embedded_data(folder / "index.html")
    return data if data is not None and isinstance(data.get("days"), list) else None


def _row(day: Day) -> dict[str, Any]:
    """Return what the page shows of a day without its script."""
    row: dict[str, Any] = {"heading": day.name, "overline": None, "why": day.why, "address": None}
    if day.segmentation is None:
        return row
    events = day.segmentation.events
    heading = day_heading(day.segmentation)
    frames = "photo" if day.segmentation.clock != "media" else "frame"
    longest = sorted(events, key=lambda e: -e.n_frames)[:MOST_PICTURES]
    shown = sorted(e.key_frame for e in longest if e.key_frame is not None)
    inside = [day.pictures[frame] for frame in shown if frame in day.pictures]
    return {
        "heading": heading or day.name,
        "overline": day.name if heading else None,
        "why": "",
        "address": f"{day.address}/index.html",
        "pictures": [f"{day.address}/{quote(picture)}" for picture in inside],
        "facts": f"{counted(day.segmentation.n_frames, frames)} · {counted(len(events), 'event')}",
    }


def _data(
    days: Sequence[Day], similar: Mapping[EventNumber, Sequence[EventNumber]]
) -> dict[str, Any]:
    """Return what the script needs, as short as possible: a year has thousands of events."""
    numbers: dict[EventNumber, int] = {}
    for number, day in enumerate(days):
        for k in range(0 if day.segmentation is None else len(day.segmentation.events)):
            numbers[number, k] = len(numbers)

    places: dict[tuple[str, str], int] = {}
    names: list[str | None] = []
    written: list[dict[str, Any] | None] = []
    for number, day in enumerate(days):
        if day.segmentation is None:
            written.append(None)
            continue
        of_context = {}
        for place in day.segmentation.places:
            name = (place.name or "").strip()
            mark = ("name", name) if name else ("id", place.id or f"{number} {place.community}")
            of_context[place.community] = places.setdefault(mark, len(places))
            if len(places) > len(names):
                names.append(name or None)

        starts, stops = day.segmentation.start_times, day.segmentation.stop_times
        events = []
        for k, event in enumerate(day.segmentation.events):
            key = event.key_frame
            others = similar.get((number, k), ())
            events.append(
                [
                    event.name,
                    -1 if event.community is None else of_context.get(event.community, -1),
                    event.n_frames,
                    None if starts[k] is None else round(starts[k] or 0.0),
                    None if stops[k] is None else round(stops[k] or 0.0),
                    quote(day.pictures[key]) if key is not None and key in day.pictures else None,
                    [numbers[other] for other in others if other in numbers],
                ]
            )
        written.append(
            {
                "name": day_heading(day.segmentation) or day.name,
                "folder": day.address,
                "date": _date(day.segmentation),
                "clock": day.segmentation.clock if day.segmentation.times is not None else None,
                "events": events,
                "base": events_mark(day.segmentation),
            }
        )
    return {"places": names, "days": written}


def _date(segmentation: Segmentation) -> str | None:
    if not segmentation.is_dated or segmentation.times is None:
        return None
    return f"{datetime.fromtimestamp(segmentation.times[0], UTC):%Y-%m-%d}"
