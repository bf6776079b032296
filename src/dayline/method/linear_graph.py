"""Graphs as operators: products, sums and diagonals in time and memory linear in the number of frames.

A kernel over landmarks holds the far field, exact diagonals hold the near field. Scaled columns, the two priors,
smoothing and sums wrap a graph in a graph. Nothing here is of size frames x frames.
"""

from __future__ import annotations

import operator
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from functools import reduce
from itertools import pairwise
from typing import Any

import numpy as np

from dayline.arrays import Array, array_namespace, exp_in_place, is_on_host, positive_solver, single, to_numpy
from dayline.method.landmarks import Landmarks

__all__ = [
    "KernelGraph",
    "LandmarkBasis",
    "LandmarkKernel",
    "LinearGraph",
    "ScaledColumns",
    "SmoothedGraph",
    "SumOfGraphs",
    "WeakenedBeyondNeighbours",
]

BLOCK_ROWS = 2048
"""Rows of a kernel that stay in the cache of a CPU; a GPU takes 128 times as many."""

MOST_KEPT = 2**26
"""Entries of a kernel that are kept from one product to the next; a larger kernel is computed again."""

FEW_DIMS = 32
"""Kernels over more columns than these are always kept: computing one again costs too much."""

RIDGE = 1e-6
"""Added to the diagonal of the kernel of the landmarks, per landmark: what single precision can tell from 0."""

LEAST_WEIGHT = 1e-30
"""Weights below this, negative ones of the approximation too, count as 0 in an entropy."""


class LandmarkBasis:
    """The kernel among landmarks, ready to be solved with.

    Parameters
    ----------
    centres : array of shape (n_landmarks, n_dims)
        Unit rows.
    bandwidth : float > 0
        Decay of the kernel.
    """

    def __init__(self, centres: Array, bandwidth: float) -> None:
        xp = array_namespace(centres)
        count = centres.shape[0]
        own = (centres @ centres.T - 1.0) / bandwidth
        exp_in_place(own)
        own += RIDGE * count * xp.eye(count, dtype=own.dtype, device=own.device)
        self.centres, self.bandwidth = centres, bandwidth
        self.solve = positive_solver(own)

    def inverse(self) -> Array:
        """Return the inverse of the kernel among landmarks."""
        xp = array_namespace(self.centres)
        return self.solve(xp.eye(self.centres.shape[0], dtype=self.centres.dtype, device=self.centres.device))


class LandmarkKernel:
    """The kernel exp((cosine - 1) / bandwidth) of all frames, seen through landmarks (Nystroem).

    With C the kernel of frames and landmarks and M that of the landmarks, it is C M^-1 C^T. C is in single precision,
    the sums over frames and all that has the size of the landmarks in that of the landmarks.

    Parameters
    ----------
    u : array of shape (n_frames, n_dims)
        Rows of length 1 or 0.
    basis : LandmarkBasis
        The landmarks.
    """

    def __init__(self, u: Array, basis: LandmarkBasis) -> None:
        xp = array_namespace(u)
        ones = xp.ones_like(u[:, :1])
        count = basis.centres.shape[0]
        # The -1 enters the product as a column of ones.
        self._rows = single(xp.concat([u, -ones], axis=1) / basis.bandwidth)
        self._centres = single(xp.concat([basis.centres, xp.ones_like(basis.centres[:, :1])], axis=1)).T
        self._basis = basis
        self._kept: list[Array] | None = None
        self.shape = (u.shape[0], count)
        if u.shape[0] * count <= MOST_KEPT or u.shape[1] > FEW_DIMS:
            self._kept = [block for _, block in self.blocks()]
            del self._rows

    def blocks(self) -> Iterator[tuple[slice, Array]]:
        """Give the rows of C, a block at a time."""
        n = self.shape[0]
        size = BLOCK_ROWS if is_on_host(self._centres) else 128 * BLOCK_ROWS
        for k, begin in enumerate(range(0, n, size)):
            rows = slice(begin, min(begin + size, n))
            if self._kept is not None:
                yield rows, self._kept[k]
            else:
                block = self._rows[rows] @ self._centres
                exp_in_place(block)
                yield rows, block

    def __matmul__(self, x: Array) -> Array:
        return self.spread(self.gather(x), like=x)

    def gather(self, x: Array) -> Array:
        """Return M^-1 C^T x, one row per landmark."""
        xp = array_namespace(x)
        centres = self._basis.centres
        total = xp.zeros((self.shape[1], x.shape[1]), dtype=centres.dtype, device=centres.device)
        for rows, block in self.blocks():
            total += block.T @ single(x[rows])
        return self._basis.solve(total)

    def spread(self, weights: Array, *, like: Array) -> Array:
        """Return C times `weights`, one row per frame, in the precision of `like`."""
        product = array_namespace(like).empty_like(like)
        narrow = single(weights)
        for rows, block in self.blocks():
            product[rows] = block @ narrow
        return product

    def diagonals(self, lags: Sequence[int]) -> list[Array]:
        """Return the approximate entries (i, i + lag) for every lag >= 0 and every i, 0 beyond the last frame."""
        centres = self._basis.centres
        xp = array_namespace(centres)
        reach = max(lags)
        inverse = single(self._basis.inverse())
        found = [xp.zeros((self.shape[0],), dtype=centres.dtype, device=centres.device) for _ in lags]
        before = None
        for rows, block in self.blocks():
            # The last frames of the blocks before have partners in this one.
            whole = block if before is None else xp.concat([before, block], axis=0)
            begin = rows.stop - whole.shape[0]
            solved = whole @ inverse
            for values, lag in zip(found, lags, strict=True):
                size = whole.shape[0] - lag
                if size > 0:
                    values[begin : begin + size] = xp.sum(solved[:size] * whole[lag:], axis=1)
            before = whole[max(whole.shape[0] - reach, 0) :]
        return found


