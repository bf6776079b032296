"""What a boundary costs: how long looks last, whether they come back, where the picture jumps, if order matters.

A boundary is worth its price when the looks before and after it differ by more than that. The bounds of the price are
the same for a recording of any length: twice the day has twice the events.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dayline.arrays import Array, FloatArray, to_numpy
from dayline.graph import unit_rows
from dayline.returns import REACHES, return_of_looks

__all__ = ["Prices", "abruptness", "boundary_prices", "comeback_factor", "order_matters", "persistence"]

HIGHEST_PRICE = 20.0
"""Frames of full contrast a boundary must explain at most, before comebacks; chosen on the development sets, see
how-it-decides.md."""

LOWEST_PRICE = 2.0
"""Frames of full contrast a boundary must explain at least, before comebacks and the discount of hard cuts: the
shortest event has two frames."""

DISCOUNT = 8.0
"""How much cheaper a hard cut is; set on the same sets."""

COMEBACK = 3.5
"""How much dearer a boundary is across which looks come back; set on the same sets and on other kinds."""

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
    room : float >= 1
        How much dearer all of them may become.
    """

    asked: FloatArray
    full: FloatArray
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
    from scipy.ndimage import maximum_filter1d

    values = to_numpy(features).astype(np.float64)
    ordered = order_matters(values)
    lowest = min(max(persistence(values), LOWEST_PRICE), highest)
    price, room = (lowest, highest / lowest) if ordered else (lowest * UNBOUGHT, 1.0)
    full = price * comeback_factor(return_of_looks(denoised), strength=comeback)
    jumps = abruptness(values)
    # A cut shows in the jumps of the frames beside it too; only the highest of them is the cut.
    peaks = jumps >= maximum_filter1d(jumps, 5)
    asked = full / (1.0 + discount * np.where(peaks, np.clip(jumps - 2.0, 0.0, 10.0), 0.0))
    return Prices(asked, full, room)


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

    lowest = returns <= minimum_filter1d(returns, 11)
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
    excess = logarithm - median_filter(logarithm, min(neighbourhood, n - 1), mode="reflect")
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
