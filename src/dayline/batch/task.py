"""Segment one sequence of a batch, in whichever process, unless it is finished already."""

from __future__ import annotations

import hashlib
import json
import threading
import time
import warnings
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from dayline import __version__
from dayline.album.days import without_places
from dayline.album.export.formats import Kind, suited_formats
from dayline.album.export.table import UNNAMED, event_label
from dayline.album.hidden import key_shown, shown_events
from dayline.album.page.addresses import event_numbers, kept_addresses
from dayline.album.page.overview import EventTitle
from dayline.album.page.page import page_data
from dayline.album.segment import segment_and_write
from dayline.album.settings import Settings, described, file_state
from dayline.album.write import Written
from dayline.batch.sources import Source
from dayline.events import Segmentation
from dayline.features.tables import FeatureTable
from dayline.files import file_digest, read_no_follow, refuse_link, write_text_whole
from dayline.media.frame import shown_name
from dayline.media.talk import talk_beside
from dayline.media.walk import find_files
from dayline.result_folder import BATCH_RECORD, EVENTS, MARK, LockedFolderError, output_folder

FORMAT = "dayline-batch-1"
FIELDS = ("name", "source", "status", "n_frames", "n_events", "seconds", "message", "events")
"""In batch.jsonl, in this order."""

MOST_PICTURES = 6
"""Pictures of one sequence on the page of all."""


@dataclass(frozen=True)
class BatchRecord:
    """One sequence of a batch.

    Attributes
    ----------
    name : str
        Name of the folder of its result.
    source : str
        Its path below the root, or the name it was given.
    status : {"done", "skipped", "failed"}
        Computed by this run; finished by an earlier one with the same input and settings; or not
        finished.
    n_frames, n_events : int or None
        None if there is no result.
    seconds : float
        What it took to compute; if skipped, what it took then.
    message : str
        Why it failed, in one line; else empty.
    events : str or None
        Path of its events.json in the output folder. It also exists if only an export failed.
    notes : tuple of str
        Warnings of this run.
    pictures : tuple of str
        Pictures of its longest events, within its folder.
    titles : tuple of EventTitle
        Its events with a name or a title.
    length : float or None
        Seconds that a film or a talk lasts.
    """

    name: str
    source: str
    status: Literal["done", "skipped", "failed"]
    n_frames: int | None = None
    n_events: int | None = None
    seconds: float = 0.0
    message: str = ""
    events: str | None = None
    notes: tuple[str, ...] = ()
    pictures: tuple[str, ...] = ()
    titles: tuple[EventTitle, ...] = ()
    length: float | None = None

    def to_json(self) -> str:
        """Return the line of batch.jsonl, without its end."""
        return json.dumps({name: getattr(self, name) for name in FIELDS}, ensure_ascii=False)


@dataclass(frozen=True)
class Task:
    """The work on one sequence.

    Attributes
    ----------
    source : Source
        The sequence.
    output : Path
        The folder of all results.
    settings : Settings
        Those that apply to its kind.
    key : str
        Hash of the input, the settings and the version.
    """

    source: Source
    output: Path
    settings: Settings
    key: str

    @property
    def folder(self) -> Path:
        """The folder of its result."""
        return self.output / self.source.folder


OF_PHOTOS = ("order", "offsets", "timezone", "keep_screenshots")
OF_VIDEOS = ("every", "write_chapters", "no_talk")
OF_PICTURES = ("model", "pause_seconds", "pause_factor", "jump_km", "thumbnails", "blur_faces")
OF_FEATURES = ("key", "transpose")
OF_TALK = ("word_vectors", "titles")
NOT_FOR: Mapping[Kind, tuple[str, ...]] = {
    "photos": (*OF_VIDEOS, *OF_FEATURES, *OF_TALK),
    "video": (*OF_PHOTOS, *OF_FEATURES),
    "features": (*OF_PHOTOS, *OF_VIDEOS, *OF_PICTURES, *OF_TALK),
    "talk": (*OF_PHOTOS, *OF_VIDEOS, *OF_PICTURES, *OF_FEATURES),
}
"""Settings that do not apply to a kind of source: a result does not depend on them."""


