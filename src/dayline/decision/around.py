"""The levels next to a decision: a few coarser and a few finer ones, nested with it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dayline.arrays import IntArray
from dayline.decision.decide import Decision, Level, boundary_probability, without_short_events
from dayline.decision.evidence import Evidence
from dayline.events import NestedLevel

__all__ = ["MOST_STEPS", "levels_around"]

MOST_STEPS = 3
"""Coarser levels, and finer ones, that are kept with a result."""


def levels_around(
    evidence: Evidence, levels: Sequence[Level], decision: Decision, *, min_duration: float | None = None
) -> tuple[NestedLevel, ...]:
    """Return up to three levels coarser and three finer than a decision, and the decision itself as level 0.

    Without other requests, they are those of `level` = -3 to 3. A requested number or duration of events makes its
    own level 0. Required boundaries are in all of them, forbidden ones in none.

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
    for level in reversed(levels):
        kept = np.intersect1d(level.boundaries, usual)
        if len(coarser) < MOST_STEPS and len(kept) < len(coarser[-1] if coarser else usual):
            coarser.append(kept)
    for level in levels:
        before = finer[-1] if finer else usual
        more = np.union1d(level.boundaries, before)
        if min_duration is not None:
            more = without_short_events(evidence, more, min_duration, kept=before)
        if len(finer) < MOST_STEPS and len(more) > len(before):
            finer.append(more)
    if not coarser and not finer:
        return ()
    numbered = [*enumerate(coarser[::-1], start=-len(coarser)), (0, usual), *enumerate(finer, start=1)]
    return tuple(_nested(evidence, number, boundaries) for number, boundaries in numbered)


def _nested(evidence: Evidence, number: int, boundaries: IntArray) -> NestedLevel:
    probabilities = boundary_probability(evidence, boundaries)
    return NestedLevel(number, tuple(boundaries.tolist()), tuple(round(float(p), 4) for p in probabilities))
