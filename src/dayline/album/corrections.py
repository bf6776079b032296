"""Corrections made by a person: required and forbidden boundaries, names of events, key photos."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable, Collection, Hashable, Sequence
from dataclasses import dataclass, replace
from itertools import count, pairwise
from pathlib import PurePosixPath
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from dayline.arrays import IntArray
from dayline.events import Event, NestedLevel, Place, Segmentation
from dayline.media.source import time_text
from dayline.text import counted

SAME_TIME_WITHIN = 1.0
"""Seconds by which the time of a frame may differ between runs."""

Marks: TypeAlias = list[Hashable]


def same_photos(
    saved: Segmentation,
    names: Sequence[str],
    times: Sequence[float] | None = None,
    sizes: Sequence[int] | None = None,
) -> IntArray:
    """Return the number that each current photo has in an earlier result; -1 if it is new.

    A photo is the same if it has the same path. If it was moved, its file name and its time are the
    same (without times, its size); if it was renamed, its time and its size (without sizes, its
    time and date). Photos that share all of this with another one are new, since it is unknown
    which is which.

    Parameters
    ----------
    saved : Segmentation
        The earlier result.
    names, times, sizes : sequences, optional
        Of the current photos.
    """
    then, now = saved.names or (), tuple(names)
    found = np.full(len(now), -1, dtype=np.int64)
    number = {name: k for k, name in enumerate(then)}
    by_path = [(frame, number[name]) for frame, name in enumerate(now) if name in number]
    if saved.clock == "media":
        for frame, k in by_path:
            found[frame] = k
        return found
    has_times, has_sizes = _both(saved.times, times), _both(saved.sizes, sizes)
    for frame, k in by_path:
        if not has_times or abs(_of(saved.times, k) - _of(times, frame)) <= SAME_TIME_WITHIN:
            found[frame] = k
    files = (
        [PurePosixPath(name).name for name in then],
        [PurePosixPath(name).name for name in now],
    )
    # Milliseconds, since that is how exactly events.json gives times.
    moments = ([round(t, 3) for t in saved.times or ()], [round(t, 3) for t in times or ()])
    bytes_ = (list(saved.sizes or ()), list(sizes or ()))
    if has_times and has_sizes:
        _pair(found, *_marks(files, moments, bytes_))
    if has_times:
        _pair(found, *_marks(files, moments))
    elif has_sizes:
        _pair(found, *_marks(files, bytes_))
    if has_times and has_sizes:
        _pair(found, *_marks(moments, bytes_))
    # What is left has the path of another photo, or its time was changed.
    used = set(found.tolist())
    for frame, k in by_path:
        if found[frame] < 0 and k not in used:
            found[frame] = k
    if has_times and not has_sizes and saved.is_dated:
        _pair(found, *_marks(moments))
    return found


def _both(then: Sequence[float] | None, now: Sequence[float] | None) -> bool:
    return then is not None and now is not None


def _of(values: Sequence[float] | None, k: int) -> float:
    return float("nan") if values is None else values[k]


def _marks(*columns: tuple[Sequence[Hashable], Sequence[Hashable]]) -> tuple[Marks, Marks]:
    """Return what identifies each photo, in the earlier result and now."""
    then, now = zip(*columns, strict=True)
    return list(zip(*then, strict=True)), list(zip(*now, strict=True))


def _pair(found: IntArray, then: Marks, now: Marks) -> None:
    """Match photos that are left and whose mark no other one has, neither then nor now."""
    used = set(found.tolist())
    left_then = [k for k in range(len(then)) if k not in used]
    left_now = [frame for frame in range(len(now)) if found[frame] < 0]
    n_then, n_now = Counter(then[k] for k in left_then), Counter(now[frame] for frame in left_now)
    number = {then[k]: k for k in left_then if n_then[then[k]] == 1}
    for frame in left_now:
        if n_now[now[frame]] == 1 and now[frame] in number:
            found[frame] = number[now[frame]]


REMEDY = "pass the events.json saved on the page of this source"


@dataclass(frozen=True)
class Corrections:
    """Corrections, in terms of the current frames.

    Attributes
    ----------
    must, must_not : tuple of int
        Frames that must, and must not, start an event. Frames the person never saw are in neither.
    events : tuple of (int, Event)
        The events that the person saved, each with the first of its frames that is still present.
    keys : tuple of int
        Key frames that the person chose and that are still present.
    levels : tuple of NestedLevel
        The saved levels, without boundaries that the person removed.
    places : tuple of Place
        The places that the person named, by the contexts of the saved events.
    communities : tuple of (int, int)
        Frames that the person saw, each with the context of its saved event.
    sampled : tuple of int
        Frames of `must` whose saved time is that of a sampled frame, so that no hard cut is known
        there.
    """

    must: tuple[int, ...] = ()
    must_not: tuple[int, ...] = ()
    events: tuple[tuple[int, Event], ...] = ()
    keys: tuple[int, ...] = ()
    levels: tuple[NestedLevel, ...] = ()
    places: tuple[Place, ...] = ()
    communities: tuple[tuple[int, int], ...] = ()
    sampled: tuple[int, ...] = ()

    def cuts(self, times: Sequence[float] | None) -> dict[int, tuple[float, float]]:
        """Return the exact times that the saved events contain: those of the frames before and after each boundary.

        Parameters
        ----------
        times : sequence of float or None
            Of the current frames. A saved time that is not between a boundary and the frame before
            it is ignored.
        """
        found: dict[int, tuple[float, float]] = {}
        if times is None:
            return found
        for (_, before), (frame, event) in pairwise(self.events):
            start, stop = event.start_time, before.stop_time
            if frame in self.must and start is not None and times[frame - 1] < start < times[frame]:
                known = stop is not None and times[frame - 1] <= stop < start
                found[frame] = (stop if known and stop is not None else times[frame - 1], start)
        return found


def read_corrections(
    corrected: Segmentation,
    *,
    n_frames: int,
    names: Sequence[str] | None = None,
    times: Sequence[float] | None = None,
    sizes: Sequence[int] | None = None,
    source: str | None = None,
) -> Corrections:
    """Match the corrected events to the current frames.

    Photos are matched by name, and by time and size if they were moved or renamed (see
    `same_photos`); some may have been added or removed since. Frames of a video that is now sampled
    differently are matched by time, rows of a feature file by number. Names alone prove little
    (every camera starts with IMG_0001, every video at 0:00), so the times must agree too; without
    dates, the sizes of the files; without sizes, the name of the source.

    Parameters
    ----------
    corrected : Segmentation
        The events saved on the page.
    n_frames : int
        Current number of frames.
    names, times, sizes : sequences, optional
        Of the current frames.
    source : str, optional
        Name of the current source.
    """
    same = _same_frames(corrected, n_frames, names, times, sizes)
    _refuse_other_recording(corrected, same, names, times, sizes, source)
    labels = _labels(corrected, same, names, times)
    _warn_of_lost_events(corrected, labels)
    moved = _moved(corrected, same, times)
    if moved:
        first = _shown(moved[0], names)
        warnings.warn(
            f"times changed for {counted(len(moved), 'corrected frame')} (the first: {first}),"
            " which count as new",
            stacklevel=2,
        )
        labels[moved] = -1
    known = np.flatnonzero(labels >= 0)
    changes = np.flatnonzero(np.diff(labels[known])) + 1
    must = known[changes].tolist()
    joined = np.flatnonzero((labels[1:] == labels[:-1]) & (labels[1:] >= 0)) + 1
    opens = [int(known[0]), *must] if len(known) else []
    events = tuple((f, corrected.events[labels[f]]) for f in opens)
    keys = tuple(key for key in _chosen_keys(corrected, same, times) if labels[key] >= 0)
    levels = located_levels(
        corrected, labels >= 0, lambda saved: _labels(saved, same, names, times)
    )
    contexts = [event.community for event in corrected.events]
    seen = [(f, contexts[labels[f]]) for f in known.tolist()]
    communities = tuple((f, context) for f, context in seen if context is not None)
    sampled = (
        ()
        if corrected.times is None
        else (f for f, e in events if e.start_time == corrected.times[e.start])
    )
    return Corrections(
        tuple(must),
        tuple(joined.tolist()),
        events,
        keys,
        levels,
        corrected.places,
        communities,
        tuple(sampled),
    )


def _same_frames(
    corrected: Segmentation,
    n_frames: int,
    names: Sequence[str] | None,
    times: Sequence[float] | None,
    sizes: Sequence[int] | None,
) -> IntArray:
    """Return the number of each current frame in the corrections; -1 if the person did not see it."""
    if names is not None and corrected.names is not None:
        return same_photos(corrected, names, times, sizes)
    if corrected.n_frames == n_frames:
        return np.arange(n_frames)
    if times is not None and corrected.times is not None:
        numbers = {time: k for k, time in enumerate(corrected.times)}
        return np.asarray([numbers.get(time, -1) for time in times], dtype=np.int64)
    return np.full(n_frames, -1, dtype=np.int64)


def _warn_of_lost_events(corrected: Segmentation, labels: IntArray) -> None:
    present = set(labels.tolist())
    for number, event in enumerate(corrected.events):
        if event.name is not None and number not in present:
            frames = counted(event.n_frames, "frame" if corrected.clock == "media" else "photo")
            warnings.warn(
                f"{event.name!r}: none of the {frames} of this event is here any more, so it is"
                " left out; it returns with them",
                stacklevel=3,
            )


def _chosen_keys(
    corrected: Segmentation, same: IntArray, times: Sequence[float] | None
) -> tuple[int, ...]:
    """Find the key frames that the person chose among the current frames; in a film, the frame shown at that time."""
    chosen = [e.key_frame for e in corrected.events if e.key_chosen and e.key_frame is not None]
    if corrected.clock == "media" and times is not None and corrected.times is not None:
        moments = np.asarray(times)
        return tuple(int(np.argmin(np.abs(moments - corrected.times[key]))) for key in chosen)
    frames = {number: frame for frame, number in enumerate(same.tolist())}
    return tuple(frames[key] for key in chosen if key in frames)


def _refuse_other_recording(
    corrected: Segmentation,
    same: IntArray,
    names: Sequence[str] | None,
    times: Sequence[float] | None,
    sizes: Sequence[int] | None,
    source: str | None,
) -> None:
    """Raise if the corrections belong to another recording whose frames have the same names."""
    if times is not None and corrected.times is not None:
        if corrected.clock == "media":
            _refuse_other_length(corrected, times)
        else:
            _refuse_other_times(corrected, same, names, times)
            if corrected.is_dated:
                return
    # Times of day recur every day, and cameras split their videos into files of equal length.
    if sizes is not None and corrected.sizes is not None:
        _refuse_other_sizes(corrected, same, names, sizes)
    elif source is not None and corrected.source is not None and source != corrected.source:
        raise ValueError(
            f"the corrections are for {corrected.source!r}, but this is {source!r}; {REMEDY}, "
            'or change "source" in the file if the recording was only renamed'
        )


def _refuse_other_length(corrected: Segmentation, times: Sequence[float]) -> None:
    then = corrected.times or ()
    # However a video is sampled, its last frame lies within one step of its end.
    steps = [float(np.median(np.diff(t))) if len(t) > 1 else 0.0 for t in (then, times)]
    if abs(then[-1] - times[-1]) > max(steps) + SAME_TIME_WITHIN:
        raise ValueError(
            f"the corrections are for another video ({_source(corrected)}): its last frame is at"
            f" {time_text(then[-1], clock='media')}, here at {time_text(times[-1], clock='media')};"
            f" {REMEDY}"
        )


def _refuse_other_times(
    corrected: Segmentation, same: IntArray, names: Sequence[str] | None, times: Sequence[float]
) -> None:
    pairs = _pairs(same, corrected.times or (), times)
    moved = [pair for pair in pairs if abs(pair[1] - pair[2]) > SAME_TIME_WITHIN]
    if 2 * len(moved) > len(pairs):
        frame, then, now = moved[0]
        raise ValueError(
            f"the corrections are for another recording ({_source(corrected)}):"
            f" {_shown(frame, names)} is at {time_text(then, clock='wall')} there and at"
            f" {time_text(now, clock='wall')} here; {REMEDY}"
        )


def _refuse_other_sizes(
    corrected: Segmentation, same: IntArray, names: Sequence[str] | None, sizes: Sequence[int]
) -> None:
    then = corrected.sizes or ()
    if corrected.clock == "media":
        if then[0] != sizes[0]:
            raise ValueError(
                f"the corrections are for another video ({_source(corrected)}): it has {then[0]:,}"
                " bytes, this one "
                f'{sizes[0]:,}; {REMEDY}, or remove "sizes" from the file if this is a copy of the'
                " same video"
            )
        return
    pairs = _pairs(same, then, sizes)
    changed = [pair for pair in pairs if pair[1] != pair[2]]
    if 2 * len(changed) > len(pairs):
        frame, before, now = changed[0]
        raise ValueError(
            f"the corrections are for another recording ({_source(corrected)}):"
            f" {_shown(frame, names)} has {before:,.0f} bytes there and {now:,.0f} here; {REMEDY}"
        )


def _moved(corrected: Segmentation, same: IntArray, times: Sequence[float] | None) -> list[int]:
    """Return frames with the name of a corrected one but another time: photos renumbered, or their clock reset."""
    if times is None or corrected.times is None or corrected.clock == "media":
        return []
    pairs = _pairs(same, corrected.times, times)
    return [frame for frame, then, now in pairs if abs(then - now) > SAME_TIME_WITHIN]


def _pairs(
    same: IntArray, then: Sequence[float], now: Sequence[float]
) -> list[tuple[int, float, float]]:
    """Return the current frames that have a counterpart in the corrections, each with both values."""
    return [(frame, then[k], now[frame]) for frame, k in enumerate(same.tolist()) if k >= 0]


def _shown(frame: int, names: Sequence[str] | None) -> str:
    return f"frame {frame}" if names is None else names[frame]


def _source(corrected: Segmentation) -> str:
    return corrected.source or "another source"


def with_saved_contexts(communities: Sequence[int], corrections: Corrections) -> tuple[int, ...]:
    """Number the contexts of a new run as in the saved result: the one with most frames in common keeps its number.

    Contexts are numbered anew in every run, but letters and names belong to the numbers that the
    person saw.

    Parameters
    ----------
    communities : sequence of int
        Context of every frame, as found by this run.
    corrections : Corrections
        The saved events.
    """
    if not corrections.communities:
        return tuple(communities)
    shared = Counter((communities[frame], saved) for frame, saved in corrections.communities)
    number: dict[int, int] = {}
    for new, saved in sorted(shared, key=lambda pair: (-shared[pair], pair)):
        if new not in number and saved not in number.values():
            number[new] = saved
    taken = {saved for _, saved in corrections.communities} | {
        place.community for place in corrections.places
    }
    free = (k for k in count() if k not in taken)
    for new in communities:
        if new not in number:
            number[new] = next(free)
    return tuple(number[new] for new in communities)


def apply_corrections(
    segmentation: Segmentation, corrections: Corrections, communities: Sequence[int] | None = None
) -> Segmentation:
    """Give events the names, reasons, contexts and key photos that the person saved, and keep the saved levels.

    Parameters
    ----------
    segmentation : Segmentation
        The events of this run.
    corrections : Corrections
        What the person saved.
    communities : sequence of int, optional
        Context of every frame, from `with_saved_contexts`, for events that the person has not seen.
    """
    if communities is not None and corrections.communities:
        events = [
            replace(e, community=_usual(communities[e.start : e.stop])) for e in segmentation.events
        ]
        segmentation = replace(segmentation, events=tuple(events), places=corrections.places)
    # New photos may precede the first event of the file; it keeps its name.
    saved = {
        int(np.searchsorted(segmentation.boundaries, f, side="right")): e
        for f, e in corrections.events
    }
    events = []
    for number, event in enumerate(segmentation.events):
        old = saved.get(number)
        if old is not None:
            event = replace(event, name=old.name)
            if event.start in corrections.must:
                event = replace(event, reason=old.reason or "required", confidence=old.confidence)
            if communities is not None and old.community is not None:
                event = replace(event, community=old.community)
        events.append(event)
    for key in corrections.keys:
        number = int(np.searchsorted(segmentation.boundaries, key, side="right"))
        events[number] = replace(events[number], key_frame=key, key_chosen=True)
    saved_levels = levels_with(events, corrections.levels, corrections.must)
    levels = saved_levels if corrections.levels else segmentation.levels
    return replace(segmentation, events=tuple(events), levels=levels)


def _usual(values: Sequence[int]) -> int:
    """Return the most frequent value, the first of them if there are several."""
    return Counter(values).most_common(1)[0][0]


def _labels(
    corrected: Segmentation,
    same: IntArray,
    names: Sequence[str] | None,
    times: Sequence[float] | None,
) -> IntArray:
    """Return the number of the corrected event of each frame; -1 if the person did not see the frame."""
    labels = np.where(same >= 0, corrected.labels[same], -1)
    are_named, is_film = (
        names is not None and corrected.names is not None,
        corrected.clock == "media",
    )
    if are_named and is_film and times is not None and corrected.times is not None:
        # Sampled at other times, a frame belongs to the event that is shown then.
        starts = np.asarray(corrected.start_times, dtype=np.float64)
        return (
            labels
            if np.all(labels >= 0)
            else np.maximum(np.searchsorted(starts, times, side="right") - 1, 0)
        )
    # Any number of photos may be new; most of those that the person saw must still be present.
    enough = len(same) if are_named and is_film else min(len(same), corrected.n_frames)
    if 2 * np.sum(labels >= 0) > enough:
        return labels
    raise ValueError(
        f"the corrections are for other frames ({corrected.n_frames} of"
        f" {corrected.source or 'another source'}); {REMEDY}"
    )


def located_levels(
    corrected: Segmentation,
    is_known: NDArray[np.bool_],
    labels_of: Callable[[Segmentation], IntArray],
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
        kept = [
            (b, c)
            for b, c in zip(level.boundaries, level.confidences, strict=True)
            if b not in removed
        ]
        events = Segmentation.from_boundaries(
            [b for b, _ in kept], corrected.n_frames, times=corrected.times
        ).events
        labels = labels_of(replace(about, events=events))
        starts = known[np.flatnonzero(np.diff(labels[known])) + 1].tolist()
        located.append(
            NestedLevel(level.level, tuple(starts), tuple(kept[labels[b] - 1][1] for b in starts))
        )
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
        Boundaries in the saved events. Those that the person set are in every level, and so are
        boundaries among photos that the person has not seen.
    """
    here = {
        event.start: 0.0 if event.confidence is None else event.confidence for event in events[1:]
    }
    always = {
        event.start for event in events[1:] if event.reason == "required" or event.start not in seen
    }
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
    return tuple(
        NestedLevel(k - at, tuple(one), tuple(one.values())) for k, one in enumerate(ordered)
    )
