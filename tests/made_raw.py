"""Made RAW files: the structures of each camera's format around a JPEG."""

from __future__ import annotations

import io
import struct
from dataclasses import dataclass
from typing import Any

import numpy as np
from PIL import Image

TAKEN = "2015:03:12 10:00:30"


@dataclass(frozen=True)
class Data:
    """Bytes somewhere in the file; a tag holds where."""

    content: bytes


@dataclass(frozen=True)
class Shorts:
    values: tuple[int, ...]


@dataclass(frozen=True)
class Bytes:
    values: tuple[int, ...]


@dataclass(frozen=True)
class Fractions:
    values: tuple[tuple[int, int], ...]


def jpeg(side: int = 96, *, seed: int = 1, **options: Any) -> bytes:
    """A smooth picture, three quarters as high as wide."""
    rows, columns = np.mgrid[0 : side * 3 // 4, 0:side]
    waves = [128 + 100 * np.sin((seed + k + 1) * (rows + 2 * columns) / side + k) for k in range(3)]
    buffer = io.BytesIO()
    Image.fromarray(np.stack(waves, axis=2).astype(np.uint8)).save(buffer, "JPEG", **options)
    return buffer.getvalue()


def lossless_jpeg(side: int) -> bytes:
    """The start of a JPEG without loss, as RAW data are stored."""
    return b"\xff\xd8\xff\xc3" + struct.pack(">HBHHB", 17, 14, side, side, 3) + bytes(400)


def tiff(main: list[dict[int, Any]], *, order: str = "<", version: int = 42) -> bytes:
    """Write a chain of directories; a dict is a directory of its own, a list of dicts several."""
    out = bytearray((b"II" if order == "<" else b"MM") + struct.pack(f"{order}HI", version, 0))
    pointer = 4
    for tags in main:
        start = _directory(out, tags, order)
        struct.pack_into(f"{order}I", out, pointer, start)
        pointer = len(out) - 4
    return bytes(out)


def _directory(out: bytearray, tags: dict[int, Any], order: str) -> int:
    """Append what the tags point to, then the directory itself; return where it starts."""
    entries = []
    for tag, value in sorted(tags.items()):
        kind, count, content = _entry(out, value, order)
        if len(content) > 4:
            place = len(out)
            out += content + b"\0" * (len(content) % 2)
            content = struct.pack(f"{order}I", place)
        entries.append(struct.pack(f"{order}HHI", tag, kind, count) + content.ljust(4, b"\0"))
    start = len(out)
    out += struct.pack(f"{order}H", len(entries)) + b"".join(entries) + bytes(4)
    return start


def _entry(out: bytearray, value: Any, order: str) -> tuple[int, int, bytes]:
    if isinstance(value, Data):
        place = len(out)
        out += value.content + b"\0" * (len(value.content) % 2)
        return 4, 1, struct.pack(f"{order}I", place)
    if isinstance(value, dict):
        value = [value]
    if isinstance(value, list):
        starts = [_directory(out, each, order) for each in value]
        return 4, len(starts), struct.pack(f"{order}{len(starts)}I", *starts)
    if isinstance(value, str):
        return 2, len(value) + 1, value.encode() + b"\0"
    if isinstance(value, bytes):
        return 7, len(value), value
    if isinstance(value, Shorts):
        return 3, len(value.values), struct.pack(f"{order}{len(value.values)}H", *value.values)
    if isinstance(value, Bytes):
        return 1, len(value.values), bytes(value.values)
    if isinstance(value, Fractions):
        numbers = [part for fraction in value.values for part in fraction]
        return 5, len(value.values), struct.pack(f"{order}{len(numbers)}I", *numbers)
    return 4, 1, struct.pack(f"{order}I", value)


def about(taken: str = TAKEN, *, turned: int = 1, place: bool = True) -> dict[int, Any]:
    """Tags of the camera, the time and the location 39.5 N, 2.75 E."""
    gps = {
        1: "N",
        2: Fractions(((39, 1), (30, 1), (0, 1))),
        3: "E",
        4: Fractions(((2, 1), (45, 1), (0, 1))),
    }
    tags = {
        0x010F: "Maker",
        0x0110: "Model 1",
        0x0112: Shorts((turned,)),
        0x8769: {0x9003: taken, 0x9291: "50"},
    }
    return tags | ({0x8825: gps} if place else {})


def pointed(content: bytes) -> dict[int, Any]:
    return {0x0201: Data(content), 0x0202: len(content)}


def strip(content: bytes, compression: int) -> dict[int, Any]:
    return {0x0103: Shorts((compression,)), 0x0111: Data(content), 0x0117: len(content)}


def box(name: bytes, content: bytes) -> bytes:
    return struct.pack(">I", 8 + len(content)) + name + content


def cr3(preview: bytes, taken: str = TAKEN) -> bytes:
    tags = {
        b"CMT1": {0x010F: "Canon", 0x0112: Shorts((1,))},
        b"CMT2": {0x9003: taken, 0x9291: "50"},
        b"CMT4": about()[0x8825],
    }
    inside = b"".join(box(name, tiff([values])) for name, values in tags.items())
    data = bytes.fromhex("85c0b687820f11e08111f4ce462b6a48") + inside
    shown = box(b"PRVW", struct.pack(">IHHHHI", 0, 1, 96, 72, 1, len(preview)) + preview)
    around = bytes.fromhex("eaf42b5e1c984b88b9fbb7dc406e4d16") + bytes(8) + shown
    start = box(b"ftyp", b"crx \0\0\0\1") + box(b"moov", box(b"uuid", data))
    return start + box(b"uuid", around) + box(b"mdat", bytes(64))


def raf(preview: bytes) -> bytes:
    header = b"FUJIFILMCCD-RAW 0201FF123456Camera".ljust(84, b"\0") + struct.pack(
        ">II", 148, len(preview)
    )
    return header.ljust(148, b"\0") + preview + bytes(200)


def made_raw(suffix: str, *, taken: str = TAKEN, seed: int = 1) -> bytes:
    """Make a RAW file of a camera's format, with a preview of 96 x 72 pixels."""
    large, small = jpeg(96, seed=seed), jpeg(32, seed=seed)
    main = about(taken)
    exif = Image.Exif()
    exif.get_ifd(0x8769).update({0x9003: taken, 0x9291: "50"})
    if suffix == "raf":
        return raf(jpeg(96, seed=seed, exif=exif.tobytes()))
    if suffix == "cr3":
        return cr3(large, taken)
    return {
        "cr2": lambda: tiff(
            [main | strip(large, 6), pointed(small), strip(lossless_jpeg(4000), 6)]
        ),
        "nef": lambda: tiff([main | {0x014A: [pointed(large), strip(bytes(300), 1)]}], order=">"),
        "arw": lambda: tiff([main | pointed(large), pointed(small)]),
        "dng": lambda: tiff([main | {0x014A: [strip(lossless_jpeg(4000), 7), strip(large, 7)]}]),
        "orf": lambda: tiff([main, pointed(large)], version=0x4F52),
        "rw2": lambda: tiff([main | {0x002E: large}], version=0x55),
        "pef": lambda: tiff([main, pointed(small), pointed(large)], order=">"),
        "srw": lambda: tiff([main | {0x014A: pointed(large)}]),
    }[suffix]()
