"""Find missing frames and wrong time stamps in a video, from its packets alone."""

from __future__ import annotations

import math
import struct
from bisect import bisect_left, insort
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from dayline.arrays import FloatArray
from dayline.media.film_decode import LEAST_PACKET, STREAMED, Listing, VideoFile
from dayline.media.frame import MissingFrames, VideoFrame
from dayline.text import time_text

LONG_GAP = 1.5
"""A gap of so many usual ones is damage if the file has bytes there that belong to no frame."""

FAR_GAP = 5.0
"""A gap of so many usual ones is damage even without these bytes, if the file is cut short."""

LEAST_LOST = 0.05
"""Share of the bytes that the missing frames would have, on average, which must be there."""

LEAST_BYTES = {"asf": 16_384, "ogg": 65_536}
"""Bytes that may lie between two frames of a whole file; 256 if it has no pages of a fixed size. An
ASF file says how long its packets are."""

EMPTY_CHUNK = 8
"""Bytes of a frame of an AVI file that shows the one before it again."""

MOST_PAUSES = 0.05
"""Largest share of pauses among frames at a steady rate."""

EARLY_SECONDS, EARLY_SHARE = 1.0, 0.05
"""A video ends early if it ends before its declared length by more than both."""

DEEPEST_REORDERING = 16
"""Largest number of frames by which a codec stores a frame early."""


def missing_frames(
    video: VideoFile, path: Path, frames: Sequence[VideoFrame], listing: Listing, *, start: Fraction
) -> tuple[MissingFrames, ...]:
    """Find where a video lost frames: in gaps of its time stamps, and at an end that comes early.

    A gap alone is no damage: a recording of a screen pauses while nothing moves. But the packets of
    a whole file lie close together, and where frames were lost there are bytes that belong to no
    packet, or the file is shorter than it declares. Streams for broadcasting have a steady rate, so
    that their gaps are enough.

    Parameters
    ----------
    video : VideoFile
        The video, still open.
    path : Path
        Its file.
    frames : sequence of VideoFrame
        All its frames, in display order.
    listing : Listing
        Its packets.
    start : Fraction
        Time stamp in seconds that times are relative to.
    """
    name = video.container.format.name
    times = np.asarray([float(frame.shown_at * video.time_base - start) for frame in frames])
    gaps = np.diff(times)
    step = float(np.median(gaps)) if len(gaps) else 1 / float(video.stream.average_rate or 25)
    size, declared = path.stat().st_size, declared_bytes(path, name)
    usual, least = listing.n_bytes / len(frames), _least_bytes(path, name)

    is_steady = np.count_nonzero(gaps > LONG_GAP * step) <= MOST_PAUSES * len(gaps)
    is_fragmented = "mp4" in name and not video.stream.frames
    n_missing = np.round(gaps / step) - 1
    lost = np.asarray([listing.lost.get(frame.stamp, 0) for frame in frames], dtype=np.float64)
    if name == "avi":
        n_empty = np.diff([frame.stamp for frame in frames]) - 1
        lost[1:] = np.maximum(lost[1:] - EMPTY_CHUNK * n_empty, 0)
    if name in STREAMED:
        n_steady = np.count_nonzero(np.abs(gaps / step - 1) <= 0.05)
        damaged = np.full(len(gaps), n_steady >= 0.95 * len(gaps))
    else:
        # The stamps of an AVI file count the frames that are left, and have gaps for others.
        is_short = size < declared and name != "avi"
        damaged = (gaps > FAR_GAP * step) & is_short
        if "matroska" in name:
            # The last frame of a file need not be the last that is shown.
            damaged[-DEEPEST_REORDERING:] |= is_short and is_steady
        if is_fragmented:
            # The packets of several streams lie in any order, so all bytes together must tell.
            more = _media_bytes(path) - listing.n_bytes_of_all
            damaged |= (gaps > FAR_GAP * step) & (more > np.maximum(n_missing * usual / 2, least))
        for i in np.flatnonzero(lost > least).tolist():
            # Codecs store frames out of order, so the bytes may lie a few frames beside the gap.
            near = max(i - 1 - DEEPEST_REORDERING, 0)
            k = near + int(np.argmax(gaps[near : i + DEEPEST_REORDERING]))
            damaged[k] |= lost[i] > LEAST_LOST * n_missing[k] * usual
    found = [
        MissingFrames(float(times[i]), float(times[i + 1]), int(n_missing[i]))
        for i in np.flatnonzero(damaged & (gaps > LONG_GAP * step))
    ]

    is_cut = size < declared
    if name not in STREAMED:
        # An AVI file counts its empty chunks, and so do the stamps of its frames.
        n_there = listing.end if name == "avi" else listing.n_packets
        is_cut |= listing.ends_broken or video.stream.frames > n_there
        is_cut |= listing.lost_at_end > max(LEAST_LOST * listing.n_bytes, least)
    length, ends = _declared_seconds(video, listing, start=start)
    last = float(times[-1])
    if is_fragmented and video.stream.duration is not None:
        # The last fragment may have a table without its pictures.
        is_cut |= float(video.stream.duration * video.time_base) - ends > LONG_GAP * step
    if math.isinf(length):
        # What a shorter file lacks may be what the gaps lack; a stream declares no size.
        if is_cut and (name in STREAMED or not found):
            found.append(MissingFrames(last, length, 0))
        return _joined(found, near=DEEPEST_REORDERING * step)

    at = int(np.argmax(lost))
    shortest = max(EARLY_SECONDS, EARLY_SHARE * length)
    if is_cut:
        shortest = LONG_GAP * step
    # Of frames at a steady rate, a single one is missed, unless a file does not say how long the
    # last one is (ASF), or counts wrongly, as some whole AVI files do.
    has_bytes = bool(at) and lost[at] > LEAST_PACKET
    is_sure = (size < declared and name != "asf") or (name == "avi" and is_cut and has_bytes)
    if is_sure and is_steady:
        shortest = step / 2
    if length - ends > shortest:
        n = max(round((length - last) / step) - 1, 0)
        # The stamps of an AVI file count the frames that are left, so that its gaps close.
        if name == "avi" and has_bytes:
            found.append(MissingFrames(float(times[at - 1]), float(times[at]), n))
        else:
            found.append(MissingFrames(last, length, n))
    return _joined(found, near=DEEPEST_REORDERING * step)


