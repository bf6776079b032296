"""AC-color: agglomerative clustering of color histograms, weighted by distance in time.

Y. J. Lee, K. Grauman: Predicting important objects for egocentric video summarization. IJCV 114(1),
2015.

Distance of frames i and j: 1 - w exp(-chi2 / mean chi2), with w = max(0, t - |i - j|) / t for a
time window of t frames; complete linkage, cut at mean - 2 standard deviations of all distances (the
threshold is from the comparison in M. Dimiccoli et al.: SR-Clustering, CVIU 155, 2017). This
threshold is meant for sequences many time windows long, where nearly all distances are 1; in
shorter ones it finds far too many boundaries.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np

from dayline.arrays import FloatArray, IntArray
from dayline.checks import LARGEST_COUNT, check_between, list_frames
from dayline.events import labels_to_boundaries
from dayline.method.graph import in_order_of_appearance
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
