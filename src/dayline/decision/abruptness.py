"""Abruptness: how far the jump at a frame stands out from the jumps nearby, as at a cut."""

from __future__ import annotations

import numpy as np

from dayline.arrays import Array, FloatArray, row_blocks, to_numpy
from dayline.method.denoise import ScaledRows
from dayline.method.graph import unit_rows

__all__ = ["abruptness", "hard_cuts"]

HARD = 2.0
"""Robust standard deviations above which a jump is a hard cut: two, as usual."""


def abruptness(x: Array | ScaledRows, *, reach: int = 2, neighbourhood: int = 101) -> FloatArray:
    """Measure how much a jump stands out from the jumps nearby, in robust standard deviations of their logarithm.

    Parameters
    ----------
    x : array or ScaledRows of shape (n_frames, n_dims)
        Standardized features.
    reach : int >= 1
        Frames averaged before and after; the jump is the cosine distance of both means.
    neighbourhood : int, odd
        Frames over which the usual jump is taken (a running median).
    """
    from scipy.ndimage import median_filter

    n = len(x)
    if n < 2 * reach + 2:
        return np.zeros(n)
    jump = 1.0 - _cosine_of_sums(x, reach)
    logarithm = np.log(np.maximum(jump, 0.0) + 1e-6)
    # Odd, or the median would lean to one side.
    size = min(neighbourhood, n - 1 - n % 2)
    excess = logarithm - median_filter(logarithm, size, mode="reflect")
    usual = 1.4826 * float(np.median(np.abs(excess)))
    return np.concatenate([[0.0], excess / (usual + 1e-9)])


def _cosine_of_sums(x: Array | ScaledRows, reach: int) -> FloatArray:
    """Cosine of the sum of the `reach` unit rows before and of the `reach` from t on, for t = 1 to n - 1."""
    n = len(x)
    # From products of neighbours, not from sums of rows: features may have thousands of columns. Rows of zero stand
    # for frames before the first and after the last.
    products = np.zeros((2 * reach, n + 2 * reach))
    for block in row_blocks(x):
        first = block.start
        u = unit_rows(to_numpy(x[first : block.stop + 2 * reach - 1]).astype(np.float64, copy=False))
        for lag in range(2 * reach):
            size = max(0, min(block.stop, n - lag) - first)
            at = slice(first + reach, first + reach + size)
            products[lag, at] = np.einsum("ij,ij->i", u[:size], u[lag : lag + size])
    t = np.arange(1, n) + reach

    def total(first: range, second: range) -> FloatArray:
        return np.asarray(sum(products[abs(j - i), t + min(i, j)] for i in first for j in second))

    before, after = range(-reach, 0), range(reach)
    length = np.sqrt(np.maximum(total(before, before) * total(after, after), 0.0))
    return np.asarray(total(before, after) / np.where(length > 0, length, np.inf))


def hard_cuts(jumps: FloatArray) -> FloatArray:
    """Return by how much each jump exceeds that of a hard cut, 0 to 10, where it is the highest of five frames."""
    from scipy.ndimage import maximum_filter1d

    # A cut shows in the jumps beside it too.
    return np.where(jumps >= maximum_filter1d(jumps, 5), np.clip(jumps - HARD, 0.0, 10.0), 0.0)
