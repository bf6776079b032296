"""Boundary scores by the distance of past and future, and the peaks among them (CES)."""

from __future__ import annotations

from typing import Any

import numpy as np

from dayline.arrays import Array, FloatArray, IntArray, unit_rows
from dayline.checks import check_between, check_rows, show_value


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
        Cosine distance of the mean of the frames up to t-1 and the mean of the frames from t+1;
        shorter means near the ends. The first two and the last two frames score 0.
    """
    check_between("window", window, 1, whole=True)
    return _context_distance(check_rows(x), window)


def _context_distance(values: FloatArray, window: int) -> FloatArray:
    values = values.astype(np.float64, copy=False)
    n = len(values)
    window = min(window, n)
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
    center = x.mean(axis=0)
    sums = np.concatenate([np.zeros((1, x.shape[1])), np.cumsum(x - center, axis=0)])
    return np.asarray((sums[stop] - sums[start]) / (stop - start)[:, None] + center)


def pick_boundaries(scores: FloatArray, *, order: int = 5) -> IntArray:
    """Keep the local maxima above the mean of all local maxima (the CES rule).

    Parameters
    ----------
    scores : ndarray of shape (n_frames,)
        One score per frame; those of the first and the last frame are ignored.
    order : int >= 1
        A local maximum is strictly above this many frames on either side.
    """
    inner = check_scores(scores)[1:-1]
    peaks = local_maxima(inner, order=order)
    if len(peaks) == 0:
        return np.zeros(0, dtype=np.int64)
    return np.asarray(peaks[inner[peaks] > inner[peaks].mean()] + 1, dtype=np.int64)


def check_scores(scores: Any) -> FloatArray:
    """Return scores as float64, one per frame; raise ValueError if they are not."""
    try:
        values = np.asarray(scores, dtype=np.float64)
    except (OverflowError, TypeError, ValueError):
        values = np.asarray(np.nan)
    if values.ndim != 1:
        raise ValueError(f"scores={show_value(scores)}; give a list of numbers, one for each frame")
    return values


def local_maxima(scores: FloatArray, *, order: int) -> IntArray:
    """Find the frames that are strictly above `order` frames on either side."""
    from scipy.signal import argrelmax

    check_between("order", order, 1, whole=True)
    if len(scores) < 3:
        return np.zeros(0, dtype=np.int64)
    # An order beyond the length of the sequence changes nothing but takes longer.
    return np.asarray(argrelmax(scores, order=min(order, len(scores)))[0], dtype=np.int64)
