"""What the embedders have in common: checking one sequence, and learning from it."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, Self

from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from dayline.arrays import FloatArray
from dayline.checks import Missing, check_features, unmask
from dayline.method.outliers import draw_in, outlying_frames, warn_of_missing_value_codes, warn_of_outliers
from dayline.progress import OnStep

__all__ = ["SequenceEmbedder"]


class SequenceEmbedder(BaseEstimator):  # type: ignore[misc]
    """An estimator that learns a vector per frame from one sequence."""

    missing: Missing
    embedding_: FloatArray

    def fit(self, X: Any, y: None = None) -> Self:  # noqa: ARG002
        """Learn from one sequence.

        Parameters
        ----------
        X : array-like of shape (n_frames, n_features)
            One row per frame, in order. Never modified.
        y : None
            Ignored.
        """
        numbers = validate_data(self, unmask(X), dtype="numeric", ensure_all_finite=False)
        features = check_features(numbers, missing=self.missing)
        return self.learn(self.without_outliers(features))

    def fit_transform(self, X: Any, y: None = None) -> FloatArray:
        """Learn from one sequence and return its embedding, of shape (n_frames, n_components)."""
        return self.fit(X, y).embedding_

    def without_outliers(self, features: FloatArray) -> FloatArray:
        """Warn of outliers and, unless the variant is a published one, scale them down."""
        self.check_parameters()
        frames = outlying_frames(features)
        if len(frames) == 0:
            warn_of_missing_value_codes(features)
            return features
        warn_of_outliers(frames, drawn_in=self.scales_outliers)
        return draw_in(features, frames) if self.scales_outliers else features

    @property
    def scales_outliers(self) -> bool:
        """Whether outliers are scaled down."""
        return True

    @abstractmethod
    def learn(self, features: FloatArray, *, on_step: OnStep | None = None) -> Self:
        """Learn from features that `check_features` has returned."""

    @abstractmethod
    def check_parameters(self) -> None:
        """Raise ValueError if a parameter is invalid; `fit` calls this first."""
