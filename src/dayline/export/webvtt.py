"""WebVTT chapters, for `<track kind="chapters">` of web players."""

from __future__ import annotations

from pathlib import Path

from dayline.events import Segmentation
from dayline.export.chapters import chapters, milliseconds
from dayline.io.files import write_text_whole
from dayline.text import clock_text

__all__ = ["write_webvtt"]

ESCAPES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})
"""With ">" escaped, no title can hold the arrow that opens a cue."""


def write_webvtt(
    segmentation: Segmentation, path: str | Path, *, fps: float | None = None, duration: float | None = None
) -> Path:
    """Write one cue per event.

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
    blocks = ["WEBVTT"]
    for number, mark in enumerate(chapters(segmentation, fps=fps, duration=duration)):
        start, end = (clock_text(milliseconds(seconds) / 1000, digits=3) for seconds in (mark.start, mark.end))
        times = f"{start} --> {end}"
        blocks.append(f"{number + 1}\n{times}\n{mark.title.translate(ESCAPES)}")
    write_text_whole(path, "\n\n".join(blocks) + "\n")
    return path
