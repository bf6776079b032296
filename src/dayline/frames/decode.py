"""Photos through Pillow: opened without trust, turned upright, reduced while decoded."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image, UnidentifiedImageError
from pillow_heif import register_heif_opener

__all__ = ["MAX_PIXELS", "BadImageError", "decode_photo", "opened"]

MAX_PIXELS = 200_000_000
"""Largest image that is decoded; the largest phone cameras stay just below it."""

# Only these: Pillow knows formats that start other programs (EPS) or that no camera writes.
FORMATS = ("JPEG", "PNG", "WEBP", "TIFF", "GIF", "HEIF", "AVIF")

# What brings an image with this EXIF orientation upright.
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
# Photos with slightly wrong EXIF data are common and usable. Appended, so that anybody's own filter wins; not
# set around each call, because that is not safe in threads.
warnings.filterwarnings("ignore", category=UserWarning, module=r"PIL\.", append=True)
_limit_lock = threading.Lock()


class BadImageError(ValueError):
    """A file that is no usable image; the message says why, without the file's name."""


@contextmanager
def opened(path: Path) -> Iterator[Image.Image]:
    """Open a photo, reading its header only; whatever is wrong becomes a BadImageError in words."""
    try:
        if not path.is_file():
            raise BadImageError("not a regular file" if path.exists() else "a link that leads nowhere")
        if path.stat().st_size == 0:
            raise BadImageError("empty file")
        with _open(path) as image:
            width, height = image.size
            if width * height > MAX_PIXELS:
                limit = f"over the limit of {MAX_PIXELS // 1_000_000} megapixels"
                raise BadImageError(f"too large: {width} x {height} pixels is {limit}")
            yield image
    except BadImageError:
        raise
    except PermissionError:
        raise BadImageError("no permission to read it") from None
    except UnidentifiedImageError:
        raise BadImageError("not an image, whatever its name says") from None
    # A broken file can make a decoder fail in any way (struct, zlib, index, memory, ...). None is
    # swallowed: every one is reported with its words.
    except Exception as error:
        raise BadImageError(f"broken image: {_in_words(error)}") from error


def decode_photo(path: Path, *, size: int) -> NDArray[np.uint8]:
    """Decode a photo to RGB, upright, its shorter side `size` pixels (smaller ones as they are)."""
    with opened(path) as image:
        # JPEG only: the decoder itself leaves out detail, which makes large photos several times faster.
        image.draft(None, (size, size))
        image.load()
        turned = _orientation(image)
        small = _reduced(_to_rgb(image), size=size)
        return np.asarray(_upright(small, turned), dtype=np.uint8)


def _open(path: Path) -> Image.Image:
    # Pillow's own limit is one number for the whole process, warns at 89 megapixels and refuses at 179, both
    # within what phones make. It is lifted while a header is read; `opened` has its own limit.
    with _limit_lock:
        before = Image.MAX_IMAGE_PIXELS
        Image.MAX_IMAGE_PIXELS = None
        try:
            return Image.open(path, formats=FORMATS)
        finally:
            Image.MAX_IMAGE_PIXELS = before


def _in_words(error: Exception) -> str:
    text = " ".join(str(error).split())[:120]
    return text or type(error).__name__


def _orientation(image: Image.Image) -> int:
    try:
        return int(image.getexif().get(0x0112, 1))
    # Broken EXIF is no reason to lose the photo: it is shown as it lies.
    except Exception:
        return 1


def _upright(image: Image.Image, orientation: int) -> Image.Image:
    turn = UPRIGHT.get(orientation)
    return image if turn is None else image.transpose(turn)


def _to_rgb(image: Image.Image) -> Image.Image:
    if image.mode.startswith("I;16"):
        values = np.asarray(image).astype(np.uint16)
        return Image.fromarray((values >> 8).astype(np.uint8)).convert("RGB")
    if image.mode in ("I", "F"):
        return _stretched(np.asarray(image, dtype=np.float64)).convert("RGB")
    if image.has_transparency_data:
        see_through = image.convert("RGBA")
        white = Image.new("RGBA", image.size, "white")
        return Image.alpha_composite(white, see_through).convert("RGB")
    return image.convert("RGB")


def _stretched(values: NDArray[np.float64]) -> Image.Image:
    """Bring values of unknown range (32 bits, floating point) to 0..255 by their own extremes."""
    finite = values[np.isfinite(values)]
    low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 0.0)
    scaled = (np.nan_to_num(values, nan=low, posinf=high, neginf=low) - low) / ((high - low) or 1.0)
    return Image.fromarray(np.round(255 * scaled).astype(np.uint8))


def _reduced(image: Image.Image, *, size: int) -> Image.Image:
    shorter = min(image.size)
    if shorter <= size:
        return image
    width, height = (max(size, round(side * size / shorter)) for side in image.size)
    return image.resize((width, height), Image.Resampling.BICUBIC, reducing_gap=2.0)