def make_task(source: Source, output: Path, settings: Settings) -> Task:
    """Plan the work on one sequence; only names, sizes and times of its files are read.

    Parameters
    ----------
    source : Source
        The sequence.
    output : Path
        The folder of all results.
    settings : Settings
        The settings of the batch; those that do not apply to this kind of source are ignored.
    """
    usual = {name: getattr(Settings(), name) for name in NOT_FOR[source.kind]}
    formats = suited_formats(settings.formats, source.kind)
    settings = replace(settings, formats=formats, **usual)

    state: Any
    if isinstance(source.data, FeatureTable):
        values = np.ascontiguousarray(source.data.features)
        state = [values.shape, str(values.dtype), hashlib.sha256(values.data).hexdigest()]
    elif source.kind == "photos":
        found = find_files(source.data)
        files = [*found.photos, *found.videos, *found.live.values()]
        state = [[shown_name(p.relative_to(source.data)), *file_state(p)] for p in files]
    else:
        state = file_state(source.data)
        beside = None if source.kind != "video" else talk_beside(source.data)
        if beside is not None and not settings.no_talk:
            state += [beside.name, *file_state(beside), settings.with_word_vectors]
        elif source.kind == "talk":
            state += [settings.with_word_vectors]

    content = [FORMAT, __version__, source.name, described(settings), state]
    key = hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
    return Task(source, output, settings, key)


def finished_record(task: Task) -> BatchRecord | None:
    """Return the record of a complete result of the same input with the same settings, or None."""
    try:
        refuse_link(task.folder)
        content = json.loads(read_no_follow(task.folder / BATCH_RECORD) or b"null")
        if (content["format"], content["key"]) != (FORMAT, task.key):
            return None
        # A person may have corrected it, or another command replaced it.
        if content["digest"] != file_digest(task.folder / EVENTS):
            return None
        if not all((task.folder / name).exists() for name in content["files"]):
            return None
        about = content["record"]
        titles = tuple(EventTitle(**title) for title in about.get("titles", ()))
        pictures = tuple(about["pictures"])
        record = BatchRecord(**{**about, "pictures": pictures, "titles": titles, "notes": ()})
        return replace(record, name=task.source.folder, source=task.source.name, status="skipped")
    except (ValueError, TypeError, KeyError, OSError):
        return None  # then it is computed again, and a folder that cannot be used is reported


def renew_record(folder: Path) -> None:
    """Record that dayline itself wrote events.json of a finished result again."""
    content = json.loads(read_no_follow(folder / BATCH_RECORD) or b"null")
    if isinstance(content, dict) and content.get("format") == FORMAT:
        content["digest"] = file_digest(folder / EVENTS)
        write_text_whole(folder / BATCH_RECORD, json.dumps(content, indent=1) + "\n")


WAIT_FOR_LOCK = 300.0
"""Seconds to wait for a result that a lost worker may still be writing."""

# A Dask worker may have several threads, but warnings and the limit of BLAS are per process.
_one_at_a_time = threading.Lock()


def run_task(task: Task) -> BatchRecord:
    """Segment one sequence and write its result; an error becomes a record."""
    from threadpoolctl import threadpool_limits

    begin = time.perf_counter()
    with _one_at_a_time, warnings.catch_warnings(record=True) as caught, threadpool_limits(1):
        # Each process may have filters of its own; these are notes for the user, whoever runs the
        # task.
        warnings.simplefilter("ignore")
        for kind in (UserWarning, RuntimeWarning):
            warnings.simplefilter("always", kind)
        try:
            record = _result(task, begin)
        except Exception as error:  # also a bug in dayline or in a library must not end the others
            record = failed_record(task, _one_line(error, task))

    notes = (_without_paths(str(warning.message), task) for warning in caught)
    if record.status == "failed":
        record = replace(record, seconds=round(time.perf_counter() - begin, 3))
    return replace(record, notes=tuple(dict.fromkeys(notes)))


def failed_record(task: Task, message: str) -> BatchRecord:
    """Return the record of a sequence without a result."""
    return BatchRecord(task.source.folder, task.source.name, "failed", message=message)


