"""Small pictures for the page, with faces blurred if asked."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import suppress
from io import BytesIO
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from dayline.frames.faces import face_blurrer
from dayline.io.files import UNFINISHED, refuse_link, writing_whole
from dayline.io.untrusted import UnreadableFileError, reading

__all__ = ["is_whole_thumbnail", "remove_thumbnails", "thumbnail_folder", "write_thumbnail", "write_thumbnails"]

Pixels = NDArray[np.uint8]

FOLDER = "thumbnails"
GENERATED_NAME = re.compile(r"(\d{6,}|[0-9a-f]{20})\.jpg")
# 586 pictures of this size, with page and graph, stay under 30 MB whatever the photos show.
MOST_BYTES = 46_000
JPEG_END = b"\xff\xd9"


def write_thumbnails(
    images: Iterable[tuple[int, Pixels]],
    folder: str | Path,
    *,
    size: int = 640,
    blur_faces: bool = False,
    names: Mapping[int, str] | None = None,
) -> dict[int, str]:
    """Write one JPEG per frame into `folder`/thumbnails.

    Those of an earlier run stay, for the page that shows them is still there; `write_page` removes them.

    Parameters
    ----------
    images : iterable of (int, ndarray of shape (height, width, 3))
        Frame number and its picture, RGB, uint8. Taken one at a time, so a generator may decode them.
    folder : str or Path
        The folder of the page; made if missing.
    size : int
        Longest side in pixels. Smaller pictures keep their size. The default serves the rows and the
        enlarged view alike; each file stays under 46 kB.
    blur_faces : bool
        Blur what OpenCV's bundled detectors take for a face (extra "faces"). They miss some.
    names : mapping of int to str, optional
        File name of each frame's picture: 20 hexadecimal digits and .jpg, for pictures that a later run can
        keep. Frames that are named here and not among `images` keep the picture they have.

    Returns
    -------
    dict of int to str
        Path of each frame's picture, relative to `folder`, as `write_page` takes it.
    """
    if size < 16:
        raise ValueError(f"thumbnails of {size} pixels are too small to see; use at least 16")
    target = thumbnail_folder(folder)
    hide = face_blurrer() if blur_faces else None
    named = {} if names is None else names
    written = {frame: f"{FOLDER}/{name}" for frame, name in named.items() if is_whole_thumbnail(target / name)}
    for frame, image in images:
        pixels = _checked(image, frame)
        name = named.get(frame, f"{frame:06d}.jpg")
        if not GENERATED_NAME.fullmatch(name):
            raise ValueError(f"frame {frame}: {name!r} is no name for a picture; use 20 hexadecimal digits and .jpg")
        write_thumbnail(pixels, target / name, size=size, hide=hide)
        written[frame] = f"{FOLDER}/{name}"
    return written


def write_thumbnail(
    image: Pixels, path: Path, *, size: int = 640, hide: Callable[[Pixels], Pixels] | None = None
) -> None:
    """Write one picture as a JPEG; `hide` is applied to it first, such as to blur faces."""
    # Not waiting for the disk: a picture that a power cut damages is made again.
    with writing_whole(path, "wb", durable=False) as file:
        file.write(_jpeg(image if hide is None else hide(image), size))


def is_whole_thumbnail(path: Path) -> bool:
    """Say whether a picture of an earlier run can be shown again: a plain file that starts, opens and ends as a JPEG.

    One that is empty or cut off is made anew, and so is a link, which may lead anywhere.
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
    """Remove the pictures an earlier run left in `folder`, so that a page to share does not carry them.

    Parameters
    ----------
    folder : str or Path
        The folder of the page. Only files that `write_thumbnails` could have made are touched.
    keep : collection of str
        Paths to leave, relative to `folder`.
    """
    target = Path(folder) / FOLDER
    if target.is_symlink() or not target.is_dir():
        return
    for path in target.iterdir():
        old = GENERATED_NAME.fullmatch(path.name) and f"{FOLDER}/{path.name}" not in keep
        if old or UNFINISHED.fullmatch(path.name):
            path.unlink()
    with suppress(OSError):  # it holds something else: not ours to remove
        target.rmdir()


def thumbnail_folder(folder: str | Path) -> Path:
    """Make the folder of the pictures, refused where it is a link to another place."""
    target = Path(folder) / FOLDER
    refuse_link(target)
    target.mkdir(parents=True, exist_ok=True)
    return target


def _checked(image: Pixels, frame: int) -> Pixels:
    if frame < 0:
        raise ValueError(f"frame {frame}: frames count from 0")
    if image.ndim != 3 or image.shape[2] != 3 or image.dtype != np.uint8 or image.size == 0:
        raise ValueError(
            f"frame {frame}: a picture of shape {image.shape}, {image.dtype}; give (height, width, 3), uint8"
        )
    return image


def _jpeg(pixels: Pixels, size: int) -> bytes:
    """Encode a picture, a little coarser each time until it is small enough."""
    from PIL import Image

    picture = Image.fromarray(pixels)
    picture.thumbnail((size, size), Image.Resampling.LANCZOS, reducing_gap=2.0)
    for quality in (82, 74, 64, 52, 40, 28):
        buffer = BytesIO()
        picture.save(buffer, "JPEG", quality=quality, optimize=True, progressive=True)
        if buffer.tell() <= MOST_BYTES:
            return buffer.getvalue()
    return _jpeg(pixels, max(picture.size) * 3 // 4)
