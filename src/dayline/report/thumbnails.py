"""Small pictures for the page, optionally with blurred faces."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import suppress
from io import BytesIO
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from dayline.extras import needs_extra
from dayline.frames.faces import face_blurrer
from dayline.io.files import UNFINISHED, refuse_link, writing_whole
from dayline.io.untrusted import UnreadableFileError, reading

__all__ = ["is_whole_thumbnail", "remove_thumbnails", "thumbnail_folder", "write_thumbnail", "write_thumbnails"]

Pixels = NDArray[np.uint8]

FOLDER = "thumbnails"
GENERATED_NAME = re.compile(r"(\d{6,}|[0-9a-f]{20})\.jpg")
# 586 pictures of this size, with page and graph, stay under 30 MB.
MOST_BYTES = 46_000
JPEG_END = b"\xff\xd9"


@needs_extra("photos", "showing photos on the page")
def write_thumbnails(
    images: Iterable[tuple[int, Pixels]],
    folder: str | Path,
    *,
    size: int = 640,
    blur_faces: bool = False,
    names: Mapping[int, str] | None = None,
) -> dict[int, str]:
    """Write one JPEG per frame into `folder`/thumbnails.

    Pictures of an earlier run stay as long as its page does; `write_page` removes them.

    Parameters
    ----------
    images : iterable of (int, ndarray of shape (height, width, 3))
        Frame number and its picture, RGB, uint8. Consumed one at a time, so a generator may decode them.
    folder : str or Path
        The folder of the page; created if missing.
    size : int
        Longest side in pixels. Smaller pictures keep their size. The default suits both the rows and the
        enlarged view; each file stays under 46 kB.
    blur_faces : bool
        Blur the faces that are found (extra "faces"); some are missed.
    names : mapping of int to str, optional
        File name of each frame's picture: 20 hexadecimal digits and .jpg, so that a later run can reuse it.
        Frames named here but not in `images` keep their existing picture.

    Returns
    -------
    dict of int to str
        Path of each frame's picture, relative to `folder`, as `write_page` expects.
    """
    if size < 16:
        raise ValueError(f"thumbnails of {size} pixels are too small; use at least 16")
    target = thumbnail_folder(folder)
    hide = face_blurrer() if blur_faces else None
    named = {} if names is None else names
    written = {frame: f"{FOLDER}/{name}" for frame, name in named.items() if is_whole_thumbnail(target / name)}
    for frame, image in images:
        pixels = _checked(image, frame)
        name = named.get(frame, f"{frame:06d}.jpg")
        if not GENERATED_NAME.fullmatch(name):
            raise ValueError(f"frame {frame}: {name!r} is not a valid name; use 20 hexadecimal digits and .jpg")
        write_thumbnail(pixels, target / name, size=size, hide=hide)
        written[frame] = f"{FOLDER}/{name}"
    return written


def write_thumbnail(
    image: Pixels, path: Path, *, size: int = 640, hide: Callable[[Pixels], Pixels] | None = None
) -> None:
    """Write one picture as a JPEG, after applying `hide`, for example to blur faces."""
    # No need to wait for the disk: a picture damaged by a power cut is written again.
    with writing_whole(path, "wb", durable=False) as file:
        file.write(_jpeg(image if hide is None else hide(image), size))


def is_whole_thumbnail(path: Path) -> bool:
    """Return whether a picture of an earlier run can be reused: a regular file that is a complete JPEG.

    Empty or truncated pictures are written again, and so are links, which may point anywhere.
    """
    from PIL import Image

    if path.is_symlink() or not path.is_file():
        return False
    try:
        with reading(path.name, "a JPEG"), path.open("rb") as file:
            content = file.read()
            with Image.open(BytesIO(content), formats=("JPEG",)):
                return content.endswith(JPEG_END)
    except UnreadableFileError:
        return False


def remove_thumbnails(folder: str | Path, *, keep: Collection[str] = ()) -> None:
    """Remove the pictures of an earlier run from `folder`, so that they are not shared with the page.

    Parameters
    ----------
    folder : str or Path
        The folder of the page. Only files with names that `write_thumbnails` uses are removed.
    keep : collection of str
        Paths to keep, relative to `folder`.
    """
    target = Path(folder) / FOLDER
    if target.is_symlink() or not target.is_dir():
        return
    for path in target.iterdir():
        old = GENERATED_NAME.fullmatch(path.name) and f"{FOLDER}/{path.name}" not in keep
        if old or UNFINISHED.fullmatch(path.name):
            path.unlink()
    with suppress(OSError):  # it contains files of others
        target.rmdir()


def thumbnail_folder(folder: str | Path) -> Path:
    """Create the folder of the pictures; raise if it is a link."""
    target = Path(folder) / FOLDER
    refuse_link(target)
    target.mkdir(parents=True, exist_ok=True)
    return target


def _checked(image: Pixels, frame: int) -> Pixels:
    if frame < 0:
        raise ValueError(f"frame {frame}: frames count from 0")
    if image.ndim != 3 or image.shape[2] != 3 or image.dtype != np.uint8 or image.size == 0:
        raise ValueError(
            f"frame {frame}: picture has shape {image.shape}, {image.dtype}; it must be (height, width, 3), uint8"
        )
    return image


def _jpeg(pixels: Pixels, size: int) -> bytes:
    """Encode a picture, lowering the quality until it is small enough."""
    from PIL import Image

    picture = Image.fromarray(pixels)
    picture.thumbnail((size, size), Image.Resampling.LANCZOS, reducing_gap=2.0)
    for quality in (82, 74, 64, 52, 40, 28):
        buffer = BytesIO()
        picture.save(buffer, "JPEG", quality=quality, optimize=True, progressive=True)
        if buffer.tell() <= MOST_BYTES:
            return buffer.getvalue()
    return _jpeg(pixels, max(picture.size) * 3 // 4)
