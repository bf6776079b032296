"""Hard cuts: where the picture jumps, and what it means for all other places when events begin with one."""

from __future__ import annotations

import numpy as np

from dayline.arrays import Array, FloatArray, to_numpy
from dayline.decision.partition import partition
from dayline.method.graph import unit_rows

__all__ = ["abruptness", "cut_discount", "hard_cuts", "plain_factor"]

DISCOUNT = 8.0
"""How much cheaper a hard cut is; chosen with the constants of prices.py."""

HARD = 2.0
"""Abruptness above which a jump is a hard cut."""

SURE = 2.0
"""Factor on the price at which a boundary still stands that is sure."""

MAJORITY = 1.5
"""How many sure boundaries must be hard cuts, for every one that is none, before other places become dearer."""

DEAREST = 8.0
"""Highest factor on the price of other places where events begin with hard cuts."""

TURNS = 4
"""How often it is asked again which boundaries are sure, now that other places are dearer."""

NEAR = 2
"""Frames by which a boundary may stand beside its cut."""


def abruptness(x: Array, *, reach: int = 2, neighbourhood: int = 101) -> FloatArray:
    """How much a jump stands out from the jumps around it, in robust standard deviations of their logarithm.

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
    """By how much the price of a boundary is divided at every frame: 1 + discount (a - 2) for a cut of abruptness a.

    Parameters
    ----------
    cuts : ndarray of shape (n_frames,)
        From `hard_cuts`.
    discount : float >= 0
        How much cheaper a hard cut is.
    """
    return np.asarray(1.0 + discount * np.clip(cuts - HARD, 0.0, 10.0))


def plain_factor(x: FloatArray, prices: FloatArray, cuts: FloatArray) -> FloatArray:
    """How much dearer a boundary is at every frame because it is no hard cut.

    Where recordings were spliced, events begin with a cut, and what changes smoothly is movement within one. Whether
    this is so shows in the sure boundaries, those that stand at twice the price without any discount: with c hard
    cuts among them and p others, a place that is no cut is dearer by (c + 1/2) / (p + 1/2) / 1.5, from 1 to 8. This
    is asked again at the new prices until nothing changes, four times at most. Between an abruptness of 1 and 2 it
    fades.

    Parameters
    ----------
    x : ndarray of shape (n_frames, n_dims)
        Unit rows of an embedding.
    prices : ndarray of shape (n_frames,)
        Lowest price of a boundary at every frame, without the discount of hard cuts.
    cuts : ndarray of shape (n_frames,)
        From `hard_cuts`.
    """
    from scipy.ndimage import maximum_filter1d

    smooth = np.clip(HARD - cuts, 0.0, 1.0)
    beside = maximum_filter1d(cuts, 2 * NEAR + 1) > HARD
    factor = 1.0
    for _ in range(TURNS):
        sure = partition(x, penalty=SURE * prices * factor**smooth)
        n_cuts = int(np.sum(beside[sure]))
        odds = (n_cuts + 0.5) / (len(sure) - n_cuts + 0.5)
        before, factor = factor, float(np.clip(odds / MAJORITY, 1.0, DEAREST))
        if factor == before:
            break
    return np.asarray(factor**smooth)