class LinearGraph(ABC):
    """Weights between frames that can be multiplied with but are not held.

    Attributes
    ----------
    shape : tuple of int
        (n_frames, n_frames).
    """

    shape: tuple[int, int]

    @abstractmethod
    def __matmul__(self, x: Array) -> Array:
        """Multiply with `x` of shape (n_frames, n_columns)."""

    @abstractmethod
    def transposed_times(self, x: Array) -> Array:
        """Multiply the transposed graph with `x`."""

    @abstractmethod
    def diagonal(self, lag: int) -> Array:
        """Return the weights (i, i + lag) for every frame i; 0 where there is no frame i + lag."""

    @property
    @abstractmethod
    def sample(self) -> Array:
        """An array of the precision and device of the weights."""

    def with_transpose_times(self, x: Array) -> Array:
        """Multiply the sum of the graph and its transpose with `x`."""
        return self @ x + self.transposed_times(x)

    def within(self, groups: Array) -> LinearGraph:
        """Return the graph without its edges between frames of different groups."""
        return _WithinGroups(self, groups)

    def column_sums(self) -> Array:
        """Return the sum of every column."""
        xp = array_namespace(self.sample)
        return self.transposed_times(xp.ones((self.shape[0], 1), dtype=self.sample.dtype, device=self.sample.device))[
            :, 0
        ]

    def columns(self, frames: Array) -> Array:
        """Return some columns, of shape (n_frames, n_chosen)."""
        xp = array_namespace(self.sample)
        chosen = xp.zeros((self.shape[0], len(frames)), dtype=self.sample.dtype, device=self.sample.device)
        chosen[frames, xp.arange(len(frames), device=self.sample.device)] = 1.0
        return self @ chosen

    def entropy(self, most: int = 64) -> float:
        """Return the sum of w log w over all weights, from that of `most` evenly spaced columns."""
        xp = array_namespace(self.sample)
        n = self.shape[0]
        frames = np.unique(np.linspace(0, n - 1, min(n, most)).round().astype(np.int64))
        weights = self.columns(xp.asarray(frames, device=self.sample.device))
        weights = xp.where(weights > LEAST_WEIGHT, weights, xp.ones_like(weights))
        return float(xp.sum(weights * xp.log(weights))) * n / len(frames)

    def picture(self, size: int) -> Array:
        """Average the weights over `size` x `size` groups of consecutive frames."""
        return _averages(self, self.sample, size)

    def __rmul__(self, factor: float) -> LinearGraph:
        return SumOfGraphs([(float(factor), self)])

    def __add__(self, other: LinearGraph) -> LinearGraph:
        return SumOfGraphs([(1.0, self), (1.0, other)])


