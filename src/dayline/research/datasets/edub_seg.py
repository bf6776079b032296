"""EDUB-Seg and EDUB-SegDesc: days of a wearable camera, with events annotated by people.

M. Dimiccoli et al.: SR-Clustering: semantic regularized clustering for egocentric photo streams
segmentation. CVIU 155, 2017. M. Bolanos et al.: Egocentric video description based on
temporally-linked sequences. JVCI 50, 2018.

    ROOT/images/NAME/*.jpg                 photos, named by the time they were taken (HHMMSS)
    ROOT/GT/GT_NAME.xls, .csv or .txt      events of the first annotator, "072334 072658" each
    ROOT/GT/GT_NAME_2.xls, GT_NAME_3.xls   other annotators (or further columns of the first file)
    ROOT/features/NAME.npy, .npz or .csv   precomputed features, a row per photo (optional)

Folders may also be named Images, imageSets, Features, InceptionV3, CNNfeatures and
GT/segmentations.
"""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from dayline.arrays import FloatArray, IntArray
from dayline.features.tables import read_features
from dayline.files import reading
from dayline.installation import needs_extra
from dayline.media.frame import by_name
from dayline.research.datasets.annotations import LabeledSequence

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
    positions = {name.lstrip("0"): k for k, name in enumerate(names)}
    return [_boundaries(cells, positions, path) for cells in columns if cells]


def _text_lines(path: Path) -> list[str]:
    with reading(path, "a text file"):
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    return [line for line in lines if line.strip(' \t,"')]


@needs_extra("datasets", "reading .xls")
def _sheet_columns(path: Path) -> list[list[str]]:
    import xlrd

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
    return [word for word in re.split(r'[\s,;"-]+', cell) if re.fullmatch(r"\w*\d\w*", word)]


def _boundaries(cells: Sequence[str], positions: dict[str, int], path: Path) -> IntArray:
    starts: list[int] = []
    for number, cell in enumerate(cells, start=1):
        pair = _pair(cell)
        if len(pair) != 2:
            raise ValueError(
                f"{path}: event {number} is {cell!r}; it must name the first and the last photo"
            )
        lost = [name for name in pair if name.lstrip("0") not in positions]
        if lost:
            raise ValueError(
                f"{path}: event {number} names photo {lost[0]}, which is missing; repair the file"
                " or add the photo"
            )
        start, last = (positions[name.lstrip("0")] for name in pair)
        if last < start or (starts and start <= starts[-1]):
            raise ValueError(f"{path}: event {number} ({cell}) is not in the order of the photos")
        starts.append(start)
    return np.asarray(starts[1:], dtype=np.int64)
