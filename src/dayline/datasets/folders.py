"""Groups of feature files with boundaries: FOLDER/GROUP/*.npz."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from dayline.datasets.sequence import LabelledSequence, real_numbers, whole_numbers
from dayline.frames.names import by_name
from dayline.io.tables import read_arrays

__all__ = ["find_groups", "load_folder", "load_group", "read_labelled"]


def find_groups(root: str | Path) -> dict[str, list[Path]]:
    """List the files of every group in a folder and in its dev/."""
    root = Path(root)
    folders = [*sorted(root.glob("*/")), *sorted((root / "dev").glob("*/"))]
    groups = {path.name: sorted(path.glob("*.npz"), key=by_name) for path in folders}
    return {name: files for name, files in groups.items() if files}


def load_group(root: str | Path, group: str, *, most: int | None = None) -> list[LabelledSequence]:
    """Read the sequences of one group, at most `most`; an empty list if there is no such group."""
    return [read_labelled(path) for path in find_groups(root).get(group, [])[:most]]


def load_folder(root: str | Path) -> list[LabelledSequence]:
    """Read the sequences of all groups in a folder."""
    return [read_labelled(path) for files in find_groups(root).values() for path in files]


def read_labelled(path: str | Path) -> LabelledSequence:
    """Read features (a row per frame), boundaries and, if present, tolerance and labels from an .npz."""
    path = Path(path)
    arrays = read_arrays(path)
    missing = [name for name in ("features", "boundaries") if name not in arrays]
    if missing:
        raise ValueError(f"{path}: has no {' and no '.join(missing)}; it contains {', '.join(arrays) or 'nothing'}")
    features = real_numbers(arrays["features"], "features", path)
    boundaries = whole_numbers(arrays["boundaries"], "boundaries", path)
    if features.ndim != 2 or (len(boundaries) and not 0 < boundaries.min() <= boundaries.max() < len(features)):
        raise ValueError(f"{path}: boundaries must lie inside the {len(features)} frames of a matrix of features")
    if np.any(np.diff(boundaries) <= 0):
        raise ValueError(f"{path}: boundaries must increase")
    labels = np.ravel(arrays.get("labels", []))
    tolerance = whole_numbers(arrays.get("tolerance", 5), "tolerance", path)
    if len(tolerance) != 1:
        raise ValueError(f"{path}: tolerance must be a single number of frames")
    return LabelledSequence(
        path.parent.name,
        path.stem,
        features,
        boundaries,
        labels=None if len(labels) != len(features) else whole_numbers(labels, "labels", path),
        tolerance=int(tolerance[0]),
    )
