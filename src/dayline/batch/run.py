"""Segment many sequences, and keep the list and the page of them up to date."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

from dayline.album.earlier import refuse_other_result
from dayline.album.left_results import left_results, unused_corrections
from dayline.album.page.overview import SequenceRow, write_sequences
from dayline.album.places_file import PLACES, read_places
from dayline.album.recognize import read_day, recognise_places, rewrite_places
from dayline.album.run import Settings, check_settings
from dayline.album.write import remove_other_pictures
from dayline.batch.cluster import connect, run_on_cluster
from dayline.batch.local import available_memory, run_local
from dayline.batch.record import BatchRecord, read_batch
from dayline.batch.sources import Source, Sources, given_sources
from dayline.batch.task import Task, failed_record, finished_record, make_task, renew_digest
from dayline.checks import check_between
from dayline.events import Segmentation
from dayline.files import write_text_whole
from dayline.media.frame import shown_name
from dayline.progress import OnStep
from dayline.result_folder import BATCH_LIST, output_folder
from dayline.text import bytes_text, counted


def recognise_batch(tasks: Sequence[Task], path: Path) -> None:
    """Match the contexts of finished photo folders and videos, and give their results the names of the places.

    Parameters
    ----------
    tasks : sequence of Task
        The finished sequences. Feature files are ignored: it is unknown what computed their
        features.
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


WRITE_SECONDS = 2.0
"""The list and the page are written again at most this often while results arrive."""


def segment_many(
    sources: Sources,
    *,
    output: str | Path,
    settings: Settings | None = None,
    jobs: int | None = None,
    cluster: str | None = None,
    max_memory: int | None = None,
    places: str | Path | None = None,
    on_step: OnStep | None = None,
) -> Iterator[BatchRecord]:
    """Segment many sequences, each to a folder of its own, and yield a record of each as it finishes.

    A result that an earlier run finished from the same input with the same settings is kept, and
    its record comes first. `output`/index.html lists all sequences for people, `output`/batch.jsonl
    for programs. If a sequence fails, its record says why, and the others go on.

    Parameters
    ----------
    sources : str, Path, sequence of them, or mapping of str to array
        A folder with photo folders, videos and feature files (see `find_sources`); the paths of
        single sequences; or features in memory by name, each of shape (n_frames, n_features).
    output : str or Path
        Folder for the results.
    settings : Settings, optional
        The method and what to write, as for one source. What does not apply to a kind of source is
        ignored.
    jobs : int, optional
        Most processes on this machine, with one thread each; by default one per core, as far as
        memory allows.
    cluster : str, optional
        Address of a Dask scheduler, whose workers are used instead (extra "cluster").
    max_memory : int, optional
        Bytes that all processes on this machine, or one worker of a cluster, may use by the
        forecast. A sequence that alone needs more is refused. By default most of the memory that is
        free, and no sequence is refused.
    places : str or Path, optional
        The file of places that recur in several photo folders and videos; `output`/places.json by
        default.
    on_step : callable, optional
        Called as on_step("sequences", done, total).

    Yields
    ------
    BatchRecord
        Skipped ones first, then in the order in which they finish.
    """
    if jobs is not None:
        check_between("jobs", jobs, 1, whole=True)
    settings = Settings() if settings is None else settings
    check_settings(settings)
    found, notes = given_sources(sources)
    for note in notes:
        warnings.warn(note, stacklevel=2)
    title = (
        shown_name(Path(sources).resolve().name) if isinstance(sources, str | Path) else "Sequences"
    )
    refuse_other_result(
        Path(output), "batch", Path(sources) if isinstance(sources, str | Path) else None
    )
    _note_other_batch(Path(output), found)
    known = Path(output) / PLACES if places is None else Path(places)
    read_places(known)  # raises now, not after hours of work
    return _run(found, Path(output), settings, jobs, cluster, max_memory, known, on_step, title)


def _note_other_batch(output: Path, sources: Sequence[Source]) -> None:
    """Warn if the list in a folder is about other sequences, which this run leaves out."""
    path = output / BATCH_LIST
    try:
        before = [] if path.is_symlink() else [record.source for record in read_batch(path)]
    except (OSError, ValueError):  # it is written again
        return
    if before and {source.name for source in sources}.isdisjoint(before):
        listed = counted(len(before), "other sequence")
        warnings.warn(
            f"{path} listed {listed} (the first: {before[0]}); their results stay in their folders,"
            " but the list and the page no longer show them",
            stacklevel=3,
        )


