"""From an embedding to a decision: which boundaries, at which level, how sure, and which events belong together."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np

from dayline.arrays import FloatArray, IntArray
from dayline.decision.hard_cuts import plain_factor
from dayline.decision.hierarchy import (
    FINEST,
    Level,
    boundary_confidence,
    boundary_heights,
    drop_short_events,
    finer_levels,
    keep_strongest,
    nearest_to_duration,
    nested_levels,
)
from dayline.decision.penalties import Prices
from dayline.decision.stability import steady_factor
from dayline.method.communities import find_recurring_events
from dayline.method.graph import unit_rows

__all__ = ["Decision", "Evidence", "decide", "gather_evidence"]

WEAK, STRONG = 0.25, 10.0
"""How much the usual duration of a kind of source, and a person's wish, weigh against the usual price."""


@dataclass(frozen=True)
class Evidence:
    """All that is needed to decide again without a new embedding.

    Attributes
    ----------
    embedding : ndarray of shape (n_frames, n_components)
        Unit rows.
    prices, full_prices : ndarray of shape (n_frames,)
        Price of a boundary at every frame, and the same without the discount of hard cuts.
    levels : tuple of Level
        Nested segmentations, coarsest first.
    must : ndarray of int
        Boundaries that stay.
    clock : ndarray of shape (n_frames + 1,)
        When each frame begins and the last one ends, in seconds of recording (a pause counts as ten long gaps at
        most) or, without times, in frames.
    """

    embedding: FloatArray
    prices: FloatArray
    full_prices: FloatArray
    levels: tuple[Level, ...]
    must: IntArray
    clock: FloatArray


@dataclass(frozen=True)
class Decision:
    """Boundaries with their confidence, and the community of every frame."""

    boundaries: IntArray
    confidence: FloatArray
    communities: IntArray


def gather_evidence(
    embedding: FloatArray,
    prices: Prices,
    *,
    must: IntArray,
    forbidden: IntArray,
    times: FloatArray | None,
) -> Evidence:
    """Segment at all levels; see `Evidence`.

    Parameters
    ----------
    embedding : ndarray of shape (n_frames, n_components)
        One row per frame.
    prices : Prices
        Lowest price of a boundary at every frame, and how much dearer all may become.
    must, forbidden : ndarray of int
        Frames that must and must not be boundaries.
    times : ndarray of shape (n_frames,), optional
        Seconds.
    """
    u = unit_rows(np.asarray(embedding, dtype=np.float64))
    # What a person knows of some frames must not change the price of all the others.
    plain = plain_factor(u, prices.full, prices.cuts)
    lowest = prices.asked * plain
    factor = steady_factor(u, lowest, room=prices.room)
    asked = lowest * factor
    asked[forbidden] = np.inf
    levels = nested_levels(u, asked, must=must.tolist(), finest=FINEST / factor)
    return Evidence(u, asked, prices.full * plain * factor, levels, must, _clock(len(u), times))


def _clock(n_frames: int, times: FloatArray | None) -> FloatArray:
    if times is None:
        return np.arange(n_frames + 1, dtype=np.float64)
    gaps = np.diff(times)
    if not np.any(gaps > 0):
        return np.arange(n_frames + 1, dtype=np.float64)
    usual = float(np.median(gaps[gaps > 0]))
    # A camera that was off has recorded nothing: a pause must not make the events beside it longer. Gaps that one in
    # ten frames has are no pauses but the rhythm of this camera.
    longest = 10.0 * float(np.quantile(gaps[gaps > 0], 0.9))
    return np.concatenate([[0.0], np.cumsum(np.append(np.minimum(gaps, longest), usual))])


