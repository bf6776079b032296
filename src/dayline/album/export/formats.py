"""Events in the formats of other programs, one file per format."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Literal, TypeAlias, TypedDict

from dayline.album.export.chapters import (
    write_ffmetadata,
    write_matroska,
    write_webvtt,
    write_youtube,
)
from dayline.album.export.clips import write_clips
from dayline.album.export.contact_sheet import write_contact_sheet
from dayline.album.export.editors import write_edl, write_fcpxml, write_otio
from dayline.album.export.elan import write_elan
from dayline.album.export.film import FilmFacts, check_is_film_of, film_facts
from dayline.album.export.ics import write_ics
from dayline.album.export.photos import sort_photos
from dayline.album.export.table import write_csv
from dayline.album.export.xmp import write_xmp
from dayline.events import Segmentation
from dayline.result_folder import export_folder

Kind: TypeAlias = Literal["photos", "video", "features"]
"""What events may be of."""


class ExportsFailedError(ValueError):
    """Some exports failed; all others were written.

    Attributes
    ----------
    failures : tuple of str
        One line per failed export, which begins with the name of its format.
    written : tuple of Path
        What was written.
    """

    def __init__(self, failures: Sequence[str], written: Sequence[Path]) -> None:
        super().__init__("; ".join(failures))
        self.failures = tuple(failures)
        self.written = tuple(written)


class Clock(TypedDict):
    """Arguments that place events on a player's clock; see `dayline.album.export.chapters.chapters`."""

    fps: float | None
    duration: float | None


@dataclass(frozen=True)
class Given:
    """What an export may need besides the events; see `export`."""

    source: Path | None = None
    fps: float | None = None
    blur_faces: bool = False
    xmp_beside: bool = False
    force: bool = False

    @property
    def frames(self) -> Path:
        """The photos or the video; raises if they are not given."""
        if self.source is None:
            raise ValueError("needs the photos or the video; pass source (--source)")
        return self.source

    @cached_property
    def film(self) -> FilmFacts | None:
        """Rate, length and picture size of the video; None if there is no video."""
        return None if self.source is None or not self.source.is_file() else film_facts(self.source)

    @property
    def rate(self) -> float | None:
        """The frame rate of the video, for editors; None if there is no video, its rate varies, or `fps` is given."""
        return (
            None
            if self.film is None or self.fps or self.film.rate is None
            else float(self.film.rate)
        )

    def clock(self, segmentation: Segmentation) -> Clock:
        """Return what places the events on a player's clock: frames per second, and the end of the video."""
        end = None
        if (
            segmentation.clock == "media"
            and segmentation.times is not None
            and not self.fps
            and self.film is not None
        ):
            # The header of a damaged file may give a length that its frames exceed.
            end = (
                self.film.duration if (self.film.duration or 0.0) > segmentation.times[-1] else None
            )
        return {"fps": self.fps, "duration": end}


@dataclass(frozen=True)
class Format:
    """The file name of an export, and the function that writes it.

    Attributes
    ----------
    name : str
        Name of the file; of the folder, for the formats in `OF_FOLDERS`.
    write : callable
        Called with the events, the path and a `Given`.
    """

    name: str
    write: Callable[[Segmentation, Path, Given], Path]


FORMATS: Mapping[str, Format] = MappingProxyType(
    {
        "csv": Format("events.csv", lambda events, path, _: write_csv(events, path)),
        "webvtt": Format(
            "chapters.vtt",
            lambda events, path, given: write_webvtt(events, path, **given.clock(events)),
        ),
        "ffmetadata": Format(
            "chapters.ffmetadata",
            lambda events, path, given: write_ffmetadata(events, path, **given.clock(events)),
        ),
        "matroska": Format(
            "chapters.xml",
            lambda events, path, given: write_matroska(events, path, **given.clock(events)),
        ),
        "youtube": Format(
            "youtube.txt",
            lambda events, path, given: write_youtube(events, path, **given.clock(events)),
        ),
        "edl": Format(
            "events.edl",
            lambda events, path, given: write_edl(
                events, path, rate=given.rate, **given.clock(events)
            ),
        ),
        "otio": Format(
            "events.otio",
            lambda events, path, given: write_otio(
                events, path, rate=given.rate, **given.clock(events)
            ),
        ),
        "elan": Format(
            "events.eaf",
            lambda events, path, given: write_elan(events, path, **given.clock(events)),
        ),
        "fcpxml": Format(
            "events.fcpxml",
            lambda events, path, given: write_fcpxml(
                events,
                path,
                source=given.source,
                film=given.film,
                rate=given.rate,
                **given.clock(events),
            ),
        ),
        "clips": Format(
            "clips",
            lambda events, path, given: write_clips(
                events, path, source=given.frames, fps=given.fps, force=given.force
            ),
        ),
        "ics": Format("events.ics", lambda events, path, _: write_ics(events, path)),
        "xmp": Format(
            "xmp",
            lambda events, path, given: write_xmp(
                events, path, source=given.source, beside=given.xmp_beside, force=given.force
            ),
        ),
        "photos": Format(
            "photos",
            lambda events, path, given: sort_photos(
                events, path, source=given.frames, force=given.force
            ),
        ),
        "contact-sheet": Format(
            "contact-sheet.png",
            lambda events, path, given: write_contact_sheet(
                events, path, source=given.frames, blur_faces=given.blur_faces
            ),
        ),
    }
)
"""Every format by its name on the command line."""

