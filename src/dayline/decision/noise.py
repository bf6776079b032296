"""Noise, in the whole sequence or within its events: white (frames in random order) or autocorrelated."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dayline.arrays import Array, FloatArray, IntArray, to_numpy
from dayline.decision.abruptness import Neighbours
from dayline.method.denoise import ScaledRows
from dayline.method.graph import unit_rows

__all__ = ["Sample", "is_autocorrelated_noise", "n_above_noise", "order_matters", "sample_frames"]

MOST_FRAMES = 512
"""Frames of which all pairs are compared."""

LAGS = (1, 2, 3, 4, 8, 16)
"""Distances of the frames that are compared."""

ORDERED, NOISY = 4.0, 2.75
"""Standard deviations above which frames are not in random order, and below which frames within events are."""

MOST_COEFFICIENT = 0.95
"""Highest coefficient of autocorrelated noise: above it frames wander so far that they pass for events. A random walk
has 1."""

UNEVEN = 1.3
"""Mean square of squared lengths, over that of Gaussian noise, above which some innovations stand out. Clean events
that begin at random times have the covariances of autocorrelated noise, but only their first frames are new."""

LONG = 5.0
"""Standard deviations above which a single innovation stands out: more than any of thousands in noise."""

LEAST_FRAMES = 128
"""Frames of a shorter sequence are too few to call what remains within its events noise."""

LEAST_AUTOCORRELATED, LEAST_WITHIN = 300, 1000
"""Frames of a shorter sequence are too few to call all of it, and what remains within its events, autocorrelated
noise: short events have the same covariances."""

FRAMES_PER_CANDIDATE = 50
"""Noise of full height has a candidate for every few frames, certainly for every fifty."""

SHORT = 16
"""Mean length of events in which the order of frames can still be judged."""

BESIDE = 2
"""Frames on either side of a boundary that may belong to the other event."""

N_STRETCHES, STRETCH, PART = 8, 512, 128
"""Stretches of a long sequence in which the order within events is judged, their frames, and those read together."""

N_COLUMNS, N_VALUES = 32, N_STRETCHES * STRETCH * 32
"""Least number of directions in which the order within events is judged, and of values: few frames need more."""


@dataclass(frozen=True)
class Sample:
    """Frames in which the order within events is judged: all, or some stretches of a long sequence.

    Attributes
    ----------
    rows : ndarray of shape (n_sampled, n_columns)
        Standardized features, in random directions if there are many columns.
    frames : ndarray of int, shape (n_sampled,)
        Which frames they are.
    n_frames : int
        Number of frames of the whole sequence.
    """

    rows: FloatArray
    frames: IntArray
    n_frames: int

    def within(self, boundaries: IntArray) -> _Frames:
        """Return the frames within events, without those beside a boundary, and without the mean of their event."""
        edges = np.concatenate([[0], np.sort(boundaries), [self.n_frames]])
        event = np.searchsorted(edges, self.frames, side="right") - 1
        after, before = self.frames - edges[event], edges[event + 1] - self.frames
        # The sequence itself does not begin or end late.
        inner = ((after >= BESIDE) | (event == 0)) & ((before > BESIDE) | (event == len(edges) - 2))
        return _Frames(_residuals(self.rows[inner], event[inner]), self.frames[inner], event[inner])


@dataclass(frozen=True)
class _Frames:
    """Rows, which frames they are, and the event of each; frames of one event are beside each other."""

    rows: FloatArray
    frames: IntArray
    event: IntArray

    def pairs(self, lag: int) -> NDArray[np.bool_]:
        """Return for all rows but the last `lag` whether the one that many later is that many frames later."""
        n = len(self.rows) - lag
        return np.asarray((self.frames[lag:] - self.frames[:n] == lag) & (self.event[lag:] == self.event[:n]))


def order_matters(x: Array | ScaledRows, neighbours: Neighbours) -> bool:
    """Return whether frames up to four apart are more or less alike than frames in random order would be.

    Their mean cosine is compared with that of all pairs; in random order its standard deviation is that of the pairs
    over the square root of their number. Within four of them at every lag, nothing can be said about events. Frames
    that oscillate are less alike than any two at some lag. Cosines do not show a short visit in a long event, whose
    own frames are close to the mean; products of the frames do. The standard deviation of the pairs is that of 512
    frames, chosen at random, if there are more.

    Parameters
    ----------
    x : array or ScaledRows of shape (n_frames, n_dims)
        Standardized features.
    neighbours : Neighbours
        Of the same features.
    """
    n, n_lags = len(x), len(neighbours.cosines) - 1
    if n <= n_lags:
        return False
    some: Any = slice(None)
    if n > MOST_FRAMES:
        # Not every k-th: frames may be periodic.
        some = np.sort(np.random.default_rng(0).choice(n, MOST_FRAMES, replace=False))
    # Single precision is enough, and this is the only product of all pairs or columns.
    rows = to_numpy(x[some]).astype(np.float32, copy=False)
    # Standardized frames sum to 0, so only cosines have a total.
    cosines = (neighbours.cosines, float(neighbours.total @ neighbours.total), unit_rows(rows))
    for products, total, some_rows in (cosines, (neighbours.products, 0.0, rows)):
        own, *by_lag = products.sum(axis=1)
        usual = (total - own) / (n * (n - 1))
        # Some frames may be shorter or longer than all.
        scale = own / n / max(float(np.mean(np.einsum("ij,ij->i", some_rows, some_rows))), 1e-300)
        deviation = np.sqrt(max(scale**2 * _mean_square_of_pairs(some_rows) - usual**2, 1e-12))
        n_pairs = n - np.arange(1, n_lags + 1)
        if np.any(np.abs(np.asarray(by_lag) / n_pairs - usual) * np.sqrt(n_pairs) > ORDERED * deviation):
            return True
    return False


def is_autocorrelated_noise(sample: Sample) -> bool:
    """Return whether the frames are a first-order autoregression, x[t] = a x[t-1] + noise, and not in random order.

    Parameters
    ----------
    sample : Sample
        From `sample_frames`.
    """
    if sample.n_frames < LEAST_AUTOCORRELATED:
        return False
    frames = sample.within(np.zeros(0, dtype=np.int64))
    return _is_autoregression(frames, ORDERED) and not _is_in_random_order(frames, ORDERED, sign=float)


def _mean_square_of_pairs(rows: FloatArray) -> float:
    """Mean square of the products of all pairs of different frames."""
    n = len(rows)
    gram = rows @ rows.T if n <= rows.shape[1] else rows.T @ rows
    own = np.einsum("ij,ij->i", rows, rows, dtype=np.float64)
    return (float(np.sum(gram * gram, dtype=np.float64)) - float(own @ own)) / (n * (n - 1))


def sample_frames(x: Array | ScaledRows) -> Sample:
    """Take all frames, or eight stretches of 512, in random directions if there are many columns: noise stays noise.

    Parameters
    ----------
    x : array or ScaledRows of shape (n_frames, n_dims)
        Standardized features.
    """
    n, n_dims = len(x), x.shape[1]
    stretches = [slice(0, n)]
    if n > N_STRETCHES * STRETCH:
        starts = np.linspace(0, n - STRETCH, N_STRETCHES).astype(np.int64).tolist()
        stretches = [slice(start, start + STRETCH) for start in starts]
    n_directions = max(N_COLUMNS, N_VALUES // max(n, 1))
    directions = None
    if n_dims > n_directions:
        directions = np.empty((n_dims, n_directions), dtype=np.float32)
        # In the order of the values of the first frames, so that the order of the columns does not matter.
        order = np.lexsort(to_numpy(x[0:2]).astype(np.float64)[::-1])
        directions[order] = np.random.default_rng(0).choice([-1.0, 1.0], size=(n_dims, n_directions))
    parts = []
    for stretch in stretches:
        # A part of it at a time: rows may be computed as they are needed.
        for first in range(stretch.start, stretch.stop, PART):
            # Single precision is enough.
            rows = to_numpy(x[first : min(first + PART, stretch.stop)]).astype(np.float32)
            parts.append(rows if directions is None else rows @ directions)
    frames = np.concatenate([np.arange(stretch.start, stretch.stop) for stretch in stretches])
    return Sample(np.concatenate(parts), frames, n)


def n_above_noise(sample: Sample, boundaries: IntArray, log_heights: FloatArray) -> int:
    """Return how many boundaries stand out from noise.

    These are the fewest after which frames within events are in random order, and those after them that are clearly
    higher than the rest. The others would split noise, which has a bulk of candidates that could pass for boundaries
    beside a few clear ones. Recordings are hardly ever noise, however finely they are split; then all boundaries
    count.

    Parameters
    ----------
    sample : Sample
        From `sample_frames`.
    boundaries : ndarray of int
        The candidates, the highest first.
    log_heights : ndarray of shape (n_candidates,)
        Logarithms of their heights.
    """
    n = len(boundaries)
    # If noise were as high as the candidates, there would be many beyond those that count.
    most = min(n - int(np.ceil(sample.n_frames / FRAMES_PER_CANDIDATE)), sample.n_frames // SHORT)
    # Recordings are told from noise at once, by order that remains within the shortest events.
    if sample.n_frames < LEAST_FRAMES or most < 0 or not _is_noise(sample, boundaries[:most], ORDERED):
        return n
    ordered, noise = -1, 0
    while noise <= most and not _is_noise(sample, boundaries[:noise], NOISY):
        ordered, noise = noise, max(1, 2 * noise)
    if noise > most:
        return n
    while noise - ordered > 1:
        middle = (ordered + noise) // 2
        ordered, noise = (ordered, middle) if _is_noise(sample, boundaries[:middle], NOISY) else (middle, noise)
    rest = log_heights[noise:]
    usual = float(np.median(rest))
    spread = 1.4826 * float(np.median(np.abs(rest - usual)))
    # The highest of so many Gaussian numbers.
    clear = usual + np.sqrt(2.0 * np.log(len(rest))) * spread
    return noise + int(np.sum(rest > clear))


def _is_noise(sample: Sample, boundaries: IntArray, most: float) -> bool:
    """Return whether frames within events are in random order or, in long sequences, a first-order autoregression."""
    frames = sample.within(boundaries)
    if len(frames.rows) <= LAGS[-1]:
        return False
    # Events that follow noise too closely leave frames that are less alike than in random order.
    if _is_in_random_order(frames, most, sign=float):
        return True
    least = LEAST_WITHIN if len(boundaries) else LEAST_AUTOCORRELATED
    return sample.n_frames >= least and _is_autoregression(frames, most)


def _is_autoregression(frames: _Frames, most: float) -> bool:
    """Return whether innovations are in random order, and none stands out."""
    coefficient = _coefficient(frames)
    if not 0.0 < coefficient <= MOST_COEFFICIENT:
        return False
    new = _innovations(frames, coefficient)
    return _is_in_random_order(new, most, sign=abs) and not _is_uneven(new.rows)


def _is_in_random_order(frames: _Frames, most: float, *, sign: Callable[[float], float]) -> bool:
    """Return whether products and cosines deviate from random order by less than `most`, upwards or both ways."""
    # Products show what is rare, cosines do not depend on outliers.
    if not all(sign(deviation) < most for deviation in _deviations(frames)):
        return False
    cosines = replace(frames, rows=unit_rows(frames.rows))
    return all(sign(deviation) < most for deviation in _deviations(cosines))


def _coefficient(frames: _Frames) -> float:
    """Estimate the coefficient a of x[t] = a x[t-1] + noise, from 0 to 1.

    Then the covariances at lags 0, 1 and 2 are c, a c and a^2 c. The noise of successive frames is unrelated if
    c1 - a (c0 + c2) + a^2 c1 = 0.
    """
    c0, c1, c2 = (excess / n_pairs for excess, n_pairs in _excess(frames, (0, 1, 2)))
    if c1 <= 0:
        return 0.0
    half = (c0 + c2) / (2 * c1)
    return half - float(np.sqrt(half**2 - 1.0)) if half > 1.0 else 1.0


def _innovations(frames: _Frames, coefficient: float) -> _Frames:
    """Return what is new in each frame: x[t] - a x[t-1]."""
    follows = frames.pairs(1)
    new = (frames.rows[1:] - coefficient * frames.rows[:-1])[follows]
    event = frames.event[1:][follows]
    return _Frames(_residuals(new, event), frames.frames[1:][follows], event)


def _is_uneven(rows: FloatArray) -> bool:
    """Return whether some rows are longer than Gaussian ones of the same covariance would be."""
    squares = np.einsum("ij,ij->i", rows, rows)
    covariance = rows.T @ rows
    # As many directions of equal variance would have this covariance.
    n_directions = float(np.trace(covariance)) ** 2 / max(float(np.sum(covariance * covariance)), 1e-300)
    relative = squares / max(float(np.mean(squares)), 1e-300)
    # Their cube roots are nearly Gaussian (E. B. Wilson and M. M. Hilferty, 1931).
    variance = 2.0 / (9.0 * max(n_directions, 1.0))
    longest = (float(np.max(relative)) ** (1 / 3) - 1.0 + variance) / np.sqrt(variance)
    return bool(longest > LONG or np.mean(relative**2) > UNEVEN * (1.0 + 9.0 * variance))


def _residuals(rows: FloatArray, event: IntArray) -> FloatArray:
    """Subtract the mean of its event from every frame."""
    first, lengths = _extents(event)
    means = np.add.reduceat(rows, first, axis=0) / lengths[:, None].astype(rows.dtype)
    return np.asarray(rows - np.repeat(means, lengths, axis=0))


def _extents(event: IntArray) -> tuple[IntArray, IntArray]:
    """Return the first row of every event, and the number of its rows."""
    first = np.flatnonzero(np.diff(event, prepend=-1))
    return first, np.diff(np.append(first, len(event)))


def _deviations(frames: _Frames) -> Iterator[float]:
    """Yield by how many standard deviations frames within events are more alike than in random order, lag by lag."""
    variance = max(_mean_square_of_pairs(frames.rows), 1e-300)
    for excess, n_pairs in _excess(frames, LAGS):
        yield excess / np.sqrt(n_pairs * variance)


def _excess(frames: _Frames, lags: tuple[int, ...]) -> Iterator[tuple[float, int]]:
    """Yield the products of frames within events beyond those of any two of the event, and the number of pairs."""
    rows = frames.rows
    first, lengths = _extents(frames.event)
    sums = np.add.reduceat(rows, first, axis=0)
    own = np.add.reduceat(np.einsum("ij,ij->i", rows, rows), first)
    any_two = (np.einsum("ij,ij->i", sums, sums) - own) / np.maximum(lengths * (lengths - 1), 1)
    usual = np.repeat(any_two, lengths)
    for lag in lags:
        n, pairs = len(rows) - lag, frames.pairs(lag)
        products = np.einsum("ij,ij->i", rows[:n], rows[lag:])
        yield float(np.sum((products - usual[:n])[pairs])), max(int(pairs.sum()), 1)
