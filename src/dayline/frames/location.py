"""Where a photo was taken: from its EXIF data."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from math import isfinite
from typing import Any, TypeAlias

from PIL import Image

__all__ = ["Location", "exif_location", "gps_time"]

GPS_FOLDER = 0x8825
LATITUDE_REF, LATITUDE, LONGITUDE_REF, LONGITUDE, TIME, STATUS, DATE = 1, 2, 3, 4, 7, 9, 29
FIRST_YEAR, LAST_YEAR = 1980, 2200
NULL_ISLAND = 1e-4
"""Degrees: 0, 0 in the Atlantic is what devices write that do not know where they are."""

Location: TypeAlias = tuple[float, float]
"""Latitude and longitude in degrees, north and east positive."""


def exif_location(image: Image.Image) -> Location | None:
    """Read where a photo was taken; None if that is missing or invalid."""
    tags = _gps_tags(image)
    if _letter(tags.get(STATUS)) == "V":  # void: the receiver had no fix
        return None
    latitude = _degrees(tags.get(LATITUDE), _letter(tags.get(LATITUDE_REF)), "NS", 90.0)
    longitude = _degrees(tags.get(LONGITUDE), _letter(tags.get(LONGITUDE_REF)), "EW", 180.0)
    if latitude is None or longitude is None or max(abs(latitude), abs(longitude)) < NULL_ISLAND:
        return None
    return latitude, longitude


def gps_time(image: Image.Image) -> float | None:
    """Read the UTC time of the satellites in seconds since 1970; None if it is missing or invalid."""
    tags = _gps_tags(image)
    clock = _numbers(tags.get(TIME), 3)
    try:
        midnight = datetime.strptime(_text(tags.get(DATE)), "%Y:%m:%d").replace(tzinfo=UTC)
    except ValueError:
        return None
    if clock is None or not FIRST_YEAR <= midnight.year <= LAST_YEAR:
        return None
    hour, minute, second = clock
    if not (0 <= hour < 24 and 0 <= minute < 60 and 0 <= second < 61):
        return None
    return midnight.timestamp() + 3600.0 * hour + 60.0 * minute + second


def _gps_tags(image: Image.Image) -> Mapping[int, Any]:
    try:
        return image.getexif().get_ifd(GPS_FOLDER)
    # Broken EXIF counts as missing, as for times.
    except Exception:
        return {}


def _degrees(value: Any, letter: str, letters: str, largest: float) -> float | None:
    """Convert degrees, minutes and seconds; some cameras leave out the last ones and use fractions instead."""
    parts = _numbers(value, 3)
    if parts is None or letter not in letters or not letter:
        return None
    degrees, minutes, seconds = parts
    if degrees < 0 or not 0 <= minutes <= 60 or not 0 <= seconds <= 60:
        return None
    angle = degrees + minutes / 60 + seconds / 3600
    if angle > largest:
        return None
    return -angle if letter == letters[1] else angle


def _numbers(value: Any, count: int) -> list[float] | None:
    """Return exactly this many finite numbers; fractions may have been written as 0/0."""
    if not isinstance(value, tuple | list) or not 1 <= len(value) <= count:
        return None
    try:
        numbers = [float(part) for part in value]
    except (TypeError, ValueError, ArithmeticError):
        return None
    return [*numbers, *[0.0] * (count - len(numbers))] if all(map(isfinite, numbers)) else None


def _letter(value: Any) -> str:
    return _text(value)[:1].upper()


def _text(value: Any) -> str:
    text = value.decode("ascii", "replace") if isinstance(value, bytes) else str(value or "")
    return text.strip("\0 ")
