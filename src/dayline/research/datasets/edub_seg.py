"""EDUB-Seg and EDUB-SegDesc: days of a wearable camera, with events annotated by people.

M. Dimiccoli et al.: SR-Clustering: semantic regularized clustering for egocentric photo streams
segmentation. CVIU 155, 2017. M. Bolanos et al.: Egocentric video description based on
temporally-linked sequences. JVCI 50, 2018.

    ROOT/images/NAME/*.jpg                        photos, named by the time they were taken (HHMMSS)
    ROOT/GT/GT_NAME.xls, .csv or .txt             events of the first annotator, "072334 072658"
    each ROOT/GT/GT_NAME_2.xls, ..., GT_NAME_3.xls     the other annotators (or further columns of
    the first file) ROOT/features/NAME.npy, .npz or .csv    precomputed features, a row per
    photo (optional)

Folders may also be named Images, imageSets, Features, InceptionV3, CNNfeatures and
GT/segmentations.
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from dayline.arrays import FloatArray, IntArray
from dayline.features.tables import read_features
from dayline.media.frame import by_name
from dayline.research.datasets.annotations import TRUTH_TYPES, LabeledSequence, read_annotations

IMAGE_FOLDERS = ("images", "Images", "imageSets")
TRUTH_FOLDERS = ("GT/segmentations", "GT", "gt")
FEATURE_FOLDERS = ("features", "InceptionV3", "CNNfeatures", "Features/InceptionV3", "Features")
IMAGE_TYPES = {".jpg", ".jpeg", ".png"}
FEATURE_TYPES = (".npy", ".npz", ".csv", ".parquet")


def find_days(root: str | Path) -> dict[str, list[Path]]:
    """List the ground truth files of every day, the first annotator's first."""
    named = {
        re.sub(r"^GT_", "", path.stem): path
        for path in sorted(_truth_files(Path(root)), key=by_name)
    }
    days: dict[str, list[Path]] = {}
    for name, path in named.items():
        # GT_NAME_2 is a second annotator only if there is a GT_NAME.
        day = re.sub(r"_[2-9]$", "", name)
        if day in named and day != name:
            days.setdefault(day, [named[day]]).append(path)
        else:
            days.setdefault(name, [path])
    return days


def _truth_files(root: Path) -> list[Path]:
    for folder in TRUTH_FOLDERS:
        files = [p for p in (root / folder).glob("*") if p.suffix.lower() in TRUTH_TYPES]
        if files:
            # Some releases contain the same events as .xls, .csv and .txt: one of them is enough.
            best = {
                p.stem: p for p in sorted(files, key=lambda p: -TRUTH_TYPES.index(p.suffix.lower()))
            }
            return list(best.values())
    return []


def load_days(
    root: str | Path, *, group: str = "edub-seg", most: int | None = None
) -> list[LabeledSequence]:
    """Read all days of a folder that have a ground truth, at most `most`."""
    return [load_day(root, name, group=group) for name in list(find_days(root))[:most]]


def load_day(root: str | Path, name: str, *, group: str = "edub-seg") -> LabeledSequence:
    """Read one day: names of photos, features if present, and every annotator's boundaries.

    Parameters
    ----------
    root : str or Path
        See the top of this module for the layout.
    name : str
        For example Subject1_Set1.
    group : str
        Name of the data set.
    """
    root = Path(root)
    truths = find_days(root).get(name)
    if not truths:
        raise ValueError(f"{root}: no ground truth GT_{name} in {' or '.join(TRUTH_FOLDERS)}")
    images = _images(root, name)
    features = _features(root, name)
    if not images:
        raise ValueError(
            f"{root}: no photos of {name} in {' or '.join(IMAGE_FOLDERS)}; the ground truth refers"
            " to their names"
        )
    if features is not None and len(features) != len(images):
        raise ValueError(
            f"{root}: {name} has {len(features)} rows of features but {len(images)} photos"
        )
    annotations: list[IntArray] = []
    for path in truths:
        annotations += read_annotations(path, [image.stem for image in images])
    return LabeledSequence(
        group,
        name,
        features,
        annotations[0],
        annotations=tuple(annotations[1:]),
        images=tuple(images),
    )


def _images(root: Path, name: str) -> list[Path]:
    for folder in IMAGE_FOLDERS:
        found = sorted(
            (p for p in (root / folder / name).glob("*") if p.suffix.lower() in IMAGE_TYPES),
            key=by_name,
        )
        if found:
            return found
    return []


def _features(root: Path, name: str) -> FloatArray | None:
    for folder in FEATURE_FOLDERS:
        for suffix in FEATURE_TYPES:
            path = root / folder / f"{name}{suffix}"
            if path.exists():
                return np.asarray(read_features(path).features)
    return None
