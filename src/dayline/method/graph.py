"""Graphs over frames and the two priors that reshape them (Eq. 3, 6 and 7)."""

from __future__ import annotations

from typing import TypeAlias

from dayline.arrays import Array, array_namespace, unit_rows
from dayline.checks import LARGEST_COUNT, check_bandwidth, check_between, check_matrix, show_value
from dayline.method.landmarks import KernelGraph, Landmarks
from dayline.method.linear import LinearGraph

Graph: TypeAlias = Array | LinearGraph
"""A matrix, or an operator that stands for one."""

EXACT_REACH = 4
"""Frames up to this far apart in time have their exact weight, whatever the form of the graph."""


def check_graph(name: str, graph: Graph) -> None:
    """Raise an error for anything but a graph."""
    if not isinstance(graph, LinearGraph):
        check_matrix(name, graph)


def affinity_graph(x: Array, *, bandwidth: float, landmarks: Landmarks | None = None) -> Graph:
    """Link every pair of frames by how alike they look (Eq. 3).

    Parameters
    ----------
    x : array of shape (n_frames, n_dims)
        Features or embedding, one row per frame. A zero row counts as orthogonal to every other.
    bandwidth : float >= 1e-6
        Decay of the weights (l); small values link only near-identical frames.
    landmarks : Landmarks, optional
        Through which to see pairs of frames far apart in time; None computes every pair.

    Returns
    -------
    Graph of shape (n_frames, n_frames)
        exp(-(1 - cosine) / bandwidth), symmetric, in (0, 1]; a `LinearGraph` with landmarks.
    """
    check_bandwidth("bandwidth", bandwidth)
    return _affinity_graph(check_matrix("x", x), bandwidth, landmarks)


def _affinity_graph(x: Array, bandwidth: float, landmarks: Landmarks | None = None) -> Graph:
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
    """Average every weight over a width x width window (local averaging before Eq. 6).

    Parameters
    ----------
    graph : Graph of shape (n_frames, n_frames)
        Edge weights; entries outside count as 0.
    width : int >= 1
        Window (p); 1 changes nothing. An even window reaches one frame further back than forward.
    """
    check_graph("graph", graph)
    check_between("width", width, 1, LARGEST_COUNT, whole=True)
    return _smooth_edges(graph, width)


def _smooth_edges(graph: Graph, width: int) -> Graph:
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
    """Shrink the weights between frames that are not neighbors in time (Eq. 6).

    Parameters
    ----------
    graph : Graph of shape (n_frames, n_frames)
        Edge weights.
    temporal_prior : float in [0, 1]
        Fraction removed from edges between frames more than one apart (eta); 0 changes nothing.
    """
    check_graph("graph", graph)
    check_between("temporal_prior", temporal_prior, 0, 1)
    return _weaken_distant_edges(graph, temporal_prior)


def _weaken_distant_edges(graph: Graph, temporal_prior: float) -> Graph:
    if temporal_prior == 0:
        return graph
    if isinstance(graph, LinearGraph):
        return graph.weakened_beyond_neighbors(temporal_prior)

    xp = array_namespace(graph)
    t = xp.arange(graph.shape[0], device=graph.device)
    near = xp.abs(t[:, None] - t[None, :]) <= 1
    return xp.where(near, graph, graph * (1.0 - temporal_prior))


def weaken_edges_between_communities(
    graph: Graph, communities: Array, *, semantic_prior: float
) -> Graph:
    """Shrink the weights between frames of different communities (Eq. 7).

    Parameters
    ----------
    graph : Graph of shape (n_frames, n_frames)
        Edge weights.
    communities : array of int, shape (n_frames,)
        Community of every frame.
    semantic_prior : float in [0, 1]
        Fraction removed from edges between communities (mu); 0 changes nothing.
    """
    check_graph("graph", graph)
    if tuple(getattr(communities, "shape", ())) != (graph.shape[0],):
        raise ValueError(
            f"communities={show_value(communities)}; give an array with one number for each frame"
        )
    check_between("semantic_prior", semantic_prior, 0, 1)
    return _weaken_edges_between_communities(graph, communities, semantic_prior)


def _weaken_edges_between_communities(
    graph: Graph, communities: Array, semantic_prior: float
) -> Graph:
    if semantic_prior == 0:
        return graph
    sample = graph.sample if isinstance(graph, LinearGraph) else graph
    xp = array_namespace(sample)
    communities = xp.asarray(communities, device=sample.device)
    if isinstance(graph, LinearGraph):
        return (1.0 - semantic_prior) * graph + semantic_prior * graph.within(communities)

    same = communities[:, None] == communities[None, :]
    return xp.where(same, graph, graph * (1.0 - semantic_prior))
