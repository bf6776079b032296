"""How frames differ from those beside them: how abruptly, as at a cut, and how slowly, as at a high frame rate."""

from __future__ import annotations

import numpy as np

from dayline.arrays import Array, FloatArray, row_blocks, to_numpy
from dayline.method.denoise import ScaledRows
from dayline.method.graph import unit_rows

__all__ = ["abruptness", "compare_neighbours", "hard_cuts", "slowness"]

N_LAGS = 5
"""Lags at which frames are compared, from 0 on."""

MOST_SLOWNESS, LEAST_UNITS = 10.0, 24
"""Highest slowness that counts (some smooth recordings have events of only twenty frames), and least number of frames
per unit of it, so that a short sequence can still have several events."""

HARD = 2.0
"""Robust standard deviations above which a jump is a hard cut: two, as usual."""


def compare_neighbours(x: Array | ScaledRows) -> FloatArray:
    """Return the cosine of frames t and t + lag, for lags 0 to 4, shape (5, n_frames); 0 after the last frame."""
    cosines = np.zeros((N_LAGS, len(x)))
    # In one pass over rows that may be computed as they are needed.
    for block in row_blocks(x):
        rows = unit_rows(to_numpy(x[block.start : block.stop + N_LAGS - 1]).astype(np.float64, copy=False))
        for lag in range(N_LAGS):
            later = rows[lag : lag + block.stop - block.start]
            found = np.einsum("ij,ij->i", rows[: len(later)], later)
            cosines[lag, block.start : block.start + len(found)] = found
    return cosines


def abruptness(cosines: FloatArray) -> FloatArray:
    """Measure how much a jump stands out from the jumps nearby, in robust standard deviations of their logarithm.

    The jump is the cosine distance between the sum of two frames before t and that of two from t on; the usual jump
    is a running median over 101 frames. Cosines of neighbours are enough: features may have thousands of columns.
    """
    from scipy.ndimage import median_filter

    n = cosines.shape[1]
    if n < 6:
        return np.zeros(n)
    own, one, two, three, _ = np.pad(cosines, ((0, 0), (2, 2)))
    squares = own[:-1] + own[1:] + 2 * one[:-1]
    across = (one + two)[2 : n + 1] + (two + three)[1:n]
    lengths = np.sqrt(np.maximum(squares[1:n] * squares[3 : n + 2], 0.0))
    jump = 1.0 - across / np.where(lengths > 0, lengths, np.inf)
    logarithm = np.log(np.maximum(jump, 0.0) + 1e-6)
    # Odd, or the median would lean to one side.
    size = min(101, n - 1 - n % 2)
    excess = logarithm - median_filter(logarithm, size, mode="reflect")
    usual = 1.4826 * float(np.median(np.abs(excess)))
    return np.concatenate([[0.0], excess / (usual + 1e-9)])


def hard_cuts(jumps: FloatArray) -> FloatArray:
    """Return by how much each jump exceeds that of a hard cut, 0 to 10, where it is the highest of five frames."""
    from scipy.ndimage import maximum_filter1d

    # A cut shows in the jumps beside it too.
    return np.where(jumps >= maximum_filter1d(jumps, 5), np.clip(jumps - HARD, 0.0, 10.0), 0.0)


def slowness(cosines: FloatArray) -> float:
    """Return how many times as much frames differ after four frames as after one.

    1 if all that changes within events is noise, 4 for a random walk, 16 for steady motion. At most 10 is returned,
    and at most a 24th of the number of frames. It grows with the frame rate of a recording. The means of the lower
    half of the squared distances are compared, so that pairs of frames from different events do not count.
    """
    own, *_ = cosines
    n = len(own)
    if n < 2 * N_LAGS:
        return 1.0

    def usual_distance(lag: int) -> float:
        squares = own[:-lag] + own[lag:] - 2 * cosines[lag, :-lag]
        return float(np.mean(np.partition(squares, n // 2 - lag)[: n // 2 - lag + 1]))

    after_one, after_four = usual_distance(1), usual_distance(N_LAGS - 1)
    # Equal frames differ by rounding, or by noise of a millionth.
    if after_four < 1e-9:
        return 1.0
    return float(np.clip(after_four / max(after_one, 1e-9), 1.0, max(1.0, min(MOST_SLOWNESS, n / LEAST_UNITS))))
