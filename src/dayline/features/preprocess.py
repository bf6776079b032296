"""From decoded pixels to the input of a network: crop, size, mean and standard deviation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from dayline.extras import needs_extra

__all__ = ["Image", "Preprocessing", "check_image", "normalise", "prepare", "resize"]

Image: TypeAlias = NDArray[np.uint8]
"""Decoded RGB pixels, (height, width, 3)."""

Interpolation = Literal["bilinear", "bicubic", "lanczos"]


@dataclass(frozen=True)
class Preprocessing:
    """How an image becomes a network's input.

    Attributes
    ----------
    size : int
        Side of the square input.
    crop : float
        Side of the centre square, as a fraction of the shorter side; 1 uses all of it.
    mean, std : three floats
        The mean is subtracted from red, green and blue values of 0 to 255, which are then divided by std.
    layout : {"NCHW", "NHWC"}
        Channels first or last.
    interpolation : {"bicubic", "bilinear", "lanczos"}
        How pixels are resampled.
    """

    size: int
    crop: float
    mean: tuple[float, float, float]
    std: tuple[float, float, float]
    layout: Literal["NCHW", "NHWC"] = "NCHW"
    interpolation: Interpolation = "bicubic"

    @property
    def shorter_side(self) -> int:
        """Shorter side below which a decoded image is enlarged."""
        return round(self.size / self.crop)


def check_image(image: Image) -> Image:
    """Return the image; raise ValueError if its shape or type is wrong."""
    if image.dtype != np.uint8 or image.ndim != 3 or image.shape[2] != 3 or 0 in image.shape:
        raise ValueError(f"image has shape {image.shape} and type {image.dtype}; it must be uint8 (height, width, 3)")
    return image


@needs_extra("photos", "resampling images")
def resize(image: Image, *, size: int, crop: float | None, interpolation: Interpolation = "bicubic") -> Image:
    """Resample the centre square, or the whole image, to `size` pixels a side in one step.

    Parameters
    ----------
    image : ndarray of uint8, (height, width, 3)
        Decoded pixels.
    size : int
        Side of the result.
    crop : float or None
        Side of the centre square, as a fraction of the shorter side; None squeezes the whole image.
    interpolation : {"bicubic", "bilinear", "lanczos"}
        How pixels are resampled.
    """
    from PIL import Image as Pillow

    height, width = check_image(image).shape[:2]
    wide, high = (width, height) if crop is None else (crop * min(height, width),) * 2
    left, top = (width - wide) / 2, (height - high) / 2
    resampling = Pillow.Resampling[interpolation.upper()]
    pixels = Pillow.fromarray(np.ascontiguousarray(image))
    box = (left, top, left + wide, top + high)
    return np.asarray(pixels.resize((size, size), resampling, box=box))


def prepare(image: Image, preprocessing: Preprocessing) -> NDArray[np.uint8]:
    """Crop, resample and lay out one image, as bytes, which are fast to pass between threads."""
    p = preprocessing
    pixels = resize(image, size=p.size, crop=p.crop, interpolation=p.interpolation)
    return np.ascontiguousarray(pixels.transpose(2, 0, 1)) if p.layout == "NCHW" else pixels


def normalise(batch: NDArray[np.uint8], preprocessing: Preprocessing) -> NDArray[np.float32]:
    """Turn prepared images into the input values of a network."""
    shift = np.asarray(preprocessing.mean, dtype=np.float32)
    scale = 1.0 / np.asarray(preprocessing.std, dtype=np.float32)
    if preprocessing.layout == "NCHW":
        shift, scale = shift[:, None, None], scale[:, None, None]
    values = np.empty(batch.shape, dtype=np.float32)
    # Image by image: one fits into the CPU cache, a batch does not.
    for pixels, row in zip(batch, values, strict=True):
        np.subtract(pixels, shift, out=row)
        row *= scale
    return values
