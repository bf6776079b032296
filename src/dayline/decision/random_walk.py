"""The check for random walks, whose frames wander without events."""

from __future__ import annotations

import numpy as np

from dayline.arrays import Array, FloatArray, IntArray, row_blocks, to_numpy
from dayline.method.denoise import ScaledRows

__all__ = ["is_random_walk"]

DEVIATIONS = 4.0
"""Standard deviations from which on a variance ratio is not chance."""

LEAST_FRAMES = 256
"""Frames of a shorter sequence do not wander long enough to be told from a few smooth events."""

LEAST_STEPS = 256
"""Independent steps, over all directions, from which on a correlation of a quarter is not chance."""

UNEVEN = 1.3
"""Mean square of squared step lengths, over that of a Gaussian walk, above which some steps stand out."""

MOST_DIRECTIONS = 64
"""Directions that count. Standardized, columns that happen to wander less weigh more. This lowers the ratios by up to
a third of their standard deviation in one direction; four standard deviations in 64 directions are half of it."""

SOME = 512
"""Frames that tell most recordings from a walk, and steps whose directions are counted."""


def is_random_walk(x: Array | ScaledRows) -> bool:
    """Return whether frames wander as far as unrelated steps would take them, and no step stands out.

    The variance ratio of Lo and MacKinlay (1988): in a walk, the mean squared distance of frames grows in proportion
    to the time between them, for 2, 4, 8, ... frames, up to an eighth of the sequence. Within an event frames return
    to what they show; at a hard cut a step stands out. Every recording of the development sets differs from a walk
    in one way or the other. A walk with a few huge steps passes for a recording with cuts, and a short recording that
    is averaged over a moving window may pass for a walk.

    Parameters
    ----------
    x : array or ScaledRows of shape (n_frames, n_dims)
        Standardized features.
    """
    n = len(x) - 1
    # A part of a walk is a walk, whatever its directions.
    if n < LEAST_FRAMES or n * x.shape[1] < LEAST_STEPS or not _wanders(_rows(x, slice(SOME)), n_directions=1.0):
        return False
    some = np.sort(np.random.default_rng(0).choice(n, min(n, SOME), replace=False))
    steps = _rows(x, some + 1) - _rows(x, some) - _drift(x)
    gram = steps @ steps.T if len(steps) <= steps.shape[1] else steps.T @ steps
    # As many directions of equal variance would have this covariance.
    n_directions = float(np.trace(gram)) ** 2 / max(float(np.sum(gram * gram)), 1e-300)
    if n * n_directions < LEAST_STEPS:
        return False
    return _wanders(x, min(n_directions, MOST_DIRECTIONS)) and not _has_long_steps(x, n_directions)


def _wanders(x: Array | ScaledRows, n_directions: float) -> bool:
    """Return whether the squared distance of frames grows as that of a walk in so many directions."""
    n = len(x) - 1
    square = float(_squared_distances(x, 1).mean())
    lag = 2
    while square > 0 and lag <= n // 8:
        # Without the drift of the sequence, its frames come nearer to each other.
        ratio = float(_squared_distances(x, lag).mean()) / (lag * square * (1.0 - lag / n))
        deviation = np.sqrt(2 * (2 * lag - 1) * (lag - 1) / (3 * lag * n * n_directions))
        if abs(ratio - 1.0) > DEVIATIONS * deviation:
            return False
        lag *= 2
    return square > 0


def _has_long_steps(x: Array | ScaledRows, n_directions: float) -> bool:
    squares = _squared_distances(x, 1)
    return bool(np.mean(squares**2) > UNEVEN * np.mean(squares) ** 2 * (1.0 + 2.0 / n_directions))


def _squared_distances(x: Array | ScaledRows, lag: int) -> FloatArray:
    """Squared distance of frames that far apart, after the drift of the whole sequence is taken out."""
    found, drift = np.empty(len(x) - lag), lag * _drift(x)
    for block in row_blocks(x):
        stop = min(block.stop, len(found))
        if block.start < stop:
            apart = _rows(x, slice(block.start + lag, stop + lag)) - _rows(x, slice(block.start, stop)) - drift
            found[block.start : stop] = np.einsum("ij,ij->i", apart, apart)
    return found


def _drift(x: Array | ScaledRows) -> FloatArray:
    n = len(x) - 1
    return np.asarray((_rows(x, slice(n, n + 1)) - _rows(x, slice(1))) / n)


def _rows(x: Array | ScaledRows, which: slice | IntArray) -> FloatArray:
    return to_numpy(x[which]).astype(np.float64, copy=False)
