"""Small pictures for the page, under names that later runs recognize."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from io import BytesIO
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from dayline.checks import show_value
from dayline.events import Segmentation
from dayline.files import UNFINISHED, refuse_link, writing_whole
from dayline.installation import needs_extra
from dayline.media.faces import face_blurrer
from dayline.media.frame import Also, FrameSequence, shown_name
from dayline.result_folder import MARK

PICTURE_SIDE = 640

# The shorter side: at three quarters of PICTURE_SIDE, a 4:3 photo has exactly that length.
DECODED_SIDE = PICTURE_SIDE * 3 // 4

MOST_PICTURES = 1000
"""Pictures of a film besides those of its boundaries and key frames; about 40 MB."""

NEAR_BOUNDARY = 2
"""Frames before and after a boundary that have a picture, so that a person can judge it."""


def pictured_frames(segmentation: Segmentation) -> list[int]:
    """Return the frames that have a picture on the page: in a long film, not all of them.

    Parameters
    ----------
    segmentation : Segmentation
        The events. Photos, and films of at most 1,000 sampled frames, have all their pictures.
    """
    n = segmentation.n_frames
    times = segmentation.all_times
    if segmentation.clock != "media" or times is None:
        return list(range(n))
    chosen = set(_spread(times))
    chosen.update(event.key_frame for event in segmentation.events if event.key_frame is not None)
    for b in segmentation.boundaries:
        chosen.update(range(max(b - NEAR_BOUNDARY, 0), min(b + NEAR_BOUNDARY, n)))
    return sorted(chosen)


def _spread(times: Sequence[float]) -> list[int]:
    """Return at most 1,000 frames; by time, so that a lost frame does not shift the others."""
    if len(times) <= MOST_PICTURES:
        return list(range(len(times)))
    since = np.asarray(times, dtype=np.float64) - times[0]
    numbers = np.floor(since * (MOST_PICTURES - 1) / since[-1])
    return np.flatnonzero(np.diff(numbers, prepend=-1.0)).tolist()


Pixels: TypeAlias = NDArray[np.uint8]


@dataclass(frozen=True)
class PictureFolder:
    """Where the pictures of a result go, and how they are made.

    Attributes
    ----------
    folder : Path
        Folder of the result.
    blur_faces : bool
        Whether faces are blurred.
    """

    folder: Path
    blur_faces: bool = False

    @cached_property
    def _hide(self) -> Callable[[Pixels], Pixels] | None:
        return face_blurrer() if self.blur_faces else None

    def name(self, digest: str) -> str:
        """Name a picture by all that determines it, so that existing pictures can be reused."""
        about = f"{digest} {PICTURE_SIDE} {'blurred by CenterFace' if self.blur_faces else 'plain'}"
        return f"{hashlib.sha256(about.encode()).hexdigest()[:20]}.jpg"

    def address(self, digest: str) -> str:
        """Return the path of a picture, relative to the folder, as `write_page` expects."""
        return f"{FOLDER}/{self.name(digest)}"

    def keep(self, digest: str, image: Pixels) -> None:
        """Write the picture of a frame as a JPEG of at most 640 pixels and 46 kB.

        Smaller pictures keep their size. One that an earlier run has written stays.
        """
        path = thumbnail_folder(self.folder) / self.name(digest)
        if is_whole_thumbnail(path):
            return
        # No need to wait for the disk: a picture damaged by a power cut is written again.
        with writing_whole(path, "wb", durable=False) as file:
            file.write(_jpeg(image if self._hide is None else self._hide(image), PICTURE_SIDE))

    def take_from_above(self, digests: Iterable[str]) -> None:
        """Move pictures here that were written above, before the days of the photos were known."""
        above, target = self.folder.parent, thumbnail_folder(self.folder)
        if not (above / MARK).is_file():
            return
        for name in map(self.name, digests):
            path = above / FOLDER / name
            if not os.path.lexists(target / name) and is_whole_thumbnail(path):
                path.replace(target / name)

    def while_decoding(self, film: FrameSequence) -> Also:
        """Write those that do not depend on the events while a film is decoded for its features."""

        def take(frame: int, image: Pixels) -> None:
            self.keep(film.frames[frame].digest, image)

        times = film.placed_times
        return Also(DECODED_SIDE, take, None if times is None else frozenset(_spread(times)))


FOLDER = "thumbnails"
GENERATED_NAME = re.compile(r"[0-9a-f]{20}\.jpg")
# 586 pictures of this size, with page and graph, stay under 30 MB.
MOST_BYTES = 46_000
JPEG_START, JPEG_END = b"\xff\xd8\xff", b"\xff\xd9"


def is_whole_thumbnail(path: Path) -> bool:
    """Return whether a picture of an earlier run can be reused: a regular and complete JPEG.

    Empty or truncated pictures are written again, and so are links, which may point anywhere.
    """
    if path.is_symlink() or not path.is_file():
        return False
    with path.open("rb") as file:
        start = file.read(len(JPEG_START))
        file.seek(-min(len(JPEG_END), file.seek(0, os.SEEK_END)), os.SEEK_END)
        return start == JPEG_START and file.read() == JPEG_END


def remove_thumbnails(folder: str | Path, *, keep: Collection[str] = ()) -> None:
    """Remove the pictures of an earlier run, so that they are not shared with the page.

    Parameters
    ----------
    folder : str or Path
        The folder of the page. Only files with names that `PictureFolder` gives are removed.
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
    with suppress(OSError):  # it contains other files
        target.rmdir()


