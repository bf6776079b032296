"""The evidence for boundaries: two views of the frames, hard cuts, and checks for noise and drift."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dayline.arrays import Array, FloatArray, IntArray, to_numpy
from dayline.decision.abruptness import abruptness, compare_neighbours, hard_cuts, slowness
from dayline.decision.hierarchy import Hierarchy, build_hierarchy
from dayline.decision.model import DecisionModel, expected_f1, load_model
from dayline.decision.noise import in_few_directions, n_above_noise, why_no_events
from dayline.decision.partition import running_sums
from dayline.method.denoise import spread_few_directions, standardized_rows
from dayline.method.graph import unit_rows

__all__ = ["Evidence", "boundary_weights", "gather_evidence", "share_of_change", "two_views"]

NOISE, NO_EVENTS = -5.0, -30.0
"""Added to the log odds of candidates within noise, which only finer levels have, and of those in sequences without
events, which only a requested number has."""

NEARBY, LEAST_NEARBY, LEAST_IN_QUARTERS = 4, 0.2, 2 / 3
"""Frames on either side within which an event begins at once; share of change there, and in the quarters of two
events that meet, below which frames drift. The latter is 0.25 on a line, 1 at a step, 0.8 if averages over a moving
window blur the step over a quarter of both events."""


@dataclass(frozen=True)
class Evidence:
    """All that is needed to decide again without a new embedding.

    Attributes
    ----------
    embedding : ndarray of shape (n_frames, n_dims)
        The learnt vector of every frame, a unit row; its main directions if nothing was learnt.
    hierarchy : Hierarchy
        The candidates of `two_views`. The penalty is that of the model, times the slowness of the frames.
    split : float
        Log height that separates boundaries from the rest in this sequence.
    log_odds : ndarray of shape (n_candidates,)
        Added to the log odds of each candidate: 0, -5 if noise has such candidates too, -30 if there are no events.
    why_one_event : str
        Why no boundary is worth it, for noise and mere drift; otherwise empty.
    clock : ndarray of shape (n_frames + 1,)
        When each frame begins and the last one ends, in seconds of recording (a pause counts as ten long gaps at
        most) or, without times, in frames.
    """

    embedding: FloatArray
    hierarchy: Hierarchy
    split: float
    log_odds: FloatArray
    why_one_event: str
    clock: FloatArray

    @property
    def strengths(self) -> FloatArray:
        """Logarithm of the height of each candidate over the split."""
        return self.hierarchy.log_heights - self.split


def gather_evidence(
    features: Array,
    directions: Array,
    embedding: FloatArray | None,
    *,
    required: IntArray,
    forbidden: IntArray,
    times: FloatArray | None,
) -> Evidence:
    """Find the candidates of a sequence and their strengths; see `Evidence`.

    The directions are the main ones of the denoised features; without an embedding, only they count.
    """
    model = load_model()
    standardized = standardized_rows(to_numpy(features))
    seen = unit_rows(to_numpy(directions).astype(np.float64))
    learnt = seen if embedding is None else unit_rows(np.asarray(embedding, dtype=np.float64))
    views = seen if embedding is None else two_views(learnt, seen)
    cosines = compare_neighbours(spread_few_directions(standardized))
    log_weights = boundary_weights(cosines, model)
    # The same recording at a higher frame rate has more frames to gain, also from noise.
    penalty = model.candidate_penalty * slowness(cosines)
    none = np.zeros(0, dtype=np.int64)
    # Constraints on some frames must not change how all the others are measured.
    free = hierarchy = build_hierarchy(views, log_weights, penalty=penalty, required=none, forbidden=none)
    if len(required) or len(forbidden):
        hierarchy = build_hierarchy(views, log_weights, penalty=penalty, required=required, forbidden=forbidden)
    split = model.split(free.log_heights, len(views), penalty=penalty)
    few = in_few_directions(standardized)
    n_clear = n_above_noise(few, free.boundaries, free.log_heights)
    # By height: a constraint may move candidates by a frame.
    of_noise = np.max(free.log_heights[n_clear:], initial=-np.inf)
    log_odds = np.where(hierarchy.log_heights > of_noise, 0.0, NOISE)
    n_found = np.argmax(expected_f1(model.probabilities(free.log_heights[:n_clear] - split)))
    found = np.sort(free.boundaries[:n_found])
    nearby, in_quarters = (share_of_change(seen, found, part=part) for part in (0.0, 0.25))
    why_one_event = why_no_events(few)
    if not why_one_event and nearby < LEAST_NEARBY and in_quarters < LEAST_IN_QUARTERS:
        why_one_event = (
            "the frames change slowly all the time; if each is an average over a moving window, keep one frame in "
            "every quarter of the window"
        )
    if why_one_event:
        log_odds[:] = NO_EVENTS
    return Evidence(learnt, hierarchy, split, log_odds, why_one_event, _clock(len(views), times))


def two_views(embedding: FloatArray, directions: FloatArray) -> FloatArray:
    """Join the embedding and the main directions of the denoised features, both with unit rows and the same weight.

    The embedding is better where events recur, the features where they do not.
    """
    return np.asarray(np.concatenate([embedding, directions], axis=1) / np.sqrt(2.0))


def boundary_weights(cosines: FloatArray, model: DecisionModel) -> FloatArray:
    """Return the logarithm of the weight of a boundary at every frame: events often begin with a hard cut."""
    return np.asarray(np.log1p(model.cut_weight * hard_cuts(abruptness(cosines))))


def share_of_change(x: FloatArray, boundaries: IntArray, *, part: float) -> float:
    """Return how much of the change from event to event happens near the boundary.

    1 if every event stays as it is until the next begins, near 0 if frames drift. The change beside the boundary, in
    `part` of both events and four frames at least, is projected on that of the whole events, so that noise counts for
    neither side. 1 without boundaries.
    """
    edges = np.concatenate([[0], boundaries, [len(x)]])
    sums = running_sums(x)

    def change(start: IntArray, here: IntArray, stop: IntArray) -> FloatArray:
        before = (sums[here] - sums[start]) / (here - start)[:, None]
        return np.asarray(before - (sums[stop] - sums[here]) / (stop - here)[:, None])

    start, here, stop = edges[:-2], edges[1:-1], edges[2:]
    whole = change(start, here, stop)
    before, after = (np.maximum(part * length, NEARBY).astype(np.int64) for length in (here - start, stop - here))
    beside = change(np.maximum(start, here - before), here, np.minimum(stop, here + after))
    total = float(np.sum(whole * whole))
    return float(np.sum(beside * whole)) / total if total > 0 else 1.0


def _clock(n_frames: int, times: FloatArray | None) -> FloatArray:
    if times is None or times[0] == times[-1]:
        return np.arange(n_frames + 1, dtype=np.float64)
    gaps = np.diff(times)
    usual = float(np.median(gaps[gaps > 0]))
    # A camera that was off has recorded nothing: a pause must not lengthen the events beside it. Gaps after one frame
    # in ten are not pauses but this camera's rate.
    longest = 10.0 * float(np.quantile(gaps[gaps > 0], 0.9))
    return np.concatenate([[0.0], np.cumsum(np.append(np.minimum(gaps, longest), usual))])
