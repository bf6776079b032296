"""Nonlocal means along time (Eq. 1 and 2), and the scaling applied before it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np

from dayline.arrays import (
    Array,
    FloatArray,
    array_namespace,
    double,
    is_on_host,
    like,
    row_blocks,
    to_numpy,
)

Kernel: TypeAlias = Literal["exponential", "gaussian"]

Variant: TypeAlias = Literal["default", "paper", "authors"]
"""Whose scaling, denoising, loop order and optimizer to use."""

FEW_COLUMNS, BUMPS = 3, 16
"""Up to this many columns each becomes that many; see `spread_few_directions`."""

MOST_OF_VARIANCE = 0.99
"""Share of the variance from which on a few main directions stand for all columns."""

LEAST_FRAMES = 64
"""Frames of a shorter sequence have too few events for cosines to confuse, and too few frames to
fill the bumps."""

SOME_FRAMES = 128
"""Frames, chosen at random, that rule out most features: they vary in more directions."""

MOST_HELD = 2**21
"""Entries of a standardized matrix that is held: 16 MiB, less than the embedding needs."""

SMALLEST_SPREAD = 1e-3
"""Range of features, relative to their size, below which single precision keeps fewer than four
of seven digits."""

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
    scaled = xp.empty(tuple(x.shape), dtype=x.dtype, device=x.device)
    for block in row_blocks(x):
        rows = 2.0 * (x[block] - low) / safe - 1.0
        scaled[block] = xp.where(spread > 0, rows, xp.zeros_like(rows))
    return scaled


def standardize(x: Array) -> Array:
    """Center every column and divide it by its standard deviation; drop constant columns.

    If all columns are constant, the result is one column of zeros.
    """
    rows = ScaledRows.of(x)
    scaled = array_namespace(x).empty(rows.shape, dtype=x.dtype, device=x.device)
    for block in row_blocks(x):
        scaled[block] = rows[block]
    return scaled


def standardized_rows(x: FloatArray) -> FloatArray | ScaledRows:
    """Do the same as `standardize`, in double precision.

    The rows of a large matrix are computed when needed.
    """
    rows = ScaledRows.of(x)
    if x.size > MOST_HELD:
        return rows
    held = np.empty(rows.shape)
    for block in row_blocks(x):
        held[block] = rows[block]
    return held


@dataclass(frozen=True)
class ScaledRows:
    """The rows of a standardized matrix, computed when they are needed; its slices are arrays.

    They are in double precision on the host, whatever that of the matrix.

    Attributes
    ----------
    x : array of shape (n_frames, n_features)
        The matrix, as it was given.
    is_varying : array of bool, shape (n_features,)
        Columns that are kept.
    low, spread : array
        Least value and range of each column that is kept.
    mean, deviation : array
        Mean and standard deviation of each, in units of its range.
    """

    x: Array
    is_varying: Array
    low: Array
    spread: Array
    mean: Array
    deviation: Array

    @classmethod
    def of(cls, x: Array) -> ScaledRows:
        """Measure the columns of a matrix."""
        xp = array_namespace(x)
        low, high = xp.min(x, axis=0), xp.max(x, axis=0)
        # Drop exactly constant columns first: rounding of the mean must not count as variation.
        kept = high > low
        low, high = _precise(low[kept]), _precise(high[kept])
        spread = high - low

        total = 0.0
        for block in row_blocks(x):
            total = total + xp.sum(_columns(x[block], kept) - low, axis=0)
        mean = total / x.shape[0] / spread

        squares = 0.0
        for block in row_blocks(x):
            # Divide by the range first, so that tiny or huge columns do not under- or overflow.
            centered = (_columns(x[block], kept) - low) / spread - mean
            squares = squares + xp.sum(centered * centered, axis=0)
        return cls(x, kept, low, spread, mean, xp.sqrt(squares / x.shape[0]))

    @property
    def shape(self) -> tuple[int, int]:
        """As that of an array."""
        return self.x.shape[0], max(1, int(self.low.shape[0]))

    def __len__(self) -> int:
        """Return the number of rows."""
        return self.shape[0]

    def __getitem__(self, which: Any) -> Array:
        """Return some rows, standardized."""
        rows = self.x[which]
        if self.low.shape[0] == 0:
            return array_namespace(rows).zeros_like(rows[:, :1])
        scaled = (_columns(rows, self.is_varying) - self.low) / self.spread
        scaled -= self.mean
        scaled /= self.deviation
        return scaled


def _columns(rows: Array, is_kept: Array) -> Array:
    """Return some columns in sufficient precision, without a copy if it is all of them."""
    xp = array_namespace(is_kept)
    return _precise(rows if bool(xp.all(is_kept)) else rows[:, is_kept])


def _precise(x: Array) -> Array:
    """Convert to double precision on the host: sums over a million frames need it."""
    return double(x) if is_on_host(x) else x


def comparable_columns(x: Array) -> Array:
    """Standardize columns; spread them over more if they vary in a few directions only."""
    return spread_few_directions(standardize(x))


def spread_few_directions(columns: Array | ScaledRows) -> Any:
    """Spread columns that vary in three directions or fewer over 16 columns for each.

    The cosine of two frames of one centered column is only a sign, and so it is if all columns
    follow one factor. So each direction becomes 16 Gaussian bumps of one standard deviation, evenly
    spaced from the first to the last percentile of its values: close values have a high cosine.
    Other columns are returned unchanged.
    """
    directions = _few_directions(columns)
    if directions is not None:
        few = [columns[block] @ like(directions, columns[:1]) for block in row_blocks(columns)]
        columns = standardize(array_namespace(few[0]).concat(few))
    if columns.shape[1] > FEW_COLUMNS:
        return columns

    values = columns[:]
    xp = array_namespace(values)
    # In double precision on the CPU, so that every device has the same centers.
    low, high = np.quantile(to_numpy(values).astype(np.float64), [0.01, 0.99], axis=0)
    centers = like(np.linspace(low, high, BUMPS), values)
    bumps = xp.exp(-((values[:, None, :] - centers[None, :, :]) ** 2) / 2.0)
    return standardize(xp.reshape(bumps, (values.shape[0], -1)))


def _few_directions(columns: Array | ScaledRows) -> FloatArray | None:
    """Return the main directions if three or fewer have nearly all of the variance."""
    n, n_columns = columns.shape
    if n_columns <= FEW_COLUMNS or n < LEAST_FRAMES:
        return None
    some = np.sort(np.random.default_rng(0).choice(n, min(n, SOME_FRAMES), replace=False))
    rows = to_numpy(columns[some]).astype(np.float64)
    gram = rows @ rows.T
    # Three eigenvalues have at least a third of the square of their sum in their squares.
    if np.sum(gram**2) < (0.95 * np.trace(gram)) ** 2 / FEW_COLUMNS:
        return None

    covariance = np.zeros((n_columns, n_columns))
    for block in row_blocks(columns):
        rows = to_numpy(columns[block]).astype(np.float64)
        covariance += rows.T @ rows
    variances, directions = np.linalg.eigh(covariance)
    share = np.cumsum(variances[::-1][:FEW_COLUMNS]) / max(float(np.sum(variances)), 1e-300)
    if share[-1] < MOST_OF_VARIANCE:
        return None
    return np.asarray(directions[:, ::-1][:, : int(np.argmax(share >= MOST_OF_VARIANCE)) + 1])


def fit_single_precision(features: FloatArray, *, by_column: bool) -> FloatArray:
    """Scale to [-1, 1] what single precision cannot hold: large offsets, tiny and huge values.

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
    if held.all():
        return features
    return np.where(held, features, scale_to_range(features, by_column=by_column))


