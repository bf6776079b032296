"""From an embedding to a decision: boundaries at a level, with their confidence, and the communities of events."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from dayline.arrays import FloatArray, IntArray
from dayline.checks import LARGEST_COUNT, check_between
from dayline.decision.hard_cuts import gradual_factor
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
from dayline.decision.penalties import Penalties
from dayline.decision.stability import stable_factor
from dayline.method.communities import find_recurring_events
from dayline.method.graph import unit_rows

__all__ = ["DECISION_PARAMETERS", "Decision", "Evidence", "check_decision_parameters", "decide", "gather_evidence"]

DECISION_PARAMETERS = ("n_events", "min_duration", "expected_duration", "typical_duration", "level")
"""Parameters of `decide`: what the user requests of the events."""

WEAK, STRONG = 0.25, 10.0
"""Weights of the typical duration of a kind of source, and of a requested duration, against the usual penalty."""


@dataclass(frozen=True)
class Evidence:
    """All that is needed to decide again without a new embedding.

    Attributes
    ----------
    embedding : ndarray of shape (n_frames, n_components)
        Unit rows.
    penalties, undiscounted : ndarray of shape (n_frames,)
        Penalty of a boundary at every frame, and the same without the discount of hard cuts.
    levels : tuple of Level
        Nested segmentations, coarsest first.
    required : ndarray of int
        Required boundaries.
    clock : ndarray of shape (n_frames + 1,)
        When each frame begins and the last one ends, in seconds of recording (a pause counts as ten long gaps at
        most) or, without times, in frames.
    """

    embedding: FloatArray
    penalties: FloatArray
    undiscounted: FloatArray
    levels: tuple[Level, ...]
    required: IntArray
    clock: FloatArray


@dataclass(frozen=True)
class Decision:
    """Boundaries with their confidence, and the community of every frame."""

    boundaries: IntArray
    confidence: FloatArray
    communities: IntArray


def gather_evidence(
    embedding: FloatArray,
    penalties: Penalties,
    *,
    required: IntArray,
    forbidden: IntArray,
    times: FloatArray | None,
) -> Evidence:
    """Segment at all levels; see `Evidence`.

    Parameters
    ----------
    embedding : ndarray of shape (n_frames, n_components)
        One row per frame.
    penalties : Penalties
        Lowest penalty of a boundary at every frame, and the highest factor on all of them.
    required, forbidden : ndarray of int
        Frames that must and must not be boundaries.
    times : ndarray of shape (n_frames,), optional
        Seconds.
    """
    u = unit_rows(np.asarray(embedding, dtype=np.float64))
    # Constraints on some frames must not change the penalty of all the others.
    gradual = gradual_factor(u, penalties.undiscounted, penalties.cuts)
    lowest = penalties.discounted * gradual
    factor = stable_factor(u, lowest, max_factor=penalties.max_factor)
    chosen = lowest * factor
    chosen[forbidden] = np.inf
    levels = nested_levels(u, chosen, required=required.tolist(), finest=FINEST / factor)
    undiscounted = penalties.undiscounted * gradual * factor
    return Evidence(u, chosen, undiscounted, levels, required, _clock(len(u), times))


def _clock(n_frames: int, times: FloatArray | None) -> FloatArray:
    if times is None:
        return np.arange(n_frames + 1, dtype=np.float64)
    gaps = np.diff(times)
    if not np.any(gaps > 0):
        return np.arange(n_frames + 1, dtype=np.float64)
    usual = float(np.median(gaps[gaps > 0]))
    # A camera that was off has recorded nothing: a pause must not lengthen the events beside it. Gaps after one frame
    # in ten are not pauses but this camera's rate.
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
        Number of events; takes precedence over the durations and the level.
    min_duration : float, optional
        Shortest event, in seconds or frames.
    expected_duration, typical_duration : float, optional
        Mean duration that is requested (strong) or typical of this kind of source (weak).
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
    # At the undiscounted penalty: a lower penalty must not make hard cuts more certain.
    heights = boundary_heights(evidence.levels, boundaries)
    heights *= evidence.penalties[boundaries] / evidence.undiscounted[boundaries]
    confidence = boundary_confidence(heights, required=evidence.required, boundaries=boundaries)
    communities = find_recurring_events(evidence.embedding, boundaries)
    return Decision(boundaries, confidence, communities)


def check_decision_parameters(**given: Any) -> None:
    """Raise ValueError if a parameter of `decide` is not a number, or out of range."""
    for name, value in given.items():
        if name == "level":
            check_between(name, value, -1000, 1000, whole=True)
        elif value is not None:
            counted = name == "n_events"
            high = LARGEST_COUNT if counted else np.inf
            check_between(name, value, 1 if counted else 0, high, whole=counted, above=not counted)


def _usual_level(evidence: Evidence, expected: float | None, typical: float | None, level: int) -> Level:
    levels = evidence.levels
    total = _total(evidence)
    usual = min(levels, key=lambda one: abs(np.log2(one.factor)))
    if expected is not None:
        usual = nearest_to_duration(levels, expected, total=total, strength=STRONG)
    elif typical is not None:
        # What is typical elsewhere moves the penalty by less than a factor of two: a clear boundary stays.
        near = tuple(one for one in levels if one is usual or 0.5 < one.factor < 2.0)
        usual = nearest_to_duration(near, typical, total=total, strength=WEAK)
    at = levels.index(usual) + level
    _warn_of_level(level, beyond=not 0 <= at < len(levels))
    return levels[min(max(at, 0), len(levels) - 1)]


def _warn_of_level(level: int, *, beyond: bool) -> None:
    if beyond:
        side = "finer" if level > 0 else "coarser"
        warnings.warn(f"level={level}: no level is {side} than the one used", stacklevel=3)


def _total(evidence: Evidence) -> float:
    return float(evidence.clock[-1] - evidence.clock[0])


def _finest_duration(evidence: Evidence) -> float:
    return _total(evidence) / (len(evidence.levels[-1].boundaries) + 1)


def _of_duration(evidence: Evidence, duration: float) -> IntArray:
    """Return boundaries of as many events of that duration as fit; no level is that fine."""
    n_events = round(min(_total(evidence) / duration, len(evidence.embedding)))
    return _exactly(evidence, n_events, f"expected_duration={duration:g}: {n_events} events")


def _exactly(evidence: Evidence, n_events: int, requested: str = "") -> IntArray:
    u, wanted = evidence.embedding, n_events - 1
    levels = finer_levels(evidence.levels, u, evidence.penalties, n_boundaries=wanted)
    boundaries = keep_strongest(
        levels, min(wanted, len(levels[-1].boundaries)), u, evidence.penalties, evidence.required
    )
    if len(boundaries) != wanted:
        warnings.warn(
            f"{requested or f'n_events={n_events}'} cannot be reached here; {len(boundaries) + 1} is the nearest "
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
        boundaries, evidence.embedding, clock=evidence.clock, shortest=min_duration, required=evidence.required
    )
