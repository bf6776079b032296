"""Baselines that cluster frames, and cut where the cluster changes.

AC-color. Y. J. Lee, K. Grauman: Predicting important objects for egocentric video summarization.
IJCV 114(1), 2015. Distance of frames i and j: 1 - w exp(-chi2 / mean chi2), with w = max(0, t - |i
- j|) / t for a time window of t frames; complete linkage, cut at mean - 2 standard deviations of
all distances (the threshold is from the comparison in M. Dimiccoli et al.: SR-Clustering, CVIU 155,
2017). This threshold is meant for sequences many time windows long, where nearly all distances are
1; in shorter ones it finds far too many boundaries.

k-means smoothed. Listed as "k-means smoothed (k = 30)" by A. Garcia del Molino, J.-H. Lim, A.-H.
Tan: Predicting visual context for unsupervised event segmentation in continuous photo-streams. ACM
Multimedia 2018. They do not say how they smooth; here every frame takes the most frequent community
of the frames around it.

TW-FINCH. M. S. Sarfraz, N. Murray, V. Sharma, A. Diba, L. Van Gool, R. Stiefelhagen:
Temporally-weighted hierarchical clustering for unsupervised action segmentation. CVPR 2021. Every
frame is linked to its first neighbor, the one with the least cosine distance times distance in
time; linked frames form a group. Groups are then represented by their mean features and mean times
and grouped again, until one group would be left.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from dayline.arrays import FloatArray, IntArray, unit_rows
from dayline.checks import LARGEST_COUNT, check_between, list_frames
from dayline.events import labels_to_boundaries
from dayline.method.graph import find_communities, in_order_of_appearance
from dayline.research.baselines.segmenter import Baseline


def color_distance(histograms: FloatArray, *, time_window: int = 60) -> FloatArray:
    """Compare all frames by their colors and their distance in time.

    Parameters
    ----------
    histograms : ndarray of shape (n_frames, n_bins)
        Color histograms, non-negative.
    time_window : int >= 1
        Frames at least this far apart have distance 1 (t).

    Returns
    -------
    ndarray of shape (n_frames, n_frames)
        In [0, 1].
    """
    from sklearn.metrics.pairwise import additive_chi2_kernel

    check_between("time_window", time_window, 1, LARGEST_COUNT, whole=True)
    chi2 = -additive_chi2_kernel(histograms)
    n = len(chi2)
    mean = chi2.sum() / max(n * (n - 1), 1)
    t = np.arange(n)
    weight = np.maximum(0.0, float(time_window) - np.abs(t[:, None] - t[None, :])) / time_window
    return np.asarray(1.0 - weight * np.exp(-chi2 / (mean if mean > 0 else 1.0)))


@dataclass(eq=False, repr=False)
class ColorSegmenter(Baseline):
    """Group frames of similar colors that are near in time; cut where the group changes (AC-color).

    Features are color histograms; those of `dayline.features.extract.load_extractor("color-lab")`
    are the published ones.

    Parameters
    ----------
    n_events : int or None, default=None
        Number of groups; a group may recur, so there can be more events. None cuts the tree at mean
        - 2 standard deviations of all distances.
    time_window : int, default=60
        Frames at least this far apart are never grouped directly (t): half an hour at two photos a
        minute.
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
    time_window: int = 60

    def __sklearn_tags__(self) -> Any:
        """Declare that input must be non-negative."""
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        return tags

    def find_boundaries(self, features: FloatArray) -> IntArray:
        """Return the first frame of every event but the first."""
        from scipy.cluster.hierarchy import fcluster, linkage
        from scipy.spatial.distance import squareform

        below = np.flatnonzero((features < 0).any(axis=1))
        if len(below):
            raise ValueError(
                f"Negative values in data: {list_frames(below)}; AC-color takes color histograms "
                "(of photos, model color-lab)"
            )

        distances = squareform(color_distance(features, time_window=self.time_window), checks=False)
        if np.all(features == features[0]):
            groups = np.zeros(len(features), dtype=np.int64)
        elif self.n_events is not None:
            groups = fcluster(linkage(distances, "complete"), self.n_events, "maxclust")
        else:
            cutoff = distances.mean() - 2.0 * distances.std()
            groups = fcluster(linkage(distances, "complete"), cutoff, "distance")

        self.communities_ = in_order_of_appearance(groups)
        return labels_to_boundaries(self.communities_)


def smooth_labels(labels: IntArray, *, radius: int = 5) -> IntArray:
    """Give every frame the most frequent label around it; in a tie its own, or else the first.

    Parameters
    ----------
    labels : ndarray of int, shape (n_frames,)
        Labels from 0.
    radius : int >= 0
        Frames counted on either side; 0 changes nothing.
    """
    check_between("radius", radius, 0, whole=True)
    values = np.asarray(labels, dtype=np.int64)
    n = len(values)
    radius = min(radius, n)
    counts = np.zeros((n + 1, int(values.max()) + 1))
    counts[np.arange(1, n + 1), values] = 1.0
    counts = np.cumsum(counts, axis=0)
    t = np.arange(n)
    around = counts[np.minimum(t + radius + 1, n)] - counts[np.maximum(t - radius, 0)]
    around[t, values] += 0.5
    return np.asarray(np.argmax(around, axis=1))


@dataclass(eq=False, repr=False)
class SmoothedKMeans(Baseline):
    """Group frames by k-means, smooth the groups in time and cut where they change.

    Parameters
    ----------
    n_communities : int, default=30
        Groups of k-means (k).
    radius : int, default=5
        Frames on either side that vote for the group of a frame.
    missing : {"raise", "interpolate"}, default="raise"
        How to handle NaN and infinity.
    random_state : int or None, default=0
        Seed of k-means.

    Attributes
    ----------
    boundaries_, labels_ : ndarray of int
        First frame of every event but the first, and the event number of each frame.
    communities_ : ndarray of int, shape (n_frames,)
        Group of each frame after smoothing.
    """

    n_communities: int = 30
    _: KW_ONLY
    radius: int = 5
    random_state: int | None = 0

    def find_boundaries(self, features: FloatArray) -> IntArray:
        """Return the first frame of every event but the first."""
        check_between("n_communities", self.n_communities, 1, whole=True)
        groups = find_communities(features, self.n_communities, random_state=self.random_state)
        self.communities_ = smooth_labels(groups, radius=self.radius)
        return labels_to_boundaries(self.communities_)


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