SUITED: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "photos": ("photos",),
        "xmp": ("photos",),
        "contact-sheet": ("photos", "video"),
        "clips": ("video",),
        "ics": ("photos", "features"),
        "fcpxml": ("video", "features"),
    }
)
"""Kinds of sources that a format can be made from; all others can be made from all."""

OF_TIMES = ("webvtt", "ffmetadata", "matroska", "youtube", "edl", "otio", "elan", "fcpxml", "clips")
"""Formats with times on a player's clock, for which `fps` may be given."""

OF_FOLDERS = ("clips", "xmp", "photos")
"""Formats that write a folder."""


def export(
    segmentation: Segmentation,
    folder: str | Path,
    *,
    formats: Sequence[str],
    source: str | Path | None = None,
    fps: float | None = None,
    blur_faces: bool = False,
    xmp_beside: bool = False,
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
        The photos or the video that were segmented; "photos", "contact-sheet" and "clips" need it,
        "edl", "otio" and "fcpxml" count at the frame rate of the video, and all chapters end with
        it.
    fps : float, optional
        Frames per second: frame k is at k / fps, in place of its time.
    blur_faces : bool
        Blur faces on the contact sheet (extra "faces"). Sorted photos and clips are not changed.
    xmp_beside : bool
        Write the sidecars of "xmp" beside the photos as well; see `write_xmp`.
    force : bool
        Also replace files that dayline did not write; those in the folders of "photos", "xmp" and
        "clips" are kept in a folder beside it, with a warning.

    Returns
    -------
    list of Path
        What was written, in the order of `formats`.

    Raises
    ------
    ExportsFailedError
        If some of the formats cannot be made from these events, after all the others were written.
    """
    check_formats(formats)
    for name, what in (("photos", "sorted photos"), ("clips", "clips")):
        if blur_faces and name in formats:
            warnings.warn(f"{what} are not changed: their faces are not blurred", stacklevel=2)
    given = Given(None if source is None else Path(source), fps, blur_faces, xmp_beside, force)
    if given.source is not None and given.source.is_file() and fps is None:
        check_is_film_of(segmentation, given.source)
    written, failures = [], []
    with export_folder(folder, names=file_names(formats), force=force) as folder:
        for name in dict.fromkeys(formats):
            try:
                written.append(
                    FORMATS[name].write(segmentation, folder / FORMATS[name].name, given)
                )
            except (ValueError, OSError) as error:
                failures.append(f"{name}: {failure_text(error)}")
    if failures:
        raise ExportsFailedError(failures, written)
    return written


def failure_text(error: ValueError | OSError) -> str:
    """Return why an export failed, with the file if the system reported the error."""
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    return str(error)


def suited_formats(formats: Sequence[str], kind: Kind) -> tuple[str, ...]:
    """Return the formats that can be made from this kind of source; see `SUITED`."""
    return tuple(name for name in formats if kind in SUITED.get(name, (kind,)))


def check_suited(formats: Sequence[str], kind: Kind, *, source: object) -> None:
    """Raise if a format cannot be made from this kind of source.

    Parameters
    ----------
    formats : sequence of str
        Names from `FORMATS`.
    kind : {"photos", "video", "features"}
        What the source is.
    source : object
        The source, for the message.
    """
    wrong = [name for name in formats if name not in suited_formats(formats, kind)]
    if wrong:
        needed = " or ".join(SUITED[wrong[0]]).replace("video", "a video")
        raise ValueError(f"{source}: --export {wrong[0]} needs {needed}; leave it out")


def file_names(formats: Sequence[str]) -> list[str]:
    """Return the names of the files that these formats write; folders have their own record of what dayline wrote."""
    return [FORMATS[name].name for name in formats if name not in OF_FOLDERS]


def check_formats(formats: Sequence[str]) -> None:
    """Raise if a format is unknown."""
    unknown = [name for name in formats if name not in FORMATS]
    if unknown:
        raise ValueError(f"unknown export format {unknown[0]!r}; choose from {', '.join(FORMATS)}")