def _run(
    sources: Sequence[Source],
    output: Path,
    settings: Settings,
    jobs: int | None,
    cluster: str | None,
    max_memory: int | None,
    places: Path,
    on_step: OnStep | None,
    title: str,
) -> Iterator[BatchRecord]:
    with output_folder(output) as folder:
        lists = _Lists(folder, sources, title)
        left = left_results(folder.resolve(), {source.folder for source in sources})
        tasks = [
            replace(make_task(source, folder.resolve(), settings), left=left) for source in sources
        ]
        if on_step is not None:
            on_step("sequences", 0, len(sources))
        try:
            for record in _records(tasks, jobs, cluster, max_memory):
                lists.add(record)
                if on_step is not None:
                    on_step("sequences", len(lists.records), len(sources))
                yield record
        finally:
            if lists.records:
                lists.write()
        # Only now, and only here: several processes would lose each other's places.
        recognise_batch([task for task in tasks if lists.has_result(task.source.folder)], places)
        if not settings.thumbnails:
            finished = [
                record.name for record in lists.records.values() if record.status != "failed"
            ]
            remove_other_pictures(folder, days=finished)
        for note in unused_corrections(left, [task.folder for task in tasks]):
            warnings.warn(note, stacklevel=2)


def _records(
    tasks: Sequence[Task], jobs: int | None, cluster: str | None, max_memory: int | None
) -> Iterator[BatchRecord]:
    left = []
    for task in tasks:
        ready = finished_record(task)
        if ready is not None:
            yield ready
        else:
            left.append(task)
    if not left:
        return
    if cluster is not None:
        with closing(connect(cluster)) as client:
            yield from run_on_cluster(left, client, memory=max_memory)
        return
    if max_memory is not None:
        for task in left:
            if task.memory > max_memory:
                yield failed_record(task, _too_large(task, max_memory))
        left = [task for task in left if task.memory <= max_memory]
    memory = available_memory() if max_memory is None else max_memory
    yield from run_local(left, jobs=jobs or _n_cores(), memory=memory)


def _too_large(task: Task, most: int) -> str:
    needed = bytes_text(task.memory)
    return (
        f"needs about {needed} of memory, more than --max-memory {bytes_text(most)}; allow more or"
        " use fewer frames"
    )


def _n_cores() -> int:
    from joblib import cpu_count

    return int(cpu_count())


class _Lists:
    """The page and the list of all sequences, in the order of the sources.

    Parameters
    ----------
    folder : Path
        Where they are.
    sources : sequence of Source
        All sequences.
    title : str
        Heading of the page.
    """

    def __init__(self, folder: Path, sources: Sequence[Source], title: str) -> None:
        self.folder, self.sources, self.title = folder, sources, title
        self.records: dict[str, BatchRecord] = {}
        self._written = time.monotonic()

    def add(self, record: BatchRecord) -> None:
        """Add a record; write both files unless they are recent."""
        self.records[record.name] = record
        if time.monotonic() - self._written > WRITE_SECONDS:
            self.write()

    def has_result(self, name: str) -> bool:
        """Whether a sequence is finished."""
        return name in self.records and self.records[name].status != "failed"

    def write(self) -> None:
        """Write both files."""
        known = [
            self.records[source.folder] for source in self.sources if source.folder in self.records
        ]
        write_text_whole(
            self.folder / BATCH_LIST, "".join(f"{record.to_json()}\n" for record in known)
        )
        write_sequences(
            [_row(record) for record in known],
            self.folder,
            title=self.title,
            n_total=len(self.sources),
        )
        self._written = time.monotonic()


def _row(record: BatchRecord) -> SequenceRow:
    about: dict[str, Any] = {"pictures": record.pictures, "why": record.message}
    if record.events is None:
        return SequenceRow(record.source, None, **about)
    return SequenceRow(
        record.source, record.name, record.n_frames, record.n_events, record.seconds, **about
    )
