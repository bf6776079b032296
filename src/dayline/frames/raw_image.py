"""Open RAW files of cameras as images: their preview, or the developed picture if they have none."""

from __future__ import annotations

import io
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from PIL import Image
from PIL.TiffImagePlugin import IFDRational

from dayline.frames.raw_preview import raw_preview

__all__ = ["NO_PREVIEW", "open_raw"]

NO_PREVIEW = 'a RAW file without a preview; pip install "dayline[raw]" to develop such files'
MAX_PIXELS = 200_000_000
ORIENTATION = 0x0112


def open_raw(path: Path) -> tuple[Image.Image, int] | None:
    """Open the preview of a RAW file with the EXIF data of the file; also return its size in bytes.

    Returns None if there is no preview and rawpy (extra "raw"), which could develop the file, is not installed.

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
    """Return a preview that only LibRaw finds, or the developed picture; and whether it is upright already."""
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


def _with_tags(image: Image.Image, tags: Mapping[int, Mapping[int, tuple[Any, ...]]]) -> Image.Image:
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
