"""Find damage in videos: missing frames, contradictory times."""

from __future__ import annotations

import re
import struct
from bisect import bisect_left, insort
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from dayline.arrays import FloatArray
from dayline.media.film_decode import STREAMED, PacketCount, VideoFile
from dayline.media.frame import VideoFrame
from dayline.media.source import time_text

NEIGHBOURS = 8
"""Frames on each side that a stamp is compared with."""

DEEPEST_REORDERING = 16
"""Largest number of frames by which a codec stores a frame early."""

FAR_STEPS = 10
FAR_LENGTHS = 10


def mended_stamps(
    stamps: Sequence[int], *, ticks_per_second: float, exact_rate: bool
) -> dict[int, int]:
    """Find frames with a wrong time stamp, and the stamp that fits between their neighbours.

    A stamp is wrong if it is out of order and far from what the frames before and after it suggest.
    A pause, a clock reset or an uneven frame rate shifts all following frames and is kept. The
    first and last frame have neighbours on one side only: there a stamp is wrong if it lies seconds
    away from frames at a steady rate, or at many times the length of all others.

    With `exact_rate`, a stamp between the steps of an otherwise exact frame rate is also wrong if a
    frame is missing at a nearby step.

    Parameters
    ----------
    stamps : sequence of int
        Presentation time stamps in file order, all different.
    ticks_per_second : float
        Unit of the stamps.
    exact_rate : bool
        Whether the container has an exact frame rate, as broadcast streams do.

    Returns
    -------
    dict of int to int
        Position in `stamps` and repaired value of each wrong stamp.
    """
    n = len(stamps)
    if n <= 2 * NEIGHBOURS:
        return {}
    values = np.asarray(stamps, dtype=np.float64)
    gaps = np.diff(np.sort(values))
    step = float(np.median(gaps))
    wrong = _out_of_line(values, step)
    wrong |= _lone_ends(values, wrong, step=step, seconds=5 * ticks_per_second)
    # With so many outliers, the stamps are irregular rather than wrong.
    if np.mean(wrong) > 0.1:
        return {}
    between = _between_steps(values, step) & ~wrong if exact_rate else np.zeros(n, dtype=bool)
    return _places(stamps, wrong, between, step)


def gaps_in_rate(stamps: Sequence[int]) -> list[int]:
    """Find the frames that follow missing ones in a video with an exact frame rate; empty for any other video.

    Parameters
    ----------
    stamps : sequence of int
        Time stamps in display order.
    """
    gaps = np.diff(np.asarray(stamps, dtype=np.float64))
    if len(gaps) < 2 * NEIGHBOURS or not _is_exact(steps := gaps / np.median(gaps)):
        return []
    return [int(i) + 1 for i in np.flatnonzero(steps > 1.5)]


def _is_exact(steps: FloatArray) -> bool:
    return bool(np.mean(np.abs(steps - 1) <= 0.05) >= 0.95)


def _out_of_line(values: FloatArray, step: float) -> NDArray[np.bool_]:
    steady = values - step * np.arange(len(values))
    away = np.fmin(
        np.abs(steady - _medians_before(steady)), np.abs(steady - _medians_after(steady))
    )
    # Codecs store some frames early, so a few always deviate.
    usual = float(np.quantile(away, 0.95))
    out_of_order = (values < _medians_before(values)) | (values > _medians_after(values))
    return np.asarray(out_of_order & (away > 2 * usual + 3 * step))


def _lone_ends(
    values: FloatArray, wrong: NDArray[np.bool_], *, step: float, seconds: float
) -> NDArray[np.bool_]:
    """Find a first or last frame far from all others."""
    good = np.flatnonzero(~wrong)
    order = good[np.argsort(values[good], kind="stable")]
    lone = np.zeros(len(values), dtype=bool)
    for end, rest in ((order[-1], order[:-1]), (order[0], order[1:])):
        ranked = values[rest]
        gap = min(abs(values[end] - ranked[0]), abs(values[end] - ranked[-1]))
        is_steady = np.mean(np.abs(np.diff(ranked) - step) <= step / 2) >= 0.9
        far = max(FAR_STEPS * step, seconds)
        is_near_an_end = min(end, len(values) - 1 - end) <= DEEPEST_REORDERING
        lone[end] = is_near_an_end and gap > (
            far if is_steady else max(far, FAR_LENGTHS * (ranked[-1] - ranked[0]))
        )
    return lone


def _between_steps(values: FloatArray, step: float) -> NDArray[np.bool_]:
    """Find frames that are not a whole number of steps from either neighbour, if almost all others are."""
    order = np.argsort(values, kind="stable")
    steps = np.diff(values[order]) / step
    if not _is_exact(steps):
        return np.zeros(len(values), dtype=bool)
    uneven = np.abs(steps - np.round(steps)) > 0.1
    inside = uneven[1:] & uneven[:-1]
    # The first and last frame have one neighbour, which may itself be wrong.
    first, last = uneven[0] and not inside[0], uneven[-1] and not inside[-1]
    found = np.zeros(len(values), dtype=bool)
    found[order] = [first, *inside, last]
    return found


