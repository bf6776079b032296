"""Tables of numbers in text files, one row per frame; dates become seconds."""

from __future__ import annotations

import csv
import math
import re
import warnings
from array import array
from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime
from itertools import chain
from pathlib import Path
from typing import TextIO

import numpy as np

from dayline.arrays import FloatArray
from dayline.files import UnreadableFileError, reading

TIME_COLUMNS = ("time", "times", "seconds", "timestamp")
DATE_COLUMNS = (*TIME_COLUMNS, "date", "datetime")
"""Columns with these names may hold dates; only those above may hold seconds."""

ISO_DATE = re.compile(r"\d{4}-\d{2}-\d{2}([T ]\d{2}:?\d{2}.*)?")
EPOCH = datetime(1970, 1, 1)

MISSING_WORDS = ("", "na", "n/a", "null", "none")
SPREADSHEET_ERRORS = ("#n/a", "#div/0!", "#value!", "#ref!", "#name?", "#num!", "#null!")
COUNTER_NAMES = ("", "unnamed: 0")
"""Header of the index column that pandas writes."""
UNIT = re.compile(r"[\s_]*[(\[](s|sec|seconds)[)\]]$")


def parse_date(text: str) -> datetime | None:
    """Read an ISO date, with or without a time of day; None if a text is none."""
    if ISO_DATE.fullmatch(text.strip()):
        with suppress(ValueError):
            return datetime.fromisoformat(text.strip())
    return None


def seconds_of_dates(texts: Sequence[str]) -> FloatArray:
    """Turn dates, one per frame, into seconds since 1970, NaN where one is missing.

    If dates have time zones, all times are those of the first one's clock: a clock that goes back
    in autumn would otherwise run backwards. Raise ValueError if a text is no date, or if only some
    have a time zone.
    """
    seconds, offsets = np.full(len(texts), math.nan), np.full(len(texts), math.nan)
    for frame, text in enumerate(texts):
        moment = parse_date(text)
        if moment is not None:
            seconds[frame] = (moment.replace(tzinfo=None) - EPOCH).total_seconds()
            offset = moment.utcoffset()
            offsets[frame] = math.nan if offset is None else offset.total_seconds()
        elif text.strip().lower() not in MISSING_WORDS:
            raise ValueError(
                f"frame {frame} is {text.strip()[:40]!r}, not a date such as 2024-05-12T16:51:00"
            )
    has_zone = np.isfinite(offsets)
    if not has_zone.any():
        return seconds

    lacking = np.flatnonzero(np.isfinite(seconds) & ~has_zone)
    if len(lacking):
        raise ValueError(
            f"frame {lacking[0]} has a date without a time zone, others have one; write all alike"
        )
    return np.asarray(seconds - offsets + offsets[np.argmax(has_zone)])


def time_column(names: Sequence[str], path: Path) -> str | None:
    """Return the name of the only column or array of times, if any; raise ValueError if several."""
    if len(names) > 1:
        raise UnreadableFileError(
            f"{path}: has times in {' and '.join(map(repr, names))}; keep one and rename the others"
        )
    return names[0] if names else None


def read_csv(path: Path) -> tuple[FloatArray, FloatArray | None, bool]:
    """Read the features and times in a .csv file, and whether the times were dates.

    Without a header there are no names, and no times. Dates become seconds since 1970. Lines above
    the table may start with #; the last of them is the header if the table has none, as written by
    NumPy. An unnamed first column that counts the rows, as written by pandas, is dropped with a
    warning.
    """
    with reading(path, "a table of numbers"):
        try:
            with path.open(encoding="utf-8-sig", newline="") as file:
                values, header, dates_at = _read(file)
        except UnicodeDecodeError:
            raise UnreadableFileError(f"{path}: not a text file") from None
        except (ValueError, csv.Error) as error:
            raise UnreadableFileError(
                f"{path}: not a table of comma-separated numbers: {error}"
            ) from None
    if values.size == 0:
        raise UnreadableFileError(f"{path}: has a header but no rows")

    n, columns = values.shape
    if dates_at is not None and columns == 1:
        raise UnreadableFileError(f"{path}: has dates but no features")
    if len(header) != columns or columns == 1:
        return values, None, False
    left_out = [k for k, name in enumerate(header) if name in TIME_COLUMNS or k == dates_at]
    time_column([header[k] for k in left_out], path)
    times = values[:, left_out[0]] if left_out else None
    is_unnamed = header[0] in COUNTER_NAMES and all(header[1:]) and 0 not in left_out
    if is_unnamed and np.array_equal(values[:, 0] - values[0, 0], np.arange(n)):
        warnings.warn(
            f"{path}: dropped the first column, which has no name and counts the rows", stacklevel=3
        )
        left_out.append(0)
    features = np.delete(values, left_out, axis=1) if left_out else values
    return features, times, dates_at is not None


