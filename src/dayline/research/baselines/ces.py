"""Contextual event segmentation: the boundary rule of CES on raw or denoised features.

A. Garcia del Molino, J.-H. Lim, A.-H. Tan: Predicting visual context for unsupervised event
segmentation in continuous photo-streams. ACM Multimedia 2018. Their contexts come from a trained
network (see `vcp`); the rule itself takes any vectors, and on raw features it is the ablation that
every learned embedding must beat.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass

import numpy as np

from dayline.arrays import FloatArray, IntArray
from dayline.checks import check_between, check_flag
from dayline.decision.contexts import (
    check_scores,
    context_distance,
    local_maxima,
    pick_boundaries,
)
from dayline.method.denoise import denoise_features
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
