"""When, where and with which camera a photo was taken: EXIF data, file name, Google Takeout."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dayline.media.frame import Camera, CaptureTime, Frame, Location, shown_name
from dayline.text import moment

if TYPE_CHECKING:
    from PIL import Image

MAKE, MODEL, SERIAL, USER_COMMENT = 0x010F, 0x0110, 0xA431, 0x9286
LONGEST = 80


def camera_of(image: Image.Image) -> Camera:
    """Read make, model and serial number of the camera from the EXIF data of a photo."""
    tags = _tags(image)
    return _camera(*(_plain_text(tags.get(tag)) for tag in (MAKE, MODEL, SERIAL)))


def _camera(make: str, model: str, serial: str = "") -> Camera:
    # Many cameras repeat the make in the model: "Canon", "Canon EOS 5D".
    whole = (
        model
        if not make or model.casefold().startswith(make.split()[0].casefold())
        else f"{make} {model}"
    )
    return Camera(whole.strip(), serial)


def _plain_text(value: Any) -> str:
    text = value.decode("ascii", "replace") if isinstance(value, bytes) else str(value or "")
    return shown_name(
        " ".join(text.replace("\0", " ").split()).encode("utf-8", "replace").decode()
    )[:LONGEST]


# DateTimeOriginal, DateTimeDigitized and DateTime (the last change to the file), the most reliable
# first, each with its sub-seconds and its offset from UTC.
EXIF_TIME_TAGS = ((0x9003, 0x9291, 0x9011), (0x9004, 0x9292, 0x9012), (0x0132, 0x9290, 0x9010))
EXIF_FOLDER = 0x8769
EXIF_TIME = re.compile(r"(\d{4})[:/-](\d{2})[:/-](\d{2})[ T](\d{2}):(\d{2}):(\d{2})", re.ASCII)
EXIF_OFFSET = re.compile(r"([+-])(\d{2}):?(\d{2})", re.ASCII)

# 20150312_142233, IMG_20200102_142233, 2015-03-12 14.22.33, PXL_20210101_142233123 (milliseconds),
# signal-2023-07-15-10-11-12-345, "WhatsApp Image 2023-07-15 at 10.11.12 AM", "Bildschirmfoto
# 2023-07-15 um 10.11.12".
DATE_AND_TIME = re.compile(
    r"(?<!\d)((?:19|20)\d{2})[-_.]?(\d{2})[-_.]?(\d{2})(?:[-_ T.]{0,3}|,?"
    r" (?:at|um|à|om|kl\.?|alle|a las) )"
    r"(\d{1,2}(?=\D)|\d{2})[-_.:h]?(\d{2})[-_.:m]?(\d{2})(?:-?(\d{3}))?(?!\d)"
    r"(?:[\s\u202f]?([AP])M\b)?",
    re.ASCII | re.IGNORECASE,
)
# Telegram writes the day first: photo_7@15-07-2023_10-11-12.
DAY_FIRST = re.compile(r"@(\d{2})-(\d{2})-(\d{4})_(\d{2})-(\d{2})-(\d{2})(?!\d)", re.ASCII)
# Seconds or milliseconds since 1970; from 2001 to 2033 they have 10 or 13 digits and start with 1.
EPOCH = re.compile(r"(?<!\d)(1\d{9})(\d{3})?(?!\d)", re.ASCII)
# 072334, and 072334_1, 072334a, 072334 (2) for a second photo in the same second.
TIME_OF_DAY = re.compile(
    r"(\d{2})(\d{2})(\d{2})(?:[a-z]|[ _-]?\(?\d{1,3}\)?)?", re.ASCII | re.IGNORECASE
)
DATE = re.compile(r"(?<!\d)((?:19|20)\d{2})[-_.]?(\d{2})[-_.]?(\d{2})(?!\d)", re.ASCII)
MINUTE = 60.0
# Cameras did not exist earlier, and no clock is deliberately set later; 0001 and 9999 mean
# "unknown".
FIRST_YEAR, LAST_YEAR = 1800, 2200
QUARTER_HOUR, ROUNDING = 900.0, 2.0
LARGEST_OFFSET = 14 * 3600.0
"""Seconds: no time zone is further from UTC."""


def exif_time(image: Image.Image) -> CaptureTime | None:
    """Read when a photo was taken from its EXIF data; None if the time is missing or invalid."""
    tags = _tags(image)
    for names in EXIF_TIME_TAGS:
        when, part, offset = (_plain_text(tags.get(name)) for name in names)
        found = EXIF_TIME.match(when)
        seconds = None if found is None else _seconds(*map(int, found.groups()))
        if seconds is not None:
            return CaptureTime(seconds + _part(part), _offset(offset))
    return None


def user_comment(image: Image.Image) -> str:
    """Read the UserComment of a picture, without the eight bytes that name its encoding."""
    value = _tags(image).get(USER_COMMENT)
    return _plain_text(value[8:] if isinstance(value, bytes) and value[5:8] == b"\0\0\0" else value)


def _tags(image: Image.Image) -> Mapping[int, Any]:
    """Return the tags of camera and time; none if they are broken, since the photo is usable."""
    try:
        exif = image.getexif()
        return {**exif, **exif.get_ifd(EXIF_FOLDER)}
    except Exception:
        return {}


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


def own_time(frame: Frame) -> float | None:
    """Return when a photo was taken, by what was read of it or else by its name."""
    return time_in_name(frame.name) if frame.taken is None else frame.taken.seconds


def times_of_day(names: Sequence[str]) -> list[float | None] | None:
    """Read names like 072334.jpg as hours, minutes and seconds; None for names without a time.

    Counters (000001, 000002, ...) are not times: consecutive numbers, numbers that would all fall
    in the first minute of the day, or numbers of which one is not a time.
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
    return [
        None if clock is None else 3600.0 * clock[0] + MINUTE * clock[1] + clock[2]
        for clock in clocks
    ]


