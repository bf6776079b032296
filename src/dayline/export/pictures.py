"""Small pictures of single frames, from a photo or from a video."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from PIL import Image

    from dayline.frames.video_file import VideoFile

__all__ = ["Hide", "photo_thumbnail", "video_thumbnails"]

Pixels = NDArray[np.uint8]
Hide = Callable[[Pixels], Pixels]
"""Applied to a picture before it is shown, for example to blur faces."""


def photo_thumbnail(path: str | Path, size: tuple[int, int], *, hide: Hide | None = None) -> Image.Image | None:
    """Read a photo upright and within `size`; None if it cannot be read.

    Parameters
    ----------
    path : str or Path
        The photo.
    size : tuple of int
        Largest width and height.
    hide : callable, optional
        Applied to the pixels before they are made small.
    """
    from dayline.frames.decode import BadImageError, decode_photo

    try:
        # The detector would miss small faces in a smaller picture.
        pixels = decode_photo(Path(path), size=max(*size, 480 if hide else 0))
    except BadImageError:
        return None
    return _small(pixels, size, hide)


def video_thumbnails(
    path: str | Path, times: Sequence[float], size: tuple[int, int], *, hide: Hide | None = None
) -> list[Image.Image | None]:
    """Read the frame of a video at each time; None if there is none.

    Parameters
    ----------
    path : str or Path
        The video.
    times : sequence of float
        Seconds since its start.
    size : tuple of int
        Largest width and height.
    hide : callable, optional
        Applied to the pixels before they are made small.
    """
    from av.error import FFmpegError

    from dayline.frames.video_file import opened_video, refuse_huge_frames

    path = Path(path)
    try:
        with opened_video(path) as video:
            refuse_huge_frames(path, video)
            return [_frame_at(video, time, size, hide) for time in times]
    except FFmpegError as error:
        raise ValueError(f"{path} cannot be read as a video: {error.strerror}") from None


def _frame_at(video: VideoFile, time: float, size: tuple[int, int], hide: Hide | None) -> Image.Image | None:
    import av

    start = (video.container.start_time or 0) / av.time_base
    video.container.seek(int((time + start) * av.time_base))
    for frame in video.container.decode(video.stream):
        if frame.time is not None and frame.time - start >= time - 0.0005:
            picture: Image.Image = frame.to_image()  # type: ignore[no-untyped-call]
            return _small(np.asarray(picture.rotate(frame.rotation, expand=True)), size, hide)
    return None


def _small(pixels: Pixels, size: tuple[int, int], hide: Hide | None) -> Image.Image:
    from PIL import Image

    picture = Image.fromarray(pixels if hide is None else hide(pixels))
    picture.thumbnail(size)
    return picture
