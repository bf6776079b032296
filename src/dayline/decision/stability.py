"""Stability: among the penalties a boundary may have, those on which the boundaries depend least."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dayline.arrays import FloatArray
from dayline.decision.partition import partition

__all__ = ["PenaltyCurve", "most_stable_factor", "penalty_curve", "stable_factor"]

STEP = 0.11
"""Logarithm of the largest factor from one penalty to the next."""

RANGE = np.log(3.0)
"""Logarithm of how far apart the two ends of a range of penalties are, within half a step."""

STEEPEST = 1.2
"""Largest loss that counts, as a share by factor e; noise loses about 1."""

DOUBT = 4.0
"""Standard errors by which a count of boundaries is doubted; high penalties leave few, and few prove little."""

UNDECIDED = 0.03
"""Difference of the criterion below which two penalties are averaged."""


@dataclass(frozen=True)
class PenaltyCurve:
    """How many boundaries remain at every penalty, and how fast they disappear.

    Attributes
    ----------
    log_factors : ndarray
        Logarithms of the factors on the lowest penalty.
    n_boundaries : ndarray
        Number of boundaries at each of them.
    loss : ndarray
        Fall of the logarithm of that number by factor e, over a range of penalties around each.
    """

    log_factors: FloatArray
    n_boundaries: FloatArray
    loss: FloatArray


def stable_factor(x: FloatArray, penalties: FloatArray, *, max_factor: float) -> float:
    """Choose a factor on all penalties, between 1 and `max_factor`; see `penalty_curve` and `most_stable_factor`.

    Parameters
    ----------
    x : ndarray of shape (n_frames, n_dims)
        Unit rows of an embedding.
    penalties : ndarray of shape (n_frames,)
        Lowest penalty of a boundary at every frame.
    max_factor : float >= 1
        The highest factor.
    """
    curve = penalty_curve(x, penalties, max_factor=max_factor)
    return 1.0 if curve is None else min(most_stable_factor(curve), max_factor)


def penalty_curve(x: FloatArray, penalties: FloatArray, *, max_factor: float) -> PenaltyCurve | None:
    """Count boundaries at penalties from the lowest to `max_factor` times it, and a range beyond on both sides.

    None if `max_factor` is (nearly) 1. Parameters are those of `stable_factor`.
    """
    if np.log(max_factor) < STEP / 5:
        return None
    n_steps = int(np.ceil(np.log(max_factor) / STEP))
    step = np.log(max_factor) / n_steps
    half = max(round(RANGE / 2 / step), 1)
    logarithms = step * np.arange(-half, n_steps + half + 1)
    counts = _counts(x, penalties, np.exp(logarithms))
    loss = (np.log(counts[: -2 * half] + 0.5) - np.log(counts[2 * half :] + 0.5)) / (2 * half * step)
    return PenaltyCurve(logarithms[half:-half], counts[half:-half], loss)


def most_stable_factor(curve: PenaltyCurve, *, doubt: float = DOUBT, undecided: float = UNDECIDED) -> float:
    """Choose the factor on which the boundaries depend least.

    The criterion is how many boundaries disappear over a range of penalties, from 1/sqrt(3) to sqrt(3) times the
    penalty: the fall of the logarithm of their number by factor e, at most 1.2. Noise and drift lose boundaries at
    every penalty; if events are clear, there is a range over which hardly any is lost. To this, doubt / sqrt(n + 1)
    is added for the n boundaries at the penalty: a plateau of few boundaries may be chance, and one without any is
    ignored. The result is the mean logarithm of the factors, weighted by exp(-criterion / undecided), so that
    penalties that are nearly as good are averaged.

    Parameters
    ----------
    curve : PenaltyCurve
        From `penalty_curve`.
    doubt : float >= 0
        Standard errors by which a count is doubted.
    undecided : float > 0
        Difference of the criterion below which two penalties are averaged.
    """
    if not np.any(curve.n_boundaries):
        return 1.0
    unsure = np.minimum(curve.loss, STEEPEST) + doubt / np.sqrt(curve.n_boundaries + 1.0)
    criterion = np.where(curve.n_boundaries > 0, unsure, np.inf)
    weights = np.exp((criterion.min() - criterion) / undecided)
    mean = float(weights @ curve.log_factors / weights.sum())
    return float(np.exp(np.clip(mean, 0.0, curve.log_factors[-1])))


def _counts(x: FloatArray, penalties: FloatArray, factors: FloatArray) -> FloatArray:
    """Count the boundaries at every factor, each set chosen from the one before."""
    found = partition(x, penalty=penalties * factors[0])
    counts = [len(found)]
    for factor in factors[1:]:
        found = partition(x, penalty=penalties * factor, candidates=found.tolist())
        counts.append(len(found))
    return np.asarray(counts, dtype=np.float64)
