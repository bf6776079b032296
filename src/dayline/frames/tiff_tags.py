"""Read directories of tags from untrusted TIFF structures, with little memory whatever they declare."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO

__all__ = ["Directory", "directories", "read_at"]

MOST_TAGS = 2000
MOST_DIRECTORIES = 60
MOST_VALUES = 256
"""Longer values, such as notes of the maker, are not read."""

# Name and size of each type of value: bytes, text, numbers of 2 and 4 bytes, fractions, directories.
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
    if len(header) < 8 or order is None or struct.unpack(f"{order}H", header[2:4])[0] not in VERSIONS:
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
            waiting += [(tag, o) for o in directory.values.get(tag, ())[:MOST_DIRECTORIES] if isinstance(o, int)]


def _directory(file: BinaryIO, base: int, offset: int, order: str, kind: int) -> tuple[Directory, int] | None:
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
        place = base + offset + 2 + at + 8 if size <= 4 else base + struct.unpack(f"{order}I", inline)[0]
        places[tag] = (place, size)
        if (
            0 < n <= MOST_VALUES
            and len(content := inline[:size] if size <= 4 else read_at(file, place, size)) == size
        ):
            values[tag] = _values(content, unit, order)
    following = struct.unpack(f"{order}I", data[12 * count :])[0] if len(data) == 12 * count + 4 else 0
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
