"""The preview that cameras put into RAW files: a JPEG, found without decoding the RAW data."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

from dayline.frames.tiff_tags import Directory, directories, read_at

__all__ = ["RawPreview", "raw_preview"]

JPEG_START, JPEG_LENGTH = 0x0201, 0x0202
STRIP_STARTS, STRIP_LENGTHS, COMPRESSION = 0x0111, 0x0117, 0x0103
JPEG_COMPRESSIONS = (6, 7)
PANASONIC_JPEG = 0x002E
EXIF, GPS = 0x8769, 0x8825

LARGEST_PREVIEW = 100_000_000
MOST_SEGMENTS = 200
MOST_BOXES = 1000

FUJI_MARK = b"FUJIFILMCCD-RAW "
FUJI_JPEG = 84
"""Where offset and length of the JPEG are written, in four bytes each."""

# Names of boxes that have no four letters: camera data and preview of Canon's CR3.
CANON_DATA = bytes.fromhex("85c0b687820f11e08111f4ce462b6a48")
CANON_PREVIEW = bytes.fromhex("eaf42b5e1c984b88b9fbb7dc406e4d16")
# Boxes with a TIFF structure: main tags, EXIF data, GPS data.
CANON_TAGS = {b"CMT1": 0, b"CMT2": EXIF, b"CMT4": GPS}

# Tags that dayline uses: maker, model, orientation, date; times, their parts and time zones, serial number; GPS.
WANTED = {
    0: (0x010F, 0x0110, 0x0112, 0x0132),
    EXIF: (0x9003, 0x9004, 0x9010, 0x9011, 0x9012, 0x9290, 0x9291, 0x9292, 0xA431),
    GPS: (1, 2, 3, 4, 7, 9, 29),
}


@dataclass(frozen=True)
class RawPreview:
    """The preview of a RAW file.

    Attributes
    ----------
    jpeg : bytes
        The largest JPEG in the file; empty if there is none.
    tags : dict of int to dict
        EXIF tags by directory (0, EXIF, GPS); empty if only the JPEG itself contains them.
    """

    jpeg: bytes
    tags: dict[int, dict[int, Any]] = field(default_factory=dict)


def raw_preview(path: Path) -> RawPreview:
    """Find the largest preview in a RAW file, and its EXIF tags.

    Reads TIFF structures (CR2, NEF, ARW, DNG, ORF, RW2, PEF, SRW), Fuji's RAF and Canon's CR3. Only headers and the
    preview are read.

    Parameters
    ----------
    path : Path
        The file; its name does not matter.
    """
    with path.open("rb") as file:
        size = path.stat().st_size
        tags: dict[int, dict[int, Any]] = {}
        best = (0, 0, 0)
        for place, length in _candidates(file, size, tags):
            if 0 < length <= min(LARGEST_PREVIEW, size - place):
                best = max(best, (_jpeg_pixels(file, place, length), place, length))
        n_pixels, place, length = best
        return RawPreview(read_at(file, place, length) if n_pixels else b"", tags)


def _candidates(file: BinaryIO, size: int, tags: dict[int, dict[int, Any]]) -> Iterator[tuple[int, int]]:
    """Yield where JPEGs may lie, and collect EXIF tags on the way."""
    start = read_at(file, 0, 16)
    if start == FUJI_MARK:
        pointers = read_at(file, FUJI_JPEG, 8)
        if len(pointers) == 8:
            place, length = struct.unpack(">II", pointers)
            yield place, length
    elif start[4:8] == b"ftyp":
        yield from _canon_candidates(file, size, tags)
    else:
        for directory in directories(file):
            _collect(directory, tags)
            yield from _in_directory(directory)


def _in_directory(directory: Directory) -> Iterator[tuple[int, int]]:
    place, length = directory.number(JPEG_START), directory.number(JPEG_LENGTH)
    if place is not None and length is not None:
        yield place, length
    starts, lengths = (directory.values.get(tag, ()) for tag in (STRIP_STARTS, STRIP_LENGTHS))
    # Several strips are not one JPEG. The RAW data itself may be a JPEG without loss, which no viewer shows.
    if directory.number(COMPRESSION) in JPEG_COMPRESSIONS and len(starts) == len(lengths) == 1:
        yield starts[0], lengths[0]
    if PANASONIC_JPEG in directory.places:
        yield directory.places[PANASONIC_JPEG]


def _canon_candidates(file: BinaryIO, size: int, tags: dict[int, dict[int, Any]]) -> Iterator[tuple[int, int]]:
    for name, start, stop in _boxes(file, 0, size):
        if name == b"moov":
            for inner, inner_start, inner_stop in _boxes(file, start, stop):
                if inner == CANON_DATA:
                    for box, at, _ in _boxes(file, inner_start, inner_stop):
                        if box in CANON_TAGS:
                            for directory in directories(file, base=at, first_kind=CANON_TAGS[box]):
                                _collect(directory, tags)
        elif name == CANON_PREVIEW:
            # Eight bytes, then a box whose last number before the JPEG is its length.
            for box, at, _ in _boxes(file, start + 8, stop):
                length = read_at(file, at + 12, 4)
                if box == b"PRVW" and len(length) == 4:
                    yield at + 16, struct.unpack(">I", length)[0]


def _boxes(file: BinaryIO, place: int, stop: int) -> Iterator[tuple[bytes, int, int]]:
    """Yield the name of each box of an ISO media file between two places, and where its content starts and stops."""
    for _ in range(MOST_BOXES):
        header = read_at(file, place, 32)
        if place + 8 > stop or len(header) < 8:
            return
        length, name = struct.unpack(">I4s", header[:8])
        content = place + 8
        if length == 1 and len(header) >= 16:
            length, content = struct.unpack(">Q", header[8:16])[0], place + 16
        elif length == 0:
            length = stop - place
        if name == b"uuid":
            name, content = header[content - place : content - place + 16], content + 16
        if length < content - place or place + length > stop:
            return
        yield name, content, place + length
        place += length


def _jpeg_pixels(file: BinaryIO, place: int, length: int) -> int:
    """Return the number of pixels of a JPEG that viewers can show, from its header; 0 if there is none."""
    if read_at(file, place, 2) != b"\xff\xd8":
        return 0
    at = 2
    for _ in range(MOST_SEGMENTS):
        header = read_at(file, place + at, 9)
        if at + 9 > length or len(header) < 9 or header[0] != 0xFF:
            return 0
        marker, segment = header[1], struct.unpack(">H", header[2:4])[0]
        if marker == 0xFF:  # padding
            at += 1
            continue
        if 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
            height, width = struct.unpack(">HH", header[5:9])
            return width * height if marker <= 0xC2 else 0
        at += 2 + segment
    return 0


def _collect(directory: Directory, tags: dict[int, dict[int, Any]]) -> None:
    """Keep the wanted tags of a directory; the first one of each kind counts."""
    wanted = WANTED.get(directory.kind)
    if wanted is None or directory.kind in tags:
        return
    tags[directory.kind] = {tag: directory.values[tag] for tag in wanted if tag in directory.values}
