"""Communities: frames that share a context, in one or many events (the semantic prior of Eq. 7)."""

from __future__ import annotations

import numpy as np

from dayline.arrays import Array, IntArray, to_numpy

SAMPLE = 20_000
"""Frames that are grouped; of longer sequences, so many evenly spaced ones, which the rest join."""


def find_communities(x: Array, n_communities: int, *, random_state: int | None = 0) -> IntArray:
    """Group frames by k-means (10 restarts); groups are numbered in order of first appearance.

    There are at most as many groups (N_C) as distinct frames.
    """
    from sklearn.cluster import KMeans

    points = to_numpy(x).astype(np.float64)
    n = len(points)
    sample = points
    if n > SAMPLE:
        sample = points[np.linspace(0, n - 1, SAMPLE).round().astype(np.int64)]

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
