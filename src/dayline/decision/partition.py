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
    """Cut a sequence of vectors where it pays most: the optimal partition.

    Maximises the sum over events of length times squared length of the event's mean, minus the price of every
    boundary. Exact dynamic programming; starts that can no longer win are dropped, so it is near linear where
    events are short.

    Parameters
    ----------
    x : array of shape (n_frames, n_dims)
        Vectors, usually unit rows of an embedding.
    penalty : float >= 0 or ndarray of shape (n_frames,)
        Price of a boundary, the same everywhere or by frame; infinity forbids it.
    min_length : int >= 1
        Fewest frames of an event; not looked at where `candidates` are given.
    candidates : iterable of int, optional
        Only these frames may become boundaries.
    """
    check_between("min_length", min_length, 1, whole=True)
    u = check_rows(x)
    n = len(u)
    min_length = min(min_length, n + 1)
    sums = np.concatenate([np.zeros((1, u.shape[1])), np.cumsum(u, axis=0)])
    prices = _prices(penalty, n)
    if candidates is None:
        positions, least = np.arange(n + 1), min_length
    else:
        positions, least = np.union1d([0, n], _frames(candidates, n)), 1
    allowed = np.isfinite(prices[positions])
    return _best_path(sums, positions[allowed], prices, least)


def _prices(penalty: float | FloatArray, n_frames: int) -> FloatArray:
    """Price of a boundary at every frame; neither end of the sequence costs anything."""
    try:
        prices = np.zeros(n_frames + 1)
        prices[:-1] = penalty
    except (OverflowError, TypeError, ValueError):
        prices[:-1] = np.nan
    prices[0] = 0.0
    if not np.all(prices >= 0):
        raise ValueError(f"penalty={show_value(penalty)}; it must be a number of at least 0, or one for each frame")
    return prices


def _frames(candidates: Iterable[int], n_frames: int) -> IntArray:
    frames = np.asarray(list(candidates) if isinstance(candidates, Iterable) else candidates)
    if frames.size == 0:
        return np.zeros(0, dtype=np.int64)
    if frames.ndim != 1 or frames.dtype.kind not in "iu" or frames.min() < 0 or frames.max() > n_frames:
        raise ValueError(f"candidates={show_value(candidates)}; give frames of this sequence, 1 to {n_frames - 1}")
    return frames.astype(np.int64)


def partition_between(
    x: FloatArray, prices: FloatArray, fixed: IntArray, *, among: IntArray | None = None
) -> IntArray:
    """Find the best partition of every piece between fixed boundaries; those are returned too.

    Parameters
    ----------
    x, prices : ndarray of shape (n_frames, n_dims) and (n_frames,)
        As for `partition`.
    fixed : ndarray of int
        Boundaries that stay, whatever they cost.
    among : ndarray of int, optional
        Only these frames may become boundaries.
    """
    pieces = [fixed]
    for start, stop in pairwise([0, *fixed.tolist(), len(x)]):
        if among is None:
            if stop - start > 1:
                pieces.append(start + partition(x[start:stop], penalty=prices[start:stop]))
            continue
        inside = among[(among > start) & (among < stop)] - start
        if len(inside):
            pieces.append(start + partition(x[start:stop], penalty=prices[start:stop], candidates=inside.tolist()))
    return np.unique(np.concatenate(pieces))


def _best_path(sums: FloatArray, positions: IntArray, prices: FloatArray, min_length: int) -> IntArray:
    """Find the best chain of positions from the first to the last."""
    best = np.full(len(positions), -np.inf)
    best[0] = 0.0
    previous = np.zeros(len(positions), dtype=np.int64)
    net_prices = prices[positions]
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
        gain = best[starts] - net_prices[starts] + np.einsum("ij,ij->i", run, run) / (stop - positions[starts])
        winner = int(np.argmax(gain))
        best[k], previous[k] = gain[winner], starts[winner]
        # Splitting an event never lowers the sum, so a start that does not even reach `stop` with the price of
        # a boundary there paid loses to it for all ends that leave room for an event after `stop`.
        beaten = starts[gain <= best[k] - net_prices[k]]
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
