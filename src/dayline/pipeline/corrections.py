"""What a person corrected: boundaries that must be, boundaries that must not be, and names of events."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from dayline.arrays import IntArray
from dayline.events import Event, Segmentation
from dayline.frames import time_text

__all__ = ["Corrections", "apply_corrections", "read_corrections"]

SAME_TIME_WITHIN = 1.0
"""Seconds by which the time of a frame may differ from one run to the next."""


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
    sizes: Sequence[int] | None = None,
    source: str | None = None,
) -> Corrections:
    """Find the corrected events in the frames that are here now.

    Frames are told by their names; new photos may have come and others gone. For a video sampled
    otherwise they are told by their times, for feature files by their numbers. Names alone prove little
    (every camera starts with IMG_0001, every video at 0:00), so the times must agree too; without times, the sizes
    of the files; without those, the name of the source.

    Parameters
    ----------
    corrected : Segmentation
        The file that was saved on the page.
    n_frames : int
        Number of frames now.
    names, times, sizes : sequences, optional
        Of the frames now.
    source : str, optional
        Name of what is segmented now.
    """
    _refuse_other_recording(corrected, names, times, sizes, source)
    labels = _labels(corrected, n_frames, names, times)
    known = np.flatnonzero(labels >= 0)
    changes = np.flatnonzero(np.diff(labels[known])) + 1
    must = known[changes].tolist()
    same = np.flatnonzero((labels[1:] == labels[:-1]) & (labels[1:] >= 0)) + 1
    opens = [int(known[0]), *must] if len(known) else []
    events = tuple((f, corrected.events[labels[f]]) for f in opens)
    return Corrections(tuple(must), tuple(same.tolist()), events)


def _refuse_other_recording(
    corrected: Segmentation,
    names: Sequence[str] | None,
    times: Sequence[float] | None,
    sizes: Sequence[int] | None,
    source: str | None,
) -> None:
    """Refuse corrections whose frames have the names of those here, but belong to another recording."""
    name = corrected.source or "another source"
    way_out = "give the events.json saved on the page of this source"
    if times is not None and corrected.times is not None and corrected.clock != "media":
        moved = _differing(corrected.names, corrected.times, names, times, within=SAME_TIME_WITHIN)
        if moved is not None:
            frame, before, now = moved
            raise ValueError(
                f"the corrections are of another recording ({name}): {frame} is at {time_text(before, clock='wall')} "
                f"there and at {time_text(now, clock='wall')} here; {way_out}"
            )
    elif times is not None and corrected.times is not None:
        # However a video is sampled, its last frame lies within a step of its end.
        steps = [float(np.median(np.diff(t))) if len(t) > 1 else 0.0 for t in (corrected.times, times)]
        if abs(corrected.times[-1] - times[-1]) > max(steps) + SAME_TIME_WITHIN:
            raise ValueError(
                f"the corrections are of another video ({name}): its last frame is at "
                f"{time_text(corrected.times[-1], clock='media')}, here at {time_text(times[-1], clock='media')}; "
                f"{way_out}"
            )
    elif sizes is not None and corrected.sizes is not None:
        changed = _differing(corrected.names, corrected.sizes, names, sizes, within=0)
        if changed is not None:
            frame, before, now = changed
            raise ValueError(
                f"the corrections are of another recording ({name}): {frame} has {before:,.0f} bytes there and "
                f"{now:,.0f} here; {way_out}"
            )
    elif source is not None and corrected.source is not None and source != corrected.source:
        raise ValueError(
            f"the corrections are of {corrected.source!r}, and this is {source!r}; {way_out}, "
            'or change "source" in the file if the recording was only renamed'
        )


def _differing(
    names_then: Sequence[str] | None,
    then: Sequence[float],
    names_now: Sequence[str] | None,
    now: Sequence[float],
    *,
    within: float,
) -> tuple[str, float, float] | None:
    """Return the first frame that differs, with its two values, if most frames that have a counterpart differ."""
    if names_then is not None and names_now is not None:
        values = dict(zip(names_then, then, strict=True))
        pairs = [(name, values[name], value) for name, value in zip(names_now, now, strict=True) if name in values]
    elif len(then) == len(now):
        pairs = [(f"frame {k}", *both) for k, both in enumerate(zip(then, now, strict=True))]
    else:
        return None
    differing = [pair for pair in pairs if abs(pair[1] - pair[2]) > within]
    return differing[0] if 2 * len(differing) > len(pairs) else None


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
        labels = _matched(corrected, corrected.names, names)
        # Photos may have come since, however many; most of those that the person saw must still be here.
        enough = n_frames if corrected.clock == "media" else min(n_frames, corrected.n_frames)
        if 2 * np.sum(labels >= 0) > enough:
            return labels
        if times is not None and corrected.clock == "media" and corrected.times is not None:
            starts = [corrected.times[event.start] for event in corrected.events]
            return np.maximum(np.searchsorted(starts, np.asarray(times), side="right") - 1, 0)
    elif corrected.n_frames == n_frames:
        return corrected.labels
    elif times is not None and corrected.times is not None:
        labels = _matched(corrected, corrected.times, times)
        if 2 * np.sum(labels >= 0) > min(n_frames, corrected.n_frames):
            return labels
    raise ValueError(
        f"the corrections are of other frames ({corrected.n_frames}, of {corrected.source or 'another source'}); "
        "give the events.json saved on the page of this source"
    )


def _matched(corrected: Segmentation, then: Sequence[Hashable], now: Sequence[Hashable]) -> IntArray:
    numbers = dict(zip(then, corrected.labels.tolist(), strict=True))
    return np.asarray([numbers.get(mark, -1) for mark in now], dtype=np.int64)
