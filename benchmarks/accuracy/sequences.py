"""Sequences with known boundaries, from a folder of data sets.

Layout: ROOT/dev/GROUP/*.npz (features, boundaries, tolerance) and ROOT/motion/{Keck_feature,MAD_dataset}/*.mat.
Any further folder GROUP/*.npz of the same kind can be given.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.io import loadmat

from dayline.events import labels_to_boundaries

MOTION = {
    "keck": ("Keck_feature", "keck_feature", "keck_label"),
    "mad": ("MAD_dataset", "hogFeatureAc", "labelAc"),
}


@dataclass(frozen=True)
class Sequence:
    """One sequence and its truth."""

    group: str
    name: str
    features: np.ndarray
    boundaries: np.ndarray
    tolerance: int


def load_folder(folder: Path) -> list[Sequence]:
    """Read GROUP/*.npz below a folder, one group per sub-folder."""
    return [
        Sequence(path.parent.name, path.stem, q["features"], q["boundaries"].astype(int), int(q["tolerance"]))
        for path in sorted(folder.glob("*/*.npz"))
        for q in [np.load(path, allow_pickle=False)]
    ]


def load_motion(root: Path, group: str, most: int | None = None) -> list[Sequence]:
    """Read Keck or MAD, in the order of their numbers; columns of these files are frames."""
    folder, features, labels = MOTION[group]
    sequences = []
    for path in sorted((root / "motion" / folder).glob("*.mat"), key=_numbers)[:most]:
        content = loadmat(path)
        truth = labels_to_boundaries(content[labels].ravel())
        sequences.append(Sequence(group, path.stem, content[features].T, truth, 5))
    return sequences


def _numbers(path: Path) -> list[int]:
    return [int(digits) for digits in re.findall(r"\d+", path.stem)]


def load_all(root: Path, *, mad: int | None = 10) -> list[Sequence]:
    """Read the development sets, Keck, and the first `mad` sequences of MAD."""
    return load_folder(root / "dev") + load_motion(root, "keck") + load_motion(root, "mad", mad)
