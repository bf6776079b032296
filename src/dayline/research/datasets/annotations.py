"""Sequences with events annotated by people, and files of boundaries, found or annotated."""

from __future__ import annotations

import csv
import hashlib
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from dayline.arrays import FloatArray, IntArray
from dayline.events import MOST_FRAMES, labels_to_boundaries, read_events
from dayline.features.numpy_files import list_npz, load_npy, load_npz
from dayline.features.tables import existing_file
from dayline.files import reading
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


@dataclass(frozen=True)
class BoundaryList:
    """Boundaries read from a file, and the number of frames if the file has it."""

    boundaries: IntArray
    n_frames: int | None = None


def read_boundaries(path: str | Path) -> BoundaryList:
    """Read boundaries: events.json, events.csv, .npz (boundaries), .npy, or numbers one per line.

    A text file without numbers has no boundaries; its first line may say "boundary" or
    "boundaries".

    A .npz with labels instead of boundaries gives the frames where the label changes.
    """
    kind = Path(path).suffix.lower()
    path = existing_file(path, may_be_empty=kind in (".csv", ".txt"))
    if kind == ".json":
        events = read_events(path)
        return BoundaryList(np.asarray(events.boundaries, dtype=np.int64), events.n_frames)
    if kind == ".npz":
        return _from_arrays(path)
    if kind == ".npy":
        return BoundaryList(_whole(load_npy(path), path))
    if kind in (".csv", ".txt"):
        return _from_text(path)
    raise ValueError(f"{path}: boundaries are read from .json, .csv, .txt, .npy and .npz files")


def _from_arrays(path: Path) -> BoundaryList:
    headers = list_npz(path)
    n_frames = (*headers["features"].shape, 1)[0] if "features" in headers else None
    if "boundaries" in headers:
        return BoundaryList(_whole(load_npz(path, ["boundaries"])["boundaries"], path), n_frames)
    if "labels" not in headers:
        raise ValueError(
            f"{path}: holds {', '.join(headers) or 'nothing'}, but neither boundaries nor labels"
        )
    values = np.ravel(load_npz(path, ["labels"])["labels"])
    return BoundaryList(labels_to_boundaries(values), len(values))


def _from_text(path: Path) -> BoundaryList:
    with reading(path, "a text file"), path.open(encoding="utf-8-sig", newline="") as file:
        rows = [row for row in csv.reader(file) if row]
    if rows and "start" in rows[0]:
        short = next((k for k, row in enumerate(rows) if len(row) < len(rows[0])), None)
        if short is not None:
            raise ValueError(f"{path}: row {short} has {len(rows[short])} of {len(rows[0])} cells")
        columns = {name: [row[k] for row in rows[1:]] for k, name in enumerate(rows[0])}
        starts = _whole(columns["start"], path)
        stops = _whole(columns.get("stop", [])[-1:], path)
        return BoundaryList(starts[starts > 0], int(stops[0]) if len(stops) else None)
    if rows and [word.strip().lower() for word in rows[0]] in (["boundary"], ["boundaries"]):
        rows = rows[1:]
    return BoundaryList(_whole([word for row in rows for word in row if word.strip()], path))


def _whole(values: Any, path: Path) -> IntArray:
    words = np.ravel(np.asarray(values)).tolist()
    return np.asarray([_frame_number(word, path) for word in words], dtype=np.int64)


def _frame_number(word: Any, path: Path) -> int:
    try:
        number = float(word)
    except (TypeError, ValueError, OverflowError):
        number = np.nan
    if not number.is_integer():
        raise ValueError(f"{path}: boundaries must be whole frame numbers, not {str(word)[:40]!r}")
    if abs(number) > MOST_FRAMES:
        raise ValueError(f"{path}: frame {number:g} is too large; the limit is {MOST_FRAMES:,}")
    return int(number)
