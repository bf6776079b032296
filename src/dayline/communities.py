"""Communities: frames that share a context, in one or many events (the semantic prior of Eq. 7)."""

from __future__ import annotations

import numpy as np

from dayline.arrays import Array, IntArray, to_numpy

__all__ = ["find_communities"]


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
