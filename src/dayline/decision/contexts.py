"""Contexts: how far the past of a frame is from its future, and which events recur."""

from __future__ import annotations

from typing import Any

import numpy as np

from dayline.arrays import Array, FloatArray, IntArray, unit_rows
from dayline.checks import check_between, check_rows, show_value
from dayline.method.graph import in_order_of_appearance

BLOCK = 512
"""Groups whose distances to all others are computed together."""


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
    return context_scores(check_rows(x), window)


def context_scores(values: FloatArray, window: int) -> FloatArray:
    """Do the same as `context_distance` for a matrix that was checked."""
    values = values.astype(np.float64, copy=False)
    n = len(values)
    window = min(window, n)
    t = np.arange(n)
    # Running sums around the mean: a constant offset must not cost digits.
    center = values.mean(axis=0)
    sums = np.concatenate([np.zeros((1, values.shape[1])), np.cumsum(values - center, axis=0)])

    start, stop = np.maximum(t - window + 1, 0), np.minimum(t + window, n)
    past = (sums[t + 1] - sums[start]) / (t + 1 - start)[:, None] + center
    future = (sums[stop] - sums[t]) / (stop - t)[:, None] + center
    return compare_contexts(past, future)


def compare_contexts(past: FloatArray, future: FloatArray) -> FloatArray:
    """Score every frame by the distance of the context before it and the context after it.

    Parameters
    ----------
    past, future : ndarray of shape (n_frames, n_dims)
        Context of the frames up to each one, and of those from each one on.

    Returns
    -------
    ndarray of shape (n_frames,)
        Cosine distance of past[t-1] and future[t+1]. The first two and the last two frames score 0.
    """
    scores = np.zeros(len(past))
    if len(past) >= 5:
        similarity = np.sum(unit_rows(past[:-2]) * unit_rows(future[2:]), axis=1)
        scores[2:-2] = np.maximum(1.0 - similarity, 0.0)[1:-1]
    return scores


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


def find_recurring_events(x: FloatArray, boundaries: IntArray) -> IntArray:
    """Return the community of every frame; events of the same context share one.

    Two events, or groups of events, are merged if the squared distance between their means is less
    than 0.65 times its median over neighboring events. Neighboring events are never merged. Time
    grows with the square of the number of events (40,000: half a minute), memory linearly.

    Parameters
    ----------
    x : ndarray of shape (n_frames, n_dims)
        Unit rows of an embedding.
    boundaries : ndarray of int
        First frame of every event but the first.

    Returns
    -------
    ndarray of int, shape (n_frames,)
        Community of every frame, numbered in order of first appearance.
    """
    edges = np.concatenate([[0], boundaries, [len(x)]]).astype(np.int64)
    lengths = np.diff(edges).astype(np.float64)
    means = np.add.reduceat(x, edges[:-1], axis=0) / np.diff(edges)[:, None]
    squares = np.sum(means * means, axis=1)
    steps = np.sum((means[1:] - means[:-1]) ** 2, axis=1)
    alike = 0.65 * float(np.median(steps)) if len(steps) else 0.0

    # Groups are merged two by two, the two nearest first. A group has the number of its first
    # event; the numbers of its other events are no longer used.
    n = len(means)
    groups = np.arange(n)
    # Groups that hold a neighboring event of each.
    neighbors = [{k for k in (i - 1, i + 1) if 0 <= k < n} for i in range(n)]
    # Only the nearest other group of each is held, so memory grows linearly. Its squared distance
    # is infinite if it is not alike; unless it is exact, the nearest may have moved away.
    nearest = np.zeros(n, dtype=np.int64)
    distances = np.full(n, np.inf)
    is_exact = np.ones(n, dtype=bool)

    outdated = np.arange(n)
    while True:
        for first in range(0, len(outdated), BLOCK):
            some = outdated[first : first + BLOCK]
            found = _distances(some, means, squares, neighbors)
            nearest[some] = np.argmin(found, axis=1)
            least = found[np.arange(len(some)), nearest[some]]
            distances[some] = np.where(least < alike, least, np.inf)
            is_exact[some] = True

        i = int(np.argmin(distances))
        if np.isinf(distances[i]):
            return np.repeat(in_order_of_appearance(groups), np.diff(edges))
        if not is_exact[i]:
            outdated = np.asarray([i])
            continue

        outdated = np.zeros(0, dtype=np.int64)
        i, j = sorted((i, int(nearest[i])))
        total = lengths[i] + lengths[j]
        means[i] = (lengths[i] * means[i] + lengths[j] * means[j]) / total
        lengths[i] = total
        groups[groups == j] = i
        for k in neighbors[j]:
            neighbors[k] = neighbors[k] - {j} | {i}
        neighbors[i] |= neighbors[j]
        squares[i] = means[i] @ means[i]
        # Nothing is near a group that is no longer used.
        squares[j] = distances[j] = np.inf

        # The distance to a group that was merged is a lower bound from now on.
        is_exact &= (nearest != i) & (nearest != j)
        row = _distances(np.asarray([i]), means, squares, neighbors)[0]
        nearer = np.flatnonzero(row < np.minimum(distances, alike))
        distances[nearer], nearest[nearer], is_exact[nearer] = row[nearer], i, True
        nearest[i] = int(np.argmin(row))
        distances[i] = np.min(row[nearer], initial=np.inf)


def _distances(
    groups: IntArray, means: FloatArray, squares: FloatArray, neighbors: list[set[int]]
) -> FloatArray:
    """Return squared distances of some groups to all; infinite if they may not be merged."""
    found = squares[groups, None] + squares - 2 * means[groups] @ means.T
    for row, i in enumerate(groups.tolist()):
        found[row, [i, *neighbors[i]]] = np.inf
    return np.asarray(found)
