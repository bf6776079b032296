"""Contextual event segmentation: the boundary rule of CES on raw or denoised features.

A. Garcia del Molino, J.-H. Lim, A.-H. Tan: Predicting visual context for unsupervised event
segmentation in continuous photo-streams. ACM Multimedia 2018. Their contexts come from a trained
network (see `vcp`); the rule itself takes any vectors, and on raw features it is the ablation that
every learned embedding must beat.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from dayline.arrays import FloatArray, IntArray
from dayline.checks import Missing, check_between, check_flag
from dayline.decision.contexts import (
    check_scores,
    context_distance,
    local_maxima,
    pick_boundaries,
)
from dayline.method.denoise import denoise_features
from dayline.research.baselines.segmenter import (
    Baseline,
    check_n_events,
    store_boundaries,
    take_features,
)


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

    def __init__(
        self,
        n_events: int | None = None,
        *,
        denoise: bool = False,
        window: int = 8,
        order: int = 5,
        missing: Missing = "raise",
    ) -> None:
        self.n_events = n_events
        self.denoise = denoise
        self.window = window
        self.order = order
        self.missing = missing

    def fit(self, X: Any, y: None = None) -> Self:  # noqa: ARG002
        """Find the events of one sequence, X of shape (n_frames, n_features); y is ignored."""
        check_flag("denoise", self.denoise)
        check_between("window", self.window, 1, whole=True)
        check_between("order", self.order, 1, whole=True)
        features = take_features(self, X, missing=self.missing)
        check_n_events(self.n_events, len(features))
        if self.denoise:
            features = denoise_features(features, variant="paper", search_radius=3, bandwidth=0.25)
        self.scores_ = context_distance(features, window=self.window)
        if self.n_events is None:
            boundaries = pick_boundaries(self.scores_, order=self.order)
        else:
            boundaries = strongest_maxima(
                self.scores_, n_boundaries=self.n_events - 1, order=self.order
            )
        return store_boundaries(self, boundaries, len(features))
