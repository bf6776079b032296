"""Find what a person corrected among the frames of a new run.

`load_corrections` finds it. Its boundaries go to the segmenter, where they win over the model (in
`dayline.decision.partition.build_hierarchy`); the functions `with_saved_...` then give the events
all else.

A frame is known by the digest of its content (`FrameSequence.digests`), so files may be renamed,
moved, sorted otherwise, and their times may change.
"""

from __future__ import annotations

import warnings
from collections import Counter, defaultdict, deque
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import count, pairwise
from pathlib import Path
from typing import Literal

import numpy as np

from dayline.album.edits import (
    corrections_folder,
    film_of,
    kept_edits,
    marks_of,
    renewed_rows,
    with_digests,
    without_replaced,
)
from dayline.arrays import IntArray
from dayline.events import Event, NestedLevel, Place, Segmentation
from dayline.text import counted

SAME_TIME_WITHIN = 1.0
"""Seconds by which the time of a frame may differ between runs."""


@dataclass(frozen=True)
class Corrections:
    """Corrections, in terms of the current frames.

    Attributes
    ----------
    must_not : tuple of int
        Frames that must not start an event. Frames the person never saw are neither here nor in
        `must`.
    events : tuple of (Event, ndarray of int)
        The saved events that have a frame here, and these frames; contexts of different edits have
        different numbers.
    starts : mapping of int to int
        The frames that must start an event, each with the position in `events` of the one it
        starts.
    keys : tuple of int
        Key frames that the person chose.
    levels : tuple of NestedLevel
        The saved levels, without boundaries that the person removed.
    places : tuple of Place
        The places that the person named, by the contexts of `events`.
    cuts : mapping of int to (float, float)
        Exact times of the frames before and after boundaries of a film.
    sampled : tuple of int
        Frames of `must` whose saved time is that of a sampled frame: no hard cut is known there.
    favorites, hidden : tuple of int
        Frames that the person likes best, and hid: all with the content of such a frame.
    n_events_found : int or None
        Events that dayline had found by itself when the person saved them.
    new : tuple of Segmentation
        Edits to keep for the next run.
    """

    must_not: tuple[int, ...] = ()
    events: tuple[tuple[Event, IntArray], ...] = ()
    starts: Mapping[int, int] = field(default_factory=dict)
    keys: tuple[int, ...] = ()
    levels: tuple[NestedLevel, ...] = ()
    places: tuple[Place, ...] = ()
    cuts: Mapping[int, tuple[float, float]] = field(default_factory=dict)
    sampled: tuple[int, ...] = ()
    favorites: tuple[int, ...] = ()
    hidden: tuple[int, ...] = ()
    n_events_found: int | None = None
    new: tuple[Segmentation, ...] = ()

    @property
    def must(self) -> tuple[int, ...]:
        """Frames that must start an event."""
        return tuple(sorted(self.starts))

    def must_with_breaks(self, breaks: Collection[int]) -> set[int]:
        """Return the frames that start an event whatever the model says.

        They are those of the person, and breaks of the recording that the person did not overrule.
        """
        return {*self.must, *breaks}.difference(self.must_not)


def load_corrections(
    given: Segmentation | Literal["kept"] | None,
    folder: Path | None,
    digests: Sequence[str],
    *,
    times: Sequence[float | None] | None = None,
    names: Sequence[str] | None = None,
    source: str | None = None,
) -> Corrections:
    """Find what a person corrected, in a given result and in the edits that a folder keeps.

    Parameters
    ----------
    given : Segmentation, "kept" or None
        A result that the person corrected, "kept" for the edits in the folder only, or None for no
        corrections at all.
    folder : Path, optional
        The folder of the result.
    digests, times, names : sequences
        Of the current frames; a table has no names.
    source : str, optional
        Name of the table.
    """
    kept = () if folder is None or given is None else kept_edits(folder)
    new: tuple[Segmentation, ...] = ()
    if isinstance(given, Segmentation):
        new = (with_digests(given, digests, names=names, times=times, source=source),)
    elif names is None:
        new = renewed_rows(kept, digests, source)

    edits = without_replaced((*new, *kept))
    if folder is None or corrections_folder(folder) == folder:
        warn_of_absent_events(edits, digests)
    return replace(find_corrections(edits, digests, times), new=new)


