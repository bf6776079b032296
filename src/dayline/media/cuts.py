"""Find hard cuts, and move the boundaries of a video to the exact frame."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dayline.arrays import FloatArray
from dayline.events import NestedLevel, Segmentation
from dayline.media.film import frames_in_spans
from dayline.media.frame import FrameSequence
from dayline.media.source import images
from dayline.progress import OnStep
from dayline.text import counted

LEAST_CHANGE = 4.0
"""Levels of 255, on average over the image; below that, two shots cannot be told from noise and
compression."""

LARGEST_CHANGE = 32.0
"""Levels that a single pixel may count: a cut changes the whole image, a thing that appears a small
part strongly."""

STANDS_OUT = 2.0
"""A hard cut changes the image at least this many times as much as any other pair of frames
nearby."""

LEAST_SHARE = 0.5
"""Share of the change between the frames before and after that happens at a hard cut; in a dissolve
it is spread."""

LARGEST_SHIFT = 1
"""Pixels of the small images by which the camera may move between two frames; 3 % of an image of 32
x 18 pixels."""

REACH = 4
"""Frames before and after a frame, whose means are compared."""


@dataclass(frozen=True)
class Changes:
    """How much the image changes at each of several consecutive frames.

    Attributes
    ----------
    step : ndarray of shape (n_frames,)
        Change from the previous frame in levels of 255, 0 at the first frame. A flash of one frame,
        after which the image is what it was, counts as little.
    share : ndarray of shape (n_frames,)
        Change from the previous frame, relative to that from the mean of the frames before to the
        mean of those from here on; about 1 at a hard cut.
    """

    step: FloatArray
    share: FloatArray


def changes(images: Sequence[NDArray[np.uint8]]) -> Changes:
    """Measure how much consecutive images change, beyond a small movement of the camera.

    Parameters
    ----------
    images : sequence of arrays of shape (height, width, 3)
        Small images of consecutive frames, all of one shape.
    """
    x = np.asarray(images, dtype=np.float32)
    n = len(x)
    if n < 2:
        return Changes(np.zeros(n), np.zeros(n))
    lags = {lag: np.full(n + 1, np.inf) for lag in (1, 2, 3)}
    for lag, values in lags.items():
        values[lag:n] = _difference(x[lag:], x[:-lag])
    # At a hard cut, both frames after it differ from both frames before it.
    step = np.minimum.reduce([lags[1][1:n], lags[2][1:n], lags[2][2 : n + 1], lags[3][2 : n + 1]])
    sums = np.concatenate(
        [np.zeros_like(x[:1], dtype=np.float64), np.cumsum(x, axis=0, dtype=np.float64)]
    )
    here = np.arange(1, n)
    low, high = np.maximum(here - REACH, 0), np.minimum(here + REACH, n)
    before = (sums[here] - sums[low]) / (here - low)[:, None, None, None]
    after = (sums[high] - sums[here]) / (high - here)[:, None, None, None]
    share = step / np.maximum(
        _difference(after.astype(np.float32), before.astype(np.float32)), 1e-9
    )
    return Changes(np.concatenate([[0.0], step]), np.concatenate([[0.0], share]))


def _difference(a: NDArray[Any], b: NDArray[Any]) -> FloatArray:
    """Return the mean difference of each image of `a` to that of `b`, shifted to fit best."""
    height, width = a.shape[1:3]
    down, right = (min(LARGEST_SHIFT, side // 8) for side in (height, width))
    best = np.full(len(a), np.inf)
    for dy in range(-down, down + 1):
        for dx in range(-right, right + 1):
            here = a[:, max(dy, 0) : height + min(dy, 0), max(dx, 0) : width + min(dx, 0)]
            there = b[:, max(-dy, 0) : height + min(-dy, 0), max(-dx, 0) : width + min(-dx, 0)]
            levels = np.minimum(np.abs(here - there), LARGEST_CHANGE)
            best = np.minimum(best, np.mean(levels, axis=(1, 2, 3)))
    return best


def hard_cut(found: Changes, first: int, stop: int) -> int | None:
    """Return the frame of `first` .. `stop`-1 that starts a new shot, or None if none stands out.

    Parameters
    ----------
    found : Changes
        What `changes` returned.
    first, stop : int
        The frames to choose from; those outside have no say.
    """
    step = found.step[first:stop]
    if len(step) == 0:
        return None
    best = int(np.argmax(step))
    # Next to a cut, a frame mixed of both shots changes too.
    others = np.concatenate([step[: max(best - 1, 0)], step[best + 2 :]])
    stands_out = step[best] >= max(LEAST_CHANGE, STANDS_OUT * float(np.max(others, initial=0.0)))
    return first + best if stands_out and found.share[first + best] >= LEAST_SHARE else None


COMPARED_SIDE = 18
"""Shorter side of the compared images in pixels: small enough that noise and small movements
vanish."""

LONGEST_MARGIN = 10.0
"""Seconds before and after the two sampled frames of a boundary; one sampling step, if that is
shorter."""

FAR_CLEARER = 4.0
"""Times that a cut next to the two sampled frames of a boundary must change the image more than one
between them."""

Image = NDArray[np.uint8]


@dataclass(frozen=True)
class _Cut:
    """Times of the frames before and after a hard cut, and how much the image changes."""

    before: float
    after: float
    change: float = 0.0


def with_exact_cuts(
    segmentation: Segmentation,
    sequence: FrameSequence,
    *,
    fixed: Collection[int] = (),
    forbidden: Collection[int] = (),
    known: Mapping[int, tuple[float, float]] | None = None,
    sampled: Collection[int] = (),
    on_step: OnStep | None = None,
) -> Segmentation:
    """Decode every frame around each boundary, and set the exact time of hard cuts.

    An event keeps its sampled frames, but starts at the time of the first frame after the cut; the
    previous event stops at the time of the frame before. A boundary in a dissolve, or where no
    frame stands out, stays where it is.

    Parameters
    ----------
    segmentation : Segmentation
        Events of a video; other events are returned unchanged.
    sequence : FrameSequence
        The video.
    fixed : collection of int
        Boundaries that keep their sampled frame, because a person set them.
    forbidden : collection of int
        Frames that must not start an event.
    known : mapping of int to (float, float), optional
        Boundaries whose exact time is known: times of the frames before and after it.
    sampled : collection of int
        Those of `known` that a person set at a sampled frame; they are no hard cuts.
    on_step : callable, optional
        Called as on_step("exact cuts", done, total).
    """
    times = segmentation.all_times
    # At a pause, the frame after it is a sampled one.
    searched = [
        event.start for event in segmentation.events[1:] if event.reason not in ("pause", "both")
    ]
    if sequence.kind != "video" or times is None or not searched:
        return segmentation

    cuts = {b: _Cut(*known[b]) for b in searched if known is not None and b in known}
    margin = min(float(np.median(np.diff(times))), LONGEST_MARGIN)
    windows = {b: (times[b - 1] - margin, times[b] + margin) for b in searched if b not in cuts}
    seen = _changes_within(sequence, list(windows.values()), on_step)
    starts: dict[int, int] = {}
    for b, window in windows.items():
        between = seen.cut(times[b - 1], times[b])
        nearby = None if b in fixed else seen.cut(*window)
        if between is not None:
            cuts[b] = between
        if nearby is None or (between and nearby.change < FAR_CLEARER * between.change):
            continue
        # The decision was one sampled frame off, no more: boundaries never overtake each other.
        start = int(np.searchsorted(times, nearby.after))
        taken = {0, len(times), *segmentation.boundaries, *starts.values(), *forbidden}
        if abs(start - b) == 1 and start not in taken:
            starts[b], cuts[b] = start, nearby

    result = _with_cuts(segmentation, cuts, starts)
    n_damaged = sum(seen.is_damaged(*window) for window in windows.values())
    n_cuts = len(cuts.keys() - set(sampled).intersection(known or ()))
    notes = _notes(len(searched), n_cuts, n_damaged, step=float(np.median(np.diff(times))))
    return result.about(notes=(*result.notes, *notes, *seen.notes))


@dataclass(frozen=True)
class _Seen:
    """What was seen around the boundaries.

    Attributes
    ----------
    times : ndarray
        Of all frames around all boundaries.
    found : Changes
        From each frame to the next.
    damaged : list of (float, float)
        Seconds between which frames are missing or cannot be decoded, so that no cut can be
        located.
    notes : tuple of str
        What the reader of the video noted.
    """

    times: FloatArray
    found: Changes
    damaged: list[tuple[float, float]]
    notes: tuple[str, ...]

    def cut(self, before: float, at: float) -> _Cut | None:
        """Find a hard cut after a frame shown at `before` and no later than at `at`."""
        if self.is_damaged(before, at):
            return None
        first, stop = np.searchsorted(self.times, [before, at], side="right").tolist()
        frame = hard_cut(self.found, first, stop)
        # Before the first frame there is nothing to compare it with.
        if not frame:
            return None
        return _Cut(
            float(self.times[frame - 1]), float(self.times[frame]), float(self.found.step[frame])
        )

    def is_damaged(self, first: float, last: float) -> bool:
        """Return whether frames within some seconds are missing or cannot be decoded."""
        return any(start < last and stop > first for start, stop in self.damaged)


def _changes_within(
    sequence: FrameSequence, windows: Sequence[tuple[float, float]], on_step: OnStep | None
) -> _Seen:
    """Decode all frames within some windows, one at a time, and measure how they change."""
    frames, ranges = frames_in_spans(sequence, windows)
    times = np.asarray(frames.times, dtype=np.float64)
    spans = _joined([(shown.start, shown.stop) for shown in ranges if shown])
    span_of = np.repeat(np.arange(len(spans)), [stop - start for start, stop in spans])
    step, share = np.zeros(len(times)), np.zeros(len(times))
    held: defaultdict[int, dict[int, Image]] = defaultdict(dict)
    lost: dict[int, str] = {}
    notes: list[str] = []
    decoded = images(frames, size=COMPARED_SIDE, on_skip=lost.__setitem__, on_note=notes.append)
    n_done = 0
    for index, image in decoded:
        span = int(span_of[index])
        held[span][index] = image
        start, stop = spans[span]
        if len(held[span]) < stop - start:
            continue
        shown = held.pop(span)
        found = changes([shown[i] for i in range(start, stop)])
        step[start:stop], share[start:stop] = found.step, found.share
        n_done += 1
        if on_step is not None:
            on_step("exact cuts", n_done, len(spans))

    missing = () if sequence.video is None else sequence.video.missing
    damaged = [(one.first, one.last) for one in missing]
    for index in lost:
        start, stop = spans[int(span_of[index])]
        damaged.append((float(times[start]), float(times[stop - 1])))
    return _Seen(times, Changes(step, share), damaged, tuple(notes))


def _joined(spans: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Join spans of frames that overlap; they are in order."""
    joined: list[tuple[int, int]] = []
    for start, stop in spans:
        if joined and start < joined[-1][1]:
            joined[-1] = (joined[-1][0], max(stop, joined[-1][1]))
        else:
            joined.append((start, stop))
    return joined


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
        notes.append(f"hard cuts, exact to the frame: {of}{rest}")
    if n_damaged:
        notes.append(
            f"boundaries next to missing or broken frames, not exact to the frame: {n_damaged}"
        )
    return tuple(notes)
