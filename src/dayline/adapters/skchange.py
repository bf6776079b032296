"""DaylineDetector: EventSegmenter as a change detector of skchange."""

from __future__ import annotations

from typing import Any, Self

from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from dayline.arrays import IntArray
from dayline.estimators import EventSegmenter
from dayline.estimators.inputs import given_rows
from dayline.installation import needs_extra

with needs_extra("skchange", "dayline.adapters.skchange"):
    from skchange.detectors import BaseChangeDetector


class DaylineDetector(BaseChangeDetector):  # type: ignore[misc]
    """Detect where events begin, for skchange.

    A changepoint is the first row of a new event. `fit` only notes the number of columns; `predict`
    segments each series on its own.

    Parameters
    ----------
    segmenter : EventSegmenter, optional
        How to segment; None uses `EventSegmenter()`.

    Examples
    --------
    >>> import numpy as np
    >>> from dayline.adapters.skchange import DaylineDetector
    >>> X = np.repeat([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0]], 20, axis=0)
    >>> DaylineDetector().fit_predict(X).tolist()
    [20, 40]
    """

    def __init__(self, segmenter: EventSegmenter | None = None) -> None:
        self.segmenter = segmenter

    def fit(self, X: Any, y: None = None) -> Self:  # noqa: ARG002
        """Note the number of columns."""
        self.n_samples_in_ = len(given_rows(self, X))
        return self

    def predict(self, X: Any) -> IntArray:
        """Return the first row of every event but the first."""
        check_is_fitted(self, "n_samples_in_")
        given_rows(self, X, reset=False)
        segmenter: EventSegmenter = clone(self.segmenter or EventSegmenter())
        return segmenter.fit(X).boundaries_
