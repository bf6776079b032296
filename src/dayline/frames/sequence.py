"""The frames of one recording, in order, and their pixels."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import compress
from pathlib import Path
from typing import Any, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from dayline.events import SkippedFile
from dayline.frames.bursts import group_bursts
from dayline.frames.pauses import ClockJump, Pause, find_clock_jumps, find_pauses

__all__ = [
    "ClockJump",
    "FrameSequence",
    "Pause",
    "VideoFrame",
    "drop_frames",
    "find_clock_jumps",
    "find_pauses",
    "group_bursts",
    "images",
    "refuse_mostly_bad",
]

Image = NDArray[np.uint8]
T = TypeVar("T")


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


def images(
    sequence: FrameSequence,
    *,
    size: int,
    indices: Sequence[int] | None = None,
    on_skip: Callable[[int, str], None] | None = None,
    on_note: Callable[[str], None] | None = None,
    n_workers: int = 2,
    also: Also | None = None,
) -> Iterator[tuple[int, Image]]:
    """Decode frames, one after another, in the order of the sequence.

    Parameters
    ----------
    sequence : FrameSequence
        What `open_source` returned.
    size : int
        Pixels of the shorter side. Larger images are reduced to it while they are decoded; smaller
        ones come as they are.
    indices : sequence of int, optional
        Only these frames. They come in the order of the sequence whatever their order here.
    on_skip : callable, optional
        Called with the index of a frame that cannot be decoded, and why. Such a frame is not
        yielded. Without it, a bad frame is a ValueError.
    on_note : callable, optional
        Called with what concerns the whole source, such as the number of broken packets.
    n_workers : int
        Threads that decode photos ahead of the one asked for (a video uses its decoder's own).
    also : Also, optional
        A second size; of a video only.

    Yields
    ------
    index : int
    image : array of shape (height, width, 3), uint8
        RGB, upright.
    """
    if size < 1 or n_workers < 1:
        raise ValueError(f"size and n_workers must be 1 or more, not {size} and {n_workers}")
    wanted = sorted(set(range(sequence.n_frames) if indices is None else indices))
    if wanted and not 0 <= wanted[0] <= wanted[-1] < sequence.n_frames:
        raise ValueError(f"frames {wanted[0]} to {wanted[-1]} asked of a sequence of {sequence.n_frames}")
    skip = on_skip if on_skip is not None else _refuse(sequence)
    if sequence.kind == "video":
        from dayline.frames.video_decode import video_images

        return video_images(sequence, size=size, indices=wanted, on_skip=skip, on_note=on_note, also=also)
    return _photo_images(sequence, size=size, indices=wanted, on_skip=skip, n_workers=n_workers)


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


def _refuse(sequence: FrameSequence) -> Callable[[int, str], None]:
    def refuse(index: int, why: str) -> None:
        raise ValueError(f"frame {index}, {sequence.names[index]}: {why}")

    return refuse


def _photo_images(
    sequence: FrameSequence,
    *,
    size: int,
    indices: Sequence[int],
    on_skip: Callable[[int, str], None],
    n_workers: int,
) -> Iterator[tuple[int, Image]]:
    from dayline.frames.decode import BadImageError, decode_photo

    def decode(index: int) -> Image | str:
        try:
            return decode_photo(sequence.paths[index], size=size)
        except BadImageError as error:
            return str(error)

    for index, result in zip(indices, _ahead(decode, indices, n_workers=n_workers), strict=True):
        if isinstance(result, str):
            on_skip(index, result)
        else:
            yield index, result


def _ahead(function: Callable[[int], T], arguments: Iterable[int], *, n_workers: int) -> Iterator[T]:
    """Apply a function in threads, in order, never more than a few results ahead."""
    pool = ThreadPoolExecutor(n_workers, thread_name_prefix="dayline-decode")
    waiting: deque[Future[Any]] = deque()
    try:
        for argument in arguments:
            waiting.append(pool.submit(function, argument))
            if len(waiting) > 2 * n_workers:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
