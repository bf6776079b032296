"""PeerSegmenter: any of the baselines, asked as EventSegmenter is."""

from __future__ import annotations

import warnings
from dataclasses import replace
from importlib import import_module
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from dayline.arrays import IntArray
from dayline.checks import Missing, check_choice, check_features, check_times
from dayline.decision.constraints import Frames, forbidden_frames, frames_given, required_frames
from dayline.decision.context_distance import context_distance
from dayline.events import Segmentation
from dayline.method.communities import find_recurring_events
from dayline.method.denoise import standardize
from dayline.method.graph import unit_rows
from dayline.progress import OnStep

__all__ = ["PEERS", "PeerSegmenter", "make_peer"]

PEERS: dict[str, tuple[str, str, dict[str, str]]] = {
    "ces": ("ces", "ContextualSegmenter", {}),
    "kts": ("kts", "KernelTemporalSegmenter", {}),
    "tw-finch": ("tw_finch", "TemporalFinch", {}),
    "window-difference": ("window_difference", "WindowDifferenceSegmenter", {}),
    "kernel-rbf": ("kernel_change", "KernelChangeSegmenter", {"kernel": "rbf"}),
    "kernel-cosine": ("kernel_change", "KernelChangeSegmenter", {"kernel": "cosine"}),
    "tsc": ("tsc", "TemporalSubspaceSegmenter", {}),
    "lrt": ("lrt", "LowRankTransferSegmenter", {}),
    "vcp": ("vcp", "VisualContextSegmenter", {}),
    "kmeans": ("kmeans_smoothed", "SmoothedKMeans", {}),
    "sr-clustering": ("sr_clustering", "SRClustering", {}),
    "ac-color": ("ac_color", "ColorSegmenter", {}),
}
"""Module, class and parameters of every baseline that needs nothing but one sequence of features."""

ALONE = {
    "vcp": "is trained on this sequence itself; the published system has a training set of many days",
    "lrt": "takes this sequence itself as its source; the published system has a labelled one",
}
"""What must be said of baselines that are meant to see other sequences too."""


class PeerSegmenter(BaseEstimator):  # type: ignore[misc]
    """Split a sequence by one of the baselines, keeping to boundaries that somebody asked for.

    A baseline knows nothing of times, pauses or wishes: boundaries that must be are added to its own, those that must
    not be are taken away. It gives no confidence.

    Parameters
    ----------
    name : str
        One of `PEERS`.
    n_events : int, optional
        How many events are wanted, for the baselines that can be told.
    missing : {"raise", "interpolate"}, default="raise"
        What to do about NaN and infinity.

    Attributes
    ----------
    peer_ : estimator
        The fitted baseline.
    communities_ : ndarray of int, shape (n_frames,)
        Recurring context of every frame, one per event, by the raw features.
    graph_ : None
        Baselines learn no graph over the frames.
    """

    graph_ = None

    def __init__(self, name: str, *, n_events: int | None = None, missing: Missing = "raise") -> None:
        self.name = name
        self.n_events = n_events
        self.missing = missing

    def check_parameters(self) -> None:
        """Refuse parameters that cannot be; `segment` does so first."""
        self._peer()

    def segment(
        self,
        X: Any,
        *,
        times: Any = None,
        must: Frames = (),
        must_not: Frames = (),
        on_step: OnStep | None = None,
    ) -> Segmentation:
        """Find the events of one sequence; the parameters are those of `EventSegmenter.fit`."""
        peer = self._peer()
        if self.name in ALONE:
            warnings.warn(f"{self.name} {ALONE[self.name]}", stacklevel=2)
        if on_step is not None:
            on_step(self.name, 0, 1)
        features = check_features(X, missing=self.missing)
        seconds = check_times(times, len(features))
        forbidden = forbidden_frames(frames_given("must_not", must_not), len(features))
        scores = context_distance(features)
        required = required_frames(frames_given("must", must), scores, forbidden=forbidden)
        self.peer_ = peer.fit(features)
        found = np.union1d(np.setdiff1d(self.peer_.boundaries_, forbidden), required).astype(np.int64)
        if self.n_events is not None and len(found) + 1 != self.n_events:
            warnings.warn(
                f"{self.name} was asked for {self.n_events} events and {len(found) + 1} came: its groups come back "
                "later, or boundaries were asked for (pauses are)",
                stacklevel=2,
            )
        self.communities_: IntArray = find_recurring_events(unit_rows(standardize(features)), found)
        made = Segmentation.from_boundaries(
            found,
            len(features),
            communities=self.communities_.tolist(),
            scores=tuple(scores.tolist()),
            times=None if seconds is None else tuple(seconds.tolist()),
        )
        asked = set(required.tolist())
        events = (replace(e, reason="asked") if e.start in asked else e for e in made.events)
        return made.about(events=tuple(events))

    def _peer(self) -> Any:
        peer = make_peer(self.name).set_params(missing=self.missing)
        if self.n_events is not None:
            if "n_events" not in peer.get_params():
                raise ValueError(f"n_events cannot be told to {self.name}; it finds its own number")
            peer.set_params(n_events=self.n_events)
        return peer


def make_peer(name: str) -> Any:
    """Make one of the baselines of `PEERS`, with its published settings."""
    check_choice("method", name, tuple(PEERS))
    module, estimator, parameters = PEERS[name]
    return getattr(import_module(f"dayline.baselines.{module}"), estimator)(**parameters)