def nonlocal_means(
    x: Array,
    *,
    search_radius: int,
    patch_radius: int,
    bandwidth: float | Literal["median"],
    kernel: Kernel = "exponential",
    decay: float = 1.0,
    include_self: bool = False,
) -> Array:
    """Replace each frame by a mean of the L frames on either side (Eq. 1 and 2).

    A frame t frames away counts exp(-(d / h)) decay^t, or exp(-(d / h)^2) decay^t for "gaussian",
    where d is how far the M frames on either side of both are apart, and h the bandwidth or the
    median of d. The sequence is mirrored at its ends.
    """
    reach = min(search_radius, x.shape[0] - 1)
    if reach < 1:
        return x
    xp = array_namespace(x)
    distances = _patch_distances(x, reach, patch_radius)
    if bandwidth == "median":
        h = float(np.median(np.concatenate([to_numpy(d) for d in distances.values()])))
    else:
        h = float(bandwidth)
    if h <= 0:
        return x

    # A bandwidth beyond the range of this precision has the weights of the nearest one within it.
    numbers = xp.finfo(x.dtype)
    h = min(max(h, float(numbers.smallest_normal)), float(numbers.max) / FARTHEST)
    weights = {}
    for t, distance in distances.items():
        # Clip: the weight is 0 long before this, but neither the ratio nor its square may overflow.
        most = FARTHEST * h * xp.ones_like(distance)
        ratio = xp.where(distance < FARTHEST * h, distance, most)[:, None] / h
        weights[t] = xp.exp(-ratio * ratio if kernel == "gaussian" else -ratio) * decay**t

    own = xp.ones_like(x[:, :1]) if include_self else xp.zeros_like(x[:, :1])
    return _weighted_mean(x, own, later=weights, earlier=weights)


