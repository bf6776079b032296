"""Nonlocal means along time (Eq. 1 and 2), and the scaling applied before it."""

from __future__ import annotations

from typing import Literal

import numpy as np

from dayline.arrays import Array, FloatArray, array_namespace, like, to_numpy
from dayline.checks import LARGEST, check_between, check_choice, check_flag, check_matrix

__all__ = [
    "authors_nonlocal_means",
    "comparable_columns",
    "fit_single_precision",
    "nonlocal_means",
    "scale_to_range",
    "standardize",
]

FEW_COLUMNS, BUMPS = 3, 16
"""Up to this many columns each becomes that many; see `comparable_columns`."""

SMALLEST_SPREAD = 1e-3
"""Range of features, relative to their size, below which single precision keeps fewer than four of seven digits."""

FARTHEST = 1000.0
"""Distance in bandwidths beyond which a weight is 0, whatever the kernel."""


def scale_to_range(x: Array, *, by_column: bool = False) -> Array:
    """Scale to [-1, 1], the whole matrix at once or each column separately.

    Constant values become 0.
    """
    xp = array_namespace(x)
    axis = 0 if by_column else None
    low = xp.min(x, axis=axis, keepdims=True)
    spread = xp.max(x, axis=axis, keepdims=True) - low
    safe = xp.where(spread > 0, spread, xp.ones_like(spread))
    return xp.where(spread > 0, 2.0 * (x - low) / safe - 1.0, xp.zeros_like(x))


def standardize(x: Array) -> Array:
    """Centre every column and divide it by its standard deviation; drop constant columns.

    If all columns are constant, the result is one column of zeros.
    """
    xp = array_namespace(x)
    # Drop exactly constant columns first: rounding of the mean must not count as variation.
    varying = xp.max(x, axis=0) > xp.min(x, axis=0)
    if not bool(xp.any(varying)):
        return xp.zeros_like(x[:, :1])
    x = x[:, varying]
    # Divide by the range first, so that tiny or huge columns do not under- or overflow when squared.
    x = (x - xp.min(x, axis=0)) / (xp.max(x, axis=0) - xp.min(x, axis=0))
    x = x - xp.mean(x, axis=0)
    return x / xp.std(x, axis=0)


def comparable_columns(x: Array) -> Array:
    """Standardize columns; if there are three or fewer, spread each over 16, so that cosines can compare frames.

    The cosine of two frames of one centred column is only a sign. So each becomes 16 Gaussian bumps of one standard
    deviation, evenly spaced from the first to the last percentile of its values: close values have a high cosine.
    """
    columns = standardize(x)
    if columns.shape[1] > FEW_COLUMNS:
        return columns
    xp = array_namespace(columns)
    # In double precision on the CPU, so that every device has the same centres.
    low, high = np.quantile(to_numpy(columns).astype(np.float64), [0.01, 0.99], axis=0)
    centres = like(np.linspace(low, high, BUMPS), columns)
    bumps = xp.exp(-((columns[:, None, :] - centres[None, :, :]) ** 2) / 2.0)
    return standardize(xp.reshape(bumps, (columns.shape[0], -1)))


def fit_single_precision(features: FloatArray, *, by_column: bool) -> FloatArray:
    """Scale to [-1, 1] what single precision cannot hold: small variation on large offsets, tiny and huge values.

    Scaling again later gives the same result. Everything else is returned unchanged.

    Parameters
    ----------
    features : ndarray of shape (n_frames, n_features)
        In double precision.
    by_column : bool
        Whether to scale each column separately or the whole matrix at once.
    """
    axis = 0 if by_column else None
    low, high = features.min(axis=axis, keepdims=True), features.max(axis=axis, keepdims=True)
    spread, largest = high - low, np.maximum(np.abs(low), np.abs(high))
    held = (spread > SMALLEST_SPREAD * largest) & (largest < 1e30) & (spread > 1e-30)
    return features if held.all() else np.where(held, features, scale_to_range(features, by_column=by_column))


