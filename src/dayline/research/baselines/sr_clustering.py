"""SR-Clustering on one kind of features: clustering and change detection, joined by a graph cut."""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np

from dayline.arrays import FloatArray, IntArray, unit_rows
from dayline.checks import check_between
from dayline.events import boundaries_to_labels, labels_to_boundaries
from dayline.method.denoise import scale_to_range
from dayline.method.graph import in_order_of_appearance
from dayline.research.baselines.segmenter import Baseline


def potts_energy(
    labels: IntArray, costs: FloatArray, pairs: IntArray, weights: FloatArray
) -> float:
    """Sum the costs of the labels and the weights of pairs that differ (see `expand_labels`)."""
    differ = labels[pairs[:, 0]] != labels[pairs[:, 1]]
    return float(costs[np.arange(len(labels)), labels].sum() + weights[differ].sum())


MOST_SWEEPS = 5
"""Over all labels; the expansion stops before if a sweep changes nothing."""


def expand_labels(
    labels: IntArray, *, costs: FloatArray, pairs: IntArray, weights: FloatArray
) -> IntArray:
    """Lower the energy of labels: each in turn takes the best set of frames, found by min-cut.

    Parameters
    ----------
    labels : ndarray of int, shape (n_frames,)
        Initial labels.
    costs : ndarray of shape (n_frames, n_labels)
        Cost of giving each frame each label.
    pairs : ndarray of int, shape (n_pairs, 2)
        Frames that should have the same label.
    weights : ndarray of shape (n_pairs,)
        Penalty of two different labels, at least 0.
    """
    best: IntArray = np.array(labels, dtype=np.int64)
    energy = potts_energy(best, costs, pairs, weights)
    for _ in range(MOST_SWEEPS):
        before = energy
        for label in range(costs.shape[1]):
            moved = _expand_one(best, label, costs, pairs, weights)
            after = potts_energy(moved, costs, pairs, weights)
            if after < energy - 1e-9:
                best, energy = moved, after
        if energy >= before:
            break
    return best


def _expand_one(
    labels: IntArray, label: int, costs: FloatArray, pairs: IntArray, weights: FloatArray
) -> IntArray:
    """Let one label take the set of frames that lowers the energy most."""
    a, b = labels[pairs[:, 0]], labels[pairs[:, 1]]
    stay = weights * (a != b)
    only_second, only_first = weights * (a != label), weights * (b != label)
    change = costs[:, label] - costs[np.arange(len(labels)), labels]
    np.add.at(change, pairs[:, 0], only_first - stay)
    np.add.at(change, pairs[:, 1], -only_first)
    if change.min() >= 0.0:
        return labels  # No frame gains: the usual case once labels have settled.
    takes = _min_cut(change, pairs, only_second + only_first - stay)
    return np.where(takes, label, labels)


