"""An OpenTimelineIO timeline: one clip per event. Needs the extra `otio`."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import quote

from dayline.events import Event, Segmentation
from dayline.export.chapters import chapters, frame_ranges, timeline_rate
from dayline.export.titles import clean_text, context_labels
from dayline.io.files import write_text_whole

__all__ = ["write_otio"]


def write_otio(
    segmentation: Segmentation,
    path: str | Path,
    *,
    fps: float | None = None,
    rate: float | None = None,
    duration: float | None = None,
) -> Path:
    """Write a timeline with one video track and one clip per event.

    Parameters
    ----------
    segmentation : Segmentation
        Events, with times unless `fps` is given.
    path : str or Path
        The file to write.
    fps, rate, duration : float, optional
        See `dayline.export.chapters.chapters` and `timeline_rate` there.
    """
    try:
        import opentimelineio as otio
    except ModuleNotFoundError:
        msg = 'the otio export needs OpenTimelineIO; install it (pip install "dayline[otio]") or use edl'
        raise ValueError(msg) from None
    path = Path(path)
    rate = timeline_rate(fps, rate)
    marks = chapters(segmentation, fps=fps, duration=duration)
    source = clean_text(segmentation.source or "") or "dayline"
    track = otio.schema.Track(name="events", kind=otio.schema.TrackKind.Video)
    letters, ranges = context_labels(segmentation), frame_ranges(marks, rate=rate)
    for event, letter, mark, (start, end) in zip(segmentation.events, letters, marks, ranges, strict=True):
        span = otio.opentime.TimeRange(
            otio.opentime.RationalTime(start, rate), otio.opentime.RationalTime(end - start, rate)
        )
        clip = otio.schema.Clip(name=mark.title, source_range=span, metadata=_about(event, letter))
        if segmentation.clock == "media" and segmentation.source:
            clip.media_reference = otio.schema.ExternalReference(target_url=quote(source))
        track.append(clip)
    timeline = otio.schema.Timeline(name=source, tracks=[track])
    write_text_whole(path, otio.adapters.write_to_string(timeline, "otio_json", indent=1) + "\n")
    return path


def _about(event: Event, letter: str) -> dict[str, Any]:
    about = {
        "start": event.start,
        "stop": event.stop,
        "context": letter or None,
        "confidence": event.confidence,
        "reason": event.reason,
    }
    return {"dayline": {key: value for key, value in about.items() if value is not None}}
