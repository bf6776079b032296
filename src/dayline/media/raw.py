"""Open RAW files of cameras: their preview, or the developed picture if they have none."""

from __future__ import annotations

import io
import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

from PIL import Image
from PIL.TiffImagePlugin import IFDRational

MOST_TAGS = 2000
MOST_DIRECTORIES = 60
MOST_VALUES = 256
"""Longer values, such as notes of the maker, are not read."""

# Name and size of each type of value: bytes, text, numbers of 2 and 4 bytes, fractions,
# directories.
TYPES = {1: "B", 2: "s", 3: "H", 4: "I", 5: "II", 7: "s", 9: "i", 10: "ii", 13: "I"}
SUB_DIRECTORIES = (0x014A, 0x8769, 0x8825)
"""Further images, EXIF data and GPS data."""

# Of TIFF itself, and of Olympus and Panasonic, which differ in nothing else.
VERSIONS = (42, 0x4F52, 0x5352, 0x55)


@dataclass(frozen=True)
class Directory:
    """One directory of tags.

    Attributes
    ----------
    kind : int
        0 for those in the main chain, else the tag that points to it.
    values : dict of int to tuple
        Numbers (fractions as pairs), or a tuple of one bytes object, of each tag with few values.
    places : dict of int to (int, int)
        Where the value of each tag lies, and how many bytes it has.
    """

    kind: int
    values: dict[int, tuple[Any, ...]]
    places: dict[int, tuple[int, int]]

    def number(self, tag: int) -> int | None:
        """Return the first value of a tag if it is a whole number."""
        values = self.values.get(tag, ())
        return values[0] if values and isinstance(values[0], int) else None


def directories(file: BinaryIO, *, base: int = 0, first_kind: int = 0) -> Iterator[Directory]:
    """Yield the directories of a TIFF structure, each once; nothing if it is not one.

    Parameters
    ----------
    file : binary file
        The file.
    base : int
        Where the structure begins; offsets count from there.
    first_kind : int
        `Directory.kind` of the main chain.
    """
    header = read_at(file, base, 8)
    order = {b"II": "<", b"MM": ">"}.get(header[:2])
    if (
        len(header) < 8
        or order is None
        or struct.unpack(f"{order}H", header[2:4])[0] not in VERSIONS
    ):
        return
    waiting = [(first_kind, struct.unpack(f"{order}I", header[4:])[0])]
    seen: set[int] = set()
    while waiting and len(seen) < MOST_DIRECTORIES:
        kind, offset = waiting.pop(0)
        if not offset or offset in seen:
            continue
        seen.add(offset)
        found = _directory(file, base, offset, order, kind)
        if found is None:
            continue
        directory, following = found
        yield directory
        waiting += [(kind, following)] if kind == first_kind else []
        for tag in SUB_DIRECTORIES:
            waiting += [
                (tag, o)
                for o in directory.values.get(tag, ())[:MOST_DIRECTORIES]
                if isinstance(o, int)
            ]