def _min_cut(change: FloatArray, pairs: IntArray, links: FloatArray) -> Any:
    """Minimize change . x + sum over pairs of links (1 - x_first) x_second over x in {0, 1}."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import breadth_first_order, maximum_flow

    n = len(change)
    source, sink = n, n + 1
    rows = np.concatenate([np.full(n, source), np.arange(n), pairs[:, 0]])
    columns = np.concatenate([np.arange(n), np.full(n, sink), pairs[:, 1]])
    capacity = np.concatenate([np.maximum(change, 0.0), np.maximum(-change, 0.0), links])
    # The solver uses 32-bit integers, also for the total flow.
    whole = np.floor(capacity * (2.0**30 / capacity.sum())).astype(np.int32)
    used = whole > 0
    network = coo_array((whole[used], (rows[used], columns[used])), shape=(n + 2, n + 2)).tocsr()
    flow = maximum_flow(network, source, sink).flow
    rest = (network - flow).tocsr()
    rest.data = np.maximum(rest.data, 0)
    rest.eliminate_zeros()
    takes = np.ones(n + 2, dtype=bool)
    takes[breadth_first_order(rest, source, return_predecessors=False)] = False
    return takes[:n]


def linked_clusters(x: FloatArray, *, cutoff: float = 0.2) -> IntArray:
    """Cluster frames by single linkage of their cosine distances.

    Parameters
    ----------
    x : ndarray of shape (n_frames, n_dims)
        Vectors; a zero row is as far from all others as an orthogonal one.
    cutoff : float > 0
        Clusters farther apart than this are not merged.
    """
    from scipy.cluster.hierarchy import fcluster, linkage
    from scipy.spatial.distance import squareform

    if len(x) == 1:
        return np.zeros(1, dtype=np.int64)
    u = unit_rows(x)
    distances = squareform(np.maximum(1.0 - u @ u.T, 0.0), checks=False)
    return in_order_of_appearance(fcluster(linkage(distances, "single"), cutoff, "distance"))


def adaptive_windows(x: FloatArray, *, confidence: float = 0.1) -> IntArray:
    """Cut where two parts of the window since the last boundary differ more than by chance (ADWIN).

    Parameters
    ----------
    x : ndarray of shape (n_frames, n_dims)
        Vectors with values in [0, 1].
    confidence : float in (0, 1)
        Chance of a false boundary (delta).

    Returns
    -------
    ndarray of int
        Boundaries.
    """
    n, dims = x.shape
    sums = np.concatenate([np.zeros((1, dims)), np.cumsum(x, axis=0)])
    sizes = np.linalg.norm(x, axis=1) / math.sqrt(dims)
    boundaries: list[int] = []
    start = 0
    # As published, the first test is at the sixth frame.
    for stop in range(6, n + 1):
        variance = float(np.var(sizes[start:stop], ddof=1)) if stop - start > 1 else 0.0
        while stop - start > 1:
            cuts = np.arange(start + 1, stop)
            before, after = cuts - start, stop - cuts
            m = before * after / (np.sqrt(before) + np.sqrt(after)) ** 2
            log = math.log(2.0 * dims * (stop - start) / confidence)
            allowed = math.sqrt(dims) * np.sqrt(2.0 / m * variance * log) + 2.0 / (3.0 * m) * log
            means = (sums[cuts] - sums[start]) / before[:, None] - (
                sums[stop] - sums[cuts]
            ) / after[:, None]
            excess = np.linalg.norm(means, axis=1) - allowed
            if excess.max() < 0.0:
                break
            start = int(cuts[np.argmax(excess)])
            boundaries.append(start)
    return np.asarray(boundaries, dtype=np.int64)


@dataclass(eq=False, repr=False)
class SRClustering(Baseline):
    """Cluster frames, detect changes and join both by a graph cut (SR-Clustering without concepts).

    Parameters
    ----------
    cutoff : float, default=0.2
        Where the tree of clusters is cut.
    confidence : float, default=0.1
        Chance of a false change (delta of ADWIN).
    change_weight : float, default=0.9
        Share of the change detection in the likelihoods. The published setting for features without
        concepts, 1, ignores the clustering; this is the setting for features with concepts.
    pair_weight : float, default=0.5
        Penalty of different labels for two identical frames; it falls as exp(-distance) of features
        scaled to 0 .. 1. For features with many dimensions it is close to 0.
    pair_reach : int, default=5
        Frames at most this far apart form pairs.
    missing : {"raise", "interpolate"}, default="raise"
        How to handle NaN and infinity.

    Attributes
    ----------
    boundaries_, labels_ : ndarray of int
        First frame of every event but the first, and the event number of each frame.
    communities_ : ndarray of int, shape (n_frames,)
        Label of each frame after the graph cut; a label may recur.
    clusters_, windows_ : ndarray of int, shape (n_frames,)
        Results of the clustering and of the change detection.
    """

    _: KW_ONLY
    cutoff: float = 0.2
    confidence: float = 0.1
    change_weight: float = 0.9
    pair_weight: float = 0.5
    pair_reach: int = 5

    def find_boundaries(self, features: FloatArray) -> IntArray:
        """Return the first frame of every event but the first."""
        check_between("cutoff", self.cutoff, 0, above=True)
        check_between("confidence", self.confidence, 0, 1, above=True)
        check_between("change_weight", self.change_weight, 0, 1)
        check_between("pair_weight", self.pair_weight, 0)
        check_between("pair_reach", self.pair_reach, 1, whole=True)
        rooted = unit_rows(np.sign(features) * np.sqrt(np.abs(features)))
        components = _principal_part(rooted)
        scaled = scale_to_range(components) / 2.0 + 0.5
        self.clusters_ = linked_clusters(components, cutoff=self.cutoff)
        changes = adaptive_windows(scaled, confidence=self.confidence)
        self.windows_ = boundaries_to_labels(changes, len(features))

        # A label is a cluster in a window.
        clusters, windows = np.unique(np.column_stack([self.clusters_, self.windows_]), axis=0).T
        by_cluster = _cluster_likelihood(rooted, self.clusters_)[:, clusters]
        by_window = _window_likelihood(scaled, self.windows_)[:, windows]
        likely = (1.0 - self.change_weight) * by_cluster + self.change_weight * by_window

        pairs = _near_pairs(len(features), self.pair_reach)
        shown = scale_to_range(features, by_column=True) / 2.0
        apart = np.linalg.norm(shown[pairs[:, 0]] - shown[pairs[:, 1]], axis=1)
        self.communities_ = expand_labels(
            np.argmax(likely, axis=1),
            costs=1.0 - likely / likely.sum(axis=1, keepdims=True),
            pairs=pairs,
            weights=self.pair_weight * np.exp(-apart),
        )
        return labels_to_boundaries(self.communities_)


def _principal_part(x: FloatArray) -> FloatArray:
    """Principal components with 95 % of the variance."""
    centered = x - x.mean(axis=0)
    left, sizes, _ = np.linalg.svd(centered, full_matrices=False)
    shares = np.cumsum(sizes**2)
    if shares[-1] <= 1e-20:
        return np.zeros((len(x), 1))
    kept = int(np.searchsorted(shares, 0.95 * shares[-1])) + 1
    return np.asarray(left[:, :kept] * sizes[:kept])


def _cluster_likelihood(x: FloatArray, clusters: IntArray) -> FloatArray:
    """Return the nearness to every cluster's mean; a frame is twice as near to its own."""
    distances = _distances_to_means(x, clusters)
    distances[np.arange(len(x)), clusters] = distances.min(axis=1) / 2.0
    return _share(distances)


