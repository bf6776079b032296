"""Temporally weighted first-neighbor clustering (TW-FINCH).

M. S. Sarfraz, N. Murray, V. Sharma, A. Diba, L. Van Gool, R. Stiefelhagen: Temporally-weighted
hierarchical clustering for unsupervised action segmentation. CVPR 2021.

Every frame is linked to its first neighbor, the one with the least cosine distance times distance
in time; linked frames form a group. Groups are then represented by their mean features and mean
times and grouped again, until one group would be left.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from dayline.arrays import FloatArray, IntArray, unit_rows
from dayline.checks import check_between
from dayline.events import labels_to_boundaries
from dayline.method.graph import in_order_of_appearance
from dayline.research.baselines.segmenter import Baseline


def finch_hierarchy(x: FloatArray) -> list[IntArray]:
    """Group frames by first neighbors, then the groups, and so on.

    Parameters
    ----------
    x : ndarray of shape (n_frames, n_features)
        One row per frame, in order.

    Returns
    -------
    list of ndarray of int
        Group of every frame, finest partition first, numbered in order of appearance. The last has
        at least two groups, unless the first step already joined everything.
    """
    partitions: list[IntArray] = []
    groups: IntArray = np.arange(len(x))
    while groups.max() > 0:
        means, times = _means(x, groups)
        joined = _join(np.argmin(_weighted_distance(means, times), axis=1))
        coarser = in_order_of_appearance(joined[groups])
        if partitions and coarser.max() == 0:
            break
        partitions.append(coarser)
        groups = coarser
    return partitions or [np.zeros(len(x), dtype=np.int64)]


def merge_groups(x: FloatArray, groups: IntArray, *, n_groups: int) -> IntArray:
    """Join the closest first neighbors, one pair at a time, until `n_groups` are left.

    Parameters
    ----------
    x : ndarray of shape (n_frames, n_features)
        One row per frame.
    groups : ndarray of int, shape (n_frames,)
        At least `n_groups` groups.
    n_groups : int >= 1
        Number of groups to leave.
    """
    groups = in_order_of_appearance(groups)
    while groups.max() + 1 > n_groups:
        means, times = _means(x, groups)
        distance = _weighted_distance(means, times)
        neighbors = np.argmin(distance, axis=1)
        closest = int(np.argmin(distance[np.arange(len(means)), neighbors]))
        groups = in_order_of_appearance(np.where(groups == closest, neighbors[closest], groups))
    return groups


def _means(x: FloatArray, groups: IntArray) -> tuple[FloatArray, FloatArray]:
    """Mean features and mean time of every group."""
    n, k = len(x), int(groups.max()) + 1
    membership = coo_array((np.ones(n), (groups, np.arange(n))), shape=(k, n)).tocsr()
    sizes = np.bincount(groups, minlength=k)
    return membership @ x / sizes[:, None], membership @ np.arange(n, dtype=np.float64) / sizes


def _weighted_distance(means: FloatArray, times: FloatArray) -> FloatArray:
    """Cosine distance times distance in time; infinite on the diagonal."""
    u = unit_rows(means)
    # For identical frames, time alone decides: a distance of 0 would make all of them equally near.
    distance = np.maximum(1.0 - u @ u.T, 1e-9)
    distance *= np.abs(times[:, None] - times[None, :])
    np.fill_diagonal(distance, np.inf)
    return np.asarray(distance)


def _join(neighbors: IntArray) -> IntArray:
    """Group items that are linked to each other or to the same neighbor."""
    n = len(neighbors)
    links = coo_array((np.ones(n), (np.arange(n), neighbors)), shape=(n, n))
    return np.asarray(connected_components(links, directed=False)[1])


@dataclass(eq=False, repr=False)
class TemporalFinch(Baseline):
    """Group frames that are alike and near in time, and cut where the group changes (TW-FINCH).

    Parameters
    ----------
    n_events : int or None, default=None
        Number of groups to merge to, from the coarsest partition with at least as many. A group may
        recur, so there can be more events. None uses `level` of the hierarchy.
    level : int, default=2
        Which partition of the hierarchy is used if `n_events` is None, counted from the finest, 0;
        the coarsest if there are fewer.
    missing : {"raise", "interpolate"}, default="raise"
        How to handle NaN and infinity.

    Attributes
    ----------
    boundaries_, labels_ : ndarray of int
        First frame of every event but the first, and the event number of each frame.
    communities_ : ndarray of int, shape (n_frames,)
        Group of each frame.
    """

    n_events: int | None = None
    _: KW_ONLY
    level: int = 2

    def find_boundaries(self, features: FloatArray) -> IntArray:
        """Return the first frame of every event but the first."""
        check_between("level", self.level, 0, whole=True)
        partitions = finch_hierarchy(features)
        if self.n_events is None:
            self.communities_ = partitions[min(self.level, len(partitions) - 1)]
        else:
            enough = [
                np.arange(len(features)),
                *(p for p in partitions if p.max() + 1 >= self.n_events),
            ]
            self.communities_ = merge_groups(features, enough[-1], n_groups=self.n_events)
        return labels_to_boundaries(self.communities_)
