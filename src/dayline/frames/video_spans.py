"""All frames of some seconds of a video."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from dayline.frames.describe import time_text
from dayline.frames.sequence import FrameSequence

__all__ = ["frames_in_spans"]


def frames_in_spans(
    sequence: FrameSequence, spans: Sequence[tuple[float, float]]
) -> tuple[FrameSequence, list[range]]:
    """Return the sequence of all frames of a video that are shown in some spans, and the frames of each span.

    Frames that were not sampled are included.

    Parameters
    ----------
    sequence : FrameSequence
        A video.
    spans : sequence of (float, float)
        First and last second of each span; they may overlap.
    """
    index = sequence.video
    if index is None:
        raise ValueError(f"{sequence.source.name}: not a video")
    shown = [index.between(first, last) for first, last in spans]
    ordered = tuple(sorted({frame for frames in shown for frame in frames}, key=lambda frame: frame.shown_at))
    places = {frame.stamp: i for i, frame in enumerate(ordered)}
    ranges = [range(places[f[0].stamp], places[f[-1].stamp] + 1) if f else range(0) for f in shown]
    times = tuple(index.seconds(frame) for frame in ordered)
    every_frame = replace(
        sequence,
        names=tuple(time_text(seconds, clock="media") for seconds in times),
        times=times,
        order="by presentation time",
        notes=(),
        skipped=(),
        video_frames=ordered,
    )
    return every_frame, ranges
