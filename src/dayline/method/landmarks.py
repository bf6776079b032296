"""The affinity of frames as an operator: seen through landmarks, exact for those near in time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from dayline.arrays import (
    Array,
    FloatArray,
    IntArray,
    PositiveSolver,
    array_namespace,
    columns_for_products,
    double,
    is_on_host,
    map_blocks,
    single,
    to_numpy,
    unit_rows,
)
from dayline.method.linear import LinearGraph, SymmetricBand, SymmetricGraph, shifted, where_same

MOST_LANDMARKS = 320
"""Largest number of landmarks of an embedding; see docs/scale.md for what fewer and more of them
change."""

MEMBERS = 8
"""Frames whose mean is a landmark."""

SAMPLE = 8192
"""Frames among which landmarks are sought; in longer sequences, this many evenly spaced ones."""

NEAR = 5e-4
"""No more landmarks are added once every frame is this near one of them: 1 - cosine, in
bandwidths."""

ROUNDS = 3
"""Rounds of k-means after the first choice; more change nothing that can be measured."""


@dataclass(frozen=True)
class Landmarks:
    """Centers of groups of similar frames; they move with the frames.

    Attributes
    ----------
    members : array of int, shape (n_landmarks, n_members)
        The frames whose mean each landmark is.
    """

    members: Array

    def centers(self, x: Array) -> Array:
        """Return the landmarks, unit rows, of features or an embedding."""
        xp = array_namespace(x)
        count, each = self.members.shape
        rows = unit_rows(xp.take(x, xp.reshape(self.members, (-1,)), axis=0))
        return unit_rows(xp.mean(xp.reshape(rows, (count, each, x.shape[1])), axis=1))


def choose_landmarks(x: Array, *, bandwidth: float, most: int = MOST_LANDMARKS) -> Landmarks:
    """Group frames by k-means on the sphere, starting from frames far from each other.

    The start makes sure that rare frames have landmarks too; the means make every landmark count
    (with 256 of them, column sums of the kernel were five to ten times as exact as with single
    frames).

    Parameters
    ----------
    x : array of shape (n_frames, n_dims)
        Features or embedding.
    bandwidth : float > 0
        Decay of the kernel that the landmarks are for.
    most : int
        Largest number of landmarks.
    """
    xp = array_namespace(x)
    n = x.shape[0]
    frames = np.unique(np.linspace(0, n - 1, min(n, SAMPLE)).round().astype(np.int64))
    # On the host in double precision, so that every device chooses the same landmarks.
    u = unit_rows(
        to_numpy(xp.take(x, xp.asarray(frames, device=x.device), axis=0)).astype(np.float64)
    )
    groups: IntArray = np.arange(len(u))
    if len(u) > most:
        groups = _nearest(u, _means_of_groups(u, u[_far_apart(u, most, NEAR * bandwidth)]))
    return Landmarks(xp.asarray(frames[_members(groups)], device=x.device))


def _far_apart(u: FloatArray, most: int, near: float) -> IntArray:
    """Start from the first frame and add the frame farthest from all so far, again and again."""
    chosen = [0]
    closest = u @ u[0]
    while len(chosen) < most:
        farthest = int(np.argmin(closest))
        if closest[farthest] >= 1.0 - near:
            break
        chosen.append(farthest)
        np.maximum(closest, u @ u[farthest], out=closest)
    return np.asarray(chosen)


def _means_of_groups(u: FloatArray, centers: FloatArray) -> FloatArray:
    from scipy.sparse import csr_matrix

    n = len(u)
    for _ in range(ROUNDS):
        groups = _nearest(u, centers)
        sums = csr_matrix((np.ones(n), (groups, np.arange(n))), shape=(len(centers), n)) @ u
        # A group that lost all its frames stays where it was.
        centers = np.where(np.any(sums != 0, axis=1, keepdims=True), unit_rows(sums), centers)
    return centers


def _nearest(u: FloatArray, centers: FloatArray) -> IntArray:
    return np.concatenate(
        [np.argmax(u[k : k + 1024] @ centers.T, axis=1) for k in range(0, len(u), 1024)]
    )


def _members(groups: IntArray) -> IntArray:
    """Return members of each group, evenly spaced in time; a group of fewer repeats them."""
    order = np.argsort(groups, kind="stable")
    _, first, counts = np.unique(groups[order], return_index=True, return_counts=True)
    places = ((np.arange(MEMBERS) + 0.5) / MEMBERS * counts[:, None]).astype(np.int64)
    return np.asarray(order[first[:, None] + places])


BLOCK_ROWS = 2048
"""Rows of a kernel that stay in the cache of a CPU; a GPU takes 128 times as many."""

MOST_KEPT = 2**26
"""Entries of a kernel that are kept from one product to the next; a larger kernel is computed
again."""

FEW_DIMS = 128
"""Kernels over more columns than these are always kept: computing one again costs too much."""

RIDGE = 1e-6
"""Added to the diagonal of the kernel of the landmarks, per landmark: what single precision can
tell from 0."""


class LandmarkBasis:
    """The kernel among landmarks, ready to be solved with.

    Parameters
    ----------
    centers : array of shape (n_landmarks, n_dims)
        Unit rows.
    bandwidth : float > 0
        Decay of the kernel.
    """

    def __init__(self, centers: Array, bandwidth: float) -> None:
        xp = array_namespace(centers)
        count = centers.shape[0]
        own = (centers @ centers.T - 1.0) / bandwidth
        xp.exp(own, out=own)
        own += RIDGE * count * xp.eye(count, dtype=own.dtype, device=own.device)
        self.centers, self.bandwidth = centers, bandwidth
        self._solver = PositiveSolver(own)
        self._inverse: Array | None = None

    def inverse(self) -> Array:
        """Return the inverse of the kernel among landmarks."""
        if self._inverse is None:
            xp, like = array_namespace(self.centers), self.centers
            self._inverse = self._solver(xp.eye(len(like), dtype=like.dtype, device=like.device))
        return self._inverse

    def solve(self, x: Array) -> Array:
        """Solve for every column of `x`."""
        # Multiplying with the inverse, once it is there, takes a third of the time.
        return self._solver(x) if self._inverse is None else self._inverse @ x


class LandmarkKernel:
    """The kernel exp((cosine - 1) / bandwidth) of all frames, seen through landmarks (Nystroem).

    With C the kernel of frames and landmarks and M that of the landmarks, it is C M^-1 C^T. C is in
    single precision, the sums over frames and all that has the size of the landmarks in that of the
    landmarks.

    Parameters
    ----------
    x : array of shape (n_frames, n_dims)
        Features or embedding.
    basis : LandmarkBasis
        The landmarks.
    has_unit_rows : bool
        Whether the rows of `x` have length 1 or 0 already.
    keep : bool, optional
        Whether to keep C from one product to the next; None keeps it if it is small, or costly to
        compute again.
    """

    def __init__(
        self,
        x: Array,
        basis: LandmarkBasis,
        *,
        has_unit_rows: bool = False,
        keep: bool | None = None,
    ) -> None:
        xp = array_namespace(x)
        self._has_unit_rows = has_unit_rows
        count = basis.centers.shape[0]
        self._x = x
        # The -1 enters the product as a column.
        with_one = xp.concat([basis.centers, xp.ones_like(basis.centers[:, :1])], axis=1)
        self._centers = single(with_one / basis.bandwidth).T
        self._basis = basis
        self.shape = (x.shape[0], count)
        self._on_host, self._blocks = is_on_host(x), _blocks(x)
        self._kept: Array | None = None
        self.is_kept = keep
        if keep is None:
            self.is_kept = x.shape[0] * count <= MOST_KEPT or x.shape[1] > FEW_DIMS
        if self.is_kept:
            kept = xp.empty(self.shape, dtype=self._centers.dtype, device=x.device)
            map_blocks(
                lambda rows: self._compute(rows, kept[rows]), self._blocks, on_host=self._on_host
            )
            self._kept = kept
            del self._x

    def _compute(self, rows: slice, out: Array) -> None:
        xp = array_namespace(out)
        u = self._x[rows] if self._has_unit_rows else unit_rows(self._x[rows])
        left = xp.empty((u.shape[0], u.shape[1] + 1), dtype=out.dtype, device=out.device)
        left[:, :-1] = u
        left[:, -1] = -1.0
        # Allocating large products takes longer than the arithmetic.
        xp.matmul(left, self._centers, out=out)
        xp.exp(out, out=out)

    def _values(self, rows: slice) -> Array:
        """Return some rows of C."""
        if self._kept is not None:
            return self._kept[rows]
        xp = array_namespace(self._centers)
        shape = (rows.stop - rows.start, self.shape[1])
        values = xp.empty(shape, dtype=self._centers.dtype, device=self._x.device)
        self._compute(rows, values)
        return values

    def __matmul__(self, x: Array) -> Array:
        """Multiply the kernel with `x` of shape (n_frames, n_columns)."""
        xp, centers = array_namespace(x), self._basis.centers
        # M^-1 C^T x, one row per landmark.
        right = columns_for_products(x)
        total = xp.zeros(
            (self.shape[1], right.shape[1]), dtype=centers.dtype, device=centers.device
        )
        parts = map_blocks(
            lambda rows: self._values(rows).T @ right[rows], self._blocks, on_host=self._on_host
        )
        for part in parts:
            total += part
        weights = columns_for_products(self._basis.solve(total[:, : x.shape[1]]))

        # C times these, one row per frame.
        product = xp.empty_like(x)

        def write(rows: slice) -> None:
            product[rows] = (self._values(rows) @ weights)[:, : x.shape[1]]

        map_blocks(write, self._blocks, on_host=self._on_host)
        return product

    def diagonals(self, lags: Sequence[int]) -> list[Array]:
        """Return the approximate entries (i, i + lag) for every lag >= 0, 0 beyond the end."""
        centers = self._basis.centers
        xp = array_namespace(centers)
        n, reach = self.shape[0], max(lags)
        inverse = single(self._basis.inverse())
        found = [xp.zeros((n,), dtype=centers.dtype, device=centers.device) for _ in lags]

        def write(rows: slice) -> None:
            partners = self._values(slice(rows.start, min(rows.stop + reach, n)))
            solved = partners[: rows.stop - rows.start] @ inverse
            for values, lag in zip(found, lags, strict=True):
                size = min(rows.stop, n - lag) - rows.start
                if size > 0:
                    values[rows.start : rows.start + size] = xp.vecdot(
                        solved[:size], partners[lag : lag + size]
                    )

        map_blocks(write, self._blocks, on_host=self._on_host)
        return found


class KernelGraph(SymmetricGraph):
    """The affinity of frames (Eq. 3).

    Parameters
    ----------
    x : array of shape (n_frames, n_dims)
        Features or embedding.
    landmarks : Landmarks
        For the far field.
    bandwidth : float > 0
        Decay of the weights.
    reach : int
        Frames up to this far apart have their exact weight.
    """

    def __init__(self, x: Array, landmarks: Landmarks, bandwidth: float, *, reach: int) -> None:
        n = x.shape[0]
        self.shape = (n, n)
        self._basis = LandmarkBasis(double(landmarks.centers(x)), bandwidth)
        self._kernel = LandmarkKernel(x, self._basis)
        lags = range(min(reach, n - 1) + 1)
        self._exact = _exact_diagonals(x, lags, bandwidth)
        self.sample = self._exact[0]
        self.near = SymmetricBand(
            [a - b for a, b in zip(self._exact, self._kernel.diagonals(lags), strict=True)]
        )
        self._x = x

    def far_times(self, x: Array) -> Array:
        """Multiply what the landmarks see with `x`."""
        return self._kernel @ x

    def diagonal(self, lag: int) -> Array:
        """Return the weights (i, i + lag), which are exact."""
        size = abs(lag)
        if size < len(self._exact):
            values = self._exact[size]
        else:
            [values] = _exact_diagonals(self._x, [size], self._basis.bandwidth)
        return values if lag >= 0 else shifted(values, lag)

    def within(self, groups: Array) -> LinearGraph:
        """Return the graph without its edges between frames of different groups."""
        return _KernelWithinGroups(self, self._x, groups)


def _exact_diagonals(x: Array, lags: Sequence[int], bandwidth: float) -> list[Array]:
    """Return the weights (i, i + lag) for every lag >= 0 and every i, 0 beyond the last frame."""
    xp = array_namespace(x)
    n, reach = x.shape[0], max(lags)
    found = [xp.zeros((n,), dtype=double(x[:1]).dtype, device=x.device) for _ in lags]

    def write(rows: slice) -> None:
        u = double(unit_rows(x[rows.start : min(rows.stop + reach, n)]))
        for values, lag in zip(found, lags, strict=True):
            size = min(rows.stop, n - lag) - rows.start
            if size > 0:
                cosines = xp.vecdot(u[:size], u[lag : lag + size])
                values[rows.start : rows.start + size] = xp.exp((cosines - 1.0) / bandwidth)

    map_blocks(write, _blocks(x), on_host=is_on_host(x))
    return found


def _blocks(x: Array) -> list[slice]:
    """Return slices over all rows, large ones on a GPU."""
    size = BLOCK_ROWS if is_on_host(x) else 128 * BLOCK_ROWS
    return [slice(k, min(k + size, x.shape[0])) for k in range(0, x.shape[0], size)]


class _KernelWithinGroups(SymmetricGraph):
    """A kernel graph without its edges between groups: a kernel for the frames of each."""

    def __init__(self, graph: KernelGraph, x: Array, groups: Array) -> None:
        xp = array_namespace(x)
        self.shape, self.sample = graph.shape, graph.sample
        self._whole, self._groups = graph, groups
        self._order = xp.argsort(groups, stable=True)
        self._back = xp.argsort(self._order, stable=True)
        cuts = np.flatnonzero(np.diff(to_numpy(xp.take(groups, self._order)))) + 1
        self._parts = [slice(a, b) for a, b in pairwise([0, *cuts.tolist(), graph.shape[0]])]
        by_group = xp.take(x, self._order, axis=0)
        self._kernels = [
            LandmarkKernel(by_group[part], graph._basis, keep=graph._kernel.is_kept)
            for part in self._parts
        ]
        self.near = SymmetricBand(
            [where_same(d, groups, lag) for lag, d in enumerate(graph.near.diagonals)]
        )

    def far_times(self, x: Array) -> Array:
        xp = array_namespace(x)
        by_group = xp.take(x, self._order, axis=0)
        pairs = zip(self._kernels, self._parts, strict=True)
        parts = [kernel @ by_group[part] for kernel, part in pairs]
        return xp.take(xp.concat(parts, axis=0), self._back, axis=0)

    def diagonal(self, lag: int) -> Array:
        return where_same(self._whole.diagonal(lag), self._groups, lag)
