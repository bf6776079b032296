"""Notes on damaged videos: missing frames, contradictory times."""

from __future__ import annotations

import re
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path

from dayline.frames.describe import time_text
from dayline.frames.movie_header import seconds_in_movie
from dayline.frames.stamps import gaps_in_rate
from dayline.frames.transport_stream import damaged_places
from dayline.frames.video_file import STREAMED, PacketCount, VideoFile
from dayline.frames.video_index import VideoFrame

__all__ = ["damage_notes"]

CUT_OFF_SECONDS = 1.0
CUT_OFF_PART = 0.05
# Both clocks of an mp4 file round; edits make the movie shorter than its frames, never longer.
CLOCKS_APART_SECONDS = 0.1
CLOCKS_APART_PART = 0.01
# The index of this container lists every frame.
INDEXED = "mp4"
DURATION_TAG = re.compile(r"(\d{1,6}):(\d{2}):(\d{2}(?:\.\d+)?)", re.ASCII)


def damage_notes(
    video: VideoFile, path: Path, frames: Sequence[VideoFrame], count: PacketCount, *, start: Fraction
) -> tuple[str, ...]:
    """Report what is wrong with a video; empty if it is intact.

    Parameters
    ----------
    video : VideoFile
        The video, still open.
    path : Path
        Its file.
    frames : sequence of VideoFrame
        All its frames, in display order.
    count : PacketCount
        Packets read and skipped while finding the frames.
    start : Fraction
        Time stamp in seconds that times are relative to.
    """
    base = video.time_base
    there = float(frames[-1].shown_at * base - start)
    return (
        *_mended_notes(frames, base=base, start=start),
        *(_gap_notes(frames, base=base, start=start) if video.container.format.name in STREAMED else ()),
        *_packet_notes(count),
        *_length_notes(there, _announced_seconds(video, start=start)),
        *_lost_notes(video, count, n_frames=len(frames)),
        *_clock_notes(video, path, there),
        *_stream_notes(video, path),
    )


def _mended_notes(frames: Sequence[VideoFrame], *, base: Fraction, start: Fraction) -> tuple[str, ...]:
    mended = [frame for frame in frames if frame.stamp != frame.shown_at]
    if not mended:
        return ()
    wrong, right = (
        time_text(float(stamp * base - start), clock="media") for stamp in (mended[0].stamp, mended[0].shown_at)
    )
    return (
        f"wrong time stamps in the video, repaired from the frames around them: {len(mended)} "
        f"(first {wrong} instead of {right})",
    )


def _gap_notes(frames: Sequence[VideoFrame], *, base: Fraction, start: Fraction) -> tuple[str, ...]:
    gaps = gaps_in_rate([frame.shown_at for frame in frames])
    if not gaps:
        return ()
    before, after = frames[gaps[0] - 1].shown_at, frames[gaps[0]].shown_at
    first = time_text(float(before * base - start), clock="media")
    return (
        f"gaps in the video, where frames are missing: {len(gaps)} (first after {first}, "
        f"{float((after - before) * base):.3g} s long)",
    )


def _packet_notes(count: PacketCount) -> tuple[str, ...]:
    notes = []
    if count.n_broken:
        notes.append(f"broken packets in the video, skipped: {count.n_broken}")
    if count.n_without_stamp:
        notes.append(f"packets without a time stamp in the video, skipped: {count.n_without_stamp}")
    if count.stopped:
        notes.append(f"the video could not be read to its end ({count.stopped})")
    return tuple(notes)


def _length_notes(there: float, announced: float | None) -> tuple[str, ...]:
    if not announced or abs(announced - there) <= max(CUT_OFF_SECONDS, CUT_OFF_PART * announced):
        return ()
    ends, length = time_text(there, clock="media"), time_text(announced, clock="media")
    what = "the video is truncated" if there < announced else "times in the video may be wrong"
    return (f"{what}: it declares {length}, its last frame is at {ends}",)


def _announced_seconds(video: VideoFile, *, start: Fraction) -> float | None:
    """Return the duration the file declares, from the start of the recording."""
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
    # Some programs store the end time instead of the duration.
    return end - float(start) if 0 < start < end else end


def _lost_notes(video: VideoFile, count: PacketCount, *, n_frames: int) -> tuple[str, ...]:
    """Report how many frames are not shown: those listed only in the index, and those sharing a time stamp."""
    listed = video.stream.frames if INDEXED in video.container.format.name else 0
    n_whole = count.n_packets - count.n_broken - count.n_without_stamp
    lost = max(listed - count.n_packets, 0) + n_whole - n_frames
    of = max(listed, count.n_packets)
    return (f"{lost} of {of} frames of the video are not shown: edited out or damaged",) if lost else ()


def _clock_notes(video: VideoFile, path: Path, there: float) -> tuple[str, ...]:
    """Report if the movie and its frames differ in duration: one of the two clocks is wrong."""
    frames = video.stream.duration
    if INDEXED not in video.container.format.name or not frames:
        return ()
    # If the rate varies, the last frame may be shown after the sum of all durations.
    by_frames = max(float(frames * video.time_base), there)
    by_movie = seconds_in_movie(path, track=video.stream.id)
    if by_movie is None or by_movie - by_frames <= max(CLOCKS_APART_SECONDS, CLOCKS_APART_PART * by_movie):
        return ()
    lengths = (time_text(seconds, clock="media") for seconds in (by_movie, by_frames))
    return ("the video is damaged: it lasts {} by its own clock and {} by the clock of its frames".format(*lengths),)


def _stream_notes(video: VideoFile, path: Path) -> tuple[str, ...]:
    if video.container.format.name != "mpegts":
        return ()
    n_places = damaged_places(path, pid=video.stream.id)
    return (f"places where the video is damaged or truncated: {n_places}",) if n_places else ()
