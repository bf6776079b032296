"""Decode untrusted photos with Pillow: turned upright, reduced while decoding."""

from __future__ import annotations

import hashlib
import os
import struct
import sys
import threading
import warnings
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import product
from math import ceil
from pathlib import Path
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray
from PIL import Image, UnidentifiedImageError
from pillow_heif import register_heif_opener

from dayline.installation import MissingExtraError
from dayline.media.aside import aside_by_header
from dayline.media.exif import camera_of, exif_location, exif_time, gps_time, user_comment, with_utc
from dayline.media.frame import RAW_SUFFIXES, Frame
from dayline.media.raw import open_raw

MAX_PIXELS = 200_000_000
"""Largest image that is decoded, just above the largest phone cameras."""

BYTES_AT_ONCE = 600_000_000
"""Bytes for all photos being decoded at once; a single one may take as many, whatever its size."""

LARGEST_EXPANSION = 400
"""Above that, a photo may take so many times its file size; cameras use half a bit per pixel."""

LONGEST_SIDE = 20
"""Largest longer side of a reduced image, in units of the shorter side; panoramas are below."""

# Peak bytes per pixel while decoding, for libraries that need more than the image they return to
# Pillow.
PEAK_BYTES = {"WEBP": 16, "HEIF": 10, "AVIF": 12, "TIFF": 8}
TILE = 512

# Only these: Pillow also supports formats that start other programs (EPS) or that no camera writes.
FORMATS = ("JPEG", "PNG", "WEBP", "TIFF", "GIF", "HEIF", "AVIF")

# Transpose that turns an image with this EXIF orientation upright.
UPRIGHT = {
    2: Image.Transpose.FLIP_LEFT_RIGHT,
    3: Image.Transpose.ROTATE_180,
    4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE,
    6: Image.Transpose.ROTATE_270,
    7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_90,
}

register_heif_opener()
# Pillow allocates images in blocks. Blocks of this size return to the system when freed; smaller
# ones may stay with the decoding thread, and each thread would then keep the memory of a large
# photo.
Image.core.set_block_size(64 * 2**20)  # type: ignore[attr-defined]
# Photos with slightly wrong EXIF data are common and usable. Appended so that user filters take
# precedence; not set around each call, because that is not thread-safe.
warnings.filterwarnings("ignore", category=UserWarning, module=r"PIL\.", append=True)
_limit_lock = threading.Lock()


class BadImageError(ValueError):
    """A file that is not a usable image; the message says why, without the file name."""


@contextmanager
def opened(path: Path) -> Iterator[tuple[Image.Image, BinaryIO]]:
    """Open a photo and read only its header; any failure becomes a readable BadImageError."""
    try:
        if not path.is_file():
            raise BadImageError("not a regular file" if path.exists() else "broken link")
        with path.open("rb") as file:
            if not os.fstat(file.fileno()).st_size:
                raise BadImageError("empty file")
            image, n_bytes = _open(path, file)
            with image:
                width, height = image.size
                if width * height > MAX_PIXELS:
                    limit = f"over the limit of {MAX_PIXELS // 1_000_000} megapixels"
                    raise BadImageError(f"too large: {width} x {height} pixels is {limit}")
                _check_memory(image, file_size=n_bytes)
                yield image, file
    except BadImageError:
        raise
    except MissingExtraError as error:
        raise BadImageError(str(error)) from None
    except PermissionError:
        raise BadImageError("no permission to read it") from None
    except UnidentifiedImageError:
        raise BadImageError("not an image, despite its name") from None
    # A broken file can make a decoder fail in any way (struct, zlib, index, memory, ...). Every
    # failure is reported with its message.
    except Exception as error:
        raise BadImageError(f"broken image: {_in_words(error)}") from error


