"""The optimal partition of a sequence of vectors, by dynamic programming."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

import numpy as np

from dayline.arrays import Array, FloatArray, IntArray
from dayline.checks import check_between, check_rows, show_value

__all__ = ["partition", "partition_between", "trace_back"]


def partition(
    x: Array,
    *,
    penalty: float | FloatArray,
    min_length: int = 2,
    candidates: Iterable[int] | None = None,
) -> IntArray:
    """Find the optimal partition of a sequence of vectors.

    Maximises the sum over events of length times squared length of the event's mean, minus the penalty of every
    boundary. Exact dynamic programming; starts that can no longer win are dropped, so it is nearly linear if
    events are short.

    Parameters
    ----------
    x : array of shape (n_frames, n_dims)
        Vectors, usually unit rows of an embedding.
    penalty : float >= 0 or ndarray of shape (n_frames,)
        Penalty of a boundary, the same everywhere or by frame; infinity forbids it.
    min_length : int >= 1
        Fewest frames of an event; ignored if `candidates` are given.
    candidates : iterable of int, optional
        Only these frames may become boundaries.
    """
    check_between("min_length", min_length, 1, whole=True)
    u = check_rows(x)
    n = len(u)
    min_length = min(min_length, n + 1)
    sums = np.concatenate([np.zeros((1, u.shape[1])), np.cumsum(u, axis=0)])
    penalties = _penalty_by_frame(penalty, n)
    if candidates is None:
        positions, least = np.arange(n + 1), min_length
    else:
        positions, least = np.union1d([0, n], _frames(candidates, n)), 1
    allowed = np.isfinite(penalties[positions])
    return _best_path(sums, positions[allowed], penalties, least)


def _penalty_by_frame(penalty: float | FloatArray, n_frames: int) -> FloatArray:
    """Return the penalty of a boundary at every frame; neither end of the sequence has one."""
    try:
        penalties = np.zeros(n_frames + 1)
        penalties[:-1] = penalty
    except (OverflowError, TypeError, ValueError):
        penalties[:-1] = np.nan
    penalties[0] = 0.0
    if not np.all(penalties >= 0):
        raise ValueError(f"penalty={show_value(penalty)}; it must be a number of at least 0, or one for each frame")
    return penalties


def _frames(candidates: Iterable[int], n_frames: int) -> IntArray:
    frames = np.asarray(list(candidates) if isinstance(candidates, Iterable) else candidates)
    if frames.size == 0:
        return np.zeros(0, dtype=np.int64)
    if frames.ndim != 1 or frames.dtype.kind not in "iu" or frames.min() < 0 or frames.max() > n_frames:
        raise ValueError(f"candidates={show_value(candidates)}; give frames of this sequence, 1 to {n_frames - 1}")
    return frames.astype(np.int64)


def partition_between(x: FloatArray, penalties: FloatArray, fixed: IntArray) -> IntArray:
    """Find the best partition of every piece between fixed boundaries; those are returned too.

    Parameters
    ----------
    x, penalties : ndarray of shape (n_frames, n_dims) and (n_frames,)
        As for `partition`.
    fixed : ndarray of int
        Boundaries that stay, whatever their penalty.
    """
    pieces = [fixed]
    for start, stop in pairwise([0, *fixed.tolist(), len(x)]):
        if stop - start > 1:
            pieces.append(start + partition(x[start:stop], penalty=penalties[start:stop]))
    return np.unique(np.concatenate(pieces))


def _best_path(sums: FloatArray, positions: IntArray, penalties: FloatArray, min_length: int) -> IntArray:
    """Find the best chain of positions from the first to the last."""
    best = np.full(len(positions), -np.inf)
    best[0] = 0.0
    previous = np.zeros(len(positions), dtype=np.int64)
    penalty_at = penalties[positions]
    starts = np.zeros(0, dtype=np.int64)
    entered = 0
    drop_at: list[tuple[int, IntArray]] = []
    dropped = np.zeros(len(positions), dtype=bool)
    for k in range(1, len(positions)):
        stop = int(positions[k])
        entering = entered + int(np.searchsorted(positions[entered:k], stop - min_length, side="right"))
        starts = np.append(starts, np.arange(entered, entering))
        entered = entering
        while drop_at and drop_at[0][0] <= stop:
            dropped[drop_at.pop(0)[1]] = True
            starts = starts[~dropped[starts]]
        if len(starts) == 0:
            continue
        run = sums[stop] - sums[positions[starts]]
        gain = best[starts] - penalty_at[starts] + np.einsum("ij,ij->i", run, run) / (stop - positions[starts])
        winner = int(np.argmax(gain))
        best[k], previous[k] = gain[winner], starts[winner]
        # Splitting an event never lowers the sum. A start that gains no more at `stop` than the best one less the
        # penalty there therefore loses to a boundary at `stop`, for every end at least `min_length` frames later.
        beaten = starts[gain <= best[k] - penalty_at[k]]
        if len(beaten):
            drop_at.append((stop + min_length, beaten))
    return trace_back(previous, positions)


def trace_back(previous: IntArray, positions: IntArray) -> IntArray:
    """Follow the best chain of positions from its last back to its first; neither end is a boundary."""
    boundaries = []
    at = int(previous[-1])
    while at > 0:
        boundaries.append(int(positions[at]))
        at = int(previous[at])
    return np.asarray(boundaries[::-1], dtype=np.int64)
