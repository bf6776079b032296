"""Chapters for players: FFmpeg metadata, WebVTT, YouTube, podcasts and Kodi."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from dayline.album.export.table import event_titles, known_titles, place_name
from dayline.arrays import FloatArray
from dayline.checks import list_frames
from dayline.events import Segmentation
from dayline.text import clock_text, counted

SHORTEST = 0.001
"""Seconds. Files count in milliseconds, and most readers refuse a chapter of length zero."""

WITHOUT_TIMES = "pass fps, the frames per second (dayline export --fps)"
"""The way out for frames without usable times; no other command has this option."""

# With ">" escaped, no title can hold the arrow that opens a cue.
WEBVTT_ESCAPES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})

FEWEST = 3
SHORTEST_ON_YOUTUBE = 10
MOST_NOTES = 3
LONGEST_DESCRIPTION = 5000
UNNAMED = re.compile(r"(Event|Shot) \d+")
# Similar-looking quotation marks: YouTube refuses a description with angle brackets.
YOUTUBE_BRACKETS = str.maketrans("<>", "\u2039\u203a")


@dataclass(frozen=True)
class Chapter:
    """One event on a player's clock: from `start` to `end` in seconds, with its `title`.

    It is numbered if the title is only its number, with its place.
    """

    start: float
    end: float
    title: str
    is_numbered: bool = False

    @property
    def length(self) -> float:
        """Seconds from start to end."""
        return self.end - self.start


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
    if fps is not None:
        if not 1e-6 <= fps <= 1e6:
            raise ValueError(f"fps={fps}; it must be between 1e-6 and 1e6 frames per second")
        starts = [event.start / fps for event in segmentation.events]
        end = segmentation.n_frames / fps
    else:
        times, origin = _player_times(segmentation)
        starts = [max(time - origin, 0.0) for time in segmentation.start_times if time is not None]
        end = float(times[-1]) + (float(np.median(np.diff(times))) if len(times) > 1 else 1.0)
        if segmentation.texts is not None and (last := segmentation.stop_times[-1]) is not None:
            end = max(last - origin, float(times[-1]))  # when the last sentence ends

    for k in range(1, len(starts)):
        # The photos on the two sides of a boundary may have the same time.
        starts[k] = max(starts[k], starts[k - 1] + SHORTEST)
    if duration is not None:
        if starts[-1] >= duration:
            raise ValueError(
                f"the last event starts at {starts[-1]:.3f} s, but the recording ends at"
                f" {duration:.3f} s; use the events of this recording"
            )
        end = duration

    edges = [*starts, max(end, starts[-1] + SHORTEST)]
    names = [place_name(segmentation, event) for event in segmentation.events]
    titles = event_titles(segmentation, names)
    numbered = [not title for title in known_titles(segmentation)]
    return tuple(
        Chapter(a, b, title, is_numbered)
        for (a, b), title, is_numbered in zip(pairwise(edges), titles, numbered, strict=True)
    )


def _player_times(segmentation: Segmentation) -> tuple[FloatArray, float]:
    """Return the times of the frames on a player's clock, and the time that is its zero."""
    if segmentation.all_times is None:
        missing = [k for k, time in enumerate(segmentation.times or ()) if time is None]
        why = f"{list_frames(missing)}: no time is known" if missing else "the frames have no times"
        raise ValueError(f"{why}, which chapters need; {WITHOUT_TIMES}")
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


def milliseconds(seconds: float) -> int:
    """Round up to the millisecond, so that no player shows the frame before."""
    # Times are known to the microsecond.
    return math.ceil(round(seconds * 1000, 3))


def ffmetadata_text(marks: Sequence[Chapter]) -> str:
    """Return the chapters as FFmpeg metadata, in milliseconds."""
    lines = [";FFMETADATA1"]
    for mark in marks:
        title = re.sub(r"([=;#\\])", r"\\\1", mark.title)
        start, end = milliseconds(mark.start), milliseconds(mark.end)
        lines += ["", "[CHAPTER]", "TIMEBASE=1/1000"]
        lines += [f"START={start}", f"END={end}", f"title={title}"]
    return "\n".join(lines) + "\n"


def webvtt_text(marks: Sequence[Chapter]) -> str:
    """Return one cue per chapter."""
    blocks = ["WEBVTT"]
    for number, mark in enumerate(marks, start=1):
        start = clock_text(milliseconds(mark.start) / 1000, digits=3)
        end = clock_text(milliseconds(mark.end) / 1000, digits=3)
        title = mark.title.translate(WEBVTT_ESCAPES)
        blocks.append(f"{number}\n{start} --> {end}\n{title}")
    return "\n\n".join(blocks) + "\n"


