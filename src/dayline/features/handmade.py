"""Features that need no network: color histograms, and histograms of oriented gradients."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dayline.features.preprocess import Image, fingerprint_of, resize

COLOR_SIZE = 128
COLOR_RECIPE = 2
_HSV_BINS = (16, 4, 4)
# For each of lightness, green-red and blue-yellow, as published for AC-color.
_LAB_BINS = 23
_LAB_RANGES = ((0.0, 100.0), (-128.0, 127.0), (-128.0, 127.0))
# Below this saturation (of 255), the hue is camera noise.
_GRAY = 26
_LINEAR_TO_XYZ = np.array(
    [
        [0.4124564, 0.3575761, 0.1804375],
        [0.2126729, 0.7151522, 0.0721750],
        [0.0193339, 0.1191920, 0.9503041],
    ]
)


@dataclass(frozen=True)
class HandmadeExtractor:
    """Features that a function computes from the pixels of a small image.

    Attributes
    ----------
    name : str
        Name of the model.
    fingerprint : str
        Hash of everything that affects the values.
    n_features : int
        Number of features.
    input_size : int
        Side of the small image in pixels.
    function : callable
        Computes the features of the small image.
    """

    name: str
    fingerprint: str
    n_features: int
    input_size: int
    function: Callable[[Image], NDArray[np.float32]]

    def prepare(self, image: Image) -> NDArray[np.float32]:
        """Compute the features here, where it runs in parallel."""
        pixels = resize(image, size=self.input_size, crop=None, interpolation="bilinear")
        return self.function(pixels)

    def extract(self, batch: NDArray[Any]) -> NDArray[np.float32]:
        """Return the features unchanged."""
        return batch.astype(np.float32, copy=False)


def load_handmade(model: str) -> HandmadeExtractor:
    """Return what computes "color", "color-lab" or "hog"."""
    if model == "hog":
        # 4 x 4 cells of 9 orientations, normalized in 3 x 3 blocks of 2 x 2 cells.
        recipe = fingerprint_of("hog", HOG_RECIPE, _CELL, _N_CELLS, _N_ORIENTATIONS, _CLIP)
        n_features = (_N_CELLS - 1) ** 2 * 4 * _N_ORIENTATIONS
        return HandmadeExtractor("hog", recipe, n_features, HOG_SIZE, _hog_of_image)
    space = "lab" if model == "color-lab" else "hsv"
    recipe = fingerprint_of("color", COLOR_RECIPE, space, COLOR_SIZE, _HSV_BINS, _LAB_BINS)
    if space == "lab":
        return HandmadeExtractor(model, recipe, 3 * _LAB_BINS, COLOR_SIZE, lab_histogram)
    return HandmadeExtractor(model, recipe, int(np.prod(_HSV_BINS)), COLOR_SIZE, hsv_histogram)


def hsv_histogram(image: Image) -> NDArray[np.float32]:
    """Joint histogram of hue, saturation and value; grays of the same value share a bin.

    Parameters
    ----------
    image : ndarray of uint8, (height, width, 3)
        Red, green, blue.

    Returns
    -------
    ndarray of float32, (256,)
        Square roots of fractions that sum to 1, so that distances are Hellinger distances.
    """
    from PIL import Image as Pillow

    hsv = np.asarray(Pillow.fromarray(np.ascontiguousarray(image)).convert("HSV")).reshape(-1, 3)
    hue, saturation, value = (
        hsv[:, i].astype(np.int64) * n // 256 for i, n in enumerate(_HSV_BINS)
    )
    hue[hsv[:, 1] < _GRAY] = 0
    joint = np.ravel_multi_index((hue, saturation, value), _HSV_BINS)
    histogram = np.bincount(joint, minlength=int(np.prod(_HSV_BINS)))
    return np.sqrt(histogram / len(joint)).astype(np.float32)


def lab_histogram(image: Image) -> NDArray[np.float32]:
    """Separate histograms of lightness, green-red and blue-yellow (CIE Lab, D65), as in AC-color.

    Parameters
    ----------
    image : ndarray of uint8, (height, width, 3)
        Red, green, blue (sRGB).

    Returns
    -------
    ndarray of float32, (69,)
        Fractions that sum to 1 for each of the three.
    """
    lab = _rgb_to_lab(image.reshape(-1, 3))
    # Values rounded below 0 or above 100 belong to the outermost bins.
    counts = [
        np.histogram(np.clip(lab[:, i], low, high), _LAB_BINS, range=(low, high))[0]
        for i, (low, high) in enumerate(_LAB_RANGES)
    ]
    return (np.concatenate(counts) / len(lab)).astype(np.float32)


def _rgb_to_lab(rgb: NDArray[np.uint8]) -> NDArray[np.float64]:
    levels = np.arange(256) / 255.0
    linear = np.where(levels <= 0.04045, levels / 12.92, ((levels + 0.055) / 1.055) ** 2.4)[rgb]
    # Divided by the white point, to which pure white maps.
    xyz = linear @ (_LINEAR_TO_XYZ / _LINEAR_TO_XYZ.sum(axis=1, keepdims=True)).T
    f = np.where(xyz > (6 / 29) ** 3, np.cbrt(xyz), xyz / (3 * (6 / 29) ** 2) + 4 / 29)
    x, y, z = f.T
    return np.stack([116 * y - 16, 500 * (x - y), 200 * (y - z)], axis=1)


HOG_RECIPE = 1
_CELL = 16
_N_CELLS = 4
_N_ORIENTATIONS = 9
HOG_SIZE = _CELL * _N_CELLS
_CLIP = 0.2
_EPSILON = 1e-5
# Far below any visible gradient; gives a blank image equal weight in all directions instead of a
# zero row.
_NO_DIRECTION = 1e-7


def _hog_of_image(image: Image) -> NDArray[np.float32]:
    return histogram_of_gradients(image @ np.array([0.299, 0.587, 0.114]) / 255.0)


def histogram_of_gradients(gray: NDArray[Any]) -> NDArray[np.float32]:
    """Histogram of unsigned gradient directions, weighted by magnitude.

    Parameters
    ----------
    gray : ndarray, (64, 64)
        Brightness in [0, 1].

    Returns
    -------
    ndarray of float32, (324,)
        Blocks row by row, each with 2 x 2 cells of 9 orientations, normalized, clipped at 0.2 and
        normalized again.
    """
    down, right = np.zeros_like(gray), np.zeros_like(gray)
    down[1:-1] = gray[2:] - gray[:-2]
    right[:, 1:-1] = gray[:, 2:] - gray[:, :-2]
    turn = np.degrees(np.arctan2(down, right)) % 180.0
    orientation = (turn / (180.0 / _N_ORIENTATIONS)).astype(np.int64) % _N_ORIENTATIONS
    row, column = np.indices(gray.shape) // _CELL
    place = np.ravel_multi_index((row, column, orientation), (_N_CELLS, _N_CELLS, _N_ORIENTATIONS))
    counts = np.bincount(
        place.ravel(), np.hypot(down, right).ravel(), _N_CELLS**2 * _N_ORIENTATIONS
    )
    cells = counts.reshape(_N_CELLS, _N_CELLS, _N_ORIENTATIONS) / _CELL**2 + _NO_DIRECTION
    blocks = [
        _normalize(cells[i : i + 2, j : j + 2].ravel())
        for i in range(_N_CELLS - 1)
        for j in range(_N_CELLS - 1)
    ]
    return np.concatenate(blocks).astype(np.float32)


def _normalize(block: NDArray[Any]) -> NDArray[Any]:
    unit = block / np.sqrt(np.sum(block**2) + _EPSILON**2)
    cut = np.minimum(unit, _CLIP)
    return np.asarray(cut / np.sqrt(np.sum(cut**2) + _EPSILON**2))
