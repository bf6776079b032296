"""Recurrence: how much of what is seen before a frame is seen again after it, as within one event."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

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
    """Mean cosine of the pairs at every frame but the first, averaged over the reaches."""
    n, n_lags = len(u), 2 * max(reaches)
    # Cosine of frames t and t + lag in row lag and column t; minus infinity where there is no frame t + lag.
    by_lag = np.full((n_lags, n + 1), -np.inf)
    columns = np.ascontiguousarray(u.T)
    for lag in range(1, min(n_lags, n)):
        np.einsum("ji,ji->i", columns[:, :-lag], columns[:, lag:], out=by_lag[lag, : n - lag])
    # Rows one shorter begin where those above end, so that column t of row lag has the cosine with t - lag.
    with_later, with_earlier = by_lag[:, :n], by_lag.ravel()[: n_lags * n].reshape(n_lags, n)
    t = np.arange(n)
    total = np.zeros(n)
    for reach in reaches:
        before, after = np.zeros(n), np.zeros(n)
        for steps, best in enumerate(_best_of_windows(with_later, reach)):
            before[steps + 1 :] += best[: n - steps - 1]
        for steps, best in enumerate(_best_of_windows(with_earlier, reach)):
            after[: n - steps] += best[steps:]
        total += before / np.clip(t, 1, reach) + after / np.minimum(n - t, reach)
    return np.asarray(total / (2 * len(reaches)))


def _best_of_windows(by_lag: FloatArray, reach: int) -> Iterator[FloatArray]:
    """Yield the best of lags 1 to reach of every frame, that of lags 2 to reach + 1, and so on, `reach` times."""
    n = by_lag.shape[1]
    # All these windows contain lag `reach`: the best is among the lags up to it, or among those after it.
    until = by_lag[: reach + 1].copy()
    for lag in range(reach - 1, 0, -1):
        np.maximum(until[lag], until[lag + 1], out=until[lag])
    after, best = np.full(n, -np.inf), np.empty(n)
    for first in range(1, min(reach, n - 1) + 1):
        yield np.maximum(until[first], after, out=best)
        if first < reach:
            np.maximum(after, by_lag[first + reach], out=after)
