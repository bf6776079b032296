"""What the commands print: a table of events, notes, and a progress bar."""

from __future__ import annotations

import io
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from threading import Lock, Timer
from typing import TYPE_CHECKING

import typer

from dayline.text import counted, signed_clock

if TYPE_CHECKING:
    from rich.progress import Progress
    from rich.table import Table
    from rich.text import Text

    from dayline.events import Event, Segmentation


def print_anywhere() -> None:
    """Print characters that the output lacks as backslash escapes: printing never fails."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


# Parameters that messages of the library name and that are options here.
REQUESTS = re.compile(r"\b(n_events|min_duration|expected_duration|level)=(?=[-\d])")


def one_line(error: Exception | str) -> str:
    """Return a message as one line with options for parameters: --n-events 3 for n_events=3."""
    if isinstance(error, MemoryError):
        return "out of memory; use fewer or smaller frames"
    if isinstance(error, OSError) and error.strerror:
        # The file name is a number if the error is about an open file.
        is_named = error.filename and not isinstance(error.filename, int)
        return f"{error.filename}: {error.strerror}" if is_named else error.strerror
    text = " ".join(str(error).split())
    return REQUESTS.sub(lambda match: f"--{match[1].replace('_', '-')} ", text)


def can_show(text: str, encoding: str) -> bool:
    """Return whether an encoding has all characters of a text."""
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        return False
    return True


def completing(values: Iterable[str]) -> Callable[[str], list[str]]:
    """Return what Typer calls with the beginning of a word: the values that start with it."""
    return lambda incomplete: [value for value in values if value.startswith(incomplete)]


def print_failures(failures: Sequence[str]) -> str:
    """Print one line per failed export and return a summary; one failure is its own summary."""
    if len(failures) == 1:
        return failures[0]
    for failure in failures:
        typer.echo(f"dayline: {' '.join(failure.split())}", err=True)
    return f"{len(failures)} exports failed"


FEW = 5

UNLIMITED = 10_000
"""Width of an output that is not a terminal."""

GAP = 2
WORDS = ("reason", "context", "name")
NARROW = (
    ({"name": 24, "context": 12}, ("stop", "start", "reason")),
    ({"name": 12, "context": 8}, ("frames", "confidence", "to")),
)
"""What a narrow terminal does in two steps until the table fits: shorten names to these widths,
then do without these columns, in their order; the page and events.csv have everything."""

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

    from dayline.events import when_text

    console = Console()
    if not (console.is_terminal or os.environ.get("COLUMNS")):
        # A file or another program has no width: nothing needs to be left out.
        console = Console(width=UNLIMITED)
    blocks = BLOCKS if can_show(BLOCKS, console.encoding) else PLAIN_BLOCKS
    strip = _strip(segmentation, width=min(console.width, 100), blocks=blocks)
    console.print(strip, soft_wrap=True)
    console.print(_table(segmentation, width=console.width, encoding=console.encoding))

    events, frames = len(segmentation.events), segmentation.n_frames
    when = when_text(segmentation)
    total = f"{counted(events, 'event')} in {counted(frames, 'frame')}{f', {when}' if when else ''}"
    console.print(total, style="bold", highlight=False, soft_wrap=True)


def _table(segmentation: Segmentation, *, width: int, encoding: str) -> Table:
    """Make the table of events, with columns left out and names shortened until it fits."""
    from rich.cells import cell_len
    from rich.table import Table
    from rich.text import Text

    columns = _columns(segmentation, encoding)
    widths = {
        name: max(cell_len(cell) for cell in (name, *cells)) for name, cells in columns.items()
    }

    def excess() -> int:
        return sum(widths.values()) + GAP * (len(widths) - 1) - width

    whole = dict(widths)
    for shortened, dispensable in NARROW:
        if excess() > 0:
            widths |= {name: min(whole[name], w) for name, w in shortened.items() if name in whole}
        for name in dispensable:
            if excess() > 0:
                widths.pop(name, None)
    for name in ("name", "context"):
        if name in widths:
            widths[name] = min(whole[name], widths[name] + max(-excess(), 0))

    table = Table(box=None, pad_edge=False, padding=(0, GAP, 0, 0), header_style="bold")
    for name in widths:
        side = "left" if name in WORDS else "right"
        table.add_column(name, justify=side, no_wrap=True, overflow="crop")  # type: ignore[arg-type]
    for number, event in enumerate(segmentation.events):
        cells = {name: _shortened(columns[name][number], widths[name], encoding) for name in widths}
        color = {"context": _color(event)}
        table.add_row(*(Text(text, style=color.get(name, "")) for name, text in cells.items()))
    return table


def _columns(segmentation: Segmentation, encoding: str) -> dict[str, list[str]]:
    """Return the cells of the table by column; columns of which nothing is known are absent."""
    from dayline.album.export.table import context_labels
    from dayline.text import clean_text

    def shown(text: str | None) -> str:
        # Escaped now rather than when it is printed, so that its width is known.
        return clean_text(text or "").encode(encoding, "backslashreplace").decode(encoding)

    events = segmentation.events
    columns: dict[str, list[str]] = {
        "event": [str(number + 1) for number in range(len(events))],
        "start": [str(event.start) for event in events],
        "stop": [str(event.stop) for event in events],
        "frames": [str(event.n_frames) for event in events],
        **_time_columns(segmentation),
        "confidence": [
            "" if event.confidence is None else f"{event.confidence:.0%}" for event in events
        ],
        "reason": [event.reason or "" for event in events],
        "context": [shown(label) for label in context_labels(segmentation)],
        "name": [shown(event.name) for event in events],
    }
    return {name: cells for name, cells in columns.items() if name != "name" or any(cells)}


def _time_columns(segmentation: Segmentation) -> dict[str, list[str]]:
    """Return when events start and stop; if there are several days, each date is shown once."""
    if segmentation.times is None:
        return {}
    spans = [(event.start_time, event.stop_time) for event in segmentation.events]
    days = [[_day(time) for time in span] for span in spans]
    clocks = [[_clock(segmentation, time) for time in span] for span in spans]
    if not segmentation.is_dated or len({day for both in days for day in both}) == 1:
        return {"from": [first for first, _ in clocks], "to": [last for _, last in clocks]}
    dates = [_date(time) for time, _ in spans]
    later = [0 if None in both else (both[1] or 0) - (both[0] or 0) for both in days]
    return {
        "date": [
            date if number == 0 or dates[number - 1] != date else ""
            for number, date in enumerate(dates)
        ],
        "from": [first for first, _ in clocks],
        "to": [
            f"{last} +{more}d" if more > 0 else last
            for (_, last), more in zip(clocks, later, strict=True)
        ],
    }


def _day(seconds: float | None) -> int | None:
    return None if seconds is None else int(seconds // 86_400)


def _date(seconds: float | None) -> str:
    if seconds is None:
        return ""
    try:
        return f"{datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=seconds):%Y-%m-%d}"
    except OverflowError:
        return ""


def _shortened(text: str, width: int, encoding: str) -> str:
    from rich.cells import cell_len, set_cell_size

    if cell_len(text) <= width:
        return text
    dots = "…" if can_show("…", encoding) else "..."
    return set_cell_size(text, max(width - len(dots), 0)).rstrip() + dots


def _strip(segmentation: Segmentation, *, width: int, blocks: str) -> Text:
    """Draw events to scale, in the colors of their communities and two alternating characters."""
    from rich.text import Text

    strip = Text()
    columns = max(1, min(width, segmentation.n_frames))
    labels = segmentation.labels
    for column in range(columns):
        number = int(labels[column * segmentation.n_frames // columns])
        strip.append(blocks[number % 2], style=_color(segmentation.events[number]))
    return strip


def _color(event: Event) -> str:
    return COLORS[(event.community or 0) % len(COLORS)]


def _clock(segmentation: Segmentation, seconds: float | None) -> str:
    """Format a time of day, or the time since the start."""
    if seconds is None:
        return ""
    return signed_clock(seconds % 86_400 if segmentation.clock == "wall" else seconds)


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
        console.print(
            f"left out: {counted(more, 'more file')} (the page and events.json list them all)"
        )


def open_in_browser(page: Path | str) -> None:
    """Open a page or an address if there is a screen: a text browser would take the terminal."""
    import webbrowser

    if sys.platform != "linux" or os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"):
        webbrowser.open(page if isinstance(page, str) else page.resolve().as_uri())


class StepBar:
    """A bar with the steps done, the time since the start, and the time left; call it as on_step.

    Parameters
    ----------
    bar : rich.progress.Progress, optional
        What is drawn, a second after the start; nothing if stderr is not a terminal.
    announcement : str
        Printed once the work begins.
    """

    def __init__(self, bar: Progress | None = None, *, announcement: str = "") -> None:
        self.announcement = announcement
        self.prefix = ""
        self._bar = bar
        self._lock = Lock()
        if bar is not None:
            self._task = bar.add_task("reading", total=None)
            self._late = Timer(1.0, self._show)
            self._late.daemon = True
            self._late.start()

    def __call__(self, what: str, done: int, total: int) -> None:
        """Move the bar."""
        if self.announcement:
            self.echo(self.announcement, err=True)
            self.announcement = ""
        if self._bar is None:
            return

        task = self._bar.tasks[self._task]
        if task.total not in (None, total) or done < task.completed:
            # Other work, with steps of another length: the speed of the last one says nothing about
            # it.
            self._bar.reset(self._task, total=total)
        self._bar.update(self._task, description=self.prefix + what, completed=done, total=total)

    def echo(self, text: str, *, err: bool = False) -> None:
        """Print a line above the bar."""
        with self._lock:
            is_shown = self._bar is not None and self._bar.live.is_started
            if self._bar is not None and is_shown:
                self._bar.stop()
            typer.echo(text, err=err)
            if self._bar is not None and is_shown:
                self._bar.start()

    def end(self) -> None:
        """Remove the bar."""
        if self._bar is not None:
            self._late.cancel()
            with self._lock:
                self._bar.stop()

    def _show(self) -> None:
        with self._lock:
            if self._bar is not None:
                self._bar.start()


@contextmanager
def progress_bar(*, quiet: bool, announcement: str = "") -> Iterator[StepBar]:
    """Yield a bar to call as on_step; it draws nothing if stderr is not a terminal."""
    if quiet or not sys.stderr.isatty():
        yield StepBar(announcement="" if quiet else announcement)
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
    drawn = Progress(*columns, console=Console(stderr=True), transient=True)
    bar = StepBar(drawn, announcement=announcement)
    try:
        yield bar
    finally:
        bar.end()
