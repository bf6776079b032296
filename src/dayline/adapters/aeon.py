"""DaylineSegmenter: EventSegmenter as a segmenter of aeon."""

from __future__ import annotations

from typing import Any

from sklearn.base import clone

from dayline.arrays import IntArray
from dayline.estimators import EventSegmenter
from dayline.installation import needs_extra

with needs_extra("aeon", "dayline.adapters.aeon"):
    from aeon.segmentation.base import BaseSegmenter


class DaylineSegmenter(BaseSegmenter):  # type: ignore[misc]
    """Find where events begin, for aeon.

    A change point is the first time point of a new event. Nothing is learned in `fit`; `predict`
    segments each series on its own. As in all of aeon, rows are channels unless `axis=0`.

    Parameters
    ----------
    segmenter : EventSegmenter, optional
        How to segment; None uses `EventSegmenter()`.

    Examples
    --------
    >>> import numpy as np
    >>> from dayline.adapters.aeon import DaylineSegmenter
    >>> X = np.repeat([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0]], 20, axis=0)
    >>> DaylineSegmenter().fit_predict(X, axis=0).tolist()
    [20, 40]
    """

    _tags = {  # noqa: RUF012 (aeon reads it from the class)
        "capability:multivariate": True,
        "capability:univariate": True,
        "fit_is_empty": True,
        "returns_dense": True,
    }

    def __init__(self, segmenter: EventSegmenter | None = None) -> None:
        self.segmenter = segmenter
        super().__init__(axis=0, n_segments=None)

    def _predict(self, X: Any) -> IntArray:
        segmenter: EventSegmenter = clone(self.segmenter or EventSegmenter())
        return segmenter.fit(X).boundaries_

    @classmethod
    def _get_test_params(cls, parameter_set: str = "default") -> list[dict[str, Any]]:  # noqa: ARG003
        """Return parameters for aeon's own checks, which need at least one change point."""
        return [{"segmenter": EventSegmenter.fast(n_events=3)}]
