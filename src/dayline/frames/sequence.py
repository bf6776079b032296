"""The frames of one recording, in order: names, times, where each lies."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import compress
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from dayline.events import SkippedFile
from dayline.frames.bursts import group_bursts
from dayline.frames.pauses import ClockJump, Pause, find_clock_jumps, find_pauses

__all__ = [
    "Also",
    "ClockJump",
    "FrameSequence",
    "Pause",
    "VideoFrame",
    "drop_frames",
    "find_clock_jumps",
    "find_pauses",
    "group_bursts",
    "refuse_mostly_bad",
]

Image = NDArray[np.uint8]


@dataclass(frozen=True)
class VideoFrame:
    """Where a frame stands in its video.

    Attributes
    ----------
    stamp : int
        Presentation time stamp, in the stream's own time base, as the file has it; it tells frames apart.
    first_group, last_group : int
        Groups of packets, each opened by a key frame, that must be decoded to see it.
    shown_at : int
        When it is shown, in the same unit; differs from `stamp` where that was found to be wrong.
    """

    stamp: int
    first_group: int
    last_group: int
    shown_at: int


@dataclass(frozen=True)
class FrameSequence:
    """What a source holds, found without decoding its images.

    Attributes
    ----------
    source : Path
        The folder or the video.
    kind : {"photos", "video"}
        Which of the two.
    names : tuple of str
        One name per frame, safe to show (see `dayline.frames.names.shown_name`).
    times : tuple of float or None
        Seconds, one per frame; None when nothing tells.
    clock : {"wall", "media"} or None
        "wall": seconds since 1970 on the camera's own clock, or since midnight where no date is
        known; "media": seconds since the start of the recording.
    order : str
        In words: which rule gave the order.
    notes : tuple of str
        What a reader should know: contradictions, clock jumps, what was left out.
    skipped : tuple of SkippedFile
        Files that cannot be used, and why.
    paths : tuple of Path
        One file per frame (photos only).
    video_frames : tuple of VideoFrame
        One per frame (video only).
    """

    source: Path
    kind: Literal["photos", "video"]
    names: tuple[str, ...]
    times: tuple[float, ...] | None
    clock: Literal["wall", "media"] | None
    order: str
    notes: tuple[str, ...] = ()
    skipped: tuple[SkippedFile, ...] = ()
    paths: tuple[Path, ...] = ()
    video_frames: tuple[VideoFrame, ...] = ()

    @property
    def n_frames(self) -> int:
        """Number of frames."""
        return len(self.names)


@dataclass(frozen=True)
class Also:
    """A second size in which frames of a video are wanted, so that none is decoded twice.

    Attributes
    ----------
    size : int
        Pixels of the shorter side.
    take : callable
        Called with the index and the image of each frame, before it is yielded in the first size.
    """

    size: int
    take: Callable[[int, Image], None]


def drop_frames(sequence: FrameSequence, failed: Mapping[int, str]) -> FrameSequence:
    """Leave out frames that could not be decoded; they are named among the skipped.

    Parameters
    ----------
    sequence : FrameSequence
        The sequence they stand in.
    failed : mapping of int to str
        Index of each, and why: what `images` told `on_skip`.
    """
    if not failed:
        return sequence
    keep = [i not in failed for i in range(sequence.n_frames)]
    skipped = (*sequence.skipped, *(SkippedFile(sequence.names[i], failed[i]) for i in sorted(failed)))
    refuse_mostly_bad(sequence.source, skipped, n_good=sum(keep))
    return replace(
        sequence,
        names=tuple(compress(sequence.names, keep)),
        times=None if sequence.times is None else tuple(compress(sequence.times, keep)),
        skipped=skipped,
        paths=tuple(compress(sequence.paths, keep)),
        video_frames=tuple(compress(sequence.video_frames, keep)),
    )


def refuse_mostly_bad(source: Path, skipped: Sequence[SkippedFile], *, n_good: int) -> None:
    """Raise a ValueError when more than half of what a source holds cannot be used."""
    if len(skipped) <= n_good:
        return
    from dayline.frames.names import shown_name

    first = skipped[0]
    raise ValueError(
        f"{shown_name(source)}: {len(skipped)} of {len(skipped) + n_good} frames cannot be read, more than "
        f"half (first {first.name}: {first.why}); remove or repair them"
    )
