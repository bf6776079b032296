"""Chapters for players: FFmpeg metadata, WebVTT and YouTube."""

from __future__ import annotations

import logging
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree  # only to write; no untrusted XML is parsed

import numpy as np

from dayline.arrays import FloatArray
from dayline.events import Event, Segmentation
from dayline.events.table import context_letters
from dayline.files import write_text_whole
from dayline.text import clean_text, clock_text, counted


def event_titles(
    segmentation: Segmentation, *, contexts: bool = True, letters: bool = True
) -> tuple[str, ...]:
    """Return the name of every event, or "Event 3 (kitchen)": its number, counted from 1, and its context.

    Parameters
    ----------
    segmentation : Segmentation
        The events.
    contexts : bool
        Whether contexts appear at all; not if a format has a field of its own for places.
    letters : bool
        Whether contexts without a name appear by their letters.
    """
    labels: Sequence[str] = [
        place_name(segmentation, event) if contexts else "" for event in segmentation.events
    ]
    if contexts and letters:
        labels = context_labels(segmentation)
    titles = []
    for number, (event, label) in enumerate(zip(segmentation.events, labels, strict=True), start=1):
        name = clean_text(event.name or "")
        titles.append(name or f"Event {number}" + (f" ({label})" if label else ""))
    return tuple(titles)


def event_label(segmentation: Segmentation, event: Event) -> str:
    """Return the name of an event, else that of its place, else "Event"; for names that already say which event."""
    return clean_text(event.name or "") or place_name(segmentation, event) or "Event"


def place_name(segmentation: Segmentation, event: Event) -> str:
    """Return the name that a person gave to the place of an event, or an empty string."""
    names = (place.name for place in segmentation.places if place.community == event.community)
    return clean_text(next(names, None) or "")


def context_labels(segmentation: Segmentation) -> tuple[str, ...]:
    """Return for each event the name that a person gave its context, else the letter of the context."""
    names = {place.community: clean_text(place.name or "") for place in segmentation.places}
    letters = context_letters(segmentation.events, segmentation.places)
    return tuple(
        (event.community is not None and names.get(event.community)) or letter
        for event, letter in zip(segmentation.events, letters, strict=True)
    )


def time_text(segmentation: Segmentation, seconds: float | None, *, digits: int = 3) -> str:
    """Format a time for people: with the date if a wall clock has one, else hours and minutes; "" if unknown."""
    if seconds is None or not math.isfinite(seconds):
        return ""
    if (
        segmentation.clock == "wall"
        and segmentation.times is not None
        and not segmentation.is_dated
    ):
        return clock_text(seconds % 86_400)
    if segmentation.clock != "wall":
        return clock_text(max(seconds, 0.0), digits=digits)
    try:
        moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=seconds)
    except OverflowError:
        raise ValueError(
            f"time {seconds:g} is not a date; repair the times of the frames"
        ) from None
    return moment.strftime("%Y-%m-%d %H:%M:%S")


SHORTEST = 0.001
"""Seconds. Files count in milliseconds, and most readers refuse a chapter of length zero."""

WITHOUT_TIMES = "pass fps, the frames per second (dayline export --fps)"
"""The way out for frames without usable times; no other command has this option."""

DEFAULT_RATE = 25.0
SLOWEST_RATE = 1.0


@dataclass(frozen=True)
class Chapter:
    """One event on a player's clock: from `start` to `end` in seconds, with its `title`."""

    start: float
    end: float
    title: str