def _joined(found: Sequence[MissingFrames], *, near: float) -> tuple[MissingFrames, ...]:
    """Join spans that a few frames lie between, which survived the same damage."""
    joined: list[MissingFrames] = []
    for one in found:
        if joined and one.first - joined[-1].last <= near:
            before = joined.pop()
            n_frames = before.n_frames + one.n_frames
            joined.append(MissingFrames(before.first, one.last, n_frames))
        else:
            joined.append(one)
    return tuple(joined)


def _declared_seconds(
    video: VideoFile, listing: Listing, *, start: Fraction
) -> tuple[float, float]:
    """Return the length that a video declares, infinite if none, and where what it declares ends.

    Both are in seconds from the start; the length of a container is also that of its sound.
    """
    stream, container = video.stream, video.container
    name = container.format.name
    ends = float(listing.end * video.time_base - start)
    if name == "avi":  # FFmpeg limits its length by the size of the file
        return float(stream.frames * video.time_base), ends
    if "mp4" in name and stream.frames and stream.duration is not None:
        return float(stream.duration * video.time_base), ends

    # The length of a movie in fragments is that of the fragments that are left.
    if name in STREAMED or "mp4" in name or container.duration is None:
        return math.inf, ends
    length, ends = container.duration / 1_000_000, listing.end_of_all - float(start)
    # Some programs store the end time instead of the length.
    return length - float(start) if 0 < start < length else length, ends


MOST_BOXES = 10_000
MATROSKA_SEGMENT = bytes.fromhex("18538067")
ASF_PROPERTIES = bytes.fromhex("a1dcab8c47a9cf118ee400c00c205365")


def _least_bytes(path: Path, container: str) -> int:
    """Return how many bytes may lie between two frames of a whole file."""
    least = LEAST_BYTES.get(container, 256)
    if container == "asf":
        with path.open("rb") as file:
            head = file.read(65_536)
        at = head.find(ASF_PROPERTIES)
        longest = int.from_bytes(head[at + 96 : at + 100], "little") if at >= 0 else 0
        least = longest or least
    return least


def declared_bytes(path: Path, container: str) -> int:
    """Return how long a file should be by its header; 0 if it does not say.

    Parameters
    ----------
    path : Path
        The file.
    container : str
        FFmpeg's name of its format.
    """
    size = path.stat().st_size
    with path.open("rb") as file:
        head = file.read(65_536)
        if "mp4" in container:
            # Boxes one after another: a length of four bytes, or of eight after the name.
            at = 0
            for _ in range(MOST_BOXES):
                file.seek(at)
                length, name, long = struct.unpack(">I4sQ", file.read(16).ljust(16, b"\0"))
                if length == 0:
                    break
                if not name.isalnum():
                    return size + 1
                at += long if length == 1 else max(length, 8)
            return at

    at = head.find(MATROSKA_SEGMENT)
    if "matroska" in container and 0 <= at < len(head) - 12:
        # The leading zeros of a number say how many bytes it has; all ones stand for unknown.
        width = 9 - head[at + 4].bit_length()
        number = int.from_bytes(head[at + 4 : at + 4 + width]) & ~(1 << 7 * width)
        return 0 if width > 8 or number == (1 << 7 * width) - 1 else at + 4 + width + number

    if container == "avi":
        # The first part of several, if there are; unknown while recording.
        length = int.from_bytes(head[4:8], "little")
        return 0 if length >= 2**31 - 1 else length + 8

    at = head.find(ASF_PROPERTIES)
    if container == "asf" and 0 <= at < len(head) - 48:
        return int.from_bytes(head[at + 40 : at + 48], "little")

    if container == "mpegts" and all(size % length for length in (188, 192, 204)):
        return size + 1  # it ends after a whole packet
    return 0


