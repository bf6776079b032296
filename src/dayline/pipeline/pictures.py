"""The picture of every frame, under a name that later runs recognize."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from dayline.features import FrameKeys
from dayline.frames import Also
from dayline.frames.faces import face_blurrer
from dayline.report.thumbnails import is_whole_thumbnail, thumbnail_folder, write_thumbnail

__all__ = ["DECODED_SIDE", "PICTURE_SIDE", "PictureFolder"]

PICTURE_SIDE = 640

# The shorter side: at three quarters of PICTURE_SIDE, a 4:3 photo has exactly that length.
DECODED_SIDE = PICTURE_SIDE * 3 // 4


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
        about = f"{PICTURE_SIDE} {'blurred' if self.blur_faces else 'plain'}"
        identities = ("\0".join(map(str, (*identity, about))) for identity in keys.identities())
        return [f"{hashlib.sha256(i.encode()).hexdigest()[:20]}.jpg" for i in identities]

    def while_decoding(self, keys: FrameKeys) -> Also:
        """Write the pictures of frames while they are decoded for their features."""
        target, names = thumbnail_folder(self.folder), self.names(keys)
        hide: Callable[[NDArray[np.uint8]], NDArray[np.uint8]] | None = face_blurrer() if self.blur_faces else None

        def take(frame: int, image: NDArray[np.uint8]) -> None:
            if not is_whole_thumbnail(target / names[frame]):
                write_thumbnail(image, target / names[frame], size=PICTURE_SIDE, hide=hide)

        return Also(DECODED_SIDE, take)
