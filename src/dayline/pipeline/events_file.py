"""events.json of a result, and a person's corrections of it, which later runs use until told to forget them."""

from __future__ import annotations

import re
import shlex
import warnings
from pathlib import Path

from dayline.events import Segmentation, read_events
from dayline.io.files import write_text_whole
from dayline.io.output_folder import OwnFiles, keep_aside

__all__ = [
    "CORRECTIONS",
    "EVENTS",
    "forget_corrections",
    "kept_corrections",
    "note_unused_downloads",
    "write_events",
    "write_saved_events",
]

EVENTS = "events.json"
CORRECTIONS = "corrections.json"

# Names that browsers give a second download of events.json.
DOWNLOADS = re.compile(r"events(?: ?\(\d{1,4}\)|-\d{1,3})\.json")


def kept_corrections(folder: str | Path) -> Segmentation | None:
    """Return a person's corrections of this result, or None.

    These are events.json if it differs from what dayline wrote (the page saves under this name), else
    corrections.json, which holds earlier corrections. Version 0.1.0 kept them only in the events.json that it wrote.

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
            raise ValueError(f"{error}; repair it, or continue without it (--forget-corrections)") from None
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


def write_events(segmentation: Segmentation, folder: Path, *, corrections: Segmentation | None = None) -> None:
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
        The copy of the previous events.json, named after the time of its last change; None if it is the same.
    """
    saved, kept = folder / EVENTS, folder / CORRECTIONS
    text = segmentation.to_json()
    before = None if saved.is_symlink() else _read_if_valid(saved)
    history = None
    if saved.is_file() and not saved.is_symlink() and (before is None or before.to_json() != text):
        history = keep_aside(saved)
    # They may be about photos that were not there in the last run, so that events.json does not contain them.
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
        if found is not None and _content(found) not in [_content(s) for s in used if s is not None]:
            warnings.warn(
                f"{path} is not used; {command} --corrections {shlex.quote(str(path))} applies it", stacklevel=3
            )


def _replace(path: Path, segmentation: Segmentation) -> None:
    # The output folder already keeps files that dayline did not write; here, dayline wrote a person's corrections.
    if path.is_file() and not path.is_symlink() and OwnFiles(path.parent).wrote(path.name):
        before = _read_if_valid(path)
        if before is not None and _has_work(before, path.name) and _content(before) != _content(segmentation):
            aside = keep_aside(path)
            warnings.warn(f"the previous {path.name} contains corrections; it is kept as {aside}", stacklevel=4)
    write_text_whole(path, segmentation.to_json())


def _read_if_valid(path: Path) -> Segmentation | None:
    try:
        return read_events(path)
    except (ValueError, FileNotFoundError):
        return None


def _has_work(segmentation: Segmentation, name: str) -> bool:
    return name == CORRECTIONS or any(
        e.name is not None or e.reason == "asked" or e.key_chosen for e in segmentation.events
    )


def _content(segmentation: Segmentation) -> list[tuple[int, int, str | None, int | None]]:
    return [(e.start, e.stop, e.name, e.key_frame if e.key_chosen else None) for e in segmentation.events]
