"""Decode the pixels of frames, one after another."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeVar

from dayline.frames.sequence import Also, FrameSequence, Image

__all__ = ["images"]

T = TypeVar("T")


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
    n_workers : int
        Threads that decode photos in advance (a video uses the threads of its decoder).
    also : Also, optional
        A second size (video only).

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
        raise ValueError(f"frames {wanted[0]} to {wanted[-1]} requested from a sequence of {sequence.n_frames}")
    skip = on_skip if on_skip is not None else _refuse(sequence)
    if sequence.kind == "video":
        from dayline.frames.video_decode import video_images

        return video_images(sequence, size=size, indices=wanted, on_skip=skip, on_note=on_note, also=also)
    return _photo_images(sequence, size=size, indices=wanted, on_skip=skip, n_workers=n_workers)


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
    """Apply a function in threads and yield the results in order, computing only a few in advance."""
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