def _medians_before(values: FloatArray) -> FloatArray:
    """Median of the frames before each frame; NaN for the first."""
    windows = np.lib.stride_tricks.sliding_window_view(values, NEIGHBOURS)
    full = np.median(windows[: len(values) - NEIGHBOURS], axis=1)
    head = [np.nan, *(float(np.median(values[:i])) for i in range(1, NEIGHBOURS))]
    return np.concatenate([np.asarray(head), full])


def _medians_after(values: FloatArray) -> FloatArray:
    return _medians_before(values[::-1])[::-1]


def _places(
    stamps: Sequence[int], wrong: NDArray[np.bool_], between: NDArray[np.bool_], step: float
) -> dict[int, int]:
    """Move each wrong frame into a gap between the others, near its position in the file.

    Frames in `between` are moved only if there is such a gap.
    """
    ranked = sorted(stamp for stamp, out in zip(stamps, wrong | between, strict=True) if not out)
    mended = {}
    for i in np.flatnonzero(wrong | between).tolist():
        # Frames already repaired are in `ranked`, so that positions in it and in the file agree.
        nearby = range(
            max(i - DEEPEST_REORDERING, 1), min(i + DEEPEST_REORDERING, len(ranked) - 1) + 1
        )
        gaps = {k: ranked[k] - ranked[k - 1] for k in nearby}
        wide = [
            k for k, gap in gaps.items() if 1.5 * step < gap < (DEEPEST_REORDERING + 0.5) * step
        ]
        if wide:
            k = min(wide, key=lambda k: abs(k - i))
            stamp = ranked[k - 1] + round(gaps[k] / round(gaps[k] / step))
        elif i + DEEPEST_REORDERING >= len(ranked):
            stamp = ranked[-1] + round(step)
        elif i == 0:
            stamp = ranked[0] - round(step)
        else:
            stamp = stamps[i] if between[i] else (ranked[i - 1] + ranked[i]) // 2
        while (at := bisect_left(ranked, stamp)) < len(ranked) and ranked[at] == stamp:
            stamp += 1
        insort(ranked, stamp)
        mended[i] = stamp
    return {i: stamp for i, stamp in mended.items() if stamp != stamps[i]}


MOST_BOXES = 10_000
LARGEST_EDIT_LIST = 2**20
NORMAL_RATE = 1 << 16
UNKNOWN = (2**32 - 1, 2**64 - 1)


@dataclass(frozen=True)
class _Box:
    """Part of a file: its kind and the position of its content."""

    kind: bytes
    start: int
    stop: int


def seconds_in_movie(path: Path, *, track: int) -> float | None:
    """Return the duration of a track in seconds of the movie's clock; None if the file does not give it.

    Parameters
    ----------
    path : Path
        The file.
    track : int
        Number of the track.
    """
    with path.open("rb") as file:
        movie = _find(file, _Box(b"", 0, path.stat().st_size), b"moov")
        head = movie and _find(file, movie, b"mvhd")
        if not movie or not head:
            return None
        ticks_per_second = _clock(file, head)
        for candidate in _boxes(file, movie):
            if candidate.kind == b"trak" and (about := _find(file, candidate, b"tkhd")):
                number, ticks = _track(file, about)
                if number == track:
                    edited = _edited_ticks(file, candidate)
                    ticks = ticks if edited is None else edited
                    return (
                        ticks / ticks_per_second
                        if ticks_per_second and ticks not in UNKNOWN
                        else None
                    )
    return None


def _boxes(file: BinaryIO, outer: _Box) -> Iterator[_Box]:
    at = outer.start
    for _ in range(MOST_BOXES):
        file.seek(at)
        head = file.read(16)
        if at + 8 > outer.stop or len(head) < 8:
            return
        size, kind = struct.unpack_from(">I4s", head)
        start = at + 8
        if size == 1 and len(head) == 16:  # a long box
            size, start = struct.unpack_from(">Q", head, 8)[0], at + 16
        stop = outer.stop if size == 0 else at + size
        if not start <= stop <= outer.stop:
            return
        yield _Box(kind, start, stop)
        at = stop


def _find(file: BinaryIO, outer: _Box, kind: bytes) -> _Box | None:
    return next((box for box in _boxes(file, outer) if box.kind == kind), None)