def _directory(
    file: BinaryIO, base: int, offset: int, order: str, kind: int
) -> tuple[Directory, int] | None:
    """Read one directory, and the offset of the one that follows; None if there is none."""
    head = read_at(file, base + offset, 2)
    count = struct.unpack(f"{order}H", head)[0] if len(head) == 2 else 0
    if not 0 < count <= MOST_TAGS:
        return None
    data = read_at(file, base + offset + 2, 12 * count + 4)
    values: dict[int, tuple[Any, ...]] = {}
    places: dict[int, tuple[int, int]] = {}
    for at in range(0, min(len(data) // 12, count) * 12, 12):
        tag, type_number, n, inline = struct.unpack(f"{order}HHI4s", data[at : at + 12])
        unit = TYPES.get(type_number)
        if unit is None:
            continue
        size = n * struct.calcsize(f"{order}{unit}")
        place = (
            base + offset + 2 + at + 8
            if size <= 4
            else base + struct.unpack(f"{order}I", inline)[0]
        )
        places[tag] = (place, size)
        if (
            0 < n <= MOST_VALUES
            and len(content := inline[:size] if size <= 4 else read_at(file, place, size)) == size
        ):
            values[tag] = _values(content, unit, order)
    following = (
        struct.unpack(f"{order}I", data[12 * count :])[0] if len(data) == 12 * count + 4 else 0
    )
    return Directory(kind, values, places), following


def _values(content: bytes, unit: str, order: str) -> tuple[Any, ...]:
    if unit == "s":
        return (content,)
    rows = struct.iter_unpack(f"{order}{unit}", content)
    return tuple(row if len(row) > 1 else row[0] for row in rows)


def read_at(file: BinaryIO, place: int, n_bytes: int) -> bytes:
    """Read some bytes of a file; fewer if it ends before."""
    file.seek(place)
    return file.read(n_bytes)


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

# Tags that dayline uses: maker, model, orientation, date; times, their parts and time zones, serial
# number; GPS.
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

    Reads TIFF structures (CR2, NEF, ARW, DNG, ORF, RW2, PEF, SRW), Fuji's RAF and Canon's CR3. Only
    headers and the preview are read.

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


def _candidates(
    file: BinaryIO, size: int, tags: dict[int, dict[int, Any]]
) -> Iterator[tuple[int, int]]:
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
    # Several strips are not one JPEG. The RAW data itself may be a JPEG without loss, which no
    # viewer shows.
    if directory.number(COMPRESSION) in JPEG_COMPRESSIONS and len(starts) == len(lengths) == 1:
        yield starts[0], lengths[0]
    if PANASONIC_JPEG in directory.places:
        yield directory.places[PANASONIC_JPEG]


def _canon_candidates(
    file: BinaryIO, size: int, tags: dict[int, dict[int, Any]]
) -> Iterator[tuple[int, int]]:
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
    """Yield the name of each box of an ISO media file, and where its content starts and stops."""
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
    """Return the number of pixels of a JPEG from its header; 0 if no viewer can show it."""
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


NO_PREVIEW = 'a RAW file without a preview; pip install "dayline[raw]" to develop such files'
MAX_PIXELS = 200_000_000
ORIENTATION = 0x0112


def open_raw(path: Path) -> tuple[Image.Image, int] | None:
    """Open the preview of a RAW file with the EXIF data of the file; also return its size in bytes.

    Returns None if there is no preview and rawpy (extra "raw"), which could develop the file, is
    not installed.

    Parameters
    ----------
    path : Path
        The file.
    """
    found = raw_preview(path)
    if found.jpeg:
        image: Image.Image = Image.open(io.BytesIO(found.jpeg), formats=("JPEG",))
        return _with_tags(image, found.tags), len(found.jpeg)
    developed = _developed(path)
    if developed is None:
        return None
    image, is_upright = developed
    tags = found.tags
    if is_upright and 0 in tags:
        tags = {**tags, 0: {tag: value for tag, value in tags[0].items() if tag != ORIENTATION}}
    return _with_tags(image, tags), path.stat().st_size


def _developed(path: Path) -> tuple[Image.Image, bool] | None:
    """Return the preview or picture of LibRaw, and whether it is upright already."""
    try:
        import rawpy
    except ModuleNotFoundError:
        return None
    with rawpy.imread(str(path)) as raw:
        try:
            preview = raw.extract_thumb()
        except (rawpy.LibRawNoThumbnailError, rawpy.LibRawUnsupportedThumbnailError):
            preview = None
        if preview is not None and preview.format == rawpy.ThumbFormat.JPEG:
            return Image.open(io.BytesIO(preview.data), formats=("JPEG",)), False
        if raw.sizes.raw_width * raw.sizes.raw_height > MAX_PIXELS:
            raise ValueError(f"{raw.sizes.raw_width} x {raw.sizes.raw_height} pixels are too many")
        return Image.fromarray(raw.postprocess(half_size=True, use_camera_wb=True)), True


def _with_tags(
    image: Image.Image, tags: Mapping[int, Mapping[int, tuple[Any, ...]]]
) -> Image.Image:
    """Give an image the EXIF data of the file around it, if that has any."""
    if not any(tags.values()):
        return image
    exif = Image.Exif()
    for kind, values in tags.items():
        directory = exif.get_ifd(kind) if kind else exif
        directory.update({tag: _value(numbers) for tag, numbers in values.items()})
    try:
        image.info["exif"] = exif.tobytes()
    # Broken EXIF counts as missing, as in other photos.
    except Exception:
        image.info.pop("exif", None)
    return image


def _value(values: tuple[Any, ...]) -> Any:
    if isinstance(values[0], bytes):
        return values[0].split(b"\0")[0].decode("ascii", "replace")
    parts = tuple(IFDRational(*value) if isinstance(value, tuple) else value for value in values)
    return parts if len(parts) > 1 else parts[0]
