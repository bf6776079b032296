"""Apply what a person corrected: boundaries, names, contexts, key photos and levels.

A frame is known by the digest of its content (`FrameSequence.digests`), so files may be renamed,
moved, sorted otherwise, and their times may change.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import count, pairwise
from typing import TypeAlias

import numpy as np

from dayline.arrays import IntArray
from dayline.events import Event, NestedLevel, Place, Segmentation
from dayline.text import counted

SAME_TIME_WITHIN = 1.0
"""Seconds by which the time of a frame may differ between runs."""

Edit: TypeAlias = Segmentation | tuple[str, ...]
"""Events as a person saved them, or the digests of frames whose earlier edits are forgotten."""


@dataclass(frozen=True)
class SavedEvent:
    """An event that a person saved, among the current frames.

    Attributes
    ----------
    event : Event
        As it was saved.
    frames : ndarray of int
        Those of its frames that are here, in order.
    context : int or None
        Its context; contexts of different edits have different numbers.
    """

    event: Event
    frames: IntArray
    context: int | None


@dataclass(frozen=True)
class Corrections:
    """Corrections, in terms of the current frames.

    Attributes
    ----------
    must, must_not : tuple of int
        Frames that must, and must not, start an event. Frames the person never saw are in neither.
    events : tuple of SavedEvent
        The saved events that have a frame here.
    opened_by : mapping of int to int
        The number of the saved event that each frame of `must` starts.
    keys : tuple of int
        Key frames that the person chose.
    levels : tuple of NestedLevel
        The saved levels, without boundaries that the person removed.
    places : tuple of Place
        The places that the person named, by the contexts of `events`.
    cuts : mapping of int to (float, float)
        Exact times of the frames before and after boundaries of a film.
    sampled : tuple of int
        Frames of `must` whose saved time is that of a sampled frame, so that no hard cut is known
        there.
    """

    must: tuple[int, ...] = ()
    must_not: tuple[int, ...] = ()
    events: tuple[SavedEvent, ...] = ()
    opened_by: Mapping[int, int] = field(default_factory=dict)
    keys: tuple[int, ...] = ()
    levels: tuple[NestedLevel, ...] = ()
    places: tuple[Place, ...] = ()
    cuts: Mapping[int, tuple[float, float]] = field(default_factory=dict)
    sampled: tuple[int, ...] = ()


def find_corrections(
    edits: Sequence[Edit], digests: Sequence[str], times: Sequence[float] | None = None
) -> Corrections:
    """Find what a person saved among the current frames; where two edits differ, the newest holds.

    Parameters
    ----------
    edits : sequence of Edit
        The newest first (see `dayline.album.earlier.kept_edits`).
    digests, times : sequences
        Of the current frames.
    """
    edits = _near(edits, digests)
    if not edits:
        return Corrections()
    saved = _SavedFrames(edits)
    labels, position = saved.in_film(digests, times) or saved.among(digests, times)
    present = sorted(set(labels.tolist()) - {-1})
    if not present:
        return Corrections()

    number = {label: k for k, label in enumerate(present)}
    labels = np.asarray([number.get(label, -1) for label in labels.tolist()])
    frames = [np.flatnonzero(labels == k) for k in range(len(present))]
    origin = [saved.events[label] for label in present]
    opened_by, sides = _boundaries(labels, frames, [edit for edit, _ in origin])
    joined = np.flatnonzero((sides[1:] == sides[:-1]) & (sides[1:] >= 0)) + 1
    must = tuple(sorted(opened_by))

    contexts, places = _contexts(edits, origin, frames)
    events = tuple(
        SavedEvent(event, inside, contexts.get((edit, event.community)))
        for (edit, event), inside in zip(origin, frames, strict=True)
    )
    cuts, sampled = _exact_times(opened_by, origin, edits, times)
    return Corrections(
        must=must,
        must_not=tuple(np.setdiff1d(joined, must).tolist()),
        events=events,
        opened_by=opened_by,
        keys=_chosen_keys(edits, origin, position, times),
        levels=_levels(edits, {edit for edit, _ in origin}, position),
        places=places,
        cuts=cuts,
        sampled=sampled,
    )


def _near(edits: Sequence[Edit], digests: Sequence[str]) -> list[Edit]:
    """Return the edits that share frames with the current ones, or with such an edit."""
    here = {film_of(digest) or digest for digest in digests}
    near: list[Edit] = []
    for _ in range(2):
        near = [edit for edit in edits if not here.isdisjoint(marks_of(edit))]
        here.update(mark for edit in near for mark in marks_of(edit))
    return near


def marks_of(edit: Edit) -> Iterator[str]:
    """Yield what identifies the frames of an edit: digests of photos and rows, or the film."""
    for digest in (edit.digests or ()) if isinstance(edit, Segmentation) else edit:
        yield film_of(digest) or digest


class _SavedFrames:
    """The frames of all edits by their digests, each with the saved event it belongs to.

    Attributes
    ----------
    events : list of (int, Event)
        All saved events, each with the number of its edit; a label is an index of this list.
    """

    def __init__(self, edits: Sequence[Edit]) -> None:
        self.edits = edits
        self.events: list[tuple[int, Event]] = []
        # Label, number of the edit and position in it; equal photos have several, in order.
        self.frames: dict[str, list[tuple[int, int, int]]] = {}
        self.films: dict[str, tuple[int, int]] = {}
        for number, edit in enumerate(edits):
            if isinstance(edit, Segmentation):
                self._add(number, edit)
            else:
                for digest in edit:
                    self.frames.setdefault(digest, [])
                    self.films.setdefault(film_of(digest), (-1, -1))

    def _add(self, number: int, edit: Segmentation) -> None:
        digests = edit.digests or ()
        self.films.setdefault(film_of(digests[0]), (number, len(self.events)))
        newer = [self.frames.get(digest) for digest in digests]
        added: dict[str, list[tuple[int, int, int]]] = {}
        for event in edit.events:
            # Photos that were away while others of their event were saved again stay with them.
            inside = range(event.start, event.stop)
            label = next((one[0][0] for k in inside if (one := newer[k])), len(self.events))
            for k in inside:
                if found := newer[k]:
                    label = found[0][0]
                elif found is None:
                    added.setdefault(digests[k], []).append((label, number, k))
            self.events.append((number, event))
        self.frames |= added

    def in_film(
        self, digests: Sequence[str], times: Sequence[float] | None
    ) -> tuple[IntArray, list[tuple[int, int]]] | None:
        """Return the label of every frame of a film, and its edit and position there.

        It is None for other frames. A film may be sampled at other times now: a frame belongs to
        the event that is shown then.
        """
        if not (film := film_of(digests[0])) or times is None:
            return None
        number, first = self.films.get(film, (-1, -1))
        edit = self.edits[number]
        if number < 0 or not isinstance(edit, Segmentation) or edit.times is None:
            return np.full(len(digests), -1), [(-1, -1)] * len(digests)
        starts = np.asarray(edit.start_times, dtype=np.float64)
        shown = np.maximum(np.searchsorted(starts, times, side="right") - 1, 0)
        at = np.maximum(np.searchsorted(edit.times, times, side="right") - 1, 0)
        return shown + first, [(number, k) for k in at.tolist()]

    def among(
        self, digests: Sequence[str], times: Sequence[float] | None
    ) -> tuple[IntArray, list[tuple[int, int]]]:
        """Return the same for photos and rows; equal ones are known by time or by order."""
        labels = np.full(len(digests), -1)
        position = [(-1, -1)] * len(digests)
        unused = {digest: dict.fromkeys(self.frames.get(digest, ())) for digest in set(digests)}
        at_time: dict[tuple[str, int | None], list[tuple[int, int, int]]] = {}
        for digest, choices in unused.items():
            for choice in choices:
                second = _second(self._times(choice[1]), choice[2])
                at_time.setdefault((digest, second), []).append(choice)

        for by_time in (True, False):
            for frame, digest in enumerate(digests):
                same = at_time.get((digest, _second(times, frame)))
                if labels[frame] >= 0 or not (same if by_time else unused[digest]):
                    continue
                choice = same.pop(0) if by_time and same else next(iter(unused[digest]))
                labels[frame], position[frame] = choice[0], choice[1:]
                del unused[digest][choice]

        # A black photo of another day is not the same one; many equal photos of an event are.
        counts = Counter(labels.tolist())
        for frame, label in enumerate(labels.tolist()):
            edit, k = position[frame]
            then = None if label < 0 else self._times(edit)
            if then is None or times is None or abs(then[k] - times[frame]) <= SAME_TIME_WITHIN:
                continue
            if 2 * counts[label] < self.events[label][1].n_frames:
                labels[frame], position[frame] = -1, (-1, -1)
        return labels, position

    def _times(self, number: int) -> tuple[float, ...] | None:
        edit = self.edits[number]
        return edit.times if isinstance(edit, Segmentation) else None


def _second(times: Sequence[float] | None, frame: int) -> int | None:
    return None if times is None else round(times[frame])


def film_of(digest: str) -> str:
    """Return the film that a digest names with a time; empty for photos and rows."""
    film, _, time = digest.partition(":")
    return film if time else ""


def _boundaries(
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

    rank = {k: place for place, k in enumerate(by_time)}
    opened_by: dict[int, int] = {}
    sides = labels.copy()
    for a, b in sorted({tuple(sorted(pair, key=rank.__getitem__)) for pair in pairs}):
        before, after = frames[a], frames[b]
        misplaced = len(before) - np.searchsorted(before, after) + np.arange(len(after))
        best = int(np.argmin(misplaced))
        if 2 * misplaced[best] < min(len(before), len(after)):
            start = int(after[best])
            opened_by[start] = b
            sides[before[before > start]] = b
            sides[after[:best]] = a
    return opened_by, sides


def _contexts(
    edits: Sequence[Edit], origin: Sequence[tuple[int, Event]], frames: Sequence[IntArray]
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

    number: dict[tuple[int, int | None], int] = {}
    places: dict[int, Place] = {}
    by_name: dict[str, int] = {}
    for edit, _ in of_edit.most_common():
        saved = edits[edit]
        about = {p.community: p for p in saved.places} if isinstance(saved, Segmentation) else {}
        for context in sorted(c for e, c in n_frames if e == edit):
            place = about.get(context)
            taken = set(number.values())
            free = context if context not in taken else next(k for k in count() if k not in taken)
            name = None if place is None else place.name
            number[edit, context] = by_name.setdefault(name, free) if name is not None else free
            if place is not None and number[edit, context] not in places:
                places[number[edit, context]] = replace(place, community=number[edit, context])
    return number, tuple(places.values())


def _exact_times(
    opened_by: Mapping[int, int],
    origin: Sequence[tuple[int, Event]],
    edits: Sequence[Edit],
    times: Sequence[float] | None,
) -> tuple[dict[int, tuple[float, float]], tuple[int, ...]]:
    """Return the exact times at boundaries of a film, and the boundaries without one."""
    cuts: dict[int, tuple[float, float]] = {}
    sampled = []
    for frame, number in opened_by.items():
        edit, event = edits[origin[number][0]], origin[number][1]
        if not isinstance(edit, Segmentation) or edit.times is None or times is None:
            continue
        start = event.start_time
        if start == edit.times[event.start]:
            sampled.append(frame)
        if edit.clock == "media" and start is not None and times[frame - 1] < start < times[frame]:
            stop = edit.events[edit.events.index(event) - 1].stop_time
            known = stop is not None and times[frame - 1] <= stop < start
            cuts[frame] = (stop if known and stop is not None else times[frame - 1], start)
    return cuts, tuple(sampled)


def _chosen_keys(
    edits: Sequence[Edit],
    origin: Sequence[tuple[int, Event]],
    position: Sequence[tuple[int, int]],
    times: Sequence[float] | None,
) -> tuple[int, ...]:
    """Return the key frames that the person chose; in a film, the frame shown at that time."""
    frame_at = {place: frame for frame, place in enumerate(position)}
    keys = []
    for number, event in origin:
        edit = edits[number]
        if not event.key_chosen or event.key_frame is None or not isinstance(edit, Segmentation):
            continue
        if edit.clock == "media" and edit.times is not None and times is not None:
            shown = np.abs(np.asarray(times) - edit.times[event.key_frame])
            keys.append(int(np.argmin(shown)))
        elif (number, event.key_frame) in frame_at:
            keys.append(frame_at[number, event.key_frame])
    return tuple(keys)


def _levels(
    edits: Sequence[Edit], used: Collection[int], position: Sequence[tuple[int, int]]
) -> tuple[NestedLevel, ...]:
    """Find the saved levels among the current frames, if all of them are from one edit."""
    number = next(iter(used))
    saved = edits[number]
    if len(used) > 1 or not isinstance(saved, Segmentation):
        return ()
    known = np.asarray([frame for frame, (edit, _) in enumerate(position) if edit == number])
    # Should the order have changed, a boundary lies before the first of the later frames.
    places = np.maximum.accumulate([position[frame][1] for frame in known.tolist()])
    usual = next((level.boundaries for level in saved.levels if level.level == 0), ())
    removed = set(usual).difference(saved.boundaries)

    located = []
    for level in saved.levels:
        found: dict[int, float] = {}
        for boundary, confidence in zip(level.boundaries, level.confidences, strict=True):
            k = int(np.searchsorted(places, boundary))
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
    saved = [e for e in corrections.events if e.context is not None]
    if not saved:
        return tuple(communities)
    shared: Counter[tuple[int, int]] = Counter()
    for one in saved:
        for frame in one.frames.tolist():
            shared[communities[frame], one.context or 0] += 1

    number: dict[int, int] = {}
    for new, context in sorted(shared, key=lambda pair: (-shared[pair], pair)):
        if new not in number and context not in number.values():
            number[new] = context
    taken = {context for _, context in shared} | {p.community for p in corrections.places}
    free = (k for k in count() if k not in taken)
    for new in communities:
        if new not in number:
            number[new] = next(free)
    return tuple(number[new] for new in communities)


def apply_corrections(
    segmentation: Segmentation, corrections: Corrections, communities: Sequence[int] | None = None
) -> Segmentation:
    """Give events the names, reasons, contexts, key photos and levels that the person saved.

    What was saved of an event goes to the one that has most of its frames.

    Parameters
    ----------
    segmentation : Segmentation
        The events of this run.
    corrections : Corrections
        What the person saved.
    communities : sequence of int, optional
        Context of every frame, from `with_saved_contexts`, for events that the person has not seen.
    """
    if not corrections.events:
        return segmentation
    events = list(segmentation.events)
    has_contexts = any(saved.context is not None for saved in corrections.events)
    if communities is not None and has_contexts:
        for k, event in enumerate(events):
            usual = Counter(communities[event.start : event.stop]).most_common(1)[0][0]
            events[k] = replace(event, community=usual)

    shares = []
    for saved in corrections.events:
        places = np.searchsorted(segmentation.boundaries, saved.frames, side="right")
        number, n_frames = Counter(places.tolist()).most_common(1)[0]
        shares.append((n_frames, number, saved))
    in_context: set[int] = set()
    # Those with most frames come first, and of equal ones the newest.
    for _, number, saved in sorted(shares, key=lambda share: -share[0]):
        if communities is not None and saved.context is not None and number not in in_context:
            events[number] = replace(events[number], community=saved.context)
            in_context.add(number)
        name, shown = saved.event.name, events[number].name
        if name is not None and shown is None:
            events[number] = replace(events[number], name=name)
        elif name is not None and name != shown:
            warnings.warn(
                f"{name!r}: most frames of this event are in {shown!r} now, whose name is shown",
                stacklevel=2,
            )

    for k, event in enumerate(events):
        if event.start in corrections.opened_by:
            old = corrections.events[corrections.opened_by[event.start]].event
            if old.reason != "start":
                reason = old.reason or "required"
                events[k] = replace(event, reason=reason, confidence=old.confidence)
    for key in corrections.keys:
        k = int(np.searchsorted(segmentation.boundaries, key, side="right"))
        events[k] = replace(events[k], key_frame=key, key_chosen=True)

    levels = segmentation.levels
    if corrections.levels:
        levels = _levels_around(events, corrections.levels, corrections.must)
    named = corrections.places if has_contexts and communities is not None else ()
    return replace(
        segmentation, events=tuple(events), levels=levels, places=named or segmentation.places
    )


def _levels_around(
    events: Sequence[Event], saved: Sequence[NestedLevel], seen: Collection[int]
) -> tuple[NestedLevel, ...]:
    """Return the saved levels around the corrected events, which are level 0.

    Parameters
    ----------
    events : sequence of Event
        The corrected events.
    saved : sequence of NestedLevel
        In terms of the current frames.
    seen : collection of int
        Boundaries in the saved events. Those that the person set are in every level, and so are
        boundaries among photos that the person has not seen.
    """
    here = {e.start: 0.0 if e.confidence is None else e.confidence for e in events[1:]}
    always = {e.start for e in events[1:] if e.reason == "required" or e.start not in seen}
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


def warn_of_absent_events(edits: Sequence[Edit], digests: Collection[str]) -> None:
    """Warn once about named events none of whose frames is here; they are kept.

    Parameters
    ----------
    edits : sequence of Edit
        The newest first.
    digests : collection of str
        Of all current frames.
    """
    saved = _SavedFrames(edits)
    here = set(marks_of(tuple(digests)))
    is_here: dict[int, bool] = {}
    for digest, places in saved.frames.items():
        for label, _, _ in places:
            is_here[label] = is_here.get(label, False) or (film_of(digest) or digest) in here

    labeled = ((is_here.get(label), event) for label, (_, event) in enumerate(saved.events))
    absent = [event for known, event in labeled if event.name is not None and known is False]
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
