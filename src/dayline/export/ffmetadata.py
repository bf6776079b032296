"""Chapters in FFmpeg's own text format, for `ffmpeg -i film.mp4 -i chapters.ffmetadata -map_chapters 1`."""

from __future__ import annotations

import re
from pathlib import Path

from dayline.events import Segmentation
from dayline.export.chapters import chapters, milliseconds
from dayline.io.files import write_text_whole

__all__ = ["write_ffmetadata"]


def write_ffmetadata(
    segmentation: Segmentation, path: str | Path, *, fps: float | None = None, duration: float | None = None
) -> Path:
    """Write one chapter per event, in milliseconds.

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
    lines = [";FFMETADATA1"]
    for mark in chapters(segmentation, fps=fps, duration=duration):
        title = re.sub(r"([=;#\\])", r"\\\1", mark.title)
        lines += ["", "[CHAPTER]", "TIMEBASE=1/1000"]
        lines += [f"START={milliseconds(mark.start)}", f"END={milliseconds(mark.end)}", f"title={title}"]
    write_text_whole(path, "\n".join(lines) + "\n")
    return path
