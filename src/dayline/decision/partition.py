"""The optimal partition of a sequence of vectors, and the hierarchy of its boundaries."""

from __future__ import annotations

import heapq
from dataclasses import dataclass

import numpy as np

from dayline.arrays import Array, FloatArray, IntArray
from dayline.checks import check_between, check_rows, show_value

BLOCK = 64
"""Ends of events whose gains are computed together."""

MOST_STARTS = 2048
"""Starts of an event that are kept; of more, those of the highest gain."""


def partition(
    x: Array,
    *,
    penalty: float | FloatArray,
    min_length: int = 2,
) -> IntArray:
    """Find the optimal partition of a sequence of vectors.

    Maximizes the sum over events of length times squared length of the event's mean, minus the
    penalty of every boundary. Dynamic programming; starts that can no longer win are dropped. If
    more than 2,048 may still win, only those with the highest gain so far are kept, so that time
    grows linearly; with fewer, as in any sequence of at most 2,048 frames, the result is exact.

    Parameters
    ----------
    x : array of shape (n_frames, n_dims)
        Vectors, usually unit rows of an embedding.
    penalty : float >= 0 or ndarray of shape (n_frames,)
        Penalty of a boundary, the same everywhere or by frame; infinity forbids it.
    min_length : int >= 1
        Fewest frames of an event.
    """
    check_between("min_length", min_length, 1, whole=True)
    u = check_rows(x)
    n = len(u)
    penalties = np.zeros(n)
    try:
        penalties[:] = penalty
    except (OverflowError, TypeError, ValueError):
        penalties[:] = np.nan
    if not np.all(penalties[1:] >= 0):
        raise ValueError(
            f"penalty={show_value(penalty)}; it must be a number of at least 0, or one for each"
            " frame"
        )
    return _best_path(u, penalties, min(min_length, n + 1), np.zeros(0, dtype=np.int64))


def partition_between(x: FloatArray, penalties: FloatArray, fixed: IntArray) -> IntArray:
    """Find the best partition of every piece between fixed boundaries; those are returned too.

    Parameters
    ----------
    x, penalties : ndarray of shape (n_frames, n_dims) and (n_frames,)
        As for `partition`.
    fixed : ndarray of int
        Boundaries that stay, whatever their penalty.
    """
    return _best_path(x, penalties, 2, fixed)


def _best_path(u: FloatArray, penalties: FloatArray, min_length: int, fixed: IntArray) -> IntArray:
    """Find the best chain of positions from the first frame to the end, by way of the fixed ones."""
    # Neither end of the sequence has a penalty.
    stations = np.concatenate([[0], fixed, [len(u)]])
    penalty_at = np.append(penalties, 0.0)
    penalty_at[stations] = 0.0
    positions = np.flatnonzero(np.isfinite(penalty_at))
    penalty_at = penalty_at[positions]
    sums = running_sums(u)

    # No event goes beyond the next fixed boundary; one from the last to the next may be short.
    latest = stations[np.searchsorted(fixed, positions, side="right") + 1]
    is_station = np.isin(positions, stations[:-1])
    least = np.where(is_station, np.minimum(latest - positions, min_length), min_length)

    n = len(positions)
    best = np.full(n, -np.inf)
    previous = np.zeros(n, dtype=np.int64)
    # Starts that may still win, and the position from which on each cannot.
    starts, limits = np.zeros(1, dtype=np.int64), latest[:1] + 1.0

    # A few calls for a block of ends take a tenth of the time of a few calls for every end.
    for first in range(1, n, BLOCK):
        ends = np.arange(first, min(first + BLOCK, n))
        starts, limits = np.append(starts, ends), np.append(limits, latest[ends] + 1.0)
        own = _gains(sums, positions[starts], positions[ends], least[starts], latest[starts])

        # The ends are starts, too: each turn adds one of them to the chains, until none gains.
        for _ in ends:
            before = np.where(is_station[starts], 0.0, best[starts] - penalty_at[starts])
            gains = own + before[:, None]
            highest = gains.max(axis=0)
            if np.array_equal(highest, best[ends]):
                break
            best[ends] = highest
        previous[ends] = starts[np.argmax(gains, axis=0)]

        # Splitting an event never lowers the sum. A start that gains no more at an end than the
        # best one less the penalty there therefore loses to a boundary at this end, for every end
        # at least `min_length` frames later.
        is_beaten = (gains <= highest - penalty_at[ends]) & (gains > -np.inf)
        since = np.where(
            is_beaten.any(axis=1),
            positions[ends[np.argmax(is_beaten, axis=1)]] + min_length,
            np.inf,
        )
        limits = np.minimum(limits, since)

        kept = np.flatnonzero(limits > positions[min(first + BLOCK, n - 1)])
        if len(kept) > MOST_STARTS:
            # The newest have no gain yet.
            order = np.lexsort(
                (-starts[kept], -np.where(starts[kept] < ends[-1], gains[kept, -1], np.inf))
            )
            kept = np.sort(kept[order[:MOST_STARTS]])
        starts, limits = starts[kept], limits[kept]
    return trace_back(previous, positions)


