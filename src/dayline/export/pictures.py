"""Small pictures of single frames, from a photo or from a video."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from av.container import InputContainer
    from PIL import Image

__all__ = ["photo_thumbnail", "video_thumbnails"]

PHOTO_FORMATS = ("JPEG", "MPO", "PNG", "WEBP", "TIFF", "GIF", "HEIF", "AVIF")


def photo_thumbnail(path: str | Path, size: tuple[int, int]) -> Image.Image | None:
    """Read a photo upright and within `size`; None when it is no photo that can be read.

    Parameters
    ----------
    path : str or Path
        The photo. Pillow's limit on the number of pixels holds.
    size : tuple of int
        Largest width and height.
    """
    from PIL import Image, ImageOps

    known = [name for name in PHOTO_FORMATS if name in _known_formats()]
    try:
        with warnings.catch_warnings():
            # A picture so large that Pillow warns is not worth its memory for a thumbnail.
            warnings.simplefilter("error", Image.DecompressionBombWarning)
            with Image.open(path, formats=known) as image:
                image.draft("RGB", size)
                upright = ImageOps.exif_transpose(image).convert("RGB")
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError, Image.DecompressionBombWarning):
        return None
    upright.thumbnail(size)
    return upright


def _known_formats() -> set[str]:
    from PIL import Image

    try:
        from pillow_heif import register_heif_opener
    except ModuleNotFoundError:
        pass  # HEIC photos then count as unreadable
    else:
        register_heif_opener()
    Image.init()
    return set(Image.OPEN)


def video_thumbnails(path: str | Path, times: Sequence[float], size: tuple[int, int]) -> list[Image.Image | None]:
    """Read the frame at each time of a video; None where there is none.

    Parameters
    ----------
    path : str or Path
        The video.
    times : sequence of float
        Seconds since its start.
    size : tuple of int
        Largest width and height.
    """
    import av

    try:
        with av.open(str(path)) as container:
            if not container.streams.video:
                raise ValueError(f"{path} holds no video stream")
            return [_frame_at(container, time, size) for time in times]
    except av.FFmpegError as error:
        raise ValueError(f"{path} cannot be read as a video: {error.strerror}") from None


def _frame_at(container: InputContainer, time: float, size: tuple[int, int]) -> Image.Image | None:
    import av

    stream = container.streams.video[0]
    start = (container.start_time or 0) / av.time_base
    container.seek(int((time + start) * av.time_base))
    for frame in container.decode(stream):
        if frame.time is not None and frame.time - start >= time - 0.0005:
            picture: Image.Image = frame.to_image()  # type: ignore[no-untyped-call]
            picture = picture.rotate(frame.rotation, expand=True)
            picture.thumbnail(size)
            return picture
    return None
