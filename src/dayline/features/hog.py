"""Histograms of oriented gradients (Dalal and Triggs 2005): 324 features, as used for the motion data sets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dayline.features.network import fingerprint_of
from dayline.features.preprocess import Image, resize

__all__ = ["HogExtractor", "histogram_of_gradients"]

_RECIPE = 1
_CELL = 16
_N_CELLS = 4
_N_ORIENTATIONS = 9
_SIZE = _CELL * _N_CELLS
_CLIP = 0.2
_EPSILON = 1e-5
# Far below any visible gradient; gives a blank image equal weight in all directions instead of a zero row.
_NO_DIRECTION = 1e-7


@dataclass(frozen=True)
class HogExtractor:
    """Gradients in 4 x 4 cells of 9 orientations, normalised in 3 x 3 overlapping blocks of 2 x 2 cells."""

    name: str = "hog"

    @property
    def fingerprint(self) -> str:
        """Hash of everything that affects the values."""
        return fingerprint_of("hog", _RECIPE, _CELL, _N_CELLS, _N_ORIENTATIONS, _CLIP)

    @property
    def n_features(self) -> int:
        """Number of features."""
        return (_N_CELLS - 1) ** 2 * 4 * _N_ORIENTATIONS

    @property
    def input_size(self) -> int:
        """Minimum shorter side of decoded images."""
        return _SIZE

    def prepare(self, image: Image) -> NDArray[np.float32]:
        """Compute the histogram here, where it runs in parallel."""
        pixels = resize(image, size=_SIZE, crop=None, interpolation="bilinear")
        grey = pixels @ np.array([0.299, 0.587, 0.114]) / 255.0
        return histogram_of_gradients(grey)

    def extract(self, batch: NDArray[Any]) -> NDArray[np.float32]:
        """Return the histograms unchanged."""
        return batch.astype(np.float32, copy=False)


def histogram_of_gradients(grey: NDArray[Any]) -> NDArray[np.float32]:
    """Histogram of unsigned gradient directions, weighted by magnitude.

    Parameters
    ----------
    grey : ndarray, (64, 64)
        Brightness in [0, 1].

    Returns
    -------
    ndarray of float32, (324,)
        Blocks row by row, each with 2 x 2 cells of 9 orientations, normalised, clipped at 0.2 and normalised again.
    """
    down, right = np.zeros_like(grey), np.zeros_like(grey)
    down[1:-1] = grey[2:] - grey[:-2]
    right[:, 1:-1] = grey[:, 2:] - grey[:, :-2]
    turn = np.degrees(np.arctan2(down, right)) % 180.0
    orientation = (turn / (180.0 / _N_ORIENTATIONS)).astype(np.int64) % _N_ORIENTATIONS
    row, column = np.indices(grey.shape) // _CELL
    place = np.ravel_multi_index((row, column, orientation), (_N_CELLS, _N_CELLS, _N_ORIENTATIONS))
    counts = np.bincount(place.ravel(), np.hypot(down, right).ravel(), _N_CELLS**2 * _N_ORIENTATIONS)
    cells = counts.reshape(_N_CELLS, _N_CELLS, _N_ORIENTATIONS) / _CELL**2 + _NO_DIRECTION
    blocks = [
        _normalise(cells[i : i + 2, j : j + 2].ravel()) for i in range(_N_CELLS - 1) for j in range(_N_CELLS - 1)
    ]
    return np.concatenate(blocks).astype(np.float32)


def _normalise(block: NDArray[Any]) -> NDArray[Any]:
    unit = block / np.sqrt(np.sum(block**2) + _EPSILON**2)
    cut = np.minimum(unit, _CLIP)
    return np.asarray(cut / np.sqrt(np.sum(cut**2) + _EPSILON**2))
