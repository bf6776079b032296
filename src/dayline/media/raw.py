"""Open RAW files of cameras with LibRaw: their preview, or the developed picture."""

from __future__ import annotations

import io
import struct
from collections.abc import Iterator, MutableMapping
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO

from PIL import Image

from dayline.installation import needs_extra

MAX_PIXELS = 200_000_000
EXIF, GPS, ORIENTATION = 0x8769, 0x8825, 0x0112

# Tags that dayline uses, by directory: maker, model, orientation, date; times, their parts and time
# zones, serial number; GPS. The rest of a RAW file's tags is large.
WANTED = {
    0: (0x010F, 0x0110, ORIENTATION, 0x0132),
    EXIF: (0x9003, 0x9004, 0x9010, 0x9011, 0x9012, 0x9290, 0x9291, 0x9292, 0xA431),
    GPS: (1, 2, 3, 4, 7, 9, 29),
}
CANON_TAGS = {b"CMT1": 0, b"CMT2": EXIF, b"CMT4": GPS}
"""Boxes of Canon's CR3, each of which holds one directory."""

CANON_START = 2**18
"""Bytes at the start of a CR3 that contain these boxes."""


def open_raw(path: Path, file: BinaryIO) -> tuple[Image.Image, int]:
    """Open the preview of a RAW file with the EXIF data of the file; also return its size in bytes.

    A file without a preview is developed, at half its size.

    Parameters
    ----------
    path : Path
        The file.
    file : binary file
        The same file, open.

    Raises
    ------
    MissingExtraError
        If rawpy is not installed.
    """
    with needs_extra("raw", "reading RAW photos"):
        import rawpy

    source: str | BinaryIO = str(path)
    try:
        str(path).encode()
    except UnicodeEncodeError:  # LibRaw takes names in UTF-8
        source = file
    try:
        with rawpy.imread(source) as raw:
            try:
                preview = raw.extract_thumb()
            except (rawpy.LibRawNoThumbnailError, rawpy.LibRawUnsupportedThumbnailError):
                preview = None
            has_jpeg = preview is not None and preview.format == rawpy.ThumbFormat.JPEG
            if not has_jpeg:
                width, height = raw.sizes.raw_width, raw.sizes.raw_height
                if width * height > MAX_PIXELS:
                    raise ValueError(f"{width} x {height} pixels are too many")
                developed = raw.postprocess(half_size=True, use_camera_wb=True)
    except rawpy.LibRawError as error:
        (reason,) = error.args  # of LibRaw bytes, of rawpy text
        raise ValueError(reason.decode() if isinstance(reason, bytes) else reason) from error

    if has_jpeg:
        image: Image.Image = Image.open(io.BytesIO(preview.data), formats=("JPEG",))
        n_bytes = len(preview.data)
    else:
        # A sensor without color filters gives one channel.
        image, n_bytes = Image.fromarray(developed.squeeze()), path.stat().st_size
    # Broken EXIF counts as missing, as in other photos.
    with suppress(Exception):
        tags = tags_of_raw(file)
        if not has_jpeg:
            tags.pop(ORIENTATION, None)  # developed upright
        if tags:
            # In place of the few that LibRaw writes into a preview; its location is wrong.
            image.getexif().load(tags.tobytes())
    return image, n_bytes


def tags_of_raw(file: BinaryIO) -> Image.Exif:
    """Read the EXIF tags that dayline uses from a RAW file; none if they are in its preview alone.

    Parameters
    ----------
    file : binary file
        The file.
    """
    wanted = Image.Exif()
    for kind, directory in _directories(file):
        kept = wanted.get_ifd(kind) if kind else wanted
        kept.update({tag: directory[tag] for tag in WANTED[kind] if tag in directory})
    return wanted


def _directories(file: BinaryIO) -> Iterator[tuple[int, MutableMapping[int, Any]]]:
    file.seek(0)
    start = file.read(8)
    if start[4:] == b"ftyp":
        start += file.read(CANON_START)
        for name, kind in CANON_TAGS.items():
            exif = Image.Exif()
            exif.load(start.partition(name)[2])
            yield kind, exif
    elif start[:2] in (b"II", b"MM"):
        exif = Image.Exif()
        # The bytes between, a version, are others in the files of Olympus and Panasonic.
        exif.endian = "<" if start.startswith(b"II") else ">"
        exif.load_from_fp(file, struct.unpack(f"{exif.endian}I", start[4:])[0])
        yield 0, exif
        yield from ((kind, exif.get_ifd(kind)) for kind in (EXIF, GPS))
