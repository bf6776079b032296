"""Hard cuts: where the picture jumps, and what that means for all other frames if events begin with one."""

from __future__ import annotations

import numpy as np

from dayline.arrays import Array, FloatArray, to_numpy
from dayline.decision.partition import partition
from dayline.method.graph import unit_rows

__all__ = ["abruptness", "cut_discount", "gradual_factor", "hard_cuts"]

DISCOUNT = 8.0
"""How much a hard cut lowers the penalty; chosen with the constants of penalties.py."""

HARD = 2.0
"""Abruptness above which a jump is a hard cut."""

CLEAR = 2.0
"""Factor on the penalty at which a clear boundary still remains."""

MAJORITY = 1.5
"""How many clear boundaries must be hard cuts, for each that is not, before the penalty of other frames rises."""

MAX_FACTOR = 8.0
"""Highest factor on the penalty of other frames if events begin with hard cuts."""

TURNS = 4
"""How often the clear boundaries are found, each time with the new penalties."""

NEAR = 2
"""Frames by which a boundary may be off its cut."""


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
    """Abruptness where it is the highest of five frames, else 0: a cut shows in the jumps beside it too."""
    from scipy.ndimage import maximum_filter1d

    return np.where(jumps >= maximum_filter1d(jumps, 5), np.maximum(jumps, 0.0), 0.0)


def cut_discount(cuts: FloatArray, *, discount: float = DISCOUNT) -> FloatArray:
    """Return what the penalty of every frame is divided by: 1 + discount (a - 2) for a cut of abruptness a.

    Parameters
    ----------
    cuts : ndarray of shape (n_frames,)
        From `hard_cuts`.
    discount : float >= 0
        How much a hard cut lowers the penalty.
    """
    return np.asarray(1.0 + discount * np.clip(cuts - HARD, 0.0, 10.0))


def gradual_factor(x: FloatArray, penalties: FloatArray, cuts: FloatArray) -> FloatArray:
    """Return the factor on the penalty of every frame that is not a hard cut.

    In spliced recordings events begin with a cut, and gradual change is movement within one. Whether a sequence is
    spliced shows in its clear boundaries, those that remain at twice the undiscounted penalty: with c hard cuts among
    them and p others, the penalty of frames without a cut rises by (c + 1/2) / (p + 1/2) / 1.5, from 1 to 8. This is
    repeated with the new penalties until nothing changes, at most four times. The factor fades between an abruptness
    of 1 and 2.

    Parameters
    ----------
    x : ndarray of shape (n_frames, n_dims)
        Unit rows of an embedding.
    penalties : ndarray of shape (n_frames,)
        Lowest penalty of a boundary at every frame, without the discount of hard cuts.
    cuts : ndarray of shape (n_frames,)
        From `hard_cuts`.
    """
    from scipy.ndimage import maximum_filter1d

    smooth = np.clip(HARD - cuts, 0.0, 1.0)
    beside = maximum_filter1d(cuts, 2 * NEAR + 1) > HARD
    factor = 1.0
    for _ in range(TURNS):
        clear = partition(x, penalty=CLEAR * penalties * factor**smooth)
        n_cuts = int(np.sum(beside[clear]))
        odds = (n_cuts + 0.5) / (len(clear) - n_cuts + 0.5)
        before, factor = factor, float(np.clip(odds / MAJORITY, 1.0, MAX_FACTOR))
        if factor == before:
            break
    return np.asarray(factor**smooth)
