"""Choose which frames of a video to use, and find when each is shown."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import cast

import numpy as np

from dayline.media.film_damage import (
    mended_notes,
    mended_stamps,
    missing_frames,
    missing_notes,
)
from dayline.media.film_decode import STREAMED, Listing, VideoFile, list_packets, opened_video
from dayline.media.frame import Frame, FrameSequence, VideoFrame, VideoIndex, shown_name
from dayline.text import time_text

STEPS = ((60.0, 0.2), (3600.0, 0.5), (100_000.0, 1.0))
"""Length of a video and the time between its frames, both in seconds.

Two frames a second show short events. A clip has few frames, so it gives more; a long film, where
they cost most, gives fewer."""

MOST_FRAMES = 100_000
"""From longer recordings, such as those of surveillance cameras, frames are further apart."""


def read_video(path: str | Path, *, every: float | None = None) -> FrameSequence:
    """Choose which frames of a video to use, and find when each is shown, without decoding.

    The first frame is used, then the first one at or after each multiple of `every` from there,
    each once. Times are the presentation time stamps of the frames, so variable frame rates are
    handled.

    Parameters
    ----------
    path : str or Path
        The video.
    every : float > 0, optional
        Seconds between frames. If not given, 0.5 s up to an hour and 1 s beyond; 0.2 s in clips of
        up to a minute, and more than 1 s if there would be over 100,000 frames.

    Raises
    ------
    ValueError
        If the file cannot be opened as a video, or has no video stream or no time stamps, or is
        shorter than `every`.
    """
    source = Path(path)
    if every is not None and not (math.isfinite(every) and every > 0):
        raise ValueError(f"every={every}: the time between frames must be more than 0 seconds")
    with opened_video(source) as video:
        listing = list_packets(video)
        base = video.time_base
        found = _in_display_order(video, listing)
        if not found:
            raise ValueError(
                f"{shown_name(source)}: no frame has a time stamp; save it again as mp4 or mkv"
            )
        start = _start(video, found, base)
        missing = missing_frames(video, source, found, listing, start=start)
    notes = [*mended_notes(found, base=base, start=start), *missing_notes(missing)]
    if listing.n_unusable and not missing:
        notes.append(f"packets of the video that cannot be used, skipped: {listing.n_unusable}")
    if listing.n_hidden:
        notes.append(f"frames that the edit list of the video hides: {listing.n_hidden}")
    if listing.stopped:
        notes.append(f"the video could not be read to its end ({listing.stopped})")

    seconds = float((found[-1].shown_at - found[0].shown_at) * base)
    if every is not None and every > seconds > 0:
        raise ValueError(
            f"{shown_name(source)}: every={every:g}: the time between frames is longer than the"
            f" video, which lasts {seconds:g} s; choose a shorter one"
        )
    step = default_every(seconds) if every is None else every
    frames = _sampled(found, step=Fraction(str(step)) / base)
    rows = [(f.stamp, f.first_group, f.last_group, f.shown_at) for f in found]
    # In a damaged file a reader may land anywhere: it is read from its start, packet by packet.
    keys = {} if notes else listing.keys
    index = VideoIndex(np.asarray(rows, dtype=np.int64), keys, base, start, missing)
    return FrameSequence(
        source=source,
        kind="video",
        frames=_frames_of(source, index, frames, listing.digest),
        clock="media",
        order=f"by presentation time, one frame every {step:g} s ({len(frames)} of {len(found)})",
        notes=tuple(notes),
        video=index,
    )


def film_digest(path: str | Path) -> str:
    """Identify a film by its packets of pictures: their sizes, and the ends of each.

    Metadata, chapters, sound and the order of the parts of the file do not count, so the digest
    stays when a film is moved, renamed, tagged, or copied into a file with chapters. The digest of
    a frame is this one, a colon, and its time in milliseconds.

    Parameters
    ----------
    path : str or Path
        The video; it is read once, without decoding.
    """
    with opened_video(Path(path)) as video:
        return list_packets(video).digest


def _frames_of(
    source: Path, index: VideoIndex, shown: Sequence[VideoFrame], digest: str
) -> tuple[Frame, ...]:
    times = [index.seconds(frame) for frame in shown]
    return tuple(
        Frame(
            name=time_text(t, clock="media"),
            path=source,
            digest=f"{digest}:{round(1000 * t)}",
            time=t,
            in_video=frame,
        )
        for t, frame in zip(times, shown, strict=True)
    )


def default_every(seconds: float) -> float:
    """Return the time between frames for a video of this length."""
    return next(
        (step for longest, step in STEPS if seconds <= longest),
        float(math.ceil(seconds / MOST_FRAMES)),
    )


def _in_display_order(video: VideoFile, listing: Listing) -> list[VideoFrame]:
    """Repair the time stamps, and find the groups of packets that each frame depends on."""
    mended = mended_stamps(
        list(listing.groups),
        ticks_per_second=float(1 / video.time_base),
        exact_rate=video.container.format.name in STREAMED,
    )
    frames = []
    group_opens: dict[int, int] = {}
    for i, (stamp, group) in enumerate(listing.groups.items()):
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
    """Return the time a player counts from: that of the sound if it precedes the first frame."""
    first = frames[0].shown_at * base
    # PyAV's type hints promise a number, but a container without times has none.
    microseconds = cast("int | None", video.container.start_time)
    if microseconds is None:
        return first
    start = Fraction(microseconds, 1_000_000)
    # The container rounds to microseconds; if it refers to the first frame, or to one with a wrong
    # stamp, use the exact stamp of the first frame.
    meant = [first, *(frame.stamp * base for frame in frames if frame.stamp != frame.shown_at)]
    return first if any(abs(start - stamp) < Fraction(2, 1_000_000) for stamp in meant) else start


def frames_in_spans(
    sequence: FrameSequence, spans: Sequence[tuple[float, float]]
) -> tuple[FrameSequence, list[range]]:
    """Return all frames of a video that are shown in some spans, and which are in each span.

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
    ordered = tuple(
        sorted({frame for frames in shown for frame in frames}, key=lambda frame: frame.shown_at)
    )
    index_of = {frame.stamp: i for i, frame in enumerate(ordered)}
    ranges = [
        range(index_of[f[0].stamp], index_of[f[-1].stamp] + 1) if f else range(0) for f in shown
    ]
    digest = sequence.frames[0].digest.partition(":")[0]
    frames = _frames_of(sequence.source, index, ordered, digest)
    return replace(sequence, frames=frames), ranges
