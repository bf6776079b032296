from __future__ import annotations

import io
import json
from datetime import UTC, datetime

import pytest
from PIL import Image
from PIL.TiffImagePlugin import IFDRational
from pillow_heif import register_heif_opener

from dayline.media.exif import (
    MOST_BYTES,
    camera_of,
    date_in_file_name,
    date_in_name,
    exif_location,
    exif_time,
    gps_time,
    sidecar_name,
    takeout_time,
    time_in_name,
    times_of_day,
)
from dayline.media.frame import Camera, CaptureTime
from dayline.media.photos import read_photo_folder
from made_locations import gps_tags, photo_at

register_heif_opener()
PALMA = (39.5696, 2.6502)
TEN = (2023, 7, 15, 10, 11, 12)


def at(*when: int) -> float:
    return datetime(*when, tzinfo=UTC).timestamp()


@pytest.mark.parametrize(
    ("name", "seconds"),
    [
        ("20150312_142233.jpg", at(2015, 3, 12, 14, 22, 33)),
        ("20150312_142233_004.jpg", at(2015, 3, 12, 14, 22, 33)),
        ("trip/20200102030405.jpg", at(2020, 1, 2, 3, 4, 5)),
        ("IMG_20230715_101112_1.jpg", at(*TEN)),
        ("MVIMG_20230715_101112.jpg", at(*TEN)),
        ("PXL_20230715_101112345.MP.jpg", at(*TEN) + 0.345),
        ("2023-07-15 10.11.12.png", at(*TEN)),
        ("Screenshot_20230715-101112.png", at(*TEN)),
        ("Screenshot_2023-07-15-10-11-12.png", at(*TEN)),
        ("Bildschirmfoto 2023-07-15 um 10.11.12.png", at(*TEN)),
        ("Screen Shot 2023-07-15 at 10.11.12\u202fAM.png", at(*TEN)),
        ("Screen Shot 2023-07-15 at 12.00.01 AM.png", at(2023, 7, 15, 0, 0, 1)),
        ("signal-2023-07-15-101112.jpg", at(*TEN)),
        ("signal-2023-07-15-10-11-12-345.jpg", at(*TEN) + 0.345),
        ("WhatsApp Image 2023-07-15 at 10.11.12.jpeg", at(*TEN)),
        ("WhatsApp Image 2023-07-15 at 9.11.12 PM (2).jpeg", at(2023, 7, 15, 21, 11, 12)),
        ("photo_7@15-07-2023_10-11-12.jpg", at(*TEN)),
        ("FB_IMG_1489349084.jpg", 1489349084.0),
        ("1489349084250.jpg", 1489349084.25),
    ],
)
def test_times_in_names(name, seconds):
    assert time_in_name(name) == pytest.approx(seconds, abs=1e-6)


@pytest.mark.parametrize(
    "name",
    [
        "IMG_0001.jpg",
        "IMG-20200102-WA0003.jpg",
        "20151312_142233.jpg",
        "20150312_256199.jpg",
        "99999999999.jpg",
    ],
)
def test_what_is_no_time_is_not_read_as_one(name):
    assert time_in_name(name) is None


def test_hours_minutes_and_seconds():
    assert times_of_day(["072334.jpg", "a/072400.JPG", "072400_1.jpg"]) == [
        26614.0,
        26640.0,
        26640.0,
    ]


@pytest.mark.parametrize(
    "names",
    [
        ["000000.jpg", "000025.jpg", "000050.jpg"],
        ["000123.jpg", "000124.jpg", "000125.jpg"],
        ["072334.jpg", "072360.jpg"],
        ["072334.jpg", "072360.jpg", "holiday.jpg"],
        ["000123.jpg", "000124.jpg", "000125.jpg", "holiday.jpg"],
        ["holiday.jpg"],
        [],
    ],
)
def test_counters_and_other_names_are_no_times_of_day(names):
    assert times_of_day(names) is None


def test_one_other_name_leaves_the_times_of_day_of_the_rest():
    assert times_of_day(["072334.jpg", "holiday.jpg", "072400.jpg"]) == [26614.0, None, 26640.0]


def test_dates_in_names():
    assert date_in_name("2015-03-12 Barcelona") == at(2015, 3, 12)
    assert date_in_name("Day1") is None
    assert date_in_file_name("IMG-20230715-WA0003.jpg") == "2023-07-15"


def exif(make_photo, **what) -> CaptureTime | None:
    with Image.open(make_photo("p.jpg", **what)) as image:
        return exif_time(image)


