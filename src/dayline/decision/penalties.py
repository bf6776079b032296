"""The penalty of a boundary: from the persistence of frames, their recurrence, hard cuts, and whether order matters.

A boundary is worth its penalty if the frames before and after it differ by more than that. The bounds of the penalty
are the same for a recording of any length: twice the day has twice the events.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dayline.arrays import Array, FloatArray, to_numpy
from dayline.decision.hard_cuts import DISCOUNT, abruptness, cut_discount, hard_cuts
from dayline.decision.recurrence import REACHES, recurrence
from dayline.method.graph import unit_rows

__all__ = ["Penalties", "boundary_penalties", "order_matters", "persistence", "recurrence_factor"]

HIGHEST_PENALTY = 20.0
"""Frames of full contrast a boundary must explain at most, before recurrence and hard cuts count; chosen with the
constants below, DISCOUNT of hard_cuts.py and those of stability.py, see how-it-decides.md."""

LOWEST_PENALTY = 2.0
"""Frames of full contrast a boundary must explain at least, before recurrence and the discount of hard cuts: the
shortest event has two frames."""

RECURRENCE_STRENGTH = 3.5
"""How strongly recurrence raises the penalty."""

FADED = 0.05
"""Share of the similarity of neighbours below which frames no longer count as similar."""

PROHIBITIVE = 1e6
"""Factor on the penalties if order does not matter: no boundary is worth it, but a requested number can be met."""


@dataclass(frozen=True)
class Penalties:
    """Penalty of a boundary at every frame.

    Attributes
    ----------
    discounted, undiscounted : ndarray of shape (n_frames,)
        With and without the discount of hard cuts.
    cuts : ndarray of shape (n_frames,)
        Abruptness of the cut at each frame, 0 if there is none.
    max_factor : float >= 1
        Highest factor by which all penalties may be raised.
    """

    discounted: FloatArray
    undiscounted: FloatArray
    cuts: FloatArray
    max_factor: float = 1.0


def boundary_penalties(
    features: Array,
    denoised: Array,
    *,
    highest: float = HIGHEST_PENALTY,
    discount: float = DISCOUNT,
    recurrence_strength: float = RECURRENCE_STRENGTH,
) -> Penalties:
    """Compute the penalty of a boundary at every frame.

    The penalty is the persistence of the frames, at least 2 and at most `highest`, and may rise up to that (see
    `stable_factor`). It is higher where recurrence is high and lower where recurrence is lowest (see
    `recurrence_factor`). It is divided by 1 + discount (a - 2) where the abruptness a is above 2: a hard cut needs
    less evidence to be a boundary. If the order of frames does not matter, the penalty is higher than any boundary is
    worth.

    Parameters
    ----------
    features, denoised : array of shape (n_frames, n_features)
        Standardized features, and the same after denoising.
    highest : float > 0
        Frames of full contrast that a boundary must explain at most, before recurrence counts.
    discount : float >= 0
        How much a hard cut lowers the penalty.
    recurrence_strength : float >= 0
        How strongly recurrence raises the penalty.
    """
    values = to_numpy(features).astype(np.float64)
    ordered = order_matters(values)
    lowest = min(max(persistence(values), LOWEST_PENALTY), highest)
    penalty, max_factor = (lowest, highest / lowest) if ordered else (lowest * PROHIBITIVE, 1.0)
    undiscounted = penalty * recurrence_factor(recurrence(denoised), strength=recurrence_strength)
    cuts = hard_cuts(abruptness(values))
    return Penalties(undiscounted / cut_discount(cuts, discount=discount), undiscounted, cuts, max_factor)


def recurrence_factor(recurring: FloatArray, *, strength: float = RECURRENCE_STRENGTH) -> FloatArray:
    """Return the factor of recurrence on the penalty of every frame.

    exp(strength (r - median r)), r - median r between -0.4 and 0.4: by default by 4 either way. It is below 1 only
    near a frame with no more recurrence than the five before and after it: within one reach of a boundary every
    frame sees something new on one side. Towards the ends, where one side is short, it counts less and less.

    Parameters
    ----------
    recurring : ndarray of shape (n_frames,)
        From `recurrence`.
    strength : float >= 0
        0 changes nothing.
    """
    from scipy.ndimage import maximum_filter1d, minimum_filter1d

    # With a margin for rounding: the order of the columns must not decide which of two equal frames is the lowest.
    lowest = recurring <= minimum_filter1d(recurring, 11) + 1e-9
    # The embedding may put the same boundary a few frames away.
    near = maximum_filter1d(lowest, 9)
    excess = np.clip(recurring - np.median(recurring), -0.4, 0.4)
    t = np.arange(len(recurring))
    known = np.clip(np.minimum(t, len(t) - t) / min(REACHES), 0.0, 1.0)
    return np.exp(strength * known * np.where(near, excess, np.maximum(excess, 0.0)))


def persistence(x: Array) -> float:
    """Measure for how many frames a sequence stays alike: the summed autocorrelation, up to where it fades.

    With c(k) the mean cosine of frames k apart and b its mean over lags of half the sequence and more, or over all
    pairs if that is less, sums (c(k) - b) / (c(0) - b) from k = 0 until it first falls below 0.05.
    """
    u = unit_rows(to_numpy(x).astype(np.float64))
    n = len(u)
    if n < 4:
        return 1.0
    products = _mean_products(u)
    cosine = products / (n - np.arange(n))
    # Late recurrence must not count as the similarity of any two frames.
    any_two = (float(np.sum(u.sum(axis=0) ** 2)) - products[0]) / (n * (n - 1))
    base = min(float(cosine[n // 2 :].mean()), any_two)
    if cosine[0] - base <= 1e-12:
        return float(n)
    ratio = (cosine - base) / (cosine[0] - base)
    below = np.flatnonzero(ratio < FADED)
    stop = int(below[0]) if len(below) else n
    return max(float(ratio[:stop].sum()), 1.0)


def _mean_products(u: FloatArray) -> FloatArray:
    """Sum of u[t] . u[t + k] over t, for every lag k."""
    n, dims = u.shape
    power = np.zeros(n + 1)
    # By blocks of columns: the spectrum of wide features need not fit into memory at once.
    for first in range(0, dims, 64):
        spectrum = np.fft.rfft(u[:, first : first + 64], 2 * n, axis=0)
        power += np.sum(spectrum.real**2 + spectrum.imag**2, axis=1)
    return np.asarray(np.fft.irfft(power, 2 * n)[:n])


def order_matters(x: Array) -> bool:
    """Return whether neighbouring frames are more alike than frames in random order would be.

    The mean cosine of neighbours is compared with that of all pairs; in random order its standard deviation is that
    of the pairs over the square root of their number. Below four of them nothing can be said about events.
    """
    u = unit_rows(to_numpy(x).astype(np.float64))
    n = len(u)
    if n < 4:
        return False
    gram = u @ u.T if n <= u.shape[1] else u.T @ u
    total = float(np.sum(u.sum(axis=0) ** 2))
    square = float(np.sum(gram**2))
    own = np.sum(u * u, axis=1)
    pairs = n * (n - 1)
    mean = (total - own.sum()) / pairs
    variance = (square - np.sum(own**2)) / pairs - mean**2
    neighbours = float(np.mean(np.sum(u[1:] * u[:-1], axis=1)))
    return bool(neighbours - mean > 4.0 * np.sqrt(max(variance, 1e-12) / (n - 1)))
