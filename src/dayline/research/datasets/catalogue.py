"""The data sets of the paper: required files, source, terms, and what a folder contains."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from dayline.research.datasets.annotations import find_groups, read_labeled
from dayline.research.datasets.edub_seg import find_days, load_days
from dayline.research.datasets.motion import MOTION_FOLDERS, find_motion, read_motion


@dataclass(frozen=True)
class DatasetEntry:
    """One data set, and what a folder contains of it.

    Attributes
    ----------
    name, needs, source, terms : str
        Its name, the files it needs, where they come from and their terms of use.
    n_sequences : int
        Number of sequences found.
    problem : str
        The first problem with a file, in one line; empty if there is none.
    """

    name: str
    needs: str
    source: str
    terms: str
    n_sequences: int
    problem: str


LRT = "the repository of Low-Rank Transfer Human Motion Segmentation (L. Wang), folder Datasets"
LIFELOG = (
    "the authors' group at the University of Barcelona (CVUB); InceptionV3 features before pooling,"
    " 2048 numbers"
)


def list_datasets(root: str | Path) -> list[DatasetEntry]:
    """Search a folder for every data set of the paper, and read its files to find problems."""
    root = Path(root)
    if not root.is_dir():
        raise ValueError(f"{root}: no such folder")

    entries = []
    for group, folders in MOTION_FOLDERS.items():
        needs = f"{' or '.join(folders)}/*.mat: features and one label per frame"
        files = find_motion(root, group)
        problem = _first_problem(partial(read_motion, group=group), files)
        entries.append(DatasetEntry(group, needs, LRT, "MIT for the features", len(files), problem))
    for group, folder in (("edub-seg", "EDUB-Seg"), ("edub-seg-desc", "EDUB-SegDesc")):
        place = root / folder
        needs = (
            f"{folder}/images/NAME/*.jpg, GT/GT_NAME.xls (.csv, .txt); optionally features/NAME.npy"
        )
        problem = _first_problem(load_days, [place]) if place.is_dir() else ""
        entries.append(
            DatasetEntry(
                group, needs, LIFELOG, "research; shows people", len(find_days(place)), problem
            )
        )

    groups = find_groups(root)
    files = [path for some in groups.values() for path in some]
    needs = "dev/GROUP/*.npz: features, boundaries, tolerance"
    found = _first_problem(read_labeled, files)
    entries.append(DatasetEntry("dev", needs, "your own sequences", "your own", len(files), found))
    return entries


def _first_problem(read: Callable[[Path], object], paths: list[Path]) -> str:
    for path in paths:
        try:
            read(path)
        except ValueError as error:
            return str(error)
    return ""