def needed_frames(
    given: Segmentation | Literal["kept"] | None,
    folder: Path | None,
    digests: Sequence[str],
    aside: Sequence[str],
) -> set[str]:
    """Return digests of frames without which something that a person saved would not be shown.

    They are those of favorites, hidden photos and chosen key frames, and those of an event with a
    name, or at a place with one, none of whose frames is here.

    Parameters
    ----------
    given, folder
        See `load_corrections`.
    digests, aside : sequences of str
        Of the current frames, and of those that would be set aside.
    """
    kept = () if folder is None or given is None else kept_edits(folder)
    edits = (given, *kept) if isinstance(given, Segmentation) else kept
    marked = (*_marked(edits, aside, "favorites"), *_marked(edits, aside, "hidden"))
    here, needed = set(digests), {aside[k] for k in marked}
    for edit in edits:
        marks = edit.digests or ()
        named = {place.community for place in edit.places if place.name is not None}
        for event in edit.events:
            inside = marks[event.start : event.stop]
            if event.key_chosen and event.key_frame is not None:
                needed.update(marks[event.key_frame : event.key_frame + 1])
            if (event.name is not None or event.community in named) and here.isdisjoint(inside):
                needed.update(inside)
    return needed


def find_corrections(
    edits: Sequence[Segmentation],
    digests: Sequence[str],
    times: Sequence[float | None] | None = None,
) -> Corrections:
    """Find what a person saved among the current frames; where two edits differ, the newest holds.

    Parameters
    ----------
    edits : sequence of Segmentation
        The newest first (see `kept_edits`).
    digests, times : sequences
        Of the current frames.
    """
    edits = _sharing_frames(edits, digests)
    if not edits:
        return Corrections()

    # In the matching, the label of an event is its position in this list.
    all_events = [(number, event) for number, edit in enumerate(edits) for event in edit.events]
    if film_of(digests[0]) and times is not None:
        shown_at = [time for time in times if time is not None]  # all frames of a film have one
        labels, saved_at = _match_film(edits, film_of(digests[0]), shown_at)
    else:
        labels, saved_at = _match_by_content(edits, all_events, digests, times)

    present = sorted(set(labels.tolist()) - {-1})
    favorites, hidden = _marked(edits, digests, "favorites"), _marked(edits, digests, "hidden")
    if not present:
        return Corrections(favorites=favorites, hidden=hidden)

    # From here on, it is the position among the events that are present.
    new_label = {label: k for k, label in enumerate(present)}
    labels = np.asarray([new_label.get(label, -1) for label in labels.tolist()])
    frames = [np.flatnonzero(labels == k) for k in range(len(present))]
    origin = [all_events[label] for label in present]
    starts, sides = _saved_starts(labels, frames, [number for number, _ in origin])
    joined = np.flatnonzero((sides[1:] == sides[:-1]) & (sides[1:] >= 0)) + 1

    contexts, places = _contexts(edits, origin, frames)
    events = tuple(
        (replace(event, community=contexts.get((number, event.community))), inside)
        for (number, event), inside in zip(origin, frames, strict=True)
    )
    cuts, sampled = _exact_times(starts, origin, edits, times)
    return Corrections(
        must_not=tuple(np.setdiff1d(joined, sorted(starts)).tolist()),
        events=events,
        starts=starts,
        keys=_chosen_keys(edits, origin, saved_at, times),
        levels=_saved_levels(edits, {number for number, _ in origin}, saved_at),
        places=places,
        n_events_found=edits[0].n_events_found,
        cuts=cuts,
        sampled=sampled,
        favorites=favorites,
        hidden=hidden,
    )


def _sharing_frames(edits: Sequence[Segmentation], digests: Sequence[str]) -> list[Segmentation]:
    """Return the edits that share frames with the current ones, or with such an edit."""
    marks = [marks_of(edit.digests) for edit in edits]
    here = marks_of(digests)
    here = here.union(*(frames for frames in marks if not here.isdisjoint(frames)))
    return [edit for edit, frames in zip(edits, marks, strict=True) if not here.isdisjoint(frames)]