def _averages(graph: Any, sample: Array, size: int) -> Array:
    xp = array_namespace(sample)
    n = graph.shape[0]
    size = min(size, n)
    edges = np.linspace(0, n, size + 1).round().astype(np.int64)
    groups = np.repeat(np.arange(size), np.diff(edges))
    mean = np.zeros((n, size))
    mean[np.arange(n), groups] = 1.0 / np.diff(edges)[groups]
    means = xp.asarray(mean, dtype=sample.dtype, device=sample.device)
    return means.T @ (graph @ means)


class KernelGraph(LinearGraph):
    """The affinity of frames (Eq. 3): landmarks for pairs far apart in time, exact values for those near.

    Parameters
    ----------
    u : array of shape (n_frames, n_dims)
        Rows of length 1 or 0.
    landmarks : Landmarks
        For the far field.
    bandwidth : float > 0
        Decay of the weights.
    reach : int
        Frames up to this far apart have their exact weight.
    """

    def __init__(self, u: Array, landmarks: Landmarks, bandwidth: float, *, reach: int) -> None:
        n = u.shape[0]
        self.shape = (n, n)
        self._basis = LandmarkBasis(landmarks.centres(u), bandwidth)
        self._kernel = LandmarkKernel(u, self._basis)
        lags = range(min(reach, n - 1) + 1)
        self._exact = [_exact_diagonal(u, lag, bandwidth) for lag in lags]
        self._missing = [a - b for a, b in zip(self._exact, self._kernel.diagonals(lags), strict=True)]
        # Features may have thousands of columns; an embedding is small, and smoothing may ask for more diagonals.
        self._u = u if u.shape[1] <= FEW_DIMS else None

    @property
    def sample(self) -> Array:
        return self._exact[0]

    def __matmul__(self, x: Array) -> Array:
        product = self._kernel @ x
        _add_symmetric_band(product, self._missing, x)
        return product

    def transposed_times(self, x: Array) -> Array:
        return self @ x

    def diagonal(self, lag: int) -> Array:
        size = abs(lag)
        if size < len(self._exact):
            values = self._exact[size]
        elif self._u is not None:
            values = _exact_diagonal(self._u, size, self._basis.bandwidth)
        else:
            values = self._kernel.diagonals([size])[0]
        return values if lag >= 0 else shifted(values, lag)

    def within(self, groups: Array) -> LinearGraph:
        return super().within(groups) if self._u is None else _KernelWithinGroups(self, self._u, groups)


def _exact_diagonal(u: Array, lag: int, bandwidth: float) -> Array:
    xp = array_namespace(u)
    n = u.shape[0]
    values = xp.zeros((n,), dtype=u.dtype, device=u.device)
    if lag >= n:
        return values
    for begin in range(0, n - lag, 64 * BLOCK_ROWS):
        stop = min(begin + 64 * BLOCK_ROWS, n - lag)
        cosines = xp.sum(u[begin:stop] * u[begin + lag : stop + lag], axis=1)
        values[begin:stop] = xp.exp((cosines - 1.0) / bandwidth)
    return values


def shifted(x: Array, lag: int) -> Array:
    """Return x[i + lag] for every i, 0 where there is none."""
    xp = array_namespace(x)
    moved = xp.zeros_like(x)
    n = x.shape[0]
    if abs(lag) < n:
        moved[max(-lag, 0) : n - max(lag, 0)] = x[max(lag, 0) : n - max(-lag, 0)]
    return moved


def _add_symmetric_band(product: Array, diagonals: Sequence[Array], x: Array) -> None:
    """Add a symmetric band times x; diagonals from the main one on."""
    n = x.shape[0]
    for lag, values in enumerate(diagonals):
        column = values[: n - lag, None]
        product[: n - lag] += column * x[lag:]
        if lag:
            product[lag:] += column * x[: n - lag]