def thumbnail_folder(folder: str | Path) -> Path:
    """Create the folder of the pictures; raise if it is a link."""
    target = Path(folder) / FOLDER
    refuse_link(target)
    target.mkdir(parents=True, exist_ok=True)
    return target


def _jpeg(pixels: Pixels, size: int) -> bytes:
    """Encode a picture, lowering the quality until it is small enough."""
    from PIL import Image

    picture = Image.fromarray(pixels)
    picture.thumbnail((size, size), Image.Resampling.LANCZOS, reducing_gap=2.0)
    for quality in (82, 74, 64, 52, 40, 28):
        buffer = BytesIO()
        # Not optimized and progressive: that saves 5 % of the bytes and takes five times as long.
        picture.save(buffer, "JPEG", quality=quality)
        if buffer.tell() <= MOST_BYTES:
            return buffer.getvalue()
    return _jpeg(pixels, max(picture.size) * 3 // 4)


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

    def labels(self) -> dict[int, str]:
        """Return the file name of every frame that has one."""
        files = ((frame, path) for frame, path in self.frames.items() if isinstance(path, Path))
        return {frame: shown_name(path.name) for frame, path in files}

    def names(self, n_frames: int) -> tuple[str, ...] | None:
        """Return the file name of every frame, unless some have none or two have the same."""
        found = tuple(self.labels().values())
        return found if len(set(found)) == n_frames else None

    def digests(self) -> dict[int, str]:
        """Return a hash of the content of every picture."""
        return {frame: _hash(picture) for frame, picture in self.frames.items()}

    def decode(
        self, frames: Iterable[int], on_skip: Callable[[int, str], None]
    ) -> Iterator[tuple[int, Pixels]]:
        """Yield some pictures; those that cannot be decoded are passed to `on_skip` with why."""
        from dayline.media.decode import BadImageError, decode_photo

        for frame in frames:
            picture = self.frames[frame]
            if not isinstance(picture, Path):
                yield frame, picture
                continue
            try:
                yield frame, decode_photo(picture, size=DECODED_SIDE)
            except BadImageError as error:
                on_skip(frame, str(error))


@needs_extra("photos", "showing photos on the page")
def given_pictures(
    pictures: Sequence[PictureSource] | Mapping[int, PictureSource], n_frames: int
) -> GivenPictures:
    """Check pictures that a caller passes; raise ValueError that names the frame.

    Parameters
    ----------
    pictures : sequence or mapping of int to path or array
        One per frame, None where there is none; or the frames that have one.
    n_frames : int
        Number of frames.
    """
    import_module("dayline.media.decode")  # raises here rather than after the events were found
    if isinstance(pictures, (str, bytes, os.PathLike)):
        raise ValueError(f"pictures={show_value(pictures)}; pass a list of files, one per frame")
    if not isinstance(pictures, Mapping):
        if len(pictures) != n_frames:
            raise ValueError(
                f"{len(pictures)} pictures for {n_frames} frames; pass one per frame, None where"
                " there is none"
            )
        pictures = dict(enumerate(pictures))
    wrong = [frame for frame in pictures if frame not in range(n_frames)]
    if wrong:
        raise ValueError(
            f"pictures: there is no frame {show_value(wrong[0])}; frames count from 0 to"
            f" {n_frames - 1}"
        )
    return GivenPictures(
        {f: _checked_picture(f, picture) for f, picture in pictures.items() if picture is not None}
    )


def _checked_picture(frame: int, picture: Any) -> Path | Pixels:
    if isinstance(picture, (str, os.PathLike)):
        path = Path(picture)
        if not path.is_file():
            raise ValueError(f"frame {frame}: picture {shown_name(path)} is not a file")
        return path
    return _pixels(frame, picture)


def _pixels(frame: int, picture: Any) -> Pixels:
    """Return a picture as RGB; accept gray ones, transparency, and numbers from 0 to 1."""
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
            f"frame {frame}: picture has shape {values.shape}, {values.dtype}; pass a file, or an"
            " array of shape (height, width) or (height, width, 3): uint8, or numbers from 0 to 1"
        )
    return values[:, :, :3]


def _hash(picture: Path | Pixels) -> str:
    if isinstance(picture, Path):
        with picture.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    pixels = np.ascontiguousarray(picture).data
    return hashlib.sha256(f"{picture.shape}".encode() + pixels).hexdigest()
