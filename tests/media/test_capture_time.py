from __future__ import annotations

from datetime import UTC, datetime

import pytest
from PIL import Image

from dayline.media.exif import date_in_name, exif_time, time_in_name, times_of_day
from dayline.media.frame import CaptureTime


def at(*when: int) -> float:
    return datetime(*when, tzinfo=UTC).timestamp()


@pytest.mark.parametrize(
    ("name", "seconds"),
    [
        ("20150312_142233.jpg", at(2015, 3, 12, 14, 22, 33)),
        ("IMG_20200102_030405.jpg", at(2020, 1, 2, 3, 4, 5)),
        ("trip/20200102030405.jpg", at(2020, 1, 2, 3, 4, 5)),
        ("2015-03-12 14.22.33.png", at(2015, 3, 12, 14, 22, 33)),
        ("Screenshot_2015-03-12-14-22-33.png", at(2015, 3, 12, 14, 22, 33)),
        ("PXL_20210607_080910123.MP.jpg", at(2021, 6, 7, 8, 9, 10) + 0.123),
        ("20150312_142233_004.jpg", at(2015, 3, 12, 14, 22, 33)),
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


def test_a_date_in_a_folder_name():
    assert date_in_name("2015-03-12 Barcelona") == at(2015, 3, 12)
    assert date_in_name("Day1") is None


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


@pytest.mark.filterwarnings("ignore::UserWarning:PIL")
def test_broken_exif_is_no_exif(make_photo, tmp_path):
    content = make_photo("p.jpg", taken="2015:03:12 14:22:33").read_bytes()
    start = content.index(b"Exif\0\0") + 6
    broken = content[:start] + b"II*\0" + b"\xff" * 20 + content[start + 24 :]
    (tmp_path / "p.jpg").write_bytes(broken)
    with Image.open(tmp_path / "p.jpg") as image:
        assert exif_time(image) is None
