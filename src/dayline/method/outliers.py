"""Outliers: frames so far from all others that they alone would set the scale."""

from __future__ import annotations

import warnings

import numpy as np

from dayline.arrays import FloatArray, IntArray, row_blocks
from dayline.checks import list_frames
from dayline.text import counted

MOST = 0.02
"""Largest fraction of frames that can be outliers; more than that are an event of their own."""

FEWEST_FRAMES = 8
"""Fewest frames among which an outlier can be identified."""

FAR = 50.0
"""Smallest size of an outlier, relative to the largest other frame."""

LEAST_USUAL = 1e-6
"""Usual deviation of a column, relative to the largest of all columns, below which it is noise."""

CODE_FAR, CODE_OTHERS = 10.0, 8
"""A code for missing values is farther from all other values of its column than ten times their
range, if there are more than eight of them: counts and categories have fewer."""

CODE_FRAMES = 1024
"""Frames, chosen at random, in which codes for missing values are searched."""

MOST_FRAMES = 4096
"""Frames that the median frame is taken from."""

COLUMNS = 32
"""Columns whose medians are found together."""


def outlying_frames(features: FloatArray) -> IntArray:
    """Find the few frames, if any, that are far larger than all others.

    The size of a frame is its root mean square distance from the median frame, with every column in
    units of its mean absolute deviation, the largest 2 % left out; both are those of 4,096 frames,
    chosen at random, if there are more. Columns that hardly move, a millionth of the one that moves
    most, do not count. A few frames are outliers if each is more than 50 times as large as the
    largest other one, with and without the 2 % of columns in which each frame is farthest.

    Parameters
    ----------
    features : ndarray of shape (n_frames, n_features)
        One row per frame, without NaN.

    Returns
    -------
    ndarray of int
        The frames, in order; at most 2 % of all, or one.
    """
    if len(features) < FEWEST_FRAMES:
        return np.zeros(0, dtype=np.int64)
    most = _most(len(features))
    found = _largest(_sizes(features)[0], most)

    # Of the many columns of a network, some are all but constant; one frame that is not must not
    # count for that.
    n_spared = int(MOST * features.shape[1])
    if len(found) and n_spared:
        found = _largest(_sizes(features, n_spared=n_spared)[0], most)
    return found


def _largest(sizes: FloatArray, most: int) -> IntArray:
    order = np.argsort(sizes)[::-1][: most + 1]
    largest = sizes[order]
    gaps = np.flatnonzero(largest[:-1] > FAR * largest[1:])
    return np.sort(order[: gaps[-1] + 1]) if len(gaps) else np.zeros(0, dtype=np.int64)


def draw_in(features: FloatArray, frames: IntArray) -> FloatArray:
    """Move outliers straight towards the median frame, to the distance of the farthest other frame.

    Parameters
    ----------
    features : ndarray of shape (n_frames, n_features)
        One row per frame.
    frames : ndarray of int
        From `outlying_frames`.
    """
    sizes, center = _sizes(features)
    limit = np.delete(sizes, frames).max()
    drawn = features.copy()
    drawn[frames] = center + (features[frames] - center) * (limit / sizes[frames])[:, None]
    return drawn


def warn_of_outliers(frames: IntArray, *, drawn_in: bool) -> None:
    """Warn of the frames and say how they are handled."""
    verb = "is" if len(frames) == 1 else "are"
    done = "scaled down to the next largest" if drawn_in else "this may hide all boundaries"
    warnings.warn(
        f"{list_frames(frames)} {verb} over {FAR:g} times as far from the median frame as any"
        f" other; {done}; drop or repair {'it' if len(frames) == 1 else 'them'} if this is an"
        " error",
        stacklevel=4,
    )


def warn_of_missing_value_codes(features: FloatArray) -> None:
    """Warn if a number such as -9999 seems to stand for missing values.

    Such a number is whole and beyond -1 and 1, the least or the greatest value of its column,
    occurs at least twice but in less than half of the frames, and is far from all other values.
    """
    some = _some_frames(features, CODE_FRAMES)
    for codes in (some.min(axis=0), some.max(axis=0)):
        # Hardly any column of real numbers has such a value.
        possible = np.flatnonzero((codes == np.floor(codes)) & (np.abs(codes) > 1)).tolist()
        columns = [k for k in possible if _is_code(some[:, k].astype(np.float64), float(codes[k]))]
        if not columns:
            continue
        n_frames = int(np.sum(features[:, columns[0]] == codes[columns[0]]))
        others = counted(len(columns) - 1, "other column")
        more = f" (and so in {others})" if len(columns) > 1 else ""
        warnings.warn(
            f"{codes[columns[0]]:g} is far from all other values of column {columns[0]} and"
            f" occurs in {n_frames} frames{more}; this may hide all boundaries; if it marks a"
            " missing value, replace it with NaN and interpolate",
            stacklevel=4,
        )


def _some_frames(features: FloatArray, most: int) -> FloatArray:
    """Return all frames or, of more, so many chosen at random."""
    if len(features) <= most:
        return features
    return features[np.sort(np.random.default_rng(0).choice(len(features), most, replace=False))]


def _is_code(values: FloatArray, code: float) -> bool:
    others = np.unique(values[values != code])
    n_codes = len(values) - np.count_nonzero(values != code)
    if len(others) <= CODE_OTHERS or not 1 < n_codes < len(values) / 2:
        return False
    return bool(np.min(np.abs(others - code)) > CODE_FAR * (others[-1] - others[0]))


def _most(n_frames: int) -> int:
    return max(int(MOST * n_frames), 1)


def _sizes(features: FloatArray, *, n_spared: int = 0) -> tuple[FloatArray, FloatArray]:
    """Return the distance of every frame from the median frame, in robust units, and that frame.

    The columns in which each frame is farthest, `n_spared` of them, do not count.
    """
    center, usual = _usual_frame(features)
    # A column that varies only in those few frames, apart from noise, has no typical size.
    moving = usual > LEAST_USUAL * usual.max(initial=0.0)
    sizes = np.zeros(len(features))
    if moving.any():
        weights = np.divide(1.0, usual, out=np.zeros_like(usual), where=moving)
        for block in row_blocks(features):
            apart = (features[block] - center) * weights
            if n_spared:
                apart = np.partition(np.abs(apart), -n_spared, axis=1)[:, :-n_spared]
            sizes[block] = np.sqrt(np.einsum("ij,ij->i", apart, apart) / np.count_nonzero(moving))
    return sizes, center


def _usual_frame(features: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Median of every column, and its mean absolute deviation without the largest 2 %."""
    features = _some_frames(features, MOST_FRAMES)
    n, dims = features.shape
    kept = n - _most(n)
    center, usual = np.empty(dims), np.empty(dims)
    for first in range(0, dims, COLUMNS):
        # Medians along rows take half the time.
        columns = np.ascontiguousarray(features[:, first : first + COLUMNS].T)
        middle = np.median(columns, axis=1, keepdims=True)
        apart = np.abs(columns - middle)
        apart.partition(kept - 1, axis=1)
        center[first : first + COLUMNS] = middle[:, 0]
        usual[first : first + COLUMNS] = apart[:, :kept].mean(axis=1)
    return center, usual