def read_photo(
    path: Path, name: str, *, size: int | None = None
) -> tuple[Frame, NDArray[np.uint8] | None]:
    """Open a photo once and read all that is needed of it.

    Parameters
    ----------
    path : Path
        The photo.
    name : str
        Name of the frame.
    size : int, optional
        See `decode_photo`. If not given, the picture is not decoded.

    Returns
    -------
    frame : Frame
        What the header says, and the digest of the content.
    pixels : ndarray of uint8, (height, width, 3), or None
        The picture.
    """
    # Pillow decodes a PNG to find EXIF data after its pixels.
    with opened(path) as (image, file), _memory.holding(_peak_bytes(image)):
        taken = with_utc(exif_time(image), path.name, gps_time(image))
        camera, location = camera_of(image), exif_location(image)
        aside = aside_by_header(
            name, camera, form=image.format, size=image.size, comment=user_comment(image)
        )
        position = file.tell()
        digest = content_digest(file)
        file.seek(position)
        pixels = None if size is None else _pixels(image, file, size=size)
    frame = Frame(name, path, digest, taken=taken, camera=camera, location=location, aside=aside)
    return frame, pixels


def decode_photo(path: Path, *, size: int) -> NDArray[np.uint8]:
    """Decode a photo to upright RGB with a shorter side of `size` pixels; smaller ones stay.

    The longer side has at most `LONGEST_SIDE` times `size` pixels; a longer strip is reduced
    further.
    """
    with opened(path) as (image, file), _memory.holding(_peak_bytes(image)):
        return _pixels(image, file, size=size)


def _pixels(image: Image.Image, file: BinaryIO, *, size: int) -> NDArray[np.uint8]:
    # JPEG only: the decoder itself skips detail, which makes large photos several times faster.
    image.draft(None, (size, size))
    if image.format == "PNG":
        position = file.tell()
        _check_png(file)
        file.seek(position)
    image.load()
    turn = UPRIGHT.get(_orientation(image))
    small = _reduced(image, size=size)
    image.close()  # frees the pixels before the next photo is decoded
    return np.asarray(small if turn is None else small.transpose(turn))


def small_gray(pixels: NDArray[np.uint8], *, size: int) -> NDArray[np.uint8]:
    """Average squares of pixels to shades of gray, with a shorter side of about `size`."""
    gray = Image.fromarray(pixels).convert("L")
    factor = max(1, round(min(gray.size) / size))
    return np.asarray(gray.reduce(factor), dtype=np.uint8)


BLOCK = 2**20
# Of PNG, then of WebP, whose extended header says only which other chunks there are.
METADATA = (b"tEXt", b"zTXt", b"iTXt", b"eXIf", b"tIME", b"VP8X", b"EXIF", b"XMP ")


def content_digest(file: BinaryIO) -> str:
    """Hash a photo without its metadata, so that other times or descriptions do not change it.

    Parameters
    ----------
    file : binary file
        Of a JPEG, all but the APPn and COM segments counts, up to the end of the first picture; of
        a PNG or WebP, all but the chunks of metadata; of any other format, the whole file.
    """
    file.seek(0)
    start = file.read(12)
    digest = hashlib.sha256()
    if start.startswith(b"\xff\xd8"):
        file.seek(2)
        parts = _jpeg_content(file)
    elif start.startswith(b"\x89PNG\r\n\x1a\n"):
        file.seek(8)
        parts = _chunk_content(file, is_png=True)
    elif start.startswith(b"RIFF") and start.endswith(b"WEBP"):
        parts = _chunk_content(file, is_png=False)
    else:
        file.seek(0)
        parts = _blocks(file)
    for part in parts:
        digest.update(part)
    return digest.hexdigest()[:32]


def _jpeg_content(file: BinaryIO) -> Iterator[bytes]:
    """Yield the segments of a JPEG that are not metadata, then its picture."""
    while len(head := file.read(4)) == 4 and head[0] == 0xFF:
        kind, length = head[1], int.from_bytes(head[2:], "big") - 2
        if 0xE0 <= kind <= 0xEF or kind == 0xFE:
            file.seek(length, os.SEEK_CUR)
            continue
        yield head
        if kind == 0xDA:
            break
        yield file.read(max(length, 0))
    # Phones append a second picture with metadata of its own.
    before = b""
    for block in _blocks(file):
        end = (before + block).find(b"\xff\xd9")
        if end >= 0:
            yield (before + block)[:end]
            return
        yield (before + block)[:-1]
        before = block[-1:]
    yield before


