"""The hierarchy of boundaries: events merged bottom-up, and the height of each boundary."""

from __future__ import annotations

import heapq
from dataclasses import dataclass

import numpy as np

from dayline.arrays import FloatArray, IntArray
from dayline.decision.partition import partition_between, running_sums


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

        After the candidates come further ones.

        Each quarter of the penalty adds candidates, which come after those before them: the order
        does not depend on how many are wanted.
        """
        order, penalty = self.boundaries, self.penalty
        while len(order) < n_boundaries and penalty > 1e-12:
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
    weights = np.exp(log_weights)
    penalties = penalty / weights
    penalties[forbidden] = np.inf
    frames = partition_between(x, penalties, required)

    edges = [0, *frames.tolist(), len(x)]
    sums = running_sums(x)[edges]
    before, after = [k - 1 for k in range(len(edges))], [k + 1 for k in range(len(edges))]

    def gain(k: int) -> float:
        i, j = before[k], after[k]
        left, right = edges[k] - edges[i], edges[j] - edges[k]
        contrast = (sums[k] - sums[i]) / left - (sums[j] - sums[k]) / right
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
        after[before[k]], before[after[k]] = after[k], before[k]
        # Merging changes the gains of neighbors.
        for beside in (before[k], after[k]):
            if beside in latest:
                latest[beside] = gain(beside)
                heapq.heappush(queue, (latest[beside], beside))

    # A boundary is at least as high as those removed before it.
    heights = np.maximum.accumulate(np.maximum(gains, 1e-12))
    order = np.concatenate([required, removed[::-1]]).astype(np.int64)
    log_heights = np.concatenate([np.full(len(required), np.inf), np.log(heights[::-1])])
    return Hierarchy(order, log_heights, x, log_weights, penalty, required, forbidden)