def _media_bytes(path: Path) -> int:
    """Return how many bytes of packets the boxes of a movie have room for."""
    total, at, size = 0, 0, path.stat().st_size
    with path.open("rb") as file:
        for _ in range(MOST_BOXES):
            file.seek(at)
            length, name, long = struct.unpack(">I4sQ", file.read(16).ljust(16, b"\0"))
            head = 16 if length == 1 else 8
            length = long if length == 1 else length
            if length < head or at + length > size:
                break
            total += length - head if name == b"mdat" else 0
            at += length
    return total


def missing_notes(missing: Sequence[MissingFrames]) -> tuple[str, ...]:
    """Say in one note where frames are missing."""
    if not missing:
        return ()
    first, last = (
        "its end" if math.isinf(t) else time_text(t, clock="media")
        for t in (missing[0].first, missing[0].last)
    )
    n = sum(one.n_frames for one in missing)
    number = f"about {n}, " if n else ""
    where = "" if len(missing) == 1 else f"at {len(missing)} points, first "
    return (f"missing frames in the video: {number}{where}from {first} to {last}",)


def mended_notes(
    frames: Sequence[VideoFrame], *, base: Fraction, start: Fraction
) -> tuple[str, ...]:
    """Say which time stamps were wrong."""
    mended = [frame for frame in frames if frame.stamp != frame.shown_at]
    if not mended:
        return ()
    wrong, right = (
        time_text(float(stamp * base - start), clock="media")
        for stamp in (mended[0].stamp, mended[0].shown_at)
    )
    return (
        f"wrong time stamps in the video, repaired from the frames around them: {len(mended)} "
        f"(first {wrong} instead of {right})",
    )


NEIGHBORS = 8
"""Frames on each side that a stamp is compared with."""

FAR_STEPS = 10
FAR_LENGTHS = 10


def mended_stamps(
    stamps: Sequence[int], *, ticks_per_second: float, exact_rate: bool
) -> dict[int, int]:
    """Find frames with a wrong time stamp, and the stamp that fits between their neighbors.

    A stamp is wrong if it is out of order and far from what the frames before and after it suggest.
    A pause, a clock reset or an uneven frame rate shifts all following frames and is kept. The
    first and last frame have neighbors on one side only: there a stamp is wrong if it lies seconds
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
    if n <= 2 * NEIGHBORS:
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
    return _repaired(stamps, wrong, between, step)


def _out_of_line(values: FloatArray, step: float) -> NDArray[np.bool_]:
    steady = values - step * np.arange(len(values))
    before, after = _medians_around(steady)
    away = np.fmin(np.abs(steady - before), np.abs(steady - after))
    # Codecs store some frames early, so a few always deviate.
    usual = float(np.quantile(away, 0.95))
    before, after = _medians_around(values)
    out_of_order = (values < before) | (values > after)
    return np.asarray(out_of_order & (away > 2 * usual + 3 * step))


def _medians_around(values: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Medians of the frames before and after each frame; NaN where there are none."""
    medians = []
    for one in (values, values[::-1]):
        windows = np.lib.stride_tricks.sliding_window_view(one, NEIGHBORS)
        head = [np.nan, *(float(np.median(one[:i])) for i in range(1, NEIGHBORS))]
        medians.append(np.concatenate([head, np.median(windows[: len(one) - NEIGHBORS], axis=1)]))
    return medians[0], medians[1][::-1]


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
    """Find frames between two steps of a rate that almost all others keep."""
    order = np.argsort(values, kind="stable")
    steps = np.diff(values[order]) / step
    if np.mean(np.abs(steps - 1) <= 0.05) < 0.95:
        return np.zeros(len(values), dtype=bool)
    uneven = np.abs(steps - np.round(steps)) > 0.1
    inside = uneven[1:] & uneven[:-1]
    # The first and last frame have one neighbor, which may itself be wrong.
    first, last = uneven[0] and not inside[0], uneven[-1] and not inside[-1]
    found = np.zeros(len(values), dtype=bool)
    found[order] = [first, *inside, last]
    return found


def _repaired(
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