class _KernelWithinGroups(LinearGraph):
    """A kernel graph without its edges between groups: a kernel for the frames of each."""

    def __init__(self, graph: KernelGraph, u: Array, groups: Array) -> None:
        xp = array_namespace(u)
        self.shape, self._whole, self._groups = graph.shape, graph, groups
        self._order = xp.argsort(groups, stable=True)
        self._back = xp.argsort(self._order, stable=True)
        cuts = np.flatnonzero(np.diff(to_numpy(xp.take(groups, self._order)))) + 1
        self._parts = [slice(a, b) for a, b in pairwise([0, *cuts.tolist(), graph.shape[0]])]
        by_group = xp.take(u, self._order, axis=0)
        self._kernels = [LandmarkKernel(by_group[part], graph._basis) for part in self._parts]
        self._missing = [_where_same(values, groups, lag) for lag, values in enumerate(graph._missing)]

    @property
    def sample(self) -> Array:
        return self._whole.sample

    def __matmul__(self, x: Array) -> Array:
        xp = array_namespace(x)
        by_group = xp.take(x, self._order, axis=0)
        parts = [kernel @ by_group[part] for kernel, part in zip(self._kernels, self._parts, strict=True)]
        product = xp.take(xp.concat(parts, axis=0), self._back, axis=0)
        _add_symmetric_band(product, self._missing, x)
        return product

    def transposed_times(self, x: Array) -> Array:
        return self @ x

    def diagonal(self, lag: int) -> Array:
        return _where_same(self._whole.diagonal(lag), self._groups, lag)


class _WithinGroups(LinearGraph):
    """Any graph without its edges between groups, multiplied group by group."""

    def __init__(self, graph: LinearGraph, groups: Array) -> None:
        self.shape, self._whole, self._groups = graph.shape, graph, groups
        xp = array_namespace(graph.sample)
        self._members = [groups == number for number in xp.unique_values(groups)]

    @property
    def sample(self) -> Array:
        return self._whole.sample

    def __matmul__(self, x: Array) -> Array:
        return self._by_group(lambda part: self._whole @ part, x)

    def transposed_times(self, x: Array) -> Array:
        return self._by_group(self._whole.transposed_times, x)

    def _by_group(self, times: Callable[[Array], Array], x: Array) -> Array:
        xp = array_namespace(x)
        product = xp.zeros_like(x)
        for members in self._members:
            part = xp.where(members[:, None], x, xp.zeros_like(x))
            product = xp.where(members[:, None], times(part), product)
        return product

    def diagonal(self, lag: int) -> Array:
        return _where_same(self._whole.diagonal(lag), self._groups, lag)


def _where_same(diagonal: Array, groups: Array, lag: int) -> Array:
    """Keep the entries (i, i + lag) of frames in the same group."""
    xp = array_namespace(diagonal)
    return xp.where(shifted(groups + 1, lag) == groups + 1, diagonal, xp.zeros_like(diagonal))


class ScaledColumns(LinearGraph):
    """A graph with every column multiplied by a number.

    Parameters
    ----------
    graph : LinearGraph
        Edge weights.
    scale : array of shape (n_frames,)
        Factor of every column.
    """

    def __init__(self, graph: LinearGraph, scale: Array) -> None:
        self.shape, self._graph, self._scale = graph.shape, graph, scale

    @property
    def sample(self) -> Array:
        return self._graph.sample

    def __matmul__(self, x: Array) -> Array:
        return self._graph @ (self._scale[:, None] * x)

    def transposed_times(self, x: Array) -> Array:
        return self._scale[:, None] * self._graph.transposed_times(x)

    def with_transpose_times(self, x: Array) -> Array:
        if not isinstance(self._graph, (KernelGraph, _KernelWithinGroups)):
            return super().with_transpose_times(x)
        # Both products of a symmetric graph at once.
        xp = array_namespace(x)
        scale, width = self._scale[:, None], x.shape[1]
        product = self._graph @ xp.concat([scale * x, x], axis=1)
        return product[:, :width] + scale * product[:, width:]

    def diagonal(self, lag: int) -> Array:
        return self._graph.diagonal(lag) * shifted(self._scale, lag)

    def within(self, groups: Array) -> LinearGraph:
        return ScaledColumns(self._graph.within(groups), self._scale)


