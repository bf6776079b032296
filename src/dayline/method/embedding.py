"""From a graph to a vector per frame: the cross-entropy of Eq. 4 and 5, and its minimum."""

from __future__ import annotations

from typing import Literal, TypeAlias

from dayline.arrays import (
    Array,
    array_namespace,
    double,
    main_axes,
    row_blocks,
    sum_of_products,
    unit_rows,
)
from dayline.checks import MOST_STEPS, check_bandwidth, check_between, check_choice, check_matrix
from dayline.method.descent import (
    Descent,
    Objective,
    descend_barzilai_borwein,
    descend_lbfgs,
    descend_many_rows,
)
from dayline.method.graph import Graph, check_graph
from dayline.method.landmarks import LandmarkBasis, LandmarkKernel, choose_landmarks
from dayline.method.linear import LinearGraph
from dayline.method.symmetric import (
    empty_like_blocks,
    exponential_kernel_into,
    sum_with_transpose,
    times,
)

Optimizer: TypeAlias = Literal["lbfgs", "barzilai-borwein"]
Gradient: TypeAlias = Literal["full", "half"]

MANY_ROWS = 1500
"""Frames from which a `LinearGraph` is not descended with SciPy, whose steps would take as long as
the products."""

LEAST_GAIN = 2.5e-5
"""These steps end with one that lowers the loss, a sum over frames, by less than this per frame."""


def principal_components(x: Array, n_components: int) -> Array:
    """Project centered frames on their main directions (the start of Eq. 4).

    Parameters
    ----------
    x : array of shape (n_frames, n_dims)
        Features.
    n_components : int >= 1
        Number of directions to keep (d), at most n_frames and n_dims.

    Returns
    -------
    array of shape (n_frames, min(n_components, n_frames, n_dims))
        Strongest direction first; the largest entry of each column is positive.
    """
    check_between("n_components", n_components, 1, whole=True)
    return _principal_components(check_matrix("x", x), n_components)


def _principal_components(x: Array, n_components: int) -> Array:
    xp = array_namespace(x)
    n, dims = x.shape
    keep = min(n_components, n, dims)
    if n <= dims:
        centered = x - xp.mean(x, axis=0)
        values, vectors = xp.linalg.eigh(centered @ centered.T)
        spread = xp.sqrt(xp.where(values > 0, values, xp.zeros_like(values)))
        return _fix_signs(xp.flip(vectors[:, -keep:] * spread[-keep:], axis=(1,)))

    # Many frames, a block at a time; sums over all of them are in double precision.
    mean = xp.zeros_like(double(x[0]))
    for block in row_blocks(x):
        mean += xp.sum(double(x[block]), axis=0)
    mean = xp.astype(mean / x.shape[0], x.dtype)
    covariance = xp.zeros((dims, dims), dtype=double(x[0]).dtype, device=x.device)
    for block in row_blocks(x, at_least=512):
        centered = x[block] - mean
        covariance += centered.T @ centered

    directions = xp.astype(main_axes(covariance, keep), x.dtype)
    projected = xp.empty((n, keep), dtype=x.dtype, device=x.device)
    for block in row_blocks(x):
        projected[block] = (x[block] - mean) @ directions
    return _fix_signs(xp.flip(projected, axis=(1,)))


def fix_rotation(embedding: Array) -> Array:
    """Rotate an embedding to its principal axes and fix the signs; cosines do not change."""
    xp = array_namespace(embedding)
    _, axes = xp.linalg.eigh(embedding.T @ embedding)
    return _fix_signs(embedding @ xp.flip(axes, axis=(1,)))


def _fix_signs(x: Array) -> Array:
    xp = array_namespace(x)
    largest = xp.argmax(xp.abs(x), axis=0)
    signs = xp.stack([x[int(row), column] for column, row in enumerate(largest)])
    return x * xp.where(signs < 0, -xp.ones_like(signs), xp.ones_like(signs))


