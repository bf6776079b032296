"""Graphs as operators: products, sums and diagonals in time linear in the number of frames.

Scaled columns, smoothing, the two priors and sums wrap a graph in a graph. Nothing here is of size
frames x frames.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from functools import reduce
from operator import add
from typing import Any

import numpy as np

from dayline.arrays import (
    Array,
    FloatArray,
    IntArray,
    array_namespace,
    is_torch_array,
    like,
    to_numpy,
)

LEAST_WEIGHT = 1e-30
"""Weights below this, negative ones of the approximation too, count as 0 in an entropy."""


class LinearGraph(ABC):
    """Weights between frames that can be multiplied with but are not held.

    Attributes
    ----------
    shape : tuple of int
        (n_frames, n_frames).
    sample : array
        An array of the precision and device of the weights.
    """

    shape: tuple[int, int]
    sample: Array

    @abstractmethod
    def __matmul__(self, x: Array) -> Array:
        """Multiply with `x` of shape (n_frames, n_columns)."""

    @abstractmethod
    def transposed_times(self, x: Array) -> Array:
        """Multiply the transposed graph with `x`."""

    @abstractmethod
    def diagonal(self, lag: int) -> Array:
        """Return the weights (i, i + lag) for every frame i; 0 where there is no frame i + lag."""

    def with_transpose_times(self, x: Array) -> Array:
        """Multiply the sum of the graph and its transpose with `x`."""
        return self @ x + self.transposed_times(x)

    def within(self, groups: Array) -> LinearGraph:
        """Return the graph without its edges between frames of different groups."""
        return _WithinGroups(self, groups)

    def with_columns_scaled(self, scale: Array) -> LinearGraph:
        """Multiply every column by a number."""
        return _ScaledColumns(self, scale)

    def smoothed(self, width: int) -> LinearGraph:
        """Average every weight over a window; see `smooth_edges`."""
        return _SmoothedGraph(self, width)

    def weakened_beyond_neighbors(self, temporal_prior: float) -> LinearGraph:
        """Remove a fraction of the weights between frames more than one apart (Eq. 6)."""
        return _WeakenedBeyondNeighbors(self, temporal_prior)

    def column_sums(self) -> Array:
        """Return the sum of every column."""
        xp = array_namespace(self.sample)
        ones = xp.ones((self.shape[0], 1), dtype=self.sample.dtype, device=self.sample.device)
        return self.transposed_times(ones)[:, 0]

    def columns(self, frames: Array) -> Array:
        """Return some columns, of shape (n_frames, n_chosen)."""
        xp, like = array_namespace(self.sample), self.sample
        chosen = xp.zeros((self.shape[0], len(frames)), dtype=like.dtype, device=like.device)
        chosen[frames, xp.arange(len(frames), device=like.device)] = 1.0
        return self @ chosen

    def entropy(self, most: int = 64) -> float:
        """Return the sum of w log w over all weights, from that of `most` evenly spaced columns."""
        xp = array_namespace(self.sample)
        n = self.shape[0]
        frames = np.unique(np.linspace(0, n - 1, min(n, most)).round().astype(np.int64))
        weights = self.columns(xp.asarray(frames, device=self.sample.device))
        weights = xp.where(weights > LEAST_WEIGHT, weights, xp.ones_like(weights))
        return float(xp.sum(weights * xp.log(weights))) * n / len(frames)

    def picture(self, size: int, *, rows: IntArray | None = None) -> FloatArray:
        """Average the weights over `size` x `size` groups of consecutive frames.

        Parameters
        ----------
        size : int
            Groups; at most as many as frames.
        rows : ndarray of int, optional
            The row of this graph that every frame of the picture shows; None shows every row once.
        """
        from scipy.sparse import csr_matrix

        rows = np.arange(self.shape[0]) if rows is None else rows
        starts = np.arange(min(size, len(rows))) * len(rows) // min(size, len(rows))
        groups = np.searchsorted(starts, np.arange(len(rows)), side="right") - 1
        share = csr_matrix(
            (1.0 / np.bincount(groups)[groups], (rows, groups)),
            shape=(self.shape[0], int(groups[-1]) + 1),
        )
        parts = []
        # A few columns at a time: all of them would hold frames x size numbers.
        for begin in range(0, share.shape[1], 64):
            product = self @ like(share[:, begin : begin + 64].toarray(), self.sample)
            parts.append(share.T @ to_numpy(product))
        return np.concatenate(parts, axis=1)

    def __rmul__(self, factor: float) -> LinearGraph:
        """Multiply every weight by a number."""
        return _SumOfGraphs([(float(factor), self)])

    def __add__(self, other: LinearGraph) -> LinearGraph:
        """Add the weights of two graphs over the same frames."""
        return _SumOfGraphs([(1.0, self), (1.0, other)])


def shifted(x: Array, lag: int) -> Array:
    """Return x[i + lag] for every i, 0 where there is none."""
    xp = array_namespace(x)
    moved = xp.zeros_like(x)
    n = x.shape[0]
    if abs(lag) < n:
        moved[max(-lag, 0) : n - max(lag, 0)] = x[max(lag, 0) : n - max(-lag, 0)]
    return moved


class SymmetricBand:
    """A symmetric matrix with weights only between frames near in time.

    Parameters
    ----------
    diagonals : sequence of array of shape (n_frames,)
        Entries (i, i + lag), from lag 0 on; those beyond the last frame are ignored.
    """

    def __init__(self, diagonals: Sequence[Array]) -> None:
        self.diagonals = list(diagonals)
        self._matrix = None if is_torch_array(diagonals[0]) else self._sparse()

    def _sparse(self) -> Any:
        from scipy.sparse import diags_array

        n, last = len(self.diagonals[0]), len(self.diagonals) - 1
        lags = range(-last, last + 1)
        return diags_array(
            [self.diagonals[abs(lag)][: n - abs(lag)] for lag in lags], offsets=lags, shape=(n, n)
        )

    def add_product(self, product: Array, x: Array) -> None:
        """Add the product with `x` to another."""
        if self._matrix is not None:
            product += self._matrix @ x
            return
        n = x.shape[0]
        for lag, values in enumerate(self.diagonals):
            column = values[: n - lag, None]
            product[: n - lag] += column * x[lag:]
            if lag:
                product[lag:] += column * x[: n - lag]

    def with_columns_scaled_and_transpose(self, scale: Array) -> SymmetricBand:
        """Multiply every column by a number, and add the transposed result."""
        return SymmetricBand(
            [d * (scale + shifted(scale, lag)) for lag, d in enumerate(self.diagonals)]
        )


class SymmetricGraph(LinearGraph):
    """A graph that is its own transpose: a far field, and a band that corrects near frames."""

    near: SymmetricBand

    @abstractmethod
    def far_times(self, x: Array) -> Array:
        """Multiply with `x`, without the band."""

    def __matmul__(self, x: Array) -> Array:
        """Multiply with `x` of shape (n_frames, n_columns)."""
        product = self.far_times(x)
        self.near.add_product(product, x)
        return product

    def transposed_times(self, x: Array) -> Array:
        """Multiply with `x`: the graph is symmetric."""
        return self @ x


class _WithinGroups(LinearGraph):
    """Any graph without its edges between groups, multiplied group by group."""

    def __init__(self, graph: LinearGraph, groups: Array) -> None:
        self.shape, self.sample = graph.shape, graph.sample
        self._whole, self._groups = graph, groups
        xp = array_namespace(graph.sample)
        self._members = [groups == number for number in xp.unique_values(groups)]

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
        return where_same(self._whole.diagonal(lag), self._groups, lag)


def where_same(diagonal: Array, groups: Array, lag: int) -> Array:
    """Keep the entries (i, i + lag) of frames in the same group."""
    xp = array_namespace(diagonal)
    return xp.where(shifted(groups + 1, lag) == groups + 1, diagonal, xp.zeros_like(diagonal))


class _ScaledColumns(LinearGraph):
    """A graph with every column multiplied by a number."""

    def __init__(self, graph: LinearGraph, scale: Array) -> None:
        self.shape, self.sample = graph.shape, graph.sample
        self._graph, self._scale = graph, scale
        self._near_with_transpose: SymmetricBand | None = None

    def __matmul__(self, x: Array) -> Array:
        return self._graph @ (self._scale[:, None] * x)

    def transposed_times(self, x: Array) -> Array:
        return self._scale[:, None] * self._graph.transposed_times(x)

    def with_transpose_times(self, x: Array) -> Array:
        if not isinstance(self._graph, SymmetricGraph):
            return super().with_transpose_times(x)
        # Both products of a symmetric graph at once; in its band, they are one.
        xp = array_namespace(x)
        scale, width = self._scale[:, None], x.shape[1]
        both = self._graph.far_times(xp.concat([scale * x, x], axis=1))
        product = both[:, :width] + scale * both[:, width:]
        if self._near_with_transpose is None:
            self._near_with_transpose = self._graph.near.with_columns_scaled_and_transpose(
                self._scale
            )
        self._near_with_transpose.add_product(product, x)
        return product

    def diagonal(self, lag: int) -> Array:
        return self._graph.diagonal(lag) * shifted(self._scale, lag)

    def within(self, groups: Array) -> LinearGraph:
        return _ScaledColumns(self._graph.within(groups), self._scale)


class _SmoothedGraph(LinearGraph):
    """A graph whose weights are averaged over a window; see `smooth_edges`."""

    def __init__(self, graph: LinearGraph, width: int) -> None:
        self.shape, self.sample = graph.shape, graph.sample
        self._graph, self._width = graph, width
        self._before, self._after = width // 2, width - 1 - width // 2

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
            first = max(-self._before, -self._before - apart)
            last = min(self._after, self._after - apart)
            total += self._window_sum(self._graph.diagonal(lag + apart), first, last)

        # A window around a frame beyond the last one reaches into the sequence, but there is no
        # such frame.
        total[: max(-lag, 0)] = 0.0
        total[n - max(lag, 0) :] = 0.0
        return total / float(self._width) ** 2


class _WeakenedBeyondNeighbors(LinearGraph):
    """A graph whose edges between frames more than one apart are weakened (Eq. 6)."""

    def __init__(self, graph: LinearGraph, temporal_prior: float) -> None:
        self.shape, self.sample = graph.shape, graph.sample
        self._graph, self._prior = graph, temporal_prior
        self._near = {lag: temporal_prior * graph.diagonal(lag) for lag in (-1, 0, 1)}
        sides = self._near[1] + shifted(self._near[-1], 1)
        self._near_with_transpose = SymmetricBand([2.0 * self._near[0], sides])

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
        self._near_with_transpose.add_product(product, x)
        return product

    def diagonal(self, lag: int) -> Array:
        values = self._graph.diagonal(lag)
        return values if abs(lag) <= 1 else (1.0 - self._prior) * values


class _SumOfGraphs(LinearGraph):
    """A weighted sum of graphs over the same frames."""

    def __init__(self, parts: Sequence[tuple[float, LinearGraph]]) -> None:
        self._parts = list(parts)
        self.shape, self.sample = parts[0][1].shape, parts[0][1].sample

    def __matmul__(self, x: Array) -> Array:
        return reduce(add, (weight * (graph @ x) for weight, graph in self._parts))

    def transposed_times(self, x: Array) -> Array:
        return reduce(add, (weight * graph.transposed_times(x) for weight, graph in self._parts))

    def with_transpose_times(self, x: Array) -> Array:
        return reduce(
            add, (weight * graph.with_transpose_times(x) for weight, graph in self._parts)
        )

    def diagonal(self, lag: int) -> Array:
        return reduce(add, (weight * graph.diagonal(lag) for weight, graph in self._parts))

    def within(self, groups: Array) -> LinearGraph:
        return _SumOfGraphs([(weight, graph.within(groups)) for weight, graph in self._parts])
