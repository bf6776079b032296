"""From a graph to a vector per frame: the cross-entropy of Eq. 4 and 5, and its minimum."""

from __future__ import annotations

from typing import Literal, TypeAlias

from dayline.arrays import (
    Array,
    array_namespace,
    double,
    is_on_host,
    main_axes,
    row_blocks,
    sum_of_products,
    unit_rows,
)
from dayline.method.descent import (
    Descent,
    Objective,
    descend_barzilai_borwein,
    descend_lbfgs,
    descend_many_rows,
)
from dayline.method.graph import Graph
from dayline.method.landmarks import LandmarkBasis, LandmarkKernel, choose_landmarks
from dayline.method.linear import LinearGraph

Optimizer: TypeAlias = Literal["lbfgs", "barzilai-borwein"]
Gradient: TypeAlias = Literal["full", "half"]

BLOCK_ROWS = 128

MANY_ROWS = 1500
"""Frames from which a `LinearGraph` is not descended with SciPy, whose steps would take as long as
the products."""

LEAST_GAIN = 2.5e-5
"""These steps end with one that lowers the loss, a sum over frames, by less than this per frame."""


def principal_components(x: Array, n_components: int) -> Array:
    """Project centered frames on their main directions, the strongest first (PCA_d).

    There are at most as many as frames and columns; the largest entry of each is positive.
    """
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


def graph_cross_entropy(
    embedding: Array, graph: Graph, *, bandwidth: float, gradient: Gradient = "full"
) -> tuple[float, Array]:
    """Return the loss and gradient of an embedding whose graph should match a given one (Eq. 4).

    Every column of weights is treated as a distribution over frames; the loss is the sum over
    columns of the relative entropy of the embedding's column to the given one. With u the unit
    rows, s = 1 / bandwidth, E = exp(s (u u^T - 1)), z and w the column sums of E and of the graph
    W, and q = w / z, the gradient with respect to u is s (E (q u) + q (E u) - (W + W^T) u). No
    array is larger than n_frames x n_frames; for a `LinearGraph`, E is seen through landmarks and
    no array is larger than n_frames x n_landmarks.

    The "half" gradient is that of one of the authors' notebooks, with which the published table was
    computed: only q (E u) - W^T u, the column of the frame itself, times the number of components.
    """
    return _objective(graph, embedding, bandwidth, gradient)(embedding)


def _objective(
    graph: Graph, start: Array, bandwidth: float, gradient: Gradient = "full"
) -> Objective:
    """Return the loss and gradient against one graph; what evaluations share is computed once."""
    if isinstance(graph, LinearGraph):
        return _linear_objective(graph, start, bandwidth, gradient)

    # E, and W + W^T, are symmetric: blocks of rows hold them from the diagonal on, so that only
    # half is computed, and a block stays in cache from one operation to the next. A GPU has one.
    xp = array_namespace(graph)
    n = graph.shape[0]
    size = BLOCK_ROWS if is_on_host(graph) else n
    rows = [slice(first, min(first + size, n)) for first in range(0, n, size)]
    target = [graph[r, r.start :] + graph[r.start :, r].T for r in rows]
    kernel = [xp.empty_like(values) for values in target]
    degrees = xp.sum(graph, axis=0)
    positive = xp.where(graph > 0, graph, xp.ones_like(graph))
    entropy = float(xp.sum(graph * xp.log(positive)))

    def times_kernel(x: Array) -> Array:
        product = xp.zeros_like(x)
        for r, values in zip(rows, kernel, strict=True):
            product[r] += values @ x[r.start :]
            product[r.stop :] += values[:, r.stop - r.start :].T @ x[r]
        return product

    def evaluate(embedding: Array) -> tuple[float, Array]:
        # E, and the sum of (W + W^T) log E. The -1 of the exponent enters the product as a column.
        u = unit_rows(embedding)
        ones = xp.ones_like(u[:, :1])
        left, right = xp.concat([u, -ones], axis=1) / bandwidth, xp.concat([u, ones], axis=1).T
        agreement = 0.0
        for r, values, aim in zip(rows, kernel, target, strict=True):
            xp.matmul(left[r], right[:, r.start :], out=values)
            found = sum_of_products(aim, values)
            if r.stop < n:  # all but the square on the diagonal counts twice
                square = r.stop - r.start
                found = 2.0 * found - sum_of_products(aim[:, :square], values[:, :square])
            agreement += found
            xp.exp(values, out=values)

        sums = times_kernel(ones)[:, 0]
        loss = entropy + float(xp.sum(degrees * xp.log(sums))) - agreement / 2
        share = degrees / sums
        if gradient == "half":
            one_sided = share[:, None] * times_kernel(u) - (u.T @ graph).T
            return loss, _project(one_sided * (u.shape[1] / bandwidth), embedding, u)

        # The gradient with respect to u is (E * (q_i + q_j) - W - W^T) u.
        for r, values, aim in zip(rows, kernel, target, strict=True):
            values *= share[r, None] + share[r.start :]
            values -= aim
        return loss, _project(times_kernel(u) / bandwidth, embedding, u)

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

    "lbfgs" descends safely from unit rows; "barzilai-borwein" takes the authors' steps, with either
    gradient.
    """
    if optimizer == "barzilai-borwein":
        objective = _objective(graph, start, bandwidth, gradient)
        return descend_barzilai_borwein(objective, start, n_steps=n_steps)

    objective = _objective(graph, start, bandwidth)
    begin = unit_rows(start)
    if isinstance(graph, LinearGraph) and len(begin) >= MANY_ROWS:
        least_gain = LEAST_GAIN * len(begin)
        return descend_many_rows(objective, begin, max_evaluations=n_steps, least_gain=least_gain)
    return descend_lbfgs(objective, begin, max_evaluations=n_steps)
