"""The levels that a person saved with corrections, in terms of the current frames."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from dayline.arrays import IntArray
from dayline.events import Event, NestedLevel, Segmentation

__all__ = ["levels_with", "located_levels"]


def located_levels(
    corrected: Segmentation, is_known: NDArray[np.bool_], labels_of: Callable[[Segmentation], IntArray]
) -> tuple[NestedLevel, ...]:
    """Find the boundaries of the saved levels among the current frames; those that the person removed are in none.

    Parameters
    ----------
    corrected : Segmentation
        What the person saved.
    is_known : ndarray of bool, shape (n_frames,)
        The current frames that the person saw.
    labels_of : callable
        Returns the event of every current frame in a segmentation of the saved frames.
    """
    usual = next((level.boundaries for level in corrected.levels if level.level == 0), ())
    removed = set(usual).difference(corrected.boundaries)
    about = replace(corrected, levels=())
    known = np.flatnonzero(is_known)
    located = []
    for level in corrected.levels:
        kept = [(b, c) for b, c in zip(level.boundaries, level.confidences, strict=True) if b not in removed]
        events = Segmentation.from_boundaries([b for b, _ in kept], corrected.n_frames, times=corrected.times).events
        labels = labels_of(replace(about, events=events))
        starts = known[np.flatnonzero(np.diff(labels[known])) + 1].tolist()
        located.append(NestedLevel(level.level, tuple(starts), tuple(kept[labels[b] - 1][1] for b in starts)))
    return tuple(located)


def levels_with(
    events: Sequence[Event], saved: Sequence[NestedLevel], seen: Collection[int]
) -> tuple[NestedLevel, ...]:
    """Return the saved levels around the corrected events, which are level 0.

    Parameters
    ----------
    events : sequence of Event
        The corrected events.
    saved : sequence of NestedLevel
        From `located_levels`.
    seen : collection of int
        Boundaries in the saved events. Those that the person set are in every level, and so are boundaries among
        photos that the person has not seen.
    """
    here = {event.start: 0.0 if event.confidence is None else event.confidence for event in events[1:]}
    always = {event.start for event in events[1:] if event.reason == "asked" or event.start not in seen}
    found: list[tuple[int, dict[int, float]]] = []
    for level in saved:
        there = dict(zip(level.boundaries, level.confidences, strict=True))
        if level.level < 0:
            boundaries = {b: c for b, c in here.items() if b in there or b in always}
        else:
            boundaries = here if level.level == 0 else there | here
        if not found or len(boundaries) > len(found[-1][1]):
            found.append((level.level, boundaries))
        elif level.level == 0:
            found[-1] = (0, boundaries)
    at = next((k for k, (level, _) in enumerate(found) if level == 0), None)
    if at is None or len(found) == 1:
        return ()
    ordered = [dict(sorted(boundaries.items())) for _, boundaries in found]
    return tuple(NestedLevel(k - at, tuple(one), tuple(one.values())) for k, one in enumerate(ordered))
