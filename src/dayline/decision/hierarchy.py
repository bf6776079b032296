"""The hierarchy of boundaries: events merged bottom-up, and the height at which each boundary disappears."""

from __future__ import annotations

import heapq
from dataclasses import dataclass

import numpy as np

from dayline.arrays import FloatArray, IntArray
from dayline.decision.partition import partition_between, running_sums

__all__ = ["Hierarchy", "build_hierarchy", "more_boundaries"]


@dataclass(frozen=True)
class Hierarchy:
    """Candidate boundaries in the order in which they matter; the first k are the segmentation into k + 1 events.

    Attributes
    ----------
    boundaries : ndarray of int
        The boundary that merging removes last comes first.
    log_heights : ndarray of float
        Logarithm of the gain at which merging removes each; never rising, infinite where the boundary is required.
    """

    boundaries: IntArray
    log_heights: FloatArray


def build_hierarchy(
    x: FloatArray, log_weights: FloatArray, *, penalty: float, required: IntArray, forbidden: IntArray
) -> Hierarchy:
    """Find the candidate boundaries of a sequence, then merge events until none is left.

    The candidates are the optimal partition at a low penalty. The gain of a boundary is what it adds to the sum that
    the partition maximises (frames times squared contrast), times its weight; the lowest is removed first.

    Parameters
    ----------
    x : ndarray of shape (n_frames, n_dims)
        Unit rows.
    log_weights : ndarray of shape (n_frames,)
        Logarithm of the weight of a boundary at every frame.
    penalty : float > 0
        Penalty of a candidate of weight 1, in frames of full contrast.
    required, forbidden : ndarray of int
        Frames that must and must not be boundaries. Those required are never removed.
    """
    penalties = _penalties(penalty, log_weights, forbidden)
    return _merge(x, partition_between(x, penalties, required), log_weights, kept=required)


def more_boundaries(
    hierarchy: Hierarchy, x: FloatArray, log_weights: FloatArray, *, n_boundaries: int, penalty: float,
    forbidden: IntArray,
) -> IntArray:  # fmt: skip
    """Return the boundaries of a hierarchy and further ones in order, until there are `n_boundaries` or no more.

    Each quarter of the penalty adds candidates, which come after those before them: the order does not depend on how
    many are wanted.
    """
    order = hierarchy.boundaries
    while len(order) < n_boundaries and penalty > 1e-12:
        penalty /= 4
        kept = np.sort(order)
        frames = partition_between(x, _penalties(penalty, log_weights, forbidden), kept)
        order = np.concatenate([order, _merge(x, frames, log_weights, kept=kept).boundaries[len(kept) :]])
    return order


def _penalties(penalty: float, log_weights: FloatArray, forbidden: IntArray) -> FloatArray:
    penalties = penalty * np.exp(-log_weights)
    penalties[forbidden] = np.inf
    return np.asarray(penalties)


def _merge(x: FloatArray, frames: IntArray, log_weights: FloatArray, *, kept: IntArray) -> Hierarchy:
    """Remove boundaries one by one, the lowest gain first, but for those that are kept."""
    edges = [0, *frames.tolist(), len(x)]
    sums = running_sums(x)[edges]
    weights = np.exp(log_weights)
    before, after = [k - 1 for k in range(len(edges))], [k + 1 for k in range(len(edges))]

    def gain(k: int) -> float:
        i, j = before[k], after[k]
        left, right = edges[k] - edges[i], edges[j] - edges[k]
        contrast = (sums[k] - sums[i]) / left - (sums[j] - sums[k]) / right
        return float(weights[edges[k]] * (contrast @ contrast) * left * right / (left + right))

    free = set(range(1, len(edges) - 1)) - {int(k) + 1 for k in np.searchsorted(frames, kept)}
    latest = {k: gain(k) for k in free}
    queue = [(value, k) for k, value in latest.items()]
    heapq.heapify(queue)
    removed, heights, height = [], [], 0.0
    while queue:
        value, k = heapq.heappop(queue)
        if latest.get(k) != value:
            continue
        del latest[k]
        # Merging changes the gains of neighbours; a boundary is at least as high as those removed before it.
        height = max(height, value)
        removed.append(edges[k])
        heights.append(height)
        after[before[k]], before[after[k]] = after[k], before[k]
        for beside in (before[k], after[k]):
            if beside in latest:
                latest[beside] = gain(beside)
                heapq.heappush(queue, (latest[beside], beside))
    order = np.concatenate([kept, np.asarray(removed[::-1], dtype=np.int64)]).astype(np.int64)
    log_heights = np.log(np.maximum(np.asarray(heights[::-1]), 1e-12))
    return Hierarchy(order, np.concatenate([np.full(len(kept), np.inf), log_heights]))
