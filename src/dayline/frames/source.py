"""Open a source: a folder of photos or a video.

The readers are imported lazily, so that `import dayline` loads neither Pillow nor PyAV.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from dayline.extras import MissingExtraError, needs_extra
from dayline.frames.names import shown_name
from dayline.frames.sequence import FrameSequence
from dayline.frames.suffixes import PHOTO_SUFFIXES, VIDEO_SUFFIXES
from dayline.io.tables import EXTENSIONS

__all__ = ["day_folders", "open_source", "read_photo_folder", "read_video"]


def open_source(
    path: str | Path,
    *,
    every: float | None = None,
    order: Literal["time", "name"] = "time",
    offsets: Mapping[str, float] | None = None,
    timezone: str | None = None,
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
    """
    source = Path(path)
    if source.is_dir():
        if every is not None:
            raise ValueError(f"{shown_name(source)}: the time between frames (every) is for videos; leave it out")
        return read_photo_folder(source, order=order, offsets=offsets, timezone=timezone)
    if not source.exists():
        raise ValueError(f"{shown_name(source)}: no such file or folder")
    suffix = source.suffix.lower()
    if suffix in PHOTO_SUFFIXES:
        raise ValueError(f"{shown_name(source)}: a single photo has no events; pass its folder")
    try:
        return read_video(source, every=every)
    except MissingExtraError:
        raise
    except ValueError as error:
        if suffix in VIDEO_SUFFIXES:
            raise
        # Any file may be a video with an unusual suffix; one that is not gets a message of its own.
        why = str(error).removeprefix(f"{shown_name(source)}: ")
        raise ValueError(
            f"{shown_name(source)}: not a folder of photos, a video ({why}) or features ({', '.join(EXTENSIONS)})"
        ) from None


@needs_extra("photos", "reading photos")
def read_photo_folder(
    path: str | Path,
    *,
    order: Literal["time", "name"] = "time",
    offsets: Mapping[str, float] | None = None,
    timezone: str | None = None,
) -> FrameSequence:
    """Find the photos of a folder; see `dayline.frames.folder.read_photo_folder`."""
    from dayline.frames import folder

    return folder.read_photo_folder(path, order=order, offsets=offsets, timezone=timezone)


@needs_extra("photos", "reading photos")
def day_folders(path: str | Path) -> tuple[Path, ...]:
    """Find the day folders in a folder; see `dayline.frames.folder.day_folders`."""
    from dayline.frames import folder

    return folder.day_folders(path)


@needs_extra("photos", "reading a video")
def read_video(path: str | Path, *, every: float | None = None) -> FrameSequence:
    """Find the frames of a video; see `dayline.frames.video.read_video`."""
    from dayline.frames import video

    return video.read_video(path, every=every)