def nonlocal_means(
    x: Array,
    *,
    search_radius: int,
    patch_radius: int,
    bandwidth: float | Literal["median"],
    kernel: Literal["exponential", "gaussian"] = "exponential",
    decay: float = 1.0,
    include_self: bool = False,
) -> Array:
    """Replace every frame by a weighted mean of frames with similar neighbourhoods (Eq. 1 and 2).

    The defaults are the paper's, with the L1 distance averaged over frames and features.

    Parameters
    ----------
    x : array of shape (n_frames, n_features)
        Features, already scaled.
    search_radius : int >= 0
        Frames averaged on either side (L); 0 changes nothing.
    patch_radius : int >= 1
        Frames on either side that form the patch of a frame, without the frame itself (M).
    bandwidth : float > 0 or "median"
        Decay of the weights (h); "median" uses the median patch distance of the sequence.
    kernel : {"exponential", "gaussian"}
        exp(-D / h) as in the paper, or exp(-(D / h)^2).
    decay : float in (0, 1]
        Factor on the weight per frame of distance in time.
    include_self : bool
        Whether a frame contributes to its own mean.
    """
    check_matrix("x", x)
    _check_denoising(search_radius, patch_radius, bandwidth)
    check_choice("kernel", kernel, ("exponential", "gaussian"))
    check_between("decay", decay, 0, 1, above=True)
    check_flag("include_self", include_self)
    n = x.shape[0]
    reach = min(search_radius, n - 1)
    if reach < 1:
        return x
    xp = array_namespace(x)
    offsets = range(1, reach + 1)
    distances = {t: _patch_distance(x, t, patch_radius=patch_radius) for t in offsets}
    h = _median_distance(distances) if bandwidth == "median" else float(bandwidth)
    if h <= 0:
        return x
    mean, weight = (x, xp.ones_like(x[:, :1])) if include_self else (xp.zeros_like(x), xp.zeros_like(x[:, :1]))
    for t in offsets:
        ratio = distances[t][:, None] / h
        # Clip: the weight is 0 long before this, but the square of the ratio must not overflow.
        ratio = xp.where(ratio < FARTHEST, ratio, FARTHEST * xp.ones_like(ratio))
        w = xp.exp(-ratio * ratio if kernel == "gaussian" else -ratio) * decay**t
        # Zeros replace the missing neighbours before the start and after the end.
        none = xp.zeros_like(x[:t])
        mean = mean + xp.concat([w * x[t:], none], axis=0) + xp.concat([none, w * x[:-t]], axis=0)
        weight = weight + xp.concat([w, none[:, :1]], axis=0) + xp.concat([none[:, :1], w], axis=0)
    # If every weight underflows, no frame is similar: keep the frame unchanged.
    return xp.where(weight > 0, mean / xp.where(weight > 0, weight, xp.ones_like(weight)), x)


def _patch_distance(x: Array, offset: int, *, patch_radius: int) -> Array:
    """Mean absolute difference of the patches around k and k + offset, for every k."""
    xp = array_namespace(x)
    n = x.shape[0]
    # Beyond this radius, the mirrored sequence repeats itself.
    radius = min(patch_radius, n - 1)
    positions = np.arange(-radius, n - offset + radius)
    apart = xp.mean(xp.abs(_rows(x, _mirrored(n, positions + offset)) - _rows(x, _mirrored(n, positions))), axis=1)
    total = 0.0
    for m in range(1, radius + 1):
        for side in (-m, m):
            total = total + apart[radius + side : radius + side + n - offset]
    return total / (2 * radius)


def _rows(x: Array, rows: np.ndarray[tuple[int], np.dtype[np.int64]]) -> Array:
    xp = array_namespace(x)
    return xp.take(x, xp.asarray(rows, device=x.device), axis=0)


def _mirrored(
    n: int, positions: np.ndarray[tuple[int], np.dtype[np.int64]]
) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Reflect positions into 0 .. n-1 without repeating the end frames."""
    if n == 1:
        return np.zeros_like(positions)
    period = 2 * (n - 1)
    folded = np.abs(positions) % period
    return np.asarray(np.minimum(folded, period - folded))


def _check_denoising(search_radius: int, patch_radius: int, bandwidth: float | Literal["median"]) -> None:
    check_between("search_radius", search_radius, 0, whole=True)
    check_between("patch_radius", patch_radius, 1, whole=True)
    if not isinstance(bandwidth, str):
        check_between("bandwidth", bandwidth, 1 / LARGEST)
    else:
        check_choice("bandwidth", bandwidth, ("median",))


def _median_distance(distances: dict[int, Array]) -> float:
    return float(np.median(np.concatenate([to_numpy(d) for d in distances.values()])))


def authors_nonlocal_means(x: Array, *, search_radius: int, patch_radius: int, bandwidth: float) -> Array:
    """Denoise as the authors' notebook does.

    Unlike the text, it scales the whole matrix to [-1, 1] before and after, averages over every frame of the sequence
    (itself included) with weight exp(-D / h) 0.25^(distance in time / L), and counts the first and the last L frames
    twice in every mean.
    """
    _check_denoising(search_radius, patch_radius, bandwidth)
    n = x.shape[0]
    x = scale_to_range(x)
    if n == 1 or search_radius == 0:
        return x
    xp = array_namespace(x)
    twice = np.ones((n, 1))
    twice[: min(search_radius, n)] = 2.0
    twice[max(n - search_radius, 0) :] = 2.0
    count = like(twice, x)
    mean, weight = count * x, count
    # Beyond 27 L the factor 0.25^(t/L) is below 2^-53 and adds nothing.
    for t in range(1, min(n - 1, 27 * search_radius) + 1):
        w = xp.exp(-_patch_distance(x, t, patch_radius=patch_radius)[:, None] / bandwidth)
        w = w * 0.25 ** (t / search_radius)
        none = xp.zeros_like(x[:t])
        later, earlier = w * count[t:], w * count[:-t]
        mean = mean + xp.concat([later * x[t:], none], axis=0) + xp.concat([none, earlier * x[:-t]], axis=0)
        weight = weight + xp.concat([later, none[:, :1]], axis=0) + xp.concat([none[:, :1], earlier], axis=0)
    return scale_to_range(mean / weight)
