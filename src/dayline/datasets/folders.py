"""Groups of feature files with boundaries: FOLDER/GROUP/*.npz."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from dayline.datasets.sequence import LabelledSequence, by_number
from dayline.tables import read_arrays

__all__ = ["find_groups", "load_group", "read_labelled"]


def find_groups(root: str | Path) -> dict[str, list[Path]]:
    """List the files of every group below a folder, or below its dev/ where it has one."""
    root = Path(root)
    folder = root / "dev" if (root / "dev").is_dir() else root
    groups = {path.name: sorted(path.glob("*.npz"), key=by_number) for path in sorted(folder.glob("*/"))}
    return {name: files for name, files in groups.items() if files}


def load_group(root: str | Path, group: str, *, most: int | None = None) -> list[LabelledSequence]:
    """Read the sequences of one group, at most `most` of them; none where it is not there."""
    return [read_labelled(path) for path in find_groups(root).get(group, [])[:most]]


def read_labelled(path: str | Path) -> LabelledSequence:
    """Read features (a row per frame), boundaries and, where they are there, tolerance and labels from an .npz."""
    path = Path(path)
    arrays = read_arrays(path)
    missing = [name for name in ("features", "boundaries") if name not in arrays]
    if missing:
        raise ValueError(f"{path}: has no {' and no '.join(missing)}; it holds {', '.join(arrays) or 'nothing'}")
    features, boundaries = np.asarray(arrays["features"]), np.ravel(arrays["boundaries"]).astype(np.int64)
    if features.ndim != 2 or (len(boundaries) and not 0 < boundaries.min() <= boundaries.max() < len(features)):
        raise ValueError(f"{path}: boundaries must lie inside the {len(features)} frames of a matrix of features")
    labels = arrays.get("labels")
    return LabelledSequence(
        path.parent.name,
        path.stem,
        features,
        boundaries,
        labels=None if labels is None or len(labels) != len(features) else np.ravel(labels).astype(np.int64),
        tolerance=int(arrays.get("tolerance", 5)),
    )
