"""When a photo was taken: from its EXIF data, or from its file name."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from PIL import Image

__all__ = ["CaptureTime", "date_in_file_name", "date_in_name", "exif_time", "time_in_name", "times_of_day"]

# (time, sub-seconds, offset from UTC), most reliable first; the last is the time of the last change to the file.
EXIF_TAGS = ((0x9003, 0x9291, 0x9011), (0x9004, 0x9292, 0x9012), (0x0132, 0x9290, 0x9010))
EXIF_FOLDER = 0x8769
EXIF_TIME = re.compile(r"\s*(\d{4})[:/-](\d{2})[:/-](\d{2})[ T](\d{2}):(\d{2}):(\d{2})", re.ASCII)
EXIF_OFFSET = re.compile(r"\s*([+-])(\d{2}):?(\d{2})", re.ASCII)

# 20150312_142233, IMG_20200102_142233, 2015-03-12 14.22.33, PXL_20210101_142233123 (milliseconds),
# signal-2023-07-15-10-11-12-345, "WhatsApp Image 2023-07-15 at 10.11.12 AM", "Bildschirmfoto 2023-07-15 um 10.11.12".
DATE_AND_TIME = re.compile(
    r"(?<!\d)((?:19|20)\d{2})[-_.]?(\d{2})[-_.]?(\d{2})(?:[-_ T.]{0,3}|,? (?:at|um|à|om|kl\.?|alle|a las) )"
    r"(\d{1,2}(?=\D)|\d{2})[-_.:h]?(\d{2})[-_.:m]?(\d{2})(?:-?(\d{3}))?(?!\d)(?:[\s\u202f]?([AP])M\b)?",
    re.ASCII | re.IGNORECASE,
)
# Telegram writes the day first: photo_7@15-07-2023_10-11-12.
DAY_FIRST = re.compile(r"@(\d{2})-(\d{2})-(\d{4})_(\d{2})-(\d{2})-(\d{2})(?!\d)", re.ASCII)
# Seconds or milliseconds since 1970; from 2001 to 2033 they have 10 or 13 digits and start with 1.
EPOCH = re.compile(r"(?<!\d)(1\d{9})(\d{3})?(?!\d)", re.ASCII)
# 072334, and 072334_1, 072334a, 072334 (2) for a second photo in the same second.
TIME_OF_DAY = re.compile(r"(\d{2})(\d{2})(\d{2})(?:[a-z]|[ _-]?\(?\d{1,3}\)?)?", re.ASCII | re.IGNORECASE)
DATE = re.compile(r"(?<!\d)((?:19|20)\d{2})[-_.]?(\d{2})[-_.]?(\d{2})(?!\d)", re.ASCII)
MINUTE = 60.0
# Cameras did not exist earlier, and no clock is deliberately set later; 0001 and 9999 mean "unknown".
FIRST_YEAR, LAST_YEAR = 1800, 2200
LARGEST_OFFSET = 14 * 3600.0
"""Seconds: no time zone is further from UTC."""


@dataclass(frozen=True)
class CaptureTime:
    """A time on the camera's own clock.

    Attributes
    ----------
    seconds : float
        Since 1970, as if the camera's clock showed UTC.
    offset : float or None
        Seconds by which that clock is ahead of UTC, if the photo records it.
    impossible_offset : str
        The recorded offset if no time zone has it, such as "+99:99"; otherwise empty.
    is_utc : bool
        Whether `seconds` is UTC because no clock of a camera is known (Google Takeout). With an `offset`, `seconds`
        is the local time derived from it.
    """

    seconds: float
    offset: float | None = None
    impossible_offset: str = ""
    is_utc: bool = False


def exif_time(image: Image.Image) -> CaptureTime | None:
    """Read when a photo was taken from its EXIF data; None if the time is missing or invalid."""
    try:
        exif = image.getexif()
        tags = {**exif, **exif.get_ifd(EXIF_FOLDER)}
    # Treat broken EXIF as missing: the photo is still usable, and `Order.rule` says which times were used.
    except Exception:
        return None
    for time_tag, part_tag, offset_tag in EXIF_TAGS:
        found = EXIF_TIME.match(_text(tags, time_tag))
        seconds = None if found is None else _seconds(*map(int, found.groups()))
        if seconds is not None:
            return CaptureTime(seconds + _part(_text(tags, part_tag)), *_offset(_text(tags, offset_tag)))
    return None


def time_in_name(name: str) -> float | None:
    """Read a date with a time, or seconds or milliseconds since 1970, from a file's name."""
    stem = _stem(name)
    for found in DATE_AND_TIME.finditer(stem):
        *numbers, thousandths, half = found.groups()
        year, month, day, hour, minute, second = map(int, numbers)
        if half is not None and 1 <= hour <= 12:
            hour = hour % 12 + (12 if half in "Pp" else 0)
        seconds = _seconds(year, month, day, hour, minute, second)
        if seconds is not None:
            return seconds + int(thousandths or 0) / 1000
    for found in DAY_FIRST.finditer(stem):
        day, month, year, *clock = map(int, found.groups())
        seconds = _seconds(year, month, day, *clock)
        if seconds is not None:
            return seconds
    since_1970 = EPOCH.search(stem)
    return None if since_1970 is None else int(since_1970[1]) + int(since_1970[2] or 0) / 1000