def test_exif_with_sub_seconds_and_offset(make_photo):
    found = exif(make_photo, taken="2015:03:12 14:22:33", subsec="25", offset="-05:30")
    assert found == CaptureTime(at(2015, 3, 12, 14, 22, 33) + 0.25, -19800.0)


@pytest.mark.parametrize(
    "taken",
    [
        "0000:00:00 00:00:00",
        "0001:01:01 00:00:00",
        "9999:12:31 23:59:59",
        "    :  :     :  :  ",
        "2015:02:30 10:00:00",
        "soon",
    ],
)
def test_nonsense_in_exif_is_no_time(make_photo, taken):
    assert exif(make_photo, taken=taken) is None


@pytest.mark.parametrize(
    ("offset", "seconds"), [("+14:00", 50_400.0), ("-12:00", -43_200.0), ("+05:45", 20_700.0)]
)
def test_offsets_of_time_zones_are_read(make_photo, offset, seconds):
    assert exif(make_photo, taken="2015:03:12 14:22:33", offset=offset).offset == seconds


@pytest.mark.parametrize("offset", ["+99:99", "+14:01", "-15:00", "+05:60"])
def test_offsets_that_no_time_zone_has_are_not_used(make_photo, offset):
    found = exif(make_photo, taken="2015:03:12 14:22:33", offset=offset)
    assert found == CaptureTime(at(2015, 3, 12, 14, 22, 33))


def test_other_exif_times_stand_in(make_photo):
    image = Image.new("RGB", (4, 4))
    image.getexif()[0x0132] = "2016:01:02 03:04:05"
    assert exif_time(image) == CaptureTime(at(2016, 1, 2, 3, 4, 5))


@pytest.mark.parametrize(
    ("make", "model", "camera"),
    [
        ("Canon", "Canon EOS 5D", Camera("Canon EOS 5D", "12")),
        ("NIKON CORPORATION", "NIKON D90", Camera("NIKON D90", "12")),
        ("Apple", "iPhone\n12\0", Camera("Apple iPhone 12", "12")),
    ],
)
def test_the_camera_of_a_photo(make, model, camera):
    image = Image.new("RGB", (4, 4))
    exif = image.getexif()
    exif[0x010F], exif[0x0110], exif.get_ifd(0x8769)[0xA431] = make, model, "12"
    assert camera_of(image) == camera


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


def test_the_time_of_the_satellites_gives_the_time_zone(tmp_path):
    photo_at(tmp_path / "a.jpg", 0, PALMA, utc_hours=-2)
    photo_at(tmp_path / "b.jpg", 3660, PALMA, utc_hours=-3)
    sequence = read_photo_folder(tmp_path)
    assert sequence.times[1] - sequence.times[0] == 60
    assert any("from UTC+02:00 to UTC+03:00" in note for note in sequence.notes)


@pytest.mark.parametrize(
    ("photo", "sidecar"),
    [
        ("IMG_1.jpg", "IMG_1.jpg.json"),
        ("IMG_1.jpg", "IMG_1.jpg.supplemental-metadata.json"),
        ("IMG_1.jpg", "IMG_1.jpg.supplemental-me.json"),
        ("IMG_1(1).jpg", "IMG_1.jpg(1).json"),
        ("IMG_1(1).jpg", "IMG_1.jpg.supplemental-metadata(1).json"),
        ("IMG_1-edited.jpg", "IMG_1.jpg.json"),
        ("IMG_1-edited(2).jpg", "IMG_1.jpg(2).json"),
        (f"{'x' * 50}.jpg", f"{'x' * 46}.json"),
    ],
)
def test_names_of_takeout_files(photo, sidecar):
    assert sidecar_name(photo, {sidecar, "metadata.json"}) == sidecar
    assert sidecar_name("IMG_2.jpg", {sidecar}) is None


def test_takeout_files_are_not_trusted(tmp_path):
    path = tmp_path / "a.json"
    path.write_text(json.dumps({"photoTakenTime": {"timestamp": "1689379200"}}), encoding="utf-8")
    assert takeout_time(path) == at(2023, 7, 15)
    for text in (
        "",
        "[]",
        "{",
        '{"photoTakenTime": 3}',
        '{"photoTakenTime": {"timestamp": "1e400"}}',
        "[" * 9000,
    ):
        path.write_text(text, encoding="utf-8")
        assert takeout_time(path) is None
    path.write_text(" " * MOST_BYTES + '{"photoTakenTime": {"timestamp": "1"}}', encoding="utf-8")
    assert takeout_time(path) is None
    assert takeout_time(tmp_path / "none.json") is None