def _window_likelihood(x: FloatArray, windows: IntArray) -> FloatArray:
    """Nearness of the five frames around each to the mean of every window."""
    distances = _distances_to_means(x, windows)
    n = len(x)
    sums = np.concatenate([np.zeros((1, distances.shape[1])), np.cumsum(distances, axis=0)])
    first, last = np.maximum(np.arange(n) - 2, 0), np.minimum(np.arange(n) + 3, n)
    smooth = (sums[last] - sums[first]) / (last - first)[:, None]
    spread = smooth.max() - smooth.min()
    return _share((smooth - smooth.min()) / (spread if spread > 0 else 1.0))


def _distances_to_means(x: FloatArray, groups: IntArray) -> FloatArray:
    from sklearn.metrics import pairwise_distances

    means = np.stack([x[groups == g].mean(axis=0) for g in range(int(groups.max()) + 1)])
    return np.asarray(pairwise_distances(x, means))


def _share(distances: FloatArray) -> FloatArray:
    nearness = 1.0 / (1.0 + distances)
    return np.asarray(nearness / nearness.sum(axis=1, keepdims=True))


def _near_pairs(n: int, reach: int) -> IntArray:
    """All pairs of frames at most `reach` apart, the earlier first."""
    pairs = [
        np.column_stack([np.arange(n - k), np.arange(k, n)])
        for k in range(1, min(reach, n - 1) + 1)
    ]
    return np.concatenate(pairs) if pairs else np.zeros((0, 2), dtype=np.int64)
