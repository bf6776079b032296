"""Recognize places that recur in several sequences of a batch, after all of them are done."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from dayline.batch.task import Task, renew_digest
from dayline.events import Segmentation
from dayline.pipeline import read_day, recognise_places, rewrite_places

__all__ = ["recognise_batch"]


def recognise_batch(tasks: Sequence[Task], path: Path) -> None:
    """Match the contexts of finished photo folders and videos, and give their results the names of the places.

    Parameters
    ----------
    tasks : sequence of Task
        The finished sequences. Feature files are ignored: it is unknown what computed their features.
    path : Path
        places.json.
    """
    by_folder = {task.folder: task for task in tasks if task.source.kind != "table"}
    if not by_folder:
        return

    def rewrite(folder: Path, segmentation: Segmentation) -> None:
        task = by_folder[folder]
        source = task.source.data if isinstance(task.source.data, Path) else None
        rewrite_places(folder, segmentation, source=source)
        renew_digest(task)

    recognise_places([read_day(folder) for folder in by_folder], path, rewrite=rewrite)
