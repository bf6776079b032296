"""Candidates as what is learned from labeled recordings sees them: a few numbers for each."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dayline.arrays import Array, FloatArray, IntArray, to_numpy
from dayline.decision.contexts import context_scores
from dayline.decision.partition import Hierarchy
from dayline.method.denoise import ScaledRows

COLUMNS = ("rank", "chosen", "height", "change in 8", "change in 32", "spacing")
"""What is known of a candidate: log of its rank over the number of boundaries that the default
takes; 1 if that takes it, else 0; log of its height over the split; the distance of past and future
in windows of 8 and of 32 frames, in standard deviations above the median of the sequence; and log
of the distance to the nearest higher candidate over the usual duration of events."""

BESIDE = 2
"""Frames that candidates of two hierarchies may be apart and still be the same."""

MOST = 5.0
"""No number is larger than this, or smaller than its negative."""

REACH, FARTHEST = 8, 4.0
"""Frames on either side whose features are compared, and the standard deviations beyond which a
value does not count more."""


@dataclass(frozen=True, eq=False)
class Candidates:
    """The candidates of one sequence, those of its hierarchy first, and the lower ones after them.

    Attributes
    ----------
    boundaries : ndarray of int
        Frames.
    is_clear : ndarray of bool
        False for those as low as noise.
    columns : ndarray of shape (n_candidates, 6)
        See `COLUMNS`.
    change, level : ndarray of shape (n_candidates, n_features)
        By how much each standardized feature differs between eight frames before and after, and its
        mean over both.
    n_usual : int
        How many of them, from the first on, the default takes.
    n_higher : int
        Candidates of the hierarchy; the others come without the slowness of the recording.
    n_frames : int
        Length of the sequence.
    """

    boundaries: IntArray
    is_clear: np.ndarray
    columns: FloatArray
    change: FloatArray
    level: FloatArray
    n_usual: int
    n_higher: int
    n_frames: int


def describe_candidates(
    usual: Hierarchy,
    finest: Hierarchy,
    strengths: FloatArray,
    is_clear: tuple[np.ndarray, np.ndarray],
    *,
    n_usual: int,
    directions: FloatArray,
    features: Array,
) -> Candidates:
    """Describe the candidates of a sequence.

    Parameters
    ----------
    usual, finest : Hierarchy
        That of the decision, and the one with the most candidates; without required boundaries.
    strengths : ndarray
        Log height over the split of each candidate of `finest`.
    is_clear : tuple of ndarray of bool
        Which candidates of both are higher than noise.
    n_usual : int
        Number of boundaries that the default takes.
    directions, features : array of shape (n_frames, n_dims) and (n_frames, n_features)
        The main directions of the frames, unit rows, and their features.
    """
    n = len(directions)
    near = np.zeros(n + 2 * BESIDE, dtype=bool)
    for shift in range(2 * BESIDE + 1):
        near[usual.boundaries + shift] = True
    is_new = ~near[finest.boundaries + BESIDE]
    boundaries = np.concatenate([usual.boundaries, finest.boundaries[is_new]])
    clear = np.concatenate([is_clear[0], is_clear[1][is_new]])

    rank = np.arange(len(boundaries))
    columns = np.column_stack(
        [
            np.log((rank + 1) / (n_usual + 1)),
            rank < n_usual,
            _strength_near(boundaries, finest.boundaries, strengths, n),
            _peaks(context_scores(directions, 8), boundaries),
            _peaks(context_scores(directions, 32), boundaries),
            np.log((_spacing(boundaries, n) + 1) * (n_usual + 1) / n),
        ]
    )
    change, level = contrast(features, boundaries)
    return Candidates(
        boundaries=boundaries,
        is_clear=clear,
        columns=np.clip(columns, -MOST, MOST),
        change=change,
        level=level,
        n_usual=n_usual,
        n_higher=len(usual.boundaries),
        n_frames=n,
    )


def contrast(features: Array, boundaries: IntArray) -> tuple[FloatArray, FloatArray]:
    """Return the change of each standardized feature at each boundary, and its level around it."""
    rows = ScaledRows.of(features)
    is_varying = to_numpy(rows.is_varying)
    change = np.zeros((len(boundaries), len(is_varying)))
    level = np.zeros_like(change)
    for k, b in enumerate(boundaries.tolist() if is_varying.any() else ()):
        start = max(b - REACH, 0)
        beside = np.clip(rows[start : b + REACH], -FARTHEST, FARTHEST)
        past, future = beside[: b - start].mean(axis=0), beside[b - start :].mean(axis=0)
        change[k, is_varying], level[k, is_varying] = abs(future - past), (past + future) / 2
    return change, level


def _strength_near(
    boundaries: IntArray, frames: IntArray, strengths: FloatArray, n: int
) -> FloatArray:
    """Return the highest strength beside each boundary; a little below the lowest if none is."""
    from scipy.ndimage import maximum_filter1d

    at = np.full(n, min(float(np.min(strengths, initial=-1.0)), -1.0) - 0.5)
    at[frames] = strengths
    return np.asarray(maximum_filter1d(at, 2 * BESIDE + 1)[boundaries])


def _peaks(scores: FloatArray, boundaries: IntArray) -> FloatArray:
    """Return the highest score of each boundary and the frames beside it, standardized."""
    from scipy.ndimage import maximum_filter1d

    usual = (scores - np.median(scores)) / (np.std(scores) + 1e-9)
    return np.asarray(maximum_filter1d(usual, 3)[boundaries])


def _spacing(boundaries: IntArray, n: int) -> FloatArray:
    """Return the frames from each boundary to the nearest of those before it, or to an end."""
    import bisect

    placed, found = [0, n], []
    for b in boundaries.tolist():
        k = bisect.bisect(placed, b)
        found.append(min(b - placed[k - 1], placed[k] - b))
        placed.insert(k, b)
    return np.asarray(found, dtype=np.float64)