def _match_film(
    edits: Sequence[Segmentation], film: str, times: Sequence[float]
) -> tuple[IntArray, list[tuple[int, int]]]:
    """Return the saved event of every frame of a film (or -1), and its edit and position there.

    A film may be sampled at other times now: a frame belongs to the event that is shown then.
    """
    n_before = 0
    for number, edit in enumerate(edits):
        shown_at = edit.all_times
        if shown_at is not None and film_of((edit.digests or ("",))[0]) == film:
            starts = np.asarray(edit.start_times, dtype=np.float64)
            shown = np.maximum(np.searchsorted(starts, times, side="right") - 1, 0)
            at = np.maximum(np.searchsorted(shown_at, times, side="right") - 1, 0)
            return shown + n_before, [(number, k) for k in at.tolist()]
        n_before += len(edit.events)
    return np.full(len(times), -1), [(-1, -1)] * len(times)


def _match_by_content(
    edits: Sequence[Segmentation],
    events: Sequence[tuple[int, Event]],
    digests: Sequence[str],
    times: Sequence[float | None] | None,
) -> tuple[IntArray, list[tuple[int, int]]]:
    """Return the saved event of every photo or row (or -1), and its edit and position there.

    Equal photos are told apart by their time, or else by their order.
    """
    labels = np.full(len(digests), -1)
    saved_at = [(-1, -1)] * len(digests)
    saved = _saved_frames(edits)
    used: set[tuple[int, int]] = set()

    # First by digest and time, then what is left by digest alone.
    for by_time in (True, False):
        unused: dict[object, deque[tuple[int, int, int]]] = defaultdict(deque)
        for digest in set(digests):
            for label, number, k in saved.get(digest, ()):
                if (number, k) not in used:
                    second = _whole_second(edits[number].times, k) if by_time else None
                    unused[digest, second].append((label, number, k))
        for frame, digest in enumerate(digests):
            same = unused[digest, _whole_second(times, frame) if by_time else None]
            if labels[frame] < 0 and same:
                label, number, k = same.popleft()
                labels[frame], saved_at[frame] = label, (number, k)
                used.add((number, k))

    # A black photo of another day is not the same one; many equal photos of an event are.
    counts = Counter(labels.tolist())
    for frame, label in enumerate(labels.tolist()):
        number, k = saved_at[frame]
        then = None if label < 0 else _time(edits[number].times, k)
        now = _time(times, frame)
        if then is None or now is None or abs(then - now) <= SAME_TIME_WITHIN:
            continue
        if 2 * counts[label] < events[label][1].n_frames:
            labels[frame], saved_at[frame] = -1, (-1, -1)
    return labels, saved_at


def _saved_frames(edits: Sequence[Segmentation]) -> dict[str, list[tuple[int, int, int]]]:
    """Return where each digest was saved last: its event, its edit and its position there.

    A digest of several frames of that edit has several entries, in order.
    """
    found: dict[str, list[tuple[int, int, int]]] = {}
    n_events = 0
    for number, edit in enumerate(edits):
        digests = edit.digests or ()
        newer = [found.get(digest) for digest in digests]
        added: dict[str, list[tuple[int, int, int]]] = {}
        for event in edit.events:
            # If an event was saved again while some of its photos were missing, these belong to the
            # newer event of the photos beside them.
            inside = range(event.start, event.stop)
            label = next((one[0][0] for k in inside if (one := newer[k])), n_events)
            for k in inside:
                if one := newer[k]:
                    label = one[0][0]
                elif digests[k]:
                    added.setdefault(digests[k], []).append((label, number, k))
            n_events += 1
        found |= added
    return found


def _time(times: Sequence[float | None] | None, frame: int) -> float | None:
    """Return the time of a frame, if it has one."""
    return None if times is None else times[frame]


def _whole_second(times: Sequence[float | None] | None, frame: int) -> int | None:
    """Return the time of a frame in whole seconds, if it has one."""
    time = _time(times, frame)
    return None if time is None else round(time)


