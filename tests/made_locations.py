"""Small made photos that say where and when they were taken."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

from PIL import Image
from PIL.TiffImagePlugin import IFDRational

from made_photos import scene

NINE = datetime(2015, 3, 12, 9, tzinfo=UTC)


def gps_tags(place: tuple[float, float]) -> dict[int, object]:
    latitude, longitude = place
    return {
        1: "N" if latitude >= 0 else "S",
        2: _angle(abs(latitude)),
        3: "E" if longitude >= 0 else "W",
        4: _angle(abs(longitude)),
    }


def _angle(degrees: float) -> tuple[IFDRational, ...]:
    whole, minutes = int(degrees), degrees % 1 * 60
    seconds = round(minutes % 1 * 60 * 1000)
    return IFDRational(whole), IFDRational(int(minutes)), IFDRational(seconds, 1000)


def photo_at(
    path: Path,
    seconds: float,
    place: tuple[float, float] | None,
    *,
    colour: str = "red",
    utc_hours: float | None = None,
) -> Path:
    """Save a photo taken some seconds after nine.

    Its satellites show a time that many hours ahead of its clock.
    """
    exif = Image.Exif()
    moment = NINE + timedelta(seconds=seconds)
    exif.get_ifd(0x8769)[0x9003] = f"{moment:%Y:%m:%d %H:%M:%S}"
    if place is not None:
        exif.get_ifd(0x8825).update(gps_tags(place))
    if utc_hours is not None:
        utc = moment + timedelta(hours=utc_hours)
        exif.get_ifd(0x8825)[7] = tuple(
            IFDRational(part) for part in (utc.hour, utc.minute, utc.second)
        )
        exif.get_ifd(0x8825)[29] = f"{utc:%Y:%m:%d}"
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(scene(colour, int(seconds))).save(path, exif=exif.tobytes(), quality=95)
    return path