def _read(file: TextIO) -> tuple[FloatArray, list[str], int | None]:
    comments = []
    line = file.readline()
    while _is_comment(line):
        comments.append(line.lstrip()[1:])
        line = file.readline()
    # The reader of the standard library rejects cells over 128 kB, so no cell can take unlimited
    # memory.
    rows = csv.reader(chain([line], file))
    first = next(rows, [])
    # Only a frame has dates; names of columns do not.
    header = [] if any(map(parse_date, first)) else _header(first)
    above = next(csv.reader(comments[-1:]), [])
    body = rows if header else chain([first], rows)
    if not header and len(above) == len(first) and not any(map(_is_number, above)):
        header = _header(above)

    dates: list[str] = []
    dates_at = None
    numbers, n_columns, empty = array("d"), 0, 0
    for frame, row in enumerate(body):
        if not any(word.strip() for word in row) and len(row) <= 1:
            # Skipping it would miscount the frames below; at the end of the file it does not
            # matter.
            empty = empty or len(comments) + rows.line_num
            continue
        if empty:
            raise ValueError(f"line {empty} is empty; fill it in or remove it")
        n_columns = n_columns or len(row)
        if len(row) != n_columns:
            raise ValueError(
                f"row {frame + 1} has {len(row)} values, the rows before it {n_columns}"
            )
        dates_at = _date_column(row, header) if frame == 0 else dates_at
        if dates_at is not None:
            dates.append(row[dates_at])
            row[dates_at] = "0"
        numbers.extend(_floats(row, frame))
    values = np.frombuffer(numbers, dtype=np.float64).reshape(-1, max(n_columns, 1))
    if dates_at is not None:
        values[:, dates_at] = seconds_of_dates(dates)
    return values, header, dates_at


def _is_comment(line: str) -> bool:
    """Return whether a line is a comment rather than a row that starts with a spreadsheet error."""
    cell = line.split(",", maxsplit=1)[0].strip().lower()
    return cell.startswith("#") and cell not in SPREADSHEET_ERRORS


def _header(first: list[str]) -> list[str]:
    """Return the column names in the first row, if any; raise ValueError if it may be a frame."""
    numbers = [_is_number(word) for word in first]
    if all(numbers):
        return []
    words = [word.strip().lower() for word in first]
    mixes = any(number and word for number, word in zip(numbers, words, strict=True))
    # Names differ, unlike missing values such as "-" in every column; a quote left open hides rows.
    names = [word for word in words if word]
    is_odd = any("\n" in name or "\r" in name or name in SPREADSHEET_ERRORS for name in names)
    repeats = len(set(names)) == 1 < len(names)
    if mixes or is_odd or repeats or not any(c.isalpha() for c in "".join(names)):
        wrong = _shown(first[numbers.index(False)])
        raise ValueError(
            f"its first row has neither numbers nor names alone ({wrong}); write nan for a missing"
            " value"
        )
    return [UNIT.sub("", word) for word in words]


def _date_column(first: list[str], header: list[str]) -> int | None:
    """Return which column of the first frame has dates; raise ValueError if that is not clear."""
    found = [k for k, word in enumerate(first) if parse_date(word)]
    if not found:
        return None
    if len(found) > 1:
        raise ValueError(f"columns {found[0]} and {found[1]} both have dates; keep one")
    at = found[0]
    name = header[at] if len(header) == len(first) else None
    if name not in DATE_COLUMNS and not (at == 0 and name in COUNTER_NAMES):
        raise ValueError(f"column {at} has dates; name it time")
    return at


def _floats(row: list[str], frame: int) -> list[float]:
    # Only Python reads 1_5 as fifteen.
    if "_" not in "".join(row):
        # Few rows have missing values, and checking every cell for them would take most of the
        # time.
        with suppress(ValueError):
            return [float(word) for word in row]
    wrong = [column for column, word in enumerate(row) if not _is_number(word)]
    if wrong:
        raise ValueError(f"frame {frame}, column {wrong[0]} is {_shown(row[wrong[0]].lower())}")
    return [math.nan if word.strip().lower() in MISSING_WORDS else float(word) for word in row]


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return word.strip().lower() in MISSING_WORDS
    return "_" not in word


def _shown(word: str) -> str:
    """Return a cell for a message, and what to do if it holds another separator."""
    shown = repr(word.strip()[:40])
    for separator, name in ((";", "semicolons"), ("\t", "tabs")):
        if separator in word:
            shown += (
                f": values are separated by {name}; save it with commas between values and points"
                " in numbers"
            )
    return shown