def graph_cross_entropy(embedding: Array, graph: Graph, *, bandwidth: float) -> tuple[float, Array]:
    """Return the loss and gradient of an embedding whose graph should match a given one (Eq. 4).

    Every column of weights is treated as a distribution over frames; the loss is the sum over
    columns of the relative entropy of the embedding's column to the given one. With u the unit
    rows, s = 1 / bandwidth, E = exp(s (u u^T - 1)), z and w the column sums of E and of the graph
    W, and q = w / z, the gradient with respect to u is s (E (q u) + q (E u) - (W + W^T) u). No
    array is larger than n_frames x n_frames; for a `LinearGraph`, E is seen through landmarks and
    no array is larger than n_frames x n_landmarks.

    Parameters
    ----------
    embedding : array of shape (n_frames, n_components)
        One row per frame; only directions matter. A zero row has gradient 0.
    graph : Graph of shape (n_frames, n_frames)
        Target weights, non-negative.
    bandwidth : float >= 1e-6
        Decay of the embedding's weights (l-tilde).

    Returns
    -------
    loss : float
        Zero if both graphs have the same normalized columns.
    gradient : array of the embedding's shape
        Derivative of the loss with respect to the embedding.
    """
    _check_pair("embedding", embedding, graph)
    check_bandwidth("bandwidth", bandwidth)
    return _objective(graph, embedding, bandwidth)(embedding)


def _check_pair(name: str, embedding: Array, graph: Graph) -> None:
    check_matrix(name, embedding)
    check_graph("graph", graph)
    n = embedding.shape[0]
    if tuple(graph.shape) != (n, n):
        raise ValueError(
            f"graph has shape {tuple(graph.shape)}, but {name} has {n} rows; give the same frames"
        )


def authors_gradient(embedding: Array, graph: Graph, *, bandwidth: float) -> Array:
    """Return half of the gradient, as in one of the authors' notebooks.

    It has only the column of the frame itself, and is not divided by the number of components
    either. The published table was computed with it.
    """
    return _objective(graph, embedding, bandwidth, "half")(embedding)[1]


def _objective(
    graph: Graph, start: Array, bandwidth: float, gradient: Gradient = "full"
) -> Objective:
    """Return an objective against one graph; what its evaluations share is computed once."""
    if isinstance(graph, LinearGraph):
        return _linear_objective(graph, start, bandwidth, gradient)
    return _dense_objective(graph, bandwidth, gradient)


def _dense_objective(graph: Array, bandwidth: float, gradient: Gradient) -> Objective:
    """Compute every pair of frames.

    The gradient with respect to u is a matrix times u: E * (q_i + q_j) - W - W^T, or E * q_i - W^T
    for "half", both divided by the bandwidth.
    """
    xp = array_namespace(graph)
    target = sum_with_transpose(graph)
    kernel = empty_like_blocks(target)
    degrees = xp.sum(graph, axis=0)
    entropy = _entropy(graph)

    def evaluate(embedding: Array) -> tuple[float, Array]:
        u = unit_rows(embedding)
        sums, agreement = exponential_kernel_into(kernel, u, bandwidth, target)
        loss = entropy + float(xp.sum(degrees * xp.log(sums))) - agreement / 2
        share = degrees / sums
        if gradient == "half":
            one_sided = share[:, None] * times(kernel, u) - (u.T @ graph).T
            return loss, _project(one_sided * (u.shape[1] / bandwidth), embedding, u)

        for block, aim in zip(kernel, target, strict=True):
            values = block.values
            values *= share[block.rows, None] + share[block.columns]
            values -= aim.values
        return loss, _project(times(kernel, u) / bandwidth, embedding, u)

    return evaluate


