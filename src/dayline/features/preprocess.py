"""Turn decoded images into the input of a network."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from dayline.installation import needs_extra

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
        Side of the center square, as a fraction of the shorter side; 1 uses all of it.
    mean, std : three floats
        The mean is subtracted from red, green and blue values of 0 to 255, which are then divided
        by std.
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


PRESETS = {
    "imagenet": Preprocessing(
        size=224, crop=0.875, mean=(123.675, 116.28, 103.53), std=(58.395, 57.12, 57.375)
    ),
    # Inputs from -1 to 1.
    "inception": Preprocessing(
        size=299, crop=0.875, mean=(127.5,) * 3, std=(127.5,) * 3, interpolation="bilinear"
    ),
    "clip": Preprocessing(
        size=224, crop=1.0, mean=(122.771, 116.746, 104.094), std=(68.501, 66.632, 70.323)
    ),
    "siglip": Preprocessing(size=224, crop=1.0, mean=(127.5,) * 3, std=(127.5,) * 3),
}
"""Preprocessing that is usual for families of networks."""


@needs_extra("photos", "resampling images")
def resize(
    image: Image, *, size: int, crop: float | None, interpolation: Interpolation = "bicubic"
) -> Image:
    """Resample the center square, or the whole image, to `size` pixels a side in one step.

    Parameters
    ----------
    image : ndarray of uint8, (height, width, 3)
        Decoded pixels.
    size : int
        Side of the result.
    crop : float or None
        Side of the center square, as a fraction of the shorter side; None squeezes the whole image.
    interpolation : {"bicubic", "bilinear", "lanczos"}
        How pixels are resampled.
    """
    from PIL import Image as Pillow

    if image.dtype != np.uint8 or image.ndim != 3 or image.shape[2] != 3 or 0 in image.shape:
        raise ValueError(
            f"image has shape {image.shape} and type {image.dtype}; it must be uint8 (height,"
            " width, 3)"
        )
    height, width = image.shape[:2]
    wide, high = (width, height) if crop is None else (crop * min(height, width),) * 2
    left, top = (width - wide) / 2, (height - high) / 2

    pixels = Pillow.fromarray(np.ascontiguousarray(image))
    resampling = Pillow.Resampling[interpolation.upper()]
    box = (left, top, left + wide, top + high)
    return np.asarray(pixels.resize((size, size), resampling, box=box))


def prepare(image: Image, preprocessing: Preprocessing) -> NDArray[np.uint8]:
    """Crop, resample and lay out one image, as bytes, which are fast to pass between threads."""
    p = preprocessing
    pixels = resize(image, size=p.size, crop=p.crop, interpolation=p.interpolation)
    return np.ascontiguousarray(pixels.transpose(2, 0, 1)) if p.layout == "NCHW" else pixels


def normalize(batch: NDArray[np.uint8], preprocessing: Preprocessing) -> NDArray[np.float32]:
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


def fingerprint_of(*parts: object) -> str:
    """Hash everything that affects the values of features: weights, preprocessing, version."""
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()
