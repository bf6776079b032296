"""The work on one sequence, in whichever process: skip it if it is finished, else compute and write it."""

from __future__ import annotations

import hashlib
import json
import threading
import time
import warnings
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any

import numpy as np

from dayline import __version__
from dayline.album.days import without_places
from dayline.album.export.formats import suited_formats
from dayline.album.left_results import earlier_corrections
from dayline.album.run import Settings, segment_and_write
from dayline.album.size import sequence_size
from dayline.album.write import ExportError, Written
from dayline.batch.record import BatchRecord
from dayline.batch.sources import Source
from dayline.events import Segmentation
from dayline.features.tables import FeatureTable
from dayline.files import read_no_follow, refuse_link, write_text_whole
from dayline.forecast import forecast, needed_memory
from dayline.media.frame import shown_name
from dayline.media.walk import find_files
from dayline.result_folder import BATCH_RECORD, MARK, LockedFolderError, output_folder

FORMAT = "dayline-batch-1"
MOST_PICTURES = 6

WAIT_FOR_LOCK = 300.0
"""Seconds. A worker that lost its connection may still be writing the result that another one is to compute."""

_one_at_a_time = (
    threading.Lock()
)  # a Dask worker may have several threads; warnings and BLAS limits are per process


@dataclass(frozen=True)
class Task:
    """One sequence to be segmented.

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
    memory : int
        Bytes that its process will probably need.
    left : tuple of Path
        Results with corrections whose source is gone; one may be that of these photos under another
        name.
    """

    source: Source
    output: Path
    settings: Settings
    key: str
    memory: int
    left: tuple[Path, ...] = ()

    @property
    def folder(self) -> Path:
        """The folder of its result."""
        return self.output / self.source.folder


def make_task(source: Source, output: Path, settings: Settings) -> Task:
    """Plan the work on one sequence; only its headers are read.

    Parameters
    ----------
    source : Source
        The sequence.
    output : Path
        The folder of all results.
    settings : Settings
        The settings of the batch; those that do not apply to this kind of source are ignored.
    """
    settings = _settings_of_kind(source, settings)
    key = _hash([FORMAT, __version__, source.name, _described(settings), _input_state(source)])
    return Task(source, output, settings, key, _memory(source, settings))


def _settings_of_kind(source: Source, settings: Settings) -> Settings:
    usual = Settings()
    if source.kind == "table":
        formats = suited_formats(settings.formats, "features")
        pixels = (
            *(
                "order",
                "every",
                "model",
                "weights",
                "pause_seconds",
                "pause_factor",
                "jump_km",
                "thumbnails",
            ),
            *("blur_faces", "offsets", "timezone"),
        )
        return replace(
            settings,
            formats=formats,
            write_chapters=False,
            **{name: getattr(usual, name) for name in pixels},
        )
    settings = replace(settings, key=None, transpose=False)
    if source.kind == "photos":
        formats = suited_formats(settings.formats, "photos")
        return replace(settings, every=None, formats=formats, write_chapters=False)
    return replace(settings, order=usual.order, formats=suited_formats(settings.formats, "video"))


def _described(settings: Settings) -> dict[str, Any]:
    """Return what the result depends on, as JSON can hold it."""
    values = {field.name: getattr(settings, field.name) for field in fields(settings)}
    segmenter = values.pop("segmenter")
    parameters = {} if segmenter is None else segmenter.get_params(deep=True)
    # Nested estimators stand for themselves by their own parameters.
    values["segmenter"] = [type(segmenter).__name__, {k: repr(v) for k, v in parameters.items()}]
    files = [Path(name) for name in (values["model"], values["weights"]) if name is not None]
    values["files"] = [_file_state(path) for path in files if path.is_file()]
    values["weights"] = str(values["weights"])
    return values


def _input_state(source: Source) -> Any:
    """Return what changes if the input does: sizes and times of files, or the values in memory."""
    if isinstance(source.data, FeatureTable):
        values = np.ascontiguousarray(source.data.features)
        return [values.shape, str(values.dtype), hashlib.sha256(values.data).hexdigest()]
    if source.kind != "photos":
        return _file_state(source.data)
    photos = find_files(source.data).photos
    return [[shown_name(path.relative_to(source.data)), *_file_state(path)] for path in photos]


def _file_state(path: Path) -> list[int]:
    try:
        about = path.stat()
    except OSError:
        return []  # reading it reports the error
    return [about.st_size, about.st_mtime_ns]


def _memory(source: Source, settings: Settings) -> int:
    try:
        if isinstance(source.data, FeatureTable):
            n_frames, n_features = source.data.features.shape
        else:
            n_frames, n_features = sequence_size(source.data, settings)
    except (ValueError, OSError):
        n_frames, n_features = 0, 0  # it cannot be read, which the task itself reports
    return needed_memory(forecast(n_frames, n_features, settings.method))


