"""What the commands print: a table of events, and the same as CSV."""

from __future__ import annotations

import csv
import io

from dayline.events import Event, Segmentation

__all__ = ["events_csv", "print_events"]

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
    """Print the events as a table, and above it the whole sequence as one strip."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console()
    with_times = segmentation.times is not None
    table = Table(box=None, pad_edge=False, header_style="bold")
    times = ("from", "to") if with_times else ()
    for heading in ("event", "start", "stop", "frames", *times, "sure", "context"):
        table.add_column(heading, justify="left" if heading == "context" else "right", no_wrap=True)
    for number, event in enumerate(segmentation.events):
        cells = [str(number), str(event.start), str(event.stop), str(event.n_frames)]
        if with_times:
            cells += [_clock(event.start_time), _clock(event.stop_time)]
        cells.append("" if event.confidence is None else f"{event.confidence:.0%}")
        table.add_row(*cells, Text(_letter(event), style=_color(event)))
    console.print(_strip(segmentation, width=min(console.width, 100)), soft_wrap=True)
    console.print(table)
    n = len(segmentation.events)
    console.print(
        f"{n} event{'s' if n != 1 else ''} in {segmentation.n_frames} frames", style="bold", highlight=False
    )


def _strip(segmentation: Segmentation, *, width: int) -> object:
    """Draw events side by side, as long as they last, in the colour of their community."""
    from rich.text import Text

    strip = Text()
    columns = max(1, min(width, segmentation.n_frames))
    for column in range(columns):
        frame = column * segmentation.n_frames // columns
        number = int(segmentation.labels[frame])
        event = segmentation.events[number]
        strip.append("█" if number % 2 == 0 else "▓", style=_color(event))
    return strip


def _color(event: Event) -> str:
    return COLORS[(event.community or 0) % len(COLORS)]


def _letter(event: Event) -> str:
    """Name a community as spreadsheets name columns: A .. Z, AA, AB, ..."""
    if event.community is None:
        return ""
    number, letters = event.community + 1, ""
    while number:
        number, rest = divmod(number - 1, 26)
        letters = chr(ord("A") + rest) + letters
    return letters


def _clock(seconds: float | None) -> str:
    if seconds is None:
        return ""
    whole = int(seconds)
    return f"{whole // 3600}:{whole // 60 % 60:02d}:{whole % 60:02d}"


def events_csv(segmentation: Segmentation) -> str:
    """Write one row per event."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    names = ("start", "stop", "start_time", "stop_time", "community", "key_frame", "confidence", "reason", "name")
    writer.writerow(("event", *names))
    for number, event in enumerate(segmentation.events):
        values = (getattr(event, name) for name in names)
        writer.writerow((number, *("" if v is None else v for v in values)))
    return text.getvalue()