def date_in_name(name: str) -> float | None:
    """Read a date (2015-03-12, 20150312) from a folder's name, as seconds since 1970."""
    found = DATE.search(name)
    return None if found is None else _seconds(*map(int, found.groups()))


def date_in_file_name(name: str) -> str | None:
    """Read the date in a name without a time (IMG-20230715-WA0003), as 2023-07-15."""
    seconds = date_in_name(_stem(name))
    return None if seconds is None else str(moment(seconds).date())


def _stem(name: str) -> str:
    return name.rsplit("/", 1)[-1].rsplit(".", 1)[0]


def _part(digits: str) -> float:
    return float(f"0.{digits}") if digits.isascii() and digits.isdigit() else 0.0


def _offset(text: str) -> float | None:
    """Read an offset from UTC; None if no time zone has it."""
    found = EXIF_OFFSET.match(text)
    if found is None:
        return None
    sign, hours, minutes = found.groups()
    seconds = 3600.0 * int(hours) + MINUTE * int(minutes)
    if int(minutes) > 59 or seconds > LARGEST_OFFSET:
        return None
    return -seconds if sign == "-" else seconds


def _seconds(
    year: int, month: int, day: int, hour: int = 0, minute: int = 0, second: int = 0
) -> float | None:
    if not FIRST_YEAR <= year <= LAST_YEAR:
        return None
    try:
        return datetime(year, month, day, hour, minute, second, tzinfo=UTC).timestamp()
    except ValueError:
        return None


