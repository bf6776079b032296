"""How dear: among the prices a boundary may have, those on which the answer hangs least."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from dayline.arrays import FloatArray, IntArray
from dayline.boundaries import partition_between

__all__ = ["steady_factor"]

STEPS = 5
"""Steps of the price from the middle of a range to its end."""

RANGE = 3.0
"""How far apart the cheapest and the dearest price of a range are."""

DOUBT = 4.0
"""Standard errors by which a count of boundaries is doubted; high prices leave few, and few prove little."""

UNDECIDED = 0.05
"""Prices that differ by less than this share are taken together."""


def steady_factor(x: FloatArray, prices: FloatArray, *, room: float, must: Iterable[int] = ()) -> float:
    """How much dearer boundaries should be, between 1 and `room`.

    For every price it is measured how many boundaries are given up over the range from 1/sqrt(3) to sqrt(3) times it,
    as a share by factor e. Noise and wandering give up boundaries at every price; where events are clear, there is a
    range over which hardly any is lost. To this, 4/sqrt(n + 1) is added for the n boundaries at the price: a plateau
    of few boundaries may be chance. The answer is the mean logarithm of the factors, weighted by
    exp(-criterion / 0.05), so that it moves a little, and does not jump, when a count changes by one.

    Parameters
    ----------
    x : ndarray of shape (n_frames, n_dims)
        Unit rows of an embedding.
    prices : ndarray of shape (n_frames,)
        Lowest price of a boundary at every frame; infinity forbids it.
    room : float >= 1
        The highest factor on them.
    must : iterable of int
        Boundaries that stay at every price; they count for nothing here.
    """
    step = np.log(RANGE) / (2 * STEPS)
    n_steps = int(np.log(max(room, 1.0)) / step)
    if n_steps == 0:
        return 1.0
    logarithms = step * np.arange(-STEPS, n_steps + STEPS + 1)
    counts = _counts(x, prices, np.exp(logarithms), np.unique(np.asarray(list(must), dtype=np.int64)))
    lost = np.log(counts[: -2 * STEPS] + 0.5) - np.log(counts[2 * STEPS :] + 0.5)
    inner, dearer = counts[STEPS:-STEPS], logarithms[STEPS:-STEPS]
    criterion = lost / np.log(RANGE) + DOUBT / np.sqrt(inner + 1.0)
    weights = np.exp((criterion.min() - criterion) / UNDECIDED)
    return float(np.exp(weights @ dearer / weights.sum()))


def _counts(x: FloatArray, prices: FloatArray, factors: FloatArray, kept: IntArray) -> FloatArray:
    """How many boundaries there are at every factor, beside the kept ones; each level chosen from the one before."""
    found = partition_between(x, prices * factors[0], kept)
    counts = [len(found)]
    for factor in factors[1:]:
        found = partition_between(x, prices * factor, kept, among=found)
        counts.append(len(found))
    return np.asarray(counts, dtype=np.float64) - len(kept)
