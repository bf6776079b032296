from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from PIL import Image

from dayline.media.clocks import clocks_of_most, records_zone
from dayline.media.frame import CaptureTime, Frame
from dayline.media.group_days import (
    clocks_to_compare,
    day_numbers,
    day_text,
    group_by_day,
    photo_times,
    with_camera_clocks,
)
from dayline.media.order import in_local_time, in_order, time_zone
from dayline.media.photos import (
    photo_sequence,
    read_photo_folder,
    read_photos,
    with_given_offsets,
    without_copies,
)

JULY_15 = 1_689_379_200.0  # 2023-07-15 00:00:00
HOUR = 3600.0
DAY = 24 * HOUR


def days(*hours: float) -> list[str]:
    """The dates of photos, given in hours since the midnight that begins 15 July."""
    return [day_text(int(n)) for n in day_numbers([JULY_15 + HOUR * h for h in hours])]


def test_a_party_that_ends_at_three_belongs_to_its_evening():
    assert days(20, 23.5, 24.5, 27, 34) == ["2023-07-15"] * 4 + ["2023-07-16"]


def test_an_early_start_belongs_to_the_day_that_follows():
    assert days(20, 28.5, 29, 30) == ["2023-07-15"] + ["2023-07-16"] * 3
    assert days(28.5, 29) == ["2023-07-16"] * 2


def test_without_a_pause_at_night_the_day_begins_at_four():
    every_half_hour = [h / 2 for h in range(16, 80)]
    found = days(*every_half_hour)
    assert found.count("2023-07-15") == 2 * 20
    assert found[40] == "2023-07-16"


def test_midnight_alone_does_not_end_a_day():
    assert days(22, 23.9, 24.1, 25) == ["2023-07-15"] * 4


def test_photos_with_a_date_only_follow_those_of_their_day_by_number():
    names = [
        "IMG-20230715-WA0010.jpg",
        "IMG-20230715-WA0009.jpg",
        "IMG-20230716-WA0001.jpg",
        *"abcd",
    ]
    clock = [JULY_15 + 9 * HOUR, JULY_15 + 27 * HOUR, JULY_15 + 33 * HOUR, JULY_15 + 34 * HOUR]
    taken = [None, None, None, *map(CaptureTime, clock)]
    frames, _, notes = in_order(
        [Frame(name, Path(name), taken=t) for name, t in zip(names, taken, strict=True)]
    )
    assert [f.name for f in frames] == ["a", "b", names[1], names[0], "c", "d", names[2]]
    assert [f.time for f in frames] == [*clock[:2], None, None, *clock[2:], None]
    assert [f.date for f in frames if f.time is None] == ["2023-07-15"] * 2 + ["2023-07-16"]
    assert (
        "3 of 7 photos have a date but no time in their names (first IMG-20230715-WA0009.jpg)"
        in notes[0]
    )


def test_two_folders_of_one_day_are_one_day(make_photo, tmp_path):
    for k in range(3):
        make_photo(f"A/{k}.jpg", taken=f"2023:07:15 10:0{k}:00")
        make_photo(f"B/{k}.jpg", taken=f"2023:07:15 10:0{k}:30", grey=90)
    ((name, group),), notes = group_by_day(read_photos(tmp_path))
    assert (name, len(group.frames), group.root, notes) == ("2023-07-15", 6, tmp_path, ())


def test_folders_that_are_days_keep_their_names(make_photo, tmp_path):
    make_photo("beach/a.jpg", taken="2023:07:16 10:00:00")
    make_photo("arrival/a.jpg", taken="2023:07:15 10:00:00")
    make_photo("undated/a.jpg")
    groups, _ = group_by_day(read_photos(tmp_path))
    assert [(name, group.root.name, group.frames[0].name) for name, group in groups] == [
        (name, name, "a.jpg") for name in ("arrival", "beach", "undated")
    ]


def test_a_photo_without_a_time_stays_with_the_times_of_day_of_its_folder(make_photo, tmp_path):
    for name in ("A 2023-07-15/100000.jpg", "A 2023-07-15/100100.jpg", "A 2023-07-15/view.jpg"):
        make_photo(name)
    make_photo("B/a.jpg", taken="2023:07:15 10:02:00")
    photos = read_photos(tmp_path)
    ((name, group),), notes = group_by_day(photos)
    assert (name, len(group.frames), notes) == ("2023-07-15", 4, ())
    assert photo_times(photos)[1] == [True, True, False, True]


def test_a_folder_of_several_days_is_split_and_undated_photos_stay_together(make_photo, tmp_path):
    make_photo("all/a.jpg", taken="2023:07:16 10:00:00")
    make_photo("all/b.jpg", taken="2023:07:15 10:00:00")
    make_photo("all/IMG-20230716-WA0001.jpg")
    make_photo("old/a.jpg")
    (tmp_path / "all" / "zero.jpg").touch()
    groups, notes = group_by_day(read_photos(tmp_path))
    assert [(name, len(group.frames)) for name, group in groups] == [
        ("2023-07-15", 1),
        ("2023-07-16", 2),
        ("old", 1),
    ]
    assert [group.skipped[0].name for _, group in groups if group.skipped] == ["all/zero.jpg"]
    assert notes == (
        (
            "old: 1 photo without a date cannot be assigned to a day; this folder has a result of"
            " its own"
        ),
    )


