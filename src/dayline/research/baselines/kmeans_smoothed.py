"""k-means smoothed in time: the simplest system of the EDUB-Seg table.

Listed as "k-means smoothed (k = 30)" by A. Garcia del Molino, J.-H. Lim, A.-H. Tan: Predicting
visual context for unsupervised event segmentation in continuous photo-streams. ACM Multimedia 2018.
They do not say how they smooth; here every frame takes the most frequent community of the frames
around it.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass

import numpy as np

from dayline.arrays import FloatArray, IntArray
from dayline.checks import check_between
from dayline.events import labels_to_boundaries
from dayline.method.graph import find_communities
from dayline.research.baselines.segmenter import Baseline


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
