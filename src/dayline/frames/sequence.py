"""The frames of one recording, in order: names, times and locations."""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import compress
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from dayline.events import SkippedFile
from dayline.frames.bursts import group_bursts
from dayline.frames.pauses import ClockJump, Pause, find_clock_jumps, find_pauses
from dayline.frames.video_index import VideoFrame, VideoIndex

__all__ = [
    "Also",
    "ClockJump",
    "FrameSequence",
    "Pause",
    "VideoFrame",
    "VideoIndex",
    "drop_frames",
    "find_clock_jumps",
    "find_pauses",
    "group_bursts",
    "refuse_mostly_bad",
]

Image = NDArray[np.uint8]


@dataclass(frozen=True)
class FrameSequence:
    """The frames of a source, listed without decoding them.

    Attributes
    ----------
    source : Path
        The folder or the video.
    kind : {"photos", "video"}
        Kind of source.
    names : tuple of str
        One name per frame, safe to display (see `dayline.frames.names.shown_name`).
    times : tuple of float or None
        Seconds, one per frame; None if unknown.
    clock : {"wall", "media"} or None
        "wall": seconds since 1970 on the camera's own clock, or since midnight if the date is
        unknown; "media": seconds since the start of the recording.
    order : str
        Text that describes the rule behind the order.
    notes : tuple of str
        Notes for the user: contradictions, clock jumps, skipped files.
    skipped : tuple of SkippedFile
        Files that cannot be used, with the reason.
    paths : tuple of Path
        One file per frame (photos only).
    cameras : tuple of str
        Name of the camera of each photo if their clocks are to be compared; otherwise empty. "" stands for cameras
        whose clocks are right, "?" for photos whose times cannot be compared.
    reference : str
        The camera whose clock is taken as right.
    shown_times : tuple of float
        Times as the cameras showed them, one per frame, if `times` were corrected; otherwise empty.
    locations : tuple of (float, float) or None
        Latitude and longitude of each photo in degrees, north and east positive; empty if no photo has one.
    video_frames : tuple of VideoFrame
        One per frame (video only).
    video : VideoIndex or None
        All frames of the video, of which `video_frames` are some (video only).
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
    cameras: tuple[str, ...] = ()
    reference: str = ""
    shown_times: tuple[float, ...] = ()
    locations: tuple[tuple[float, float] | None, ...] = ()
    video_frames: tuple[VideoFrame, ...] = ()
    video: VideoIndex | None = field(default=None, repr=False, compare=False)

    @property
    def n_frames(self) -> int:
        """Number of frames."""
        return len(self.names)


@dataclass(frozen=True)
class Also:
    """A second output size for the frames of a video, so that no frame is decoded twice.

    Attributes
    ----------
    size : int
        Shorter side in pixels.
    take : callable
        Called with the index and image of each frame before the first size is yielded.
    frames : container of int, optional
        Indices of the frames for which it is called; all by default.
    """

    size: int
    take: Callable[[int, Image], None]
    frames: Container[int] | None = None

    def __contains__(self, index: int) -> bool:
        """Return whether a frame is taken."""
        return self.frames is None or index in self.frames


def drop_frames(sequence: FrameSequence, failed: Mapping[int, str]) -> FrameSequence:
    """Remove frames that could not be decoded and list them as skipped.

    Parameters
    ----------
    sequence : FrameSequence
        The sequence.
    failed : mapping of int to str
        Index of each failed frame and the reason, as passed to `on_skip` by `images`.
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
        cameras=tuple(compress(sequence.cameras, keep)),
        locations=tuple(compress(sequence.locations, keep)),
        shown_times=tuple(compress(sequence.shown_times, keep)),
        video_frames=tuple(compress(sequence.video_frames, keep)),
    )


def refuse_mostly_bad(source: Path, skipped: Sequence[SkippedFile], *, n_good: int) -> None:
    """Raise ValueError if more than half of the files or frames of a source cannot be used."""
    if len(skipped) <= n_good:
        return
    from dayline.frames.names import shown_name

    first = skipped[0]
    raise ValueError(
        f"{shown_name(source)}: {len(skipped)} of {len(skipped) + n_good} frames cannot be read, more than "
        f"half (first {first.name}: {first.why}); remove or repair them"
    )
