"""A sequence with annotated events."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from dayline.arrays import FloatArray, IntArray

__all__ = ["LabelledSequence", "real_numbers", "whole_numbers"]


@dataclass(frozen=True)
class LabelledSequence:
    """One sequence of a data set and its ground truth.

    Attributes
    ----------
    group, name : str
        The data set and the sequence in it.
    features : ndarray of shape (n_frames, n_features) or None
        None if the folder has only images.
    boundaries : ndarray of int
        First frame of every true event but the first, by the first annotator.
    labels : ndarray of int or None
        True class of every frame, if the data set has classes.
    annotations : tuple of ndarray
        Boundaries of the other annotators.
    images : tuple of Path
        Files of the frames, if the folder has them.
    tolerance : int
        Number of frames a boundary may be off in this data set.
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

    @cached_property
    def digest(self) -> str:
        """Hash of everything a score depends on: features, truth and names of images."""
        content = hashlib.sha256(f"{self.tolerance} {[image.name for image in self.images]}".encode())
        for values in (self.features, self.boundaries, self.labels, *self.annotations):
            array = np.ascontiguousarray(np.empty(0) if values is None else values)
            content.update(f"{array.dtype} {array.shape}".encode())
            content.update(array.tobytes())
        return content.hexdigest()[:20]


def real_numbers(values: Any, what: str, path: Path) -> FloatArray:
    """Return an array of finite real numbers; raise if the values are anything else."""
    array = np.asarray(values)
    if array.dtype.kind not in "biuf":
        raise ValueError(f"{path}: {what} of type {array.dtype}; a dense array of real numbers is needed")
    if not np.isfinite(array).all():
        raise ValueError(f"{path}: NaN or infinity in {what}; repair the file")
    return array


def whole_numbers(values: Any, what: str, path: Path) -> IntArray:
    """Return a flat array of integers; raise if the values are anything else."""
    array = np.ravel(real_numbers(values, what, path))
    if np.any(array != np.round(array)):
        raise ValueError(f"{path}: {what} must be integers")
    return array.astype(np.int64)
