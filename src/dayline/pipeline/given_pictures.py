"""Pictures of frames that a caller has: files or arrays, for the page of an array of features."""

from __future__ import annotations

import hashlib
import os
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from dayline.checks import show_value
from dayline.extras import needs_extra
from dayline.frames.names import shown_name
from dayline.pipeline.pictures import DECODED_SIDE, PICTURE_SIDE
from dayline.progress import OnStep
from dayline.report import write_thumbnails
from dayline.report.thumbnails import FOLDER as THUMBNAILS
from dayline.report.thumbnails import is_whole_thumbnail

__all__ = ["GivenPictures", "PictureSource", "given_pictures"]

Pixels: TypeAlias = NDArray[np.uint8]
PictureSource: TypeAlias = str | os.PathLike[str] | NDArray[Any] | None
"""A file, the pixels themselves, or None for a frame without a picture."""


@dataclass(frozen=True)
class GivenPictures:
    """The picture of every frame that has one.

    Attributes
    ----------
    frames : mapping of int to Path or ndarray
        Files, and arrays of shape (height, width, 3), uint8.
    """

    frames: Mapping[int, Path | Pixels]

    def names(self, n_frames: int) -> tuple[str, ...] | None:
        """Return the file name of every frame, unless some have no file or two have the same name."""
        files = [picture for picture in self.frames.values() if isinstance(picture, Path)]
        found = tuple(shown_name(file.name) for file in files)
        return found if len(set(found)) == n_frames else None

    def write(self, folder: Path, *, blur_faces: bool = False, on_step: OnStep | None = None) -> dict[int, str]:
        """Write the pictures that an earlier run has not written yet; return the path of each within `folder`."""
        about = f"{PICTURE_SIDE} {'blurred' if blur_faces else 'plain'}"
        # By content: a picture that changed gets another name, so that the page of an earlier run keeps its own.
        names = {frame: f"{_hash(picture, about)}.jpg" for frame, picture in self.frames.items()}
        missing = [frame for frame, name in names.items() if not is_whole_thumbnail(folder / THUMBNAILS / name)]

        def decoded() -> Iterator[tuple[int, Pixels]]:
            from dayline.frames.decode import BadImageError, decode_photo

            for done, frame in enumerate(missing):
                if on_step is not None:
                    on_step("pictures", done, len(missing))
                picture = self.frames[frame]
                if not isinstance(picture, Path):
                    yield frame, picture
                    continue
                try:
                    yield frame, decode_photo(picture, size=DECODED_SIDE)
                except BadImageError as error:
                    warnings.warn(f"frame {frame}, {shown_name(picture.name)}: no picture ({error})", stacklevel=4)

        return write_thumbnails(decoded(), folder, size=PICTURE_SIDE, blur_faces=blur_faces, names=names)


@needs_extra("photos", "showing photos on the page")
def given_pictures(pictures: Sequence[PictureSource] | Mapping[int, PictureSource], n_frames: int) -> GivenPictures:
    """Check pictures that a caller passes; raise ValueError that names the frame, before any work is done.

    Parameters
    ----------
    pictures : sequence or mapping of int to path or array
        One per frame, None where there is none; or the frames that have one.
    n_frames : int
        Number of frames.
    """
    import_module("dayline.frames.decode")  # raises here rather than after the events were found
    if isinstance(pictures, (str, bytes, os.PathLike)):
        raise ValueError(f"pictures={show_value(pictures)}; pass a list of files, one per frame")
    if not isinstance(pictures, Mapping):
        if len(pictures) != n_frames:
            raise ValueError(
                f"{len(pictures)} pictures for {n_frames} frames; pass one per frame, None where there is none"
            )
        pictures = dict(enumerate(pictures))
    wrong = [frame for frame in pictures if frame not in range(n_frames)]
    if wrong:
        raise ValueError(f"pictures: there is no frame {show_value(wrong[0])}; frames count from 0 to {n_frames - 1}")
    return GivenPictures({f: _checked(f, picture) for f, picture in pictures.items() if picture is not None})


def _checked(frame: int, picture: Any) -> Path | Pixels:
    if isinstance(picture, (str, os.PathLike)):
        path = Path(picture)
        if not path.is_file():
            raise ValueError(f"frame {frame}: picture {shown_name(path)} is not a file")
        return path
    return _pixels(frame, picture)


def _pixels(frame: int, picture: Any) -> Pixels:
    """Return a picture as RGB; accept grey ones, transparency, and numbers from 0 to 1, as matplotlib does."""
    try:
        values = np.asarray(picture)
    except (TypeError, ValueError):
        values = np.zeros(0)
    if values.ndim == 2:
        values = np.repeat(values[:, :, None], 3, axis=2)
    fits = values.ndim == 3 and values.shape[2] in (3, 4) and values.size > 0
    if fits and values.dtype.kind == "f" and np.all((values >= 0) & (values <= 1)):
        values = np.rint(values * 255).astype(np.uint8)
    if not fits or values.dtype != np.uint8:
        raise ValueError(
            f"frame {frame}: picture has shape {values.shape}, {values.dtype}; pass a file, or an array of shape "
            "(height, width) or (height, width, 3): uint8, or numbers from 0 to 1"
        )
    return values[:, :, :3]


def _hash(picture: Path | Pixels, about: str) -> str:
    seen = hashlib.sha256(about.encode())
    if isinstance(picture, Path):
        with picture.open("rb") as file:
            while block := file.read(2**20):
                seen.update(block)
    else:
        seen.update(str(picture.shape).encode())
        seen.update(np.ascontiguousarray(picture).data)
    return seen.hexdigest()[:20]
