"""The events as a table for spreadsheets and data frames."""

from __future__ import annotations

import csv
from pathlib import Path

from dayline.album.export.titles import context_labels, event_titles, time_text
from dayline.events import Event, Segmentation
from dayline.files import writing_whole
from dayline.text import clean_text

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
)
Cell = str | int | float | None


def write_csv(segmentation: Segmentation, path: str | Path) -> Path:
    """Write one row per event (UTF-8, comma, header line).

    `event` counts from 1, as titles do; `start`, `stop` and `key_frame` are frames and count from
    0. `start_time` and `stop_time` are seconds on the segmentation's clock, `started` and `stopped`
    the same as text; `duration` is the seconds between first and last frame, empty if the clock was
    set back.

    Text that a spreadsheet would run as a formula gets a leading apostrophe.

    Parameters
    ----------
    segmentation : Segmentation
        The events to write; times and names are optional.
    path : str or Path
        The file to write.
    """
    path = Path(path)
    with writing_whole(path) as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        titles, labels = event_titles(segmentation), context_labels(segmentation)
        spans = zip(segmentation.start_times, segmentation.stop_times, strict=True)
        for number, (event, span) in enumerate(zip(segmentation.events, spans, strict=True)):
            row = [
                number + 1,
                titles[number],
                labels[number],
                *_details(segmentation, event, *span),
            ]
            writer.writerow([_safe(cell) for cell in row])
    return path


def _details(
    segmentation: Segmentation, event: Event, start_time: float | None, stop_time: float | None
) -> list[Cell]:
    names = segmentation.names
    # If the clock was set back in between, the duration is unknown.
    known = start_time is not None and stop_time is not None and stop_time >= start_time
    return [
        event.start,
        event.stop,
        event.n_frames,
        start_time,
        stop_time,
        time_text(segmentation, start_time),
        time_text(segmentation, stop_time),
        round(stop_time - start_time, 3) if known else None,  # type: ignore[operator]
        event.key_frame,
        names[event.key_frame] if names and event.key_frame is not None else None,
        names[event.start] if names else None,
        names[event.stop - 1] if names else None,
        event.confidence,
        event.reason,
    ]


def _safe(cell: Cell) -> Cell:
    """Keep a spreadsheet from running untrusted text as a formula."""
    if not isinstance(cell, str):
        return cell
    text = clean_text(cell)
    return f"'{text}" if text.startswith(("=", "+", "-", "@", "＝", "＋", "－", "＠")) else text
