"""A sequence whose events people have marked."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from dayline.arrays import FloatArray, IntArray

__all__ = ["LabelledSequence", "by_number"]


@dataclass(frozen=True)
class LabelledSequence:
    """One sequence of a data set and its truth.

    Attributes
    ----------
    group, name : str
        The data set and the sequence in it.
    features : ndarray of shape (n_frames, n_features) or None
        None where the folder has only images.
    boundaries : ndarray of int
        First frame of every true event but the first, by the first annotator.
    labels : ndarray of int or None
        True class of every frame, where the data set has classes.
    annotations : tuple of ndarray
        Boundaries of the other annotators.
    images : tuple of Path
        The frames as files, where the folder has them.
    tolerance : int
        Frames a boundary may be off in this data set.
    """

    group: str
    name: str
    features: FloatArray | None
    boundaries: IntArray
    labels: IntArray | None = None
    annotations: tuple[IntArray, ...] = ()
    images: tuple[Path, ...] = ()
    tolerance: int = 5

    @property
    def n_frames(self) -> int:
        """Number of frames."""
        return len(self.images) if self.features is None else len(self.features)


def by_number(path: Path) -> tuple[list[int], str]:
    """Sort key: the numbers in a name count as numbers, so that 2 comes before 10."""
    return [int(digits) for digits in re.findall(r"\d+", path.stem)], path.name
