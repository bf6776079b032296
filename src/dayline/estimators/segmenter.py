"""EventSegmenter: the event number of each frame."""

from __future__ import annotations

import math
from typing import Any, Literal, Self, Unpack

from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import validate_data

from dayline.arrays import FloatArray, IntArray
from dayline.boundaries import context_distance, partition, persistence, pick_boundaries
from dayline.checks import Missing, check_between, check_choice, check_features
from dayline.denoise import standardize
from dayline.dge import OnStep
from dayline.estimators.embedder import DynamicGraphEmbedding, EmbeddingParameters
from dayline.events import Segmentation, boundaries_to_labels
from dayline.graph import unit_rows

__all__ = ["EventSegmenter"]


class EventSegmenter(BaseEstimator):  # type: ignore[misc]
    """Split a sequence of feature vectors into events; their number need not be known.

    Parameters
    ----------
    embedding : DynamicGraphEmbedding, optional
        How frames are embedded; our default where None.
    detector : {"partition", "ces"}, default="partition"
        "partition" cuts the embedding where it pays most; "ces" is the paper's rule: local maxima of the distance
        between past and future.
    window, order : int, default=8 and 5
        Frames averaged on either side for the boundary score, and how far a local maximum must reach ("ces").
    missing : {"raise", "interpolate"}, default="raise"
        What to do about NaN and infinity.
    device : str or None, default=None
        Where to work ("cpu", "torch", "cuda", "mps"); None leaves it to `embedding`.
    random_state : int or None, default=None
        Seed; None leaves it to `embedding`, whose default is 0.

    Attributes
    ----------
    boundaries_ : ndarray of int
        First frame of every event but the first, increasing.
    labels_ : ndarray of int, shape (n_frames,)
        Event number of each frame.
    scores_ : ndarray of shape (n_frames,)
        Distance of past and future at each frame.
    events_ : tuple of Event
        The events with their communities.
    communities_, embedding_
        Of `embedder_`, the fitted embedding.
    """

    def __init__(
        self,
        embedding: DynamicGraphEmbedding | None = None,
        *,
        detector: Literal["partition", "ces"] = "partition",
        window: int = 8,
        order: int = 5,
        missing: Missing = "raise",
        device: str | None = None,
        random_state: int | None = None,
    ) -> None:
        self.embedding = embedding
        self.detector = detector
        self.window = window
        self.order = order
        self.missing = missing
        self.device = device
        self.random_state = random_state

    @classmethod
    def paper(cls, **changes: Unpack[EmbeddingParameters]) -> Self:
        """Embed as the paper's text says and detect boundaries by the CES rule."""
        return cls(DynamicGraphEmbedding.paper(**changes), detector="ces")

    @classmethod
    def authors(cls, **changes: Unpack[EmbeddingParameters]) -> Self:
        """Embed as the authors' notebook does and detect boundaries by the CES rule."""
        return cls(DynamicGraphEmbedding.authors(**changes), detector="ces")

    def fit(self, X: Any, y: None = None) -> Self:  # noqa: ARG002
        """Find the events of one sequence.

        Parameters
        ----------
        X : array-like of shape (n_frames, n_features)
            One row per frame, in order. Never modified.
        y : None
            Ignored.
        """
        return self._fit(X)

    def fit_predict(self, X: Any, y: None = None) -> IntArray:  # noqa: ARG002
        """Find the events of one sequence and return the event number of each frame."""
        labels: IntArray = self._fit(X).labels_
        return labels

    def segment(self, X: Any, *, times: FloatArray | None = None, on_step: OnStep | None = None) -> Segmentation:
        """Find the events of one sequence and return them as one object, ready to be saved.

        Parameters
        ----------
        X : array-like of shape (n_frames, n_features)
            One row per frame, in order.
        times : array-like of shape (n_frames,), optional
            Time of every frame in seconds; kept with the events.
        on_step : callable, optional
            Called as on_step(what, done, total) before every stage.
        """
        self._fit(X, on_step)
        return Segmentation.from_boundaries(
            self.boundaries_,
            len(self.labels_),
            communities=self.communities_.tolist(),
            scores=tuple(self.scores_.tolist()),
            times=None if times is None else tuple(float(t) for t in times),
        )

    def _fit(self, X: Any, on_step: OnStep | None = None) -> Self:
        check_choice("detector", self.detector, ("partition", "ces"))
        check_between("window", self.window, 1, whole=True)
        check_between("order", self.order, 1, whole=True)
        numbers = validate_data(self, X, dtype="numeric", ensure_all_finite=False)
        features = check_features(numbers, missing=self.missing)
        self.embedder_ = self._embedder().learn(features, on_step)
        self.embedding_: FloatArray = self.embedder_.embedding_
        self.communities_: IntArray = self.embedder_.communities_
        self.scores_ = context_distance(self.embedding_, window=self.window)
        self.boundaries_ = self._boundaries(features)
        self.labels_ = boundaries_to_labels(self.boundaries_, len(features))
        self.events_ = Segmentation.from_boundaries(
            self.boundaries_, len(features), communities=self.communities_.tolist()
        ).events
        return self

    def _embedder(self) -> DynamicGraphEmbedding:
        embedder: DynamicGraphEmbedding = DynamicGraphEmbedding() if self.embedding is None else clone(self.embedding)
        for name in ("device", "random_state"):
            if getattr(self, name) is not None:
                embedder.set_params(**{name: getattr(self, name)})
        return embedder

    def _boundaries(self, features: FloatArray) -> IntArray:
        if self.detector == "ces":
            return pick_boundaries(self.scores_, order=self.order)
        penalty = min(persistence(standardize(features)), 1.2 * math.log(max(len(features), 2)))
        return partition(unit_rows(self.embedding_), penalty=penalty)
