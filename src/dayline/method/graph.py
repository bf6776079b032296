"""Graphs over frames and the two priors that reshape them (Eq. 3, 6 and 7).

Weights are dense matrices. Everything here keeps the form "kernel, band or block times a vector",
so that a graph can become an operator without changes to the callers.
"""

from __future__ import annotations

from dayline.arrays import Array, array_namespace
from dayline.checks import LARGEST_COUNT, check_bandwidth, check_between, check_matrix, show_value

__all__ = [
    "affinity_graph",
    "normalize_columns",
    "smooth_edges",
    "unit_rows",
    "weaken_distant_edges",
    "weaken_edges_between_communities",
]


def unit_rows(x: Array) -> Array:
    """Scale every row to length 1; a zero row stays zero (it resembles nothing)."""
    xp = array_namespace(x)
    # Two steps, so that tiny or huge rows do not under- or overflow when squared.
    largest = xp.max(xp.abs(x), axis=1, keepdims=True)
    x = x / xp.where(largest > 0, largest, xp.ones_like(largest))
    length = xp.sqrt(xp.sum(x * x, axis=1, keepdims=True))
    return x / xp.where(length > 0, length, xp.ones_like(length))


def affinity_graph(x: Array, *, bandwidth: float) -> Array:
    """Link every pair of frames by how alike they look (Eq. 3).

    Parameters
    ----------
    x : array of shape (n_frames, n_dims)
        Features or embedding, one row per frame. A zero row counts as orthogonal to every other.
    bandwidth : float >= 1e-6
        Decay of the weights (l); small values link only near-identical frames.

    Returns
    -------
    array of shape (n_frames, n_frames)
        exp(-(1 - cosine) / bandwidth), symmetric, in (0, 1].
    """
    check_matrix("x", x)
    check_bandwidth("bandwidth", bandwidth)
    xp = array_namespace(x)
    u = unit_rows(x)
    return xp.exp((u @ u.T - 1.0) / bandwidth)


def normalize_columns(graph: Array) -> Array:
    """Divide every column by its sum, so that it is a distribution over frames."""
    xp = array_namespace(graph)
    return graph / xp.sum(graph, axis=0, keepdims=True)


def smooth_edges(graph: Array, *, width: int) -> Array:
    """Average every weight over a width x width window (local averaging before Eq. 6).

    Parameters
    ----------
    graph : array of shape (n_frames, n_frames)
        Edge weights; entries outside count as 0.
    width : int >= 1
        Window (p); 1 changes nothing. An even window reaches one frame further back than forward.
    """
    check_matrix("graph", graph)
    check_between("width", width, 1, LARGEST_COUNT, whole=True)
    if width == 1:
        return graph
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


def weaken_distant_edges(graph: Array, *, temporal_prior: float) -> Array:
    """Shrink the weights between frames that are not neighbours in time (Eq. 6).

    Parameters
    ----------
    graph : array of shape (n_frames, n_frames)
        Edge weights.
    temporal_prior : float in [0, 1]
        Fraction removed from edges between frames more than one apart (eta); 0 changes nothing.
    """
    check_matrix("graph", graph)
    check_between("temporal_prior", temporal_prior, 0, 1)
    if temporal_prior == 0:
        return graph
    xp = array_namespace(graph)
    t = xp.arange(graph.shape[0], device=graph.device)
    near = xp.abs(t[:, None] - t[None, :]) <= 1
    return xp.where(near, graph, graph * (1.0 - temporal_prior))


def weaken_edges_between_communities(graph: Array, communities: Array, *, semantic_prior: float) -> Array:
    """Shrink the weights between frames of different communities (Eq. 7).

    Parameters
    ----------
    graph : array of shape (n_frames, n_frames)
        Edge weights.
    communities : array of int, shape (n_frames,)
        Community of every frame, on the same device as the graph.
    semantic_prior : float in [0, 1]
        Fraction removed from edges between communities (mu); 0 changes nothing.
    """
    check_matrix("graph", graph)
    if tuple(getattr(communities, "shape", ())) != (graph.shape[0],):
        raise ValueError(f"communities={show_value(communities)}; give an array with one number for each frame")
    check_between("semantic_prior", semantic_prior, 0, 1)
    if semantic_prior == 0:
        return graph
    xp = array_namespace(graph)
    same = communities[:, None] == communities[None, :]
    return xp.where(same, graph, graph * (1.0 - semantic_prior))