def _saved_starts(
    labels: IntArray, frames: Sequence[IntArray], edits: Sequence[int]
) -> tuple[dict[int, int], IntArray]:
    """Return where each saved event starts, and the event on whose side every frame is.

    Photos may be in another order now. A boundary between two events then lies where fewest of
    their frames are on the wrong side, if most of the frames of both are on the right one.
    """
    known = labels[labels >= 0]
    change = np.flatnonzero(np.diff(known))
    pairs = set(zip(known[change].tolist(), known[change + 1].tolist(), strict=True))
    by_time = sorted(range(len(frames)), key=lambda k: float(np.median(frames[k])))
    for number in set(edits):
        own = [k for k in by_time if edits[k] == number]
        pairs.update(pairwise(own))

    rank = {k: i for i, k in enumerate(by_time)}
    ordered_pairs = {tuple(sorted(pair, key=rank.__getitem__)) for pair in pairs}
    starts: dict[int, int] = {}
    sides = labels.copy()
    for earlier, later in sorted(ordered_pairs):
        before, after = frames[earlier], frames[later]
        misplaced = len(before) - np.searchsorted(before, after) + np.arange(len(after))
        best = int(np.argmin(misplaced))
        if 2 * misplaced[best] < min(len(before), len(after)):
            start = int(after[best])
            starts[start] = later
            sides[before[before > start]] = later
            sides[after[:best]] = earlier
    return starts, sides


def _contexts(
    edits: Sequence[Segmentation], origin: Sequence[tuple[int, Event]], frames: Sequence[IntArray]
) -> tuple[dict[tuple[int, int | None], int], tuple[Place, ...]]:
    """Number the contexts of all edits, so that each name is one context.

    The edit with most frames keeps its numbers.
    """
    n_frames: Counter[tuple[int, int]] = Counter()
    for (edit, event), inside in zip(origin, frames, strict=True):
        if event.community is not None:
            n_frames[edit, event.community] += len(inside)
    of_edit = Counter({edit: 0 for edit, _ in origin})
    for (edit, _), n in n_frames.items():
        of_edit[edit] += n

    new_number: dict[tuple[int, int | None], int] = {}
    places: dict[int, Place] = {}
    by_name: dict[str, int] = {}
    for edit, _ in of_edit.most_common():
        about = {place.community: place for place in edits[edit].places}
        for context in sorted(c for e, c in n_frames if e == edit):
            place = about.get(context)
            taken = set(new_number.values())
            free = context if context not in taken else next(k for k in count() if k not in taken)
            name = None if place is None else place.name
            new_number[edit, context] = by_name.setdefault(name, free) if name is not None else free
            if place is not None and new_number[edit, context] not in places:
                places[new_number[edit, context]] = replace(
                    place, community=new_number[edit, context]
                )
    return new_number, tuple(places.values())


def _exact_times(
    starts: Mapping[int, int],
    origin: Sequence[tuple[int, Event]],
    edits: Sequence[Segmentation],
    times: Sequence[float | None] | None,
) -> tuple[dict[int, tuple[float, float]], tuple[int, ...]]:
    """Return the exact times at boundaries of a film, and the boundaries without one."""
    cuts: dict[int, tuple[float, float]] = {}
    sampled = []
    for frame, number in starts.items():
        edit, event = edits[origin[number][0]], origin[number][1]
        if edit.times is None or times is None:
            continue
        start, before, here = event.start_time, times[frame - 1], times[frame]
        if start == edit.times[event.start]:
            sampled.append(frame)
        if edit.clock != "media" or start is None or before is None or here is None:
            continue
        if before < start < here:
            stop = edit.events[edit.events.index(event) - 1].stop_time
            known = stop is not None and before <= stop < start
            cuts[frame] = (stop if known and stop is not None else before, start)
    return cuts, tuple(sampled)


def _chosen_keys(
    edits: Sequence[Segmentation],
    origin: Sequence[tuple[int, Event]],
    saved_at: Sequence[tuple[int, int]],
    times: Sequence[float | None] | None,
) -> tuple[int, ...]:
    """Return the key frames that the person chose; in a film, the frame shown at that time."""
    frame_saved_at = {one: frame for frame, one in enumerate(saved_at)}
    keys = []
    for number, event in origin:
        edit = edits[number]
        if not event.key_chosen or event.key_frame is None:
            continue
        if edit.clock == "media" and edit.times is not None and times is not None:
            shown = np.abs(np.asarray(times) - edit.times[event.key_frame])
            keys.append(int(np.argmin(shown)))
        elif (number, event.key_frame) in frame_saved_at:
            keys.append(frame_saved_at[number, event.key_frame])
    return tuple(keys)


