"""Files with checksums, taken apart and sealed again around damaged parts."""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass

__all__ = ["PNG_SEAL", "ZIP_SEAL", "Seal"]

PNG_SIGNATURE = b"\x89PNG\r\n\x1a\n"


@dataclass(frozen=True)
class Seal:
    """How to take the parts out of a file, and how to close one around other parts."""

    parts: Callable[[bytes], list[bytes]]
    close: Callable[[bytes, list[bytes]], bytes]


def zipped(members: list[tuple[str, bytes]], compression: int) -> bytes:
    """Write an archive that is the same at every time of the day."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in members:
            about = zipfile.ZipInfo(name)
            about.compress_type = compression
            archive.writestr(about, content)
    return buffer.getvalue()


def _zip_members(data: bytes) -> list[tuple[zipfile.ZipInfo, bytes]]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return [(about, archive.read(about)) for about in archive.infolist()]


def _close_zip(data: bytes, parts: list[bytes]) -> bytes:
    members = [about for about, _ in _zip_members(data)]
    named = [(about.filename, part) for about, part in zip(members, parts, strict=True)]
    return zipped(named, members[0].compress_type)


def _png_chunks(data: bytes) -> list[tuple[bytes, bytes]]:
    chunks, at = [], len(PNG_SIGNATURE)
    while at < len(data):
        (size,) = struct.unpack_from(">I", data, at)
        chunks.append((data[at + 4 : at + 8], data[at + 8 : at + 8 + size]))
        at += size + 12
    return chunks


def _close_png(data: bytes, parts: list[bytes]) -> bytes:
    closed = [PNG_SIGNATURE]
    for (kind, _), part in zip(_png_chunks(data), parts, strict=True):
        closed.append(
            struct.pack(">I", len(part)) + kind + part + struct.pack(">I", zlib.crc32(kind + part))
        )
    return b"".join(closed)


ZIP_SEAL = Seal(lambda data: [content for _, content in _zip_members(data)], _close_zip)
PNG_SEAL = Seal(lambda data: [content for _, content in _png_chunks(data)], _close_png)
