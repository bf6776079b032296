"""Hard cuts between consecutive frames of a video."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dayline.arrays import FloatArray

__all__ = ["Changes", "changes", "hard_cut"]

LEAST_CHANGE = 4.0
"""Levels of 255, on average over the image; below that, two shots cannot be told from noise and compression."""

LARGEST_CHANGE = 32.0
"""Levels that a single pixel may count: a cut changes the whole image, a thing that appears a small part strongly."""

STANDS_OUT = 2.0
"""A hard cut changes the image at least this many times as much as any other pair of frames nearby."""

LEAST_SHARE = 0.5
"""Share of the change between the frames before and after that happens at a hard cut; in a dissolve it is spread."""

LARGEST_SHIFT = 1
"""Pixels of the small images by which the camera may move between two frames; 3 % of an image of 32 x 18 pixels."""

REACH = 4
"""Frames before and after a frame, whose means are compared."""


@dataclass(frozen=True)
class Changes:
    """How much the image changes at each of several consecutive frames.

    Attributes
    ----------
    step : ndarray of shape (n_frames,)
        Change from the previous frame in levels of 255, 0 at the first frame. A flash of one frame, after which the
        image is what it was, counts as little.
    share : ndarray of shape (n_frames,)
        Change from the previous frame, relative to that from the mean of the frames before to the mean of those
        from here on; about 1 at a hard cut.
    """

    step: FloatArray
    share: FloatArray


def changes(images: Sequence[NDArray[np.uint8]]) -> Changes:
    """Measure how much consecutive images change, beyond what a small movement of the camera explains.

    Parameters
    ----------
    images : sequence of arrays of shape (height, width, 3)
        Small images of consecutive frames, all of one shape.
    """
    x = np.asarray(images, dtype=np.float32)
    n = len(x)
    if n < 2:
        return Changes(np.zeros(n), np.zeros(n))
    lags = {lag: np.full(n + 1, np.inf) for lag in (1, 2, 3)}
    for lag, values in lags.items():
        values[lag:n] = _difference(x[lag:], x[:-lag])
    # At a hard cut, both frames after it differ from both frames before it.
    step = np.minimum.reduce([lags[1][1:n], lags[2][1:n], lags[2][2 : n + 1], lags[3][2 : n + 1]])
    sums = np.concatenate([np.zeros_like(x[:1], dtype=np.float64), np.cumsum(x, axis=0, dtype=np.float64)])
    here = np.arange(1, n)
    low, high = np.maximum(here - REACH, 0), np.minimum(here + REACH, n)
    before = (sums[here] - sums[low]) / (here - low)[:, None, None, None]
    after = (sums[high] - sums[here]) / (high - here)[:, None, None, None]
    share = step / np.maximum(_difference(after.astype(np.float32), before.astype(np.float32)), 1e-9)
    return Changes(np.concatenate([[0.0], step]), np.concatenate([[0.0], share]))


def _difference(a: NDArray[Any], b: NDArray[Any]) -> FloatArray:
    """Return the mean difference of each image of `a` to that of `b`, shifted so that the two are most alike."""
    height, width = a.shape[1:3]
    down, right = (min(LARGEST_SHIFT, side // 8) for side in (height, width))
    best = np.full(len(a), np.inf)
    for dy in range(-down, down + 1):
        for dx in range(-right, right + 1):
            here = a[:, max(dy, 0) : height + min(dy, 0), max(dx, 0) : width + min(dx, 0)]
            there = b[:, max(-dy, 0) : height + min(-dy, 0), max(-dx, 0) : width + min(-dx, 0)]
            levels = np.minimum(np.abs(here - there), LARGEST_CHANGE)
            best = np.minimum(best, np.mean(levels, axis=(1, 2, 3)))
    return best


def hard_cut(found: Changes, first: int, stop: int) -> int | None:
    """Return the frame of `first` .. `stop`-1 that starts a new shot with a hard cut, or None if none stands out.

    Parameters
    ----------
    found : Changes
        What `changes` returned.
    first, stop : int
        The frames to choose from; those outside have no say.
    """
    step = found.step[first:stop]
    if len(step) == 0:
        return None
    best = int(np.argmax(step))
    # Next to a cut, a frame mixed of both shots changes too.
    others = np.concatenate([step[: max(best - 1, 0)], step[best + 2 :]])
    stands_out = step[best] >= max(LEAST_CHANGE, STANDS_OUT * float(np.max(others, initial=0.0)))
    return first + best if stands_out and found.share[first + best] >= LEAST_SHARE else None