def _numbers(file: BinaryIO, box: _Box, short: str, long: str) -> tuple[int, ...]:
    """Read the first numbers of a box (`long` is the layout of version 1); empty if the box is truncated."""
    file.seek(box.start)
    data = file.read(min(box.stop - box.start, 64))
    layout = long if data[:1] == b"\x01" else short
    return struct.unpack_from(layout, data) if len(data) >= struct.calcsize(layout) else ()


def _clock(file: BinaryIO, movie_header: _Box) -> int:
    numbers = _numbers(file, movie_header, ">12xI", ">20xI")
    return numbers[0] if numbers else 0


def _track(file: BinaryIO, track_header: _Box) -> tuple[int, int]:
    """Return the number of a track and its duration."""
    numbers = _numbers(file, track_header, ">12xI4xI", ">20xI4xQ")
    return (numbers[0], numbers[1]) if numbers else (0, 0)


def _edited_ticks(file: BinaryIO, track: _Box) -> int | None:
    """Add up the parts of a track that are shown, without the pauses between; None if everything is shown."""
    edits = _find(file, track, b"edts")
    listed = edits and _find(file, edits, b"elst")
    if not listed:
        return None
    file.seek(listed.start)
    data = file.read(min(listed.stop - listed.start, LARGEST_EDIT_LIST))
    if len(data) < 8:
        return None
    layout = struct.Struct(">Qqi" if data[0] == 1 else ">Iii")
    n_edits = min(int.from_bytes(data[4:8]), (len(data) - 8) // layout.size)
    entries: Iterator[tuple[int, int, int]] = layout.iter_unpack(
        data[8 : 8 + n_edits * layout.size]
    )
    # Parts shown in slow motion last longer than their frames.
    return sum(
        ticks for ticks, starts_at, rate in entries if starts_at >= 0 and rate == NORMAL_RATE
    )


SYNC = 0x47
PACKET = 188
# Packet size and number of bytes before the sync byte: plain, with time codes (m2ts), with parity.
LAYOUTS = ((PACKET, 0), (192, 4), (204, 0))
PACKETS_AT_ONCE = 50_000
MOST_PLACES = 1000

Packets = NDArray[np.uint8]


def damaged_places(path: Path, *, pid: int) -> int:
    """Count the damaged places in a transport stream, whose packets have a fixed size, a sync byte and a counter.

    Parameters
    ----------
    path : Path
        The file.
    pid : int
        Identifier of the video packets; of the others, only the sync bytes are checked.

    Returns
    -------
    int
        Number of places where sync bytes are lost, packets are missing or a frame has no start
        code, plus one if the stream ends inside a packet; at most 1,000.
    """
    n_places = 0
    last: int | None = None
    for packets, breaks in _aligned(path):
        pictures = packets[_pids(packets) == pid]
        n_bad, last = _count_bad(pictures, last)
        n_places += n_bad + breaks
        if n_places >= MOST_PLACES:
            return MOST_PLACES
    return n_places


def _aligned(path: Path) -> Iterator[tuple[Packets, bool]]:
    """Yield runs of packets, and whether the stream breaks off after them."""
    with path.open("rb") as file:
        waiting = file.read(PACKETS_AT_ONCE * PACKET)
        size, before_sync = _layout(waiting)
        waiting = waiting[before_sync:]
        at_end = False
        while len(waiting) >= PACKET:
            # The last packet of an m2ts file lacks the bytes that precede the next one.
            whole = len(waiting) // size
            packets = np.frombuffer(waiting, np.uint8, whole * size).reshape(whole, size)
            lost = np.flatnonzero(packets[:, 0] != SYNC)
            n_good = int(lost[0]) if lost.size else whole
            yield packets[:n_good], bool(lost.size)
            waiting = waiting[n_good * size :]
            if lost.size:
                waiting = _from_next_sync(waiting, size)
            elif at_end:
                break
            more = file.read(PACKETS_AT_ONCE * PACKET)
            at_end, waiting = not more, waiting + more
        if len(waiting) not in (0, size - before_sync):
            yield np.empty((0, size), np.uint8), True


def _layout(data: bytes) -> tuple[int, int]:
    """Return the size of the packets and the number of bytes before their sync bytes."""

    def n_marks(layout: tuple[int, int]) -> int:
        size, before_sync = layout
        return data[before_sync : 20 * size : size].count(SYNC)

    return max(LAYOUTS, key=n_marks)


def _from_next_sync(data: bytes, size: int) -> bytes:
    at = data.find(SYNC, 1)
    while at >= 0 and at + size < len(data) and data[at + size] != SYNC:
        at = data.find(SYNC, at + 1)
    return data[at:] if at >= 0 else b""


def _pids(packets: Packets) -> NDArray[np.int64]:
    return (packets[:, 1].astype(np.int64) & 0x1F) << 8 | packets[:, 2]


def _count_bad(packets: Packets, last: int | None) -> tuple[int, int | None]:
    """Count the faults in packets of one stream, and return the counter of the last packet."""
    packets = packets[packets[:, 3] & 0x10 > 0]  # only packets with data are numbered
    if not len(packets):
        return 0, last
    numbers = packets[:, 3].astype(np.int64) & 0x0F
    before = np.concatenate([[numbers[0] - 1 if last is None else last], numbers[:-1]])
    steps = (numbers - before) % 16
    has_field = packets[:, 3] & 0x20 > 0
    announced = has_field & (packets[:, 4] > 0) & (packets[:, 5] & 0x80 > 0)
    missing = (steps > 1) & ~announced  # a packet may be sent twice
    failed = packets[:, 1] & 0x80 > 0
    return int(np.sum(missing | failed | ~_begins_well(packets, has_field))), int(numbers[-1])


def _begins_well(packets: Packets, has_field: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Whether each packet that opens a frame contains a start code; True for all other packets."""
    opens = packets[:, 1] & 0x40 > 0
    at = 4 + np.where(has_field, 1 + packets[:, 4].astype(np.int64), 0)
    inside = at + 3 <= PACKET
    at = np.where(inside, at, 0)
    rows = np.arange(len(packets))
    code = [packets[rows, at + k] == value for k, value in enumerate((0, 0, 1))]
    begins: NDArray[np.bool_] = ~opens | (inside & code[0] & code[1] & code[2])
    return begins


CUT_OFF_SECONDS = 1.0
CUT_OFF_PART = 0.05
# Both clocks of an mp4 file round; edits make the movie shorter than its frames, never longer.
CLOCKS_APART_SECONDS = 0.1
CLOCKS_APART_PART = 0.01
# The index of this container lists every frame.
INDEXED = "mp4"
DURATION_TAG = re.compile(r"(\d{1,6}):(\d{2}):(\d{2}(?:\.\d+)?)", re.ASCII)


def damage_notes(
    video: VideoFile,
    path: Path,
    frames: Sequence[VideoFrame],
    count: PacketCount,
    *,
    start: Fraction,
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
        *(
            _gap_notes(frames, base=base, start=start)
            if video.container.format.name in STREAMED
            else ()
        ),
        *_packet_notes(count),
        *_length_notes(there, _announced_seconds(video, start=start)),
        *_lost_notes(video, count, n_frames=len(frames)),
        *_clock_notes(video, path, there),
        *_stream_notes(video, path),
    )


def _mended_notes(
    frames: Sequence[VideoFrame], *, base: Fraction, start: Fraction
) -> tuple[str, ...]:
    mended = [frame for frame in frames if frame.stamp != frame.shown_at]
    if not mended:
        return ()
    wrong, right = (
        time_text(float(stamp * base - start), clock="media")
        for stamp in (mended[0].stamp, mended[0].shown_at)
    )
    return (
        (
            f"wrong time stamps in the video, repaired from the frames around them: {len(mended)} "
            f"(first {wrong} instead of {right})"
        ),
    )


def _gap_notes(frames: Sequence[VideoFrame], *, base: Fraction, start: Fraction) -> tuple[str, ...]:
    gaps = gaps_in_rate([frame.shown_at for frame in frames])
    if not gaps:
        return ()
    before, after = frames[gaps[0] - 1].shown_at, frames[gaps[0]].shown_at
    first = time_text(float(before * base - start), clock="media")
    return (
        (
            f"gaps in the video, where frames are missing: {len(gaps)} (first after {first}, "
            f"{float((after - before) * base):.3g} s long)"
        ),
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
    return (
        (f"{lost} of {of} frames of the video are not shown: edited out or damaged",)
        if lost
        else ()
    )


def _clock_notes(video: VideoFile, path: Path, there: float) -> tuple[str, ...]:
    """Report if the movie and its frames differ in duration: one of the two clocks is wrong."""
    frames = video.stream.duration
    if INDEXED not in video.container.format.name or not frames:
        return ()
    # If the rate varies, the last frame may be shown after the sum of all durations.
    by_frames = max(float(frames * video.time_base), there)
    by_movie = seconds_in_movie(path, track=video.stream.id)
    if by_movie is None or by_movie - by_frames <= max(
        CLOCKS_APART_SECONDS, CLOCKS_APART_PART * by_movie
    ):
        return ()
    lengths = (time_text(seconds, clock="media") for seconds in (by_movie, by_frames))
    return (
        "the video is damaged: it lasts {} by its own clock and {} by the clock of its frames".format(
            *lengths
        ),
    )


def _stream_notes(video: VideoFile, path: Path) -> tuple[str, ...]:
    if video.container.format.name != "mpegts":
        return ()
    n_places = damaged_places(path, pid=video.stream.id)
    return (f"places where the video is damaged or truncated: {n_places}",) if n_places else ()
