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


Writer = Callable[[Segmentation, Path, Given], Path]

FORMATS: Mapping[str, Writer] = MappingProxyType(
    {
        "csv": lambda events, folder, _: write_csv(events, folder / "events.csv"),
        "webvtt": lambda events, folder, given: write_webvtt(events, folder / "chapters.vtt", fps=given.fps),
        "ffmetadata": lambda events, folder, given: write_ffmetadata(
            events, folder / "chapters.ffmetadata", fps=given.fps
        ),
        "matroska": lambda events, folder, given: write_matroska(events, folder / "chapters.xml", fps=given.fps),
        "youtube": lambda events, folder, given: write_youtube(events, folder / "youtube.txt", fps=given.fps),
        "edl": lambda events, folder, given: write_edl(events, folder / "events.edl", fps=given.fps),
        "otio": lambda events, folder, given: write_otio(events, folder / "events.otio", fps=given.fps),
        "elan": lambda events, folder, given: write_elan(events, folder / "events.eaf", fps=given.fps),
        "photos": lambda events, folder, given: sort_photos(events, folder / "photos", source=given.frames),
        "contact-sheet": lambda events, folder, given: write_contact_sheet(
            events, folder / "contact-sheet.png", source=given.frames, blur_faces=given.blur_faces
        ),
    }
)
"""Every format by name: a function of the events, the folder and what else is given."""

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
) -> list[Path]:
    """Write the events into a folder in each of the formats.

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

    Returns
    -------
    list of Path
        What was written, in the order of `formats`.
    """
    check_formats(formats)
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    if blur_faces and "photos" in formats:
        warnings.warn("photos are sorted as they are; faces in them are not blurred", stacklevel=2)
    given = Given(None if source is None else Path(source), fps, blur_faces)
    written = []
    for name in dict.fromkeys(formats):
        try:
            written.append(FORMATS[name](segmentation, folder, given))
        except ValueError as error:
            raise ValueError(f"{name}: {error}") from None
    return written


def check_formats(formats: Sequence[str]) -> None:
    """Refuse a format that is not known."""
    unknown = [name for name in formats if name not in FORMATS]
    if unknown:
        raise ValueError(f"export format {unknown[0]!r} is not known; choose from {', '.join(FORMATS)}")
