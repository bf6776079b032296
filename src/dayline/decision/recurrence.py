"""Recurrence: how much of what is seen before a frame is seen again after it, as within one event."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dayline.arrays import Array, FloatArray, to_numpy
from dayline.method.graph import unit_rows

__all__ = ["recurrence"]

REACHES = (32, 64, 128)
"""Frames compared on either side: both an excursion of ten frames and one of fifty end with a recurrence."""

BLOCK = 4096
"""Frames whose recurrence is measured together: cosines of all pairs of frames within reach are held for them."""


def recurrence(x: Array, *, reaches: Sequence[int] = REACHES) -> FloatArray:
    """Measure how much of what the frames before t show is shown again from t on, and vice versa.

    Every frame of the `reach` before t is paired with the frame most like it among the `reach` from t on, and every
    frame from t on with one before t. The mean cosine of these pairs is given on a scale where 0 is the mean cosine
    of all pairs of frames, a frame with itself among them, and 1 that of neighbours, and averaged over the reaches.
    Near the ends one side is shorter.

    Parameters
    ----------
    x : array of shape (n_frames, n_dims)
        Main directions of the denoised features; the mean of every column is taken out.
    reaches : sequence of int >= 1
        Frames compared on either side.

    Returns
    -------
    ndarray of shape (n_frames,)
        One value per frame; that of frame 0 is that of frame 1. All zero if there are fewer than 4 frames,
        if all are alike, or if neighbours are no more alike than any two frames.
    """
    values = to_numpy(x).astype(np.float64)
    n = len(values)
    if n < 4:
        return np.zeros(n)
    u = unit_rows(values - values.mean(axis=0))
    any_two = float(np.sum(u.sum(axis=0) ** 2)) / n**2
    neighbours = float(np.mean(np.sum(u[1:] * u[:-1], axis=1)))
    if neighbours - any_two <= 1e-9:
        return np.zeros(n)
    found = np.empty(n)
    # Only frames within the longest reach matter, so blocks of frames give the same as the whole.
    reach = max(reaches)
    for first in range(0, n, BLOCK):
        before = min(first, reach)
        block = _by_best_pairs(u[first - before : first + BLOCK + reach], reaches)
        found[first : first + BLOCK] = block[before : before + BLOCK]
    found[0] = found[1]
    return np.asarray((found - any_two) / (neighbours - any_two))


def _by_best_pairs(u: FloatArray, reaches: Sequence[int]) -> FloatArray:
    """Mean cosine of the pairs at every frame, averaged over the reaches."""
    n = len(u)
    later = _cosines_by_lag(u, 2 * max(reaches))
    # Backwards in time, the frames from t on come before it.
    backwards = np.full_like(later, -np.inf)
    for lag in range(1, min(len(later), n)):
        backwards[lag, : n - lag] = later[lag, n - lag - 1 :: -1]
    both = [_mean_best(later, reach) + _mean_best(backwards, reach)[::-1] for reach in reaches]
    return np.asarray(0.5 * np.mean(both, axis=0)[:n])


def _cosines_by_lag(u: FloatArray, n_lags: int) -> FloatArray:
    """Cosine of frames t and t + lag in row lag and column t, for lags 1 to n_lags - 1; minus infinity elsewhere."""
    by_lag = np.full((n_lags, len(u)), -np.inf)
    for lag in range(1, min(n_lags, len(u))):
        np.einsum("ij,ij->i", u[:-lag], u[lag:], out=by_lag[lag, :-lag])
    return by_lag


def _mean_best(by_lag: FloatArray, reach: int) -> FloatArray:
    """Mean of the best cosines among lags a to a + reach - 1 of the frames t - a, a = 1 to reach, at every t <= n."""
    n = by_lag.shape[1]
    # All these windows contain lag `reach`: the best is among the lags up to it, or among those after it.
    until = by_lag[: reach + 1].copy()
    for lag in range(reach - 1, 0, -1):
        np.maximum(until[lag], until[lag + 1], out=until[lag])
    after, best = np.full(n, -np.inf), np.empty(n)
    total = np.zeros(n + 1)
    for back in range(1, min(reach, n - 1) + 1):
        np.maximum(until[back], after, out=best)
        total[back:n] += best[: n - back]
        if back < reach:
            np.maximum(after, by_lag[back + reach], out=after)
    return np.asarray(total / np.clip(np.arange(n + 1), 1, reach))
