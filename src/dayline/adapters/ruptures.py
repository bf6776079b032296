"""Dayline: EventSegmenter with the methods of ruptures."""

from __future__ import annotations

from typing import Any, Self

from sklearn.base import clone

from dayline.estimators import EventSegmenter
from dayline.installation import needs_extra

with needs_extra("ruptures", "dayline.adapters.ruptures"):
    from ruptures.base import BaseEstimator


class Dayline(BaseEstimator):  # type: ignore[misc]
    """Find breakpoints, for ruptures: its metrics and plots take the result.

    Breakpoints are the first row of every event but the first, and the number of rows. The number
    of breakpoints need not be known; there is no penalty to choose.

    Parameters
    ----------
    segmenter : EventSegmenter, optional
        How to segment; None uses `EventSegmenter()`.

    Examples
    --------
    >>> import numpy as np
    >>> from dayline.adapters.ruptures import Dayline
    >>> signal = np.repeat([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0]], 20, axis=0)
    >>> algo = Dayline().fit(signal)
    >>> algo.predict()
    [20, 40, 60]
    >>> len(algo.predict(n_bkps=1))  # without fitting again
    2
    """

    def __init__(self, segmenter: EventSegmenter | None = None) -> None:
        self.segmenter = segmenter

    def fit(self, signal: Any) -> Self:
        """Segment a signal of shape (n_samples, n_features) or (n_samples,)."""
        self.segmenter_ = clone(self.segmenter or EventSegmenter()).fit(signal)
        return self

    def predict(self, n_bkps: int | None = None) -> list[int]:
        """Return the breakpoints, or so many of them, and the number of rows."""
        if not hasattr(self, "segmenter_"):
            raise ValueError("call fit(signal) before predict()")
        found = self.segmenter_.segmentation_
        if n_bkps is not None:
            found = self.segmenter_.choose(n_events=n_bkps + 1)
        return [event.stop for event in found.events]

    def fit_predict(self, signal: Any, n_bkps: int | None = None) -> list[int]:
        """Segment a signal and return its breakpoints."""
        return self.fit(signal).predict(n_bkps)
