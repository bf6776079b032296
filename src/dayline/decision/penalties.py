"""What a boundary costs: how long looks last, whether they come back, where the picture jumps, if order matters.

A boundary is worth its price when the looks before and after it differ by more than that. The bounds of the price are
the same for a recording of any length: twice the day has twice the events.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dayline.arrays import Array, FloatArray, to_numpy
from dayline.decision.hard_cuts import DISCOUNT, abruptness, cut_discount, hard_cuts
from dayline.decision.recurrence import REACHES, return_of_looks
from dayline.method.graph import unit_rows

__all__ = ["Prices", "boundary_prices", "comeback_factor", "order_matters", "persistence"]

HIGHEST_PRICE = 20.0
"""Frames of full contrast a boundary must explain at most, before comebacks and hard cuts; chosen with the constants
below, DISCOUNT of cuts.py and those of steadiness.py, see how-it-decides.md."""

LOWEST_PRICE = 2.0
"""Frames of full contrast a boundary must explain at least, before comebacks and the discount of hard cuts: the
shortest event has two frames."""

COMEBACK = 3.5
"""How much dearer a boundary is across which looks come back."""

FADED = 0.05
"""Share of the similarity of neighbours below which a look is over."""

UNBOUGHT = 1e6
"""Factor on prices where order carries nothing: no boundary is worth it, yet a wished number can still be reached."""


@dataclass(frozen=True)
class Prices:
    """Price of a boundary at every frame.

    Attributes
    ----------
    asked, full : ndarray of shape (n_frames,)
        With and without the discount of hard cuts.
    cuts : ndarray of shape (n_frames,)
        How abrupt the cut at a frame is, 0 where there is none.
    room : float >= 1
        How much dearer all of them may become.
    """

    asked: FloatArray
    full: FloatArray
    cuts: FloatArray
    room: float = 1.0


def boundary_prices(
    features: Array,
    denoised: Array,
    *,
    highest: float = HIGHEST_PRICE,
    discount: float = DISCOUNT,
    comeback: float = COMEBACK,
) -> Prices:
    """Price of a boundary at every frame.

    The price is the persistence of looks, at least 2 and at most `highest`, and may rise up to that (see
    `steady_factor`). It is dearer where looks come back and cheaper where least of them does (see `comeback_factor`).
    It is divided by 1 + discount (a - 2) where the abruptness a is above 2: a hard cut is a boundary on less
    evidence. Where the order of frames carries nothing, a boundary costs more than any can be worth.

    Parameters
    ----------
    features, denoised : array of shape (n_frames, n_features)
        Standardized features, and the same after denoising.
    highest : float > 0
        Frames of full contrast that a boundary must explain at most, before comebacks.
    discount : float >= 0
        How much cheaper a hard cut is.
    comeback : float >= 0
        How much dearer a boundary is across which looks come back.
    """
    values = to_numpy(features).astype(np.float64)
    ordered = order_matters(values)
    lowest = min(max(persistence(values), LOWEST_PRICE), highest)
    price, room = (lowest, highest / lowest) if ordered else (lowest * UNBOUGHT, 1.0)
    full = price * comeback_factor(return_of_looks(denoised), strength=comeback)
    cuts = hard_cuts(abruptness(values))
    return Prices(full / cut_discount(cuts, discount=discount), full, cuts, room)


def comeback_factor(returns: FloatArray, *, strength: float = COMEBACK) -> FloatArray:
    """How much dearer a boundary is at every frame for the looks that come back across it.

    exp(strength (r - median r)), r - median r between -0.4 and 0.4: by default by 4 either way. It is below 1 only
    near a frame where no more comes back than at the five before and after it: within one reach of a boundary every
    frame sees something new on one side. Towards the ends, where one side is short, it counts less and less.

    Parameters
    ----------
    returns : ndarray of shape (n_frames,)
        From `return_of_looks`.
    strength : float >= 0
        0 changes nothing.
    """
    from scipy.ndimage import maximum_filter1d, minimum_filter1d

    # With room for rounding: the order of the columns must not tell which of two equal frames is the lowest.
    lowest = returns <= minimum_filter1d(returns, 11) + 1e-9
    # The embedding may put the same boundary a few frames beside.
    near = maximum_filter1d(lowest, 9)
    excess = np.clip(returns - np.median(returns), -0.4, 0.4)
    t = np.arange(len(returns))
    known = np.clip(np.minimum(t, len(t) - t) / min(REACHES), 0.0, 1.0)
    return np.exp(strength * known * np.where(near, excess, np.maximum(excess, 0.0)))


def persistence(x: Array) -> float:
    """How many frames a look lasts: the summed autocorrelation of the frames, up to where it fades.

    With c(k) the mean cosine of frames k apart and b its mean over lags of half the sequence and more, or over all
    pairs where that is less, sums (c(k) - b) / (c(0) - b) from k = 0 until it first falls below 0.05.
    """
    u = unit_rows(to_numpy(x).astype(np.float64))
    n = len(u)
    if n < 4:
        return 1.0
    products = _mean_products(u)
    cosine = products / (n - np.arange(n))
    # A look that comes back late must not pass for the similarity of strangers.
    strangers = (float(np.sum(u.sum(axis=0) ** 2)) - products[0]) / (n * (n - 1))
    base = min(float(cosine[n // 2 :].mean()), strangers)
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
    """Tell whether neighbouring frames are more alike than frames in random order would be.

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
