"""Constraints: frames that must be boundaries (required), and frames that must not be (forbidden)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeAlias

import numpy as np

from dayline.arrays import FloatArray, IntArray
from dayline.checks import show_value

__all__ = ["Frames", "forbidden_frames", "frames_given", "required_frames"]

Frames: TypeAlias = Iterable[int | tuple[int, int]]
"""Frames, or ranges (first, stop) that hold frames first .. stop-1."""


def frames_given(name: str, frames: Frames | None) -> tuple[int | tuple[int, int], ...]:
    """Return frames and ranges as a tuple, empty for None; raise ValueError for anything but a list of them."""
    if frames is None:
        return ()
    if not isinstance(frames, Iterable) or isinstance(frames, (str, bytes)):
        raise ValueError(f"{name}={show_value(frames)}; give a list of frames or ranges, such as [50, (60, 70)]")
    return tuple(frames)


def required_frames(must: Frames, scores: FloatArray, *, forbidden: IntArray) -> IntArray:
    """Return the frames that must be boundaries; of a range, the allowed frame with the highest score.

    Parameters
    ----------
    must : iterable of int or (int, int)
        Frames or ranges.
    scores : ndarray of shape (n_frames,)
        Boundary score of every frame.
    forbidden : ndarray of int
        Frames that must not be boundaries; a frame in both is a contradiction.
    """
    chosen = []
    for first, stop in _ranges(must, len(scores), "must"):
        allowed = np.setdiff1d(np.arange(first, stop), forbidden)
        if len(allowed) == 0:
            what = f"frame {first}" if stop == first + 1 else f"frames {first} to {stop - 1}"
            raise ValueError(f"must and must_not contradict each other at {what}; drop one of them")
        chosen.append(int(allowed[np.argmax(scores[allowed])]))
    return np.unique(np.asarray(chosen, dtype=np.int64))


def forbidden_frames(must_not: Frames, n_frames: int) -> IntArray:
    """Return the frames that must not be boundaries."""
    frames = [np.arange(first, stop) for first, stop in _ranges(must_not, n_frames, "must_not")]
    return np.unique(np.concatenate(frames)) if frames else np.zeros(0, dtype=np.int64)


def _ranges(items: Frames, n_frames: int, name: str) -> list[tuple[int, int]]:
    ranges = []
    for item in items:
        first, stop = _as_range(item, name)
        if first >= stop:
            shown = f"({show_value(first)}, {show_value(stop)})"
            raise ValueError(f"{name}: range {shown} is empty; give (first, stop) with first < stop")
        if not 1 <= first < stop <= n_frames:
            one = stop == first + 1
            frames = f"frame {show_value(first)}" if one else f"range {show_value(first)} to {show_value(stop)}"
            raise ValueError(f"{name}: {frames} cannot be a boundary; boundaries are at 1 to {n_frames - 1}")
        ranges.append((first, stop))
    return ranges


def _as_range(item: Any, name: str) -> tuple[int, int]:
    if isinstance(item, (int, np.integer)) and not isinstance(item, bool):
        return int(item), int(item) + 1
    if isinstance(item, tuple) and len(item) == 2 and all(isinstance(i, (int, np.integer)) for i in item):
        return int(item[0]), int(item[1])
    raise ValueError(f"{name}: {show_value(item)} is neither a frame number nor a range (first, stop)")
