"""Tables of numbers in text files, one row per frame; dates become seconds."""

from __future__ import annotations

import csv
import math
import re
import warnings
from array import array
from collections.abc import Iterable
from contextlib import suppress
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from itertools import chain
from pathlib import Path
from typing import TextIO
from zoneinfo import ZoneInfo

import numpy as np

from dayline.arrays import FloatArray
from dayline.files import UnreadableFileError, reading

TIME_COLUMNS = ("time", "times", "seconds", "timestamp")
DATE_COLUMNS = (*TIME_COLUMNS, "date", "datetime")
"""Columns with these names may hold dates; only those above may hold seconds."""

ISO_DATE = re.compile(r"\d{4}-\d{2}-\d{2}([T ]\d{2}:?\d{2}.*)?")
FIXED_ZONE = re.compile(r"([+-])(\d{2}):?(\d{2})")
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def is_date(text: str) -> bool:
    """Return whether a text is an ISO date, with or without a time of day."""
    return _parsed(text) is not None


def _parsed(text: str) -> tuple[float, float] | None:
    """Return the seconds since 1970 on the clock written, and its offset from UTC or NaN."""
    text = text.strip()
    if not ISO_DATE.fullmatch(text):
        return None
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    offset = moment.utcoffset()
    written = (moment.replace(tzinfo=UTC) - EPOCH).total_seconds()
    return written, math.nan if offset is None else offset.total_seconds()


class DateColumn:
    """Collects the dates of a column; `seconds` gives them on one clock.

    If dates have time zones, all times are those of the first one's clock: a clock that goes back
    in autumn would otherwise run backwards.
    """

    def __init__(self) -> None:
        self._written, self._offsets = array("d"), array("d")

    def add(self, text: str, *, is_missing: bool) -> None:
        """Append one date; raise ValueError, to be completed with its place, if it is none."""
        parsed = (math.nan, math.nan) if is_missing else _parsed(text)
        if parsed is None:
            raise ValueError(f"is {text.strip()[:40]!r}, not a date such as 2024-05-12T16:51:00")
        self._written.append(parsed[0])
        self._offsets.append(parsed[1])

    def seconds(self) -> FloatArray:
        """Return seconds since 1970 or NaN; raise ValueError if only some have a time zone."""
        written, offsets = (
            np.array(values, dtype=np.float64) for values in (self._written, self._offsets)
        )
        known, has_zone = np.isfinite(written), np.isfinite(offsets)
        if not has_zone.any():
            return written
        lacking = np.flatnonzero(known & ~has_zone)
        if len(lacking):
            raise ValueError(
                f"frame {lacking[0]} has a date without a time zone, others have one; write all"
                " alike"
            )
        return np.asarray(written - offsets + offsets[np.argmax(has_zone)])


def first_offset(zone: str, seconds: float) -> float:
    """Return the offset of a time zone from UTC; raise ValueError if it is not known.

    Parameters
    ----------
    zone : str
        "+02:00", or a name such as "Europe/Berlin".
    seconds : float
        Seconds since 1970, UTC.
    """
    offset = (EPOCH + timedelta(seconds=seconds)).astimezone(_zone(zone)).utcoffset()
    return 0.0 if offset is None else offset.total_seconds()


def _zone(name: str) -> tzinfo:
    fixed = FIXED_ZONE.fullmatch(name)
    if fixed:
        offset = timedelta(hours=int(fixed[2]), minutes=int(fixed[3]))
        return timezone(-offset if fixed[1] == "-" else offset)
    if name.upper() == "UTC":
        return UTC
    try:
        return ZoneInfo(name)
    except (OSError, ValueError, LookupError):
        raise ValueError(
            f"unknown time zone {name[:40]!r}; pip install tzdata, or store UTC"
        ) from None


MISSING_WORDS = ("", "na", "n/a", "null", "none")
SPREADSHEET_ERRORS = ("#n/a", "#div/0!", "#value!", "#ref!", "#name?", "#num!", "#null!")
COUNTER_NAMES = ("", "unnamed: 0")
"""Header of the index column that pandas writes."""
MOST_OF_LINE = 10_000
"""Characters of a line in which to look for separators."""
UNIT = re.compile(r"[\s_]*[(\[](s|sec|seconds)[)\]]$")


def read_csv(path: Path) -> tuple[FloatArray, list[str], int | None]:
    """Read a .csv file: its numbers, its column names in lower case, and which column has dates.

    Without a header there are no names. Dates become seconds since 1970. Lines above the table may
    start with #; the last of them is the header if the table has none, as written by NumPy. An
    unnamed first column that counts the rows, as written by pandas, is dropped with a warning.
    """
    with reading(path, "a table of numbers"):
        try:
            with path.open(encoding="utf-8-sig", newline="") as file:
                values, header, dates_at = _read(file)
        except UnicodeDecodeError:
            raise UnreadableFileError(f"{path}: not a text file") from None
        except (ValueError, csv.Error) as error:
            why = _other_separator(path) or error
            raise UnreadableFileError(
                f"{path}: not a table of comma-separated numbers: {why}"
            ) from None
    if values.size == 0:
        raise UnreadableFileError(f"{path}: has a header but no rows")
    if dates_at == 0:
        return values, header, dates_at
    kept, names = _without_counter(values, header, path)
    return kept, names, dates_at if dates_at is None else dates_at - (len(header) - len(names))


