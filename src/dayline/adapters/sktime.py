"""DaylineDetector: EventSegmenter as a detector of sktime."""

from __future__ import annotations

from typing import Any

from sklearn.base import clone

from dayline.estimators import EventSegmenter
from dayline.installation import needs_extra

with needs_extra("sktime", "dayline.adapters.sktime"):
    from sktime.detection.base import BaseDetector


class DaylineDetector(BaseDetector):  # type: ignore[misc]
    """Detect where events begin, for sktime.

    A change point is the first row of a new event. Nothing is learned in `fit`; `predict` segments
    each series on its own. If its index has dates or durations, they are its times.

    Parameters
    ----------
    segmenter : EventSegmenter, optional
        How to segment; None uses `EventSegmenter()`.

    Examples
    --------
    >>> import numpy as np
    >>> from dayline.adapters.sktime import DaylineDetector
    >>> X = np.repeat([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0]], 20, axis=0)
    >>> DaylineDetector().fit_predict(X).ilocs.tolist()
    [20, 40]
    """

    _tags = {  # noqa: RUF012 (sktime reads it from the class)
        "task": "change_point_detection",
        "learning_type": "unsupervised",
        "capability:multivariate": True,
        "fit_is_empty": True,
    }

    def __init__(self, segmenter: EventSegmenter | None = None) -> None:
        self.segmenter = segmenter
        super().__init__()

    def _predict(self, X: Any) -> Any:
        return self._segmented(X).boundaries_

    def _predict_scores(self, X: Any) -> Any:
        """Return the confidence in each change point."""
        return self._segmented(X).confidence_

    def _transform_scores(self, X: Any) -> Any:
        """Return the distance of past and future at each row."""
        import pandas as pd

        return pd.DataFrame({"scores": self._segmented(X).scores_}, index=X.index)

    def _segmented(self, X: Any) -> EventSegmenter:
        segmenter: EventSegmenter = clone(self.segmenter or EventSegmenter())
        return segmenter.fit(X)

    @classmethod
    def get_test_params(cls, parameter_set: str = "default") -> list[dict[str, Any]]:  # noqa: ARG003
        """Return parameters for sktime's own checks."""
        return [{}, {"segmenter": EventSegmenter.fast(n_events=3)}]
