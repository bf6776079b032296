"""The frames in which a boundary lies: how uncertain its place is, if it is a boundary at all."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from dayline.arrays import FloatArray, IntArray
from dayline.decision.evidence import Evidence
from dayline.decision.partition import running_sums

STATED = 0.8
"""Probability with which a boundary that people mark lies in its interval."""

WEIGHTS = np.asarray([0.3, 1.1, -0.85])
"""Weights of the terms of `places_of`, from `benchmarks/accuracy/intervals.py`."""


def boundary_intervals(
    evidence: Evidence, boundaries: IntArray, *, share: float = STATED
) -> IntArray:
    """Return the first and the last frame of the interval in which each boundary lies.

    An interval holds its boundary, and ends before the middle to the boundaries beside it. A
    required boundary has one frame.

    Parameters
    ----------
    evidence : Evidence
        From `gather_evidence`.
    boundaries : ndarray of int
        What was decided, in order of time.
    share : float in (0, 1)
        Probability that each interval holds at least.

    Returns
    -------
    ndarray of int, shape (n_boundaries, 2)
    """
    required = set(evidence.hierarchy.required.tolist())
    intervals = np.empty((len(boundaries), 2), dtype=np.int64)
    for k, (boundary, (frames, terms)) in enumerate(
        zip(boundaries.tolist(), places_of(evidence, boundaries), strict=True)
    ):
        if boundary in required:
            intervals[k] = boundary
            continue
        first, last = grow(place_weights(terms), boundary - int(frames[0]), share)
        intervals[k] = frames[0] + first, frames[0] + last
    return intervals


def places_of(evidence: Evidence, boundaries: IntArray) -> Iterator[tuple[IntArray, FloatArray]]:
    """Yield the frames that each boundary might be at, and what speaks for each of them.

    Yields
    ------
    frames : ndarray of int, shape (n_places,)
        Those nearer to this boundary than to any other, in order.
    terms : ndarray of shape (n_places, 3)
        What a boundary there gains in place of this one, in penalties; 1 at a hard cut; and the
        logarithm of one plus the distance from the boundary.
    """
    hierarchy = evidence.hierarchy
    n_frames = len(hierarchy.x)

    # Neither end of the sequence is a boundary, so all frames up to there are nearer.
    edges = np.concatenate([[0], boundaries, [n_frames]])
    first, last = (edges[:-2] + boundaries) // 2 + 1, (boundaries + edges[2:] - 1) // 2
    first[:1], last[-1:] = 1, n_frames - 1
    sizes = last - first + 1
    of, begins = np.repeat(np.arange(len(boundaries)), sizes), np.cumsum(sizes) - sizes
    frames = np.arange(len(of)) + (first - begins)[of]

    # What the events before and after gain with the boundary at each of them.
    start, stop = edges[of], edges[of + 2]
    sums = running_sums(hierarchy.x)
    left, right = (frames - start)[:, None], (stop - frames)[:, None]
    contrast = (sums[frames] - sums[start]) / left - (sums[stop] - sums[frames]) / right
    gain = np.sum(contrast * contrast * left * right / (left + right), axis=1)
    gain[np.isin(frames, hierarchy.forbidden)] = -np.inf
    here = gain[begins + boundaries - first]

    terms = np.column_stack(
        [
            (gain - here[of]) / hierarchy.penalty,
            hierarchy.log_weights[frames] > 0,
            np.log1p(np.abs(frames - boundaries[of])),
        ]
    )
    for begin, size in zip(begins, sizes, strict=True):
        yield frames[begin : begin + size], terms[begin : begin + size]


def place_weights(terms: FloatArray, weights: FloatArray = WEIGHTS) -> FloatArray:
    """Return how probable each place is, from the terms of `places_of`."""
    logits = terms @ weights
    chances = np.exp(logits - logits.max())
    return np.asarray(chances / chances.sum())


def grow(weights: FloatArray, at: int, share: float) -> tuple[int, int]:
    """Grow an interval from a position, always on the heavier side, until it has the share."""
    values = weights.tolist()
    first = last = at
    held = values[at]
    while held < share and last - first + 1 < len(values):
        before = values[first - 1] if first > 0 else -1.0
        after = values[last + 1] if last + 1 < len(values) else -1.0
        if before >= after:
            first -= 1
        else:
            last += 1
        held += max(before, after)
    return first, last
