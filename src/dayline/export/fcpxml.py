"""A project for Final Cut Pro (FCPXML 1.9) and editors that read it: one clip per event."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from urllib.parse import quote
from xml.etree import ElementTree  # only to write; no untrusted XML is parsed

from dayline.events import Segmentation
from dayline.export.chapters import chapters, frame_ranges, timeline_rate
from dayline.export.film import FilmFacts
from dayline.export.titles import clean_text
from dayline.io.files import write_text_whole

__all__ = ["write_fcpxml"]

HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n<!DOCTYPE fcpxml>\n'
VERSION = "1.9"
NTSC = 1001
"""Denominator of rates like 30000/1001, which are written as 29.97."""


def write_fcpxml(
    segmentation: Segmentation,
    path: str | Path,
    *,
    source: str | Path | None = None,
    film: FilmFacts | None = None,
    fps: float | None = None,
    rate: float | None = None,
    duration: float | None = None,
) -> Path:
    """Write a project with one clip per event, all from one video.

    Parameters
    ----------
    segmentation : Segmentation
        Events of a video, with times unless `fps` is given.
    path : str or Path
        The file to write.
    source : str or Path, optional
        The video. Editors find it by its absolute path, which the file then contains; without it, the file contains
        the name of the video, and the editor asks for the rest.
    film : FilmFacts, optional
        Picture size and sound of the video.
    fps, rate, duration : float, optional
        See `dayline.export.chapters.chapters` and `timeline_rate` there.
    """
    path = Path(path)
    if segmentation.clock == "wall":
        raise ValueError("an editor's project needs a video, and these events are of photos; use another format")
    name = clean_text(segmentation.source or "") or "dayline"
    exact = _exact(timeline_rate(fps, rate))
    marks = chapters(segmentation, fps=fps, duration=duration)
    ranges = frame_ranges(marks, rate=float(exact))
    first, last = ranges[0][0], ranges[-1][1]
    root = ElementTree.Element("fcpxml", version=VERSION)
    _add_resources(root, name, path=None if source is None else Path(source), film=film, rate=exact, end=last)
    library = ElementTree.SubElement(root, "library")
    event = ElementTree.SubElement(library, "event", name=name)
    project = ElementTree.SubElement(event, "project", name=name)
    about = {"format": "r1", "duration": _time(last - first, exact), "tcStart": "0s", "tcFormat": "NDF"}
    sequence = ElementTree.SubElement(project, "sequence", about)
    spine = ElementTree.SubElement(sequence, "spine")
    for mark, (start, end) in zip(marks, ranges, strict=True):
        clip = {
            "ref": "r2",
            "name": mark.title,
            "offset": _time(start - first, exact),
            "start": _time(start, exact),
            "duration": _time(end - start, exact),
            "format": "r1",
            "tcFormat": "NDF",
        }
        ElementTree.SubElement(spine, "asset-clip", clip)
    ElementTree.indent(root)
    write_text_whole(path, HEAD + ElementTree.tostring(root, encoding="unicode") + "\n")
    return path


def _add_resources(
    root: ElementTree.Element, name: str, *, path: Path | None, film: FilmFacts | None, rate: Fraction, end: int
) -> None:
    resources = ElementTree.SubElement(root, "resources")
    size = {} if film is None else {"width": str(film.width), "height": str(film.height)}
    ElementTree.SubElement(resources, "format", {"id": "r1", "frameDuration": _time(1, rate), **size})
    about = {"id": "r2", "name": name, "start": "0s", "duration": _time(end, rate), "hasVideo": "1", "format": "r1"}
    if film is not None and film.has_audio:
        about |= {"hasAudio": "1", "audioSources": "1"}
    asset = ElementTree.SubElement(resources, "asset", about)
    url = f"./{quote(name)}" if path is None else path.resolve().as_uri()
    ElementTree.SubElement(asset, "media-rep", kind="original-media", src=url)


def _exact(rate: float) -> Fraction:
    """Return a rate as the fraction it stands for: 30000/1001 for 29.97."""
    nominal = round(rate)
    ntsc = Fraction(nominal * 1000, NTSC)
    # 23.976, 29.97 and 59.94 are shorthands; exact rates differ from them by less.
    return ntsc if abs(rate - ntsc) < 0.005 else Fraction(rate).limit_denominator(NTSC)


def _time(frames: int, rate: Fraction) -> str:
    """Write a number of frames as a rational number of seconds, such as "1001/30000s"."""
    seconds = frames / rate
    return f"{seconds.numerator}s" if seconds.denominator == 1 else f"{seconds.numerator}/{seconds.denominator}s"
