"""The check for random walks, whose frames wander without events."""

from __future__ import annotations

import numpy as np

from dayline.arrays import Array, FloatArray, IntArray, row_blocks, to_numpy
from dayline.method.denoise import ScaledRows

__all__ = ["is_random_walk"]

LAGS = 4
"""Steps among which any two must be unrelated."""

DEVIATIONS = 4.0
"""Standard deviations from which on a correlation is not chance."""

LEAST_STEPS = 256
"""Independent steps, over all directions, from which on a correlation of a quarter is not chance."""

UNEVEN = 1.3
"""Mean square of squared step lengths, over that of a Gaussian walk, above which some steps stand out."""

MOST_STEPS = 512
"""Steps whose directions are counted."""


def is_random_walk(x: Array | ScaledRows) -> bool:
    """Return whether the steps from frame to frame are unrelated, and none stands out.

    Within an event steps are related, because frames return to what they show; at a hard cut a step stands out. Every
    recording of the development sets differs from a walk in one way or the other. A walk with a few huge steps passes
    for a recording with cuts.

    Parameters
    ----------
    x : array or ScaledRows of shape (n_frames, n_dims)
        Standardized features.
    """
    n = len(x) - 1
    if n * x.shape[1] < LEAST_STEPS:
        return False

    def rows(which: slice | IntArray) -> FloatArray:
        return to_numpy(x[which]).astype(np.float64, copy=False)

    drift = (rows(slice(n, n + 1)) - rows(slice(1))) / n
    seen, squares, fourths, products = 0, 0.0, 0.0, np.zeros(LAGS)
    for block in row_blocks(x):
        size = min(block.stop, n) - block.start
        steps = np.diff(rows(slice(block.start, block.stop + LAGS + 1)), axis=0) - drift
        lengths = np.einsum("ij,ij->i", steps[:size], steps[:size])
        seen, squares, fourths = seen + size, squares + float(lengths.sum()), fourths + float(lengths @ lengths)
        for lag in range(1, LAGS + 1):
            later = steps[lag : size + lag]
            products[lag - 1] += float(np.vdot(steps[: len(later)], later))
        # The first frames tell most recordings from a walk, even from one in a single direction.
        if seen >= LEAST_STEPS and not _is_walk(seen, 1.0, squares, fourths, products):
            return False
    some = np.sort(np.random.default_rng(0).choice(n, min(n, MOST_STEPS), replace=False))
    steps = rows(some + 1) - rows(some) - drift
    gram = steps @ steps.T if len(steps) <= steps.shape[1] else steps.T @ steps
    # As many directions of equal variance would have this covariance.
    n_directions = float(np.trace(gram)) ** 2 / max(float(np.sum(gram * gram)), 1e-300)
    return n * n_directions >= LEAST_STEPS and _is_walk(n, n_directions, squares, fourths, products)


def _is_walk(n_steps: int, n_directions: float, squares: float, fourths: float, products: FloatArray) -> bool:
    """Judge by sums over steps: of squared lengths, of their squares, and of the products with later steps."""
    if squares == 0:
        return False
    related = float(np.abs(products).max()) / squares * np.sqrt(n_steps * n_directions)
    uneven = n_steps * fourths / squares**2 / (1.0 + 2.0 / n_directions)
    return bool(related < DEVIATIONS and uneven < UNEVEN)
