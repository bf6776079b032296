"""How dear: among the prices a boundary may have, those on which the answer hangs least."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dayline.arrays import FloatArray
from dayline.decision.partition import partition

__all__ = ["PriceCurve", "price_curve", "steadiest", "steady_factor"]

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


@dataclass(frozen=True)
class PriceCurve:
    """How many boundaries there are at every price, and how fast they are given up.

    Attributes
    ----------
    dearer : ndarray
        Logarithms of the factors on the lowest price.
    left : ndarray
        Boundaries at each of them.
    lost : ndarray
        Fall of the logarithm of their number by factor e, over a range of prices around each.
    """

    dearer: FloatArray
    left: FloatArray
    lost: FloatArray


def steady_factor(x: FloatArray, prices: FloatArray, *, room: float) -> float:
    """How much dearer boundaries should be, between 1 and `room`; see `price_curve` and `steadiest`.

    Parameters
    ----------
    x : ndarray of shape (n_frames, n_dims)
        Unit rows of an embedding.
    prices : ndarray of shape (n_frames,)
        Lowest price of a boundary at every frame.
    room : float >= 1
        The highest factor on them.
    """
    curve = price_curve(x, prices, room=room)
    return 1.0 if curve is None else min(steadiest(curve), room)


def price_curve(x: FloatArray, prices: FloatArray, *, room: float) -> PriceCurve | None:
    """Count boundaries at prices from the lowest to `room` times it, and a range beyond on both sides.

    None where there is no room. Parameters are those of `steady_factor`.
    """
    if np.log(room) < STEP / 5:
        return None
    n_steps = int(np.ceil(np.log(room) / STEP))
    step = np.log(room) / n_steps
    half = max(round(RANGE / 2 / step), 1)
    logarithms = step * np.arange(-half, n_steps + half + 1)
    counts = _counts(x, prices, np.exp(logarithms))
    lost = (np.log(counts[: -2 * half] + 0.5) - np.log(counts[2 * half :] + 0.5)) / (2 * half * step)
    return PriceCurve(logarithms[half:-half], counts[half:-half], lost)


def steadiest(curve: PriceCurve, *, doubt: float = DOUBT, undecided: float = UNDECIDED) -> float:
    """Take the factor on which the answer hangs least.

    The criterion is how many boundaries are given up over a range of prices, from 1/sqrt(3) to sqrt(3) times the
    price: the fall of the logarithm of their number by factor e, at most 1.2. Noise and wandering give up boundaries
    at every price; where events are clear, there is a range over which hardly any is lost. To this, doubt / sqrt(n +
    1) is added for the n boundaries at the price: a plateau of few boundaries may be chance, and one of none is not
    looked at. The answer is the mean logarithm of the factors, weighted by exp(-criterion / undecided), so that
    prices which are nearly as good are taken together.

    Parameters
    ----------
    curve : PriceCurve
        From `price_curve`.
    doubt : float >= 0
        Standard errors by which a count is doubted.
    undecided : float > 0
        Difference of the criterion below which two prices are taken together.
    """
    if not np.any(curve.left):
        return 1.0
    unsure = np.minimum(curve.lost, STEEPEST) + doubt / np.sqrt(curve.left + 1.0)
    criterion = np.where(curve.left > 0, unsure, np.inf)
    weights = np.exp((criterion.min() - criterion) / undecided)
    mean = float(weights @ curve.dearer / weights.sum())
    return float(np.exp(np.clip(mean, 0.0, curve.dearer[-1])))


def _counts(x: FloatArray, prices: FloatArray, factors: FloatArray) -> FloatArray:
    """How many boundaries there are at every factor, each level chosen from the one before."""
    found = partition(x, penalty=prices * factors[0])
    counts = [len(found)]
    for factor in factors[1:]:
        found = partition(x, penalty=prices * factor, candidates=found.tolist())
        counts.append(len(found))
    return np.asarray(counts, dtype=np.float64)
