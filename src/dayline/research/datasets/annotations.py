"""Sequences with events annotated by people."""

from __future__ import annotations

import csv
import hashlib
import io
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from dayline.arrays import FloatArray, IntArray
from dayline.features.numpy_files import load_npz
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


TRUTH_TYPES = (".csv", ".txt", ".xls")
FIRST_ROW, FIRST_COLUMN = 2, 1
"""Sheets have two rows of headings and a column of event numbers."""


def read_annotations(path: str | Path, names: Sequence[str]) -> list[IntArray]:
    """Read the boundaries of every annotator in one file.

    Parameters
    ----------
    path : str or Path
        .csv and .txt hold one annotator, an event per line ("072334,072658" or "072334 072658"); a
        sheet (.xls) holds one annotator per column from the second on, an event per cell from the
        third row on.
    names : sequence of str
        Names of the photos without suffix, in order. Leading zeros are ignored.

    Returns
    -------
    list of ndarray of int
        First frame of every event but the first, for each annotator.
    """
    path = Path(path)
    columns = _sheet_columns(path) if path.suffix.lower() == ".xls" else [_text_lines(path)]
    if not any(columns):
        raise ValueError(f"{path}: contains no events")
    places = {_plain(name): k for k, name in enumerate(names)}
    return [_boundaries(cells, places, path) for cells in columns if cells]


def _plain(name: str) -> str:
    return name.strip().lstrip("0") or "0"


def _text_lines(path: Path) -> list[str]:
    with reading(path, "a text file"), path.open(encoding="utf-8-sig", newline="") as file:
        return [" ".join(row) for row in csv.reader(file) if any(cell.strip() for cell in row)]


def _sheet_columns(path: Path) -> list[list[str]]:
    try:
        import xlrd
    except ModuleNotFoundError:
        raise ValueError(
            f'{path}: reading .xls needs xlrd; pip install "dayline[datasets]"'
        ) from None
    with reading(path, "an .xls sheet"):
        # By default, xlrd logs to standard output.
        sheet = xlrd.open_workbook(path, logfile=io.StringIO(), on_demand=True).sheet_by_index(0)
        cells = [
            [str(sheet.cell_value(r, c)).strip() for r in range(FIRST_ROW, sheet.nrows)]
            for c in range(FIRST_COLUMN, sheet.ncols)
        ]
    # Other columns may hold comments; those of annotators hold pairs of photo names.
    return [
        kept for column in cells if (kept := [cell for cell in column if len(_pair(cell)) == 2])
    ]


def _pair(cell: str) -> list[str]:
    return [word for word in re.split(r"[\s,;-]+", cell.strip()) if re.fullmatch(r"\w*\d\w*", word)]


def _boundaries(cells: Iterable[str], places: dict[str, int], path: Path) -> IntArray:
    starts: list[int] = []
    for number, cell in enumerate(cells, start=1):
        pair = _pair(cell)
        if len(pair) != 2:
            raise ValueError(
                f"{path}: event {number} is {cell!r}; it must name the first and the last photo"
            )
        lost = [name for name in pair if _plain(name) not in places]
        if lost:
            raise ValueError(
                f"{path}: event {number} names photo {lost[0]}, which is missing; repair the file"
                " or add the photo"
            )
        start, last = (places[_plain(name)] for name in pair)
        if last < start or (starts and start <= starts[-1]):
            raise ValueError(f"{path}: event {number} ({cell}) is not in the order of the photos")
        starts.append(start)
    return np.asarray(starts[1:], dtype=np.int64)


def find_groups(root: str | Path) -> dict[str, list[Path]]:
    """List the files of every group in a folder and in its dev/."""
    root = Path(root)
    folders = [*sorted(root.glob("*/")), *sorted((root / "dev").glob("*/"))]
    groups = {path.name: sorted(path.glob("*.npz"), key=by_name) for path in folders}
    return {name: files for name, files in groups.items() if files}


def load_group(root: str | Path, group: str, *, most: int | None = None) -> list[LabeledSequence]:
    """Read the sequences of one group, at most `most`; an empty list if there is no such group."""
    return [read_labeled(path) for path in find_groups(root).get(group, [])[:most]]


def load_folder(root: str | Path) -> list[LabeledSequence]:
    """Read the sequences of all groups in a folder."""
    return [read_labeled(path) for files in find_groups(root).values() for path in files]


def read_labeled(path: str | Path) -> LabeledSequence:
    """Read features, boundaries and, if present, tolerance and labels from an .npz file."""
    path = existing_file(path)
    arrays = load_npz(path)
    missing = [name for name in ("features", "boundaries") if name not in arrays]
    if missing:
        raise ValueError(
            f"{path}: has no {' and no '.join(missing)}; it contains"
            f" {', '.join(arrays) or 'nothing'}"
        )
    features = real_numbers(arrays["features"], "features", path)
    boundaries = whole_numbers(arrays["boundaries"], "boundaries", path)
    if features.ndim != 2 or (
        len(boundaries) and not 0 < boundaries.min() <= boundaries.max() < len(features)
    ):
        raise ValueError(
            f"{path}: boundaries must lie inside the {len(features)} frames of a matrix of features"
        )
    if np.any(np.diff(boundaries) <= 0):
        raise ValueError(f"{path}: boundaries must increase")
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
