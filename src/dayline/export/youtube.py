"""Chapters as text for a YouTube description, within YouTube's rules."""

from __future__ import annotations

import logging
import re
from dataclasses import dataclass, replace
from pathlib import Path

from dayline.events import Segmentation
from dayline.export.chapters import Chapter, chapters
from dayline.io.files import write_text_whole
from dayline.text import clock_text, counted

__all__ = ["YouTubeText", "write_youtube", "youtube_text"]

FEWEST = 3
SHORTEST = 10
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
    segmentation: Segmentation, path: str | Path, *, fps: float | None = None, duration: float | None = None
) -> Path:
    """Write the lines to paste into a description; joined chapters are logged as warnings.

    Parameters
    ----------
    segmentation : Segmentation
        Events, with times unless `fps` is given.
    path : str or Path
        The file to write.
    fps, duration : float, optional
        See `dayline.export.chapters.chapters`.
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

    While any chapter is too short, the shortest one joins its shorter neighbour, which keeps its title; if neither
    has a name, the first keeps its number. Fewer than 3 remaining chapters are an error.

    Parameters
    ----------
    segmentation : Segmentation
        Events, with times unless `fps` is given.
    fps, duration : float, optional
        See `dayline.export.chapters.chapters`.
    """
    marks = _whole_seconds(chapters(segmentation, fps=fps, duration=duration))
    notes = []
    while len(marks) > 1 and min(_length(mark) for mark in marks) < SHORTEST:
        notes.append(_join_shortest(marks))
    if len(marks) < FEWEST:
        given = f"{counted(len(segmentation.events), 'event')} over {marks[-1].end:.0f} s would give {len(marks)}"
        msg = f"YouTube requires at least {FEWEST} chapters of {SHORTEST} s or more, but {given}; "
        raise ValueError(msg + "use another chapter format")
    text = "".join(f"{_stamp(mark.start)} {mark.title.translate(BRACKETS)}\n" for mark in marks)
    if len(text) > LONGEST_DESCRIPTION:
        notes.append(f"{len(text)} characters; a YouTube description holds at most {LONGEST_DESCRIPTION}")
    return YouTubeText(text, tuple(notes))


def _whole_seconds(marks: tuple[Chapter, ...]) -> list[Chapter]:
    """Round down to whole seconds; the first chapter starts at 0:00."""
    whole = [replace(mark, start=float(int(mark.start)), end=float(int(mark.end))) for mark in marks]
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
    return f"{short}, under {SHORTEST} s; joined to {joined}"


def _length(mark: Chapter) -> float:
    return mark.end - mark.start


def _stamp(seconds: float) -> str:
    # 0:40 rather than 0:00:40, and 12:40 rather than 0:12:40.
    return re.sub(r"^0:0?", "", clock_text(seconds, short=True))