def _gains(
    sums: FloatArray, starts: IntArray, stops: IntArray, least: IntArray, latest: IntArray
) -> FloatArray:
    """Return length times squared length of the mean of every event, by start and stop.

    It is minus infinity if the event is too short for its start, or stops too late.
    """
    # From one product of sums, relative to the first stop so that no digits are lost: differences
    # of all pairs take several times as long.
    here = sums[stops[0]]
    before, until = sums[starts] - here, sums[stops] - here
    squares = (
        np.sum(before * before, axis=1)[:, None]
        + np.sum(until * until, axis=1)
        - 2 * before @ until.T
    )
    np.maximum(squares, 0.0, out=squares)

    may_be = (stops >= (starts + least)[:, None]) & (stops <= latest[:, None])
    gains = np.full(squares.shape, -np.inf)
    np.divide(squares, stops - starts[:, None], out=gains, where=may_be)
    return gains


def running_sums(x: FloatArray) -> FloatArray:
    """Sum of the first k rows, for k = 0 to n."""
    sums = np.zeros((len(x) + 1, x.shape[1]))
    np.cumsum(x, axis=0, out=sums[1:])
    return sums


def trace_back(previous: IntArray, positions: IntArray) -> IntArray:
    """Follow the best chain of positions back from its last; neither end is a boundary."""
    boundaries = []
    at = int(previous[-1])
    while at > 0:
        boundaries.append(int(positions[at]))
        at = int(previous[at])
    return np.asarray(boundaries[::-1], dtype=np.int64)


@dataclass(frozen=True)
class Hierarchy:
    """Candidates in order of height: the first k are the segmentation into k + 1 events.

    The height of each is the gain at which it is removed. It never rises, and is infinite for a
    required boundary. The other attributes are what `build_hierarchy` was given.
    """

    boundaries: IntArray
    log_heights: FloatArray
    x: FloatArray
    log_weights: FloatArray
    penalty: float
    required: IntArray
    forbidden: IntArray

    def first(self, n_boundaries: int) -> IntArray:
        """Return so many boundaries in order, or as many as there are.

        After the candidates come further ones: each quarter of the penalty adds some after those
        before, so that the order does not depend on how many are wanted.
        """
        order, penalty = self.boundaries, self.penalty
        # Where frames are equal, rounding gains less than that.
        while len(order) < n_boundaries and penalty > 1e-9:
            penalty /= 4
            finer = build_hierarchy(
                self.x,
                self.log_weights,
                penalty=penalty,
                required=np.sort(order),
                forbidden=self.forbidden,
            )
            order = np.concatenate([order, finer.boundaries[len(order) :]])
        return order[:n_boundaries]


def build_hierarchy(
    x: FloatArray,
    log_weights: FloatArray,
    *,
    penalty: float,
    required: IntArray,
    forbidden: IntArray,
) -> Hierarchy:
    """Find the candidate boundaries of unit rows, then merge events until only required ones stay.

    The candidates are the optimal partition at a low penalty: that of a boundary of weight 1, in
    frames of full contrast. The gain of a boundary is what it adds to the sum that the partition
    maximises (frames times squared contrast), times its weight; the lowest is removed first.
    """
    penalties = penalty / np.exp(log_weights)
    penalties[forbidden] = np.inf
    frames = partition_between(x, penalties, required)
    order, log_heights = merge_events(x, log_weights, frames, required)
    return Hierarchy(order, log_heights, x, log_weights, penalty, required, forbidden)


def merge_events(
    x: FloatArray, log_weights: FloatArray, frames: IntArray, required: IntArray
) -> tuple[IntArray, FloatArray]:
    """Merge events until only the required boundaries stay; see `build_hierarchy`.

    Parameters
    ----------
    x, log_weights : ndarray of shape (n_frames, n_dims) and (n_frames,)
        Unit rows, and the logarithm of the weight of a boundary at each.
    frames : ndarray of int
        The boundaries to begin with.
    required : ndarray of int
        Those of them that stay.

    Returns
    -------
    boundaries : ndarray of int
        The required ones, and then the others, the last one that is left first.
    log_heights : ndarray
        Logarithm of the gain at which each is removed; infinite if it is required.
    """
    weights = np.exp(log_weights)
    edges = [0, *frames.tolist(), len(x)]
    sums = running_sums(x)[edges]
    before, after = [k - 1 for k in range(len(edges))], [k + 1 for k in range(len(edges))]
    # Of the event that begins at each edge.
    means = [*np.diff(sums, axis=0) / np.diff(edges)[:, None]]

    def gain(k: int) -> float:
        left, right = edges[k] - edges[before[k]], edges[after[k]] - edges[k]
        contrast = means[before[k]] - means[k]
        return float(weights[edges[k]] * (contrast @ contrast) * left * right / (left + right))

    stays = np.isin(edges, required)
    latest = {k: gain(k) for k in range(1, len(edges) - 1) if not stays[k]}
    queue = [(value, k) for k, value in latest.items()]
    heapq.heapify(queue)

    removed, gains = [], []
    while queue:
        value, k = heapq.heappop(queue)
        if latest.get(k) != value:
            continue
        del latest[k]
        removed.append(edges[k])
        gains.append(value)
        i, j = before[k], after[k]
        after[i], before[j] = j, i
        means[i] = (sums[j] - sums[i]) / (edges[j] - edges[i])
        # Merging changes the gains of neighbors.
        for beside in (i, j):
            if beside in latest:
                latest[beside] = gain(beside)
                heapq.heappush(queue, (latest[beside], beside))

    # A boundary is at least as high as those removed before it.
    heights = np.maximum.accumulate(np.maximum(gains, 1e-12))
    order = np.concatenate([required, removed[::-1]]).astype(np.int64)
    log_heights = np.concatenate([np.full(len(required), np.inf), np.log(heights[::-1])])
    return order, log_heights
