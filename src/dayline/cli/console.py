"""What the commands print: a table of events, and notes."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from dayline.cli.streams import can_show
from dayline.events import Event, Segmentation
from dayline.text import clock_text, counted

__all__ = ["open_in_browser", "print_events", "print_notes"]

FEW = 5

BLOCKS, PLAIN_BLOCKS = "█▓", "#="
"""Characters that alternate between events, and those for encodings without blocks."""

COLORS = (
    "cyan",
    "magenta",
    "yellow",
    "green",
    "blue",
    "red",
    "bright_cyan",
    "bright_magenta",
    "white",
    "bright_green",
)


def print_events(segmentation: Segmentation) -> None:
    """Print the sequence as a strip, and the events as a table below it."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from dayline.export.titles import context_labels

    console = Console()
    with_times = segmentation.times is not None
    table = Table(box=None, pad_edge=False, header_style="bold")
    times = ("from", "to") if with_times else ()
    words = ("reason", "context", "name") if any(e.name for e in segmentation.events) else ("reason", "context")
    for heading in ("event", "start", "stop", "frames", *times, "confidence", *words):
        table.add_column(heading, justify="left" if heading in words else "right", no_wrap=True)
    labels = context_labels(segmentation)
    for number, event in enumerate(segmentation.events):
        cells = [str(number + 1), str(event.start), str(event.stop), str(event.n_frames)]
        if with_times:
            cells += [_clock(segmentation, event.start_time), _clock(segmentation, event.stop_time)]
        cells.append("" if event.confidence is None else f"{event.confidence:.0%}")
        named = [Text(event.name or "")] if "name" in words else []
        table.add_row(*cells, event.reason or "", Text(labels[number], style=_color(event)), *named)
    blocks = BLOCKS if can_show(BLOCKS, console.encoding) else PLAIN_BLOCKS
    console.print(_strip(segmentation, width=min(console.width, 100), blocks=blocks), soft_wrap=True)
    console.print(table)
    events, frames = len(segmentation.events), segmentation.n_frames
    many = f"{counted(events, 'event')} in {counted(frames, 'frame')}"
    console.print(many, style="bold", highlight=False)


def _strip(segmentation: Segmentation, *, width: int, blocks: str) -> object:
    """Draw events to scale in one line, in the colours of their communities and two alternating characters."""
    from rich.text import Text

    strip = Text()
    columns = max(1, min(width, segmentation.n_frames))
    for column in range(columns):
        frame = column * segmentation.n_frames // columns
        number = int(segmentation.labels[frame])
        event = segmentation.events[number]
        strip.append(blocks[number % 2], style=_color(event))
    return strip


def _color(event: Event) -> str:
    return COLORS[(event.community or 0) % len(COLORS)]


def _clock(segmentation: Segmentation, seconds: float | None) -> str:
    """Format a time of day, or the time since the start; the page has the date."""
    if seconds is None:
        return ""
    return clock_text(seconds % 86_400 if segmentation.clock == "wall" else seconds, short=True)


def print_notes(segmentation: Segmentation) -> None:
    """Print the notes, and the files that were left out."""
    from rich.console import Console

    console = Console(highlight=False, markup=False, soft_wrap=True)
    for note in segmentation.notes:
        console.print(f"note: {note}")
    for file in segmentation.skipped[:FEW]:
        console.print(f"left out: {file.name}: {file.why}")
    more = len(segmentation.skipped) - FEW
    if more > 0:
        console.print(f"left out: {more} more files (the page and events.json list them all)")


def open_in_browser(page: Path) -> None:
    """Open the page if there is a screen; a text browser would take over the terminal."""
    import webbrowser

    if sys.platform != "linux" or os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"):
        webbrowser.open(page.resolve().as_uri())