def times_of_day(names: Sequence[str]) -> list[float | None] | None:
    """Read names like 072334.jpg as hours, minutes and seconds; None for other names, and if there are no such times.

    Counters (000001, 000002, ...) are not times: consecutive numbers, numbers that would all fall in the first
    minute of the day, or numbers of which one is not a time.
    """
    found = [TIME_OF_DAY.fullmatch(_stem(name)) for name in names]
    clocks = [None if match is None else tuple(map(int, match.groups())) for match in found]
    known = [clock for clock in clocks if clock is not None]
    if not known or any(hour > 23 or minute > 59 or second > 59 for hour, minute, second in known):
        return None
    numbers = {10_000 * hour + 100 * minute + second for hour, minute, second in known}
    counts_up = len(numbers) > 2 and max(numbers) - min(numbers) + 1 == len(numbers)
    if counts_up or (len(names) > 1 and max(numbers) < MINUTE):
        return None
    return [None if clock is None else 3600.0 * clock[0] + MINUTE * clock[1] + clock[2] for clock in clocks]


def date_in_name(name: str) -> float | None:
    """Read a date (2015-03-12, 20150312) from a folder's name, as seconds since 1970."""
    found = DATE.search(name)
    return None if found is None else _seconds(*map(int, found.groups()))


def date_in_file_name(name: str) -> float | None:
    """Read the date of a photo whose name has a date but no time (IMG-20230715-WA0003), as seconds since 1970."""
    return date_in_name(_stem(name))


def _stem(name: str) -> str:
    return name.rsplit("/", 1)[-1].rsplit(".", 1)[0]


def _text(tags: Mapping[int, Any], tag: int) -> str:
    value = tags.get(tag, "")
    return value.decode("ascii", "replace") if isinstance(value, bytes) else str(value)


def _part(digits: str) -> float:
    digits = digits.strip().rstrip("\0")
    return float(f"0.{digits}") if digits.isascii() and digits.isdigit() else 0.0


def _offset(text: str) -> tuple[float | None, str]:
    """Read an offset from UTC; if no time zone has it, return it only as text."""
    found = EXIF_OFFSET.match(text)
    if found is None:
        return None, ""
    sign, hours, minutes = found.groups()
    seconds = 3600.0 * int(hours) + MINUTE * int(minutes)
    if int(minutes) > 59 or seconds > LARGEST_OFFSET:
        return None, f"{sign}{hours}:{minutes}"
    return (-seconds if sign == "-" else seconds), ""


def _seconds(year: int, month: int, day: int, hour: int = 0, minute: int = 0, second: int = 0) -> float | None:
    if not FIRST_YEAR <= year <= LAST_YEAR:
        return None
    try:
        return datetime.combine(date(year, month, day), time(hour, minute, second), UTC).timestamp()
    except ValueError:
        return None