def youtube_text(marks: Sequence[Chapter]) -> tuple[str, list[str]]:
    """Fit chapters to YouTube's rules: from 0:00, at least 3 chapters, each at least 10 s.

    While any chapter is too short, the shortest one joins its shorter neighbor, which keeps its
    title, unless only the shortest one has more than a number. Events that are only numbered are
    numbered anew; of two shots, the first keeps its number.
    Fewer than 3 remaining chapters are an error.

    Returns
    -------
    text : str
        The lines.
    notes : list of str
        One for each chapter without a line of its own, or one for all if these are more than 3, and
        one if YouTube refuses the length.
    """
    joined = [
        replace(mark, start=float(int(mark.start)), end=float(int(mark.end))) for mark in marks
    ]
    joined[0] = replace(joined[0], start=0.0)

    notes = []
    while len(joined) > 1 and min(mark.length for mark in joined) < SHORTEST_ON_YOUTUBE:
        notes.append(_join_shortest(joined))
    if len(notes) > MOST_NOTES:
        notes = [
            f"{len(notes)} of {len(marks)} chapters are joined to others; the first: {notes[0]}"
        ]
    if len(joined) < FEWEST:
        raise ValueError(
            f"YouTube requires at least {FEWEST} chapters of {SHORTEST_ON_YOUTUBE} s or more, but"
            f" {counted(len(marks), 'event')} over {joined[-1].end:.0f} s would give"
            f" {len(joined)}; use another chapter format"
        )

    titles = [
        re.sub(r"\d+", str(k), mark.title, count=1) if mark.is_numbered else mark.title
        for k, mark in enumerate(joined, start=1)
    ]
    text = "".join(
        f"{_stamp(mark.start)} {title.translate(YOUTUBE_BRACKETS)}\n"
        for mark, title in zip(joined, titles, strict=True)
    )
    if len(text) > LONGEST_DESCRIPTION:
        notes.append(
            f"{len(text)} characters; a YouTube description holds at most {LONGEST_DESCRIPTION}"
        )
    return text, notes


def podcast_text(marks: Sequence[Chapter]) -> str:
    """Return Podcasting 2.0's JSON chapters, version 1.2: start, end and title of each."""
    listed = [
        {
            "startTime": milliseconds(mark.start) / 1000,
            "endTime": milliseconds(mark.end) / 1000,
            "title": mark.title,
        }
        for mark in marks
    ]
    return json.dumps({"version": "1.2.0", "chapters": listed}, indent=1) + "\n"


def kodi_text(marks: Sequence[Chapter]) -> str:
    """Return scene markers (action 2) for Kodi; a line with ## is a comment.

    Kodi places a marker at the second time of a line and has no titles, so that these are comments.
    It cuts seconds such as 8.04 off to 8.039 in floating point, but not hours, minutes and seconds.
    """
    lines = []
    for mark in marks:
        at = clock_text(milliseconds(mark.start) / 1000, digits=3)
        lines += [f"## {mark.title}", f"{at}\t{at}\t2"]
    return "\n".join(lines) + "\n"


def _join_shortest(marks: list[Chapter]) -> str:
    """Join the shortest chapter to its shorter neighbor, in place, and return a note."""
    k = min(range(len(marks)), key=lambda i: marks[i].length)
    neighbors = [i for i in (k - 1, k + 1) if 0 <= i < len(marks)]
    other = min(neighbors, key=lambda i: marks[i].length)
    note = (
        f'"{marks[k].title}" at {_stamp(marks[k].start)} lasts {marks[k].length:.0f} s, under'
        f' {SHORTEST_ON_YOUTUBE} s; joined to "{marks[other].title}"'
    )

    first, second = sorted((k, other))
    titled = [
        i for i in (other, k) if not marks[i].is_numbered and not UNNAMED.fullmatch(marks[i].title)
    ]
    kept = marks[titled[0] if titled else first]
    marks[first : second + 1] = [replace(kept, start=marks[first].start, end=marks[second].end)]
    return note


def _stamp(seconds: float) -> str:
    # 0:40 rather than 0:00:40, and 12:40 rather than 0:12:40.
    return re.sub(r"^0:0?", "", clock_text(seconds, short=True))
