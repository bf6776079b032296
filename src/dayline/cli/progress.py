"""A progress bar that appears only if the work takes more than a second."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Timer

from dayline.progress import OnStep

__all__ = ["progress_bar"]


@contextmanager
def progress_bar(*, quiet: bool) -> Iterator[OnStep | None]:
    """Yield a function to call as on_step(what, done, total), or None if stderr is not a terminal.

    The bar shows how many steps are done, the time since the start, and the time left of the current task.
    """
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
    bar = Progress(*columns, console=console, transient=True)
    task = bar.add_task("reading", total=None)
    late = Timer(1.0, bar.start)
    late.daemon = True
    late.start()

    def on_step(what: str, done: int, total: int) -> None:
        if bar.tasks[task].total not in (None, total):
            # Another task with steps of another length: the speed of the last one says nothing about this one.
            bar.reset(task, total=total)
        bar.update(task, description=what, completed=done, total=total)

    try:
        yield on_step
    finally:
        late.cancel()
        bar.stop()