def _marked(
    edits: Sequence[Segmentation], digests: Sequence[str], what: Literal["favorites", "hidden"]
) -> tuple[int, ...]:
    """Return the frames that a person marked, in the newest edit that knows them."""
    is_marked: dict[str, bool] = {}
    for edit in edits:
        marked = {(edit.digests or ())[frame] for frame in getattr(edit, what)}
        for digest in edit.digests or ():
            is_marked.setdefault(digest, digest in marked)
    return tuple(k for k, digest in enumerate(digests) if digest and is_marked.get(digest))


def _saved_levels(
    edits: Sequence[Segmentation], used: Collection[int], saved_at: Sequence[tuple[int, int]]
) -> tuple[NestedLevel, ...]:
    """Find the saved levels among the current frames, if all of them are from one edit."""
    if len(used) > 1:
        return ()
    number = next(iter(used))
    saved = edits[number]
    known = np.asarray([frame for frame, (edit, _) in enumerate(saved_at) if edit == number])
    # Should the order have changed, a boundary lies before the first of the later frames.
    positions = np.maximum.accumulate([saved_at[frame][1] for frame in known.tolist()])
    usual = next((level.boundaries for level in saved.levels if level.level == 0), ())
    removed = set(usual).difference(saved.boundaries)

    located = []
    for level in saved.levels:
        found: dict[int, float] = {}
        for boundary, confidence in zip(level.boundaries, level.confidences, strict=True):
            k = int(np.searchsorted(positions, boundary))
            if boundary not in removed and 0 < k < len(known):
                found[int(known[k])] = confidence
        located.append(NestedLevel(level.level, tuple(found), tuple(found.values())))
    return tuple(located)


def with_saved_contexts(communities: Sequence[int], corrections: Corrections) -> tuple[int, ...]:
    """Number the contexts of a new run as in the saved result.

    Contexts are numbered anew in every run, but letters and names belong to the numbers that the
    person saw. The context with most frames in common keeps its number.

    Parameters
    ----------
    communities : sequence of int
        Context of every frame, as found by this run.
    corrections : Corrections
        The saved events.
    """
    shared: Counter[tuple[int, int]] = Counter()
    for event, frames in corrections.events:
        if event.community is not None:
            shared.update((communities[frame], event.community) for frame in frames.tolist())
    if not shared:
        return tuple(communities)

    new_number: dict[int, int] = {}
    for new, context in sorted(shared, key=lambda pair: (-shared[pair], pair)):
        if new not in new_number and context not in new_number.values():
            new_number[new] = context
    taken = {context for _, context in shared} | {p.community for p in corrections.places}
    free = (k for k in count() if k not in taken)
    for new in communities:
        if new not in new_number:
            new_number[new] = next(free)
    return tuple(new_number[new] for new in communities)


def with_saved_details(
    events: Sequence[Event], corrections: Corrections, communities: Sequence[int]
) -> tuple[Event, ...]:
    """Give events the names, reasons, contexts and key photos that the person saved.

    What was saved of an event goes to the one that has most of its frames.

    Parameters
    ----------
    events : sequence of Event
        The events of this run.
    corrections : Corrections
        What the person saved.
    communities : sequence of int
        Context of every frame, from `with_saved_contexts`, for events that the person has not seen.
    """
    # Contexts: those of this run first, for events that the person has not seen.
    corrected = list(events)
    if any(saved.community is not None for saved, _ in corrections.events):
        for k, event in enumerate(events):
            usual = Counter(communities[event.start : event.stop]).most_common(1)[0][0]
            corrected[k] = replace(event, community=usual)

    # Contexts and names of the saved events, each given to the event with most of its frames.
    boundaries = [event.start for event in events[1:]]
    shares = []
    for saved, frames in corrections.events:
        inside = np.searchsorted(boundaries, frames, side="right")
        number, n_frames = Counter(inside.tolist()).most_common(1)[0]
        shares.append((n_frames, number, saved))
    in_context: set[int] = set()
    # Those with most frames come first, and of equal ones the newest.
    for _, number, saved in sorted(shares, key=lambda share: -share[0]):
        if saved.community is not None and number not in in_context:
            corrected[number] = replace(corrected[number], community=saved.community)
            in_context.add(number)
        shown = corrected[number].name
        if saved.name is not None and shown is None:
            corrected[number] = replace(corrected[number], name=saved.name)
        elif saved.name is not None and saved.name != shown:
            warnings.warn(
                f"{saved.name!r}: most frames of this event are in {shown!r} now, whose name is"
                " shown",
                stacklevel=2,
            )

    # Reasons of the boundaries, and key photos.
    for k, event in enumerate(corrected):
        if event.start in corrections.starts:
            saved, _ = corrections.events[corrections.starts[event.start]]
            if saved.reason != "start":
                corrected[k] = replace(
                    event,
                    reason=saved.reason or "required",
                    confidence=saved.confidence,
                    interval=_saved_interval(event, saved),
                )
    for key in corrections.keys:
        k = int(np.searchsorted(boundaries, key, side="right"))
        corrected[k] = replace(corrected[k], key_frame=key, key_chosen=True)
    return tuple(corrected)


