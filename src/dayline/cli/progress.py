"""A progress bar that appears only if the work takes more than a second."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Timer

from dayline.progress import OnStep

__all__ = ["progress_bar"]


@contextmanager
def progress_bar(*, quiet: bool, time_left: bool = False) -> Iterator[OnStep | None]:
    """Yield a function to call as on_step(what, done, total), or None if stderr is not a terminal."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    console = Console(stderr=True)
    if quiet or not console.is_terminal:
        yield None
        return
    time = TimeRemainingColumn(elapsed_when_finished=True) if time_left else TimeElapsedColumn()
    columns = (TextColumn("{task.description}"), BarColumn(), time)
    bar = Progress(*columns, console=console, transient=True)
    task = bar.add_task("reading", total=None)
    late = Timer(1.0, bar.start)
    late.daemon = True
    late.start()
    try:
        yield lambda what, done, total: bar.update(task, description=what, completed=done, total=total)
    finally:
        late.cancel()
        bar.stop()
