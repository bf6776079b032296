"""Bursts: photos of the same thing taken within seconds of each other."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

__all__ = ["group_bursts", "signature"]


def signature(image: NDArray[np.uint8], *, side: int = 16) -> NDArray[np.uint8]:
    """Shrink an image to a small grey thumbnail for comparing near-identical photos.

    Parameters
    ----------
    image : array of shape (height, width, 3), uint8
        A decoded RGB image.
    side : int
        Width and height of the thumbnail.

    Returns
    -------
    array of shape (side * side,), uint8
    """
    from PIL import Image

    grey = Image.fromarray(image).convert("L").resize((side, side), Image.Resampling.BOX)
    return np.asarray(grey, dtype=np.uint8).ravel()


def group_bursts(
    times: Sequence[float] | None,
    signatures: NDArray[np.uint8],
    *,
    max_gap_seconds: float = 2.0,
    max_length_seconds: float = 10.0,
    max_difference: float = 12.0,
) -> tuple[int, ...]:
    """Return the burst number of each photo; most photos are a burst of their own.

    A photo joins the current burst if it closely follows the last photo of the burst and resembles
    the first. Bursts are kept short so that a time-lapse of a still scene does not become one frame.

    Parameters
    ----------
    times : sequence of float or None
        Seconds, one per photo, in order. Without times there are no bursts.
    signatures : array of shape (n_photos, k), uint8
        Grey thumbnails from `signature`, one row per photo.
    max_gap_seconds : float
        Longest time between two photos of a burst.
    max_length_seconds : float
        Longest time from the first to the last photo of a burst.
    max_difference : float
        Largest mean difference, in grey levels of 0 to 255, from the first photo of the burst.
    """
    if times is None:
        return tuple(range(len(signatures)))
    if len(times) != len(signatures):
        raise ValueError(f"{len(times)} times for {len(signatures)} photos; give one time per photo")
    bursts: list[int] = []
    first = 0
    for i in range(len(signatures)):
        follows = (
            i > 0
            and 0 <= times[i] - times[i - 1] <= max_gap_seconds
            and times[i] - times[first] <= max_length_seconds
            and _difference(signatures[i], signatures[first]) <= max_difference
        )
        if not follows:
            first = i
        bursts.append(bursts[-1] + (not follows) if bursts else 0)
    return tuple(bursts)


def _difference(a: NDArray[np.uint8], b: NDArray[np.uint8]) -> float:
    return float(np.mean(np.abs(a.astype(np.int16) - b.astype(np.int16))))
