"""The pictures of frames, under names that later runs recognize; not all frames of a long film have one."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from dayline.events import Segmentation
from dayline.features import FrameKeys
from dayline.frames import Also
from dayline.frames.faces import face_blurrer
from dayline.report.thumbnails import is_whole_thumbnail, thumbnail_folder, write_thumbnail

__all__ = ["DECODED_SIDE", "PICTURE_SIDE", "PictureFolder", "pictured_frames"]

PICTURE_SIDE = 640

# The shorter side: at three quarters of PICTURE_SIDE, a 4:3 photo has exactly that length.
DECODED_SIDE = PICTURE_SIDE * 3 // 4

MOST_PICTURES = 1000
"""Pictures of a film, evenly spread, besides those of its boundaries and key frames; about 40 MB."""

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
    if segmentation.clock != "media" or segmentation.times is None:
        return list(range(n))
    chosen = set(_spread(segmentation.times))
    chosen.update(event.key_frame for event in segmentation.events if event.key_frame is not None)
    for b in segmentation.boundaries:
        chosen.update(range(max(b - NEAR_BOUNDARY, 0), min(b + NEAR_BOUNDARY, n)))
    return sorted(chosen)


def _spread(times: Sequence[float]) -> list[int]:
    """Return at most 1,000 frames; by time, so that a frame that cannot be decoded does not shift the others."""
    if len(times) <= MOST_PICTURES:
        return list(range(len(times)))
    since = np.asarray(times, dtype=np.float64) - times[0]
    numbers = np.floor(since * (MOST_PICTURES - 1) / since[-1])
    return np.flatnonzero(np.diff(numbers, prepend=-1.0)).tolist()


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

    def names(self, keys: FrameKeys) -> list[str]:
        """Name each picture by a hash of all that determines it, so that existing pictures can be reused."""
        about = f"{PICTURE_SIDE} {'blurred by CenterFace' if self.blur_faces else 'plain'}"
        identities = ("\0".join(map(str, (*identity, about))) for identity in keys.identities())
        return [f"{hashlib.sha256(i.encode()).hexdigest()[:20]}.jpg" for i in identities]

    def while_decoding(self, keys: FrameKeys) -> Also:
        """Write the pictures that do not depend on the events while a film is decoded for its features."""
        target, names = thumbnail_folder(self.folder), self.names(keys)
        hide: Callable[[NDArray[np.uint8]], NDArray[np.uint8]] | None = face_blurrer() if self.blur_faces else None

        def take(frame: int, image: NDArray[np.uint8]) -> None:
            if not is_whole_thumbnail(target / names[frame]):
                write_thumbnail(image, target / names[frame], size=PICTURE_SIDE, hide=hide)

        return Also(DECODED_SIDE, take, None if keys.times is None else frozenset(_spread(keys.times)))
