"""A progress bar that appears only if the work takes more than a second."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock, Timer
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from rich.progress import Progress

__all__ = ["StepBar", "progress_bar"]


class StepBar:
    """A bar with the number of steps done, the time since the start, and the time left; call it as on_step.

    Parameters
    ----------
    bar : rich.progress.Progress
        What is drawn.
    """

    def __init__(self, bar: Progress) -> None:
        self._bar = bar
        self._task = bar.add_task("reading", total=None)
        self._lock = Lock()
        self._late = Timer(1.0, self._show)
        self._late.daemon = True
        self._late.start()

    def __call__(self, what: str, done: int, total: int) -> None:
        """Move the bar."""
        task = self._bar.tasks[self._task]
        if task.total not in (None, total) or done < task.completed:
            # Other work, with steps of another length: the speed of the last one says nothing about it.
            self._bar.reset(self._task, total=total)
        self._bar.update(self._task, description=what, completed=done, total=total)

    def echo(self, text: str, *, err: bool = False) -> None:
        """Print a line above the bar."""
        with self._lock:
            shown = self._bar.live.is_started
            if shown:
                self._bar.stop()
            typer.echo(text, err=err)
            if shown:
                self._bar.start()

    def end(self) -> None:
        """Remove the bar."""
        self._late.cancel()
        with self._lock:
            self._bar.stop()

    def _show(self) -> None:
        with self._lock:
            self._bar.start()


@contextmanager
def progress_bar(*, quiet: bool) -> Iterator[StepBar | None]:
    """Yield a bar to call as on_step(what, done, total), or None if stderr is not a terminal."""
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    console = Console(stderr=True)
    if quiet or not console.is_terminal:
        yield None
        return
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("left:"),
        TimeRemainingColumn(),
    )
    bar = StepBar(Progress(*columns, console=console, transient=True))
    try:
        yield bar
    finally:
        bar.end()
