"""events.json of a result, and a person's corrections of it: kept, and used again until the person says otherwise."""

from __future__ import annotations

import warnings
from pathlib import Path

from dayline.events import Segmentation, read_events
from dayline.io.files import write_text_whole
from dayline.io.output_folder import OwnFiles, keep_aside

__all__ = ["CORRECTIONS", "forget_corrections", "kept_corrections", "write_events"]

EVENTS = "events.json"
CORRECTIONS = "corrections.json"


def kept_corrections(folder: str | Path) -> Segmentation | None:
    """Return what a person corrected in this result, or None.

    That is events.json if it is not as dayline wrote it (the page saves under this name), else corrections.json, in
    which earlier corrections are kept.

    Parameters
    ----------
    folder : str or Path
        The folder of the result.
    """
    folder = Path(folder)
    saved, kept = folder / EVENTS, folder / CORRECTIONS
    for path in (saved, kept):
        if path.is_symlink() or not path.is_file() or (path == saved and OwnFiles(folder).wrote(EVENTS)):
            continue
        try:
            return read_events(path)
        except ValueError as error:
            raise ValueError(f"{error}; repair it, or go on without it with --forget-corrections") from None
    return None


def forget_corrections(folder: str | Path) -> None:
    """Stop using the corrections kept in a folder; the file stays beside the result under a dated name.

    Parameters
    ----------
    folder : str or Path
        The folder of the result.
    """
    path = Path(folder) / CORRECTIONS
    if path.is_file() and not path.is_symlink():
        keep_aside(path)
        path.unlink()


def write_events(segmentation: Segmentation, folder: Path, *, corrections: Segmentation | None = None) -> None:
    """Write events.json and the corrections that went into it; a person's work that they replace is kept.

    Parameters
    ----------
    segmentation : Segmentation
        The events.
    folder : Path
        The folder of the result.
    corrections : Segmentation, optional
        What a person corrected, to be used again by the next run.
    """
    if corrections is not None:
        _replace(folder / CORRECTIONS, corrections)
    _replace(folder / EVENTS, segmentation)


def _replace(path: Path, segmentation: Segmentation) -> None:
    # What dayline did not write itself is kept by the output folder; this is about names that it wrote for a person.
    if path.is_file() and not path.is_symlink() and OwnFiles(path.parent).wrote(path.name):
        before = _said(path)
        if before is not None and _has_work(before, path.name) and _content(before) != _content(segmentation):
            aside = keep_aside(path)
            warnings.warn(f"the previous {path.name} holds corrections; it is kept as {aside}", stacklevel=4)
    write_text_whole(path, segmentation.to_json())


def _said(path: Path) -> Segmentation | None:
    try:
        return read_events(path)
    except ValueError:
        return None


def _has_work(segmentation: Segmentation, name: str) -> bool:
    return name == CORRECTIONS or any(e.name is not None or e.reason == "asked" for e in segmentation.events)


def _content(segmentation: Segmentation) -> list[tuple[int, int, str | None]]:
    return [(e.start, e.stop, e.name) for e in segmentation.events]
