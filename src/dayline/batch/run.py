"""Segment many sequences, in processes or on a Dask cluster, with a list and a page of them."""

from __future__ import annotations

import json
import os
import signal
import threading
import time
import warnings
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import (
    FIRST_COMPLETED,
    BrokenExecutor,
    CancelledError,
    Executor,
    Future,
    as_completed,
    wait,
)
from contextlib import suppress
from pathlib import Path
from typing import Any

from dayline import __version__
from dayline.album.corrections import warn_of_absent_events
from dayline.album.edits import kept_edits, take_in_all
from dayline.album.export.formats import Kind
from dayline.album.page.overview import SequenceRow, write_sequences
from dayline.album.recognize import PLACES, read_day, read_places, recognize_places
from dayline.album.settings import Settings, check_settings
from dayline.album.write import refuse_other_result, remove_other_pictures
from dayline.batch.sources import Source, Sources, given_sources
from dayline.batch.task import (
    FIELDS,
    BatchRecord,
    Task,
    failed_record,
    finished_record,
    make_task,
    renew_record,
    run_task,
)
from dayline.checks import check_between
from dayline.events import read_events
from dayline.features.extract import load_extractor
from dayline.files import write_text_whole
from dayline.installation import MissingExtraError, needs_extra
from dayline.media.frame import shown_name
from dayline.progress import OnStep
from dayline.result_folder import BATCH_LIST, EVENTS, output_folder
from dayline.text import counted

WRITE_SECONDS = 2.0
"""The list and the page are written again at most this often while results arrive."""


def read_batch(path: str | Path) -> list[BatchRecord]:
    """Read the records in a batch.jsonl.

    Parameters
    ----------
    path : str or Path
        The file.
    """
    records = []
    for number, line in enumerate(Path(path).read_text(encoding="utf-8").splitlines(), start=1):
        try:
            content = json.loads(line)
            records.append(BatchRecord(**{name: content[name] for name in FIELDS}))
        except (ValueError, TypeError, KeyError):
            raise ValueError(f"{path}: line {number} is not a record of dayline batch") from None
    return records


def segment_many(
    sources: Sources,
    *,
    output: str | Path,
    settings: Settings | None = None,
    jobs: int | None = None,
    cluster: str | None = None,
    only: Kind | None = None,
    places: str | Path | None = None,
    on_step: OnStep | None = None,
) -> Iterator[BatchRecord]:
    """Segment many sequences to a folder each, and yield a record of each as it finishes.

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
        Most processes on this machine, with one thread each; by default one per core.
    cluster : str, optional
        Address of a Dask scheduler, whose workers are used instead (extra "cluster").
    only : {"photos", "video", "features", "talk"}, optional
        Leave out sequences that are not of this kind.
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
    output = Path(output)

    found = given_sources(sources, only=only)
    if any(source.kind in ("photos", "video") for source in found):
        # A network that cannot be read would fail every sequence with pictures; those without need
        # no packages for them.
        with suppress(MissingExtraError):
            load_extractor(settings.model)
    root = Path(sources) if isinstance(sources, str | Path) else None
    refuse_other_result(output, "batch", None if root is None else root.resolve().name)
    _note_other_batch(output, found)

    # Read now, so that a damaged file is an error before hours of work.
    known = output / PLACES if places is None else Path(places)
    read_places(known)

    title = "Sequences" if root is None else shown_name(root.resolve().name)
    return _segment_many(found, output, settings, jobs, cluster, known, on_step, title)


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


def _segment_many(
    sources: Sequence[Source],
    output: Path,
    settings: Settings,
    jobs: int | None,
    cluster: str | None,
    places: Path,
    on_step: OnStep | None,
    title: str,
) -> Iterator[BatchRecord]:
    with output_folder(output) as folder:
        take_in_all(folder)
        tasks = [make_task(source, folder.resolve(), settings) for source in sources]
        records: dict[str, BatchRecord] = {}
        written = time.monotonic()
        if on_step is not None:
            on_step("sequences", 0, len(tasks))

        try:
            for record in _records(tasks, jobs, cluster):
                records[record.name] = record
                if time.monotonic() - written > WRITE_SECONDS:
                    _write_lists(records, sources, folder, title)
                    written = time.monotonic()
                if on_step is not None:
                    on_step("sequences", len(records), len(tasks))
                yield record
        finally:
            if records:
                _write_lists(records, sources, folder, title)

        # Only now, and only here: several processes would lose each other's places.
        finished = [task for task in tasks if records[task.source.folder].status != "failed"]
        _recognize_places(finished, places)
        if not settings.thumbnails:
            remove_other_pictures(folder, days=[task.source.folder for task in finished])
        if edits := kept_edits(folder):
            found = [read_events(task.folder / EVENTS).digests or () for task in finished]
            warn_of_absent_events(edits, {digest for digests in found for digest in digests})


def _records(tasks: Sequence[Task], jobs: int | None, cluster: str | None) -> Iterator[BatchRecord]:
    waiting = []
    for task in tasks:
        ready = finished_record(task)
        if ready is None:
            waiting.append(task)
        else:
            yield ready
    if waiting and cluster is not None:
        yield from _run_on_cluster(waiting, cluster)
    elif waiting:
        yield from _run_here(waiting, jobs)


def _write_lists(
    records: dict[str, BatchRecord], sources: Sequence[Source], folder: Path, title: str
) -> None:
    """Write the list and the page of all sequences that have ended, in the order of the sources."""
    known = [records[source.folder] for source in sources if source.folder in records]
    write_text_whole(folder / BATCH_LIST, "".join(f"{record.to_json()}\n" for record in known))
    rows = [
        SequenceRow(
            record.source,
            None if record.events is None else record.name,
            record.n_frames,
            record.n_events,
            None if record.events is None else record.seconds,
            length=record.length,
            pictures=record.pictures,
            titles=record.titles,
            why=record.message,
        )
        for record in known
    ]
    kinds = {source.kind for source in sources}
    thing = "film" if kinds == {"video"} else "talk" if kinds == {"talk"} else "sequence"
    write_sequences(rows, folder, title=title, n_total=len(sources), thing=thing)


def _recognize_places(tasks: Sequence[Task], path: Path) -> None:
    """Give results the places of other results; features in files and talks cannot be compared."""
    sources = {
        task.folder: task.source.data
        for task in tasks
        if task.source.kind in ("photos", "video") and isinstance(task.source.data, Path)
    }
    if not sources:
        return
    before = [read_day(folder) for folder in sources]
    for old, new in zip(before, recognize_places(before, path, sources=sources), strict=True):
        if new is not old:  # dayline itself wrote its events.json again, so it is still finished
            renew_record(new.folder)


def _run_here(tasks: Sequence[Task], jobs: int | None) -> Iterator[BatchRecord]:
    """Run tasks in processes of this machine and yield their records as they finish.

    Those whose process was killed are tried again at the end, one at a time: the memory may have
    been too small for several.
    """
    from joblib import cpu_count

    again = []
    for task, record in _in_processes(tasks, jobs or cpu_count()):
        if record is None:
            again.append(task)
        else:
            yield record

    killed = "its process was killed; it may need more memory than this machine has"
    for task, record in _in_processes(again, 1):
        yield record or failed_record(task, killed)


def _in_processes(tasks: Sequence[Task], jobs: int) -> Iterator[tuple[Task, BatchRecord | None]]:
    """Yield tasks as they end, with their records; None if the process of a task was killed.

    Every process has an executor of its own, for a process that is killed ends its executor.
    """
    # Unlike the one of the standard library, it does not import the caller's script again.
    from joblib.externals.loky import ProcessPoolExecutor

    waiting = deque(tasks)
    idle: list[Executor] = []
    running: dict[Future[BatchRecord], tuple[Task, Executor]] = {}
    try:
        while waiting or running:
            while waiting and len(running) < jobs:
                task = waiting.popleft()
                executor = idle.pop() if idle else ProcessPoolExecutor(1, initializer=_prepare)
                try:
                    running[executor.submit(run_task, task)] = task, executor
                except BrokenExecutor:  # its process was killed while it was idle
                    waiting.appendleft(task)

            ended, _ = wait(running, return_when=FIRST_COMPLETED)
            for future in ended:
                task, executor = running.pop(future)
                try:
                    record = future.result()
                except BrokenExecutor:
                    yield task, None
                else:
                    idle.append(executor)
                    yield task, record
    finally:
        for executor in (*idle, *(executor for _, executor in running.values())):
            executor.shutdown(kill_workers=True)  # type: ignore[call-arg]


def _prepare() -> None:
    """Leave Ctrl-C to the parent, which ends this process, and end if the parent is killed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = os.getppid()

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(1.0)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