def test_a_file_that_cannot_be_read_is_named_once(make_photo, tmp_path):
    make_photo("a/a.jpg", taken="2023:07:16 10:00:00")
    make_photo("a/b.jpg", taken="2023:07:15 10:00:00")
    (tmp_path / "c").mkdir()
    for name in ("c/zero.jpg", "zero.jpg"):
        (tmp_path / name).touch()
    groups, notes = group_by_day(read_photos(tmp_path))
    lost = [file.name for _, group in groups for file in group.skipped]
    # The largest day has one photo, and is of use with one such file at most.
    assert lost == ["c/zero.jpg"]
    assert notes == ("1 more file cannot be read (first zero.jpg: empty file)",)


def test_files_that_cannot_be_read_are_in_the_day_beside_them(make_photo, tmp_path):
    """No more than the photos of a day; what is left is in the largest day."""
    for k, day in enumerate((15, 16, 16, 16)):
        make_photo(f"p{k}.jpg", taken=f"2023:07:{day} 10:00:00")
    lost = ("p0a.jpg", "p0b.jpg", "p2a.jpg")
    for name in (*lost, "gone/x.jpg"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    groups, notes = group_by_day(read_photos(tmp_path))
    assert [[file.name for file in group.skipped] for _, group in groups] == [
        ["p0a.jpg"],
        ["p2a.jpg", "gone/x.jpg", "p0b.jpg"],
    ]
    assert notes == ()


def test_folders_that_a_camera_makes_are_split_by_day_but_never_give_their_names(
    make_photo, tmp_path
):
    make_photo("100CANON/a.jpg", taken="2023:07:15 10:00:00")
    make_photo("101CANON/a.jpg", taken="2023:07:16 10:00:00")
    groups, _ = group_by_day(read_photos(tmp_path))
    assert [name for name, _ in groups] == ["2023-07-15", "2023-07-16"]


def test_a_file_that_is_there_twice_is_used_once(make_photo, tmp_path):
    first = make_photo("Photos from 2023/IMG_2.jpg", taken="2023:07:15 10:00:00")
    make_photo("Photos from 2023/IMG_10.jpg", taken="2023:07:15 10:00:30", grey=90)
    (tmp_path / "Holiday").mkdir()
    shutil.copy(first, tmp_path / "Holiday" / "IMG_2.jpg")
    photos = without_copies(read_photos(tmp_path))
    assert sorted(frame.name for frame in photos.frames) == [
        "Holiday/IMG_2.jpg",
        "Photos from 2023/IMG_10.jpg",
    ]
    first_copy = (
        "1 file is a copy of another (first Photos from 2023/IMG_2.jpg, of Holiday/IMG_2.jpg)"
    )
    assert photos.notes[0] == f"{first_copy}; each photo is used once"
    # The same bytes at another time are another photo.
    make_photo("x/20230715_100000.png")
    make_photo("x/20230715_100030.png")
    assert len(without_copies(read_photos(tmp_path / "x")).frames) == 2


def with_camera(path, *, taken, model=""):
    exif = Image.Exif()
    exif[0x0110], exif.get_ifd(0x8769)[0x9003] = model, taken
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.new("RGB", (16, 12)).save(path, exif=exif.tobytes())


def test_cameras_differ_by_model_and_by_folders_filled_at_the_same_time(tmp_path):
    for hour in (10, 12):
        taken = f"2023:07:15 {hour}:00:00"
        with_camera(tmp_path / "A" / f"{hour}.jpg", taken=taken)
        with_camera(tmp_path / "B" / f"{hour}.jpg", taken=taken)
        with_camera(tmp_path / "B" / f"p{hour}.jpg", model="Phone", taken=taken)
        with_camera(tmp_path / "later" / f"{hour}.jpg", taken=taken.replace("07:15", "07:17"))
    named = {frame.name: frame.clock for frame in with_camera_clocks(read_photos(tmp_path)).frames}
    assert named["B/p10.jpg"] == "Phone"
    assert named["B/10.jpg"] == "unknown camera in B"
    assert (
        named["A/10.jpg"] == named["later/12.jpg"] == "unknown camera in A"
    )  # one camera, at another time


def test_one_camera_has_no_clock_to_compare(make_photo, tmp_path):
    make_photo("A/a.jpg", taken="2023:07:15 10:00:00")
    make_photo("A/IMG-20230715-WA0001.jpg")
    photos = clocks_to_compare(with_camera_clocks(read_photos(tmp_path)))
    assert {frame.clock for frame in photos.frames} == {""}


def test_the_clock_of_a_camera_that_records_time_zones_is_right(make_photo, tmp_path):
    for k in range(3):
        make_photo(f"A/{k}.jpg", taken=f"2023:07:15 10:0{k}:00")
        make_photo(f"B/{k}.jpg", taken=f"2023:07:15 10:0{k}:30", offset="+02:00")
    make_photo("A/9.jpg", taken="2023:07:15 11:00:00")
    photos = with_camera_clocks(read_photos(tmp_path))
    assert clocks_of_most(photos.frames, records_zone) == {"B"}
    assert {frame.clock for frame in read_photo_folder(tmp_path).frames} == {"A", "B"}
    # In the order of names, no times are corrected.
    assert {frame.clock for frame in read_photo_folder(tmp_path, order="name").frames} == {""}
    # It stays right if the offset of another camera is given.
    given, _ = with_given_offsets(photos, {"A": 0.0})
    assert {frame.clock for frame in clocks_to_compare(given).frames} == {""}


def test_given_offsets_move_the_photos_of_a_folder(make_photo, tmp_path):
    make_photo("A/a.jpg", taken="2023:07:15 10:00:00")
    make_photo("B/b.jpg", taken="2023:07:15 10:30:00")
    sequence = read_photo_folder(tmp_path, offsets={"b": -HOUR})
    assert sequence.names == ("B/b.jpg", "A/a.jpg")
    assert sequence.times == (JULY_15 + 9.5 * HOUR, JULY_15 + 10 * HOUR)
    assert "1 h 00 min taken from the times of b, as requested" in sequence.notes
    with pytest.raises(ValueError, match="--offset C: no camera or folder has this name"):
        read_photo_folder(tmp_path, offsets={"C": 1.0})


def write_sidecar(path, seconds):
    path.write_text(
        json.dumps({"photoTakenTime": {"timestamp": str(int(seconds))}}), encoding="utf-8"
    )


def test_takeout_times_are_used_if_there_is_no_other_and_shown_in_the_zone_of_neighbours(
    make_photo, tmp_path
):
    make_photo("a.jpg", taken="2023:07:15 10:00:00", offset="+02:00")
    make_photo("b.jpg")
    write_sidecar(tmp_path / "b.jpg.json", JULY_15 + 8.25 * HOUR)  # 10:15 in Madrid
    make_photo("c.jpg", taken="2023:07:15 10:30:00", offset="+02:00")
    write_sidecar(tmp_path / "c.jpg.json", JULY_15)  # not needed
    sequence = read_photo_folder(tmp_path)
    assert sequence.names == ("a.jpg", "b.jpg", "c.jpg")
    assert sequence.times is not None
    assert sequence.times[1] == JULY_15 + 10.25 * HOUR
    assert sequence.order == "by capture time (EXIF, else Google Takeout)"
    assert any("nearest photo that records one (UTC+02:00)" in note for note in sequence.notes)
    assert not any("not photos" in note for note in sequence.notes)


def test_takeout_tells_the_zone_of_a_camera_that_does_not(make_photo, tmp_path):
    make_photo("a.jpg", taken="2023:07:15 10:00:00")
    write_sidecar(tmp_path / "a.jpg.json", JULY_15 + 8 * HOUR)
    make_photo("b.jpg")
    write_sidecar(tmp_path / "b.jpg.json", JULY_15 + 8.5 * HOUR)
    assert read_photo_folder(tmp_path).times == (JULY_15 + 10 * HOUR, JULY_15 + 10.5 * HOUR)


def test_a_time_zone_that_is_given():
    utc, local = CaptureTime(JULY_15 + 8 * HOUR, is_utc=True), CaptureTime(JULY_15 + 10 * HOUR)
    zoned = CaptureTime(JULY_15, 3 * HOUR)
    found, notes = in_local_time([utc, local, zoned, None], zone=time_zone("Europe/Madrid"))
    assert [(t.seconds, t.offset) for t in found if t] == [(JULY_15 + 10 * HOUR, 2 * HOUR)] * 2 + [
        (JULY_15, 3 * HOUR)
    ]
    assert notes == ("2 photos without a time zone: Europe/Madrid, as requested",)
    with pytest.raises(ValueError, match="time zone 'Mars/Base' is not known; use a name"):
        time_zone("Mars/Base")


def test_utc_without_any_time_zone_is_said():
    found, notes = in_local_time([CaptureTime(JULY_15, is_utc=True), CaptureTime(JULY_15)])
    assert found[0] == CaptureTime(JULY_15, is_utc=True)
    assert "which may be hours off; --timezone" in notes[0]


def test_each_day_of_a_journey_has_its_local_time(make_photo, tmp_path):
    # From Madrid to New York: 09:00 there is 15:00 in Madrid.
    make_photo("a/1.jpg", taken="2023:07:15 23:00:00", offset="+02:00")
    make_photo("a/2.jpg", taken="2023:07:16 09:00:00", offset="-04:00")
    make_photo("a/3.jpg", taken="2023:07:16 10:00:00", offset="-04:00")
    groups, _ = group_by_day(read_photos(tmp_path))
    first, second = (photo_sequence(group) for _, group in groups)
    assert (first.times, second.times) == (
        (JULY_15 + 23 * HOUR,),
        (JULY_15 + 33 * HOUR, JULY_15 + 34 * HOUR),
    )
    assert not any("time zone" in note for note in second.notes)
