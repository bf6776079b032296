"""What earlier runs left in an output folder: results, corrections, and sources they belong to."""

from __future__ import annotations

import re
import shlex
import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path, PurePosixPath
from typing import Literal, TypeAlias

from dayline.album.corrections import SAME_TIME_WITHIN, Corrections, read_corrections, same_photos
from dayline.album.page.overview import overview_data
from dayline.album.page.page import page_data
from dayline.events import Segmentation, read_events
from dayline.files import write_text_whole
from dayline.media.frame import FrameSequence, shown_name
from dayline.result_folder import BATCH_LIST, MARK, OutputFolderError, OwnFiles, keep_aside
from dayline.text import counted

EVENTS = "events.json"
CORRECTIONS = "corrections.json"

# Names that browsers give a second download of events.json.
DOWNLOADS = re.compile(r"events(?: ?\(\d{1,4}\)|-\d{1,3})\.json")


def kept_corrections(folder: str | Path) -> Segmentation | None:
    """Return a person's corrections of this result, or None.

    These are events.json if it differs from what dayline wrote (the page saves under this name),
    else corrections.json, which holds earlier corrections. Version 0.1.0 kept them only in the
    events.json that it wrote.

    Parameters
    ----------
    folder : str or Path
        The folder of the result.
    """
    folder = Path(folder)
    saved, kept = folder / EVENTS, folder / CORRECTIONS
    for path in (saved, kept):
        if (
            path.is_symlink()
            or not path.is_file()
            or (path == saved and OwnFiles(folder).wrote(EVENTS))
        ):
            continue
        try:
            return read_events(path)
        except ValueError as error:
            raise ValueError(
                f"{error}; repair it, or continue without it (--forget-corrections)"
            ) from None
    before = None if saved.is_symlink() else _read_if_valid(saved)
    return before if before is not None and _has_work(before, EVENTS) else None


def forget_corrections(folder: str | Path) -> None:
    """Stop using the corrections kept in a folder; a copy with a dated name stays next to the result.

    Parameters
    ----------
    folder : str or Path
        The folder of the result.
    """
    path = Path(folder) / CORRECTIONS
    if path.is_file() and not path.is_symlink():
        keep_aside(path)
        path.unlink()


def write_events(
    segmentation: Segmentation, folder: Path, *, corrections: Segmentation | None = None
) -> None:
    """Write events.json and the corrections it contains; keep a copy of any earlier corrections they replace.

    Parameters
    ----------
    segmentation : Segmentation
        The events.
    folder : Path
        The folder of the result.
    corrections : Segmentation, optional
        A person's corrections, for the next run.
    """
    if corrections is not None:
        _replace(folder / CORRECTIONS, corrections)
    _replace(folder / EVENTS, segmentation)


def write_saved_events(segmentation: Segmentation, folder: Path) -> Path | None:
    """Write events.json as a person saved it; later runs take it as corrections.

    Parameters
    ----------
    segmentation : Segmentation
        The events.
    folder : Path
        The folder of the result.

    Returns
    -------
    Path or None
        The copy of the previous events.json, named after the time of its last change; None if it is
        the same.
    """
    saved, kept = folder / EVENTS, folder / CORRECTIONS
    text = segmentation.to_json()
    before = None if saved.is_symlink() else _read_if_valid(saved)
    history = None
    if saved.is_file() and not saved.is_symlink() and (before is None or before.to_json() != text):
        history = keep_aside(saved)
    # They may be about photos that were not there in the last run, so that events.json does not
    # contain them.
    earlier = None if kept.is_symlink() else _read_if_valid(kept)
    if earlier is not None and _content(earlier) not in [
        _content(s) for s in (before, segmentation) if s is not None
    ]:
        keep_aside(kept)
    # First the corrections: after a kill in between, the next run already uses them.
    write_text_whole(kept, text)
    write_text_whole(saved, text)
    return history


def note_unused_downloads(folder: Path, *, command: str) -> None:
    """Warn about a download that a browser gave another name, such as "events (1).json"; no run uses it by itself.

    Parameters
    ----------
    folder : Path
        The folder of the result.
    command : str
        The command to which the option --corrections can be added.
    """
    for path in sorted(folder.iterdir()):
        if not DOWNLOADS.fullmatch(path.name) or path.is_symlink() or not path.is_file():
            continue
        found = _read_if_valid(path)
        used = [_read_if_valid(folder / name) for name in (EVENTS, CORRECTIONS)]
        if found is not None and _content(found) not in [
            _content(s) for s in used if s is not None
        ]:
            warnings.warn(
                f"{path} is not used; {command} --corrections {shlex.quote(str(path))} applies it",
                stacklevel=3,
            )