CONNECT_SECONDS = 10


def _run_on_cluster(tasks: Sequence[Task], address: str) -> Iterator[BatchRecord]:
    """Run tasks on the workers of a Dask cluster and yield their records as they finish.

    Each worker process runs one task at a time. Dask runs a task again if its worker is lost, and
    gives up after four losses.
    """
    with needs_extra("cluster", "a Dask cluster"):
        from distributed import Client, KilledWorker
        from distributed.comm import CommClosedError

    try:
        client = Client(address, timeout=CONNECT_SECONDS, set_as_default=False)
    except Exception as error:  # Dask raises many kinds of them
        why = " ".join(str(error).split())
        raise ValueError(
            f"{address}: no Dask scheduler answers there ({why}); start one with dask scheduler,"
            " which prints its address, such as tcp://host:8786"
        ) from None

    with client:
        _check_workers(client)
        with warnings.catch_warnings():
            # Features in memory travel with their task: scattered to a worker, they would be lost
            # with it.
            warnings.filterwarnings("ignore", message="Sending large graph")
            executor = client.get_executor(pure=False)
            futures = {executor.submit(run_task, task): task for task in tasks}
        try:
            for future in as_completed(futures):
                try:
                    yield future.result()
                except KilledWorker as error:
                    yield failed_record(
                        futures[future],
                        f"{error.allowed_failures + 1} workers were lost while computing it; it may"
                        " need more memory than they have",
                    )
        except (CancelledError, CommClosedError):
            raise ValueError(
                f"the connection to the scheduler at {address} was lost; start it, and the same"
                " command resumes"
            ) from None
        finally:
            executor.shutdown(wait=False)


def _check_workers(client: Any) -> None:
    """Raise if there are no workers, or if one of them does not have this version of dayline."""
    versions = client.run(_version_here, on_error="return")
    if not versions:
        raise ValueError("the cluster has no workers; start one with: dask worker ADDRESS")
    for worker, version in versions.items():
        if version != __version__:
            raise ValueError(
                f"worker {worker} cannot run dayline {__version__} ({version}); install that"
                " version there"
            )


def _version_here() -> str:
    """Return the version of dayline on a worker."""
    return __version__