class SmoothedGraph(LinearGraph):
    """A graph whose weights are averaged over a window; see `smooth_edges`.

    Parameters
    ----------
    graph : LinearGraph
        Edge weights.
    width : int >= 2
        Window.
    """

    def __init__(self, graph: LinearGraph, width: int) -> None:
        self.shape, self._graph, self._width = graph.shape, graph, width
        self._before, self._after = width // 2, width - 1 - width // 2

    @property
    def sample(self) -> Array:
        return self._graph.sample

    def __matmul__(self, x: Array) -> Array:
        return self._around(self._graph.__matmul__, x)

    def transposed_times(self, x: Array) -> Array:
        return self._around(self._graph.transposed_times, x)

    def with_transpose_times(self, x: Array) -> Array:
        return self._around(self._graph.with_transpose_times, x)

    def _around(self, times: Callable[[Array], Array], x: Array) -> Array:
        spread = self._window_sum(x, -self._after, self._before) / float(self._width)
        return self._window_sum(times(spread), -self._before, self._after) / float(self._width)

    @staticmethod
    def _window_sum(x: Array, first: int, last: int) -> Array:
        total = shifted(x, first)
        n = x.shape[0]
        for lag in range(first + 1, last + 1):
            if abs(lag) < n:
                total[max(-lag, 0) : n - max(lag, 0)] += x[max(lag, 0) : n - max(-lag, 0)]
        return total

    def diagonal(self, lag: int) -> Array:
        n = self.shape[0]
        total = array_namespace(self.sample).zeros_like(self.sample)
        for apart in range(-self._width + 1, self._width):
            if abs(lag + apart) >= n:
                continue
            # Rows i + a and columns i + lag + a + apart, with both offsets inside the window.
            first, last = max(-self._before, -self._before - apart), min(self._after, self._after - apart)
            total += self._window_sum(self._graph.diagonal(lag + apart), first, last)
        # A window around a frame beyond the last one reaches into the sequence, but there is no such frame.
        total[: max(-lag, 0)] = 0.0
        total[n - max(lag, 0) :] = 0.0
        return total / float(self._width) ** 2


class WeakenedBeyondNeighbours(LinearGraph):
    """A graph whose edges between frames more than one apart are weakened (Eq. 6).

    Parameters
    ----------
    graph : LinearGraph
        Edge weights.
    temporal_prior : float in [0, 1]
        Fraction removed.
    """

    def __init__(self, graph: LinearGraph, temporal_prior: float) -> None:
        self.shape, self._graph, self._prior = graph.shape, graph, temporal_prior
        self._near = {lag: temporal_prior * graph.diagonal(lag) for lag in (-1, 0, 1)}
        sides = self._near[1] + shifted(self._near[-1], 1)
        self._near_with_transpose = [2.0 * self._near[0], sides]

    @property
    def sample(self) -> Array:
        return self._graph.sample

    def __matmul__(self, x: Array) -> Array:
        product = (1.0 - self._prior) * (self._graph @ x)
        for lag, values in self._near.items():
            product += values[:, None] * shifted(x, lag)
        return product

    def transposed_times(self, x: Array) -> Array:
        product = (1.0 - self._prior) * self._graph.transposed_times(x)
        for lag, values in self._near.items():
            product += shifted(values[:, None] * x, -lag)
        return product

    def with_transpose_times(self, x: Array) -> Array:
        product = (1.0 - self._prior) * self._graph.with_transpose_times(x)
        _add_symmetric_band(product, self._near_with_transpose, x)
        return product

    def diagonal(self, lag: int) -> Array:
        values = self._graph.diagonal(lag)
        return values if abs(lag) <= 1 else (1.0 - self._prior) * values


class SumOfGraphs(LinearGraph):
    """A weighted sum of graphs over the same frames.

    Parameters
    ----------
    parts : sequence of (float, LinearGraph)
        Weights and graphs.
    """

    def __init__(self, parts: Sequence[tuple[float, LinearGraph]]) -> None:
        self._parts = list(parts)
        self.shape = self._parts[0][1].shape

    @property
    def sample(self) -> Array:
        return self._parts[0][1].sample

    def __matmul__(self, x: Array) -> Array:
        return self._sum([weight * (graph @ x) for weight, graph in self._parts])

    def transposed_times(self, x: Array) -> Array:
        return self._sum([weight * graph.transposed_times(x) for weight, graph in self._parts])

    def with_transpose_times(self, x: Array) -> Array:
        return self._sum([weight * graph.with_transpose_times(x) for weight, graph in self._parts])

    def diagonal(self, lag: int) -> Array:
        return self._sum([weight * graph.diagonal(lag) for weight, graph in self._parts])

    @staticmethod
    def _sum(values: list[Array]) -> Array:
        return reduce(operator.add, values)

    def within(self, groups: Array) -> LinearGraph:
        return SumOfGraphs([(weight, graph.within(groups)) for weight, graph in self._parts])
