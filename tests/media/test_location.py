from __future__ import annotations

import io
from datetime import UTC, datetime

import pytest
from PIL import Image
from PIL.TiffImagePlugin import IFDRational
from pillow_heif import register_heif_opener

from dayline.media.exif import exif_location, gps_time
from dayline.media.photos import read_photo_folder
from made_locations import gps_tags, photo_at

register_heif_opener()
PALMA = (39.5696, 2.6502)


def opened(gps: dict[int, object], kind: str = "JPEG") -> Image.Image:
    exif = Image.Exif()
    exif.get_ifd(0x8825).update(gps)
    buffer = io.BytesIO()
    Image.new("RGB", (16, 16)).save(buffer, kind, exif=exif.tobytes())
    return Image.open(buffer)


@pytest.mark.parametrize("kind", ["JPEG", "HEIF", "PNG", "WEBP"])
@pytest.mark.parametrize(
    "place", [PALMA, (-33.8568, 151.2153), (40.6892, -74.0445), (-54.8019, -68.303)]
)
def test_the_location_is_read(kind, place):
    with opened(gps_tags(place), kind) as image:
        assert exif_location(image) == pytest.approx(place, abs=1e-5)


def test_degrees_with_fractions_and_nothing_else_are_read():
    # By hand: 39.5 degrees, and 2 degrees 30.6 minutes are 2.51 degrees.
    tags = {1: "N", 2: (IFDRational(395, 10), IFDRational(0), IFDRational(0)), 3: "E"}
    tags[4] = (IFDRational(2), IFDRational(306, 10), IFDRational(0))
    with opened(tags) as image:
        assert exif_location(image) == pytest.approx((39.5, 2.51))


@pytest.mark.parametrize(
    "change",
    [
        {1: None},
        {1: "X"},
        {2: None},
        {2: (IFDRational(0, 0), IFDRational(0, 0), IFDRational(0, 0))},
        {2: (IFDRational(91), IFDRational(0), IFDRational(0))},
        {2: (IFDRational(90), IFDRational(1), IFDRational(0))},
        {2: (IFDRational(39), IFDRational(61), IFDRational(0))},
        {4: (IFDRational(181), IFDRational(0), IFDRational(0))},
        {4: (IFDRational(2), IFDRational(0), IFDRational(4_000_000_000))},
        {4: None},
        {9: "V"},
        {2: (IFDRational(0),) * 3, 4: (IFDRational(0),) * 3},
    ],
)
def test_impossible_locations_count_as_missing(change):
    tags = {tag: value for tag, value in (gps_tags(PALMA) | change).items() if value is not None}
    with opened(tags) as image:
        assert exif_location(image) is None


def test_the_time_of_the_satellites_is_utc():
    tags = {7: (IFDRational(14), IFDRational(22), IFDRational(335, 10)), 29: "2015:03:12"}
    with opened(tags) as image:
        assert gps_time(image) == datetime(2015, 3, 12, 14, 22, 33, 500_000, tzinfo=UTC).timestamp()


@pytest.mark.parametrize(
    "change",
    [
        {29: "2015:13:12"},
        {29: ""},
        {29: "0000:00:00"},
        {7: (IFDRational(25),) * 3},
        {7: (IFDRational(0, 0),) * 3},
    ],
)
def test_an_impossible_time_of_the_satellites_counts_as_missing(change):
    with opened({7: (IFDRational(1),) * 3, 29: "2015:03:12"} | change) as image:
        assert gps_time(image) is None


def test_photos_of_a_folder_have_their_locations_in_order(tmp_path):
    photo_at(tmp_path / "b.jpg", 60, PALMA)
    photo_at(tmp_path / "a.jpg", 120, None)
    photo_at(tmp_path / "c.jpg", 0, (-1.5, 36.25))
    sequence = read_photo_folder(tmp_path)
    assert sequence.names == ("c.jpg", "b.jpg", "a.jpg")
    assert sequence.locations == (
        pytest.approx((-1.5, 36.25)),
        pytest.approx(PALMA, abs=1e-5),
        None,
    )


def test_a_folder_without_locations_has_none(tmp_path):
    for k in range(3):
        photo_at(tmp_path / f"{k}.jpg", 30 * k, None)
    assert read_photo_folder(tmp_path).locations == ()


def test_the_time_of_the_satellites_gives_the_time_zone(tmp_path):
    photo_at(tmp_path / "a.jpg", 0, PALMA, utc_hours=-2)
    photo_at(tmp_path / "b.jpg", 3660, PALMA, utc_hours=-3)
    sequence = read_photo_folder(tmp_path)
    assert sequence.times[1] - sequence.times[0] == 60
    assert any("from UTC+02:00 to UTC+03:00" in note for note in sequence.notes)
