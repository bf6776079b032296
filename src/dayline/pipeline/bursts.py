"""Groups of frames: the method sees a burst of photos as one frame; its result is then expanded to all photos."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from dayline.arrays import FloatArray, IntArray
from dayline.events import Event, NestedLevel, Segmentation
from dayline.frames import FrameSequence, group_bursts, images, signature
from dayline.text import counted

__all__ = ["FrameGroups", "group_frames", "signatures_in_bursts"]

SIGNATURE_SIDE = 16
DECODED_SIDE = 64
BURST_GAP = 2.0


@dataclass(frozen=True)
class FrameGroups:
    """Which frames the method sees as one.

    Attributes
    ----------
    of_frame : ndarray of int, shape (n_frames,)
        Group of each frame; numbered without gaps, in order.
    """

    of_frame: IntArray

    @property
    def firsts(self) -> IntArray:
        """First frame of each group."""
        return np.flatnonzero(np.diff(self.of_frame, prepend=-1))

    def means(self, values: FloatArray) -> FloatArray:
        """Average the rows of each group."""
        counts = np.diff(np.append(self.firsts, len(self.of_frame)))
        return np.asarray(np.add.reduceat(values, self.firsts, axis=0) / counts[:, None])

    def numbers(self, frames: Collection[int]) -> tuple[int, ...]:
        """Return the groups that start at these frames; frames inside a group are ignored."""
        opened = set(self.firsts.tolist())
        return tuple(int(self.of_frame[f]) for f in sorted(frames) if f in opened)

    def expand_events(self, events: Sequence[Event]) -> tuple[Event, ...]:
        """Turn events of groups into events of frames."""
        edges = np.append(self.firsts, len(self.of_frame))
        return tuple(replace(e, start=int(edges[e.start]), stop=int(edges[e.stop])) for e in events)

    def expand_levels(self, levels: Sequence[NestedLevel]) -> tuple[NestedLevel, ...]:
        """Turn levels of groups into levels of frames."""
        return tuple(replace(v, boundaries=tuple(self.firsts[list(v.boundaries)].tolist())) for v in levels)

    @property
    def n_bursts(self) -> int:
        """Number of groups with more than one frame."""
        return int(np.sum(np.bincount(self.of_frame) > 1))

    @property
    def n_in_bursts(self) -> int:
        """Number of frames in such groups."""
        counts = np.bincount(self.of_frame)
        return int(counts[counts > 1].sum())


def signatures_in_bursts(
    sequence: FrameSequence, *, on_skip: Callable[[int, str], None]
) -> dict[int, NDArray[np.uint8]]:
    """Compute signatures of the photos that may belong to a burst: those within two seconds of another.

    Parameters
    ----------
    sequence : FrameSequence
        The frames; a video has no bursts.
    on_skip : callable
        Called with the index of a photo that cannot be decoded, and the reason.
    """
    if sequence.kind == "video" or sequence.times is None:
        return {}
    gaps = np.diff(sequence.times)
    follows = np.flatnonzero((gaps >= 0) & (gaps <= BURST_GAP)) + 1
    close = np.union1d(follows - 1, follows).tolist()
    if not close:
        return {}
    found = images(sequence, size=DECODED_SIDE, indices=close, on_skip=on_skip)
    return {i: signature(image, side=SIGNATURE_SIDE) for i, image in found}


def group_frames(
    sequence: FrameSequence, signatures: Mapping[int, NDArray[np.uint8]], *, opened: Collection[int] = ()
) -> FrameGroups:
    """Find bursts of near-identical photos; every other frame is a group of its own.

    Parameters
    ----------
    sequence : FrameSequence
        The frames.
    signatures : mapping of int to array
        What `signatures_in_bursts` returned.
    opened : collection of int
        Frames that always start a group: required boundaries.
    """
    n = sequence.n_frames
    if not signatures:
        return FrameGroups(np.arange(n))
    rows = np.zeros((n, SIGNATURE_SIDE**2), dtype=np.uint8)
    for i, row in signatures.items():
        rows[i] = row
    opens = np.diff(group_bursts(sequence.times, rows, max_gap_seconds=BURST_GAP), prepend=-1) > 0
    opens[[f for f in opened if 0 <= f < n]] = True
    return FrameGroups(np.cumsum(opens) - 1)


def describe_bursts(groups: FrameGroups) -> str:
    """Describe the bursts in a note."""
    bursts = counted(groups.n_bursts, "burst")
    return f"{bursts} of near-identical photos ({groups.n_in_bursts} photos): each counts as one frame"


def expand_segmentation(found: Segmentation, groups: FrameGroups, sequence: FrameSequence) -> Segmentation:
    """Turn a segmentation of groups into one of the frames of a sequence."""
    scores = None
    if found.scores is not None:
        # A boundary can lie before the first photo of a burst, never inside it.
        scores = np.zeros(len(groups.of_frame))
        scores[groups.firsts] = found.scores
    events = groups.expand_events(found.events)
    if sequence.times is not None:
        first_and_last = [(sequence.times[e.start], sequence.times[e.stop - 1]) for e in events]
        events = tuple(
            replace(e, start_time=start, stop_time=stop)
            for e, (start, stop) in zip(events, first_and_last, strict=True)
        )
    return Segmentation(
        events=events,
        scores=None if scores is None else tuple(scores.tolist()),
        times=sequence.times,
        clock=sequence.clock,
        names=sequence.names,
        skipped=sequence.skipped,
        notes=found.notes,
        levels=groups.expand_levels(found.levels),
    )