def finished_record(task: Task) -> BatchRecord | None:
    """Return the record of a result that is complete and was made from the same input with the same settings."""
    try:
        refuse_link(task.folder)
        content = json.loads(read_no_follow(task.folder / BATCH_RECORD) or b"null")
        if not isinstance(content, dict) or (content["format"], content["key"]) != (
            FORMAT,
            task.key,
        ):
            return None
        # A person may have corrected it, or another command replaced it.
        if content["digest"] != _digest(task.folder / "events.json"):
            return None
        if not all((task.folder / name).exists() for name in content["files"]):
            return None
        about = content["record"]
        record = BatchRecord(**{**about, "pictures": tuple(about["pictures"]), "notes": ()})
        return replace(record, name=task.source.folder, source=task.source.name, status="skipped")
    except (ValueError, TypeError, KeyError, OSError):
        return None  # then it is computed again, and a folder that cannot be used is reported


def renew_digest(task: Task) -> None:
    """Record that events.json of a finished result was written again by dayline itself."""
    content = json.loads(read_no_follow(task.folder / BATCH_RECORD) or b"null")
    if isinstance(content, dict) and content.get("format") == FORMAT:
        content["digest"] = _digest(task.folder / "events.json")
        write_text_whole(task.folder / BATCH_RECORD, json.dumps(content, indent=1) + "\n")


def run_task(task: Task) -> BatchRecord:
    """Segment one sequence and write its result; an error becomes a record, so that the others go on."""
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
        except ExportError as error:
            record = replace(
                _record(task, error.segmentation, error.written, time.perf_counter() - begin),
                status="failed",
                message=_one_line(error, task),
            )
        except Exception as error:  # also a bug in dayline or in a library must not end the others
            record = failed_record(
                task, _one_line(error, task), seconds=time.perf_counter() - begin
            )
    notes = (_without_paths(str(warning.message), task) for warning in caught)
    return replace(record, notes=tuple(dict.fromkeys(notes)))


def failed_record(task: Task, message: str, *, seconds: float = 0.0) -> BatchRecord:
    """Return the record of a sequence without a result."""
    return BatchRecord(
        task.source.folder, task.source.name, "failed", seconds=round(seconds, 3), message=message
    )


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
                return (
                    replace(ready, status="done") if ready is not None else _computed(task, begin)
                )
        except LockedFolderError:
            if time.perf_counter() - begin > WAIT_FOR_LOCK:
                raise
            time.sleep(1.0)


def _computed(task: Task, begin: float) -> BatchRecord:
    # First, so that a run that is stopped halfway does not look finished.
    (task.folder / BATCH_RECORD).unlink(missing_ok=True)
    data, corrections = task.source.data, None
    if isinstance(data, Path) and task.source.kind == "photos":
        corrections = earlier_corrections(data, task.folder, task.output, task.left, task.settings)
    segmentation, written = segment_and_write(
        data, task.folder, task.settings, name=task.source.name, corrections=corrections
    )
    if written is None:
        raise AssertionError("a result was requested")
    record = _record(task, segmentation, written, time.perf_counter() - begin)
    files = [path.name for path in (written.page, *written.exports)]
    content = {
        "format": FORMAT,
        "key": task.key,
        "digest": _digest(task.folder / "events.json"),
        "files": ["events.csv", *files, *(("thumbnails",) if written.pictures else ())],
        "record": asdict(record),
    }
    write_text_whole(task.folder / BATCH_RECORD, json.dumps(content, indent=1) + "\n")
    return record


def _record(
    task: Task, segmentation: Segmentation, written: Written, seconds: float
) -> BatchRecord:
    longest = sorted(segmentation.events, key=lambda event: -event.n_frames)[:MOST_PICTURES]
    shown = sorted(event.key_frame for event in longest if event.key_frame is not None)
    return BatchRecord(
        name=task.source.folder,
        source=task.source.name,
        status="done",
        n_frames=segmentation.n_frames,
        n_events=len(segmentation.events),
        seconds=round(seconds, 3),
        events=f"{task.source.folder}/events.json",
        pictures=tuple(written.pictures[frame] for frame in shown if frame in written.pictures),
    )


def _one_line(error: Exception, task: Task) -> str:
    if isinstance(error, MemoryError):
        return "out of memory; use fewer or smaller frames"
    if isinstance(error, OSError) and error.strerror:
        text = (
            f"{shown_name(Path(error.filename).name)}: {error.strerror}"
            if error.filename
            else error.strerror
        )
    elif isinstance(error, ValueError):
        text = str(error)
    else:
        text = (
            f"unexpected {type(error).__name__}: {error}; run dayline segment on it with"
            " DAYLINE_TRACEBACK=1"
        )
    return _without_paths(text, task)


def _without_paths(text: str, task: Task) -> str:
    """Return a message as one line that names neither the sequence, which stands beside it, nor local folders."""
    text = " ".join(text.split())
    data = task.source.data
    if isinstance(data, Path):
        for name in (str(data), shown_name(data)):
            text = text.removeprefix(f"{name}: ")
        text = without_places(text, data.parent, task.output)
    return text


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _hash(content: Any) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
