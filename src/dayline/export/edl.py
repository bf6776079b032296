"""An edit decision list (CMX 3600), for video editors: one cut per event."""

from __future__ import annotations

from pathlib import Path

from dayline.events import Segmentation
from dayline.export.chapters import chapters, frame_ranges, timeline_rate
from dayline.export.titles import clean_text
from dayline.io.files import write_text_whole
from dayline.text import clock_text

__all__ = ["write_edl"]

MOST_EVENTS = 999
HOURS_OF_A_TIMECODE = 24


def write_edl(
    segmentation: Segmentation,
    path: str | Path,
    *,
    fps: float | None = None,
    rate: float | None = None,
    duration: float | None = None,
) -> Path:
    """Write one cut per event in non-drop timecode; source and record times are the same.

    Parameters
    ----------
    segmentation : Segmentation
        Events, with times unless `fps` is given. At most 999, within 24 hours.
    path : str or Path
        The file to write.
    fps, rate, duration : float, optional
        See `dayline.export.chapters.chapters` and `timeline_rate` there.
    """
    path = Path(path)
    rate = timeline_rate(fps, rate)
    marks = chapters(segmentation, fps=fps, duration=duration)
    ranges = frame_ranges(marks, rate=rate)
    if len(marks) > MOST_EVENTS:
        raise ValueError(f"an EDL holds at most {MOST_EVENTS} events, not {len(marks)}; use the otio export")
    if ranges[-1][1] >= HOURS_OF_A_TIMECODE * 3600 * round(rate):
        raise ValueError(
            f"an EDL covers at most {HOURS_OF_A_TIMECODE} hours, and these events last longer; use the otio export"
        )
    source = clean_text(segmentation.source or "") or "dayline"
    lines = [f"TITLE: {source}", "FCM: NON-DROP FRAME", ""]
    for number, (mark, (start, end)) in enumerate(zip(marks, ranges, strict=True), start=1):
        span = f"{_timecode(start, rate)} {_timecode(end, rate)}"
        lines += [f"{number:03d}  AX       V     C        {span} {span}", f"* FROM CLIP NAME: {mark.title}"]
    write_text_whole(path, "\n".join(lines) + "\n")
    return path


def _timecode(frame: int, rate: float) -> str:
    """Count frames at the nominal rate, as non-drop timecode does (30 for 29.97)."""
    seconds, frames = divmod(frame, round(rate))
    return f"{clock_text(seconds)}:{frames:02d}"
