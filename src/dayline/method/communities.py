"""Communities: frames that share a context, in one or many events (the semantic prior of Eq. 7)."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from dayline.arrays import Array, FloatArray, IntArray, to_numpy
from dayline.checks import check_between, check_matrix, check_seed

__all__ = ["find_communities", "find_recurring_events"]


def find_communities(x: Array, n_communities: int, *, random_state: int | None = 0) -> IntArray:
    """Group frames by k-means (10 restarts), numbered in the order in which they first appear.

    Parameters
    ----------
    x : array of shape (n_frames, n_dims)
        Features or embedding.
    n_communities : int >= 1
        Number of groups (N_C); no more than there are different frames.
    random_state : int or None
        Seed of the restarts.
    """
    from sklearn.cluster import KMeans

    check_matrix("x", x)
    check_between("n_communities", n_communities, 1, whole=True)
    check_seed(random_state)
    points = to_numpy(x).astype(np.float64)
    # Frames that differ by rounding alone must not become communities of their own.
    scale = np.max(np.abs(points), initial=0.0) or 1.0
    n_different = len(np.unique(np.round(points / scale, 7), axis=0))
    k = min(n_communities, n_different)
    if k <= 1:
        return np.zeros(len(points), dtype=np.int64)
    labels = KMeans(k, n_init=10, random_state=random_state).fit_predict(points)
    return _in_order_of_appearance(labels)


def _in_order_of_appearance(labels: IntArray) -> IntArray:
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    rank = np.empty(len(first), dtype=np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    return rank[inverse]


def find_recurring_events(x: FloatArray, boundaries: IntArray) -> IntArray:
    """Give events of the same context the same number, at every frame.

    Two events, or groups of them, are one community when their means differ by less than 0.65 of what neighbouring
    events usually differ (squared distance, median over neighbours). Neighbours stay apart.

    Parameters
    ----------
    x : ndarray of shape (n_frames, n_dims)
        Unit rows of an embedding.
    boundaries : ndarray of int
        First frame of every event but the first.

    Returns
    -------
    ndarray of int, shape (n_frames,)
        Community of every frame, numbered as they first appear.
    """
    edges = np.concatenate([[0], boundaries, [len(x)]])
    lengths = np.diff(edges).astype(np.float64)
    means = np.stack([x[start:stop].mean(axis=0) for start, stop in pairwise(edges)])
    steps = np.sum((means[1:] - means[:-1]) ** 2, axis=1)
    alike = 0.65 * float(np.median(steps)) if len(steps) else 0.0
    labels = _joined(means, lengths, alike)
    return np.repeat(_in_order_of_appearance(labels), np.diff(edges))


def _joined(means: FloatArray, lengths: FloatArray, alike: float) -> IntArray:
    """Join the two groups of events whose means are nearest, until none differ by less than `alike`."""
    n = len(lengths)
    labels = np.arange(n)
    # A group stands at the place of its first event; the places of its others are closed.
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
