"""Abruptness: how far the jump at a frame stands out from the jumps nearby, as at a cut."""

from __future__ import annotations

import numpy as np

from dayline.arrays import Array, FloatArray, to_numpy
from dayline.method.graph import unit_rows

__all__ = ["abruptness", "hard_cuts"]

HARD = 2.0
"""Robust standard deviations above which a jump is a hard cut: two, as usual."""


def abruptness(x: Array, *, reach: int = 2, neighbourhood: int = 101) -> FloatArray:
    """Measure how much a jump stands out from the jumps nearby, in robust standard deviations of their logarithm.

    Parameters
    ----------
    x : array of shape (n_frames, n_dims)
        Standardized features.
    reach : int >= 1
        Frames averaged before and after; the jump is the cosine distance of both means.
    neighbourhood : int, odd
        Frames over which the usual jump is taken (a running median).
    """
    from scipy.ndimage import median_filter

    u = unit_rows(to_numpy(x).astype(np.float64))
    n = len(u)
    if n < 2 * reach + 2:
        return np.zeros(n)
    jump = 1.0 - _cosine_of_sums(u, reach)
    logarithm = np.log(np.maximum(jump, 0.0) + 1e-6)
    # Odd, or the median would lean to one side.
    size = min(neighbourhood, n - 1 - n % 2)
    excess = logarithm - median_filter(logarithm, size, mode="reflect")
    usual = 1.4826 * float(np.median(np.abs(excess)))
    return np.concatenate([[0.0], excess / (usual + 1e-9)])


def _cosine_of_sums(u: FloatArray, reach: int) -> FloatArray:
    """Cosine of the sum of the `reach` rows before and of the `reach` rows from t on, for t = 1 to n - 1."""
    n = len(u)
    # From products of neighbours, not from sums of rows: features may have thousands of columns. Rows of zero stand
    # for frames before the first and after the last.
    products = np.zeros((2 * reach, n + 2 * reach))
    for lag in range(2 * reach):
        products[lag, reach : n + reach - lag] = np.einsum("ij,ij->i", u[: n - lag], u[lag:])
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
