"""Whether what was seen before a frame is seen again after it: within one event people come back, waves repeat."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dayline.arrays import Array, FloatArray, to_numpy
from dayline.method.graph import unit_rows

__all__ = ["return_of_looks"]

REACHES = (32, 64, 128)
"""Frames looked at on either side: an excursion of ten frames and one of fifty both come back."""

BLOCK = 256
"""Frames per matrix product."""


def return_of_looks(x: Array, *, reaches: Sequence[int] = REACHES) -> FloatArray:
    """How much of what the frames before t show is shown again from t on, and the other way round.

    Every frame of the `reach` before t looks for the frame most like it among the `reach` from t on, and every frame
    from t on for one before t. The mean cosine of these pairs is given on a scale where 0 is the mean cosine of all
    pairs of frames, a frame with itself among them, and 1 that of neighbours, and averaged over the reaches. Near the
    ends one side is shorter.

    Parameters
    ----------
    x : array of shape (n_frames, n_dims)
        Denoised features; the mean of every column is taken out.
    reaches : sequence of int >= 1
        Frames looked at on either side.

    Returns
    -------
    ndarray of shape (n_frames,)
        One value per frame; that of frame 0 is that of frame 1. All zero where frames are too few, all alike, or
        neighbours no more alike than strangers.
    """
    values = to_numpy(x).astype(np.float64)
    n = len(values)
    if n < 4:
        return np.zeros(n)
    u = unit_rows(values - values.mean(axis=0))
    strangers = float(np.sum(u.sum(axis=0) ** 2)) / n**2
    neighbours = float(np.mean(np.sum(u[1:] * u[:-1], axis=1)))
    if neighbours - strangers <= 1e-9:
        return np.zeros(n)
    later = _cosines_by_lag(u, 2 * max(reaches))
    earlier = np.full_like(later, -np.inf)
    for lag in range(1, min(later.shape[1], n)):
        earlier[lag:, lag] = later[:-lag, lag]
    # Seen from frame t + a - 1, the frames before t begin a frames back: the same sum, in reversed time.
    both = [_mean_best(later, reach) + _mean_best(earlier[::-1], reach)[::-1] for reach in reaches]
    found = 0.5 * np.mean(both, axis=0)[:n]
    found[0] = found[1]
    return np.asarray((found - strangers) / (neighbours - strangers))


def _cosines_by_lag(u: FloatArray, n_lags: int) -> FloatArray:
    """Cosine of frames t and t + lag in row t and column lag, for lags 1 to n_lags - 1; minus infinity elsewhere."""
    n = len(u)
    by_lag = np.full((n, n_lags), -np.inf)
    for start in range(0, n, BLOCK):
        rows = np.arange(start, min(start + BLOCK, n))
        block = u[rows] @ u[start : rows[-1] + n_lags].T
        for lag in range(1, min(n_lags, block.shape[1])):
            found = np.diagonal(block, lag)
            by_lag[start : start + len(found), lag] = found
    return by_lag


def _mean_best(by_lag: FloatArray, reach: int) -> FloatArray:
    """Mean of the best cosines among lags a to a + reach - 1 of the frames t - a, a = 1 to reach, at every t <= n."""
    from scipy.ndimage import maximum_filter1d

    n = len(by_lag)
    best = maximum_filter1d(by_lag, reach, axis=1, origin=-(reach // 2), mode="constant", cval=-np.inf)
    total, count = np.zeros(n + 1), np.zeros(n + 1)
    for back in range(1, min(reach, n) + 1):
        values = best[: n - back + 1, back]
        seen = np.isfinite(values)
        total[back:] += np.where(seen, values, 0.0)
        count[back:] += seen
    return total / np.maximum(count, 1.0)
