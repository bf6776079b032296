"""How dear: among the prices a boundary may have, those on which the answer hangs least."""

from __future__ import annotations

import numpy as np

from dayline.arrays import FloatArray
from dayline.boundaries import partition

__all__ = ["steady_factor"]

STEP = 0.11
"""Logarithm of the largest factor from one price to the next."""

RANGE = np.log(3.0)
"""Logarithm of how far apart the two ends of a range of prices are, within half a step."""

STEEPEST = 1.2
"""Share lost by factor e beyond which a loss is no worse; noise loses about 1."""

DOUBT = 4.0
"""Standard errors by which a count of boundaries is doubted; high prices leave few, and few prove little."""

UNDECIDED = 0.03
"""Difference of the criterion below which two prices are taken together."""


def steady_factor(x: FloatArray, prices: FloatArray, *, room: float) -> float:
    """How much dearer boundaries should be, between 1 and `room`.

    For every price it is measured how many boundaries are given up over a range of prices around it, from 1/sqrt(3)
    to sqrt(3) times it: the fall of the logarithm of their number by factor e, at most 1.2. Noise and wandering give
    up boundaries at every price; where events are clear, there is a range over which hardly any is lost. To this,
    4/sqrt(n + 1) is added for the n boundaries at the price: a plateau of few boundaries may be chance, and one of
    none is not looked at. The answer is the mean logarithm of the factors, weighted by exp(-criterion / 0.03), so
    that prices which are nearly as good are taken together.

    Parameters
    ----------
    x : ndarray of shape (n_frames, n_dims)
        Unit rows of an embedding.
    prices : ndarray of shape (n_frames,)
        Lowest price of a boundary at every frame.
    room : float >= 1
        The highest factor on them.
    """
    if np.log(room) < STEP / 5:
        return 1.0
    n_steps = int(np.ceil(np.log(room) / STEP))
    step = np.log(room) / n_steps
    half = max(round(RANGE / 2 / step), 1)
    logarithms = step * np.arange(-half, n_steps + half + 1)
    counts = _counts(x, prices, np.exp(logarithms))
    lost = (np.log(counts[: -2 * half] + 0.5) - np.log(counts[2 * half :] + 0.5)) / (2 * half * step)
    left, dearer = counts[half:-half], logarithms[half:-half]
    if not np.any(left):
        return 1.0
    criterion = np.where(left > 0, np.minimum(lost, STEEPEST) + DOUBT / np.sqrt(left + 1.0), np.inf)
    weights = np.exp((criterion.min() - criterion) / UNDECIDED)
    return float(np.clip(np.exp(weights @ dearer / weights.sum()), 1.0, room))


def _counts(x: FloatArray, prices: FloatArray, factors: FloatArray) -> FloatArray:
    """How many boundaries there are at every factor, each level chosen from the one before."""
    found = partition(x, penalty=prices * factors[0])
    counts = [len(found)]
    for factor in factors[1:]:
        found = partition(x, penalty=prices * factor, candidates=found.tolist())
        counts.append(len(found))
    return np.asarray(counts, dtype=np.float64)
