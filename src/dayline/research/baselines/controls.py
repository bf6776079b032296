"""Controls: segmentations that ignore the frames."""

from __future__ import annotations

import numpy as np

from dayline.arrays import IntArray
from dayline.checks import LARGEST_COUNT, check_between, check_seed


def no_boundaries(n_frames: int) -> IntArray:
    """One event."""
    check_between("n_frames", n_frames, 1, LARGEST_COUNT, whole=True)
    return np.zeros(0, dtype=np.int64)


def equal_pieces(n_frames: int, n_events: int) -> IntArray:
    """Return events of equal length: frame i belongs to event floor(i n_events / n_frames)."""
    check_between("n_frames", n_frames, 1, LARGEST_COUNT, whole=True)
    check_between("n_events", n_events, 1, n_frames, whole=True)
    return np.asarray([-(-k * n_frames // n_events) for k in range(1, n_events)], dtype=np.int64)


def random_cuts(n_frames: int, n_events: int, *, random_state: int | None = 0) -> IntArray:
    """Boundaries at random, all sets of them equally likely."""
    check_between("n_frames", n_frames, 1, LARGEST_COUNT, whole=True)
    check_between("n_events", n_events, 1, n_frames, whole=True)
    check_seed(random_state, largest=np.inf)
    generator = np.random.default_rng(random_state)
    return np.sort(1 + generator.choice(n_frames - 1, n_events - 1, replace=False))
