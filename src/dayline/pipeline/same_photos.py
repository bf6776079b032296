"""Photos of an earlier result among the current ones, although they were moved or renamed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from pathlib import PurePosixPath
from typing import TypeAlias

import numpy as np

from dayline.arrays import IntArray
from dayline.events import Segmentation

__all__ = ["SAME_TIME_WITHIN", "same_photos"]

SAME_TIME_WITHIN = 1.0
"""Seconds by which the time of a frame may differ between runs."""

Marks: TypeAlias = list[Hashable]


def same_photos(
    saved: Segmentation,
    names: Sequence[str],
    times: Sequence[float] | None = None,
    sizes: Sequence[int] | None = None,
) -> IntArray:
    """Return the number that each current photo has in an earlier result; -1 if it is new.

    A photo is the same if it has the same path. If it was moved, its file name and its time are the same (without
    times, its size); if it was renamed, its time and its size (without sizes, its time and date). Photos that share
    all of this with another one are new, since it is unknown which is which.

    Parameters
    ----------
    saved : Segmentation
        The earlier result.
    names, times, sizes : sequences, optional
        Of the current photos.
    """
    then, now = saved.names or (), tuple(names)
    found = np.full(len(now), -1, dtype=np.int64)
    number = {name: k for k, name in enumerate(then)}
    by_path = [(frame, number[name]) for frame, name in enumerate(now) if name in number]
    if saved.clock == "media":
        for frame, k in by_path:
            found[frame] = k
        return found
    has_times, has_sizes = _both(saved.times, times), _both(saved.sizes, sizes)
    for frame, k in by_path:
        if not has_times or abs(_of(saved.times, k) - _of(times, frame)) <= SAME_TIME_WITHIN:
            found[frame] = k
    files = ([PurePosixPath(name).name for name in then], [PurePosixPath(name).name for name in now])
    # Milliseconds, since that is how exactly events.json gives times.
    moments = ([round(t, 3) for t in saved.times or ()], [round(t, 3) for t in times or ()])
    bytes_ = (list(saved.sizes or ()), list(sizes or ()))
    if has_times and has_sizes:
        _pair(found, *_marks(files, moments, bytes_))
    if has_times:
        _pair(found, *_marks(files, moments))
    elif has_sizes:
        _pair(found, *_marks(files, bytes_))
    if has_times and has_sizes:
        _pair(found, *_marks(moments, bytes_))
    # What is left has the path of another photo, or its time was changed.
    used = set(found.tolist())
    for frame, k in by_path:
        if found[frame] < 0 and k not in used:
            found[frame] = k
    if has_times and not has_sizes and saved.is_dated:
        _pair(found, *_marks(moments))
    return found


def _both(then: Sequence[float] | None, now: Sequence[float] | None) -> bool:
    return then is not None and now is not None


def _of(values: Sequence[float] | None, k: int) -> float:
    return float("nan") if values is None else values[k]


def _marks(*columns: tuple[Sequence[Hashable], Sequence[Hashable]]) -> tuple[Marks, Marks]:
    """Return what identifies each photo, in the earlier result and now."""
    then, now = zip(*columns, strict=True)
    return list(zip(*then, strict=True)), list(zip(*now, strict=True))


def _pair(found: IntArray, then: Marks, now: Marks) -> None:
    """Match photos that are left and whose mark no other one has, neither then nor now."""
    used = set(found.tolist())
    left_then = [k for k in range(len(then)) if k not in used]
    left_now = [frame for frame in range(len(now)) if found[frame] < 0]
    n_then, n_now = Counter(then[k] for k in left_then), Counter(now[frame] for frame in left_now)
    number = {then[k]: k for k in left_then if n_then[then[k]] == 1}
    for frame in left_now:
        if n_now[now[frame]] == 1 and now[frame] in number:
            found[frame] = number[now[frame]]
