"""Sequences with events annotated by people."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from dayline.arrays import FloatArray, IntArray
from dayline.features.numpy_files import list_npz, load_npz
from dayline.features.tables import existing_file
from dayline.media.frame import by_name


@dataclass(frozen=True)
class LabeledSequence:
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
        content = hashlib.sha256(
            f"{self.tolerance} {[image.name for image in self.images]}".encode()
        )
        for values in (self.features, self.boundaries, self.labels, *self.annotations):
            array = np.ascontiguousarray(np.empty(0) if values is None else values)
            content.update(f"{array.dtype} {array.shape}".encode())
            content.update(array.tobytes())
        return content.hexdigest()[:20]


def real_numbers(values: Any, what: str, path: Path) -> FloatArray:
    """Return an array of finite real numbers; raise if the values are anything else."""
    array = np.asarray(values)
    if array.dtype.kind not in "biuf":
        raise ValueError(
            f"{path}: {what} of type {array.dtype}; a dense array of real numbers is needed"
        )
    if not np.isfinite(array).all():
        raise ValueError(f"{path}: NaN or infinity in {what}; repair the file")
    return array


def whole_numbers(values: Any, what: str, path: Path) -> IntArray:
    """Return a flat array of integers; raise if the values are anything else."""
    array = np.ravel(real_numbers(values, what, path))
    if np.any(array != np.round(array)):
        raise ValueError(f"{path}: {what} must be integers")
    return array.astype(np.int64)


def find_groups(root: str | Path) -> dict[str, list[Path]]:
    """List the files of every group in a folder and in its dev/."""
    root = Path(root)
    folders = [*sorted(root.glob("*/")), *sorted((root / "dev").glob("*/"))]
    groups = {path.name: sorted(path.glob("*.npz"), key=by_name) for path in folders}
    return {name: files for name, files in groups.items() if files}


def load_group(root: str | Path, group: str, *, most: int | None = None) -> list[LabeledSequence]:
    """Read the sequences of one group, at most `most`; an empty list if there is no such group."""
    return [read_labeled(path) for path in find_groups(root).get(group, [])[:most]]


def load_folder(root: str | Path, *, most: int | None = None) -> list[LabeledSequence]:
    """Read the sequences of all groups in a folder, at most `most` of each."""
    return [read_labeled(path) for files in find_groups(root).values() for path in files[:most]]


def read_labeled(path: str | Path) -> LabeledSequence:
    """Read features, boundaries and, if present, tolerance and labels from an .npz file."""
    path = existing_file(path)
    optional = [name for name in ("labels", "tolerance") if name in list_npz(path)]
    arrays = load_npz(path, ["features", "boundaries", *optional])
    features = real_numbers(arrays["features"], "features", path)
    boundaries = whole_numbers(arrays["boundaries"], "boundaries", path)
    if features.ndim != 2 or np.any(np.diff([0, *boundaries, len(features)]) <= 0):
        raise ValueError(
            f"{path}: boundaries must increase inside the frames of a matrix of features; its shape"
            f" is {features.shape}"
        )
    labels = np.ravel(arrays.get("labels", []))
    tolerance = whole_numbers(arrays.get("tolerance", 5), "tolerance", path)
    if len(tolerance) != 1:
        raise ValueError(f"{path}: tolerance must be a single number of frames")
    return LabeledSequence(
        path.parent.name,
        path.stem,
        features,
        boundaries,
        labels=None if len(labels) != len(features) else whole_numbers(labels, "labels", path),
        tolerance=int(tolerance[0]),
    )
