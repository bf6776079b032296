"""What the commands print: a table of events, notes, and a progress bar."""

from __future__ import annotations

import io
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from dayline.progress import OnStep, no_report
from dayline.text import counted

if TYPE_CHECKING:
    from rich.table import Table
    from rich.text import Text

    from dayline.events import Event, Segmentation


def print_anywhere() -> None:
    """Print characters that the output lacks as backslash escapes: printing never fails."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


# Parameters that messages of the library name and that are options here.
PARAMETERS = re.compile(
    r"\b(n_events|min_duration|expected_duration|level|kind|device|pause_factor|pause_seconds|jump_km|every|fps)"
    r"""=(["']?)([-\w.]+(?: [-\w.]+)*?)\2(?!\w)"""
)


def one_line(error: Exception | str) -> str:
    """Return a message as one line with options for parameters: --n-events 3 for n_events=3."""
    if isinstance(error, MemoryError):
        return "out of memory; use fewer or smaller frames"
    if isinstance(error, OSError) and error.strerror:
        # The file name is a number if the error is about an open file.
        is_named = error.filename and not isinstance(error.filename, int)
        return f"{error.filename}: {error.strerror}" if is_named else error.strerror
    text = " ".join(str(error).split())
    return PARAMETERS.sub(lambda match: f"--{match[1].replace('_', '-')} {match[3]}", text)


def completing(values: Iterable[str]) -> Callable[[str], list[str]]:
    """Return what Typer calls with the beginning of a word: the values that start with it."""
    return lambda incomplete: [value for value in values if value.startswith(incomplete)]


UNLIMITED = 10_000
"""Width of an output that is not a terminal."""

GAP = 2
NAMES = {"context": 10, "name": 18}
DISPENSABLE = ("stop", "start", "reason", "frames", "confidence", "to")
"""Columns that a narrow terminal does without, in this order, so that names have the width above;
the page and events.csv have everything."""

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
    """Print the sequence as a strip, and the events as a table below it that fits the terminal."""
    from rich.console import Console

    from dayline.events import frames_text, when_text

    console = Console()
    if not (console.is_terminal or os.environ.get("COLUMNS")):
        # A file or another program has no width: nothing needs to be left out.
        console = Console(width=UNLIMITED)
    console.print(_strip(segmentation, console.width, console.encoding), soft_wrap=True)
    console.print(_table(segmentation, console.width))

    events, frames = len(segmentation.events), counted(segmentation.n_frames, "frame")
    if segmentation.texts is not None:
        frames = frames_text(segmentation, range(segmentation.n_frames))
    if segmentation.shots:
        frames = f"{segmentation.n_frames} of {counted(segmentation.shots[-1].stop, 'frame')}"
    when = when_text(segmentation)
    total = f"{counted(events, 'event')} in {frames}{f', {when}' if when else ''}"
    console.print(total, style="bold", highlight=False, soft_wrap=True)


def _strip(segmentation: Segmentation, width: int, encoding: str) -> Text:
    """Draw events to scale, in the colors of their communities and two alternating characters."""
    from rich.text import Text

    try:
        BLOCKS.encode(encoding)
        blocks = BLOCKS
    except UnicodeEncodeError:
        blocks = PLAIN_BLOCKS

    strip = Text()
    columns = max(1, min(width, 100, segmentation.n_frames))
    labels = segmentation.labels
    for column in range(columns):
        number = int(labels[column * segmentation.n_frames // columns])
        strip.append(blocks[number % 2], style=_color(segmentation.events[number]))
    return strip


def _color(event: Event) -> str:
    return COLORS[(event.community or 0) % len(COLORS)]


def _table(segmentation: Segmentation, width: int) -> Table:
    """Make the table of events; the terminal shortens names that are too wide for it."""
    from rich.cells import cell_len
    from rich.table import Table
    from rich.text import Text

    from dayline.events.table import event_texts

    texts = event_texts(segmentation)
    columns = {name: [row[name] for row in texts] for name in texts[0]}
    columns = {name: cells for name, cells in columns.items() if any(cells)}
    widths = {name: max(map(cell_len, (name, *cells))) for name, cells in columns.items()}
    widths |= {name: min(widths[name], w) for name, w in NAMES.items() if name in widths}
    for name in DISPENSABLE:
        if sum(widths.values()) + GAP * (len(widths) - 1) > width:
            widths.pop(name, None)

    table = Table(box=None, pad_edge=False, padding=(0, GAP, 0, 0), header_style="bold")
    for name in widths:
        is_words = name in (*NAMES, "reason")
        table.add_column(name, justify="left" if is_words else "right", no_wrap=name not in NAMES)
    for number, event in enumerate(segmentation.events):
        styles = {"context": _color(event)}
        table.add_row(
            *(
                Text(columns[name][number], styles.get(name, ""), no_wrap=True, overflow="ellipsis")
                for name in widths
            )
        )
    return table


FEW = 5


def print_notes(segmentation: Segmentation) -> None:
    """Print the notes, and the files that were left out."""
    for note in segmentation.notes:
        typer.echo(f"note: {note}")
    print_left_out(segmentation)


def print_left_out(segmentation: Segmentation) -> None:
    """Print the files that could not be used."""
    for file in segmentation.skipped[:FEW]:
        typer.echo(f"left out: {file.name}: {file.why}")
    more = len(segmentation.skipped) - FEW
    if more > 0:
        typer.echo(
            f"left out: {counted(more, 'more file')} (the page and events.json list them all)"
        )


def open_in_browser(page: Path | str) -> None:
    """Open a page or an address if there is a screen: a text browser would take the terminal."""
    import webbrowser

    if sys.platform != "linux" or os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"):
        webbrowser.open(page if isinstance(page, str) else page.resolve().as_uri())


@contextmanager
def progress_bar(*, quiet: bool) -> Iterator[OnStep]:
    """Yield what to call as on_step: it moves a bar on stderr, if that is a terminal."""
    if quiet or not sys.stderr.isatty():
        yield no_report
        return

    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("left:"),
        TimeRemainingColumn(),
    )
    # What `print` writes to a terminal appears above the bar, which Typer's echo would overwrite;
    # what it writes to a file or a program goes there.
    is_shared = sys.stdout.isatty()
    console = Console(stderr=True)
    with Progress(*columns, console=console, transient=True, redirect_stdout=is_shared) as bar:
        number = bar.add_task("reading", total=None)

        def step(what: str, done: int, total: int) -> None:
            task = bar.tasks[number]
            if task.total not in (None, total) or done < task.completed:
                # The speed of other work says nothing about this one.
                bar.reset(number, total=total)
            bar.update(number, description=what, completed=done, total=total)

        yield step
