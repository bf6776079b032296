"""What all baselines share: the estimator class, input checks and stored results."""

from __future__ import annotations

from typing import Any, Self, TypeVar

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from dayline.arrays import FloatArray, IntArray
from dayline.checks import Missing, check_between, check_features, check_seed, show_value, unmask
from dayline.events import boundaries_to_labels
from dayline.method.outliers import outlying_frames, warn_of_outliers

__all__ = ["Baseline", "check_n_events", "store_boundaries", "take_features"]

Estimator = TypeVar("Estimator")


class Baseline(BaseEstimator):  # type: ignore[misc]
    """An estimator that cuts one sequence into events."""

    labels_: IntArray

    def fit(self, X: Any, y: None = None) -> Self:
        """Find the events of one sequence, X of shape (n_frames, n_features); y is ignored."""
        raise NotImplementedError

    def fit_predict(self, X: Any, y: None = None) -> IntArray:  # noqa: ARG002
        """Find the events of one sequence and return the event number of each frame."""
        return self.fit(X).labels_


def take_features(estimator: Any, X: Any, *, missing: Missing = "raise") -> FloatArray:
    """Check the features of one sequence as `EventSegmenter` does, and set `n_features_in_`."""
    if "random_state" in estimator.get_params(deep=False):
        check_seed(estimator.random_state)
    rows = validate_data(estimator, unmask(X), dtype="numeric", ensure_all_finite=False)
    features = check_features(rows, missing=missing)
    frames = outlying_frames(features)
    if len(frames):
        warn_of_outliers(frames, drawn_in=False)
    return features


def check_n_events(n_events: int | None, n_frames: int) -> None:
    """Raise ValueError if there are more events than frames."""
    if n_events is not None:
        check_between("n_events", n_events, 1, whole=True)
        if n_events > n_frames:
            raise ValueError(
                f"n_events={show_value(n_events)} for {n_frames} frames; give at most one event per frame"
            )


def store_boundaries(estimator: Estimator, boundaries: IntArray, n_frames: int) -> Estimator:
    """Store boundaries and labels on the estimator and return it."""
    found = np.asarray(boundaries, dtype=np.int64)
    estimator.boundaries_ = found  # type: ignore[attr-defined]
    estimator.labels_ = boundaries_to_labels(found, n_frames)  # type: ignore[attr-defined]
    return estimator