def _weighted_mean(
    x: Array, own: Array, *, later: Mapping[int, Array], earlier: Mapping[int, Array]
) -> Array:
    """Average frames; a frame whose weights are all 0 stays as it is.

    Parameters
    ----------
    x : array of shape (n_frames, n_features)
        One row per frame.
    own : array of shape (n_frames, 1)
        Weight of the frame itself.
    later, earlier : mapping of int to array of shape (n_frames - t, 1)
        For t frames apart, the weight of frame k + t for frame k, and that of frame k for frame k +
        t.
    """
    xp = array_namespace(x)
    n = x.shape[0]
    made = xp.empty_like(x)
    for block in row_blocks(x):
        first, stop = block.start, block.stop
        mean, weight = own[block] * x[block], xp.asarray(own[block], copy=True)
        for t in later:
            ahead = slice(first, max(first, min(stop, n - t)))
            n_ahead = ahead.stop - first
            mean[:n_ahead] += later[t][ahead] * x[first + t : ahead.stop + t]
            weight[:n_ahead] += later[t][ahead]
            back = slice(max(first, t) - t, max(stop, t) - t)
            n_back = back.stop - back.start
            if n_back:
                mean[-n_back:] += earlier[t][back] * x[back]
                weight[-n_back:] += earlier[t][back]
        is_similar = weight > 0
        # If every weight underflows, no frame is similar: keep the frame unchanged.
        made[block] = xp.where(
            is_similar, mean / xp.where(is_similar, weight, xp.ones_like(weight)), x[block]
        )
    return made


def _patch_distances(x: Array, reach: int, patch_radius: int) -> dict[int, Array]:
    """Average the absolute differences of the patches around k and k + t, for t = 1 to `reach`."""
    xp = array_namespace(x)
    n = x.shape[0]
    # Beyond this radius, the mirrored sequence repeats itself.
    radius = min(patch_radius, n - 1)
    lags = range(1, reach + 1)
    apart = {t: xp.empty(n - t + 2 * radius, dtype=x.dtype, device=x.device) for t in lags}
    for block in row_blocks(x):
        # Positions in the mirrored sequence; the last block has those after its end too.
        first = block.start - radius if block.start == 0 else block.start
        stop = block.stop + radius if block.stop == n else block.stop
        last = min(stop + reach, n + radius)
        if first >= 0 and last <= n:
            rows = x[first:last]
        else:
            # Reflect the sequence at its ends, without repeating the end frames.
            period = 2 * (n - 1)
            at = np.abs(np.arange(first, last)) % max(period, 1)
            at = xp.asarray(np.minimum(at, period - at), device=x.device)
            rows = xp.take(x, at, axis=0)
        for t, found in apart.items():
            size = min(stop, n - t + radius) - first
            if size > 0:
                found[first + radius : first + radius + size] = xp.mean(
                    xp.abs(rows[t : t + size] - rows[:size]), axis=1
                )

    distances = {}
    for t, found in apart.items():
        total = 0.0
        for m in range(1, radius + 1):
            for side in (-m, m):
                total = total + found[radius + side : radius + side + n - t]
        distances[t] = total / (2 * radius)
    return distances


def authors_nonlocal_means(
    x: Array, search_radius: int, patch_radius: int, bandwidth: float
) -> Array:
    """Denoise as the authors' notebook does.

    Unlike the text, it scales the whole matrix to [-1, 1] before and after, averages over every
    frame of the sequence (itself included) with weight exp(-D / h) 0.25^(distance in time / L), and
    counts the first and the last L frames twice in every mean.
    """
    n = x.shape[0]
    x = scale_to_range(x)
    if n == 1 or search_radius == 0:
        return x

    xp = array_namespace(x)
    twice = np.ones((n, 1))
    twice[: min(search_radius, n)] = 2.0
    twice[max(n - search_radius, 0) :] = 2.0
    count = like(twice, x)

    # Beyond 27 L the factor 0.25^(t/L) is below 2^-53 and adds nothing.
    distances = _patch_distances(x, min(n - 1, 27 * search_radius), patch_radius)
    weights = {
        t: xp.exp(-d[:, None] / bandwidth) * 0.25 ** (t / search_radius)
        for t, d in distances.items()
    }
    later = {t: w * count[t:] for t, w in weights.items()}
    earlier = {t: w * count[:-t] for t, w in weights.items()}
    return scale_to_range(_weighted_mean(x, count, later=later, earlier=earlier))


def denoise_features(
    x: Array,
    *,
    variant: Variant = "default",
    search_radius: int = 4,
    patch_radius: int = 1,
    bandwidth: float | Literal["median"] = "median",
) -> Array:
    """Scale and denoise features (Eq. 1 and 2) as a variant of the method does.

    The default standardizes columns (see `comparable_columns`) and denoises lightly; "paper" scales
    to [-1, 1] and denoises as in the text; "authors" does both as in the notebook, and needs a
    number as bandwidth.
    """
    if variant == "authors":
        return authors_nonlocal_means(x, search_radius, patch_radius, float(bandwidth))

    if variant == "paper":
        return nonlocal_means(
            scale_to_range(x),
            search_radius=search_radius,
            patch_radius=patch_radius,
            bandwidth=bandwidth,
        )

    denoised = nonlocal_means(
        comparable_columns(x),
        search_radius=search_radius,
        patch_radius=patch_radius,
        bandwidth=bandwidth,
        kernel="gaussian",
        decay=0.25,
        include_self=True,
    )
    total = 0.0
    for block in row_blocks(denoised):
        total = total + array_namespace(x).sum(_precise(denoised[block]), axis=0)
    mean = total / denoised.shape[0]
    for block in row_blocks(denoised):
        denoised[block] -= mean
    return denoised