def _result(task: Task, begin: float) -> BatchRecord:
    if not (task.output / MARK).is_file():
        raise ValueError(
            "this worker does not see the output folder; use one that all machines share"
        )
    refuse_link(task.folder)
    while True:
        try:
            with output_folder(task.folder):
                # Another process may have finished it while this one waited.
                ready = finished_record(task)
                return _computed(task, begin) if ready is None else replace(ready, status="done")
        except LockedFolderError:
            if time.perf_counter() - begin > WAIT_FOR_LOCK:
                raise
            time.sleep(1.0)


def _computed(task: Task, begin: float) -> BatchRecord:
    # First, so that a run that is stopped halfway does not look finished.
    (task.folder / BATCH_RECORD).unlink(missing_ok=True)

    found = segment_and_write(task.source.data, task.folder, task.settings, name=task.source.name)
    segmentation, written = found.segmentation, found.written
    if segmentation is None or written is None:
        raise AssertionError("a result was requested")

    record = replace(
        _record(task, segmentation, written), seconds=round(time.perf_counter() - begin, 3)
    )
    if found.failures:
        message = _without_paths("; ".join(found.failures), task)
        return replace(record, status="failed", message=message)
    files = [path.name for path in (written.page, *written.exports)]
    content = {
        "format": FORMAT,
        "key": task.key,
        "digest": file_digest(task.folder / EVENTS),
        "files": ["events.csv", *files, *(("thumbnails",) if written.pictures else ())],
        "record": asdict(record),
    }
    write_text_whole(task.folder / BATCH_RECORD, json.dumps(content, indent=1) + "\n")
    return record


def _record(task: Task, segmentation: Segmentation, written: Written) -> BatchRecord:
    longest = sorted(segmentation.events, key=lambda event: -event.n_frames)[:MOST_PICTURES]
    keys = (key_shown(segmentation, event) for event in longest)
    shown = sorted(key for key in keys if key is not None)
    return BatchRecord(
        name=task.source.folder,
        source=task.source.name,
        status="done",
        n_frames=segmentation.n_frames,
        n_events=len(segmentation.events),
        events=f"{task.source.folder}/{EVENTS}",
        pictures=tuple(written.pictures[frame] for frame in shown if frame in written.pictures),
        titles=_titles(segmentation, task.folder),
        length=_length(segmentation),
    )


def _length(segmentation: Segmentation) -> float | None:
    if segmentation.shots:
        return segmentation.shots[-1].stop_time
    return None if segmentation.texts is None else segmentation.events[-1].stop_time


def _titles(segmentation: Segmentation, folder: Path) -> tuple[EventTitle, ...]:
    """Return the shown events with a name or a title; the page is in the folder already."""
    numbers = event_numbers(segmentation, kept_addresses(page_data(folder / "index.html")))
    found = []
    for k in shown_events(segmentation):
        event = segmentation.events[k]
        title = event_label(segmentation, event)
        if title != UNNAMED:
            start = segmentation.start_times[k] if segmentation.clock == "media" else None
            found.append(EventTitle(k + 1 if numbers is None else numbers[k], title, start))
    return tuple(found)


def _one_line(error: Exception, task: Task) -> str:
    if isinstance(error, MemoryError):
        return "out of memory; use fewer or smaller frames"
    if isinstance(error, OSError) and error.strerror:
        name = f"{shown_name(Path(error.filename).name)}: " if error.filename else ""
        return _without_paths(f"{name}{error.strerror}", task)
    if isinstance(error, ValueError):
        return _without_paths(str(error), task)
    return _without_paths(
        f"unexpected {type(error).__name__}: {error}; run dayline segment on it with"
        " DAYLINE_TRACEBACK=1",
        task,
    )


def _without_paths(text: str, task: Task) -> str:
    """Return a message as one line without the name of its sequence and without local folders."""
    text = " ".join(text.split())
    data = task.source.data
    if isinstance(data, Path):
        for name in (str(data), shown_name(data)):
            text = text.removeprefix(f"{name}: ")
        text = without_places(text, data.parent, task.output, Path(task.settings.model).parent)
    return text