def _linear_objective(
    graph: LinearGraph, start: Array, bandwidth: float, gradient: Gradient
) -> Objective:
    """See E through landmarks, chosen where the descent starts; they move with the embedding."""
    xp = array_namespace(start)
    landmarks = choose_landmarks(start, bandwidth=bandwidth)
    degrees = graph.column_sums()
    entropy, total = graph.entropy(), float(xp.sum(degrees))

    def evaluate(embedding: Array) -> tuple[float, Array]:
        u = unit_rows(embedding)
        basis = LandmarkBasis(landmarks.centers(u), bandwidth)
        kernel = LandmarkKernel(u, basis, has_unit_rows=True)
        products = kernel @ xp.concat([xp.ones_like(u[:, :1]), u], axis=1)
        # A column contains the frame itself, with weight 1; approximate sums may be lower.
        sums = xp.where(products[:, 0] > 1.0, products[:, 0], xp.ones_like(products[:, 0]))
        share = (degrees / sums)[:, None]

        pull = graph.with_transpose_times(u)
        # log E is linear in the cosines, so that its sum over all pairs needs no pairs.
        agreement = (sum_of_products(pull, u) / 2 - total) / bandwidth
        loss = entropy + float(xp.sum(degrees * xp.log(sums))) - agreement
        if gradient == "half":
            one_sided = share * products[:, 1:] - graph.transposed_times(u)
            return loss, _project(one_sided * (u.shape[1] / bandwidth), embedding, u)

        push = kernel @ (share * u) + share * products[:, 1:]
        return loss, _project((push - pull) / bandwidth, embedding, u)

    return evaluate


def _entropy(graph: Array) -> float:
    xp = array_namespace(graph)
    positive = xp.where(graph > 0, graph, xp.ones_like(graph))
    return float(xp.sum(graph * xp.log(positive)))


def _project(by_direction: Array, embedding: Array, u: Array) -> Array:
    """Apply the chain rule through u = x / |x|: only the tangent part counts."""
    xp = array_namespace(embedding)
    tangent = by_direction - u * xp.vecdot(u, by_direction)[:, None]
    length = xp.sqrt(xp.vecdot(embedding, embedding))[:, None]
    safe = xp.where(length > 0, length, xp.ones_like(length))
    return tangent * xp.where(length > 0, 1.0 / safe, 0.0 * length)


def embed_graph(
    graph: Graph,
    *,
    start: Array,
    bandwidth: float,
    n_steps: int = 60,
    optimizer: Optimizer = "lbfgs",
    gradient: Gradient = "full",
) -> Descent:
    """Find the embedding whose graph best matches a given one (Eq. 4 and 5).

    Eq. 5 blends two losses; the loss is linear in its target, so one call with the blended graph is
    equivalent.

    Parameters
    ----------
    graph : Graph of shape (n_frames, n_frames)
        Target weights.
    start : array of shape (n_frames, n_components)
        Starting point.
    bandwidth : float >= 1e-6
        Decay of the embedding's weights (l-tilde).
    n_steps : int
        Maximum number of evaluations for "lbfgs", exact number of steps for "barzilai-borwein".
    optimizer : {"lbfgs", "barzilai-borwein"}
        A safeguarded descent from unit rows, or the authors' own.
    gradient : {"full", "half"}
        The true gradient, or the authors' (only for "barzilai-borwein").
    """
    _check_pair("start", start, graph)
    check_bandwidth("bandwidth", bandwidth)
    check_choice("optimizer", optimizer, ("lbfgs", "barzilai-borwein"))
    check_choice("gradient", gradient, ("full", "half"))
    check_between("n_steps", n_steps, 1 if optimizer == "lbfgs" else 0, MOST_STEPS, whole=True)
    return _embed_graph(graph, start, bandwidth, n_steps, optimizer, gradient)


def _embed_graph(
    graph: Graph,
    start: Array,
    bandwidth: float,
    n_steps: int,
    optimizer: Optimizer = "lbfgs",
    gradient: Gradient = "full",
) -> Descent:
    if optimizer == "barzilai-borwein":
        objective = _objective(graph, start, bandwidth, gradient)
        return descend_barzilai_borwein(objective, start, n_steps=n_steps)

    objective = _objective(graph, start, bandwidth)
    begin = unit_rows(start)
    if isinstance(graph, LinearGraph) and len(begin) >= MANY_ROWS:
        least_gain = LEAST_GAIN * len(begin)
        return descend_many_rows(objective, begin, max_evaluations=n_steps, least_gain=least_gain)
    return descend_lbfgs(objective, begin, max_evaluations=n_steps)
