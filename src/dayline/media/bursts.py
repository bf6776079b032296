"""Bursts: photos of the same thing within seconds count as one frame."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from dayline.arrays import FloatArray, IntArray
from dayline.events import Event, NestedLevel

SIDE = 16


def signature(image: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Shrink an image to a small gray thumbnail for comparing near-identical photos.

    Parameters
    ----------
    image : array of shape (height, width, 3), uint8
        A decoded RGB image.

    Returns
    -------
    array of shape (SIDE * SIDE,), uint8
    """
    from PIL import Image

    gray = Image.fromarray(image).convert("L").resize((SIDE, SIDE), Image.Resampling.BOX)
    return np.asarray(gray, dtype=np.uint8).ravel()


LONGEST_GAP, LONGEST_BURST = 2.0, 10.0
"""Seconds between two photos of a burst, and from its first to its last: a time-lapse of a still
scene must not become one frame."""

LARGEST_DIFFERENCE = 12.0
"""Mean gray levels, of 0 to 255, between a photo and the first of its burst."""


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

    def expand_scores(self, scores: Sequence[float] | None) -> tuple[float, ...] | None:
        """Turn scores of groups into scores of frames: no boundary can lie inside a burst."""
        if scores is None:
            return None
        expanded = np.zeros(len(self.of_frame))
        expanded[self.firsts] = scores
        return tuple(expanded.tolist())

    def expand_events(self, events: Sequence[Event]) -> tuple[Event, ...]:
        """Turn events of groups into events of frames."""
        edges = np.append(self.firsts, len(self.of_frame))
        return tuple(replace(e, start=int(edges[e.start]), stop=int(edges[e.stop])) for e in events)

    def expand_levels(self, levels: Sequence[NestedLevel]) -> tuple[NestedLevel, ...]:
        """Turn levels of groups into levels of frames."""
        return tuple(
            replace(v, boundaries=tuple(self.firsts[list(v.boundaries)].tolist())) for v in levels
        )

    @property
    def n_bursts(self) -> int:
        """Number of groups with more than one frame."""
        return int(np.sum(np.bincount(self.of_frame) > 1))

    @property
    def n_in_bursts(self) -> int:
        """Number of frames in such groups."""
        counts = np.bincount(self.of_frame)
        return int(counts[counts > 1].sum())


def group_frames(
    times: Sequence[float] | None,
    signatures: NDArray[np.uint8],
    *,
    opened: Collection[int] = (),
) -> FrameGroups:
    """Find bursts of near-identical photos; every other frame is a group of its own.

    A photo joins the current burst if it closely follows the last photo of the burst and resembles
    the first.

    Parameters
    ----------
    times : sequence of float or None
        Seconds, one per photo, in order. Without times there are no bursts.
    signatures : array of shape (n_photos, k)
        See `signature`.
    opened : collection of int
        Frames that always start a group: required boundaries.
    """
    if times is None:
        return FrameGroups(np.arange(len(signatures)))
    gray = signatures.astype(np.int16)
    opens = np.ones(len(gray), dtype=bool)
    first = 0
    for i in range(1, len(gray)):
        opens[i] = not (
            0 <= times[i] - times[i - 1] <= LONGEST_GAP
            and times[i] - times[first] <= LONGEST_BURST
            and np.mean(np.abs(gray[i] - gray[first])) <= LARGEST_DIFFERENCE
        )
        first = i if opens[i] else first
    opens[[frame for frame in opened if 0 <= frame < len(opens)]] = True
    return FrameGroups(np.cumsum(opens) - 1)