def chapters(
    segmentation: Segmentation, *, fps: float | None = None, duration: float | None = None
) -> tuple[Chapter, ...]:
    """Place the events on a player's clock, one after the other without gaps.

    Times on a media clock are kept; times on a wall clock count from the first frame. An event ends
    when the next one starts; the last one ends with the recording.

    Parameters
    ----------
    segmentation : Segmentation
        Events, with times unless `fps` is given.
    fps : float, optional
        Frames per second: frame k is at k / fps, in place of its time.
    duration : float, optional
        End of the recording in seconds. By default, the last event ends one median frame interval
        after its last frame.
    """
    starts, last, distance = (
        _at_rate(segmentation, fps) if fps is not None else _at_times(segmentation)
    )
    for k in range(1, len(starts)):
        # The photos on the two sides of a boundary may have the same time.
        starts[k] = max(starts[k], starts[k - 1] + SHORTEST)
    end = last + distance if duration is None else duration
    if duration is not None and starts[-1] >= duration:
        msg = (
            f"the last event starts at {starts[-1]:.3f} s, but the recording ends at"
            f" {duration:.3f} s; "
        )
        raise ValueError(msg + "use the events of this recording")
    edges = [*starts, max(end, starts[-1] + SHORTEST)]
    titles = event_titles(segmentation, letters=False)
    return tuple(
        Chapter(a, b, title) for (a, b), title in zip(pairwise(edges), titles, strict=True)
    )


def _at_rate(segmentation: Segmentation, fps: float) -> tuple[list[float], float, float]:
    """Return the start of every event, the time of the last frame and the interval between frames, in seconds."""
    if not 1e-6 <= fps <= 1e6:
        raise ValueError(f"fps={fps}; it must be between 1e-6 and 1e6 frames per second")
    return (
        [event.start / fps for event in segmentation.events],
        (segmentation.n_frames - 1) / fps,
        1.0 / fps,
    )


def _at_times(segmentation: Segmentation) -> tuple[list[float], float, float]:
    """Return the same from the times of the frames."""
    times, origin = _player_times(segmentation)
    distance = float(np.median(np.diff(times))) if len(times) > 1 else 1.0
    starts = [max(time - origin, 0.0) for time in segmentation.start_times if time is not None]
    return starts, float(times[-1]), distance


def _player_times(segmentation: Segmentation) -> tuple[FloatArray, float]:
    """Return the times of the frames on a player's clock, and the time that is its zero."""
    if segmentation.times is None:
        raise ValueError(f"the frames have no times, which chapters need; {WITHOUT_TIMES}")
    times = np.asarray(segmentation.times, dtype=np.float64)
    bad = np.flatnonzero(~np.isfinite(times))
    if bad.size:
        raise ValueError(f"frame {bad[0]} has no usable time; repair it or {WITHOUT_TIMES}")
    backwards = np.flatnonzero(np.diff(times) < 0)
    if backwards.size:
        raise ValueError(
            f"the clock runs backwards at frame {backwards[0] + 1}; sort the frames by time or"
            f" {WITHOUT_TIMES}"
        )
    origin = 0.0 if segmentation.clock == "media" else float(times[0])
    # Some files have a first timestamp slightly below zero, where no player can go.
    return np.maximum(times - origin, 0.0), origin


def timeline_rate(fps: float | None, rate: float | None) -> float:
    """Return the frames per second of an editor's timeline.

    Parameters
    ----------
    fps : float or None
        Frames per second of the events; taken if an editor can use it and `rate` is None, else 25.
    rate : float or None
        The rate itself: 24, 25, 29.97, ...
    """
    if rate is not None:
        return rate
    return fps if fps is not None and fps >= SLOWEST_RATE else DEFAULT_RATE


def milliseconds(seconds: float) -> int:
    """Round up to the millisecond, the unit of most chapter files; a player shows the frame before until then."""
    # Times are known to the microsecond.
    return math.ceil(round(seconds * 1000, 3))


def frame_ranges(marks: tuple[Chapter, ...], *, rate: float) -> list[tuple[int, int]]:
    """Return the first and the end frame of each chapter on a timeline with `rate` frames per second."""
    if not (np.isfinite(rate) and rate >= SLOWEST_RATE):
        raise ValueError(f"rate={rate} is not a valid timeline rate; use 24, 25, 29.97, 30, ...")
    edges = [round(mark.start * rate) for mark in marks] + [round(marks[-1].end * rate)]
    for number, (start, end) in enumerate(pairwise(edges)):
        if end <= start:
            msg = f"event {number + 1} is shorter than one frame at {rate:g} frames per second; "
            raise ValueError(msg + "pass a higher rate")
    return list(pairwise(edges))