def _chunk_content(file: BinaryIO, *, is_png: bool) -> Iterator[bytes]:
    """Yield the chunks of a PNG or WebP that are not metadata."""
    while len(head := file.read(8)) == 8:
        if is_png:
            length, kind = struct.unpack(">I4s", head)
            length += 4  # its checksum
        else:
            kind, length = struct.unpack("<4sI", head)
            length += length % 2
        if kind in METADATA:
            file.seek(length, os.SEEK_CUR)
        else:
            yield head
            yield from _blocks(file, length)


def _blocks(file: BinaryIO, n_bytes: int | None = None) -> Iterator[bytes]:
    """Yield the next bytes of a file, all by default, in blocks."""
    left = sys.maxsize if n_bytes is None else n_bytes
    while left > 0 and (block := file.read(min(left, BLOCK))):
        left -= len(block)
        yield block


def _peak_bytes(image: Image.Image) -> int:
    """Estimate the memory needed for decoding from the header alone."""
    n_pixels = image.width * image.height
    if image.format in ("JPEG", "MPO"):
        # JPEGs are reduced while decoding, but progressive ones are kept whole until the last scan.
        return n_pixels * (2 * len(image.getbands()) if image.info.get("progressive") else 1)
    own = 1 if image.mode in ("1", "L", "P") else 2 if image.mode.startswith("I;16") else 4
    return n_pixels * max(own, PEAK_BYTES.get(image.format or "", 0))


def _check_memory(image: Image.Image, *, file_size: int) -> None:
    """Reject a file that is too small for the image it declares."""
    needed, limit = _peak_bytes(image), max(BYTES_AT_ONCE, LARGEST_EXPANSION * file_size)
    if needed > limit:
        raise BadImageError(
            f"too large: {image.width} x {image.height} pixels take {needed // 1_000_000:,} MB to"
            f" decode, over the limit of {limit // 1_000_000:,} MB for a file of this size"
        )


