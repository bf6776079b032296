"""From evidence to a decision: the boundaries of highest expected F1, and nested levels."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from dayline.arrays import FloatArray, IntArray
from dayline.checks import LARGEST_COUNT, check_between, is_whole, show_value
from dayline.decision.contexts import find_recurring_events
from dayline.decision.evidence import NO_EVENTS, NOISE, Evidence
from dayline.decision.model import expected_f1
from dayline.decision.partition import merge_events, trace_back
from dayline.events import NestedLevel
from dayline.text import counted

Frames: TypeAlias = Iterable[int | tuple[int, int]]
"""Frames, or ranges (first, stop) of the frames first .. stop-1."""


@dataclass(frozen=True, kw_only=True)
class Requests:
    """What a person requests of the events, checked when it is made.

    Attributes
    ----------
    n_events : int or None
        Number of events; takes precedence over the durations and the level.
    min_duration, expected_duration, typical_duration : float or None
        Shortest event, requested mean duration, and the mean duration typical of this kind of
        source, in seconds or frames. The requested one weighs more than the typical one.
    level : int
        Levels finer (positive) or coarser (negative) than the usual one.
    """

    n_events: int | None = None
    min_duration: float | None = None
    expected_duration: float | None = None
    typical_duration: float | None = None
    level: int = 0

    def __post_init__(self) -> None:
        """Raise ValueError if a request is not a number, or out of range."""
        check_between("level", self.level, -1000, 1000, whole=True)
        if self.n_events is not None:
            check_between("n_events", self.n_events, 1, LARGEST_COUNT, whole=True)
        for name in ("min_duration", "expected_duration", "typical_duration"):
            if getattr(self, name) is not None:
                check_between(name, getattr(self, name), 0, above=True)


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
    """What was decided.

    Attributes
    ----------
    boundaries : ndarray of int
        First frame of every event but the first.
    confidence : ndarray
        Probability of each boundary.
    communities : ndarray of int
        Recurring context of every frame.
    """

    boundaries: IntArray
    confidence: FloatArray
    communities: IntArray


MOST_LEVELS = 3
"""Coarser levels, and finer ones, that are kept with a result."""

MOST_DOUBLINGS = 40
"""Levels beyond these odds are not tried: in double precision every probability is 0 or 1 there."""


def nested_levels(evidence: Evidence) -> tuple[Level, ...]:
    """Decide as if boundaries were 2, 4, 8, ... times as likely, and as unlikely; coarsest first.

    The usual level is the one that the answers agree on. Where events are equally clear, doubled
    odds take all of them or none. Further levels are inserted there, by the order of the
    candidates, so that no level has more than twice the events of the one before it. Levels of the
    same boundaries appear once, with the factor nearest to 1.
    """
    n_usual = evidence.agreed_number
    usual_doublings = _doublings_of(evidence, n_usual)
    factors = {n_usual: 1.0}
    for step, last in ((-1, len(evidence.hierarchy.required)), (1, len(evidence.strengths))):
        number = n_usual
        for doublings in range(step, step * (MOST_DOUBLINGS + 1), step):
            best = _best_number(evidence, usual_doublings + doublings)
            # A coarser level never has more boundaries than a finer one.
            number = max(number, best) if step > 0 else min(number, best)
            factors.setdefault(number, 2.0**-doublings)
            if number == last:
                break

    levels: list[Level] = []
    for number, factor in sorted(factors.items()):
        _add_level(levels, evidence.hierarchy.boundaries, number, factor)
    n_finer = sum(len(level.boundaries) > n_usual for level in levels)
    return tuple(_with_finer(evidence, levels, MOST_LEVELS - n_finer))


def _with_finer(evidence: Evidence, levels: Sequence[Level], n_more: int) -> list[Level]:
    """Return the levels and up to so many finer ones, each with twice as many events.

    They go on beyond the candidates, as long as frames differ at all.
    """
    more = list(levels)
    n_last = len(more[-1].boundaries)
    numbers = [2**k * (n_last + 1) - 1 for k in range(1, n_more + 1)]
    order = evidence.hierarchy.first(numbers[-1]) if numbers else ()
    for number in numbers:
        if len(more[-1].boundaries) < len(order):
            more.append(Level(more[-1].factor, np.sort(order[:number])))
    return more


def _doublings_of(evidence: Evidence, number: int) -> float:
    """Return how often to double the odds so that the model takes so many boundaries.

    If there is a range, the end nearest to the model's own odds.
    """
    own = _best_number(evidence, 0.0)
    if own == number:
        return 0.0
    # More boundaries if the odds are doubled, fewer if they are halved.
    inside, outside = 0.0, float(MOST_DOUBLINGS if number > own else -MOST_DOUBLINGS)
    while abs(outside - inside) > 0.01:
        middle = (inside + outside) / 2
        best = _best_number(evidence, middle)
        is_there = best >= number if number > own else best <= number
        inside, outside = (inside, middle) if is_there else (middle, outside)
    return outside


def _best_number(evidence: Evidence, doublings: float) -> int:
    """Return the number of boundaries of highest expected F1 with the odds doubled that often."""
    log_odds = evidence.log_odds + doublings * np.log(2.0)
    expected = expected_f1(evidence.model.probabilities(evidence.strengths, log_odds=log_odds))
    n_required = len(evidence.hierarchy.required)
    return n_required + int(np.argmax(expected[n_required:]))


def _add_level(levels: list[Level], order: IntArray, number: int, factor: float) -> None:
    """Append the level of the first `number` boundaries in order.

    If it has more than twice the events of the last level, others are inserted between the two.
    """
    if levels:
        few, many = len(levels[-1].boundaries) + 1, number + 1
        # Levels in between have the factor at which the decision changes.
        between = levels[-1].factor if levels[-1].factor > 1.0 else factor
        numbers = np.geomspace(few, many, int(np.ceil(np.log2(many / few))) + 1)[1:-1]
        # Rounded up, none has more than twice the events of the one before.
        rounded = np.ceil(numbers - 1e-9).astype(np.int64)
        levels += [Level(between, np.sort(order[: n_events - 1])) for n_events in rounded]
    levels.append(Level(factor, np.sort(order[:number])))


def decide(evidence: Evidence, levels: Sequence[Level], requests: Requests) -> Decision:
    """Choose boundaries from the evidence and its nested levels."""
    n_events, min_duration = requests.n_events, requests.min_duration
    if n_events is None:
        boundaries = _at_level(evidence, levels, requests)
    else:
        if requests.level != 0 or requests.expected_duration is not None:
            warnings.warn(
                f"n_events={n_events} takes precedence over the level and the duration",
                stacklevel=2,
            )
        boundaries = np.sort(_first_boundaries(evidence, n_events, f"n_events={n_events}"))

    if min_duration is not None:
        n_chosen = len(boundaries)
        boundaries = without_short_events(evidence, boundaries, min_duration)

        edges = np.concatenate([[0], boundaries, [len(evidence.embedding)]])
        n_short = int(np.sum(np.diff(evidence.clock[edges]) < min_duration))
        requested = f"min_duration={min_duration:g}"
        if n_short and len(boundaries):
            remain = counted(n_short, "shorter event remains", "shorter events remain")
            warnings.warn(f"{requested}: {remain} beside required boundaries", stacklevel=2)
        elif n_short:
            recording = f"the recording ({evidence.clock[-1]:g}, not counting pauses)"
            warnings.warn(
                f"{requested} is longer than {recording}; it becomes one event", stacklevel=2
            )
        if n_events is not None and len(boundaries) < n_chosen:
            left = len(boundaries) + 1
            warnings.warn(f"{requested} leaves {left} of n_events={n_events} events", stacklevel=2)

    communities = find_recurring_events(evidence.embedding, boundaries)
    return Decision(boundaries, boundary_probability(evidence, boundaries), communities)


STRONG = 10.0
"""How much a factor of two in the requested duration weighs against a factor of two in the odds."""


def _at_level(evidence: Evidence, levels: Sequence[Level], requests: Requests) -> IntArray:
    """Return the boundaries of the usual level, or of one that is coarser or finer by request."""
    expected = requests.expected_duration
    total = float(evidence.clock[-1])

    # The usual level, unless a duration is requested. One beyond the candidates is never usual.
    n_candidates = len(evidence.hierarchy.boundaries)
    known = [level for level in levels if len(level.boundaries) <= n_candidates]
    if expected is not None and expected < total / (n_candidates + 1):
        n_events = round(min(total / expected, len(evidence.embedding)))
        order = _first_boundaries(
            evidence, n_events, f"expected_duration={expected:g} ({n_events} events)"
        )
        _add_level(known, order, len(order), known[-1].factor)
        at_usual = len(known) - 1
    else:
        costs = []
        for level in known:
            cost = float(np.log2(level.factor)) ** 2
            if expected is not None:
                mean = total / (len(level.boundaries) + 1)
                cost += STRONG * float(np.log2(mean / expected)) ** 2
            costs.append(cost)
        at_usual = int(np.argmin(costs))

    if requests.level < 0 and evidence.breaks:
        joined = joined_levels(evidence, known[at_usual].boundaries)
        known, at_usual = [*joined, *known[at_usual:]], len(joined)

    at = at_usual + requests.level
    known = _with_finer(evidence, known, at + 1 - len(known))
    boundaries = known[min(max(at, 0), len(known) - 1)].boundaries
    if not 0 <= at < len(known):
        last = "finest" if requests.level > 0 else "coarsest"
        found = counted(len(boundaries) + 1, "event")
        warnings.warn(f"level={requests.level}: the {last} level has {found}", stacklevel=3)
    return boundaries


def joined_levels(evidence: Evidence, usual: IntArray) -> list[Level]:
    """Return coarser levels that join across breaks; each has half the events of the next finer.

    The coarsest comes first. There a break counts like any other boundary: its gain is that of the
    events on its two sides, times the weight of its length.
    """
    order = _joined_order(evidence, usual)
    n_must = len(evidence.hierarchy.required) - len(evidence.breaks)
    levels: list[Level] = []
    n_events = len(usual) + 1
    while n_events > n_must + 1:
        n_events = max((n_events + 1) // 2, n_must + 1)
        levels.append(Level(2.0 ** (len(levels) + 1), np.sort(order[: n_events - 1])))
    return levels[::-1]


def _joined_order(evidence: Evidence, boundaries: IntArray) -> IntArray:
    """Return boundaries as merging removes them, breaks among them, the last one removed first."""
    log_weights = evidence.hierarchy.log_weights.copy()
    for frame, log_weight in evidence.breaks.items():
        log_weights[frame] += log_weight
    must = np.setdiff1d(evidence.hierarchy.required, list(evidence.breaks))
    order, _ = merge_events(evidence.hierarchy.x, log_weights, boundaries, must)
    return order


def _first_boundaries(evidence: Evidence, n_events: int, requested: str) -> IntArray:
    """Return the boundaries of so many events, the highest first; warn if that is impossible."""
    required = evidence.hierarchy.required
    n_required = len(required) - len(evidence.breaks)
    wanted = max(n_events - 1, n_required)
    if wanted < len(required):
        boundaries = _joined_order(evidence, np.sort(required))[:wanted]
    else:
        boundaries = evidence.hierarchy.first(wanted)

    found = len(boundaries) + 1
    if found != n_events:
        kept = counted(n_required, "required boundary", "required boundaries")
        most = f"with {kept}, the fewest" if found > n_events else "the most"
        here = "" if found > n_events else " here"
        warnings.warn(f"{requested} is not possible: {most} events{here} are {found}", stacklevel=3)
    return boundaries


def without_short_events(
    evidence: Evidence, boundaries: IntArray, shortest: float, *, kept: IntArray | tuple[()] = ()
) -> IntArray:
    """Keep the boundaries of highest total probability, with no event shorter than `shortest`.

    Only an event between two boundaries that are required, or in `kept`, may be shorter.
    """
    edges = np.concatenate([[0], boundaries, [len(evidence.embedding)]])
    starts = evidence.clock[edges]
    stays = np.isin(edges, [0, *evidence.hierarchy.required, *kept, len(evidence.embedding)])
    worth = np.concatenate([[0.0], boundary_probability(evidence, boundaries), [0.0]])
    best = np.full(len(edges), -np.inf)
    best[0] = 0.0
    previous = np.zeros(len(edges), dtype=np.int64)

    # An edge that stays cannot be skipped: `last` is the one before k. Edges from there up to
    # `reached` are far enough from k, and `winner` is the best of them.
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


def boundary_probability(evidence: Evidence, boundaries: IntArray) -> FloatArray:
    """Return the probability of each boundary, whatever was requested.

    Any frame can be a boundary by request. One that is no candidate has the probability of noise of
    the lowest height that a candidate can have, the penalty. All odds are multiplied by one number,
    so that the boundaries agreed on are on average as probable as in known kinds with the same
    share (see `Evidence.mean_log_odds`).
    """
    from scipy.special import expit, logit

    # The last one is that of all other frames.
    lowest = np.log(evidence.hierarchy.penalty) - evidence.split
    probabilities = evidence.model.probabilities(
        np.append(evidence.strengths, lowest),
        log_odds=np.append(evidence.log_odds, NO_EVENTS if evidence.why_one_event else NOISE),
    )
    # The model has a curve for every kind of recording; the probability is their mean.
    of_candidates = logit(probabilities.mean(axis=0))
    logits = np.full(len(evidence.embedding), of_candidates[-1])
    logits[evidence.hierarchy.boundaries] = of_candidates[:-1]

    n_required = len(evidence.hierarchy.required)
    agreed = evidence.hierarchy.boundaries[n_required : evidence.agreed_number]
    if len(agreed) and not evidence.is_learned:
        logits += evidence.mean_log_odds - logits[agreed].mean()
    return np.asarray(expit(logits[boundaries]))


def levels_around(
    evidence: Evidence,
    levels: Sequence[Level],
    decision: Decision,
    *,
    min_duration: float | None = None,
) -> tuple[NestedLevel, ...]:
    """Return up to three levels coarser and three finer than a decision, which is level 0.

    Without other requests, they are those of `level` = -3 to 3. With a requested number or duration
    of events, what was decided for it is level 0. Required boundaries are in every level, forbidden
    frames in none.

    Parameters
    ----------
    evidence : Evidence
        From `gather_evidence`.
    levels : sequence of Level
        From `nested_levels`.
    decision : Decision
        From `decide`.
    min_duration : float, optional
        Shortest event that was requested; it holds for the finer levels, too.

    Returns
    -------
    tuple of NestedLevel
        Coarsest first; empty if no level is coarser or finer.
    """
    usual = decision.boundaries
    coarser: list[IntArray] = []
    finer: list[IntArray] = []
    for level in reversed(joined_levels(evidence, usual) if evidence.breaks else levels):
        kept = np.intersect1d(level.boundaries, usual)
        if len(coarser) < MOST_LEVELS and len(kept) < len(coarser[-1] if coarser else usual):
            coarser.append(kept)

    for level in levels:
        before = finer[-1] if finer else usual
        more = np.union1d(level.boundaries, before)
        if min_duration is not None:
            more = without_short_events(evidence, more, min_duration, kept=before)
        if len(finer) < MOST_LEVELS and len(more) > len(before):
            finer.append(more)
    if not coarser and not finer:
        return ()

    nested = []
    for number, boundaries in enumerate([*coarser[::-1], usual, *finer], start=-len(coarser)):
        probabilities = boundary_probability(evidence, boundaries)
        confidences = tuple(round(float(p), 4) for p in probabilities)
        nested.append(NestedLevel(number, tuple(boundaries.tolist()), confidences))
    return tuple(nested)


def frame_ranges(name: str, frames: Frames | None, n_frames: int) -> list[tuple[int, int]]:
    """Return frames and ranges as ranges (first, stop); raise ValueError if one is wrong.

    Parameters
    ----------
    name : str
        Of the argument ("must", "must_not" or "breaks"), for the message.
    frames : iterable of int or (int, int), or None
        Frames, and ranges (first, stop).
    n_frames : int
        Length of the sequence.
    """
    if frames is None:
        return []
    if not isinstance(frames, Iterable) or isinstance(frames, (str, bytes)):
        raise ValueError(
            f"{name}={show_value(frames)}; give a list of frames or ranges, such as [50, (60, 70)]"
        )

    ranges = []
    for item in frames:
        parts = item if isinstance(item, tuple) else (item, item)
        if len(parts) != 2 or not all(is_whole(part) for part in parts):
            raise ValueError(
                f"{name}: {show_value(item)} is neither a frame number nor a range (first, stop)"
            )
        first, stop = int(parts[0]), int(parts[1]) + (0 if isinstance(item, tuple) else 1)
        if not 1 <= first < stop <= n_frames:
            raise ValueError(
                f"{name}: {show_value(item)} cannot be a boundary; boundaries are at 1 to"
                f" {n_frames - 1}, and ranges (first, stop) have first < stop"
            )
        ranges.append((first, stop))
    return ranges


def forbidden_frames(must_not: Frames | None, n_frames: int) -> IntArray:
    """Return the frames that must not be boundaries."""
    ranges = frame_ranges("must_not", must_not, n_frames)
    return np.unique([t for first, stop in ranges for t in range(first, stop)]).astype(np.int64)


def required_frames(
    must: Iterable[tuple[int, int]], scores: FloatArray, *, forbidden: IntArray
) -> IntArray:
    """Return the frames that must be boundaries: the allowed one of highest score in each range.

    Parameters
    ----------
    must : iterable of (int, int)
        From `frame_ranges`.
    scores : ndarray of shape (n_frames,)
        Boundary score of every frame.
    forbidden : ndarray of int
        Frames that must not be boundaries; a frame in both is a contradiction.
    """
    chosen = []
    for first, stop in must:
        allowed = np.setdiff1d(np.arange(first, stop), forbidden)
        if len(allowed) == 0:
            what = f"frame {first}" if stop == first + 1 else f"frames {first} to {stop - 1}"
            raise ValueError(f"must and must_not contradict each other at {what}; drop one of them")
        chosen.append(int(allowed[np.argmax(scores[allowed])]))
    return np.unique(np.asarray(chosen, dtype=np.int64))