def with_added_hidden(events: Sequence[Event], corrections: Corrections) -> Corrections:
    """Hide what was added to events that a person hid as a whole.

    Parameters
    ----------
    events : sequence of Event
        The events of this run.
    corrections : Corrections
        What the person saved.
    """
    hidden = set(corrections.hidden)
    known = {frame for _, frames in corrections.events for frame in frames.tolist()}
    whole = [set(frames.tolist()) for _, frames in corrections.events]
    added: set[int] = set()
    for event in events if hidden else ():
        inside = set(range(event.start, event.stop))
        is_hidden = any(frames <= inside & hidden for frames in whole)
        if is_hidden and inside & known <= hidden:
            added |= inside - hidden
    return replace(corrections, hidden=tuple(sorted(hidden | added)))


def _saved_interval(event: Event, saved: Event) -> tuple[int, int] | None:
    """Return the interval that a boundary had before it was saved.

    None if the frames of the event have changed since. In this run the boundary is required, so its
    interval has one frame.
    """
    if saved.interval is None or saved.n_frames != event.n_frames:
        return None
    first, last = (max(0, frame - saved.start + event.start) for frame in saved.interval)
    return first, last


def with_saved_levels(
    events: Sequence[Event], levels: Sequence[NestedLevel], corrections: Corrections
) -> tuple[NestedLevel, ...]:
    """Return the saved levels around the corrected events, which are level 0.

    Boundaries that the person set are in every level, and so are those among photos that the person
    has not seen.

    Parameters
    ----------
    events : sequence of Event
        The corrected events.
    levels : sequence of NestedLevel
        Those of this run, which stay if none were saved.
    corrections : Corrections
        What the person saved.
    """
    if not corrections.levels:
        return tuple(levels)
    here = {e.start: 0.0 if e.confidence is None else e.confidence for e in events[1:]}
    always = {
        e.start for e in events[1:] if e.reason == "required" or e.start not in corrections.must
    }
    found: list[tuple[int, dict[int, float]]] = []
    for level in corrections.levels:
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


def warn_of_absent_events(edits: Sequence[Segmentation], digests: Collection[str]) -> None:
    """Warn once about named events none of whose frames is here; they are kept.

    Parameters
    ----------
    edits : sequence of Segmentation
        The newest first.
    digests : collection of str
        Of all current frames.
    """
    here = marks_of(digests)
    is_here: dict[int, bool] = {}
    for digest, occurrences in _saved_frames(edits).items():
        for label, _, _ in occurrences:
            is_here[label] = is_here.get(label, False) or (film_of(digest) or digest) in here

    events = [event for edit in edits for event in edit.events]
    absent = [
        event
        for label, event in enumerate(events)
        if event.name is not None and is_here.get(label) is False
    ]
    if absent:
        names = ", ".join(repr(event.name) for event in absent[:5])
        more = f" and {len(absent) - 5} more" if len(absent) > 5 else ""
        n_frames = sum(event.n_frames for event in absent)
        frames = counted(n_frames, "photo or frame", "photos or frames")
        warnings.warn(
            f"{names}{more}: none of the {frames} of {counted(len(absent), 'event')} is here any"
            " more; what you saved of them is kept, and returns with them",
            stacklevel=2,
        )
