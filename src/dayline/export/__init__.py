"""Events in the formats of other programs, one file per format."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from dayline.events import Segmentation
from dayline.export.contact_sheet import write_contact_sheet
from dayline.export.edl import write_edl
from dayline.export.elan import write_elan
from dayline.export.ffmetadata import write_ffmetadata
from dayline.export.film import write_chapters
from dayline.export.matroska import write_matroska
from dayline.export.otio import write_otio
from dayline.export.photos import sort_photos
from dayline.export.table import write_csv
from dayline.export.webvtt import write_webvtt
from dayline.export.youtube import write_youtube, youtube_text
from dayline.io.output_folder import OutputFolderError, export_folder

__all__ = [
    "FORMATS",
    "OF_PHOTOS",
    "check_formats",
    "export",
    "sort_photos",
    "write_chapters",
    "write_contact_sheet",
    "write_csv",
    "write_edl",
    "write_elan",
    "write_ffmetadata",
    "write_matroska",
    "write_otio",
    "write_webvtt",
    "write_youtube",
    "youtube_text",
]


@dataclass(frozen=True)
class Given:
    """What an export may need beside the events; see `export`."""

    source: Path | None = None
    fps: float | None = None
    blur_faces: bool = False

    @property
    def frames(self) -> Path:
        """The photos or the video, refused where they are not given."""
        if self.source is None:
            raise ValueError("needs the photos or the video; pass source (--source)")
        return self.source


@dataclass(frozen=True)
class Format:
    """What an export is called in its folder, and the function that writes it there.

    Attributes
    ----------
    name : str
        Name of the file, or of the folder of "photos".
    write : callable
        Called with the events, the path and what else is given.
    """

    name: str
    write: Callable[[Segmentation, Path, Given], Path]


FORMATS: Mapping[str, Format] = MappingProxyType(
    {
        "csv": Format("events.csv", lambda events, path, _: write_csv(events, path)),
        "webvtt": Format("chapters.vtt", lambda events, path, given: write_webvtt(events, path, fps=given.fps)),
        "ffmetadata": Format(
            "chapters.ffmetadata", lambda events, path, given: write_ffmetadata(events, path, fps=given.fps)
        ),
        "matroska": Format("chapters.xml", lambda events, path, given: write_matroska(events, path, fps=given.fps)),
        "youtube": Format("youtube.txt", lambda events, path, given: write_youtube(events, path, fps=given.fps)),
        "edl": Format("events.edl", lambda events, path, given: write_edl(events, path, fps=given.fps)),
        "otio": Format("events.otio", lambda events, path, given: write_otio(events, path, fps=given.fps)),
        "elan": Format("events.eaf", lambda events, path, given: write_elan(events, path, fps=given.fps)),
        "photos": Format("photos", lambda events, path, given: sort_photos(events, path, source=given.frames)),
        "contact-sheet": Format(
            "contact-sheet.png",
            lambda events, path, given: write_contact_sheet(
                events, path, source=given.frames, blur_faces=given.blur_faces
            ),
        ),
    }
)
"""Every format by the name that people give."""

OF_PHOTOS = ("photos", "contact-sheet")
"""Formats that need the frames themselves."""


def export(
    segmentation: Segmentation,
    folder: str | Path,
    *,
    formats: Sequence[str],
    source: str | Path | None = None,
    fps: float | None = None,
    blur_faces: bool = False,
    force: bool = False,
) -> list[Path]:
    """Write the events into a folder in each of the formats.

    Only files that dayline wrote there are replaced; one of somebody else is refused before anything is written.

    Parameters
    ----------
    segmentation : Segmentation
        What to write.
    folder : str or Path
        Where to; made if it is not there.
    formats : sequence of str
        Names out of `FORMATS`.
    source : str or Path, optional
        The photos or the video that were segmented; "photos" and "contact-sheet" need it.
    fps : float, optional
        Frames per second: frame k lies at k / fps, in place of the times.
    blur_faces : bool
        Blur faces on the contact sheet (extra "faces"). Sorted photos stay as they are.
    force : bool
        Replace files that dayline did not write, too.

    Returns
    -------
    list of Path
        What was written, in the order of `formats`.
    """
    check_formats(formats)
    if blur_faces and "photos" in formats:
        warnings.warn("photos are sorted as they are; faces in them are not blurred", stacklevel=2)
    given = Given(None if source is None else Path(source), fps, blur_faces)
    written = []
    # Sorted photos are a folder, which tells its own files from those of others.
    names = [FORMATS[name].name for name in formats if name != "photos"]
    with export_folder(folder, names=names, force=force) as folder:
        for name in dict.fromkeys(formats):
            try:
                written.append(FORMATS[name].write(segmentation, folder / FORMATS[name].name, given))
            except OutputFolderError:
                raise
            except ValueError as error:
                raise ValueError(f"{name}: {error}") from None
    return written


def check_formats(formats: Sequence[str]) -> None:
    """Refuse a format that is not known."""
    unknown = [name for name in formats if name not in FORMATS]
    if unknown:
        raise ValueError(f"export format {unknown[0]!r} is not known; choose from {', '.join(FORMATS)}")