class _SharedMemory:
    """Memory shared by threads: one that would exceed it waits, unless no other holds any."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._held = 0
        self._changed = threading.Condition()

    @contextmanager
    def holding(self, n_bytes: int) -> Iterator[None]:
        with self._changed:
            self._changed.wait_for(lambda: not self._held or self._held + n_bytes <= self._limit)
            self._held += n_bytes
        try:
            yield
        finally:
            with self._changed:
                self._held -= n_bytes
                self._changed.notify_all()


_memory = _SharedMemory(BYTES_AT_ONCE)


def _check_png(file: BinaryIO) -> None:
    """Reject a PNG whose pixels do not match their checksums, which Pillow does not verify."""
    file.seek(8)
    while len(header := file.read(8)) == 8:
        length, kind = struct.unpack(">I4s", header)
        if kind == b"IEND":
            return
        if kind != b"IDAT":
            file.seek(length + 4, os.SEEK_CUR)
            continue
        found = zlib.crc32(kind)
        for part in _blocks(file, length):
            found = zlib.crc32(part, found)
        if file.read(4) != struct.pack(">I", found):
            raise BadImageError("broken image: its pixels do not match their checksum")


def _open(path: Path, file: BinaryIO) -> tuple[Image.Image, int]:
    """Open a photo, and return the size of its file or, in a RAW file, of its preview."""
    # Pillow's own limit applies to the whole process, warns at 89 megapixels and fails at 179;
    # phones exceed both. It is lifted while a header is read; `opened` has its own limit.
    with _limit_lock:
        before = Image.MAX_IMAGE_PIXELS
        Image.MAX_IMAGE_PIXELS = None
        try:
            if path.suffix.lower() not in RAW_SUFFIXES:
                n_bytes = os.fstat(file.fileno()).st_size
                return Image.open(file, formats=FORMATS), n_bytes
            return open_raw(path, file)
        finally:
            Image.MAX_IMAGE_PIXELS = before


def _in_words(error: Exception) -> str:
    # The text of an OSError ends with the path, which must not appear on a page.
    reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    text = " ".join(reason.split())[:120]
    return text or type(error).__name__


def _orientation(image: Image.Image) -> int:
    try:
        return int(image.getexif().get(0x0112, 1))
    # Broken EXIF is not a reason to lose the photo; it is shown without rotation.
    except Exception:
        return 1


def _reduced(image: Image.Image, *, size: int) -> Image.Image:
    """Convert to RGB and reduce tile by tile, so that only one tile is in memory in both forms."""
    width, height = _reduced_size(image.size, size=size)
    values = _value_range(image) if image.mode in ("I", "F") else None
    if (width, height) == image.size:
        return _to_rgb(image, values)
    # Box averages down to twice the size, then bicubic, as `resize` does with a reducing gap of 2.
    across, down = (
        max(1, int(side / new / 2)) for side, new in zip(image.size, (width, height), strict=True)
    )
    if across == down == 1 and image.mode == "RGB":
        return image.resize((width, height), Image.Resampling.BICUBIC)
    means = Image.new("RGB", (ceil(image.width / across), ceil(image.height / down)))
    for box in _tiles(image.size, across=across, down=down):
        tile = _to_rgb(image.crop(box), values)
        means.paste(tile.reduce((across, down)), (box[0] // across, box[1] // down))
    exact = (0.0, 0.0, image.width / across, image.height / down)
    return means.resize((width, height), Image.Resampling.BICUBIC, box=exact)


def _reduced_size(whole: tuple[int, int], *, size: int) -> tuple[int, int]:
    shorter, longer = sorted(whole)
    if shorter * LONGEST_SIDE * size < longer * min(shorter, size):
        scale = LONGEST_SIDE * size / longer
        return max(1, round(whole[0] * scale)), max(1, round(whole[1] * scale))
    if shorter <= size:
        return whole
    return max(size, round(whole[0] * size / shorter)), max(size, round(whole[1] * size / shorter))


def _tiles(
    whole: tuple[int, int], *, across: int, down: int
) -> Iterator[tuple[int, int, int, int]]:
    """Cut an image into boxes whose edges lie on multiples of `across` and `down`."""
    width, height = whole
    wide, high = (max(1, TILE // step) * step for step in (across, down))
    for top, left in product(range(0, height, high), range(0, width, wide)):
        yield left, top, min(left + wide, width), min(top + high, height)


def _to_rgb(image: Image.Image, values: tuple[float, float] | None) -> Image.Image:
    if image.mode.startswith("I;16"):
        numbers = np.asarray(image).astype(np.uint16)
        return Image.fromarray((numbers >> 8).astype(np.uint8)).convert("RGB")
    if values is not None:
        return _stretched(_numbers(image), *values).convert("RGB")
    if image.has_transparency_data:
        see_through = image.convert("RGBA")
        white = Image.new("RGBA", image.size, "white")
        return Image.alpha_composite(white, see_through).convert("RGB")
    return image.convert("RGB")


def _numbers(image: Image.Image) -> NDArray[np.float64]:
    # In a damaged file, a NaN may be a signaling one, of which NumPy warns when it is converted.
    with np.errstate(invalid="ignore"):
        return np.asarray(image, dtype=np.float64)


def _value_range(image: Image.Image) -> tuple[float, float]:
    """Find the lowest and highest finite value of a 32-bit or floating-point image."""
    ranges = []
    for box in _tiles(image.size, across=1, down=1):
        values = _numbers(image.crop(box))
        finite = values[np.isfinite(values)]
        if finite.size:
            ranges.append((float(finite.min()), float(finite.max())))
    return (
        (min(low for low, _ in ranges), max(high for _, high in ranges)) if ranges else (0.0, 0.0)
    )


def _stretched(values: NDArray[np.float64], low: float, high: float) -> Image.Image:
    """Scale values of unknown range (32-bit, floating point) from [low, high] to 0..255."""
    scaled = (np.nan_to_num(values, nan=low, posinf=high, neginf=low) - low) / ((high - low) or 1.0)
    return Image.fromarray(np.round(255 * scaled).astype(np.uint8))
