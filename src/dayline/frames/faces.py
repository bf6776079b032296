"""Blur the faces in an image beyond recognition."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["blur_box", "face_blurrer"]

Pixels = NDArray[np.uint8]

FACE_MARGIN = 0.25


def face_blurrer() -> Callable[[Pixels], Pixels]:
    """Return a function that blurs faces found by OpenCV's bundled detectors (extra "faces"); they miss some."""
    try:
        import cv2
    except ModuleNotFoundError:
        raise ValueError('blurring faces needs OpenCV; install it: pip install "dayline[faces]"') from None
    library: Any = cv2
    if not hasattr(library, "CascadeClassifier"):
        # OpenCV 5 dropped its old detectors.
        msg = f"OpenCV {library.__version__} has no face detector; install an older version"
        raise ValueError(f'{msg}: pip install "dayline[faces]"')
    folder = Path(library.data.haarcascades)
    front, other_front, side = (
        library.CascadeClassifier(str(folder / f"haarcascade_{name}.xml"))
        for name in ("frontalface_default", "frontalface_alt2", "profileface")
    )

    def blurred(pixels: Pixels) -> Pixels:
        # Small faces need no blur, and detection time grows with the number of pixels.
        scale = min(1.0, 640 / max(pixels.shape[:2]))
        grey = library.cvtColor(pixels, library.COLOR_RGB2GRAY)
        grey = library.equalizeHist(library.resize(grey, None, fx=scale, fy=scale, interpolation=library.INTER_AREA))
        mirrored = np.ascontiguousarray(grey[:, ::-1])
        boxes = [*_boxes(front, grey), *_boxes(other_front, grey), *_boxes(side, grey)]
        boxes += [(grey.shape[1] - x - width, y, width, height) for x, y, width, height in _boxes(side, mirrored)]
        result = pixels.copy()
        for box in boxes:
            blur_box(result, [round(value / scale) for value in box])
        return result

    return blurred


def _boxes(detector: Any, grey: Pixels) -> list[tuple[int, ...]]:
    """Boxes (left, top, width, height) of the faces that a detector finds."""
    smallest = (max(20, max(grey.shape) // 30),) * 2
    found = detector.detectMultiScale(grey, scaleFactor=1.1, minNeighbors=2, minSize=smallest)
    return [tuple(int(value) for value in box) for box in found]


def blur_box(pixels: Pixels, box: Sequence[int]) -> None:
    """Blur a box (left, top, width, height) and a margin around it beyond recognition, in place."""
    from PIL import Image

    left, top, width, height = box
    aside, above = round(width * FACE_MARGIN), round(height * FACE_MARGIN)
    rows = slice(max(0, top - above), top + height + above)
    columns = slice(max(0, left - aside), left + width + aside)
    patch = Image.fromarray(np.ascontiguousarray(pixels[rows, columns]))
    # Averaging to a few blocks discards the detail; a blur alone could be undone.
    coarse = patch.resize((6, 6), Image.Resampling.BOX)
    pixels[rows, columns] = np.asarray(coarse.resize(patch.size, Image.Resampling.BICUBIC))