def write_ffmetadata(
    segmentation: Segmentation,
    path: str | Path,
    *,
    fps: float | None = None,
    duration: float | None = None,
) -> Path:
    """Write one chapter per event, in milliseconds.

    Parameters
    ----------
    segmentation : Segmentation
        Events, with times unless `fps` is given.
    path : str or Path
        The file to write.
    fps, duration : float, optional
        See `dayline.album.export.chapters.chapters`.
    """
    path = Path(path)
    lines = [";FFMETADATA1"]
    for mark in chapters(segmentation, fps=fps, duration=duration):
        title = re.sub(r"([=;#\\])", r"\\\1", mark.title)
        lines += ["", "[CHAPTER]", "TIMEBASE=1/1000"]
        lines += [
            f"START={milliseconds(mark.start)}",
            f"END={milliseconds(mark.end)}",
            f"title={title}",
        ]
    write_text_whole(path, "\n".join(lines) + "\n")
    return path


ESCAPES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})
"""With ">" escaped, no title can hold the arrow that opens a cue."""


def write_webvtt(
    segmentation: Segmentation,
    path: str | Path,
    *,
    fps: float | None = None,
    duration: float | None = None,
) -> Path:
    """Write one cue per event.

    Parameters
    ----------
    segmentation : Segmentation
        Events, with times unless `fps` is given.
    path : str or Path
        The file to write.
    fps, duration : float, optional
        See `dayline.album.export.chapters.chapters`.
    """
    path = Path(path)
    blocks = ["WEBVTT"]
    for number, mark in enumerate(chapters(segmentation, fps=fps, duration=duration)):
        start, end = (
            clock_text(milliseconds(seconds) / 1000, digits=3) for seconds in (mark.start, mark.end)
        )
        times = f"{start} --> {end}"
        blocks.append(f"{number + 1}\n{times}\n{mark.title.translate(ESCAPES)}")
    write_text_whole(path, "\n\n".join(blocks) + "\n")
    return path


HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n<!DOCTYPE Chapters SYSTEM "matroskachapters.dtd">\n'


def write_matroska(
    segmentation: Segmentation,
    path: str | Path,
    *,
    fps: float | None = None,
    duration: float | None = None,
) -> Path:
    """Write one chapter per event into one edition.

    Parameters
    ----------
    segmentation : Segmentation
        Events, with times unless `fps` is given.
    path : str or Path
        The file to write.
    fps, duration : float, optional
        See `dayline.album.export.chapters.chapters`.
    """
    path = Path(path)
    root = ElementTree.Element("Chapters")
    edition = ElementTree.SubElement(root, "EditionEntry")
    for number, mark in enumerate(chapters(segmentation, fps=fps, duration=duration)):
        edition.append(_atom(mark, uid=number + 1))
    ElementTree.indent(root)
    write_text_whole(path, HEAD + ElementTree.tostring(root, encoding="unicode") + "\n")
    return path


def _atom(mark: Chapter, *, uid: int) -> ElementTree.Element:
    atom = ElementTree.Element("ChapterAtom")
    ElementTree.SubElement(atom, "ChapterUID").text = str(uid)
    ElementTree.SubElement(atom, "ChapterTimeStart").text = clock_text(mark.start, digits=9)
    ElementTree.SubElement(atom, "ChapterTimeEnd").text = clock_text(mark.end, digits=9)
    display = ElementTree.SubElement(atom, "ChapterDisplay")
    ElementTree.SubElement(display, "ChapterString").text = mark.title
    ElementTree.SubElement(display, "ChapterLanguage").text = "und"
    return atom


FEWEST = 3
SHORTEST_ON_YOUTUBE = 10
LONGEST_DESCRIPTION = 5000
UNNAMED = re.compile(r"Event \d+")
"""The title of an event without a name."""
BRACKETS = str.maketrans("<>", "\u2039\u203a")
"""Similar-looking quotation marks: YouTube refuses a description with angle brackets."""

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class YouTubeText:
    """The lines to paste, and a note for each event without a line of its own."""

    text: str
    notes: tuple[str, ...]