def _replace(path: Path, segmentation: Segmentation) -> None:
    # The output folder already keeps files that dayline did not write; here, dayline wrote a
    # person's corrections.
    if path.is_file() and not path.is_symlink() and OwnFiles(path.parent).wrote(path.name):
        before = _read_if_valid(path)
        if (
            before is not None
            and _has_work(before, path.name)
            and _content(before) != _content(segmentation)
        ):
            aside = keep_aside(path)
            warnings.warn(
                f"the previous {path.name} contains corrections; it is kept as {aside}",
                stacklevel=4,
            )
    write_text_whole(path, segmentation.to_json())


def _read_if_valid(path: Path) -> Segmentation | None:
    try:
        return read_events(path)
    except (ValueError, FileNotFoundError):
        return None


def _has_work(segmentation: Segmentation, name: str) -> bool:
    return name == CORRECTIONS or any(
        e.name is not None or e.reason == "required" or e.key_chosen for e in segmentation.events
    )


def _content(segmentation: Segmentation) -> list[tuple[int, int, str | None, int | None]]:
    return [
        (e.start, e.stop, e.name, e.key_frame if e.key_chosen else None)
        for e in segmentation.events
    ]


def corrections_in_folder(
    folder: Path | None, locate: Callable[[Segmentation | None], Corrections]
) -> Segmentation | None:
    """Return the corrections kept in a folder; raise if they are for another source."""
    kept = None if folder is None else kept_corrections(folder)
    try:
        check_corrections(kept, locate)
    except ValueError as error:
        raise ValueError(
            f"{folder}: {error}; or forget them (--forget-corrections), or choose another folder"
            " (-o)"
        ) from None
    return kept


def check_corrections(
    corrected: Segmentation | None, locate: Callable[[Segmentation | None], Corrections]
) -> None:
    """Raise if corrections are for another source; what else is wrong with them is told when they are used."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        locate(corrected)


def located_corrections(sequence: FrameSequence, corrected: Segmentation | None) -> Corrections:
    """Find the corrected events among the frames of a sequence."""
    if corrected is None:
        return Corrections()
    return read_corrections(
        corrected,
        n_frames=sequence.n_frames,
        names=sequence.names,
        times=_times_as_saved(sequence, corrected),
        sizes=file_sizes(sequence),
        source=sequence.source.resolve().name,
    )


def _times_as_saved(sequence: FrameSequence, corrected: Segmentation) -> tuple[float, ...] | None:
    """Return the times of the frames, uncorrected for those that a person saved before their clock was corrected."""
    if sequence.times is None or corrected.times is None or corrected.names is None:
        return sequence.times
    saved = corrected.times
    shown_times = sequence.shown_times
    same = same_photos(corrected, sequence.names, shown_times, file_sizes(sequence)).tolist()
    both = zip(same, sequence.times, shown_times, strict=True)
    return tuple(
        shown if k >= 0 and abs(saved[k] - shown) <= SAME_TIME_WITHIN else now
        for k, now, shown in both
    )


def file_sizes(sequence: FrameSequence) -> tuple[int, ...]:
    """Return the size of every frame's file in bytes; frames of a video share one."""
    if sequence.kind == "video":
        return (sequence.source.stat().st_size,) * sequence.n_frames
    return tuple(path.stat().st_size for path in sequence.paths)


ResultKind: TypeAlias = Literal["recording", "days", "batch"]
"""One recording, several days with an overview, or a batch with its list."""

PHRASES = {
    "recording": "the result",
    "days": "the overview of the days",
    "batch": "the list of the batch",
}


def refuse_other_result(folder: Path, kind: ResultKind, source: Path | None = None) -> None:
    """Raise if a folder holds a result of another kind, or the days of another source.

    A source may become another kind: a second day is added to the only one, or --by-folder is
    given. Results of one recording are compared by `refuse_other_recording`, once the frames are
    known.

    Parameters
    ----------
    folder : Path
        Where a result will be written.
    kind : {"recording", "days", "batch"}
        What will be written.
    source : Path, optional
        What the result is made from, if it is a file or a folder.
    """
    held = _kind_of(folder)
    if held is None or (held == kind and held != "days"):
        return
    is_same = (
        source is not None and "batch" not in (held, kind) and _is_of(folder, held, source, kind)
    )
    if not is_same:
        name = "" if source is None else f" of {shown_name(source.resolve().name)!r}"
        raise OutputFolderError(
            f"{folder}: holds {_description(folder, held)}, which {PHRASES[kind]}{name} would"
            " replace; choose another folder (-o)"
        )


