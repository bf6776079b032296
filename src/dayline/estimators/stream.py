"""EventStream: find events while frames arrive, in bounded memory."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.base import clone

from dayline.arrays import FloatArray, IntArray
from dayline.checks import Times, check_between, check_times, list_frames
from dayline.estimators.inputs import dates_of, given_rows
from dayline.estimators.segmenter import EventSegmenter

SAME = 2
"""Frames by which a boundary may differ between two fits and count as the same."""


class EventStream:
    """Find events while frames arrive.

    The last frames are a window. After every so many frames, the window is segmented anew, and what
    it agrees on with the time before is reported, from the oldest frame on; so is what leaves the
    window. A reported boundary is never taken back. Memory and time per frame do not grow.

    Fits do not know what was reported: when they had to keep to it, they agreed less with `fit` on
    the whole. docs/how-to/stream.md says how much they agree, and how late boundaries are reported.

    Parameters
    ----------
    segmenter : EventSegmenter, optional
        How to segment the window; None uses `EventSegmenter()`. Not one with `n_events`, which a
        recording without end does not have.
    window : int, default=8000
        Frames in memory. A boundary is reported before the frame at it leaves the window.
    every : int, default=500
        Frames between two fits. Each frame is segmented `window / every` times.

    Attributes
    ----------
    n_frames_ : int
        Frames so far.
    n_settled_ : int
        Frames before which all boundaries have been reported.

    Examples
    --------
    >>> import numpy as np
    >>> from dayline import EventStream
    >>> X = np.repeat([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0]], 20, axis=0)
    >>> stream = EventStream(window=60, every=10)
    >>> found = [int(b) for start in range(0, 60, 5) for b in stream.add(X[start : start + 5])]
    >>> found + stream.finish().tolist()
    [20, 40]
    """

    def __init__(
        self, segmenter: EventSegmenter | None = None, *, window: int = 8000, every: int = 500
    ) -> None:
        self.segmenter = EventSegmenter() if segmenter is None else segmenter
        self.segmenter.check_parameters()
        if self.segmenter.n_events is not None:
            raise ValueError(
                f"n_events={self.segmenter.n_events} is for a whole recording, which a stream does"
                " not know; use expected_duration= or level="
            )
        check_between("every", every, 1, whole=True)
        check_between("window", window, 2 * every, whole=True)
        self.window, self.every = window, every
        self.n_frames_ = self.n_settled_ = 0

        self._columns = clone(self.segmenter)
        self._rows: list[FloatArray] = []
        self._seconds: list[FloatArray] = []
        self._last_time: Times | None = None
        self._before: IntArray | None = None
        self._last_reported = -SAME - 1
        self._is_finished = False

    def add(self, X: Any, *, times: Any = None) -> IntArray:
        """Take the next frames and return the boundaries that are settled now.

        Parameters
        ----------
        X : array-like of shape (n_new_frames, n_features)
            The next frames; for a single one, `x[np.newaxis]`. How many are given at once does not
            change the result.
        times : array-like of shape (n_new_frames,), optional
            See `EventSegmenter.fit`; for all frames or for none.

        Returns
        -------
        ndarray of int
            First frames of new events, counted from the first frame of all.
        """
        if self._is_finished:
            raise ValueError("the stream is finished; make a new EventStream")
        rows = given_rows(self._columns, X, reset=self.n_frames_ == 0)
        self._check_finite(rows)
        times = self._checked_times(dates_of(X) if times is None else times, len(rows))

        settled: list[IntArray] = [np.zeros(0, dtype=np.int64)]
        start = 0
        while start < len(rows):
            stop = min(start + self.every - self.n_frames_ % self.every, len(rows))
            self._rows.append(np.array(rows[start:stop]))  # the caller may use the array again
            if times is not None:
                self._seconds.append(times.seconds[start:stop])
                self._last_time = Times(times.seconds[stop - 1 : stop], times.kind)
            self.n_frames_ += stop - start
            start = stop
            if self.n_frames_ % self.every == 0:
                settled.append(self._settle())
        return np.concatenate(settled)

    def finish(self) -> IntArray:
        """Return the boundaries that were not settled yet; no frames can follow."""
        if self._is_finished:
            raise ValueError("the stream is finished; make a new EventStream")
        self._is_finished = True
        if self.n_settled_ == self.n_frames_:
            return np.zeros(0, dtype=np.int64)
        found, _ = self._segment()
        return self._report(found, self.n_frames_)

    def _settle(self) -> IntArray:
        """Segment the window, report what is settled, and drop the oldest frames."""
        found, first = self._segment()
        until = self.n_settled_
        if self._before is not None:
            # The newest frames have had the least context.
            until = max(until, self.n_frames_ - self.every // 2)
            both = [_between(b, self.n_settled_, until) for b in (found, self._before)]
            until = _first_difference(*both, default=until)
        self._before = found

        first_kept = max(first, self.n_frames_ - (self.window - self.every))
        if first_kept > first:
            for blocks in filter(None, (self._rows, self._seconds)):
                blocks[:] = [np.concatenate(blocks)[first_kept - first :].copy()]
        # No window has a boundary at its first frame: one there is reported now or never.
        until = max(until, first_kept + 1) if first_kept > first else until
        return self._report(found, until)

    def _segment(self) -> tuple[IntArray, int]:
        """Return the boundaries of the window, and its first frame."""
        rows = np.concatenate(self._rows)
        seconds = np.concatenate(self._seconds) if self._seconds else None
        with warnings.catch_warnings():
            # They count frames from the start of the window, and would come again with every fit.
            warnings.simplefilter("ignore", UserWarning)
            fitted = clone(self.segmenter).fit(rows, times=seconds)
        first = self.n_frames_ - len(rows)
        return fitted.boundaries_ + first, first

    def _report(self, found: IntArray, until: int) -> IntArray:
        new = found[(found >= self.n_settled_) & (found < until)]
        # One that was reported may have moved by a few frames since.
        new = new[new > self._last_reported + SAME]
        self.n_settled_ = until
        if len(new):
            self._last_reported = int(new[-1])
        return new

    def _check_finite(self, rows: FloatArray) -> None:
        embedding = self.segmenter.embedding
        interpolates = "interpolate" in (self.segmenter.missing, getattr(embedding, "missing", ""))
        wrong = np.flatnonzero(~np.isfinite(rows).all(axis=1))
        if len(wrong) and not interpolates:
            raise ValueError(
                f"{list_frames(wrong + self.n_frames_)} of the stream: NaN or infinity; drop such"
                ' frames or pass EventSegmenter(missing="interpolate")'
            )

    def _checked_times(self, times: Any, n_frames: int) -> Times | None:
        later = check_times(times, n_frames)
        if self.n_frames_ == 0:
            self.segmenter.check_parameters(has_times=later is not None)
        if self.n_frames_ and (later is None) != (self._last_time is None):
            raise ValueError("either all frames have times or none; pass times= with every add()")
        if later is not None and self._last_time is not None:
            self._last_time.followed_by(later)  # raises if they are earlier, or of another kind
        return later


def _between(boundaries: IntArray, start: int, stop: int) -> IntArray:
    return boundaries[(boundaries >= start) & (boundaries < stop)]


def _first_difference(some: IntArray, others: IntArray, *, default: int) -> int:
    """Return the first boundary of either that the other has not."""
    alone = [
        b
        for these, those in ((some, others), (others, some))
        for b in these.tolist()
        if not (np.abs(those - b) <= SAME).any()
    ]
    return min(alone, default=default)
