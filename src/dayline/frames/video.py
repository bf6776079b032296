"""Which frames of a video to look at, and when each is shown."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import cast

from dayline.frames.describe import time_text
from dayline.frames.movie_header import seconds_in_movie
from dayline.frames.names import shown_name
from dayline.frames.sequence import FrameSequence, VideoFrame
from dayline.frames.stamps import mended_stamps
from dayline.frames.transport_stream import damaged_places
from dayline.frames.video_file import PacketCount, VideoFile, opened_video, packets_in_groups

__all__ = ["default_every", "read_video"]

STEPS = (0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 15.0, 30.0, 60.0, 120.0, 300.0, 600.0)
MOST_FRAMES = 1000
CUT_OFF_SECONDS = 1.0
CUT_OFF_PART = 0.05
# Both clocks of an mp4 file round; what is cut out of it makes the movie shorter than its frames, never longer.
CLOCKS_APART_SECONDS = 0.1
CLOCKS_APART_PART = 0.01
# Each frame has a stamp of its own, at an exact rate. How long they are, their last stamp tells and nothing else.
STREAMED = ("mpegts", "mpeg")
# The index of these lists every frame.
INDEXED = "mp4"
DURATION_TAG = re.compile(r"(\d{1,6}):(\d{2}):(\d{2}(?:\.\d+)?)", re.ASCII)


def read_video(path: str | Path, *, every: float | None = None) -> FrameSequence:
    """Find which frames of a video to look at, and when each is shown; nothing is decoded.

    The first frame is taken, then the first one at or after each multiple of `every` from there, none
    twice. Times are the frames' own presentation stamps, so a variable frame rate is right.

    Parameters
    ----------
    path : str or Path
        The video.
    every : float > 0, optional
        Seconds between frames. By length when not given: the smallest of 0.2, 0.5, 1, 2, 5, 10, 15,
        30, 60, 120, 300 and 600 s that gives at most 1,000 frames.

    Raises
    ------
    ValueError
        When the file cannot be opened as a video, or has no video stream or no time stamps.
    """
    source = Path(path)
    if every is not None and not (math.isfinite(every) and every > 0):
        raise ValueError(f"every={every}: the time between frames must be more than 0 seconds")
    count = PacketCount()
    with opened_video(source) as video:
        base = video.time_base
        found = _all_frames(video, count)
        if not found:
            raise ValueError(f"{shown_name(source)}: holds no frame with a time stamp; save it anew as mp4 or mkv")
        start = _start(video, found, base)
        announced = _announced_seconds(video, start=start)
        damage = (
            *_lost_notes(video, count, n_frames=len(found)),
            *_clock_notes(video, source),
            *_stream_notes(video, source),
        )
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
        notes=(
            *_mended_notes(found, base=base, start=start),
            *_notes(count, there=float(found[-1].shown_at * base - start), announced=announced),
            *damage,
        ),
        video_frames=frames,
    )


def default_every(seconds: float) -> float:
    """Time between frames for a video of this length, such that there are at most 1,000."""
    return next((step for step in STEPS if seconds / step < MOST_FRAMES), STEPS[-1])


def _all_frames(video: VideoFile, count: PacketCount) -> list[VideoFrame]:
    """List every frame by when it is shown, with the groups of packets that are needed to see it."""
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
        # Frames shown before the key frame of their group lean on the group before it.
        first_group = group if shown_at >= opens else max(group - 1, 0)
        frames.append(VideoFrame(stamp, first_group, group, shown_at))
    return sorted(frames, key=lambda frame: frame.shown_at)


def _sampled(frames: Sequence[VideoFrame], *, step: Fraction) -> tuple[VideoFrame, ...]:
    """Take the first frame at or after each multiple of `step` ticks from the first one."""
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
    """Time at which a player starts to count: of the sound, if that comes before the pictures."""
    first = frames[0].shown_at * base
    # PyAV's types promise a number, but a container without times has none.
    microseconds = cast("int | None", video.container.start_time)
    if microseconds is None:
        return first
    start = Fraction(microseconds, 1_000_000)
    # The container rounds to microseconds; where it means the first picture, or one whose stamp is wrong, take
    # that of the first picture exactly.
    meant = [first, *(frame.stamp * base for frame in frames if frame.stamp != frame.shown_at)]
    return first if any(abs(start - stamp) < Fraction(2, 1_000_000) for stamp in meant) else start


def _announced_seconds(video: VideoFile, *, start: Fraction) -> float | None:
    """Length that the file says it has, from the start of the recording."""
    if video.container.format.name in STREAMED:
        return None
    stream = video.stream
    if stream.duration is not None and stream.time_base is not None:
        return float(stream.duration * stream.time_base)
    tag = DURATION_TAG.match(stream.metadata.get("DURATION", ""))
    if tag is not None:
        end = 3600 * int(tag[1]) + 60 * int(tag[2]) + float(tag[3])
    elif video.container.duration is not None:
        end = video.container.duration / 1_000_000
    else:
        return None
    # Some programs give the time of the end in place of the length.
    return end - float(start) if 0 < start < end else end


def _mended_notes(frames: Sequence[VideoFrame], *, base: Fraction, start: Fraction) -> tuple[str, ...]:
    mended = [frame for frame in frames if frame.stamp != frame.shown_at]
    if not mended:
        return ()
    wrong, right = (
        time_text(float(stamp * base - start), clock="media") for stamp in (mended[0].stamp, mended[0].shown_at)
    )
    return (
        f"wrong time stamps in the video, mended after the frames around them: {len(mended)} "
        f"(first {wrong} in place of {right})",
    )


def _lost_notes(video: VideoFile, count: PacketCount, *, n_frames: int) -> tuple[str, ...]:
    """Say how many frames are not shown: those that only an index lists, and those that share a time stamp."""
    listed = video.stream.frames if INDEXED in video.container.format.name else 0
    n_whole = count.n_packets - count.n_broken - count.n_without_stamp
    lost = max(listed - count.n_packets, 0) + n_whole - n_frames
    of = max(listed, count.n_packets)
    return (f"{lost} of {of} frames of the video are not shown: cut out of it, or damaged",) if lost else ()


def _clock_notes(video: VideoFile, path: Path) -> tuple[str, ...]:
    """Say that a movie and the frames in it are not equally long: one of the two clocks is wrong."""
    frames = video.stream.duration
    if INDEXED not in video.container.format.name or not frames:
        return ()
    by_frames, by_movie = float(frames * video.time_base), seconds_in_movie(path, track=video.stream.id)
    if by_movie is None or by_movie - by_frames <= max(CLOCKS_APART_SECONDS, CLOCKS_APART_PART * by_movie):
        return ()
    lengths = (time_text(seconds, clock="media") for seconds in (by_movie, by_frames))
    return ("the video is damaged: it lasts {} by its own clock and {} by that of its frames".format(*lengths),)


def _stream_notes(video: VideoFile, path: Path) -> tuple[str, ...]:
    if video.container.format.name != "mpegts":
        return ()
    n_places = damaged_places(path, pid=video.stream.id)
    return (f"the video is damaged or cut off at {n_places} places",) if n_places else ()


def _notes(count: PacketCount, *, there: float, announced: float | None) -> tuple[str, ...]:
    notes = []
    if count.n_broken:
        notes.append(f"broken packets in the video, skipped: {count.n_broken}")
    if count.n_without_stamp:
        notes.append(f"packets without a time stamp in the video, skipped: {count.n_without_stamp}")
    if announced:
        notes.extend(_length_notes(there, announced))
    if count.stopped:
        notes.append(f"the video could not be read to its end ({count.stopped})")
    return tuple(notes)


def _length_notes(there: float, announced: float) -> tuple[str, ...]:
    if abs(announced - there) <= max(CUT_OFF_SECONDS, CUT_OFF_PART * announced):
        return ()
    ends, length = time_text(there, clock="media"), time_text(announced, clock="media")
    what = "the video is cut off" if there < announced else "times in the video may be wrong"
    return (f"{what}: it announces {length}, its last frame is at {ends}",)
