"""Events in the formats of other programs, one file or folder per format."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Literal, TypeAlias

from dayline.album.export.chapters import (
    chapters,
    ffmetadata_text,
    kodi_text,
    podcast_text,
    webvtt_text,
    youtube_text,
)
from dayline.album.export.clips import write_clips
from dayline.album.export.editors import edl_text, fcpxml_text, otio_text, timeline_rate
from dayline.album.export.film import (
    FilmFacts,
    chaptered_name,
    check_is_film_of,
    film_end,
    film_facts,
    write_chapters,
)
from dayline.album.export.ics import ics_text
from dayline.album.export.photos import sort_photos, write_xmp
from dayline.album.export.shots import film_end_of, shots_as_events, write_shots_csv
from dayline.album.export.story import SharedDay, write_story
from dayline.album.export.table import write_csv
from dayline.album.hidden import without_hidden
from dayline.events import Segmentation
from dayline.files import write_text_whole
from dayline.media.faces import face_blurrer
from dayline.result_folder import export_folder

log = logging.getLogger(__name__)

Kind: TypeAlias = Literal["photos", "video", "features", "talk"]
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


@dataclass(frozen=True)
class Format:
    """An export.

    Attributes
    ----------
    name : str
        Name of the file or folder.
    suits : tuple of str
        Kinds of sources that it can be made from.
    is_timed : bool
        Whether it has times on a player's clock, for which `fps` may be given.
    has_rate : bool
        Whether it counts at the frame rate of a film, which only the film itself tells.
    is_folder : bool
        Whether it is a folder, which has its own record of what dayline wrote.
    pictures : str
        What it contains of the frames themselves, such as "clips".
    of_shots : str
        Name of the file or folder if it has the shots of a film; empty if it cannot.
    """

    name: str
    suits: tuple[Kind, ...] = ("photos", "video", "features", "talk")
    is_timed: bool = False
    has_rate: bool = False
    is_folder: bool = False
    pictures: str = ""
    of_shots: str = ""

    def file(self, *, shots: bool = False) -> str:
        """Return the name of the file or folder of scenes, or of shots."""
        return self.of_shots if shots else self.name


FORMATS: Mapping[str, Format] = MappingProxyType(
    {
        "csv": Format("events.csv", of_shots="shots.csv"),
        "webvtt": Format("chapters.vtt", is_timed=True, of_shots="shots.vtt"),
        "ffmetadata": Format("chapters.ffmetadata", is_timed=True, of_shots="shots.ffmetadata"),
        "youtube": Format("youtube.txt", is_timed=True, of_shots="youtube-shots.txt"),
        "podcast": Format("chapters.json", is_timed=True, of_shots="chapters-shots.json"),
        "kodi": Format("kodi.edl", is_timed=True, of_shots="kodi-shots.edl"),
        "edl": Format("events.edl", is_timed=True, has_rate=True, of_shots="shots.edl"),
        "otio": Format("events.otio", is_timed=True, has_rate=True, of_shots="shots.otio"),
        "fcpxml": Format(
            "events.fcpxml",
            ("video", "features"),
            is_timed=True,
            has_rate=True,
            of_shots="shots.fcpxml",
        ),
        "clips": Format(
            "clips",
            ("video",),
            is_timed=True,
            is_folder=True,
            pictures="clips",
            of_shots="shot-clips",
        ),
        "ics": Format("events.ics", suits=("photos", "features")),
        "xmp": Format("xmp", suits=("photos",), is_folder=True),
        "photos": Format("photos", suits=("photos",), is_folder=True, pictures="sorted photos"),
        "story": Format("story.html", suits=("photos",), pictures="story"),
    }
)
"""Every format by its name on the command line."""


def export(
    segmentation: Segmentation,
    folder: str | Path,
    *,
    formats: Sequence[str],
    shots: bool = False,
    with_chapters: bool = False,
    source: str | Path | None = None,
    fps: float | None = None,
    blur_faces: bool = False,
    xmp_beside: bool = False,
    force: bool = False,
) -> list[Path]:
    """Write the events into a folder in each of the formats.

    Only files that dayline wrote are replaced; if another file is in the way, nothing is written.
    Hidden photos are left out, and so are events without others.

    Parameters
    ----------
    segmentation : Segmentation
        The events to write.
    folder : str or Path
        Where to write; created if missing.
    formats : sequence of str
        Names from `FORMATS`.
    shots : bool
        Whether they have the shots of a film rather than its events.
    with_chapters : bool
        Also copy the video, with the events as chapters.
    source : str or Path, optional
        The photos or the video that were segmented; "photos" and "clips" need it, "edl", "otio" and
        "fcpxml" count at the frame rate of the video, and all chapters end with it.
    fps : float, optional
        Frames per second: frame k is at k / fps, in place of its time.
    blur_faces : bool
        Whether faces are blurred in the result: sorted photos and clips are not changed, and a
        warning says so.
    xmp_beside : bool
        Write the sidecars of "xmp" beside the photos as well; see `write_xmp`.
    force : bool
        Also replace files that dayline did not write; those in the folders of "photos", "xmp" and
        "clips" are kept in a folder beside it, with a warning.

    Returns
    -------
    list of Path
        What was written, in the order of `formats`, and then the copy of the video.

    Raises
    ------
    ExportsFailedError
        If some of the formats cannot be made from these events, after all the others were written.
    """
    check_formats(formats, shots=shots)
    unchanged = [FORMATS[name].pictures for name in formats if name in ("photos", "clips")]
    for what in unchanged if blur_faces else ():
        warnings.warn(f"{what} are not changed: their faces are not blurred", stacklevel=2)

    shown = without_hidden(segmentation)
    if shown is None:
        raise ValueError("all photos are hidden; show some on the page first")
    if fps is not None and segmentation.hidden:
        raise ValueError("fps counts hidden photos, too, which exports leave out; leave it out")

    names = segmentation.names or [""] * segmentation.n_frames
    hidden = [names[k] for k in segmentation.hidden]
    source = None if source is None else Path(source)
    film = film_facts(source) if source is not None and source.is_file() else None
    if source is not None and film is not None and fps is None:
        check_is_film_of(segmentation, source)

    if shots:
        if fps is not None:
            raise ValueError("fps counts sampled frames, not those of shots; leave it out")
        shown = shots_as_events(segmentation)

    written, failures = [], []
    files = file_names(formats, shots=shots)
    with export_folder(folder, names=files, force=force) as folder:
        for name in dict.fromkeys(formats):
            path = folder / FORMATS[name].file(shots=shots)
            try:
                if shots and name == "csv":
                    written.append(write_shots_csv(segmentation, path))
                    continue
                _write_format(
                    name,
                    shown,
                    path,
                    hidden=hidden,
                    source=source,
                    film=film,
                    fps=fps,
                    blur_faces=blur_faces,
                    xmp_beside=xmp_beside,
                    force=force,
                )
                written.append(path)
            except (ValueError, OSError) as error:
                failures.append(f"{name}: {failure_text(error)}")
        if with_chapters:
            try:
                if source is None or film is None:
                    raise ValueError("--write-chapters needs the video; pass it as --source")
                copy = folder / chaptered_name(source)
                written.append(
                    write_chapters(source, shown if shots else segmentation, copy, fps=fps)
                )
            except (ValueError, OSError) as error:
                failures.append(failure_text(error))
    if failures:
        raise ExportsFailedError(failures, written)
    return written


def _write_format(
    name: str,
    segmentation: Segmentation,
    path: Path,
    *,
    hidden: Sequence[str],
    source: Path | None,
    film: FilmFacts | None,
    fps: float | None,
    blur_faces: bool,
    xmp_beside: bool,
    force: bool,
) -> None:
    """Write one format; see `export`."""
    if FORMATS[name].suits == ("photos",) and segmentation.clock == "media":
        raise ValueError(
            "is for photos, and these are the events of a film or of talk; leave it out"
        )
    if FORMATS[name].pictures and source is None:
        raise ValueError("needs the photos or the video; pass source (--source)")
    if FORMATS[name].is_timed:
        duration = None
        if fps is None and film is not None:
            duration = film_end(segmentation, film)
        elif fps is None and segmentation.shots:
            duration = film_end_of(segmentation)
        marks = chapters(segmentation, fps=fps, duration=duration)
        rate = timeline_rate(fps, film)

    match name:
        case "csv":
            write_csv(segmentation, path)
        case "webvtt":
            write_text_whole(path, webvtt_text(marks))
        case "ffmetadata":
            write_text_whole(path, ffmetadata_text(marks))
        case "youtube":
            text, notes = youtube_text(marks)
            for note in notes:
                log.warning("%s: %s", path.name, note)
            write_text_whole(path, text)
        case "podcast":
            write_text_whole(path, podcast_text(marks))
        case "kodi":
            write_text_whole(path, kodi_text(marks))
        case "edl":
            write_text_whole(path, edl_text(segmentation, marks, rate=rate))
        case "otio":
            write_text_whole(path, otio_text(segmentation, marks, rate=rate))
        case "fcpxml":
            text = fcpxml_text(segmentation, marks, rate=rate, source=source, film=film)
            write_text_whole(path, text)
        case "ics":
            write_text_whole(path, ics_text(segmentation))
        case "xmp":
            write_xmp(segmentation, path, source=source, beside=xmp_beside, force=force)
        case "photos" if source is not None:
            sort_photos(segmentation, path, source=source, hidden=hidden, force=force)
        case "story" if source is not None:
            blur = face_blurrer() if blur_faces else None
            write_story([SharedDay(segmentation, source)], path, best_only=True, blur=blur)
        case "clips" if source is not None:
            write_clips(segmentation, marks, path, source=source, force=force)
        case _:
            raise AssertionError(f"nothing writes {name}")


def failure_text(error: ValueError | OSError) -> str:
    """Return why an export failed, with the file if the system reported the error."""
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    return str(error)


def suited_formats(formats: Sequence[str], kind: Kind) -> tuple[str, ...]:
    """Return the formats that can be made from this kind of source."""
    return tuple(name for name in formats if kind in FORMATS[name].suits)


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
        needed = " or ".join(FORMATS[wrong[0]].suits).replace("video", "a video")
        raise ValueError(f"{source}: --export {wrong[0]} needs {needed}; leave it out")


def file_names(formats: Sequence[str], *, shots: bool = False) -> list[str]:
    """Return the names of the files, not of the folders, that these formats write."""
    return [FORMATS[name].file(shots=shots) for name in formats if not FORMATS[name].is_folder]


def check_formats(formats: Sequence[str], *, shots: bool = False) -> None:
    """Raise if a format is unknown, or has no shots but should."""
    unknown = [name for name in formats if name not in FORMATS]
    if unknown:
        raise ValueError(f"unknown export format {unknown[0]!r}; choose from {', '.join(FORMATS)}")
    without = [name for name in formats if shots and not FORMATS[name].of_shots]
    if without:
        raise ValueError(f"{without[0]} cannot have shots; leave out --shots")
