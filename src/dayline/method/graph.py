"""Graphs over frames, and the two priors that reshape them, with communities (Eq. 3, 6, 7).

As everywhere in `method/`, arguments are trusted; `steps.py` checks those of others.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

from dayline.arrays import Array, IntArray, array_namespace, to_numpy, unit_rows
from dayline.method.landmarks import KernelGraph, Landmarks
from dayline.method.linear import LinearGraph

Graph: TypeAlias = Array | LinearGraph
"""A matrix, or an operator that stands for one."""

EXACT_REACH = 4
"""Frames up to this far apart in time have their exact weight, whatever the form of the graph."""

SAMPLE = 20_000
"""Frames that are grouped; of longer sequences, so many evenly spaced ones, which the rest join."""


def affinity_graph(x: Array, *, bandwidth: float, landmarks: Landmarks | None = None) -> Graph:
    """Link every pair of frames by exp(-(1 - cosine) / l), l the bandwidth (Eq. 3).

    With landmarks, frames far apart in time are seen through them, as a `LinearGraph`.
    """
    if landmarks is not None:
        return KernelGraph(x, landmarks, bandwidth, reach=EXACT_REACH)
    u = unit_rows(x)
    return array_namespace(x).exp((u @ u.T - 1.0) / bandwidth)


def normalize_columns(graph: Graph) -> Graph:
    """Divide every column by its sum, so that it is a distribution over frames."""
    if isinstance(graph, LinearGraph):
        return graph.with_columns_scaled(1.0 / graph.column_sums())
    xp = array_namespace(graph)
    return graph / xp.sum(graph, axis=0, keepdims=True)


def smooth_edges(graph: Graph, *, width: int) -> Graph:
    """Average every weight over a window of p x p frames, 0 outside (G * K_p, before Eq. 6).

    An even window reaches one frame further back than forward.
    """
    if width == 1:
        return graph
    if isinstance(graph, LinearGraph):
        return graph.smoothed(width)
    return _window_mean(_window_mean(graph, width).T, width).T


def _window_mean(x: Array, width: int) -> Array:
    """Mean over `width` consecutive rows around each row, zeros outside."""
    xp = array_namespace(x)
    n = x.shape[0]
    # Beyond either end a window sees only zeros, so at most n rows of them are needed.
    before, after = min(width // 2, n), min(width - 1 - width // 2, n)
    zeros = xp.zeros((1, x.shape[1]), dtype=x.dtype, device=x.device)
    above = xp.broadcast_to(zeros, (before, x.shape[1]))
    below = xp.broadcast_to(zeros, (after, x.shape[1]))
    run = xp.concat([above, x, below], axis=0)
    # run[k] holds the sum of `length` rows from k; doubling takes log2(width) passes and,
    # unlike a difference of running sums, loses no precision.
    total, offset, length = xp.zeros_like(x), 0, 1
    rows = before + 1 + after
    while length <= rows:
        if rows & length:
            total = total + run[offset : offset + n]
            offset += length
        run = run[:-length] + run[length:]
        length *= 2
    return total / float(width)


def weaken_distant_edges(graph: Graph, *, temporal_prior: float) -> Graph:
    """Shrink by eta the weights between frames more than one apart in time (f_eta, Eq. 6)."""
    if temporal_prior == 0:
        return graph
    if isinstance(graph, LinearGraph):
        return graph.weakened_beyond_neighbors(temporal_prior)

    xp = array_namespace(graph)
    t = xp.arange(graph.shape[0], device=graph.device)
    near = xp.abs(t[:, None] - t[None, :]) <= 1
    return xp.where(near, graph, graph * (1.0 - temporal_prior))


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


def weaken_edges_between_communities(
    graph: Graph, communities: Array, *, semantic_prior: float
) -> Graph:
    """Shrink by mu the weights between frames of different communities (g_mu, Eq. 7)."""
    if semantic_prior == 0:
        return graph
    sample = graph.sample if isinstance(graph, LinearGraph) else graph
    xp = array_namespace(sample)
    communities = xp.asarray(communities, device=sample.device)
    if isinstance(graph, LinearGraph):
        return (1.0 - semantic_prior) * graph + semantic_prior * graph.within(communities)

    same = communities[:, None] == communities[None, :]
    return xp.where(same, graph, graph * (1.0 - semantic_prior))
