"""Duration of a track of an mp4 or mov file on the movie's own clock, which FFmpeg does not report.

Frames are timed on another clock, that of the track: if one of the two is damaged, the durations differ.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

__all__ = ["seconds_in_movie"]

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
                    return ticks / ticks_per_second if ticks_per_second and ticks not in UNKNOWN else None
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
    entries: Iterator[tuple[int, int, int]] = layout.iter_unpack(data[8 : 8 + n_edits * layout.size])
    # Parts shown in slow motion last longer than their frames.
    return sum(ticks for ticks, starts_at, rate in entries if starts_at >= 0 and rate == NORMAL_RATE)
