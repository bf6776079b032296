"""What an output folder holds from an earlier run, so that a wrong -o does not replace the result of another source.

A source may be moved or renamed, and photos may be added or removed. So a result is of another source only if neither
the name of the source nor any of its frames is the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath
from typing import Literal, TypeAlias

from dayline.events import Segmentation, read_events
from dayline.frames.names import shown_name
from dayline.io.output_folder import BATCH_LIST, MARK, OutputFolderError
from dayline.pipeline.events_file import EVENTS
from dayline.report import overview_data, page_data
from dayline.text import counted

__all__ = ["ResultKind", "refuse_other_recording", "refuse_other_result"]

ResultKind: TypeAlias = Literal["recording", "days", "batch"]
"""One recording, several days with an overview, or a batch with its list."""

PHRASES = {"recording": "the result", "days": "the overview of the days", "batch": "the list of the batch"}


def refuse_other_result(folder: Path, kind: ResultKind, source: Path | None = None) -> None:
    """Raise if a folder holds a result of another kind, or the days of another source.

    A source may become another kind: a second day is added to the only one, or --by-folder is given. Results of one
    recording are compared by `refuse_other_recording`, once the frames are known.

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
    is_same = source is not None and "batch" not in (held, kind) and _is_of(folder, held, source, kind)
    if not is_same:
        name = "" if source is None else f" of {shown_name(source.resolve().name)!r}"
        raise OutputFolderError(
            f"{folder}: holds {_description(folder, held)}, which {PHRASES[kind]}{name} would replace; "
            "choose another folder (-o)"
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
        # A film is known by the size of its file; the times of its frames recur in every other film.
        is_same = not then.isdisjoint(_frame_marks(names, times, sizes, earlier.clock == "media"))
    if not is_same:
        raise OutputFolderError(
            f"{folder}: holds the result of {earlier.source!r} ({_size(earlier)}), which has no frame of {source!r}; "
            "choose another folder (-o), or replace the result with --forget-corrections"
        )


def _frame_marks(
    names: Sequence[str] | None, times: Sequence[float] | None, sizes: Sequence[int] | None, is_film: bool
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
        return earlier is not None and (earlier.source == name or _has_photo(source, earlier.names or ()))
    shown = (overview_data(folder) or {}).get("title")
    # An overview without a name is no reason to refuse other days.
    if shown == shown_name(name) or (shown is None and kind == held):
        return True
    for day in _days(folder):
        earlier = _events(day)
        names = () if earlier is None else earlier.names or ()
        # The names of photos are relative to the folder of their day, or to the source if days share folders.
        if _has_photo(source / day.name, names) or _has_photo(source, [n for n in names if "/" in n]):
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
