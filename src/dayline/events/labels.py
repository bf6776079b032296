"""Boundaries <-> labels."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from dayline.arrays import IntArray

__all__ = ["boundaries_to_labels", "labels_to_boundaries"]


def boundaries_to_labels(boundaries: Iterable[int], n_frames: int) -> IntArray:
    """Number the events: 0 up to the first boundary, 1 from there to the next, and so on."""
    opens = np.zeros(n_frames, dtype=np.int64)
    opens[np.asarray(list(boundaries), dtype=np.int64)] = 1
    return np.cumsum(opens)


def labels_to_boundaries(labels: Iterable[Any]) -> IntArray:
    """Return the frames whose label differs from that of the previous frame."""
    values = np.asarray(list(labels) if not isinstance(labels, np.ndarray) else labels)
    return np.flatnonzero(values[1:] != values[:-1]) + 1
