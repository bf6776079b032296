"""Boundary scores, and how boundaries are picked from a sequence of vectors."""

from __future__ import annotations

import numpy as np

from dayline.arrays import Array, FloatArray, IntArray, to_numpy
from dayline.graph import unit_rows

__all__ = ["context_distance", "partition", "persistence", "pick_boundaries"]


def context_distance(x: Array, *, window: int = 8) -> FloatArray:
    """Score every frame by how far its past is from its future (the paper's boundary prediction).

    Parameters
    ----------
    x : array of shape (n_frames, n_dims)
        Features or embedding.
    window : int >= 1
        Frames averaged on either side.

    Returns
    -------
    ndarray of shape (n_frames,)
        Cosine distance of the mean of the frames up to t-1 and the mean of the frames from t+1; shorter means
        near the ends. The first two and the last two frames score 0.
    """
    values = to_numpy(x).astype(np.float64)
    n = len(values)
    scores = np.zeros(n)
    if n < 5:
        return scores
    t = np.arange(n)
    past = _means(values, np.maximum(t - window + 1, 0), t + 1)
    future = _means(values, t, np.minimum(t + window, n))
    similarity = np.sum(unit_rows(past[:-2]) * unit_rows(future[2:]), axis=1)
    scores[2:-2] = np.maximum(1.0 - similarity, 0.0)[1:-1]
    return scores


def _means(x: FloatArray, start: IntArray, stop: IntArray) -> FloatArray:
    """Mean of rows start .. stop-1, for many starts and stops."""
    # Running sums around the mean: a constant offset must not cost digits.
    centre = x.mean(axis=0)
    sums = np.concatenate([np.zeros((1, x.shape[1])), np.cumsum(x - centre, axis=0)])
    return np.asarray((sums[stop] - sums[start]) / (stop - start)[:, None] + centre)


def pick_boundaries(scores: FloatArray, *, order: int = 5) -> IntArray:
    """Keep the local maxima that stand above the mean of all local maxima (the CES rule).

    Parameters
    ----------
    scores : ndarray of shape (n_frames,)
        One score per frame; those of the first and the last frame are not looked at.
    order : int >= 1
        A local maximum is strictly above this many frames on either side.
    """
    from scipy.signal import argrelmax

    inner = np.asarray(scores, dtype=np.float64)[1:-1]
    if len(inner) < 3:
        return np.zeros(0, dtype=np.int64)
    peaks = argrelmax(inner, order=order)[0]
    if len(peaks) == 0:
        return np.zeros(0, dtype=np.int64)
    return np.asarray(peaks[inner[peaks] > inner[peaks].mean()] + 1, dtype=np.int64)


def partition(x: Array, *, penalty: float, min_length: int = 2) -> IntArray:
    """Cut a sequence of vectors where it pays most: the optimal partition.

    Maximises the sum over events of length times squared length of the event's mean, minus a penalty for each
    event. Exact dynamic programming; candidates that can no longer win are dropped, so it is near linear
    where events are short.

    Parameters
    ----------
    x : array of shape (n_frames, n_dims)
        Vectors, usually unit rows of an embedding.
    penalty : float >= 0
        Price of one more event.
    min_length : int >= 1
        Fewest frames of an event.
    """
    u = to_numpy(x).astype(np.float64)
    n = len(u)
    sums = np.concatenate([np.zeros((1, u.shape[1])), np.cumsum(u, axis=0)])
    best = np.full(n + 1, -np.inf)
    best[0] = 0.0
    previous = np.zeros(n + 1, dtype=np.int64)
    starts = np.zeros(0, dtype=np.int64)
    drop_at: dict[int, IntArray] = {}
    for stop in range(min_length, n + 1):
        starts = np.append(starts, stop - min_length)
        if stop in drop_at:
            starts = np.setdiff1d(starts, drop_at.pop(stop), assume_unique=True)
        run = sums[stop] - sums[starts]
        gain = best[starts] + np.einsum("ij,ij->i", run, run) / (stop - starts)
        winner = int(np.argmax(gain))
        best[stop], previous[stop] = gain[winner] - penalty, starts[winner]
        # Splitting an event never lowers the sum, so a start that does not even reach best[stop] without
        # paying loses to `stop` for all ends that leave `stop` room for an event.
        drop_at[stop + min_length] = starts[gain <= best[stop]]
    return _trace_back(previous, n)


def _trace_back(previous: IntArray, n: int) -> IntArray:
    boundaries = []
    at = int(previous[n])
    while at > 0:
        boundaries.append(at)
        at = int(previous[at])
    return np.asarray(boundaries[::-1], dtype=np.int64)


def persistence(x: Array) -> float:
    """How many frames a look lasts: the summed autocorrelation of the frames, up to where it fades.

    With c(k) the mean cosine of frames k apart and b its mean over lags of half the sequence and more,
    sums (c(k) - b) / (c(0) - b) from k = 0 until it first falls below 0.1.
    """
    u = unit_rows(to_numpy(x).astype(np.float64))
    n = len(u)
    if n < 4:
        return 1.0
    spectrum = np.fft.rfft(u, 2 * n, axis=0)
    products = np.fft.irfft(np.sum(spectrum * spectrum.conj(), axis=1).real, 2 * n)[:n]
    cosine = products / (n - np.arange(n))
    base = cosine[n // 2 :].mean()
    if cosine[0] - base <= 1e-12:
        return float(n)
    ratio = (cosine - base) / (cosine[0] - base)
    below = np.flatnonzero(ratio < 0.1)
    stop = int(below[0]) if len(below) else n
    return max(float(ratio[:stop].sum()), 1.0)
