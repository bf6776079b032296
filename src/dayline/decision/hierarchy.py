"""Nested segmentations from coarse to fine, and how long each boundary survives."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from dayline.arrays import FloatArray, IntArray
from dayline.decision.partition import partition_between, trace_back

__all__ = [
    "Level",
    "boundary_confidence",
    "boundary_heights",
    "drop_short_events",
    "finer_levels",
    "keep_strongest",
    "nearest_to_duration",
    "nested_levels",
]

FINEST, STEPS_PER_OCTAVE = 0.25, 4
"""Factor of the finest level on the lowest price a sequence may have, hard cuts counted; coarser levels by octave."""


@dataclass(frozen=True)
class Level:
    """One of several nested segmentations.

    Attributes
    ----------
    factor : float
        How dear boundaries are here; 1 is the usual price, higher is coarser.
    highest : float
        The highest factor tried that gives the same boundaries.
    boundaries : ndarray of int
        Every boundary of a coarser level is among them.
    """

    factor: float
    highest: float
    boundaries: IntArray


def nested_levels(
    x: FloatArray, prices: FloatArray, *, must: Iterable[int] = (), finest: float = FINEST
) -> tuple[Level, ...]:
    """Segment at many prices so that every coarse boundary is also a fine one.

    The usual price gets the optimal partition. Coarser levels choose the best of its boundaries, finer ones split
    its events further.

    Parameters
    ----------
    x : ndarray of shape (n_frames, n_dims)
        Unit rows of an embedding.
    prices : ndarray of shape (n_frames,)
        Price of a boundary at every frame; infinity forbids it.
    must : iterable of int
        Boundaries of every level, whatever they cost.
    finest : float
        Factor on the prices of the finest level.

    Returns
    -------
    tuple of Level
        Coarsest first; levels with the same boundaries appear once.
    """
    kept = np.unique(np.asarray(list(must), dtype=np.int64))
    usual = partition_between(x, prices, kept)
    coarser: list[Level] = []
    boundaries, step = usual, 1
    while len(boundaries) > len(kept):
        factor = 2.0 ** (step / STEPS_PER_OCTAVE)
        boundaries = partition_between(x, prices * factor, kept, among=boundaries)
        coarser.append(Level(factor, factor, boundaries))
        step += 1
    finer: list[Level] = []
    boundaries = usual
    for half_octave in range(1, round(-2 * np.log2(finest)) + 1):
        factor = 2.0 ** (-half_octave / 2)
        boundaries = partition_between(x, prices * factor, boundaries)
        finer.append(Level(factor, factor, boundaries))
    return _without_doubles([*coarser[::-1], Level(1.0, 1.0, usual), *finer])


def _without_doubles(levels: list[Level]) -> tuple[Level, ...]:
    """Keep one of neighbouring levels that agree: the one nearest to the usual price."""
    kept: list[Level] = []
    for level in levels:
        if kept and len(kept[-1].boundaries) == len(level.boundaries):
            if kept[-1].factor > 1.0:
                kept[-1] = replace(level, highest=kept[-1].highest)
            continue
        kept.append(level)
    return tuple(kept)


def finer_levels(
    levels: tuple[Level, ...], x: FloatArray, prices: FloatArray, *, n_boundaries: int
) -> tuple[Level, ...]:
    """Add cheaper and cheaper levels until one has that many boundaries, or nothing more can be split."""
    finest = levels[-1]
    while len(finest.boundaries) < n_boundaries and finest.factor > 1e-12:
        factor = finest.factor / 4
        finest = Level(factor, factor, partition_between(x, prices * factor, finest.boundaries))
        levels = (*levels, finest)
    return _without_doubles(list(levels))


def boundary_heights(levels: tuple[Level, ...], boundaries: IntArray) -> FloatArray:
    """Highest factor on the usual price at which each boundary still stands; 0 where it stands at none."""
    heights = np.zeros(len(boundaries))
    for level in levels:
        heights = np.maximum(heights, np.where(np.isin(boundaries, level.boundaries), level.highest, 0.0))
    return heights


def boundary_confidence(heights: FloatArray, *, must: IntArray, boundaries: IntArray) -> FloatArray:
    """Turn heights into a share: among boundaries with confidence 0.8 about 80 % matched on the development sets.

    Heights are in full prices here: that a hard cut is cheaper does not make it sure. A guide, not a promise: it was
    fitted on other people's recordings and their idea of an event.
    """
    logit = -0.01 + 0.39 * np.log2(np.maximum(heights, 1e-3))
    return np.where(np.isin(boundaries, must), 1.0, 1.0 / (1.0 + np.exp(-logit)))


def keep_strongest(
    levels: tuple[Level, ...], n_boundaries: int, x: FloatArray, prices: FloatArray, must: IntArray
) -> IntArray:
    """Reach a number of boundaries: from the next finer level, give up the weakest of those no coarser level has.

    The weakest is the one that adds least for its price. One of the levels must have that many; see `finer_levels`.
    """
    enough = [level for level in levels if len(level.boundaries) >= n_boundaries]
    boundaries = enough[0].boundaries
    at = levels.index(enough[0])
    coarser = levels[at - 1].boundaries if at else must
    while len(boundaries) > max(n_boundaries, len(coarser)):
        loose = boundaries[~np.isin(boundaries, coarser)]
        gains = (_gains(x, boundaries) / prices[boundaries])[np.isin(boundaries, loose)]
        boundaries = boundaries[boundaries != loose[int(np.argmin(gains))]]
    return boundaries


def _gains(x: FloatArray, boundaries: IntArray) -> FloatArray:
    """What each boundary adds to the sum that the partition maximises."""
    sums = _sums(x)
    edges = np.concatenate([[0], boundaries, [len(x)]])
    left, here, right = edges[:-2], edges[1:-1], edges[2:]
    return _worth(sums, left, here) + _worth(sums, here, right) - _worth(sums, left, right)


def _sums(x: FloatArray) -> FloatArray:
    return np.concatenate([np.zeros((1, x.shape[1])), np.cumsum(x, axis=0)])


def _worth(sums: FloatArray, start: IntArray, stop: IntArray) -> FloatArray:
    """What an event from `start` to `stop` adds to the sum that the partition maximises."""
    run = sums[stop] - sums[start]
    return np.asarray(np.sum(run * run, axis=-1) / (stop - start))


def drop_short_events(
    boundaries: IntArray, x: FloatArray, *, clock: FloatArray, shortest: float, must: IntArray
) -> IntArray:
    """Keep those boundaries that together explain most, with no event shorter than `shortest`.

    Parameters
    ----------
    boundaries : ndarray of int
        Where to start from.
    x : ndarray of shape (n_frames, n_dims)
        Unit rows of an embedding.
    clock : ndarray of shape (n_frames + 1,)
        When each frame begins, and when the last one ends, in the unit of `shortest`.
    shortest : float
        Fewest frames or seconds of an event; only one between two boundaries that stay may be shorter.
    must : ndarray of int
        Boundaries that stay.
    """
    fixed = boundaries[np.isin(boundaries, must)]
    sums, kept = _sums(x), [fixed]
    for start, stop in pairwise([0, *fixed.tolist(), len(x)]):
        inside = boundaries[(boundaries > start) & (boundaries < stop)]
        kept.append(_longer_events(sums, np.concatenate([[start], inside, [stop]]), clock, shortest))
    return np.unique(np.concatenate(kept))


def _longer_events(sums: FloatArray, edges: IntArray, clock: FloatArray, shortest: float) -> IntArray:
    """Find the best chain of edges from the first to the last whose steps are long enough."""
    best = np.full(len(edges), -np.inf)
    best[0] = 0.0
    previous = np.zeros(len(edges), dtype=np.int64)
    for k in range(1, len(edges)):
        early = np.flatnonzero(clock[edges[k]] - clock[edges[:k]] >= shortest)
        if len(early):
            reached = best[early] + _worth(sums, edges[early], edges[k])
            best[k], previous[k] = reached.max(), early[np.argmax(reached)]
    return trace_back(previous, edges)


def nearest_to_duration(levels: tuple[Level, ...], duration: float, *, total: float, strength: float) -> Level:
    """Weigh the usual price against a wished mean duration of events.

    Minimises (log2 of the factor)^2 + strength (log2 of the mean duration over the wished one)^2.
    """

    def cost(level: Level) -> float:
        mean = total / (len(level.boundaries) + 1)
        return float(np.log2(level.factor) ** 2 + strength * np.log2(mean / duration) ** 2)

    return min(levels, key=cost)