def _other_separator(path: Path) -> str:
    """Say what separates the values of the second line, or of the only one, if it is not commas."""
    with path.open(encoding="utf-8-sig") as file:
        line = file.readline(MOST_OF_LINE)
        line = file.readline(MOST_OF_LINE) or line
    for separator, name in ((";", "semicolons"), ("\t", "tabs")):
        if separator in line:
            return (
                f"values are separated by {name}; save it with commas between values and points in"
                " numbers"
            )
    return ""


def _without_counter(
    values: FloatArray, header: list[str], path: Path
) -> tuple[FloatArray, list[str]]:
    n, columns = values.shape
    named = len(header) == columns > 1 and header[0] in COUNTER_NAMES and all(header[1:])
    if not named or not np.array_equal(values[:, 0] - values[0, 0], np.arange(n)):
        return values, header
    warnings.warn(
        f"{path}: dropped the first column, which has no name and counts the rows", stacklevel=3
    )
    return values[:, 1:], header[1:]


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
    header = [] if any(map(is_date, first)) else _header(first)
    above = next(csv.reader(comments[-1:]), [])
    body = rows if header else chain([first], rows)
    if not header and len(above) == len(first) and not any(map(_is_number, above)):
        header = _header(above)
    dates, dates_at = DateColumn(), None
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
            date = row[dates_at]
            try:
                dates.add(date, is_missing=date.strip().lower() in MISSING_WORDS)
            except ValueError as error:
                raise ValueError(f"frame {frame}, column {dates_at} {error}") from None
            row[dates_at] = "0"
        numbers.extend(_floats(row, frame))
    values = np.frombuffer(numbers, dtype=np.float64).reshape(-1, max(n_columns, 1))
    if dates_at is not None:
        values[:, dates_at] = dates.seconds()
    return values, header, dates_at


def _date_column(first: list[str], header: list[str]) -> int | None:
    """Return which column of the first frame has dates; raise ValueError if that is not clear."""
    found = [k for k, word in enumerate(first) if is_date(word)]
    if not found:
        return None
    if len(found) > 1:
        raise ValueError(f"columns {found[0]} and {found[1]} both have dates; keep one")
    at = found[0]
    name = header[at] if len(header) == len(first) else None
    if name not in DATE_COLUMNS and not (at == 0 and name in COUNTER_NAMES):
        said = "there is no header" if name is None else f"its name is {name[:40]!r}"
        raise ValueError(f"column {at} has dates, but {said}; name it time")
    return at


def _is_comment(line: str) -> bool:
    """Return whether a line is a comment rather than a row that starts with a spreadsheet error."""
    cell = line.split(",", maxsplit=1)[0].strip().lower()
    return cell.startswith("#") and cell not in SPREADSHEET_ERRORS


def _floats(row: list[str], frame: int) -> list[float]:
    # Only Python reads 1_5 as fifteen.
    if "_" not in "".join(row):
        # Few rows have missing values, and checking every cell for them would take most of the
        # time.
        with suppress(ValueError):
            return [float(word) for word in row]
    return [_float(word, frame, column) for column, word in enumerate(row)]


def _float(word: str, frame: int, column: int) -> float:
    if word.strip().lower() in MISSING_WORDS:
        return np.nan
    if _is_number(word):
        return float(word)
    raise ValueError(f"frame {frame}, column {column} is {word.strip()[:40].lower()!r}")


def _header(first: list[str]) -> list[str]:
    """Return the column names in the first row, if any; raise ValueError if it may be a frame."""
    numbers = [_is_number(word) for word in first]
    if all(numbers):
        return []
    words = [word.strip().lower() for word in first]
    wrong = first[numbers.index(False)].strip()[:40]
    if any(number and word for number, word in zip(numbers, words, strict=True)):
        raise ValueError(f"its first row mixes numbers and words ({wrong!r})")
    if not _are_names(words):
        raise ValueError(
            f"its first row has neither numbers nor names ({wrong!r}); write nan for a missing"
            " value"
        )
    return [UNIT.sub("", word) for word in words]


def _are_names(words: Iterable[str]) -> bool:
    """Return whether words are column names, not missing values such as "-" in every column."""
    names = [word for word in words if word]
    if any("\n" in name or "\r" in name or name in SPREADSHEET_ERRORS for name in names):
        return False
    return any(c.isalpha() for c in "".join(names)) and (len(names) == 1 or len(set(names)) > 1)


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return word.strip().lower() in MISSING_WORDS
    return "_" not in word
