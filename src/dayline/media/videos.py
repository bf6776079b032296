"""Videos among photos: when each was taken, how long it lasts, and one picture of it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
from av.container import InputContainer

from dayline.media.aside import aside_by_name
from dayline.media.decode import BadImageError
from dayline.media.exif import (
    LARGEST_OFFSET,
    QUARTER_HOUR,
    video_camera,
    video_location,
    video_time,
)
from dayline.media.film import read_video
from dayline.media.film_decode import opened_video, video_images
from dayline.media.frame import (
    CaptureTime,
    Frame,
    FrameSequence,
    Image,
    VideoFrame,
    shown_name,
)

MOST_LOOKED_AT = 8
"""Frames of a video of which the best one becomes its picture."""

MOST_BEFORE = 60
"""Frames after a key frame that are decoded on the way to one that is looked at; none in a video
with enough key frames."""

LONGEST_LIVE = 10.0
"""Seconds: the video of a live photo lasts three."""

SAME_MOMENT = 60.0
"""Seconds between the times of a live photo and its video: a phone writes them at once."""

_one_at_once = threading.Lock()
"""Decoders of large videos hold many frames, in threads of their own."""


def read_video_frame(
    path: Path, name: str, *, size: int | None = None, score: Callable[[Image], float] | None = None
) -> tuple[Frame, Image | None]:
    """Read a video as one frame of a day.

    Parameters
    ----------
    path : Path
        The video.
    name : str
        Name of the frame.
    size : int, optional
        Shorter side of its picture in pixels. If not given, nothing is decoded.
    score : callable, optional
        Returns how good a picture is. At most `MOST_LOOKED_AT` frames are looked at.

    Returns
    -------
    frame : Frame
        Its time, length, camera and location; its digest is that of the film.
    pixels : ndarray of uint8, (height, width, 3), or None
        The best picture.

    Raises
    ------
    BadImageError
        If the video is damaged, or no picture of it can be decoded.
    """
    try:
        with opened_video(path) as video:
            tags = dict(video.container.metadata)
        sequence = read_video(path)
    except ValueError as error:
        raise BadImageError(str(error).removeprefix(f"{shown_name(path)}: ")) from None
    index = sequence.video
    if index is None:
        raise AssertionError("a video has an index")
    if index.missing:
        raise BadImageError(f"damaged video: frames are missing after {index.missing[0].first:g} s")

    shown_at = index.rows[:, 3]
    step = float(np.median(np.diff(shown_at))) if len(shown_at) > 1 else 0.0
    duration = round((float(shown_at[-1] - shown_at[0]) + step) * float(index.time_base), 3)
    frame = Frame(
        name,
        path,
        sequence.frames[0].digest.partition(":")[0],
        taken=video_time(tags, path.name, duration=duration),
        camera=video_camera(tags),
        location=video_location(tags),
        duration=duration,
        aside=aside_by_name(name),
    )
    return frame, None if size is None else _best_picture(sequence, size, score)


def decode_video(path: Path, *, size: int, score: Callable[[Image], float] | None) -> Image:
    """Decode the best picture of a video; see `read_video_frame`."""
    _, picture = read_video_frame(path, "", size=size, score=score)
    if picture is None:
        raise AssertionError("a size was given")
    return picture


def _best_picture(
    sequence: FrameSequence, size: int, score: Callable[[Image], float] | None
) -> Image:
    frames = tuple(Frame("", sequence.source, in_video=one) for one in _spread_frames(sequence))
    lost: list[str] = []
    best, picture = -np.inf, None
    with _one_at_once:
        for _, image in video_images(
            replace(sequence, frames=frames),
            size=size,
            indices=range(len(frames)),
            on_skip=lambda _, why: lost.append(why),
        ):
            value = 0.0 if score is None else score(image)
            if value > best:
                best, picture = value, image
    if picture is None:
        raise BadImageError(f"damaged video: {lost[0]}" if lost else "damaged video")
    return picture


def _spread_frames(sequence: FrameSequence) -> list[VideoFrame]:
    """Return frames to look at, spread over a video, which few others must be decoded for."""
    rows = np.empty((0, 4), dtype=np.int64) if sequence.video is None else sequence.video.rows
    own = rows[rows[:, 1] == rows[:, 2]]  # the others also need the group before
    if not len(own):
        return [frame.in_video for frame in sequence.frames[:1] if frame.in_video is not None]
    groups, first, group = np.unique(own[:, 2], return_index=True, return_inverse=True)
    since_key = np.arange(len(own)) - first[group]
    near = own[since_key <= (0 if len(groups) >= MOST_LOOKED_AT else MOST_BEFORE)]
    chosen = np.unique(np.linspace(0, len(near) - 1, MOST_LOOKED_AT).round().astype(np.int64))
    return [VideoFrame(*row) for row in near[chosen].tolist()]


def with_live_video(photo: Frame, video: Path | None) -> Frame:
    """Give a photo the video beside it that has its name, if that is its live part.

    It is if it is short, and of the same moment, should both tell when they were taken.

    Parameters
    ----------
    photo : Frame
        The photo.
    video : Path or None
        The video beside it.
    """
    if video is None:
        return photo
    try:
        with opened_video(video) as opened:
            duration = _seconds(opened.container)
            taken = video_time(dict(opened.container.metadata), video.name, duration=duration)
    except ValueError:
        return photo
    is_live = 0 < duration <= LONGEST_LIVE and _same_moment(photo.taken, taken)
    return replace(photo, live=video) if is_live else photo


def _seconds(container: InputContainer) -> float:
    return (container.duration or 0) / 1_000_000


def _same_moment(a: CaptureTime | None, b: CaptureTime | None) -> bool:
    if a is None or b is None:
        return True
    known = [t.offset if t.offset is not None else 0.0 if t.is_utc else None for t in (a, b)]
    apart = (a.seconds - (known[0] or 0.0)) - (b.seconds - (known[1] or 0.0))
    if None in known:  # the clock of one is in some time zone
        zone = round(apart / QUARTER_HOUR) * QUARTER_HOUR
        apart -= zone if abs(zone) <= LARGEST_OFFSET else 0.0
    return abs(apart) <= SAME_MOMENT
