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
from dayline.export.film import frame_rate, write_chapters
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
    """What an export may need besides the events; see `export`."""

    source: Path | None = None
    fps: float | None = None
    blur_faces: bool = False

    @property
    def frames(self) -> Path:
        """The photos or the video; raises if they are not given."""
        if self.source is None:
            raise ValueError("needs the photos or the video; pass source (--source)")
        return self.source

    @property
    def rate(self) -> float | None:
        """The frame rate of the video, for editors; None if there is no video, its rate varies, or `fps` is given."""
        return frame_rate(self.source) if self.source is not None and self.source.is_file() and not self.fps else None


@dataclass(frozen=True)
class Format:
    """The file name of an export, and the function that writes it.

    Attributes
    ----------
    name : str
        Name of the file; of the folder, for "photos".
    write : callable
        Called with the events, the path and a `Given`.
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
        "edl": Format(
            "events.edl", lambda events, path, given: write_edl(events, path, fps=given.fps, rate=given.rate)
        ),
        "otio": Format(
            "events.otio", lambda events, path, given: write_otio(events, path, fps=given.fps, rate=given.rate)
        ),
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
"""Every format by its name on the command line."""

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

    Only files that dayline wrote are replaced; if another file is in the way, nothing is written.

    Parameters
    ----------
    segmentation : Segmentation
        The events to write.
    folder : str or Path
        Where to write; created if missing.
    formats : sequence of str
        Names from `FORMATS`.
    source : str or Path, optional
        The photos or the video that were segmented; "photos" and "contact-sheet" need it, "edl" and "otio" count
        at the frame rate of the video.
    fps : float, optional
        Frames per second: frame k is at k / fps, in place of its time.
    blur_faces : bool
        Blur faces on the contact sheet (extra "faces"). Sorted photos are not changed.
    force : bool
        Also replace files that dayline did not write.

    Returns
    -------
    list of Path
        What was written, in the order of `formats`.
    """
    check_formats(formats)
    if blur_faces and "photos" in formats:
        warnings.warn("sorted photos are not changed: their faces are not blurred", stacklevel=2)
    given = Given(None if source is None else Path(source), fps, blur_faces)
    written = []
    # Sorted photos are a folder with its own record of the files that dayline wrote.
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
    """Raise if a format is unknown."""
    unknown = [name for name in formats if name not in FORMATS]
    if unknown:
        raise ValueError(f"unknown export format {unknown[0]!r}; choose from {', '.join(FORMATS)}")
