"""Open a source, a folder of photos or a video, and decode its frames."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any, Literal, TypeVar

from dayline.installation import needs_extra
from dayline.media.frame import (
    PHOTO_SUFFIXES,
    TABLE_SUFFIXES,
    VIDEO_SUFFIXES,
    Also,
    FrameSequence,
    Image,
    is_video_name,
    shown_name,
)
from dayline.media.photos import ReadFiles, read_photo_folder


def open_source(
    path: str | Path,
    *,
    every: float | None = None,
    order: Literal["time", "name"] = "time",
    offsets: Mapping[str, float] | None = None,
    timezone: str | None = None,
    read_files: ReadFiles | None = None,
    keep_screenshots: bool = False,
) -> FrameSequence:
    """Find the frames of a folder of photos or of a video.

    Parameters
    ----------
    path : str or Path
        A folder is read as photos, a file as a video.
    every : float, optional
        Seconds between frames of a video; chosen by its length if not given (see `read_video`).
    order, offsets, timezone
        Order and times of photos (see `read_photo_folder`).
    read_files : callable, optional
        Reads the files of photos; by default, only their headers are read.
    keep_screenshots : bool
        See `read_photos`.
    """
    source = Path(path)
    if source.is_dir():
        if every is not None:
            raise ValueError(
                f"{shown_name(source)}: the time between frames (every) is for videos; leave it out"
            )
        return read_photo_folder(
            source,
            order=order,
            offsets=offsets,
            timezone=timezone,
            read_files=read_files,
            keep_screenshots=keep_screenshots,
        )

    if not source.exists():
        raise ValueError(f"{shown_name(source)}: no such file or folder")
    suffix = source.suffix.lower()
    if suffix in PHOTO_SUFFIXES:
        raise ValueError(f"{shown_name(source)}: a single photo has no events; pass its folder")

    with needs_extra("photos", "reading a video"):
        from dayline.media.film import read_video
    try:
        return read_video(source, every=every)
    except ValueError as error:
        if suffix in VIDEO_SUFFIXES:
            raise
        # Any file may be a video with an unusual suffix; one that is not gets a message of its own.
        why = str(error).removeprefix(f"{shown_name(source)}: ")
        raise ValueError(
            f"{shown_name(source)}: not a folder of photos, a video ({why}) or features"
            f" ({', '.join(TABLE_SUFFIXES)})"
        ) from None


A = TypeVar("A")
T = TypeVar("T")


def images(
    sequence: FrameSequence,
    *,
    size: int,
    indices: Sequence[int] | None = None,
    on_skip: Callable[[int, str], None] | None = None,
    on_note: Callable[[str], None] | None = None,
    also: Also | None = None,
    score: Callable[[Image], float] | None = None,
) -> Iterator[tuple[int, Image]]:
    """Decode frames one after another, in sequence order.

    Parameters
    ----------
    sequence : FrameSequence
        What `open_source` returned.
    size : int
        Shorter side in pixels. Larger images are reduced to it while decoding; smaller ones keep
        their size.
    indices : sequence of int, optional
        Only these frames, always yielded in sequence order.
    on_skip : callable, optional
        Called with the index of each frame that cannot be decoded and the reason. The frame is not
        yielded. If not given, such a frame raises ValueError.
    on_note : callable, optional
        Called with notes on the whole source, such as the number of broken packets.
    also : Also, optional
        A second size (video only).
    score : callable, optional
        How good a picture is, for choosing that of a video among photos.

    Yields
    ------
    index : int
    image : array of shape (height, width, 3), uint8
        RGB, upright.
    """
    wanted = sorted(set(range(sequence.n_frames) if indices is None else indices))
    if wanted and not 0 <= wanted[0] <= wanted[-1] < sequence.n_frames:
        raise ValueError(
            f"frames {wanted[0]} to {wanted[-1]} requested from a sequence of {sequence.n_frames}"
        )

    def refuse(index: int, why: str) -> None:
        raise ValueError(f"frame {index}, {sequence.names[index]}: {why}")

    skip = refuse if on_skip is None else on_skip
    if sequence.kind == "video":
        from dayline.media.film_decode import video_images

        return video_images(
            sequence, size=size, indices=wanted, on_skip=skip, on_note=on_note, also=also
        )
    return _photo_images(sequence, wanted, size=size, on_skip=skip, score=score)


def _photo_images(
    sequence: FrameSequence,
    indices: Sequence[int],
    *,
    size: int,
    on_skip: Callable[[int, str], None],
    score: Callable[[Image], float] | None,
) -> Iterator[tuple[int, Image]]:
    from dayline.media.decode import BadImageError, decode_photo
    from dayline.media.videos import decode_video

    def decode(index: int) -> Image | str:
        path = sequence.paths[index]
        try:
            if is_video_name(path.name):
                return decode_video(path, size=size, score=score)
            return decode_photo(path, size=size)
        except BadImageError as error:
            return str(error)

    for index, result in zip(indices, ahead(decode, indices, n_workers=2), strict=True):
        if isinstance(result, str):
            on_skip(index, result)
        else:
            yield index, result


def ahead(function: Callable[[A], T], arguments: Iterable[A], *, n_workers: int) -> Iterator[T]:
    """Apply a function in threads and yield the results in order, only a few in advance."""
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
