"""BaselineSegmenter: any baseline with the interface of EventSegmenter."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from dayline.arrays import IntArray
from dayline.baselines.catalogue import BASELINES, make_baseline
from dayline.checks import Missing, check_features, check_times
from dayline.decision.constraints import Frames, forbidden_frames, frames_given, required_frames
from dayline.decision.context_distance import context_distance
from dayline.decision.contexts import find_recurring_events
from dayline.events import Segmentation
from dayline.method.denoise import standardize
from dayline.method.graph import unit_rows
from dayline.progress import OnStep

__all__ = ["BaselineSegmenter"]


class BaselineSegmenter(BaseEstimator):  # type: ignore[misc]
    """Split a sequence by one of the baselines, with required and forbidden boundaries.

    A baseline ignores times, pauses and constraints: required boundaries are added to its own, forbidden ones are
    removed. It gives no confidence.

    Parameters
    ----------
    name : str
        One of `dayline.baselines.catalogue.BASELINES`.
    n_events : int, optional
        Number of events, for baselines that accept one.
    missing : {"raise", "interpolate"}, default="raise"
        How to handle NaN and infinity.

    Attributes
    ----------
    baseline_ : estimator
        The fitted baseline.
    communities_ : ndarray of int, shape (n_frames,)
        Recurring context of every frame, one per event, from the raw features.
    graph_ : None
        Baselines learn no graph over the frames.
    """

    graph_ = None

    def __init__(self, name: str, *, n_events: int | None = None, missing: Missing = "raise") -> None:
        self.name = name
        self.n_events = n_events
        self.missing = missing

    def check_parameters(self) -> None:
        """Raise ValueError if a parameter is invalid; `segment` calls this first."""
        self._make()

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
        baseline = self._make()
        caveat = BASELINES[self.name].caveat
        if caveat:
            warnings.warn(f"{self.name} {caveat}", stacklevel=2)
        if on_step is not None:
            on_step(self.name, 0, 1)
        features = check_features(X, missing=self.missing)
        seconds = check_times(times, len(features))
        forbidden = forbidden_frames(frames_given("must_not", must_not), len(features))
        scores = context_distance(features)
        required = required_frames(frames_given("must", must), scores, forbidden=forbidden)
        self.baseline_ = baseline.fit(features)
        found = np.union1d(np.setdiff1d(self.baseline_.boundaries_, forbidden), required).astype(np.int64)
        if self.n_events is not None and len(found) + 1 != self.n_events:
            warnings.warn(
                f"{self.name} found {len(found) + 1} events instead of the {self.n_events} requested: "
                "its groups recur, or required boundaries (such as pauses) were added",
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
        starts = set(required.tolist())
        events = (replace(e, reason="asked") if e.start in starts else e for e in made.events)
        return made.about(events=tuple(events))

    def _make(self) -> Any:
        baseline = make_baseline(self.name).set_params(missing=self.missing)
        if self.n_events is not None:
            if "n_events" not in baseline.get_params():
                raise ValueError(f"{self.name} does not take n_events; it finds its own number")
            baseline.set_params(n_events=self.n_events)
        return baseline