GPS_FOLDER = 0x8825
LATITUDE_REF, LATITUDE, LONGITUDE_REF, LONGITUDE, TIME, STATUS, GPS_DATE = 1, 2, 3, 4, 7, 9, 29
GPS_DAY = re.compile(r"(\d{4}):(\d{2}):(\d{2})", re.ASCII)
NULL_ISLAND = 1e-4
"""Degrees: 0, 0 in the Atlantic is what devices write that do not know where they are."""


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
    """Read the UTC time of the satellites in seconds since 1970; None if missing or invalid."""
    tags = _gps_tags(image)
    clock = _three(tags.get(TIME))
    day = GPS_DAY.fullmatch(_plain_text(tags.get(GPS_DATE)))
    midnight = None if day is None else _seconds(*map(int, day.groups()))
    if clock is None or midnight is None:
        return None
    hour, minute, second = clock
    if not (0 <= hour < 24 and 0 <= minute < 60 and 0 <= second < 61):
        return None
    return midnight + 3600.0 * hour + 60.0 * minute + second


def with_utc(time: CaptureTime | None, name: str, utc: float | None) -> CaptureTime | None:
    """Add the UTC time of Takeout or GPS: as the time itself, or as the zone of a local time.

    Parameters
    ----------
    time : CaptureTime or None
        What the header says. If it has an offset from UTC, it is returned as it is.
    name : str
        Name of the file, which may contain a local time.
    utc : float or None
        Seconds since 1970.
    """
    if utc is None or (time is not None and time.offset is not None):
        return time
    local = time_in_name(name) if time is None else time.seconds
    if local is not None:
        offset = round((local - utc) / QUARTER_HOUR) * QUARTER_HOUR
        fits = abs(local - utc - offset) <= ROUNDING and abs(offset) <= LARGEST_OFFSET
        # Google takes local times for UTC if it knows no time zone, so that a difference of zero
        # says nothing.
        if fits and offset:
            if time is None:
                return CaptureTime(local, offset, is_utc=True)
            return replace(time, offset=offset)
    return CaptureTime(utc, is_utc=True) if time is None else time


def _gps_tags(image: Image.Image) -> Mapping[int, Any]:
    try:
        return image.getexif().get_ifd(GPS_FOLDER)
    except Exception:  # as for `_tags`
        return {}


def _degrees(value: Any, letter: str, letters: str, largest: float) -> float | None:
    """Convert degrees, minutes and seconds; some cameras write fractions of the first instead."""
    parts = _three(value)
    if parts is None or letter not in letters or not letter:
        return None
    degrees, minutes, seconds = parts
    if degrees < 0 or not 0 <= minutes <= 60 or not 0 <= seconds <= 60:
        return None
    angle = degrees + minutes / 60 + seconds / 3600
    if angle > largest:
        return None
    return -angle if letter == letters[1] else angle


def _three(value: Any) -> list[float] | None:
    """Return three finite numbers, of which the last may be missing; fractions may be 0/0."""
    if not isinstance(value, tuple | list) or not 1 <= len(value) <= 3:
        return None
    try:
        numbers = [float(part) for part in value]
    except (TypeError, ValueError, ArithmeticError):
        return None
    return [*numbers, 0.0, 0.0][:3] if all(map(isfinite, numbers)) else None


def _letter(value: Any) -> str:
    return _plain_text(value)[:1].upper()


QUICKTIME = "com.apple.quicktime."
FIRST_VIDEO = 347_155_200.0
"""Seconds since 1970 of the year 1981: an earlier time in a video means that it is not known."""

ISO_6709 = re.compile(r"([+-]\d{2}(?:\.\d+)?)([+-]\d{3}(?:\.\d+)?)", re.ASCII)


