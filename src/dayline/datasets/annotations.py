"""Events annotated by people: the names of the first and last photo of each."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from dayline.arrays import IntArray
from dayline.io.untrusted import reading

__all__ = ["TRUTH_TYPES", "read_annotations"]

TRUTH_TYPES = (".csv", ".txt", ".xls")
FIRST_ROW, FIRST_COLUMN = 2, 1
"""Sheets have two rows of headings and a column of event numbers."""


def read_annotations(path: str | Path, names: Sequence[str]) -> list[IntArray]:
    """Read the boundaries of every annotator in one file.

    Parameters
    ----------
    path : str or Path
        .csv and .txt hold one annotator, an event per line ("072334,072658" or "072334 072658"); a sheet (.xls)
        holds one annotator per column from the second on, an event per cell from the third row on.
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
        raise ValueError(f'{path}: reading .xls needs xlrd; pip install "dayline[datasets]"') from None
    with reading(path, "an .xls sheet"):
        # By default, xlrd logs to standard output.
        sheet = xlrd.open_workbook(path, logfile=io.StringIO(), on_demand=True).sheet_by_index(0)
        cells = [
            [str(sheet.cell_value(r, c)).strip() for r in range(FIRST_ROW, sheet.nrows)]
            for c in range(FIRST_COLUMN, sheet.ncols)
        ]
    # Other columns may hold comments; those of annotators hold pairs of photo names.
    return [kept for column in cells if (kept := [cell for cell in column if len(_pair(cell)) == 2])]


def _pair(cell: str) -> list[str]:
    return [word for word in re.split(r"[\s,;-]+", cell.strip()) if re.fullmatch(r"\w*\d\w*", word)]


def _boundaries(cells: Iterable[str], places: dict[str, int], path: Path) -> IntArray:
    starts: list[int] = []
    for number, cell in enumerate(cells, start=1):
        pair = _pair(cell)
        if len(pair) != 2:
            raise ValueError(f"{path}: event {number} is {cell!r}; it must name the first and the last photo")
        lost = [name for name in pair if _plain(name) not in places]
        if lost:
            raise ValueError(
                f"{path}: event {number} names photo {lost[0]}, which is missing; repair the file or add the photo"
            )
        start, last = (places[_plain(name)] for name in pair)
        if last < start or (starts and start <= starts[-1]):
            raise ValueError(f"{path}: event {number} ({cell}) is not in the order of the photos")
        starts.append(start)
    return np.asarray(starts[1:], dtype=np.int64)
