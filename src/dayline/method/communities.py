"""Communities: frames that share a context, in one or many events (the semantic prior of Eq. 7)."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from dayline.arrays import Array, FloatArray, IntArray, to_numpy
from dayline.checks import check_between, check_matrix, check_seed

__all__ = ["find_communities", "find_recurring_events", "in_order_of_appearance"]

SAMPLE = 20_000
"""Frames that are grouped; in longer sequences, this many evenly spaced ones, and the others join the nearest group."""


def find_communities(x: Array, n_communities: int, *, random_state: int | None = 0) -> IntArray:
    """Group frames by k-means (10 restarts); groups are numbered in order of first appearance.

    Parameters
    ----------
    x : array of shape (n_frames, n_dims)
        Features or embedding.
    n_communities : int >= 1
        Number of groups (N_C), at most the number of distinct frames.
    random_state : int or None
        Seed of the restarts.
    """
    from sklearn.cluster import KMeans

    check_matrix("x", x)
    check_between("n_communities", n_communities, 1, whole=True)
    check_seed(random_state)
    points = to_numpy(x).astype(np.float64)
    n = len(points)
    sample = points if n <= SAMPLE else points[np.linspace(0, n - 1, SAMPLE).round().astype(np.int64)]
    # Frames that differ only by rounding must not become separate communities.
    scale = np.max(np.abs(sample), initial=0.0) or 1.0
    n_different = len(np.unique(np.round(sample / scale, 7), axis=0))
    k = min(n_communities, n_different)
    if k <= 1:
        return np.zeros(n, dtype=np.int64)
    groups = KMeans(k, n_init=10, random_state=random_state).fit(sample)
    return in_order_of_appearance(groups.labels_ if n <= SAMPLE else groups.predict(points))


def in_order_of_appearance(labels: IntArray) -> IntArray:
    """Renumber labels 0, 1, ... in order of first appearance."""
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    rank = np.empty(len(first), dtype=np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    return rank[inverse]


def find_recurring_events(x: FloatArray, boundaries: IntArray) -> IntArray:
    """Return the community of every frame; events of the same context share one.

    Two events, or groups of events, are merged if the squared distance between their means is less than 0.65 times
    its median over neighbouring events. Neighbouring events are never merged.

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
    edges = np.concatenate([[0], boundaries, [len(x)]])
    lengths = np.diff(edges).astype(np.float64)
    means = np.stack([x[start:stop].mean(axis=0) for start, stop in pairwise(edges)])
    steps = np.sum((means[1:] - means[:-1]) ** 2, axis=1)
    alike = 0.65 * float(np.median(steps)) if len(steps) else 0.0
    labels = _joined(means, lengths, alike)
    return np.repeat(in_order_of_appearance(labels), np.diff(edges))


def _joined(means: FloatArray, lengths: FloatArray, alike: float) -> IntArray:
    """Merge the two groups of events with the nearest means until no two are closer than `alike`."""
    n = len(lengths)
    labels = np.arange(n)
    # A group is stored at the index of its first event; the indices of its other events are no longer used.
    forbidden = np.abs(labels[:, None] - labels[None, :]) <= 1
    squares = np.sum(means * means, axis=1)
    distances = squares[:, None] + squares[None, :] - 2 * means @ means.T
    distances[forbidden] = np.inf
    while True:
        i, j = sorted(divmod(int(np.argmin(distances)), n))
        if not distances[i, j] < alike:
            return labels
        means[i] = (lengths[i] * means[i] + lengths[j] * means[j]) / (lengths[i] + lengths[j])
        lengths[i] += lengths[j]
        labels[labels == j] = i
        forbidden[i] |= forbidden[j]
        forbidden[:, i] |= forbidden[:, j]
        forbidden[j] = forbidden[:, j] = True
        squares[i] = means[i] @ means[i]
        distances[i] = np.where(forbidden[i], np.inf, squares[i] + squares - 2 * means @ means[i])
        distances[:, i] = distances[i]
        distances[j] = distances[:, j] = np.inf
