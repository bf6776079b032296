"""Made RAW files, as LibRaw reads them: tags of a camera, a preview, and a small sensor."""

from __future__ import annotations

import io
import struct
from collections.abc import Sequence
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


def jpeg(side: int = 96, *, seed: int = 1) -> bytes:
    """A smooth picture, three quarters as high as wide."""
    rows, columns = np.mgrid[0 : side * 3 // 4, 0:side]
    waves = [128 + 100 * np.sin((seed + k + 1) * (rows + 2 * columns) / side + k) for k in range(3)]
    buffer = io.BytesIO()
    Image.fromarray(np.stack(waves, axis=2).astype(np.uint8)).save(buffer, "JPEG")
    return buffer.getvalue()


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


def about(maker: str, model: str, *, taken: str = TAKEN, turned: int = 1) -> dict[int, Any]:
    """Tags of the camera, the time with its zone, and the location 39.5 N, 2.75 E."""
    return {
        0x010F: maker,
        0x0110: model,
        0x0112: Shorts((turned,)),
        0x8769: {0x9003: taken, 0x9011: "+02:00", 0x9291: "50", 0xA431: "1234"},
        0x8825: {
            1: "N",
            2: Fractions(((39, 1), (30, 1), (0, 1))),
            3: "E",
            4: Fractions(((2, 1), (45, 1), (0, 1))),
        },
    }


def pointed(content: bytes) -> dict[int, Any]:
    return {0x0201: Data(content), 0x0202: len(content)}


def strip(content: bytes, compression: int) -> dict[int, Any]:
    return {0x0103: Shorts((compression,)), 0x0111: Data(content), 0x0117: len(content)}


def dng_preview(side: int, seed: int) -> dict[int, Any]:
    shape = {0x0100: side, 0x0101: side * 3 // 4, 0x0116: side * 3 // 4}
    kind = {0x00FE: 1, 0x0102: Shorts((8, 8, 8)), 0x0106: Shorts((6,)), 0x0115: Shorts((3,))}
    return strip(jpeg(side, seed=seed), 7) | shape | kind


def sensor() -> dict[int, Any]:
    """64 x 48 pixels behind red, green and blue filters, darker on the left."""
    pixels = np.full((48, 64), 200, np.uint16)
    pixels[:, :32] //= 2
    shape = {0x00FE: 0, 0x0100: 64, 0x0101: 48, 0x0116: 48}
    kind = {tag: Shorts((value,)) for tag, value in ((0x0102, 16), (0x0106, 32803), (0x0115, 1))}
    filters = {0x828D: Shorts((2, 2)), 0x828E: Bytes((0, 1, 1, 2))}
    return strip(pixels.tobytes(), 1) | shape | kind | filters


def dng(tags: dict[int, Any], parts: Sequence[dict[int, Any]]) -> bytes:
    return tiff([tags | {0xC612: Bytes((1, 4, 0, 0)), 0xC614: "Model 1", 0x014A: list(parts)}])


def box(name: bytes, content: bytes) -> bytes:
    return struct.pack(">I", 8 + len(content)) + name + content


def cr3_start() -> bytes:
    """The first boxes of Canon's CR3, with the tags; LibRaw wants more."""
    tags = about("Canon", "EOS R5")
    inside = {b"CMT1": {0x010F: tags[0x010F]}, b"CMT2": tags[0x8769], b"CMT4": tags[0x8825]}
    boxes = b"".join(box(name, tiff([values])) for name, values in inside.items())
    return box(b"ftyp", b"crx \0\0\0\1") + box(b"moov", box(b"uuid", bytes(16) + boxes))


def made_raw(suffix: str, *, taken: str = TAKEN, seed: int = 1, turned: int = 1) -> bytes:
    """Make a RAW file of a camera's format, with a preview of 96 x 72 pixels."""
    large, small = jpeg(96, seed=seed), jpeg(32, seed=seed)

    def camera(maker: str, model: str) -> dict[int, Any]:
        return about(maker, model, taken=taken, turned=turned)

    return {
        "arw": lambda: tiff([camera("SONY", "ILCE-7M3") | pointed(large) | {0x014A: [sensor()]}]),
        "cr2": lambda: tiff(
            [camera("Canon", "Canon EOS 5D") | strip(large, 6), pointed(small), sensor()]
        ),
        "dng": lambda: dng(
            camera("Apple", "iPhone") | dng_preview(32, seed), [sensor(), dng_preview(96, seed)]
        ),
        "nef": lambda: tiff(
            [camera("NIKON", "NIKON D90") | {0x014A: [pointed(large), sensor()]}], order=">"
        ),
        "orf": lambda: tiff([camera("OLYMPUS", "E-M1") | sensor(), pointed(large)], version=0x4F52),
        "pef": lambda: tiff([camera("PENTAX", "K-3") | sensor(), pointed(large)], order=">"),
        "srw": lambda: tiff([camera("SAMSUNG", "NX300") | pointed(large) | {0x014A: [sensor()]}]),
    }[suffix]()
