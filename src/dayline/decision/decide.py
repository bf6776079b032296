"""From evidence to a decision: the boundaries of highest expected F1, with their probability, and nested levels."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from dayline.arrays import FloatArray, IntArray
from dayline.checks import LARGEST_COUNT, check_between
from dayline.decision.contexts import find_recurring_events
from dayline.decision.evidence import Evidence
from dayline.decision.hierarchy import extend_hierarchy
from dayline.decision.model import expected_f1, load_model
from dayline.decision.partition import trace_back
from dayline.text import counted

__all__ = [
    "DECISION_PARAMETERS",
    "Decision",
    "Level",
    "boundary_probability",
    "candidate_probabilities",
    "check_decision_parameters",
    "decide",
    "nested_levels",
    "without_short_events",
]

DECISION_PARAMETERS = ("n_events", "min_duration", "expected_duration", "typical_duration", "level")
"""Parameters of `decide`: what the user requests of the events."""

WEAK, STRONG = 0.5, 10.0
"""How much a factor of two in duration weighs against a factor of two in the odds, for the typical duration of a kind
of source and for one that is requested. The typical one matters in short recordings, which are split twice as finely
as long ones (benchmarks/accuracy/short_recordings.py)."""

MOST_DOUBLINGS = 40
"""Levels beyond these odds are not tried: in double precision every probability is 0 or 1 there."""


@dataclass(frozen=True)
class Level:
    """One of several nested segmentations.

    Attributes
    ----------
    factor : float
        Factor on the odds against every boundary; 1 is the decision itself, higher is coarser.
    boundaries : ndarray of int
        Every boundary of a coarser level is among them.
    """

    factor: float
    boundaries: IntArray


@dataclass(frozen=True)
class Decision:
    """Boundaries with their probability, and the community of every frame."""

    boundaries: IntArray
    confidence: FloatArray
    communities: IntArray


def nested_levels(evidence: Evidence) -> tuple[Level, ...]:
    """Decide as if boundaries were 2, 4, 8, ... times as likely as they are, and as unlikely.

    Where events are equally clear, doubled odds take all of them or none. Further levels are inserted there, by the
    order of the candidates, so that no level has more than twice the events of the one before it.

    Returns
    -------
    tuple of Level
        Coarsest first; levels with the same boundaries appear once, with the factor nearest to 1.
    """
    usual = _best_number(evidence, 0)
    found = {usual: [0]}
    for step, last in ((-1, len(evidence.required)), (1, len(evidence.strengths))):
        number = usual
        for doublings in range(step, step * (MOST_DOUBLINGS + 1), step):
            best = _best_number(evidence, doublings)
            # Nested by the order of the candidates, in one direction only.
            number = max(number, best) if step > 0 else min(number, best)
            found.setdefault(number, []).append(doublings)
            if number == last:
                break
    levels: list[Level] = []
    for number, tried in sorted(found.items()):
        level = _level(evidence, number, 2.0 ** -min(tried, key=abs))
        if levels:
            levels += _between(evidence, levels[-1], level)
        levels.append(level)
    return tuple(levels)


def _level(evidence: Evidence, number: int, factor: float) -> Level:
    return Level(factor, np.sort(evidence.hierarchy.boundaries[:number]))


def _between(evidence: Evidence, coarse: Level, fine: Level) -> list[Level]:
    """Return levels between two, none with more than twice the events of the one before."""
    few, many = len(coarse.boundaries) + 1, len(fine.boundaries) + 1
    n_steps = int(np.ceil(np.log2(many / few) - 1e-9))
    # With any factor nearer to 1, the decision is that of the other level.
    factor = coarse.factor if coarse.factor > 1.0 else fine.factor
    inserted = []
    for step in range(1, n_steps):
        number = round(few * (many / few) ** (step / n_steps)) - 1
        inserted.append(_level(evidence, number, factor))
    return inserted


def _best_number(evidence: Evidence, doublings: int) -> int:
    """Return the number of boundaries of highest expected F1, with the odds of each doubled that often."""
    expected = expected_f1(_by_kind(evidence, doublings * np.log(2.0)))
    n_required = len(evidence.required)
    return n_required + int(np.argmax(expected[n_required:]))


def _by_kind(evidence: Evidence, log_odds: float = 0.0) -> FloatArray:
    return load_model().probabilities(evidence.strengths, log_odds=evidence.log_odds + log_odds)


def decide(
    evidence: Evidence,
    levels: tuple[Level, ...],
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
    levels : tuple of Level
        From `nested_levels`.
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
        if level != 0 or expected_duration is not None:
            warnings.warn(f"n_events={n_events} takes precedence over the level and the duration", stacklevel=2)
        boundaries = _exactly(evidence, n_events, f"n_events={n_events}")
    elif level >= 0 and expected_duration is not None and expected_duration < _finest_duration(evidence, levels):
        boundaries = _of_duration(evidence, expected_duration)
        _warn_of_level(level, len(boundaries) + 1, beyond=level > 0)
    else:
        boundaries = _usual_level(evidence, levels, expected_duration, typical_duration, level).boundaries
    if min_duration is not None:
        chosen, boundaries = boundaries, without_short_events(evidence, boundaries, min_duration)
        _warn_of_min_duration(evidence, boundaries, min_duration)
        if n_events is not None and len(boundaries) < len(chosen):
            n = len(boundaries) + 1
            warnings.warn(f"min_duration={min_duration:g} leaves {n} of n_events={n_events} events", stacklevel=2)
    communities = find_recurring_events(evidence.embedding, boundaries)
    return Decision(boundaries, boundary_probability(evidence, boundaries), communities)


def check_decision_parameters(**given: Any) -> None:
    """Raise ValueError if a parameter of `decide` is not a number, or out of range."""
    for name, value in given.items():
        if name == "level":
            check_between(name, value, -1000, 1000, whole=True)
        elif value is not None:
            counted = name == "n_events"
            high = LARGEST_COUNT if counted else np.inf
            check_between(name, value, 1 if counted else 0, high, whole=counted, above=not counted)


def candidate_probabilities(evidence: Evidence) -> tuple[IntArray, FloatArray]:
    """Return the candidates, in order, and the probability of each, whether it became a boundary or not."""
    frames = evidence.hierarchy.boundaries
    order = np.argsort(frames)
    return frames[order], _by_kind(evidence).mean(axis=0)[order]


def boundary_probability(evidence: Evidence, boundaries: IntArray) -> FloatArray:
    """Return the probability of each boundary, whatever was requested; the lowest of all if it is no candidate."""
    known = _by_kind(evidence).mean(axis=0)
    by_frame = np.full(len(evidence.views), known.min(initial=1.0))
    by_frame[evidence.hierarchy.boundaries] = known
    return by_frame[boundaries]


def _usual_level(
    evidence: Evidence, levels: tuple[Level, ...], expected: float | None, typical: float | None, level: int
) -> Level:
    usual = next(one for one in levels if one.factor == 1.0)
    if expected is not None:
        usual = _nearest_to_duration(levels, expected, total=_total(evidence), strength=STRONG)
    elif typical is not None:
        # What is typical elsewhere changes the odds by a factor of at most four: a clear boundary stays.
        near = tuple(one for one in levels if 0.25 <= one.factor <= 4.0)
        usual = _nearest_to_duration(near, typical, total=_total(evidence), strength=WEAK)
    at = next(k for k, one in enumerate(levels) if one is usual) + level
    chosen = levels[min(max(at, 0), len(levels) - 1)]
    _warn_of_level(level, len(chosen.boundaries) + 1, beyond=not 0 <= at < len(levels))
    return chosen


def _nearest_to_duration(levels: tuple[Level, ...], duration: float, *, total: float, strength: float) -> Level:
    """Minimise (log2 of the factor)^2 + strength (log2 of the mean duration over the given one)^2."""

    def cost(level: Level) -> float:
        mean = total / (len(level.boundaries) + 1)
        return float(np.log2(level.factor) ** 2 + strength * np.log2(mean / duration) ** 2)

    return min(levels, key=cost)


def _warn_of_level(level: int, n_events: int, *, beyond: bool) -> None:
    if beyond:
        last = "finest" if level > 0 else "coarsest"
        warnings.warn(f"level={level}: the {last} level has {counted(n_events, 'event')}", stacklevel=3)


def _warn_of_min_duration(evidence: Evidence, boundaries: IntArray, min_duration: float) -> None:
    durations = np.diff(evidence.clock[np.concatenate([[0], boundaries, [len(evidence.views)]])])
    n_short = int(np.sum(durations < min_duration))
    if len(boundaries) and n_short:
        remain = "remains" if n_short == 1 else "remain"
        warnings.warn(
            f"min_duration={min_duration:g}: {counted(n_short, 'shorter event')} {remain} beside required boundaries",
            stacklevel=3,
        )
    elif n_short:
        text = f"min_duration={min_duration:g} is longer than the sequence; it becomes one event"
        warnings.warn(text, stacklevel=3)


def _total(evidence: Evidence) -> float:
    return float(evidence.clock[-1] - evidence.clock[0])


def _finest_duration(evidence: Evidence, levels: tuple[Level, ...]) -> float:
    return _total(evidence) / (len(levels[-1].boundaries) + 1)


def _of_duration(evidence: Evidence, duration: float) -> IntArray:
    """Return boundaries of as many events of that duration as fit; no level is that fine."""
    n_events = round(min(_total(evidence) / duration, len(evidence.views)))
    return _exactly(evidence, n_events, f"expected_duration={duration:g} ({n_events} events)")


def _exactly(evidence: Evidence, n_events: int, requested: str) -> IntArray:
    wanted = max(n_events - 1, len(evidence.required))
    hierarchy = extend_hierarchy(
        evidence.hierarchy,
        evidence.views,
        evidence.log_weights,
        n_boundaries=wanted,
        penalty=evidence.candidate_penalty,
        forbidden=evidence.forbidden,
    )
    boundaries = np.sort(hierarchy.boundaries[:wanted])
    found, n_required = len(boundaries) + 1, len(evidence.required)
    if found > n_events:
        required = counted(n_required, "required boundary", "required boundaries")
        warnings.warn(f"{requested} is not possible: with {required}, the fewest events are {found}", stacklevel=2)
    elif found < n_events:
        warnings.warn(f"{requested} is not possible: the most events here are {found}", stacklevel=2)
    return boundaries


def without_short_events(
    evidence: Evidence, boundaries: IntArray, shortest: float, *, kept: IntArray | None = None
) -> IntArray:
    """Keep the boundaries of highest total probability, with no event shorter than `shortest`.

    Only an event between two boundaries that are required, or in `kept`, may be shorter.
    """
    edges = np.concatenate([[0], boundaries, [len(evidence.views)]])
    starts = evidence.clock[edges]
    stays = np.isin(edges, evidence.required if kept is None else np.union1d(evidence.required, kept))
    stays[[0, -1]] = True
    worth = np.concatenate([[0.0], boundary_probability(evidence, boundaries), [0.0]])
    best = np.full(len(edges), -np.inf)
    best[0] = 0.0
    previous = np.zeros(len(edges), dtype=np.int64)
    # An edge that stays cannot be skipped: `last` is the one before k. Edges from there up to `reached` are far
    # enough from k, and `winner` is the best of them.
    last, reached, winner = 0, 0, 0
    for k in range(1, len(edges)):
        while reached < k and starts[k] - starts[reached] >= shortest:
            winner = reached if best[reached] > best[winner] else winner
            reached += 1
        if reached > last or stays[k]:
            best[k] = best[winner] + worth[k]
        previous[k] = winner
        if stays[k]:
            last = reached = winner = k
    return trace_back(previous, edges)
