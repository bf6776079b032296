"""What a figure can show of a result: whatever is known of its frames, boundaries and levels."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from dayline.arrays import Array, FloatArray, IntArray
from dayline.checks import check_features, show_value
from dayline.decision.decide import candidate_probabilities
from dayline.estimators import EventSegmenter
from dayline.events import Segmentation, labels_to_boundaries
from dayline.metrics import BoundaryScore, match_boundaries, score_boundaries
from dayline.report import Drawable

__all__ = ["Agreement", "Content", "agreement", "content_of", "main_columns"]

MOST_LEVELS = 9
MOST_COLUMNS = 16
"""Columns that a heat map shows; of more, the main directions."""


@dataclass(frozen=True)
class Content:
    """All that is known of a result.

    Attributes
    ----------
    segmentation : Segmentation
        The events.
    candidates : (ndarray of int, ndarray of float) or None
        Frames that might have become boundaries, and the probability of each.
    levels : tuple of ndarray of int
        Boundaries of some nested levels around the one used, coarsest first.
    embedding : ndarray of shape (n_frames, n_dims) or None
        The learnt vectors.
    graph : array or Drawable or None
        The learnt graph.
    """

    segmentation: Segmentation
    candidates: tuple[IntArray, FloatArray] | None = None
    levels: tuple[IntArray, ...] = ()
    embedding: FloatArray | None = None
    graph: Array | Drawable | None = None


def content_of(what: Any) -> Content:
    """Gather what is known of a segmenter, a segmentation, or what `segment_source` returns."""
    if isinstance(what, EventSegmenter):
        return _of_segmenter(what)
    if isinstance(what, Segmentation):
        return _of_segmentation(what)
    inner = getattr(what, "segmentation", None)
    if not isinstance(inner, Segmentation):
        raise TypeError(
            f"{show_value(what)} cannot be plotted; pass a fitted EventSegmenter, a Segmentation, or what "
            "segment_source returns"
        )
    found = _of_segmentation(inner)
    return Content(inner, found.candidates, found.levels, graph=getattr(what, "graph", None))


def _of_segmenter(segmenter: EventSegmenter) -> Content:
    check_is_fitted(segmenter)
    return Content(
        segmenter.segmentation_,
        None if segmenter.evidence_ is None else candidate_probabilities(segmenter.evidence_),
        _around([level.boundaries for level in segmenter.levels_], segmenter.boundaries_),
        segmenter.embedding_,
        segmenter.graph_,
    )


def _of_segmentation(segmentation: Segmentation) -> Content:
    levels = [np.asarray(level.boundaries, dtype=np.int64) for level in segmentation.levels]
    known = {e.start: e.confidence for e in segmentation.events[1:] if e.confidence is not None}
    for level in segmentation.levels:
        known = dict(zip(level.boundaries, level.confidences, strict=True)) | known
    frames = np.asarray(sorted(known), dtype=np.int64)
    candidates = (frames, np.asarray([known[frame] for frame in frames.tolist()])) if known else None
    return Content(segmentation, candidates, _around(levels, np.asarray(segmentation.boundaries)))


def _around(levels: Sequence[IntArray], used: IntArray) -> tuple[IntArray, ...]:
    """Return the levels nearest to the one used; the coarsest and finest of many are nearly none and all."""
    if len(levels) <= MOST_LEVELS:
        return tuple(levels)
    nearest = int(np.argmin([abs(len(level) - len(used)) for level in levels]))
    first = min(max(nearest - MOST_LEVELS // 2, 0), len(levels) - MOST_LEVELS)
    return tuple(levels[first : first + MOST_LEVELS])


@dataclass(frozen=True)
class Agreement:
    """Found and true boundaries: those that match, found ones that are not true, and true ones that were missed."""

    true: IntArray
    hits: IntArray
    wrong: IntArray
    missed: IntArray
    score: BoundaryScore
    tolerance: int


def agreement(segmentation: Segmentation, truth: Any, *, tolerance: int) -> Agreement:
    """Compare the boundaries of a segmentation with true ones.

    Parameters
    ----------
    segmentation : Segmentation
        What was found.
    truth : Segmentation, labels or boundaries
        As many values as frames are labels, one per frame; fewer are boundaries.
    tolerance : int
        Frames a boundary may be off.
    """
    n_frames, found = segmentation.n_frames, segmentation.boundaries
    true = _true_boundaries(truth, n_frames)
    # Interior, as `score_boundaries` counts them.
    true = true[true > 0]
    score = score_boundaries(found, true, tolerance=tolerance)
    pairs = match_boundaries(found, true, tolerance=tolerance)
    hits, met = np.asarray([f for f, _ in pairs], dtype=np.int64), [t for _, t in pairs]
    return Agreement(true, hits, np.setdiff1d(found, hits), np.setdiff1d(true, met), score, tolerance)


def _true_boundaries(truth: Any, n_frames: int) -> IntArray:
    if isinstance(truth, Segmentation):
        if truth.n_frames != n_frames:
            raise ValueError(f"truth has {truth.n_frames} frames, the result {n_frames}")
        return np.asarray(truth.boundaries, dtype=np.int64)
    if isinstance(truth, str) or not isinstance(truth, Iterable):
        raise ValueError(f"truth={show_value(truth)}; pass boundaries, labels or a Segmentation")
    values = np.asarray(truth if isinstance(truth, np.ndarray) else list(truth))
    if len(values) == n_frames and n_frames > 1:
        return labels_to_boundaries(values)
    # Checks that they are whole numbers within the sequence.
    score_boundaries([], values, n_frames=n_frames)
    return np.unique(values.astype(np.int64))


def main_columns(x: Any, n_frames: int) -> tuple[FloatArray, int]:
    """Return the columns of features, or their main directions if there are many, and the number of columns.

    Parameters
    ----------
    x : array-like of shape (n_frames, n_features)
        The features; missing values are interpolated.
    n_frames : int
        How many rows there must be.
    """
    features = check_features(x, missing="interpolate")
    n_columns = features.shape[1]
    if len(features) != n_frames:
        raise ValueError(f"X has {len(features)} rows, but the result {n_frames} frames")
    if n_columns <= MOST_COLUMNS:
        return features, n_columns
    from sklearn.decomposition import PCA

    n_directions = min(MOST_COLUMNS // 2, n_frames)
    return PCA(n_directions, svd_solver="randomized", random_state=0).fit_transform(features), n_columns
