"""Exports that earlier runs wrote into a result: renewed when its events change, with faces blurred as they were."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dayline.events import Segmentation
from dayline.export import FORMATS, ExportsFailedError, export
from dayline.export.xmp import has_old_sidecars_beside
from dayline.io.output_folder import MARK, OwnFiles
from dayline.report import events_mark, page_data

__all__ = [
    "OF_FRAMES",
    "Renewed",
    "faces_blurred",
    "old_chapters_notes",
    "old_events_note",
    "renew_exports",
    "shows_events",
]

OF_FRAMES = ("photos", "contact-sheet", "clips")
"""Formats that contain the frames themselves."""

OF_FILM_RATE = ("edl", "otio", "fcpxml")
"""Formats that count at the frame rate of a film, which only the film itself tells."""


@dataclass(frozen=True)
class Renewed:
    """The exports that were written again, by their names, and one line for each that was not."""

    names: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def faces_blurred(folder: Path) -> bool:
    """Whether a result was made with blurred faces, as its page records."""
    return bool(_page(folder).get("about", {}).get("blurred"))


def shows_events(folder: Path, segmentation: Segmentation) -> bool:
    """Whether the page of a result shows these events."""
    return _page(folder).get("base") == events_mark(segmentation)


def _page(folder: Path) -> dict[str, Any]:
    """Return the data of a page; empty if there is none, or another file or a link in its place."""
    with suppress(OSError, ValueError):
        return page_data(folder / "index.html") or {}
    return {}


def renew_exports(
    segmentation: Segmentation,
    folder: Path,
    *,
    source: Path | None,
    blur_faces: bool,
    skip: Collection[str] = (),
    remedy: str = "dayline export --source writes it again",
) -> Renewed:
    """Write the exports in a folder again; what fails is named, and the others are still written.

    Parameters
    ----------
    segmentation : Segmentation
        The events.
    folder : Path
        The folder of the result.
    source : Path or None
        The photos or the video.
    blur_faces : bool
        Blur faces on the contact sheet.
    skip : collection of str
        Formats that are left as they are.
    remedy : str
        The way out for exports that need a source if there is none.
    """
    renewed, notes = [], []
    for name in _exported(folder):
        file = FORMATS[name].name
        if name in skip:
            continue
        if source is None and (name in OF_FRAMES or (name in OF_FILM_RATE and segmentation.clock == "media")):
            notes.append(f"{file} shows the events before: its source was not found; {remedy}")
            continue
        if not (folder / file).is_dir() and not OwnFiles(folder).wrote(file):
            notes.append(f"{file} was changed by hand and is left as it is")
            continue
        try:
            if name == "xmp" and source is not None:
                _check_sidecars(segmentation, folder / file, source)
            export(segmentation, folder, formats=[name], source=source, blur_faces=blur_faces)
            renewed.append(file)
        except ExportsFailedError as error:
            notes.append(old_events_note(file, ValueError(str(error).removeprefix(f"{name}: "))))
        except (ValueError, OSError) as error:
            notes.append(old_events_note(file, error))
    return Renewed(tuple(renewed), tuple(notes))


def _check_sidecars(segmentation: Segmentation, folder: Path, source: Path) -> None:
    """Raise if sidecars beside the photos have the events before; only `dayline export` writes there."""
    if has_old_sidecars_beside(segmentation, folder, source=source):
        # If only those in the folder were renewed, the others would no longer be known as dayline's own.
        raise ValueError("the sidecars beside the photos do, too; dayline export --xmp-beside renews both")


def old_chapters_notes(folder: Path, *, new: str = "") -> list[str]:
    """Return a line for each copy of a film with chapters but the `new` one; to copy a film again takes too long."""
    return [
        f"{copy.name} has the chapters of before" for copy in sorted(folder.glob("*-chapters.*")) if copy.name != new
    ]


def old_events_note(file: str, error: Exception) -> str:
    """Return the line that says why a file could not be renewed."""
    reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return f"{file} shows the events before: {' '.join(reason.split())}"


def _exported(folder: Path) -> Iterator[str]:
    """Yield the formats that an earlier run or export wrote into a folder."""
    for name, form in FORMATS.items():
        path = folder / form.name
        if name == "csv" or path.is_symlink():
            continue
        # A folder of exports has a record of its own; a day may have the same name, and has the mark of a result.
        is_own = path.is_dir() and not (path / MARK).exists() and any(path.glob(".dayline-*"))
        if path.is_file() or is_own:
            yield name
