"""Choose which frames of a video to use, and find when each is shown."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import cast

from dayline.frames.describe import time_text
from dayline.frames.names import shown_name
from dayline.frames.sequence import FrameSequence, VideoFrame
from dayline.frames.stamps import mended_stamps
from dayline.frames.video_file import STREAMED, PacketCount, VideoFile, opened_video, packets_in_groups
from dayline.frames.video_notes import damage_notes

__all__ = ["default_every", "read_video"]

STEPS = (0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 15.0, 30.0, 60.0, 120.0, 300.0, 600.0)
MOST_FRAMES = 1000


def read_video(path: str | Path, *, every: float | None = None) -> FrameSequence:
    """Choose which frames of a video to use, and find when each is shown, without decoding.

    The first frame is used, then the first one at or after each multiple of `every` from there, each
    once. Times are the presentation time stamps of the frames, so variable frame rates are handled.

    Parameters
    ----------
    path : str or Path
        The video.
    every : float > 0, optional
        Seconds between frames. If not given, the smallest of 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120,
        300 and 600 s that gives at most 1,000 frames.

    Raises
    ------
    ValueError
        If the file cannot be opened as a video, or has no video stream or no time stamps.
    """
    source = Path(path)
    if every is not None and not (math.isfinite(every) and every > 0):
        raise ValueError(f"every={every}: the time between frames must be more than 0 seconds")
    count = PacketCount()
    with opened_video(source) as video:
        base = video.time_base
        found = _all_frames(video, count)
        if not found:
            raise ValueError(f"{shown_name(source)}: no frame has a time stamp; save it again as mp4 or mkv")
        start = _start(video, found, base)
        notes = damage_notes(video, source, found, count, start=start)
    step = every if every is not None else default_every(float((found[-1].shown_at - found[0].shown_at) * base))
    frames = _sampled(found, step=Fraction(str(step)) / base)
    times = tuple(round(float(frame.shown_at * base - start), 6) for frame in frames)
    return FrameSequence(
        source=source,
        kind="video",
        names=tuple(time_text(t, clock="media") for t in times),
        times=times,
        clock="media",
        order=f"by presentation time, one frame every {step:g} s ({len(frames)} of {len(found)})",
        notes=notes,
        video_frames=frames,
    )


def default_every(seconds: float) -> float:
    """Return the time between frames that gives at most 1,000 frames for a video of this length."""
    return next((step for step in STEPS if seconds / step < MOST_FRAMES), STEPS[-1])


def _all_frames(video: VideoFile, count: PacketCount) -> list[VideoFrame]:
    """List all frames in display order, with the groups of packets needed to decode each."""
    groups: dict[int, int] = {}
    for group, packet in packets_in_groups(video, count):
        if not packet.is_discard and packet.pts is not None:
            groups.setdefault(packet.pts, group)
    exact = video.container.format.name in STREAMED
    mended = mended_stamps(list(groups), ticks_per_second=float(1 / video.time_base), exact_rate=exact)
    frames = []
    group_opens: dict[int, int] = {}
    for i, (stamp, group) in enumerate(groups.items()):
        shown_at = mended.get(i, stamp)
        opens = group_opens.setdefault(group, shown_at)
        # Frames shown before the key frame of their group also depend on the previous group.
        first_group = group if shown_at >= opens else max(group - 1, 0)
        frames.append(VideoFrame(stamp, first_group, group, shown_at))
    return sorted(frames, key=lambda frame: frame.shown_at)


def _sampled(frames: Sequence[VideoFrame], *, step: Fraction) -> tuple[VideoFrame, ...]:
    """Return the first frame at or after each multiple of `step` ticks from the first frame."""
    first = frames[0].shown_at
    taken = []
    due = 0
    for frame in frames:
        since = frame.shown_at - first
        if since >= due * step:
            taken.append(frame)
            due = math.floor(since / step) + 1
    return tuple(taken)


def _start(video: VideoFile, frames: Sequence[VideoFrame], base: Fraction) -> Fraction:
    """Return the time a player counts from: the start of the sound if it precedes the first frame."""
    first = frames[0].shown_at * base
    # PyAV's type hints promise a number, but a container without times has none.
    microseconds = cast("int | None", video.container.start_time)
    if microseconds is None:
        return first
    start = Fraction(microseconds, 1_000_000)
    # The container rounds to microseconds; if it refers to the first frame, or to one with a wrong stamp, use the
    # exact stamp of the first frame.
    meant = [first, *(frame.stamp * base for frame in frames if frame.stamp != frame.shown_at)]
    return first if any(abs(start - stamp) < Fraction(2, 1_000_000) for stamp in meant) else start
