"""The base class of all baselines, and BaselineSegmenter, which makes EventSegmenters of them."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator

from dayline.arrays import FloatArray, IntArray, unit_rows
from dayline.checks import (
    Missing,
    check_between,
    check_features,
    check_seed,
    check_times,
    show_value,
)
from dayline.decision.contexts import context_distance, find_recurring_events
from dayline.decision.decide import Frames, forbidden_frames, frame_ranges, required_frames
from dayline.estimators.inputs import given_rows
from dayline.events import Segmentation, boundaries_to_labels
from dayline.method.denoise import standardize
from dayline.method.outliers import outlying_frames, warn_of_outliers
from dayline.progress import OnStep
from dayline.research.baselines.catalogue import BASELINES, make_baseline


@dataclass(eq=False, repr=False)
class Baseline(BaseEstimator):  # type: ignore[misc]
    """Cut one sequence into events; a subclass has its parameters and `find_boundaries`.

    Subclasses are dataclasses, so that each parameter stands in one line. The parameters `n_events`
    and `random_state` are checked here, if there are any.

    Parameters
    ----------
    missing : {"raise", "interpolate"}, default="raise"
        How to handle NaN and infinity.

    Attributes
    ----------
    boundaries_, labels_ : ndarray of int
        First frame of every event but the first, and the event number of each frame.
    """

    _: KW_ONLY
    missing: Missing = "raise"

    def fit(self, X: Any, y: None = None) -> Self:  # noqa: ARG002
        """Find the events of one sequence, X of shape (n_frames, n_features); y is ignored."""
        given = self.get_params(deep=False)
        check_seed(given.get("random_state"))
        features = check_features(given_rows(self, X), missing=self.missing)
        frames = outlying_frames(features)
        if len(frames):
            warn_of_outliers(frames, drawn_in=False)

        n_events = given.get("n_events")
        if n_events is not None:
            check_between("n_events", n_events, 1, whole=True)
            if n_events > len(features):
                raise ValueError(
                    f"n_events={show_value(n_events)} for {len(features)} frames; give at most one"
                    " event per frame"
                )

        self.boundaries_: IntArray = np.asarray(self.find_boundaries(features), dtype=np.int64)
        self.labels_: IntArray = boundaries_to_labels(self.boundaries_, len(features))
        return self

    def fit_predict(self, X: Any, y: None = None) -> IntArray:  # noqa: ARG002
        """Find the events of one sequence and return the event number of each frame."""
        return self.fit(X).labels_

    def find_boundaries(self, features: FloatArray) -> IntArray:
        """Return the first frame of every event but the first; the features are checked."""
        raise NotImplementedError


class BaselineSegmenter(BaseEstimator):  # type: ignore[misc]
    """Split a sequence by one of the baselines, with required and forbidden boundaries.

    A baseline ignores times, pauses and constraints: required boundaries are added to its own,
    forbidden ones are removed. It gives no confidence.

    Parameters
    ----------
    name : str
        One of `dayline.research.baselines.catalogue.BASELINES`.
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

    def __init__(
        self, name: str, *, n_events: int | None = None, missing: Missing = "raise"
    ) -> None:
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
        breaks: Iterable[int] = (),
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
        given = check_times(times, len(features))
        forbidden = forbidden_frames(must_not, len(features))
        scores = context_distance(features)
        ranges = [
            *frame_ranges("must", must, len(features)),
            *frame_ranges("breaks", breaks, len(features)),
        ]
        required = required_frames(ranges, scores, forbidden=forbidden)

        self.baseline_ = baseline.fit(features)
        found = np.union1d(np.setdiff1d(self.baseline_.boundaries_, forbidden), required).astype(
            np.int64
        )
        if self.n_events is not None and len(found) + 1 != self.n_events:
            warnings.warn(
                f"{self.name} found {len(found) + 1} events instead of the {self.n_events}"
                " requested: its groups recur, or required boundaries (such as pauses) were added",
                stacklevel=2,
            )

        self.communities_: IntArray = find_recurring_events(unit_rows(standardize(features)), found)
        return Segmentation.from_boundaries(
            found,
            len(features),
            communities=self.communities_.tolist(),
            required=required,
            scores=scores,
            times=None if given is None else given.seconds,
            clock=None if given is None else given.clock,
        )

    def _make(self) -> Any:
        baseline = make_baseline(self.name).set_params(missing=self.missing)
        if self.n_events is not None:
            if "n_events" not in baseline.get_params():
                raise ValueError(f"{self.name} does not take n_events; it finds its own number")
            baseline.set_params(n_events=self.n_events)
        return baseline
