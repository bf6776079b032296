"""EventSegmenter: split a sequence into events."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from copy import copy
from dataclasses import KW_ONLY, dataclass, fields, replace
from functools import partial
from typing import Any, Literal, Self, TypeAlias

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import check_is_fitted
from threadpoolctl import threadpool_limits

from dayline.arrays import Array, FloatArray, IntArray, is_mapped, to_numpy
from dayline.checks import (
    Duration,
    Missing,
    check_between,
    check_choice,
    check_duration,
    check_features,
    check_flag,
    check_times,
    is_whole,
    list_frames,
    missing_rows,
    show_value,
)
from dayline.decision.contexts import context_scores, pick_boundaries
from dayline.decision.decide import (
    Decision,
    Frames,
    Level,
    Requests,
    decide,
    forbidden_frames,
    frame_ranges,
    levels_around,
    nested_levels,
    required_frames,
)
from dayline.decision.evidence import Evidence, gather_evidence
from dayline.decision.intervals import boundary_intervals
from dayline.decision.learned import (
    NOTHING,
    Example,
    Learned,
    learn_from,
    load_kinds,
    with_learned,
)
from dayline.decision.pauses import find_pauses, long_gap
from dayline.estimators.columns import column_shares, note_of_drift
from dayline.estimators.embedders import DynamicGraphEmbedding, PrincipalComponents
from dayline.estimators.inputs import dates_of, given_rows
from dayline.estimators.signals import (
    SignalFeatures,
    choose_signal_features,
    gather_signal_evidence,
)
from dayline.events import NestedLevel, Segmentation, boundaries_to_labels, labels_to_boundaries
from dayline.method.outliers import draw_in, outlying_frames
from dayline.method.windows import MOST_COLUMNS
from dayline.metrics import score_boundaries
from dayline.progress import OnStep, no_report

FEWEST_FRAMES = 4
"""Frames in which there can be two events, of two frames each."""

Embedder: TypeAlias = DynamicGraphEmbedding | PrincipalComponents


@dataclass(eq=False, repr=False)
class EventSegmenter(BaseEstimator):  # type: ignore[misc]
    """Split a sequence of feature vectors into events; their number need not be known.

    Parameters
    ----------
    embedding : DynamicGraphEmbedding or PrincipalComponents, optional
        How to embed frames; None uses the default of `DynamicGraphEmbedding`.
    detector : {"partition", "ces"}, default="partition"
        "partition" finds the optimal partition of the embedding; "ces" is the paper's rule: local
        maxima of the distance between past and future. The next five parameters apply only to
        "partition".
    n_events : int, optional
        Number of events.
    min_duration : float or duration, optional
        Shortest event, in seconds if `times` are given to `fit`, otherwise in frames. With times,
        it may also be a duration: "30min", "1h 30min", a `timedelta` or a `Timedelta`.
    expected_duration : float or duration, optional
        Requested mean duration of events, in the same unit.
    typical_duration : float or duration, optional
        Typical mean duration for this kind of source; weighs less than the evidence in the frames.
    level : int, default=0
        Levels finer (positive) or coarser (negative) than the usual one.
    window, order : int, default=8 and 5
        Frames on either side that are averaged for the boundary score, and that a local maximum
        must exceed ("ces").
    period : float, optional
        Frames of a cycle to take out, for features of at most eight columns; None looks for one of
        at least eight turns. A note says what was taken out.
    learned : Learned, optional
        What labeled recordings of this kind taught, from `learn` or `Learned.load`. It replaces
        `typical_duration`, and needs "partition".
    kind : {"cooking", "gestures", "sensors"}, optional
        What is recorded, if it is one of these: they were learned from known recordings
        (docs/how-to/teach.md). It cannot be given with `learned`.
    pauses : bool, default=True
        Whether a gap in the times that is far longer than usual is a boundary (see
        `dayline.decision.pauses.long_gap`). Coarser levels may join across it.
    missing : {"raise", "interpolate"}, default="raise"
        How to handle NaN and infinity. "interpolate" fills single values from the frames before and
        after, and skips rows that have less than half of the values of a usual row: they go on with
        the event before them. It also applies if only `embedding` has it.
    device : str or None, default=None
        Device ("cpu", "torch", "cuda", "mps"); None uses that of `embedding`.
    random_state : int or None, default=None
        Seed; None uses that of `embedding`, which is 0 by default.
    keep : {"result", "all"}, default="result"
        What pickles and copies have of a fitted estimator: all but the graphs, which hold every
        pair of frames, or everything. `choose`, `score`, `append` and `plot` work without them;
        `graph_` is None there.

    Attributes
    ----------
    boundaries_ : ndarray of int
        First frame of every event but the first, increasing.
    confidence_ : ndarray of shape (n_boundaries,)
        Confidence in each boundary, in [0, 1]; NaN for "ces".
    labels_ : ndarray of int, shape (n_frames,)
        Event number of each frame.
    scores_ : ndarray of shape (n_frames,)
        Distance of past and future at each frame; 0 at rows that were skipped.
    segmentation_ : Segmentation
        The result as one object, with events, scores, times and levels: to print, export or write
        to events.json.
    events_ : tuple of Event
        The events with their communities and confidence.
    communities_ : ndarray of int, shape (n_frames,)
        Recurring context of every frame; one per event.
    levels_ : tuple of Level
        Nested segmentations, coarsest first; empty for "ces".
    embedding_, embedder_
        The vector of every frame, zeros for rows that were skipped, and the fitted
        `DynamicGraphEmbedding` or `PrincipalComponents`.
    graph_ : array, LinearGraph or None
        The learned graph of `embedder_`; None if it learns none, as with `fast()`, or in a pickle
        (see `keep`).
    seen_ : ndarray of int
        The rows that were not skipped as missing. `embedder_` and `graph_` know of these alone.
    row_of_frame_ : ndarray of int, shape (n_frames,)
        The row of each frame in `graph_`, which may be one of a window; a row that was skipped has
        that of the last one before.
    """

    embedding: Embedder | None = None
    _: KW_ONLY
    detector: Literal["partition", "ces"] = "partition"
    n_events: int | None = None
    min_duration: Duration | None = None
    expected_duration: Duration | None = None
    typical_duration: Duration | None = None
    level: int = 0
    window: int = 8
    order: int = 5
    period: float | None = None
    learned: Learned | None = None
    kind: str | None = None
    pauses: bool = True
    missing: Missing = "raise"
    device: str | None = None
    random_state: int | None = None
    keep: Literal["result", "all"] = "result"

    # Whether the candidates are described, which learning from them needs.
    _describes = False

    @classmethod
    def learn(
        cls,
        sequences: Sequence[Any],
        boundaries: Sequence[Iterable[int]],
        *,
        times: Sequence[Any] | None = None,
        tolerance: int = 5,
        name: str = "",
        on_step: OnStep | None = None,
        **parameters: Any,
    ) -> Self:
        """Return an estimator for the kind of recording of some labeled examples.

        It has learned (`learned`) how fine events of this kind are, what tells their boundaries
        from other changes, and which features matter, all drawn towards what is usual in known
        kinds: one recording already helps. Boundaries that match the frames no better than they
        would elsewhere teach nothing; a warning says so.

        Parameters
        ----------
        sequences : sequence of array-like of shape (n_frames, n_features)
            Recordings of one kind, with the same features.
        boundaries : sequence of iterable of int
            The true boundaries of each: the first frame of every event but the first.
        times : sequence of array-like, optional
            The times of each, as for `fit`.
        tolerance : int >= 0
            Frames that a boundary may be off.
        name : str
            Name of the kind.
        on_step : callable, optional
            Called as on_step(what, done, total) before every stage.
        **parameters
            Parameters of this class.
        """
        check_between("tolerance", tolerance, 0, whole=True)
        n = len(sequences)
        if n == 0 or len(boundaries) != n or (times is not None and len(times) != n):
            raise ValueError(
                f"{n} sequences, {len(boundaries)} lists of boundaries"
                + ("" if times is None else f", {len(times)} of times")
                + "; give one list for each sequence, and at least one sequence"
            )
        plain = cls(**parameters)
        if plain.detector != "partition":
            raise ValueError('learn() needs detector="partition"')

        examples = []
        for k in range(n):
            fitted = clone(plain).set_params(learned=None, kind=None, n_events=None, level=0)
            fitted._describes = True
            fitted.fit(sequences[k], times=None if times is None else times[k], on_step=on_step)
            n_frames, true = len(fitted.labels_), list(boundaries[k])
            wrong = next((b for b in true if not is_whole(b) or not 0 < b < n_frames), None)
            if wrong is not None:
                raise ValueError(
                    f"boundaries of sequence {k}: {show_value(wrong)} is not a boundary; they are"
                    f" frame numbers from 1 to {n_frames - 1}"
                )

            # Rows that were skipped as missing do not count.
            seen = np.searchsorted(fitted.seen_, np.unique(np.asarray(true, dtype=np.int64)))
            assert fitted.evidence_ is not None
            assert fitted.evidence_.candidates is not None
            rows = np.unique(seen[(seen > 0) & (seen < len(fitted.seen_))])
            examples.append(Example(fitted.evidence_.candidates, rows, tolerance))

        learned, incredible = learn_from(examples, name=name)
        if incredible:
            which = ", ".join(map(str, incredible))
            are = "sequence {} teaches" if len(incredible) == 1 else "sequences {} teach"
            warnings.warn(
                f"{are.format(which)} nothing: the boundaries match what changes in the frames no"
                " better than they would elsewhere; check that they belong to these frames",
                stacklevel=2,
            )
        made: Self = clone(plain).set_params(learned=learned, kind=None)
        return made

    @classmethod
    def paper(cls, **changes: Any) -> Self:
        """Embed as the paper's text says and detect boundaries by the CES rule."""
        return cls(DynamicGraphEmbedding.paper(**changes), detector="ces")

    @classmethod
    def authors(cls, **changes: Any) -> Self:
        """Embed as the authors' notebook does and detect boundaries by the CES rule."""
        return cls(DynamicGraphEmbedding.authors(**changes), detector="ces")

    @classmethod
    def fast(
        cls,
        *,
        n_events: int | None = None,
        min_duration: Duration | None = None,
        expected_duration: Duration | None = None,
        typical_duration: Duration | None = None,
        level: int = 0,
        pauses: bool = True,
        **changes: Any,
    ) -> Self:
        """Decide as the default does, but from the main directions of the denoised features alone.

        No graph is learned. Time and memory grow linearly with the number of frames. It is a little
        less accurate on average; docs/how-it-decides.md compares both by kind of recording.
        `changes` are parameters of `PrincipalComponents`.
        """
        return cls(
            PrincipalComponents(**changes),
            n_events=n_events,
            min_duration=min_duration,
            expected_duration=expected_duration,
            typical_duration=typical_duration,
            level=level,
            pauses=pauses,
        )

    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        times: Any = None,
        must: Frames = (),
        must_not: Frames = (),
        breaks: Iterable[int] | None = None,
        on_step: OnStep | None = None,
    ) -> Self:
        """Find the events of one sequence.

        Parameters
        ----------
        X : array-like of shape (n_frames, n_features) or (n_frames,)
            One row per frame, in order: an array, or a Series or data frame of pandas or polars.
            Never modified.
        y : ignored
            Nothing is learned from labels; `score` compares with them.
        times : array-like of shape (n_frames,), optional
            Time of every frame: seconds, or dates (NumPy, Python or pandas; dates with a time zone
            are converted to UTC). None takes those of a data frame, if its index or one of its
            columns has dates.
        must, must_not : iterable of int or (int, int)
            Frames that must, or must not, be boundaries; of a range (first, stop), one frame must
            be a boundary, or none may be. One that must be is kept where it is, even at a row that
            is missing.
        breaks : iterable of int, optional
            Frames before which the recording paused, in place of those that `pauses` finds in the
            times. They are boundaries, too, but a coarser level or fewer events may join across
            them.
        on_step : callable, optional
            Called as on_step(what, done, total) before every stage.
        """
        # Fit a copy and adopt it at the end: a fit that fails leaves the previous one intact.
        made = copy(self)
        rows = given_rows(made, X)
        made._times = check_times(dates_of(X) if times is None else times, len(rows))
        made._must = frame_ranges("must", must, len(rows))
        made._breaks = None if breaks is None else frame_ranges("breaks", breaks, len(rows))
        made._forbidden = forbidden_frames(must_not, len(rows))
        made._had_labels = y is not None
        # As in learning, more BLAS threads gain nothing and wait for each other.
        with threadpool_limits(1):
            made._fit(rows, on_step or no_report)
        self.__dict__ = made.__dict__
        return self

    def fit_predict(
        self, X: Any, y: Any = None, *, times: Any = None, must: Frames = (), must_not: Frames = ()
    ) -> IntArray:
        """Find the events of one sequence and return the event number of each frame; see `fit`."""
        labels: IntArray = self.fit(X, y, times=times, must=must, must_not=must_not).labels_
        return labels

    def predict(self, X: Any, *, times: Any = None) -> IntArray:
        """Return the event number of each frame of any sequence.

        Nothing is carried over from the sequence that was fitted: another one is segmented with the
        parameters of this estimator.

        Parameters
        ----------
        X : array-like of shape (n_frames, n_features) or (n_frames,)
            One row per frame, in order.
        times : array-like of shape (n_frames,), optional
            See `fit`.
        """
        check_is_fitted(self)
        labels: IntArray = self._fitted_to(X, times).labels_
        return labels

    def segment(
        self,
        X: Any,
        *,
        times: Any = None,
        must: Frames = (),
        must_not: Frames = (),
        breaks: Iterable[int] | None = None,
        on_step: OnStep | None = None,
    ) -> Segmentation:
        """Find the events of one sequence and return them as one object that can be saved.

        See `fit`.
        """
        self.fit(X, times=times, must=must, must_not=must_not, breaks=breaks, on_step=on_step)
        return self.segmentation_

    def score(self, X: Any, y: Any = None, *, times: Any = None, tolerance: int = 5) -> float:
        """Return the F1 of the boundaries of a sequence, for `GridSearchCV` and `cross_val_score`.

        The events of a sequence are found in that sequence alone: `X` is segmented with the
        parameters of this estimator, unless it is the one that was fitted. Each fold of a
        cross-validation must therefore be one whole sequence, in order: see `WholeSequences`.

        Parameters
        ----------
        X : array-like of shape (n_frames, n_features)
            One row per frame, in order.
        y : array-like of shape (n_frames,)
            True event of every frame: any labels that change where a new event begins
            (`Segmentation.labels`).
        times : array-like of shape (n_frames,), optional
            See `fit`.
        tolerance : int >= 0
            Frames a boundary may be off.
        """
        check_is_fitted(self)
        if y is None:
            raise ValueError(
                "score() compares with known events, so it needs y, the event of every frame; "
                "without them no parameter can be called better than another"
            )
        true = true_boundaries(y, len(X))
        fitted = self._fitted_to(X, times)
        if fitted is not self and self._had_labels:
            warnings.warn(
                "score() got other rows than fit(): cv=3 and the like cut a sequence into pieces,"
                " which are then segmented on their own; pass cv=WholeSequences() and groups=",
                stacklevel=2,
            )
        return score_boundaries(fitted.boundaries_, true, tolerance=tolerance).f1

    def choose(
        self,
        *,
        n_events: int | None = None,
        min_duration: Duration | None = None,
        expected_duration: Duration | None = None,
        level: int = 0,
    ) -> Segmentation:
        """Segment the fitted sequence differently, without learning again.

        The parameters are those of the class, but their values in the constructor do not apply
        here. The fitted attributes do not change.
        """
        check_is_fitted(self)
        if self.evidence_ is None:
            raise ValueError('choose() needs detector="partition"')
        has_times = self._times is not None
        requests = Requests(
            n_events=n_events,
            min_duration=check_duration("min_duration", min_duration, has_times=has_times),
            expected_duration=check_duration(
                "expected_duration", expected_duration, has_times=has_times
            ),
            level=level,
        )
        with threadpool_limits(1):
            decision = decide(self.evidence_, self._levels, requests)
            return self._segmentation(decision, requests.min_duration)

    def explain(self, boundary: int, *, most: int = 10) -> dict[str | int, float]:
        """Return the columns that drove a boundary, each with its share.

        The share is that of the change from one event to the next: the squared difference of means
        and of standard deviations, with every column in units of its own. Where a note says that
        events were found in windows, it is the change of what was seen in the windows.

        Parameters
        ----------
        boundary : int
            One of `boundaries_`.
        most : int >= 1
            Columns to return at most.

        Returns
        -------
        dict
            Share of each column by its name, if the features had names, else its number: the
            largest first. All columns add up to 1.
        """
        shares = self.column_shares()
        check_between("most", most, 1, whole=True)
        if boundary not in self.boundaries_:
            nearest = sorted(self.boundaries_, key=lambda b: abs(b - boundary))[:1]
            raise ValueError(
                f"boundary={show_value(boundary)} is none of boundaries_"
                + (f"; the nearest is {nearest[0]}" if nearest else ", which are empty")
            )
        row = shares[np.searchsorted(self.boundaries_, boundary)]
        order = np.argsort(-row, kind="stable")[:most].tolist()
        return {self.column_names[k]: float(row[k]) for k in order}

    def column_shares(self) -> FloatArray:
        """Return the share of every column in every boundary: what `explain` has of one.

        Returns
        -------
        ndarray of shape (n_boundaries, n_features)
            Rows add up to 1, or to 0 where nothing changes.
        """
        check_is_fitted(self)
        features = check_features(self._rows, missing="interpolate")[self.seen_]
        outliers = outlying_frames(features)
        if len(outliers):
            features = draw_in(features, outliers)
        boundaries = np.searchsorted(self.seen_, self.boundaries_)
        return column_shares(features, boundaries, self._signal)

    def append(self, X: Any, *, times: Any = None) -> Self:
        """Continue with later frames, as if all frames had been given to `fit`.

        Everything is learned again from all frames, so the result equals a fresh run. Starting from
        the previous embedding saved no evaluations when measured, and moved boundaries (F1 0.96
        against a fresh run). For frames that keep arriving, see `EventStream`.

        Parameters
        ----------
        X : array-like of shape (n_new_frames, n_features)
            The frames after those seen so far.
        times : array-like of shape (n_new_frames,), optional
            Required if the first frames had times.
        """
        check_is_fitted(self)
        new = given_rows(self, X, reset=False)
        later = check_times(dates_of(X) if times is None else times, len(new))
        if (later is None) != (self._times is None):
            raise ValueError(
                "either all frames have times or none; pass times= to append as to fit"
            )
        made = copy(self)
        if later is not None and self._times is not None:
            made._times = self._times.followed_by(later)
        with threadpool_limits(1):
            made._fit(np.concatenate([self._rows, new]), no_report)
        self.__dict__ = made.__dict__
        return self

    def set_params(self, **params: Any) -> Self:
        """Set parameters; those of the embedding begin with `embedding__`.

        If the embedding is None, it becomes the default first.
        """
        of_embedding = any(name.startswith("embedding__") for name in params)
        if self.embedding is None and "embedding" not in params and of_embedding:
            self.embedding = DynamicGraphEmbedding()
        changed: Self = super().set_params(**params)
        return changed

    def check_parameters(self, *, has_times: bool = True) -> None:
        """Raise ValueError if a parameter is invalid; `fit` does so before any work."""
        self._checked(has_times=has_times)

    @property
    def graph_(self) -> Array | None:
        """The learned graph of `embedder_`; None if it learns none, or in a pickle."""
        graph: Array | None = getattr(self.embedder_, "graph_", None)
        return graph

    @property
    def row_of_frame_(self) -> IntArray:
        """The row of `graph_` of each frame; a missing one has that of the last one before."""
        return self._row_of_seen[self._seen_of_frame]

    @property
    def column_names(self) -> list[str | int]:
        """Names of the columns, if the features had names, else their numbers."""
        return list(getattr(self, "feature_names_in_", range(self.n_features_in_)))

    def __getstate__(self) -> dict[str, Any]:
        """Return what a pickle holds; see `keep`."""
        state: dict[str, Any] = super().__getstate__()
        keeps_all = isinstance(self.keep, str) and self.keep == "all"
        if "embedder_" in state and not keeps_all:
            light = copy(self.embedder_)
            for name in ("graph_", "initial_graph_"):
                light.__dict__.pop(name, None)
            state = {**state, "embedder_": light}
        return state

    def _fitted_to(self, X: Any, times: Any) -> Self:
        """Return this estimator if it was fitted to these rows and times, or else a copy that is."""
        rows = given_rows(self, X, reset=False)
        times = dates_of(X) if times is None else times
        given = check_times(times, len(rows))
        same_times = given is None or (
            self._times is not None and np.array_equal(given.seconds, self._times.seconds)
        )
        if same_times and np.array_equal(rows, self._rows, equal_nan=True):
            return self
        fitted: Self = clone(self).fit(rows, times=times)
        return fitted

    def _fit(self, rows: FloatArray, on_step: OnStep) -> None:
        """Find the events of these rows, with the times and constraints that `fit` has stored."""
        embedder, requests = self._checked(has_times=self._times is not None)
        interpolates = "interpolate" in (self.missing, embedder.missing)
        features = check_features(rows, missing="interpolate" if interpolates else "raise")
        n_frames = len(features)

        # Rows that are missing are skipped, but one that must be a boundary stays, and so does
        # something before it. This also finds contradictions early; the frames are chosen again
        # below with the scores, which decide where in a range.
        breaks = self._pauses() if self._breaks is None else self._breaks
        is_seen = ~missing_rows(rows) if interpolates else np.ones(n_frames, dtype=bool)
        required = required_frames(
            [*self._must, *breaks], is_seen.astype(np.float64), forbidden=self._forbidden
        )
        is_seen[required] = True
        is_seen[0] |= np.argmax(is_seen) in required
        self.seen_: IntArray = np.flatnonzero(is_seen)
        forbidden = np.union1d(self._forbidden, np.flatnonzero(~is_seen))
        # Copy, because the caller may reuse the array for the next frames; a file mapped into
        # memory stays one.
        self._rows = rows if is_mapped(rows) else np.array(rows)

        if self.period is not None:
            check_between("period", self.period, 2, len(self.seen_) / 2)
            if features.shape[1] > MOST_COLUMNS:
                raise ValueError(
                    f"period={self.period:g} is for features of at most {MOST_COLUMNS} columns;"
                    f" these have {features.shape[1]}"
                )
        features = features if is_seen.all() else features[self.seen_]
        features = embedder.without_outliers(features, self.seen_)

        # Levels show in the rows of a signal, changes of spread or frequency in windows of them.
        signal: SignalFeatures | None = None
        if self.detector == "partition":
            few = features.shape[1] <= MOST_COLUMNS
            signal = choose_signal_features(
                to_numpy(features),
                period=self.period,
                is_complete=few and bool(np.isfinite(rows[self.seen_]).all()),
            )
        self._signal = signal

        # Learn the embedding, and with its scores choose the frames that must be boundaries.
        embedder.learn(features if signal is None else signal.features, on_step)
        self.embedder_: Embedder = embedder
        self._row_of_seen: IntArray = np.arange(len(features))
        embedding = embedder.embedding_
        if signal is not None:
            self._row_of_seen = signal.window_of_row
            embedding = embedding[self._row_of_seen]
        self.embedding_: FloatArray = self._in_all_rows(embedding, n_frames)
        scores = context_scores(embedding, self.window)
        self.scores_ = self._in_all_rows(scores, n_frames)
        must = required_frames(self._must, self.scores_, forbidden=forbidden)
        at_breaks = required_frames(breaks, self.scores_, forbidden=forbidden)
        self._required = np.union1d(must, at_breaks)
        self._at_breaks = np.setdiff1d(at_breaks, must)

        # Decide. From here on, frames count only the rows that are seen.
        seen_required = np.searchsorted(self.seen_, self._required)
        seen_forbidden = np.flatnonzero(np.isin(self.seen_, forbidden))
        known = self._known
        self.evidence_: Evidence | None = None
        self._levels: tuple[Level, ...] = ()
        if self.detector == "ces":
            decision = self._decide_by_peaks(scores, seen_required, seen_forbidden)
        else:
            gather = (
                partial(gather_evidence, features)
                if signal is None
                else partial(gather_signal_evidence, signal)
            )
            self.evidence_ = gather(
                embedder.main_directions(),
                None if isinstance(embedder, PrincipalComponents) else embedder.embedding_,
                required=seen_required,
                forbidden=seen_forbidden,
                times=None if self._times is None else self._times.seconds[self.seen_],
                breaks=np.searchsorted(self.seen_, self._at_breaks).tolist(),
                typical_duration=requests.typical_duration,
                describe=self._describes or (known is not None and bool(known.weights)),
            )
            if known is not None:
                self.evidence_ = with_learned(self.evidence_, known)
            self._note_of_drift = note_of_drift(
                to_numpy(features), self.evidence_.agreed_boundaries, self.column_names
            )
            self._levels = nested_levels(self.evidence_)
            decision = decide(self.evidence_, self._levels, requests)

        # Back to all frames.
        self.levels_: tuple[Level, ...] = tuple(
            replace(level, boundaries=self.seen_[level.boundaries]) for level in self._levels
        )
        self.boundaries_, self.confidence_ = self.seen_[decision.boundaries], decision.confidence
        self.communities_ = decision.communities[self._seen_of_frame]
        self.labels_ = boundaries_to_labels(self.boundaries_, n_frames)
        self.segmentation_ = self._segmentation(decision, requests.min_duration)
        self.events_ = self.segmentation_.events

    def _checked(self, *, has_times: bool = True) -> tuple[Embedder, Requests]:
        """Return a new embedder and the requests; raise ValueError if a parameter is wrong."""
        check_choice("detector", self.detector, ("partition", "ces"))
        check_choice("missing", self.missing, ("raise", "interpolate"))
        check_choice("keep", self.keep, ("result", "all"))
        check_flag("pauses", self.pauses)
        if self.learned is not None and not isinstance(self.learned, Learned):
            raise ValueError(
                f"learned={show_value(self.learned)}; it must come from EventSegmenter.learn or"
                " Learned.load"
            )
        if self.kind is not None:
            check_choice("kind", self.kind, tuple(load_kinds()))
            if self.learned is not None:
                raise ValueError("learned and kind contradict each other; use one of them")
        if self._known is not None and self.detector == "ces":
            raise ValueError('learned and kind need detector="partition" (method default)')
        if self.embedding is not None and not isinstance(self.embedding, Embedder):
            raise ValueError(
                f"embedding={show_value(self.embedding)}; it must be a DynamicGraphEmbedding or"
                " PrincipalComponents, or None for the default"
            )
        embedder = DynamicGraphEmbedding() if self.embedding is None else clone(self.embedding)
        for name in ("device", "random_state"):
            if getattr(self, name) is not None:
                embedder.set_params(**{name: getattr(self, name)})

        check_between("window", self.window, 1, whole=True)
        check_between("order", self.order, 1, whole=True)
        given = {f.name: getattr(self, f.name) for f in fields(Requests)}
        for name in ("min_duration", "expected_duration", "typical_duration"):
            given[name] = check_duration(name, given[name], has_times=has_times)
        requests = Requests(**given)
        if self.detector == "ces" and requests != Requests():
            wrong = next(name for name, value in vars(requests).items() if value not in (None, 0))
            raise ValueError(
                f'{wrong} needs detector="partition" (method default); '
                "the CES rule chooses the number of events itself"
            )
        embedder.check_parameters()
        return embedder, requests

    @property
    def _known(self) -> Learned | None:
        """What was learned of this kind of recording."""
        return self.learned if self.kind is None else load_kinds()[self.kind]

    def _pauses(self) -> list[tuple[int, int]]:
        """Return the frames after pauses in the times, as ranges, without forbidden ones."""
        if self._times is None or not self.pauses:
            return []
        seconds = self._times.seconds
        found = find_pauses(seconds, at_least=long_gap(seconds))
        return [(b, b + 1) for b in found if b not in self._forbidden]

    def _in_all_rows(self, values: FloatArray, n_frames: int) -> FloatArray:
        """Return values for all rows from those of the rows that were seen; 0 for the others."""
        if len(values) == n_frames:
            return values
        of_all = np.zeros((n_frames, *values.shape[1:]), values.dtype)
        of_all[self.seen_] = values
        return of_all

    @property
    def _seen_of_frame(self) -> IntArray:
        """Position in `seen_` of each frame; a missing one has that of the last one before."""
        frames = np.arange(len(self.scores_))
        return np.maximum(np.searchsorted(self.seen_, frames, side="right") - 1, 0)

    def _decide_by_peaks(
        self, scores: FloatArray, required: IntArray, forbidden: IntArray
    ) -> Decision:
        """Apply the CES rule; an event takes the most frequent community of its frames."""
        found = np.setdiff1d(pick_boundaries(scores, order=self.order), forbidden)
        boundaries = np.union1d(found, required).astype(np.int64)
        communities = np.array(self.embedder_.communities_)
        for event in np.split(communities, boundaries):
            event[:] = np.bincount(event).argmax()
        return Decision(boundaries, np.full(len(boundaries), np.nan), communities)

    def _segmentation(self, decision: Decision, min_duration: float | None) -> Segmentation:
        """Return a decision as one object, with its levels, its intervals, and notes on it."""
        about: dict[str, Any] = {}
        notes = []
        n_frames, n_skipped = len(self.scores_), len(self.scores_) - len(self.seen_)
        if n_skipped:
            are = "row is" if n_skipped == 1 else "rows are"
            share = f"{n_skipped / n_frames:.1%} of {n_frames}"
            notes.append(f"{n_skipped} {are} missing and skipped ({share})")

        if self.evidence_ is not None:
            levels = levels_around(
                self.evidence_, self._levels, decision, min_duration=min_duration
            )
            about["levels"] = tuple(
                replace(level, boundaries=tuple(self.seen_[list(level.boundaries)].tolist()))
                for level in levels
            )
            about["n_events_range"] = self.evidence_.n_events_range
            places = self.seen_[boundary_intervals(self.evidence_, decision.boundaries)]
            about["intervals"] = [(first, last) for first, last in places.tolist()]

            known = self._known
            if known is not None and known != NOTHING:
                notes.append(f"learned from {known.name or 'examples'}: {known}")
            if self._signal is not None and self._signal.note:
                notes.append(self._signal.note)
            if self._note_of_drift and len(decision.boundaries) == self.evidence_.agreed_number:
                notes.append(self._note_of_drift)
            if len(decision.boundaries) == self.evidence_.agreed_number == 0:
                notes.append(self._why_one_event(self.evidence_, levels))
            elif self.evidence_.why_unlike:
                notes.append(self.evidence_.why_unlike)

        return Segmentation.from_boundaries(
            self.seen_[decision.boundaries],
            n_frames,
            communities=decision.communities[self._seen_of_frame].tolist(),
            confidences=decision.confidence,
            required=np.setdiff1d(self._required, self._at_breaks),
            pauses=self._at_breaks,
            scores=self.scores_,
            times=None if self._times is None else self._times.seconds,
            clock=None if self._times is None else self._times.clock,
            notes=tuple(notes),
            **about,
        )

    def _why_one_event(self, evidence: Evidence, levels: tuple[NestedLevel, ...]) -> str:
        """Say why the usual level has one event, and what a finer one has."""
        why = evidence.why_one_event or "no boundary stands out"
        if len(self.seen_) < FEWEST_FRAMES:
            why = f"fewer than {FEWEST_FRAMES} frames"
        finer = next((len(one.boundaries) + 1 for one in levels if one.level == 1), None)
        return f"one event: {why}" + (f"; level 1 has {finer} events" if finer else "")


def true_boundaries(y: Any, n_frames: int) -> IntArray:
    """Return the boundaries of a labelling; raise ValueError if a frame has no label.

    Parameters
    ----------
    y : array-like of shape (n_frames,)
        Labels that change where a new event begins: numbers or strings.
    n_frames : int
        Length of the sequence.
    """
    labels = np.asarray(y)
    if labels.shape != (n_frames,):
        raise ValueError(
            f"y has shape {labels.shape} for {n_frames} frames; pass the event of every frame, "
            "not the boundaries (dayline.events.boundaries_to_labels converts them)"
        )
    # Only NaN differs from itself; it would differ from the label before it, too, and count as a
    # boundary.
    missing = [k for k, label in enumerate(labels.tolist()) if label is None or label != label]
    if missing:
        raise ValueError(
            f"y: {list_frames(missing)} {'has' if len(missing) == 1 else 'have'} no label"
        )
    return labels_to_boundaries(labels)
