"""Baselines that score every frame by how past and future differ, and cut at the peaks.

Contextual event segmentation (CES). A. Garcia del Molino, J.-H. Lim, A.-H. Tan: Predicting visual
context for unsupervised event segmentation in continuous photo-streams. ACM Multimedia 2018. Their
contexts come from a trained network (see `vcp`); the rule itself takes any vectors, and on raw
features it is the ablation that every learned embedding must beat.

Window difference. The idea is J. Foote: Automatic audio segmentation using a measure of audio
novelty. ICME 2000 (a checkerboard with Gaussian taper moved along the similarity matrix); with a
linear kernel that is the squared difference of two tapered means. Threshold: median plus one
normal-consistent median absolute deviation of the curve.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass

import numpy as np

from dayline.arrays import FloatArray, IntArray, to_numpy, unit_rows
from dayline.checks import LARGEST_COUNT, check_between, check_flag
from dayline.decision.contexts import (
    check_scores,
    context_distance,
    local_maxima,
    pick_boundaries,
)
from dayline.method.denoise import denoise_features, standardize
from dayline.research.baselines.segmenter import Baseline


def strongest_maxima(scores: FloatArray, *, n_boundaries: int, order: int = 5) -> IntArray:
    """Take the highest scores as boundaries: local maxima first, then other frames.

    Parameters
    ----------
    scores : ndarray of shape (n_frames,)
        One score per frame; frame 0 is never a boundary.
    n_boundaries : int
        Number of boundaries, at most n_frames - 1.
    order : int >= 1
        A local maximum is strictly above this many frames on either side.
    """
    check_between("n_boundaries", n_boundaries, 0, whole=True)
    values = check_scores(scores)
    is_peak = np.zeros(len(values), dtype=bool)
    is_peak[local_maxima(values, order=order)] = True
    ranked = np.lexsort((-values[1:], ~is_peak[1:])) + 1
    return np.sort(ranked[:n_boundaries])


@dataclass(eq=False, repr=False)
class ContextualSegmenter(Baseline):
    """Cut where the means of the frames before and after are farthest apart (CES rule).

    Parameters
    ----------
    n_events : int or None, default=None
        None keeps the local maxima above the mean of all local maxima; a number keeps the highest
        ones.
    denoise : bool, default=False
        Apply the rule to the features after nonlocal means along time, as in the paper's text,
        instead of raw.
    window, order : int, default=8 and 5
        Frames on either side that are averaged, and that a local maximum must exceed.
    missing : {"raise", "interpolate"}, default="raise"
        How to handle NaN and infinity.

    Attributes
    ----------
    boundaries_, labels_ : ndarray of int
        First frame of every event but the first, and the event number of each frame.
    scores_ : ndarray of shape (n_frames,)
        Distance of past and future at each frame.
    """

    n_events: int | None = None
    _: KW_ONLY
    denoise: bool = False
    window: int = 8
    order: int = 5

    def find_boundaries(self, features: FloatArray) -> IntArray:
        """Return the first frame of every event but the first."""
        check_flag("denoise", self.denoise)
        if self.denoise:
            features = denoise_features(features, variant="paper", search_radius=3, bandwidth=0.25)
        self.scores_ = context_distance(features, window=self.window)
        if self.n_events is None:
            return pick_boundaries(self.scores_, order=self.order)
        return strongest_maxima(self.scores_, n_boundaries=self.n_events - 1, order=self.order)


NORMAL = 1.4826
"""Factor from the median absolute deviation to the standard deviation of normal values."""

TAPER = 0.75
"""Standard deviation of the Gaussian taper, in windows."""


def window_difference(x: FloatArray, *, window: int = 16) -> FloatArray:
    """Score every frame by the squared difference of the tapered means before it and from it on.

    Parameters
    ----------
    x : ndarray of shape (n_frames, n_dims)
        Vectors, usually unit rows.
    window : int >= 1
        Frames on either side; the k-th from the border counts exp(-((k + 1/2) / (0.75 window))^2 /
        2). Near the ends the means use the frames that exist.

    Returns
    -------
    ndarray of shape (n_frames,)
        Between frame t-1 and frame t; frame 0 scores 0.
    """
    from scipy.ndimage import correlate1d

    check_between("window", window, 1, LARGEST_COUNT, whole=True)
    values = to_numpy(x).astype(np.float64)
    # No frames exist beyond the ends, however wide the window.
    reach = min(window, len(values))
    taper = np.exp(-0.5 * ((np.arange(reach) + 0.5) / (TAPER * window)) ** 2)
    none = np.zeros(reach)
    before, after = np.concatenate([taper[::-1], none, [0.0]]), np.concatenate([none, taper, [0.0]])
    present = np.ones((len(values), 1))
    means = []
    for weights in (before, after):
        total = correlate1d(values, weights, axis=0, mode="constant")
        count = correlate1d(present, weights, axis=0, mode="constant")
        means.append(total / np.where(count > 0, count, 1.0))
    scores = np.sum((means[0] - means[1]) ** 2, axis=1)
    scores[0] = 0.0
    return np.asarray(scores)


def pick_outstanding(scores: FloatArray, *, order: int = 5) -> IntArray:
    """Keep the peaks above the median plus one deviation of the scores.

    Parameters
    ----------
    scores : ndarray of shape (n_frames,)
        One score per frame, 0 for frame 0, which the threshold ignores. Frame 1 can be a peak, the
        last cannot.
    order : int >= 1
        Of peaks closer than this many frames, the highest are kept. The deviation is 1.4826 times
        the median distance from the median.
    """
    from scipy.signal import find_peaks

    check_between("order", order, 1, whole=True)
    values = check_scores(scores)
    if len(values) < 4:
        return np.zeros(0, dtype=np.int64)
    median = np.median(values[1:])
    threshold = median + NORMAL * np.median(np.abs(values[1:] - median))
    peaks = find_peaks(values, distance=min(order, len(values)))[0]
    # Rounding must not count as a change if nothing moves.
    return np.asarray(peaks[values[peaks] > max(threshold, 1e-12)], dtype=np.int64)


@dataclass(eq=False, repr=False)
class WindowDifferenceSegmenter(Baseline):
    """Cut where the tapered mean of the frames before differs most from that of the frames after.

    Parameters
    ----------
    n_events : int or None, default=None
        None keeps the peaks above median + deviation; a number keeps the highest peaks.
    window : int, default=16
        Frames on either side.
    order : int, default=5
        Of peaks closer than this many frames, the highest are kept.
    standardize : bool, default=True
        Center every feature and divide it by its standard deviation before frames are scaled to
        length 1.
    missing : {"raise", "interpolate"}, default="raise"
        How to handle NaN and infinity.

    Attributes
    ----------
    boundaries_, labels_ : ndarray of int
        First frame of every event but the first, and the event number of each frame.
    scores_ : ndarray of shape (n_frames,)
        Squared difference of the two means at each frame.
    """

    n_events: int | None = None
    _: KW_ONLY
    window: int = 16
    order: int = 5
    standardize: bool = True

    def find_boundaries(self, features: FloatArray) -> IntArray:
        """Return the first frame of every event but the first."""
        check_flag("standardize", self.standardize)
        rows = unit_rows(standardize(features) if self.standardize else features)
        self.scores_ = window_difference(rows, window=self.window)
        if self.n_events is None:
            return pick_outstanding(self.scores_, order=self.order)
        return strongest_maxima(self.scores_, n_boundaries=self.n_events - 1, order=self.order)
