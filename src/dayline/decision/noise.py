"""Noise: frames in random order, in the whole sequence or within its events."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from dayline.arrays import Array, FloatArray, IntArray, to_numpy
from dayline.decision.abruptness import Neighbours
from dayline.method.denoise import ScaledRows
from dayline.method.graph import unit_rows

__all__ = ["Sample", "n_above_noise", "order_matters", "sample_frames"]

MOST_FRAMES = 512
"""Frames of which all pairs are compared."""

LAGS = (1, 2, 3, 4)
"""Distances of the frames that are compared."""

ORDERED, NOISY = 4.0, 3.0
"""Standard deviations above which frames are not in random order, and below which frames within events are."""

LEAST_FRAMES = 300
"""Frames of a shorter sequence are too few to call what remains within its events noise."""

FRAMES_PER_CANDIDATE = 50
"""Noise of full height has a candidate for every few frames, certainly for every fifty."""

CLEAR = 3.0
"""Robust standard deviations above which a candidate is clearly higher than those of noise."""

SHORT = 16
"""Mean length of events in which the order of frames can still be judged."""

N_COLUMNS = 32
"""Directions in which the order within events is judged: enough to tell recordings from noise."""

N_STRETCHES, STRETCH = 8, 512
"""Stretches of a long sequence in which the order within events is judged, and their frames."""


@dataclass(frozen=True)
class Sample:
    """Frames in which the order within events is judged: all, or some stretches of a long sequence.

    Attributes
    ----------
    rows : ndarray of shape (n_sampled, n_columns)
        Standardized features, in 32 random directions if there are more columns.
    frames : ndarray of int, shape (n_sampled,)
        Which frames they are.
    n_frames : int
        Number of frames of the whole sequence.
    """

    rows: FloatArray
    frames: IntArray
    n_frames: int

    def edges(self, boundaries: IntArray) -> IntArray:
        """Return where events, or stretches, begin and end in the rows."""
        event = np.searchsorted(np.sort(boundaries), self.frames, side="right")
        begins = (np.diff(event) != 0) | (np.diff(self.frames) != 1)
        return np.concatenate([[0], np.flatnonzero(begins) + 1, [len(self.frames)]])


def order_matters(x: Array | ScaledRows, neighbours: Neighbours, sample: Sample) -> bool:
    """Return whether frames up to four apart are more or less alike than frames in random order would be.

    Their mean cosine is compared with that of all pairs; in random order its standard deviation is that of the pairs
    over the square root of their number. Within four of them at every lag, nothing can be said about events. Frames
    that oscillate are less alike than any two at some lag. The standard deviation of the pairs is that of 512 frames,
    chosen at random, if there are more. Cosines do not show a short visit in a long event, whose own frames are close
    to the mean; products of the frames do.

    Parameters
    ----------
    x : array or ScaledRows of shape (n_frames, n_dims)
        Standardized features.
    neighbours : Neighbours
        Of the same features.
    sample : Sample
        Of the same frames.
    """
    n = len(x)
    own, *by_lag = neighbours.cosines.sum(axis=1)
    if n <= len(by_lag):
        return False
    mean = (float(neighbours.total @ neighbours.total) - own) / (n * (n - 1))
    n_pairs = n - np.arange(1, len(by_lag) + 1)
    excess = np.abs(np.asarray(by_lag) / n_pairs - mean) * np.sqrt(n_pairs)
    if np.any(excess > ORDERED * _deviation_of_cosines(x)):
        return True
    edges = sample.edges(np.zeros(0, dtype=np.int64))
    return bool(np.any(np.abs(_deviations(_residuals(sample.rows, edges), edges)) > ORDERED))


def _deviation_of_cosines(x: Array | ScaledRows) -> float:
    """Standard deviation of the cosines of all pairs of frames, or of frames chosen at random."""
    some: Any = slice(None)
    if len(x) > MOST_FRAMES:
        # Not every k-th: frames may be periodic.
        some = np.sort(np.random.default_rng(0).choice(len(x), MOST_FRAMES, replace=False))
    # Single precision is enough, and this is the only product of all pairs or columns.
    u = unit_rows(to_numpy(x[some]).astype(np.float32, copy=False))
    n = len(u)
    gram = u @ u.T if n <= u.shape[1] else u.T @ u
    own = np.sum(u * u, axis=1, dtype=np.float64)
    total = np.sum(u, axis=0, dtype=np.float64)
    mean = (float(np.vdot(total, total)) - own.sum()) / (n * (n - 1))
    square = (float(np.sum(gram * gram, dtype=np.float64)) - float(np.vdot(own, own))) / (n * (n - 1))
    return float(np.sqrt(max(square - mean**2, 1e-12)))


def sample_frames(x: Array | ScaledRows) -> Sample:
    """Take all frames, or eight stretches of 512, and at most 32 random directions of them: noise stays noise.

    Parameters
    ----------
    x : array or ScaledRows of shape (n_frames, n_dims)
        Standardized features.
    """
    n, n_dims = len(x), x.shape[1]
    stretches = [np.arange(n)]
    if n > N_STRETCHES * STRETCH:
        starts = np.linspace(0, n - STRETCH, N_STRETCHES).astype(np.int64)
        stretches = [np.arange(start, start + STRETCH) for start in starts]
    parts = [to_numpy(x[int(s[0]) : int(s[-1]) + 1]).astype(np.float64, copy=False) for s in stretches if len(s)]
    if n_dims > N_COLUMNS:
        signs = np.random.default_rng(0).choice([-1.0, 1.0], size=(n_dims, N_COLUMNS))
        parts = [part @ signs for part in parts]
    return Sample(np.concatenate(parts), np.concatenate(stretches), n)


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
    if sample.n_frames < LEAST_FRAMES:
        return n
    ordered, noise = -1, 0
    while not _is_noise(sample, boundaries[:noise]):
        ordered, noise = noise, max(1, 2 * noise)
        if noise > min(n, sample.n_frames // SHORT):
            return n
    while noise - ordered > 1:
        middle = (ordered + noise) // 2
        ordered, noise = (ordered, middle) if _is_noise(sample, boundaries[:middle]) else (middle, noise)
    rest = log_heights[noise:]
    # If noise were as high as the candidates, there would be many.
    if len(rest) < sample.n_frames / FRAMES_PER_CANDIDATE:
        return n
    usual = float(np.median(rest))
    spread = 1.4826 * float(np.median(np.abs(rest - usual)))
    return noise + int(np.sum(rest > usual + CLEAR * spread))


def _is_noise(sample: Sample, boundaries: IntArray) -> bool:
    edges = sample.edges(boundaries)
    rows = _residuals(sample.rows, edges)
    # Products show what is rare, cosines do not depend on outliers. Events that follow noise too closely leave frames
    # that are less alike than in random order.
    return all(_deviations(kind(rows), edges).max() < NOISY for kind in (np.asarray, unit_rows))


def _residuals(rows: FloatArray, edges: IntArray) -> FloatArray:
    """Subtract the mean of its event from every frame."""
    lengths = np.diff(edges)
    means = np.add.reduceat(rows, edges[:-1], axis=0) / lengths[:, None]
    return np.asarray(rows - np.repeat(means, lengths, axis=0))


def _deviations(rows: FloatArray, edges: IntArray) -> FloatArray:
    """Return by how many standard deviations frames within events are more alike than in random order, by lag."""
    lengths = np.diff(edges)
    event = np.repeat(np.arange(len(lengths)), lengths)
    sums = np.add.reduceat(rows, edges[:-1], axis=0)
    own = np.add.reduceat(np.sum(rows * rows, axis=1), edges[:-1])
    # Mean product of any two frames of each event.
    usual = (np.sum(sums * sums, axis=1) - own) / np.maximum(lengths * (lengths - 1), 1)
    covariance = rows.T @ rows / len(rows)
    variance = max(float(np.sum(covariance * covariance)), 1e-300)
    found = np.zeros(len(LAGS))
    for k, lag in enumerate(LAGS):
        n_pairs = np.maximum(lengths - lag, 0)
        products = np.einsum("ij,ij->i", rows[:-lag], rows[lag:])
        excess = products[event[:-lag] == event[lag:]].sum() - usual @ n_pairs
        found[k] = excess / np.sqrt(variance * max(int(n_pairs.sum()), 1))
    return found
