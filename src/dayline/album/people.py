"""Which photos show somebody's face, so that key photos are rather of people than of walls."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

from dayline.album.pictures import PictureFolder, is_whole_thumbnail
from dayline.album.settings import Settings
from dayline.arrays import FloatArray, IntArray
from dayline.features.extract import Extractor
from dayline.features.lite0 import people_likely
from dayline.media.faces import can_find_faces, face_finder
from dayline.media.frame import FrameSequence

MOST_LOOKED_AT = 4
"""Photos of an event in which faces are looked for, and at most half of its good ones: those that
most likely show people."""

SIDE = 160
"""Pixels of the longer side of the pictures in which they are looked for; a face that is large
enough has 16 of them. With 128, one in eight is missed that is found with 160."""

LEAST_CONFIDENCE = 0.5
LARGE_ENOUGH = 0.1
"""Height of a face, relative to the shorter side of the picture."""

BORDER = 0.01
"""A face nearer to the border, relative to the side of the picture, may be cut."""

Faces = Callable[[IntArray], IntArray]


def find_people(
    sequence: FrameSequence,
    features: FloatArray,
    extractor: Extractor,
    settings: Settings,
    folder: Path | None,
) -> Faces | None:
    """Return a function that returns those of some frames that show a whole face, large enough.

    It looks at the pictures of the page, and at few of them. None where there are no such pictures,
    or faces are blurred in them, or the extra "faces" is missing.

    Parameters
    ----------
    sequence, features, extractor, settings, folder
        The frames, what is known of them, and where their pictures are.
    """
    if folder is None or settings.blur_faces or not settings.thumbnails:
        return None
    if not can_find_faces():
        return None
    pictures = PictureFolder(folder)
    likely = people_likely(features) if extractor.name == "lite0" else None

    def with_face(frames: IntArray) -> IntArray:
        most = min(MOST_LOOKED_AT, -(-len(frames) // 2))
        if likely is None:
            chosen = frames[np.linspace(0, len(frames) - 1, most).round().astype(int)]
        else:
            chosen = frames[np.argsort(-likely[frames], kind="stable")[:most]]
        digests = sequence.digests
        found = [f for f in chosen if shows_face(folder / pictures.address(digests[f]))]
        return np.asarray(found, dtype=np.int64)

    return with_face


def shows_face(picture: Path) -> bool:
    """Whether a picture shows a whole face that is large enough; not if it cannot be read.

    Parameters
    ----------
    picture : Path
        A picture of the page.
    """
    from dayline.media.decode import BadImageError, decode_photo

    if not is_whole_thumbnail(picture):
        return False
    try:
        pixels = decode_photo(picture, size=SIDE)
    except BadImageError:  # it is written again with the page
        return False
    height, width = pixels.shape[:2]
    boxes = face_finder(least_confidence=LEAST_CONFIDENCE, largest_side=SIDE)(pixels)
    left, top, right, bottom, _ = boxes.T
    whole = (left > BORDER * width) & (right < (1 - BORDER) * width)
    whole &= (top > BORDER * height) & (bottom < (1 - BORDER) * height)
    return bool((whole & (bottom - top >= LARGE_ENOUGH * min(height, width))).any())
