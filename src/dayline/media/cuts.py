"""Move the boundaries of a video to the exact starts of shots."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from dayline.events import NestedLevel, Segmentation, Shot
from dayline.media.breaks import FrameGroups
from dayline.media.frame import MissingFrames
from dayline.text import counted

LONGEST_MARGIN = 10.0
"""Seconds before and after the two sampled frames of a boundary; one sampling step, if that is
shorter."""

UNBROKEN = 43.0
"""Seconds up to which a shot is never split: the mean time that a feature film stays at a place
(studyforrest), since a camera that runs on rarely leaves it sooner."""


PARTS = 70
"""Parts as which the method sees a film of short shots, and more if it has more shots: as many as
were best on half of the made films (`benchmarks/accuracy/shots.py`)."""


@dataclass(frozen=True)
class _Cut:
    """Times of the frames before and after the start of a shot."""

    before: float
    after: float


def frames_within_shots(
    shots: Sequence[Shot], times: Sequence[float], *, missing: Sequence[MissingFrames] = ()
) -> frozenset[int]:
    """Return the sampled frames that begin no event, since they go on with a short shot.

    Parameters
    ----------
    shots : sequence of Shot
        The shots of a film.
    times : sequence of float
        Seconds of the sampled frames.
    missing : sequence of MissingFrames
        Where frames were lost, and with them perhaps the start of a shot.
    """
    within: set[int] = set()
    for shot in shots:
        if shot.stop_time - shot.start_time < UNBROKEN:
            first = bisect_left(times, shot.start_time)
            within.update(range(first + 1, bisect_right(times, shot.stop_time)))
    return frozenset(within - _frames_at_gaps(times, missing))


def group_by_shots(
    shots: Sequence[Shot],
    times: Sequence[float],
    *,
    missing: Sequence[MissingFrames] = (),
    opened: Collection[int] = (),
) -> FrameGroups:
    """Let the frames of a shot count as one, or as a few equal parts of a longer shot.

    A film whose shots are mostly long is the recording of a camera that runs on: every frame counts
    for itself.

    Parameters
    ----------
    shots, times, missing
        As for `frames_within_shots`.
    opened : collection of int
        Sampled frames that begin a group in any case.
    """
    starts = np.asarray([shot.start_time for shot in shots])
    lengths = np.diff(starts, append=shots[-1].stop_time)
    if lengths[lengths >= UNBROKEN].sum() >= lengths.sum() / 2:
        return FrameGroups(np.arange(len(times)))
    shot = np.maximum(np.searchsorted(starts, times, side="right") - 1, 0)
    n_parts = np.maximum(np.ceil(PARTS * lengths / lengths.sum()), 1)[shot]
    into = (np.asarray(times) - starts[shot]) / np.maximum(lengths[shot], 1e-9)
    part = np.clip(np.floor(n_parts * into), 0, n_parts - 1)
    begins = (np.diff(shot, prepend=-1) > 0) | (np.diff(part, prepend=0) > 0)
    begins[sorted({*opened, *_frames_at_gaps(times, missing)})] = True
    return FrameGroups(np.cumsum(begins) - 1)


def _frames_at_gaps(times: Sequence[float], missing: Sequence[MissingFrames]) -> set[int]:
    """Return the sampled frames at which the start of a shot may have been lost."""
    found: set[int] = set()
    for gap in missing:
        first, last = bisect_left(times, gap.first), bisect_right(times, gap.last)
        found.update(range(first, min(last + 1, len(times))))
    return found


def with_exact_cuts(
    segmentation: Segmentation,
    shots: Sequence[Shot],
    *,
    missing: Sequence[MissingFrames] = (),
    fixed: Collection[int] = (),
    forbidden: Collection[int] = (),
    known: Mapping[int, tuple[float, float]] | None = None,
    sampled: Collection[int] = (),
) -> Segmentation:
    """Set the exact time of the events of a video that begin with a shot.

    An event keeps its sampled frames, but starts at the time of the first frame of the shot; the
    previous event stops at the time of the frame before. A boundary where no shot begins stays
    where it is.

    Parameters
    ----------
    segmentation : Segmentation
        Events of a video.
    shots : sequence of Shot
        The shots of the video.
    missing : sequence of MissingFrames
        Where frames were lost, so that nothing is exact.
    fixed : collection of int
        Boundaries that keep their sampled frame, because a person set them.
    forbidden : collection of int
        Frames that must not start an event.
    known : mapping of int to (float, float), optional
        Boundaries whose exact time is known: times of the frames before and after it.
    sampled : collection of int
        Those of `known` that a person set at a sampled frame; they are not exact.
    """
    times = segmentation.all_times
    # At a pause, the frame after it is a sampled one.
    searched = [
        event.start for event in segmentation.events[1:] if event.reason not in ("pause", "both")
    ]
    if times is None or not searched:
        return segmentation

    step = float(np.median(np.diff(times)))
    margin = min(step, LONGEST_MARGIN)
    cuts = {b: _Cut(*known[b]) for b in searched if known is not None and b in known}
    starts: dict[int, int] = {}
    n_damaged = 0
    for b in (b for b in searched if b not in cuts):
        window = times[b - 1] - margin, times[b] + margin
        if any(gap.first < window[1] and gap.last > window[0] for gap in missing):
            n_damaged += 1
            continue
        # The sampled frame shows the last of the shots that begin before it.
        between = _cuts(shots, times[b - 1], times[b])
        if between:
            cuts[b] = between[-1]
            continue
        nearby = [] if b in fixed else _cuts(shots, *window)
        if len(nearby) != 1:
            continue
        # The decision was one sampled frame off, no more: boundaries never overtake each other.
        start = bisect_left(times, nearby[0].after)
        taken = {0, len(times), *segmentation.boundaries, *starts.values(), *forbidden}
        if abs(start - b) == 1 and start not in taken:
            starts[b], cuts[b] = start, nearby[0]

    result = _with_cuts(segmentation, cuts, starts)
    n_cuts = len(cuts.keys() - set(sampled).intersection(known or ()))
    notes = _notes(len(searched), n_cuts, n_damaged, step=step)
    return result.about(notes=(*result.notes, *notes))


def _cuts(shots: Sequence[Shot], before: float, at: float) -> list[_Cut]:
    """Return where shots begin after a frame shown at `before` and no later than at `at`."""
    first, stop = (
        bisect_right(shots, time, key=lambda one: one.start_time) for time in (before, at)
    )
    return [_Cut(shots[k - 1].stop_time, shots[k].start_time) for k in range(max(first, 1), stop)]


def _with_cuts(
    segmentation: Segmentation, cuts: Mapping[int, _Cut], starts: Mapping[int, int]
) -> Segmentation:
    """Set the times of the events at cuts; `starts` holds the new first frames of some of them."""
    times = segmentation.times or ()
    edges = [starts.get(event.start, event.start) for event in segmentation.events] + [
        segmentation.n_frames
    ]
    events = []
    for event, (start, stop) in zip(segmentation.events, pairwise(edges), strict=True):
        here, there = cuts.get(event.start), cuts.get(event.stop)
        events.append(
            replace(
                event,
                start=start,
                stop=stop,
                start_time=times[start] if here is None else here.after,
                stop_time=times[stop - 1] if there is None else there.before,
                interval=event.interval if here is None else (start, start),
            )
        )
    levels = tuple(_moved(level, starts) for level in segmentation.levels)
    return replace(segmentation, events=tuple(events), levels=levels)


def _moved(level: NestedLevel, starts: Mapping[int, int]) -> NestedLevel:
    """Move the boundaries of a level; one that a finer level has there already gives way."""
    known = dict(zip(level.boundaries, level.confidences, strict=True))
    moved = {starts[b]: c for b, c in known.items() if b in starts}
    there = {b: c for b, c in known.items() if b not in starts} | moved
    boundaries = tuple(sorted(there))
    return replace(level, boundaries=boundaries, confidences=tuple(there[b] for b in boundaries))


def _notes(n_boundaries: int, n_cuts: int, n_damaged: int, *, step: float) -> tuple[str, ...]:
    of = f"{n_cuts} of {counted(n_boundaries, 'boundary', 'boundaries')}"
    notes = []
    if n_cuts:
        rest = "" if n_cuts == n_boundaries else f"; the others are to {step:.1g} s"
        notes.append(f"starts of shots, exact to the frame: {of}{rest}")
    if n_damaged:
        notes.append(
            f"boundaries next to missing or broken frames, not exact to the frame: {n_damaged}"
        )
    return tuple(notes)
