"""Timelines for video editors: EDL (CMX 3600), FCPXML 1.9 and OpenTimelineIO (extra "otio")."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from urllib.parse import quote
from xml.etree import ElementTree  # only to write; no untrusted XML is parsed

from dayline.album.export.chapters import Chapter
from dayline.album.export.film import FilmFacts
from dayline.album.export.table import context_labels
from dayline.events import Segmentation
from dayline.text import clean_text, clock_text

DEFAULT_RATE = 25.0
SLOWEST_RATE = 1.0

MOST_EVENTS = 999
HOURS_OF_A_TIMECODE = 24

HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n<!DOCTYPE fcpxml>\n'
VERSION = "1.9"
NTSC = 1001
"""Denominator of rates like 30000/1001, which are written as 29.97."""


def timeline_rate(fps: float | None, film: FilmFacts | None) -> float:
    """Return the frames per second of an editor's timeline.

    Parameters
    ----------
    fps : float or None
        Frames per second that a person gave.
    film : FilmFacts or None
        The video; its rate counts if a person gave none. If no rate can be used, it is 25.
    """
    known = fps if film is None or fps is not None else film.rate
    return DEFAULT_RATE if known is None or known < SLOWEST_RATE else float(known)


def _frame_ranges(marks: Sequence[Chapter], rate: float) -> list[tuple[int, int]]:
    """Return the first and the end frame of each chapter at `rate` frames per second."""
    edges = [round(mark.start * rate) for mark in marks] + [round(marks[-1].end * rate)]
    for number, (start, end) in enumerate(pairwise(edges)):
        if end <= start:
            raise ValueError(
                f"event {number + 1} is shorter than one frame at {rate:g} frames per second; pass"
                " a higher rate"
            )
    return list(pairwise(edges))


def edl_text(
    segmentation: Segmentation,
    marks: Sequence[Chapter],
    *,
    rate: float = DEFAULT_RATE,
) -> str:
    """Return one cut per event in non-drop timecode; source and record times are the same.

    Parameters
    ----------
    segmentation : Segmentation
        The events.
    marks : sequence of Chapter
        Their chapters. At most 999, within 24 hours.
    rate : float
        Frames per second of the timeline.
    """
    ranges = _frame_ranges(marks, rate)
    if len(marks) > MOST_EVENTS:
        raise ValueError(
            f"an EDL holds at most {MOST_EVENTS} events, not {len(marks)}; use the otio export"
        )
    if ranges[-1][1] >= HOURS_OF_A_TIMECODE * 3600 * round(rate):
        raise ValueError(
            f"an EDL covers at most {HOURS_OF_A_TIMECODE} hours, and these events last longer; use"
            " the otio export"
        )
    source = clean_text(segmentation.source or "") or "dayline"
    lines = [f"TITLE: {source}", "FCM: NON-DROP FRAME", ""]
    for number, (mark, (start, end)) in enumerate(zip(marks, ranges, strict=True), start=1):
        span = f"{_timecode(start, rate)} {_timecode(end, rate)}"
        lines += [
            f"{number:03d}  AX       V     C        {span} {span}",
            f"* FROM CLIP NAME: {mark.title}",
        ]
    return "\n".join(lines) + "\n"


def _timecode(frame: int, rate: float) -> str:
    """Count frames at the nominal rate, as non-drop timecode does (30 for 29.97)."""
    seconds, frames = divmod(frame, round(rate))
    return f"{clock_text(seconds)}:{frames:02d}"


def fcpxml_text(
    segmentation: Segmentation,
    marks: Sequence[Chapter],
    *,
    rate: float = DEFAULT_RATE,
    source: str | Path | None = None,
    film: FilmFacts | None = None,
) -> str:
    """Return a project with one clip per event, all from one video.

    Parameters
    ----------
    segmentation : Segmentation
        Events of a video.
    marks : sequence of Chapter
        Their chapters.
    rate : float
        Frames per second of the timeline.
    source : str or Path, optional
        The video. Editors find it by its absolute path, which the file then contains; without it,
        the file contains the name of the video, and the editor asks for the rest.
    film : FilmFacts, optional
        Picture size and sound of the video.
    """
    if segmentation.clock == "wall":
        raise ValueError(
            "an editor's project needs a video, and these events are of photos; use another format"
        )
    name = clean_text(segmentation.source or "") or "dayline"
    exact = _exact(rate)
    ranges = _frame_ranges(marks, float(exact))
    first, last = ranges[0][0], ranges[-1][1]

    root = ElementTree.Element("fcpxml", version=VERSION)
    resources = ElementTree.SubElement(root, "resources")
    picture = {"id": "r1", "frameDuration": _time(1, exact)}
    asset = {"id": "r2", "name": name, "start": "0s", "duration": _time(last, exact)}
    asset |= {"hasVideo": "1", "format": "r1"}
    if film is not None:
        picture |= {"width": str(film.width), "height": str(film.height)}
        if film.has_audio:
            asset |= {"hasAudio": "1", "audioSources": "1"}
    ElementTree.SubElement(resources, "format", picture)
    url = f"./{quote(name)}" if source is None else Path(source).resolve().as_uri()
    media = ElementTree.SubElement(resources, "asset", asset)
    ElementTree.SubElement(media, "media-rep", kind="original-media", src=url)

    library = ElementTree.SubElement(root, "library")
    event = ElementTree.SubElement(library, "event", name=name)
    project = ElementTree.SubElement(event, "project", name=name)
    about = {"format": "r1", "duration": _time(last - first, exact)}
    about |= {"tcStart": "0s", "tcFormat": "NDF"}
    spine = ElementTree.SubElement(ElementTree.SubElement(project, "sequence", about), "spine")
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
    return HEAD + ElementTree.tostring(root, encoding="unicode") + "\n"


def _exact(rate: float) -> Fraction:
    """Return a rate as the fraction it stands for: 30000/1001 for 29.97."""
    nominal = round(rate)
    ntsc = Fraction(nominal * 1000, NTSC)
    # 23.976, 29.97 and 59.94 are shorthands; exact rates differ from them by less.
    return ntsc if abs(rate - ntsc) < 0.005 else Fraction(rate).limit_denominator(NTSC)


def _time(frames: int, rate: Fraction) -> str:
    """Write a number of frames as a rational number of seconds, such as "1001/30000s"."""
    seconds = frames / rate
    return (
        f"{seconds.numerator}s"
        if seconds.denominator == 1
        else f"{seconds.numerator}/{seconds.denominator}s"
    )


def otio_text(
    segmentation: Segmentation,
    marks: Sequence[Chapter],
    *,
    rate: float = DEFAULT_RATE,
) -> str:
    """Return a timeline with one video track and one clip per event.

    Parameters
    ----------
    segmentation : Segmentation
        The events.
    marks : sequence of Chapter
        Their chapters.
    rate : float
        Frames per second of the timeline.
    """
    try:
        import opentimelineio as otio
    except ModuleNotFoundError:
        raise ValueError(
            'the otio export needs OpenTimelineIO; install it (pip install "dayline[otio]") or'
            " use edl"
        ) from None

    source = clean_text(segmentation.source or "") or "dayline"
    track = otio.schema.Track(name="events", kind=otio.schema.TrackKind.Video)
    letters, ranges = context_labels(segmentation), _frame_ranges(marks, rate)
    for event, letter, mark, (start, end) in zip(
        segmentation.events, letters, marks, ranges, strict=True
    ):
        span = otio.opentime.TimeRange(
            otio.opentime.RationalTime(start, rate), otio.opentime.RationalTime(end - start, rate)
        )
        about = {
            "start": event.start,
            "stop": event.stop,
            "context": letter or None,
            "confidence": event.confidence,
            "reason": event.reason,
        }
        known = {key: value for key, value in about.items() if value is not None}
        clip = otio.schema.Clip(name=mark.title, source_range=span, metadata={"dayline": known})
        if segmentation.clock == "media" and segmentation.source:
            clip.media_reference = otio.schema.ExternalReference(target_url=quote(source))
        track.append(clip)

    timeline = otio.schema.Timeline(name=source, tracks=[track])
    text: str = otio.adapters.write_to_string(timeline, "otio_json", indent=1)
    return text + "\n"