def refuse_other_recording(
    folder: Path | None,
    *,
    n_frames: int,
    names: Sequence[str] | None = None,
    times: Sequence[float] | None = None,
    sizes: Sequence[int] | None = None,
    source: str | None = None,
) -> None:
    """Raise if a folder holds the result of a recording with another name that has none of these frames.

    Parameters
    ----------
    folder : Path or None
        Where the result will be written.
    n_frames : int
        Number of frames.
    names, times, sizes : sequences, optional
        Of the frames.
    source : str, optional
        Name of the source.
    """
    earlier = None if folder is None else _events(folder)
    if earlier is None or None in (source, earlier.source) or source == earlier.source:
        return
    if names is None or earlier.names is None:
        is_same = n_frames == earlier.n_frames  # rows of features are known by their number only
    else:
        then = _frame_marks(earlier.names, earlier.times, earlier.sizes, earlier.clock == "media")
        # A film is known by the size of its file; the times of its frames recur in every other
        # film.
        is_same = not then.isdisjoint(_frame_marks(names, times, sizes, earlier.clock == "media"))
    if not is_same:
        raise OutputFolderError(
            f"{folder}: holds the result of {earlier.source!r} ({_size(earlier)}), which has no"
            f" frame of {source!r}; choose another folder (-o), or replace the result with"
            " --forget-corrections"
        )


def _frame_marks(
    names: Sequence[str] | None,
    times: Sequence[float] | None,
    sizes: Sequence[int] | None,
    is_film: bool,
) -> set[tuple[str, str, float]]:
    """Return what identifies frames, wherever their folder is: the name of the file with its size or its time."""
    if names is None:
        return set()
    if is_film:
        return {("film", "size", size) for size in sizes or ()}
    files = [PurePosixPath(name).name for name in names]
    by_size = ((file, "size", size) for file, size in zip(files, sizes or (), strict=False))
    by_time = ((file, "time", round(time)) for file, time in zip(files, times or (), strict=False))
    return {*by_size, *by_time}


def _kind_of(folder: Path) -> ResultKind | None:
    page = folder / "index.html"
    if not (folder / MARK).is_file():
        return None
    if page.is_symlink():
        return None  # it is not followed, and replaced
    if page_data(page) is not None:
        return "recording"
    if (folder / BATCH_LIST).is_file():
        return "batch"
    if page.is_file() and any(_days(folder)):
        return "days"
    return "recording" if (folder / EVENTS).is_file() and not page.exists() else None


def _days(folder: Path) -> Iterator[Path]:
    """Yield the results of the days."""
    for inner in sorted(folder.iterdir()):
        if not inner.is_symlink() and (inner / MARK).is_file() and (inner / EVENTS).is_file():
            yield inner


def _is_of(folder: Path, held: ResultKind, source: Path, kind: ResultKind) -> bool:
    """Whether a result was made from a source: the source has the same name, or some of the photos."""
    name = source.resolve().name
    if held == "recording":
        earlier = _events(folder)
        return earlier is not None and (
            earlier.source == name or _has_photo(source, earlier.names or ())
        )
    shown = (overview_data(folder) or {}).get("title")
    # An overview without a name is no reason to refuse other days.
    if shown == shown_name(name) or (shown is None and kind == held):
        return True
    for day in _days(folder):
        earlier = _events(day)
        names = () if earlier is None else earlier.names or ()
        # The names of photos are relative to the folder of their day, or to the source if days
        # share folders.
        if _has_photo(source / day.name, names) or _has_photo(
            source, [n for n in names if "/" in n]
        ):
            return True
    return False


def _has_photo(folder: Path, names: Sequence[str]) -> bool:
    return folder.is_dir() and any((folder / name).is_file() for name in names)


def _events(folder: Path) -> Segmentation | None:
    path = folder / EVENTS
    try:
        return None if path.is_symlink() else read_events(path)
    except (OSError, ValueError):
        return None


def _description(folder: Path, held: ResultKind) -> str:
    if held == "recording":
        earlier = _events(folder)
        if earlier is None:
            return "the result of one recording"
        return f"the result of {earlier.source or 'one recording'!r} ({_size(earlier)})"
    if held == "days":
        shown = (overview_data(folder) or {}).get("title")
        of = f" of {shown!r}" if isinstance(shown, str) else ""
        return f"{counted(sum(1 for _ in _days(folder)), 'day')}{of}"
    return "the results of a batch"


def _size(segmentation: Segmentation) -> str:
    are_photos = segmentation.names is not None and segmentation.clock != "media"
    return counted(segmentation.n_frames, "photo" if are_photos else "frame")
