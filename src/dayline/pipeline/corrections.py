"""What a person corrected: boundaries that must be, boundaries that must not be, and names of events."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from dayline.arrays import IntArray
from dayline.events import Event, Segmentation

__all__ = ["Corrections", "apply_corrections", "read_corrections"]


@dataclass(frozen=True)
class Corrections:
    """What a corrected result asks of the frames that are here now.

    Attributes
    ----------
    must, must_not : tuple of int
        Frames that open an event, and frames that do not. Frames the person never saw are in neither.
    events : tuple of (int, Event)
        The events that the person saved, each with the first of its frames that is here.
    """

    must: tuple[int, ...] = ()
    must_not: tuple[int, ...] = ()
    events: tuple[tuple[int, Event], ...] = ()


def read_corrections(
    corrected: Segmentation,
    *,
    n_frames: int,
    names: Sequence[str] | None = None,
    times: Sequence[float] | None = None,
) -> Corrections:
    """Find the corrected events in the frames that are here now.

    Frames are told by their names; new photos may have come and others gone. For a video sampled
    otherwise they are told by their times, for feature files by their numbers.

    Parameters
    ----------
    corrected : Segmentation
        The file that was saved on the page.
    n_frames : int
        Number of frames now.
    names, times : sequences, optional
        Of the frames now.
    """
    labels = _labels(corrected, n_frames, names, times)
    known = np.flatnonzero(labels >= 0)
    changes = np.flatnonzero(np.diff(labels[known])) + 1
    must = known[changes].tolist()
    same = np.flatnonzero((labels[1:] == labels[:-1]) & (labels[1:] >= 0)) + 1
    opens = [int(known[0]), *must] if len(known) else []
    events = tuple((f, corrected.events[labels[f]]) for f in opens)
    return Corrections(tuple(must), tuple(same.tolist()), events)


def apply_corrections(segmentation: Segmentation, corrections: Corrections) -> Segmentation:
    """Give events the names and the reasons that the person saved."""
    # The first event of the file may have been given photos before it; it keeps its name all the same.
    saved = {int(np.searchsorted(segmentation.boundaries, f, side="right")): e for f, e in corrections.events}
    events = []
    for number, event in enumerate(segmentation.events):
        old = saved.get(number)
        if old is None:
            events.append(event)
        elif event.start not in corrections.must:
            events.append(replace(event, name=old.name))
        else:
            events.append(replace(event, name=old.name, reason=old.reason or "asked", confidence=old.confidence))
    return replace(segmentation, events=tuple(events))


def _labels(
    corrected: Segmentation, n_frames: int, names: Sequence[str] | None, times: Sequence[float] | None
) -> IntArray:
    """Number of the corrected event of each frame; -1 where the person did not see the frame."""
    if names is not None and corrected.names is not None:
        numbers = dict(zip(corrected.names, corrected.labels.tolist(), strict=True))
        labels = np.asarray([numbers.get(name, -1) for name in names], dtype=np.int64)
        if 2 * np.sum(labels >= 0) > n_frames:
            return labels
        if times is not None and corrected.clock == "media" and corrected.times is not None:
            starts = [corrected.times[event.start] for event in corrected.events]
            return np.maximum(np.searchsorted(starts, np.asarray(times), side="right") - 1, 0)
    elif corrected.n_frames == n_frames:
        return corrected.labels
    raise ValueError(
        f"the corrections are of other frames ({corrected.n_frames}, of {corrected.source or 'another source'}); "
        "give the events.json saved on the page of this source"
    )