def decide(
    evidence: Evidence,
    *,
    n_events: int | None = None,
    min_duration: float | None = None,
    expected_duration: float | None = None,
    typical_duration: float | None = None,
    level: int = 0,
) -> Decision:
    """Choose boundaries from the evidence.

    Parameters
    ----------
    evidence : Evidence
        From `gather_evidence`.
    n_events : int, optional
        How many events are wanted; goes before the durations and the level.
    min_duration : float, optional
        Shortest event, in seconds or frames.
    expected_duration, typical_duration : float, optional
        Mean duration that a person wants (strong) or that this kind of source usually has (weak).
    level : int
        Levels finer (positive) or coarser (negative) than the usual one.
    """
    if n_events is not None:
        boundaries = _exactly(evidence, n_events)
    elif level >= 0 and expected_duration is not None and expected_duration < _finest_duration(evidence):
        boundaries = _of_duration(evidence, expected_duration)
        _warn_of_level(level, beyond=level > 0)
    else:
        boundaries = _usual_level(evidence, expected_duration, typical_duration, level).boundaries
    if min_duration is not None:
        chosen, boundaries = boundaries, _without_short_events(evidence, boundaries, min_duration)
        if n_events is not None and len(boundaries) < len(chosen):
            n = len(boundaries) + 1
            warnings.warn(f"min_duration={min_duration:g} leaves {n} of n_events={n_events} events", stacklevel=2)
    # At the full price: that hard cuts are cheaper must not make them sure.
    heights = boundary_heights(evidence.levels, boundaries)
    heights *= evidence.prices[boundaries] / evidence.full_prices[boundaries]
    confidence = boundary_confidence(heights, must=evidence.must, boundaries=boundaries)
    communities = find_recurring_events(evidence.embedding, boundaries)
    return Decision(boundaries, confidence, communities)


def _usual_level(evidence: Evidence, expected: float | None, typical: float | None, level: int) -> Level:
    levels = evidence.levels
    total = _total(evidence)
    usual = min(levels, key=lambda one: abs(np.log2(one.factor)))
    if expected is not None:
        usual = nearest_to_duration(levels, expected, total=total, strength=STRONG)
    elif typical is not None:
        # What is usual elsewhere moves the price by less than a factor of two: a clear boundary stays.
        near = tuple(one for one in levels if one is usual or 0.5 < one.factor < 2.0)
        usual = nearest_to_duration(near, typical, total=total, strength=WEAK)
    at = levels.index(usual) + level
    _warn_of_level(level, beyond=not 0 <= at < len(levels))
    return levels[min(max(at, 0), len(levels) - 1)]


def _warn_of_level(level: int, *, beyond: bool) -> None:
    if beyond:
        side = "finer" if level > 0 else "coarser"
        warnings.warn(f"level={level}: there is no {side} level than the one used", stacklevel=3)


def _total(evidence: Evidence) -> float:
    return float(evidence.clock[-1] - evidence.clock[0])


def _finest_duration(evidence: Evidence) -> float:
    return _total(evidence) / (len(evidence.levels[-1].boundaries) + 1)


def _of_duration(evidence: Evidence, duration: float) -> IntArray:
    """Give as many events as last that long; the levels do not go so far down."""
    n_events = round(min(_total(evidence) / duration, len(evidence.embedding)))
    return _exactly(evidence, n_events, f"expected_duration={duration:g}: {n_events} events")


def _exactly(evidence: Evidence, n_events: int, wish: str = "") -> IntArray:
    u, wanted = evidence.embedding, n_events - 1
    levels = finer_levels(evidence.levels, u, evidence.prices, n_boundaries=wanted)
    boundaries = keep_strongest(levels, min(wanted, len(levels[-1].boundaries)), u, evidence.prices, evidence.must)
    if len(boundaries) != wanted:
        warnings.warn(
            f"{wish or f'n_events={n_events}'} cannot be reached here; {len(boundaries) + 1} is the nearest "
            "possible number",
            stacklevel=2,
        )
    return boundaries


def _without_short_events(evidence: Evidence, boundaries: IntArray, min_duration: float) -> IntArray:
    if min_duration > _total(evidence):
        warnings.warn(
            f"min_duration={min_duration:g} is longer than the sequence; it becomes one event", stacklevel=2
        )
    return drop_short_events(
        boundaries, evidence.embedding, clock=evidence.clock, shortest=min_duration, must=evidence.must
    )