def video_time(tags: Mapping[str, str], name: str, *, duration: float) -> CaptureTime | None:
    """Read when a video was taken from the tags of its container; None if that is not known.

    Apple writes the local time with its offset. Others write UTC, at the beginning or at the end
    of the recording; many of them also name the file by the local time, which gives the offset.

    Parameters
    ----------
    tags : mapping of str to str
        The tags, by the names that FFmpeg gives them.
    name : str
        Name of the file.
    duration : float
        Seconds that the video lasts.
    """
    text = tags.get(f"{QUICKTIME}creationdate", "")
    found, offset = EXIF_TIME.match(text), _offset(text[-6:].lstrip("0123456789:."))
    seconds = None if found is None else _seconds(*map(int, found.groups()))
    if seconds is not None and offset is not None:
        return CaptureTime(seconds, offset)

    found = EXIF_TIME.match(tags.get("creation_time", ""))
    utc = None if found is None else _seconds(*map(int, found.groups()))
    local = time_in_name(name)
    if utc is None or utc < FIRST_VIDEO:
        return None
    if local is None:
        return CaptureTime(utc, is_utc=True)
    for began in (utc, utc - duration):
        offset = round((local - began) / QUARTER_HOUR) * QUARTER_HOUR
        if abs(local - began - offset) <= ROUNDING and abs(offset) <= LARGEST_OFFSET:
            # Some cameras write their local time as UTC, so that a difference of 0 says nothing.
            return CaptureTime(local, offset or None)
    return CaptureTime(local)


def video_camera(tags: Mapping[str, str]) -> Camera:
    """Read make and model of the phone from the tags of a video."""
    return _camera(*(_plain_text(tags.get(f"{QUICKTIME}{what}")) for what in ("make", "model")))


def video_location(tags: Mapping[str, str]) -> Location | None:
    """Read where a video was taken from its tags; None if that is missing or invalid."""
    text = tags.get(f"{QUICKTIME}location.ISO6709") or tags.get("location", "")
    found = ISO_6709.match(text)
    if found is None:
        return None
    latitude, longitude = map(float, found.groups())
    is_known = max(abs(latitude), abs(longitude)) >= NULL_ISLAND
    is_valid = abs(latitude) <= 90 and abs(longitude) <= 180
    return (latitude, longitude) if is_known and is_valid else None


SUPPLEMENT = ".supplemental-metadata"
LONGEST_NAME = 46
"""Characters before ".json"; Takeout cuts longer names."""

MOST_BYTES = 1_000_000
COPY = re.compile(r"(.*)(\(\d+\))", re.DOTALL)
EDITED = re.compile(
    r"(.*)-(?:edited|bearbeitet|modifié|editado|editada|modificato|bewerkt)", re.DOTALL
)
FIRST, LAST = -5_364_662_400, 7_258_118_400
"""Seconds since 1970 of the years 1800 and 2200."""


def sidecar_name(photo: str, names: Collection[str]) -> str | None:
    """Return the name of the .json file that Takeout wrote for a photo, or None.

    IMG_1.jpg has IMG_1.jpg.json or IMG_1.jpg.supplemental-metadata.json, whose names are cut to 46
    characters before ".json"; IMG_1(1).jpg has IMG_1.jpg(1).json; IMG_1-edited.jpg has that of
    IMG_1.jpg.

    Parameters
    ----------
    photo : str
        File name of the photo.
    names : collection of str
        Names of the .json files in its folder.
    """
    stem, dot, suffix = photo.rpartition(".")
    copy = COPY.fullmatch(stem)
    stem, number = (stem, "") if copy is None else copy.groups()
    tries = [(photo, ""), (stem + dot + suffix, number)]
    edited = EDITED.fullmatch(stem)
    if edited is not None:
        tries.append((edited[1] + dot + suffix, number))
    for name, number in tries:
        longer = (name + SUPPLEMENT[:length] for length in range(len(SUPPLEMENT), -1, -1))
        for kept in (*longer, name[:LONGEST_NAME]):
            if f"{kept}{number}.json" in names:
                return f"{kept}{number}.json"
    return None


def takeout_time(path: Path) -> float | None:
    """Read when a photo was taken, in seconds since 1970 (UTC); None if the file does not say it.

    Parameters
    ----------
    path : Path
        The .json file, which anyone may have written: it may be large, damaged or something else.
    """
    with suppress(OSError, ValueError, TypeError, KeyError, RecursionError):
        with path.open("rb") as file:
            text = file.read(MOST_BYTES + 1)
        if len(text) > MOST_BYTES:
            return None
        seconds = float(json.loads(text)["photoTakenTime"]["timestamp"])
        return seconds if FIRST <= seconds <= LAST else None
    return None
