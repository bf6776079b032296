"""Human motion: Keck, MAD, Weizmann and UT as MATLAB files of features and labels.

Published with L. Wang, Z. Ding, Y. Fu: Low-rank transfer human motion segmentation. IEEE TIP 28(2),
2019: one file per sequence, frames in columns, one label per frame.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from dayline.arrays import FloatArray, IntArray
from dayline.events import labels_to_boundaries
from dayline.files import check_allocation, reading
from dayline.media.frame import by_name
from dayline.research.datasets.annotations import LabeledSequence, real_numbers, whole_numbers

MOTION_FOLDERS = {
    "keck": ("Keck_feature",),
    "mad": ("MAD_dataset",),
    "weizmann": ("Weiz_feature", "Weiz_GoogleNet"),
    "ut": ("UT_dataset", "UT_GoogleNet"),
}
"""Folders of each data set; those with the features of the paper's table come first."""

NUMERIC = (
    "double",
    "single",
    "logical",
    *(f"{u}int{n}" for u in ("", "u") for n in (8, 16, 32, 64)),
)
"""Types of arrays in MATLAB files."""


def find_motion(root: str | Path, group: str) -> list[Path]:
    """List the files of one data set, sorted by number; an empty list if its folder is missing.

    Parameters
    ----------
    root : str or Path
        Contains the folders of `MOTION_FOLDERS`, directly or in motion/ or Datasets/.
    group : str
        One of `MOTION_FOLDERS`.
    """
    root = Path(root)
    for parent in (root, root / "motion", root / "Datasets"):
        for name in MOTION_FOLDERS[group]:
            files = sorted((parent / name).glob("*.mat"), key=by_name)
            if files:
                return files
    return []


def load_motion(root: str | Path, group: str, *, most: int | None = None) -> list[LabeledSequence]:
    """Read at most `most` sequences of one data set; none if its folder is missing."""
    return [read_motion(path, group=group) for path in find_motion(root, group)[:most]]


def read_motion(path: str | Path, *, group: str) -> LabeledSequence:
    """Read one sequence: the only matrix in the file, and the labels with one entry per frame.

    Parameters
    ----------
    path : str or Path
        A .mat file.
    group : str
        Name of the data set.
    """
    path = Path(path)
    features, labels = _choose(_read_arrays(path), path)
    return LabeledSequence(group, path.stem, features, labels_to_boundaries(labels), labels)


def _read_arrays(path: Path) -> dict[str, Any]:
    """Return the numeric arrays of a .mat file, versions 4 to 7."""
    from scipy.io import loadmat, whosmat

    with reading(path, "a MATLAB file"):
        declared = {name: shape for name, shape, kind in whosmat(path) if kind in NUMERIC}
        n_bytes = sum(8 * math.prod(shape) for shape in declared.values())
        check_allocation(path, n_bytes, what=" and ".join(declared))
        content = loadmat(path, variable_names=list(declared))
    return {name: content[name] for name in declared}


def _choose(arrays: Mapping[str, Any], path: Path) -> tuple[FloatArray, IntArray]:
    holds = ", ".join(f"{name} {np.shape(a)}" for name, a in arrays.items()) or "nothing"
    matrices = [a for a in arrays.values() if np.ndim(a) == 2 and min(np.shape(a)) > 1]
    if len(matrices) != 1:
        raise ValueError(f"{path}: needs one matrix of features, but contains {holds}")
    matrix = real_numbers(matrices[0], "features", path)
    vectors = [np.ravel(a) for name, a in arrays.items() if "label" in name.lower()]
    # Published files have frames in columns; class sizes are also named "labels", but are shorter.
    for n_frames, features in ((matrix.shape[1], matrix.T), (matrix.shape[0], matrix)):
        for labels in vectors:
            if len(labels) == n_frames:
                return np.ascontiguousarray(features), whole_numbers(labels, "labels", path)
    raise ValueError(f"{path}: needs labels with one entry per frame, but contains {holds}")