def write_youtube(
    segmentation: Segmentation,
    path: str | Path,
    *,
    fps: float | None = None,
    duration: float | None = None,
) -> Path:
    """Write the lines to paste into a description; joined chapters are logged as warnings.

    Parameters
    ----------
    segmentation : Segmentation
        Events, with times unless `fps` is given.
    path : str or Path
        The file to write.
    fps, duration : float, optional
        See `dayline.album.export.chapters.chapters`.
    """
    path = Path(path)
    result = youtube_text(segmentation, fps=fps, duration=duration)
    for note in result.notes:
        log.warning("%s: %s", path.name, note)
    write_text_whole(path, result.text)
    return path


def youtube_text(
    segmentation: Segmentation, *, fps: float | None = None, duration: float | None = None
) -> YouTubeText:
    """Fit the events to YouTube's rules: from 0:00, at least 3 chapters, each at least 10 s.

    While any chapter is too short, the shortest one joins its shorter neighbour, which keeps its
    title; if neither has a name, the first keeps its number. Fewer than 3 remaining chapters are an
    error.

    Parameters
    ----------
    segmentation : Segmentation
        Events, with times unless `fps` is given.
    fps, duration : float, optional
        See `dayline.album.export.chapters.chapters`.
    """
    marks = _whole_seconds(chapters(segmentation, fps=fps, duration=duration))
    notes = []
    while len(marks) > 1 and min(_length(mark) for mark in marks) < SHORTEST_ON_YOUTUBE:
        notes.append(_join_shortest(marks))
    if len(marks) < FEWEST:
        given = (
            f"{counted(len(segmentation.events), 'event')} over {marks[-1].end:.0f} s would give"
            f" {len(marks)}"
        )
        msg = (
            f"YouTube requires at least {FEWEST} chapters of {SHORTEST_ON_YOUTUBE} s or more, but"
            f" {given}; "
        )
        raise ValueError(msg + "use another chapter format")
    text = "".join(f"{_stamp(mark.start)} {mark.title.translate(BRACKETS)}\n" for mark in marks)
    if len(text) > LONGEST_DESCRIPTION:
        notes.append(
            f"{len(text)} characters; a YouTube description holds at most {LONGEST_DESCRIPTION}"
        )
    return YouTubeText(text, tuple(notes))


def _whole_seconds(marks: tuple[Chapter, ...]) -> list[Chapter]:
    """Round down to whole seconds; the first chapter starts at 0:00."""
    whole = [
        replace(mark, start=float(int(mark.start)), end=float(int(mark.end))) for mark in marks
    ]
    whole[0] = replace(whole[0], start=0.0)
    return whole


def _join_shortest(marks: list[Chapter]) -> str:
    """Join the shortest chapter to its shorter neighbour, in place, and return a note."""
    k = min(range(len(marks)), key=lambda i: _length(marks[i]))
    neighbours = [i for i in (k - 1, k + 1) if 0 <= i < len(marks)]
    other = min(neighbours, key=lambda i: _length(marks[i]))
    first, second = sorted((k, other))
    unnamed = all(UNNAMED.fullmatch(marks[i].title) for i in (first, second))
    title = marks[first if unnamed else other].title
    joined = f'"{marks[other].title}"'
    short = f'"{marks[k].title}" at {_stamp(marks[k].start)} lasts {_length(marks[k]):.0f} s'
    marks[first : second + 1] = [Chapter(marks[first].start, marks[second].end, title)]
    return f"{short}, under {SHORTEST_ON_YOUTUBE} s; joined to {joined}"


def _length(mark: Chapter) -> float:
    return mark.end - mark.start


def _stamp(seconds: float) -> str:
    # 0:40 rather than 0:00:40, and 12:40 rather than 0:12:40.
    return re.sub(r"^0:0?", "", clock_text(seconds, short=True))
