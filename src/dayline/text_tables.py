"""Tables of numbers in text files: one row per frame, values separated by commas."""

from __future__ import annotations

import csv
import re
import warnings
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from dayline.arrays import FloatArray

__all__ = ["read_csv"]

MISSING_WORDS = ("", "na", "n/a", "null", "none")
COUNTER_NAMES = ("", "unnamed: 0")
"""How pandas heads the column of its index."""
UNIT = re.compile(r"[\s_]*[(\[](s|sec|seconds)[)\]]$")


def read_csv(path: Path) -> tuple[FloatArray, list[str]]:
    """Read the numbers of a .csv file and the names of its columns, in lower case; none where it has no header.

    Lines above the table may begin with #; the last of them is the header where the table has none, as NumPy writes
    it. A first column without a name that counts the rows, as pandas writes it, is left out with a warning.
    """
    try:
        header, skipped = _head(path)
        _refuse_gaps(path, skipped)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # of empty lines, and of a header alone, which is said below
            rows = np.loadtxt(
                path,
                delimiter=",",
                quotechar='"',
                comments=None,
                skiprows=skipped,
                ndmin=2,
                encoding="utf-8-sig",
                dtype=str,
            )
        rows = np.char.lower(np.char.strip(rows))
        values = _floats(np.where(np.isin(rows, MISSING_WORDS), "nan", rows))
    except UnicodeDecodeError:
        raise ValueError(f"{path}: not a text file") from None
    except (ValueError, csv.Error) as error:
        raise ValueError(f"{path}: not a table of numbers separated by commas: {_in_our_words(error)}") from None
    if values.size == 0:
        raise ValueError(f"{path}: has a header and no rows")
    return _without_counter(values, header, path)


def _without_counter(values: FloatArray, header: list[str], path: Path) -> tuple[FloatArray, list[str]]:
    n, columns = values.shape
    named = len(header) == columns > 1 and header[0] in COUNTER_NAMES and all(header[1:])
    if not named or not np.array_equal(values[:, 0] - values[0, 0], np.arange(n)):
        return values, header
    warnings.warn(f"{path}: its first column has no name and counts the rows; it is left out", stacklevel=3)
    return values[:, 1:], header[1:]


def _floats(words: NDArray[np.str_]) -> FloatArray:
    """Turn words into numbers, or name the first that is none."""
    try:
        return words.astype(np.float64)
    except ValueError:
        row, column = next(at for at, word in np.ndenumerate(words) if not _is_number(str(word)))
        raise ValueError(f"frame {row}, column {column} is {str(words[row, column])[:40]!r}") from None


def _head(path: Path) -> tuple[list[str], int]:
    """Names of the columns, and how many lines stand above the first row of numbers."""
    comments = []
    with path.open(encoding="utf-8-sig", newline="") as file:
        line = file.readline()
        while line.lstrip().startswith("#"):
            comments.append(line.lstrip()[1:])
            line = file.readline()
    first, above = (next(csv.reader([text]), []) for text in (line, comments[-1] if comments else ""))
    header = _header(first)
    if header:
        return header, len(comments) + 1
    is_header = len(above) == len(first) and not any(map(_is_number, above))
    return _header(above) if is_header else [], len(comments)


def _refuse_gaps(path: Path, skipped: int) -> None:
    """Refuse an empty line between others: NumPy would pass over it, and frames after it would be miscounted."""
    empty = 0
    with path.open(encoding="utf-8-sig") as file:
        for number, line in enumerate(file, start=1):
            if line.strip() and empty:
                raise ValueError(f"line {empty} is empty; fill it in or take it out")
            if number > skipped and not line.strip():
                empty = empty or number


def _header(first: list[str]) -> list[str]:
    """Names of the columns, where the first row holds names; half of each is refused."""
    numbers = [_is_number(word) for word in first]
    if all(numbers):
        return []
    if any(number and word.strip() for number, word in zip(numbers, first, strict=True)):
        wrong = first[numbers.index(False)]
        raise ValueError(f"its first row mixes numbers and words ({wrong.strip()[:40]!r})")
    return [UNIT.sub("", word.strip().lower()) for word in first]


def _in_our_words(error: Exception) -> str:
    """Say of a row that it is shorter or longer than the others, without NumPy's advice."""
    ragged = re.search(r"changed from (\d+) to (\d+) at row (\d+)", str(error))
    if ragged is None:
        return str(error)
    usual, other, row = ragged.groups()
    return f"row {row} has {other} values, the rows before it {usual}"


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return word.strip().lower() in MISSING_WORDS
    return True
