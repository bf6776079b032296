"""Dates in tables as seconds on the clock that was written: 2024-05-12T16:51:00, with or without a time zone."""

from __future__ import annotations

import math
import re
from array import array
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from zoneinfo import ZoneInfo

import numpy as np

from dayline.arrays import FloatArray

__all__ = ["DATE_COLUMNS", "TIME_COLUMNS", "DateColumn", "first_offset", "is_date"]

TIME_COLUMNS = ("time", "times", "seconds", "timestamp")
DATE_COLUMNS = (*TIME_COLUMNS, "date", "datetime")
"""Columns with these names may hold dates; only those above may hold seconds."""

ISO_DATE = re.compile(r"\d{4}-\d{2}-\d{2}([T ]\d{2}:?\d{2}.*)?")
FIXED_ZONE = re.compile(r"([+-])(\d{2}):?(\d{2})")
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def is_date(text: str) -> bool:
    """Whether a text is an ISO date, with or without a time of day."""
    return _parsed(text) is not None


def _parsed(text: str) -> tuple[float, float] | None:
    """Return the seconds since 1970 on the clock written, and its offset from UTC (NaN if none is given)."""
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

    If dates have time zones, all times are those of the first one's clock: a clock that goes back in autumn would
    otherwise run backwards.
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
        """Return seconds since 1970, NaN where a date is missing; raise ValueError if only some have a time zone."""
        written, offsets = (np.array(values, dtype=np.float64) for values in (self._written, self._offsets))
        known, has_zone = np.isfinite(written), np.isfinite(offsets)
        if not has_zone.any():
            return written
        lacking = np.flatnonzero(known & ~has_zone)
        if len(lacking):
            raise ValueError(f"frame {lacking[0]} has a date without a time zone, others have one; write all alike")
        return np.asarray(written - offsets + offsets[np.argmax(has_zone)])


def first_offset(zone: str, seconds: float) -> float:
    """Return the offset of a time zone from UTC in seconds, at a time; raise ValueError if the zone is not known.

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
        raise ValueError(f"unknown time zone {name[:40]!r}; pip install tzdata, or store UTC") from None
