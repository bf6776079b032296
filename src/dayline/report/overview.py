"""A page that links to the pages of several days."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote

from dayline.events import Segmentation
from dayline.io.files import write_text_whole
from dayline.report.page import day_heading, render
from dayline.text import counted

__all__ = ["Day", "write_overview"]

MOST_PICTURES = 6


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


def write_overview(days: Sequence[Day], folder: str | Path, *, title: str) -> Path:
    """Write `folder`/index.html with a row per day: date, number of events, photos of its longest events.

    Parameters
    ----------
    days : sequence of Day
        The days, in the order shown.
    folder : str or Path
        The folder that contains the days' folders.
    title : str
        Heading.
    """
    folder = Path(folder)
    rows = [_row(day) for day in days]
    n_events = sum(len(day.segmentation.events) for day in days if day.segmentation is not None)
    content = {"rows": rows, "title": title, "n_days": len(days), "n_events": n_events}
    path = folder / "index.html"
    write_text_whole(path, render("overview.html", style="overview.css", content=content))
    return path


def _row(day: Day) -> dict[str, object]:
    if day.segmentation is None:
        return {"heading": day.name, "overline": None, "why": day.why, "address": None, "pictures": [], "facts": ""}
    events = day.segmentation.events
    heading = day_heading(day.segmentation)
    frames = "photo" if day.segmentation.clock != "media" else "frame"
    facts = f"{counted(day.segmentation.n_frames, frames)} · {counted(len(events), 'event')}"
    longest = sorted(events, key=lambda e: -e.n_frames)[:MOST_PICTURES]
    shown = sorted(e.key_frame for e in longest if e.key_frame is not None)
    inside = [day.pictures[frame] for frame in shown if frame in day.pictures]
    # A folder's name may be any bytes, so the URL is built from bytes.
    folder = quote(os.fsencode(day.folder))
    return {
        "heading": heading or day.name,
        "overline": day.name if heading else None,
        "why": "",
        "address": f"{folder}/index.html",
        "pictures": [f"{folder}/{quote(picture)}" for picture in inside],
        "facts": facts,
    }
