"""How frames differ from those beside them: how abruptly, as at a cut, and how slowly, as at a high frame rate."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dayline.arrays import Array, FloatArray, row_blocks, to_numpy
from dayline.method.denoise import ScaledRows

__all__ = ["Neighbours", "abruptness", "compare_neighbours", "hard_cuts", "slowness"]

REACH = 2
"""Frames averaged before and after a jump."""

NEIGHBOURHOOD = 101
"""Frames over which the usual jump is taken."""

N_LAGS = 2 * REACH + 1
"""Lags at which frames are compared, from 0 on."""

MOST_SLOWNESS = 10.0
"""Highest slowness that counts: some smooth recordings have events of only twenty frames."""

LEAST_UNITS = 24
"""Least number of frames per unit of slowness, so that a short sequence can still have several events."""

HARD = 2.0
"""Robust standard deviations above which a jump is a hard cut: two, as usual."""


@dataclass(frozen=True)
class Neighbours:
    """How alike the frames beside each other are.

    Attributes
    ----------
    products : ndarray of shape (5, n_frames)
        Product of frames t and t + lag, for lags 0 to 4; 0 where there is no frame t + lag.
    cosines : ndarray of shape (5, n_frames)
        Their cosine; 0 where one of them is.
    total : ndarray of shape (n_dims,)
        Sum of all unit rows.
    """

    products: FloatArray
    cosines: FloatArray
    total: FloatArray


def compare_neighbours(x: Array | ScaledRows) -> Neighbours:
    """Compare every frame with the next few, in one pass over rows that may be computed as they are needed.

    Parameters
    ----------
    x : array or ScaledRows of shape (n_frames, n_dims)
        Standardized features.
    """
    n = len(x)
    # Lags after the last frame meet zeros.
    products, inverse, total = np.zeros((N_LAGS, n)), np.zeros(n + N_LAGS), np.zeros(x.shape[1])
    for block in row_blocks(x):
        first = block.start
        rows = to_numpy(x[first : block.stop + N_LAGS - 1]).astype(np.float64, copy=False)
        for lag in range(N_LAGS):
            size = max(0, min(block.stop, n - lag) - first)
            products[lag, first : first + size] = np.einsum("ij,ij->i", rows[:size], rows[lag : lag + size])
        lengths = np.sqrt(products[0, block])
        np.divide(1.0, lengths, out=inverse[block], where=lengths > 0)
        total += inverse[block] @ rows[: len(lengths)]
    later = np.stack([inverse[lag : lag + n] for lag in range(N_LAGS)])
    return Neighbours(products, products * inverse[:n] * later, total)


def abruptness(neighbours: Neighbours) -> FloatArray:
    """Measure how much a jump stands out from the jumps nearby, in robust standard deviations of their logarithm.

    The jump is the cosine distance between the mean of two frames before and that of two from t on; the usual jump
    is a running median over 101 frames.

    Parameters
    ----------
    neighbours : Neighbours
        From `compare_neighbours`.
    """
    from scipy.ndimage import median_filter

    n = neighbours.cosines.shape[1]
    if n < 2 * REACH + 2:
        return np.zeros(n)
    jump = 1.0 - _cosine_of_sums(neighbours.cosines)
    logarithm = np.log(np.maximum(jump, 0.0) + 1e-6)
    # Odd, or the median would lean to one side.
    size = min(NEIGHBOURHOOD, n - 1 - n % 2)
    excess = logarithm - median_filter(logarithm, size, mode="reflect")
    usual = 1.4826 * float(np.median(np.abs(excess)))
    return np.concatenate([[0.0], excess / (usual + 1e-9)])


def _cosine_of_sums(cosines: FloatArray) -> FloatArray:
    """Cosine of the sum of the unit rows before t and of that of those from t on, for t = 1 to n - 1."""
    # From products of neighbours, not from sums of rows: features may have thousands of columns.
    products = np.pad(cosines, ((0, 0), (REACH, REACH)))
    t = np.arange(1, cosines.shape[1]) + REACH

    def total(first: range, second: range) -> FloatArray:
        return np.asarray(sum(products[abs(j - i), t + min(i, j)] for i in first for j in second))

    before, after = range(-REACH, 0), range(REACH)
    length = np.sqrt(np.maximum(total(before, before) * total(after, after), 0.0))
    return np.asarray(total(before, after) / np.where(length > 0, length, np.inf))


def hard_cuts(jumps: FloatArray) -> FloatArray:
    """Return by how much each jump exceeds that of a hard cut, 0 to 10, where it is the highest of five frames."""
    from scipy.ndimage import maximum_filter1d

    # A cut shows in the jumps beside it too.
    return np.where(jumps >= maximum_filter1d(jumps, 5), np.clip(jumps - HARD, 0.0, 10.0), 0.0)


def slowness(neighbours: Neighbours) -> float:
    """Return how many times as much frames differ after four frames as after one.

    1 if all that changes within events is noise, 4 for a random walk, 16 for steady motion. At most 10 is returned,
    and at most a 24th of the number of frames. It grows with the frame rate of a recording. The means of the lower
    half of the squared distances are compared, so that pairs of frames from different events do not count.

    Parameters
    ----------
    neighbours : Neighbours
        From `compare_neighbours`.
    """
    own, *_ = neighbours.cosines
    n = len(own)
    if n < 2 * N_LAGS:
        return 1.0

    def usual_distance(lag: int) -> float:
        squares = own[:-lag] + own[lag:] - 2 * neighbours.cosines[lag, :-lag]
        return float(np.mean(np.partition(squares, n // 2 - lag)[: n // 2 - lag + 1]))

    after_one, after_four = usual_distance(1), usual_distance(N_LAGS - 1)
    # Equal frames differ by rounding, or by noise of a millionth.
    if after_four < 1e-9:
        return 1.0
    return float(np.clip(after_four / max(after_one, 1e-9), 1.0, max(1.0, min(MOST_SLOWNESS, n / LEAST_UNITS))))
