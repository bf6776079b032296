"""CES-VCP: the CES rule on the contexts of a network that predicts frames (see `context_predictor`).

A. Garcia del Molino, J.-H. Lim, A.-H. Tan: Predicting visual context for unsupervised event segmentation in
continuous photo-streams. ACM Multimedia 2018.

The network reads a sequence from either end. At a boundary, the context read from the past differs from the context
read from the future.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Self

import numpy as np

from dayline.arrays import FloatArray
from dayline.baselines.base import Baseline, check_n_events, store_boundaries, take_features
from dayline.baselines.ces import strongest_maxima
from dayline.baselines.context_predictor import ContextPredictor, load_predictor, predict_contexts, train_predictor
from dayline.checks import Missing, check_between, show_value
from dayline.decision.context_distance import pick_boundaries
from dayline.method.graph import unit_rows

__all__ = ["VisualContextSegmenter", "compare_contexts"]


def compare_contexts(past: FloatArray, future: FloatArray) -> FloatArray:
    """Score every frame by the distance of the context before it and the context after it.

    Parameters
    ----------
    past, future : ndarray of shape (n_frames, n_units)
        Context after reading the frames up to each one, and after reading those from the end back to it.

    Returns
    -------
    ndarray of shape (n_frames,)
        Cosine distance of past[t-1] and future[t+1]. The first two and the last two frames score 0.
    """
    scores = np.zeros(len(past))
    if len(past) >= 5:
        similarity = np.sum(unit_rows(past[:-2]) * unit_rows(future[2:]), axis=1)
        scores[2:-2] = np.maximum(1.0 - similarity, 0.0)[1:-1]
    return scores


class VisualContextSegmenter(Baseline):
    """Cut where the context read from the past differs from the one read from the future (CES-VCP).

    Parameters
    ----------
    n_events : int or None, default=None
        None keeps the local maxima above the mean of all local maxima; a number keeps the highest ones.
    predictor : ContextPredictor, path or None, default=None
        A trained network, or the .safetensors file that holds one. None trains one on the sequence itself, unlike the
        published system, which has a training set of many days.
    n_units, n_epochs, batch_size : int, default=64, 20 and 32
        Size of the network, passes over all windows and windows per step, if it is trained here. (Published, for its
        training set: 1,024 units, batches of 250.)
    learning_rate : float, default=0.001
        Learning rate of RMSprop.
    order : int, default=5
        Frames on either side that a local maximum must exceed.
    missing : {"raise", "interpolate"}, default="raise"
        How to handle NaN and infinity.
    device : str, default="cpu"
        PyTorch device.
    random_state : int or None, default=0
        Seed of the training.

    Attributes
    ----------
    boundaries_, labels_ : ndarray of int
        First frame of every event but the first, and the event number of each frame.
    scores_ : ndarray of shape (n_frames,)
        Distance of the contexts around each frame.
    predictor_ : ContextPredictor
        The network used.
    """

    def __init__(
        self,
        n_events: int | None = None,
        *,
        predictor: Any = None,
        n_units: int = 64,
        n_epochs: int = 20,
        batch_size: int = 32,
        learning_rate: float = 0.001,
        order: int = 5,
        missing: Missing = "raise",
        device: str = "cpu",
        random_state: int | None = 0,
    ) -> None:
        self.n_events = n_events
        self.predictor = predictor
        self.n_units = n_units
        self.n_epochs = n_epochs
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.order = order
        self.missing = missing
        self.device = device
        self.random_state = random_state

    def fit(self, X: Any, y: None = None) -> Self:  # noqa: ARG002
        """Find the events of one sequence, X of shape (n_frames, n_features); y is ignored."""
        check_between("order", self.order, 1, whole=True)
        features = take_features(self, X, missing=self.missing)
        check_n_events(self.n_events, len(features))
        self.predictor_ = self._predictor(features)
        self.scores_ = compare_contexts(*predict_contexts(self.predictor_, features, device=self.device))
        if np.all(features == features[0]):
            # Then the contexts differ only by how far the network has warmed up.
            self.scores_[:] = 0.0
        if self.n_events is None:
            boundaries = pick_boundaries(self.scores_, order=self.order)
        else:
            boundaries = strongest_maxima(self.scores_, n_boundaries=self.n_events - 1, order=self.order)
        return store_boundaries(self, boundaries, len(features))

    def _predictor(self, features: FloatArray) -> ContextPredictor:
        if isinstance(self.predictor, ContextPredictor):
            return self.predictor
        if isinstance(self.predictor, (str, Path)):
            return load_predictor(self.predictor)
        if self.predictor is not None:
            raise ValueError(
                f"predictor={show_value(self.predictor)}; give a ContextPredictor or the path of its file"
            )
        # A short sequence has fewer frames than the published window.
        half = max(min(10, len(features) // 2), 1)
        return train_predictor(
            [features if len(features) > 1 else np.repeat(features, 2, axis=0)],
            n_units=self.n_units,
            n_past=half,
            n_future=half,
            n_epochs=self.n_epochs,
            batch_size=self.batch_size,
            learning_rate=self.learning_rate,
            device=self.device,
            random_state=self.random_state,
        )
