from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

from dayline.album.settings import Settings
from dayline.media.frame import Camera, CaptureTime, Frame
from dayline.media.order import in_order

NOON = 1_426_161_600.0  # 2015-03-12 12:00:00
NAMES = [f"IMG_{i:04d}.jpg" for i in range(1, 7)]
HOUR = 3600.0


def taken(*minutes: float | None, offset: float | None = None) -> list[CaptureTime | None]:
    return [None if m is None else CaptureTime(NOON + 60 * m, offset) for m in minutes]


def order_photos(names, times, **options) -> SimpleNamespace:
    photos = [Frame(name, Path(name), taken=t) for name, t in zip(names, times, strict=True)]
    frames, rule, notes = in_order(photos, **options)
    indices = tuple(names.index(frame.name) for frame in frames)
    moments = tuple(frame.time for frame in frames)
    return SimpleNamespace(
        indices=indices,
        times=moments if any(m is not None for m in moments) else None,
        dates=tuple(frame.date for frame in frames),
        rule=rule,
        notes=notes,
    )


def test_exif_times_give_the_order():
    order = order_photos(NAMES, taken(0, 1, 2, 3, 4, 5))
    assert order.indices == (0, 1, 2, 3, 4, 5)
    assert order.rule == "by capture time (EXIF)"
    assert order.notes == ()


def test_times_that_contradict_the_names_win_and_are_said():
    order = order_photos(NAMES, taken(0, 1, 2, 3, 0.5, 5))
    assert order.indices == (0, 4, 1, 2, 3, 5)
    assert order.notes[0].startswith("times contradict names")


def test_two_cameras_in_one_folder_do_not_contradict_each_other():
    one, other = Camera("Canon EOS 5D"), Camera("Pixel 7")
    frames = [
        Frame(name, Path(name), taken=CaptureTime(NOON + at), camera=camera)
        for name, at, camera in [
            ("A1.jpg", 0, one),
            ("A2.jpg", 100, one),
            ("B1.jpg", 50, other),
            ("B2.jpg", 150, other),
        ]
    ]
    ordered, _, notes = in_order(frames)
    assert [frame.name for frame in ordered] == ["A1.jpg", "B1.jpg", "A2.jpg", "B2.jpg"]
    assert notes == ()


def test_two_photos_at_the_same_second_keep_the_order_of_names():
    order = order_photos(["b10.jpg", "b9.jpg", "a.jpg"], taken(1, 1, 2))
    assert order.indices == (1, 0, 2)
    assert [m for m in order.notes if "contradict" in m]


def test_sub_seconds_decide_within_a_second():
    assert order_photos(
        ["a.jpg", "b.jpg"], [CaptureTime(NOON + 0.7), CaptureTime(NOON + 0.2)]
    ).indices == (
        1,
        0,
    )


def test_a_clock_running_backwards_is_said_and_order_by_name_is_the_way_out():
    times = taken(0, 1, 2, 3 - 60, 4 - 60, 5 - 60)
    order = order_photos(NAMES, times)
    assert order.indices == (3, 4, 5, 0, 1, 2)
    assert any(
        "IMG_0003.jpg to IMG_0004.jpg the clock goes back by 1 h 00 min" in note
        for note in order.notes
    )
    by_name = order_photos(NAMES, times, by="name")
    assert by_name.indices == (0, 1, 2, 3, 4, 5)
    assert by_name.rule == "by name, as requested (times: capture time (EXIF))"
    assert any(
        "IMG_0003.jpg to IMG_0004.jpg the clock goes back by 1 h 00 min" in note
        for note in by_name.notes
    )


def test_random_names_are_a_contradiction_but_no_clock_jumps():
    names = ["q", "w", "e", "r", "t", "y", "u", "i", "o", "p"]
    notes = order_photos(names, taken(*range(10))).notes
    assert [note for note in notes if "contradict" in note]
    assert not [note for note in notes if "clock" in note]


def test_offsets_put_a_flight_in_the_true_order_on_the_first_clock():
    """Twelve at home (UTC+1), then eleven on the clock of UTC-1, an hour later in truth."""
    times = [CaptureTime(NOON, HOUR), CaptureTime(NOON - HOUR, -HOUR)]
    order = order_photos(["a.jpg", "b.jpg"], times)
    assert order.indices == (0, 1)
    assert order.times == (NOON, NOON + HOUR)
    assert any(
        "at b.jpg the camera's clock changes from UTC+01:00 to UTC-01:00" in n for n in order.notes
    )


def test_times_in_names_are_used_without_exif():
    order = order_photos(["IMG_20150312_120100.jpg", "A_20150312_120200.jpg"], [None, None])
    assert order.indices == (0, 1)
    assert order.times == (NOON + 60, NOON + 120)
    assert order.rule == "by the time in the file names"


def test_a_name_stands_in_for_missing_exif_and_that_is_said():
    order = order_photos(["20150312_120100.jpg", "20150312_120000.jpg"], [None, CaptureTime(NOON)])
    assert order.indices == (1, 0)
    assert order.rule == "by capture time (EXIF, else the file name)"
    assert order.notes[0] == "times of photos: 1 from EXIF, 1 from the file name"


def test_exif_and_names_that_differ_by_a_time_zone():
    names = ["PXL_20150312_100000000.jpg", "PXL_20150312_100100000.jpg"]
    notes = order_photos(names, taken(0, 1)).notes
    assert any("differ for 2 of 2 photos, typically by 2 h 00 min; EXIF" in note for note in notes)


def test_a_photo_without_time_follows_the_one_before_it_by_name():
    order = order_photos(NAMES, taken(0, None, 2, 3, 4, 5))
    assert order.indices == (0, 1, 2, 3, 4, 5)
    assert order.times is not None
    assert order.times[:3] == (NOON, None, NOON + 120)
    assert "1 of 6 photos have no capture time (first IMG_0002.jpg)" in order.notes[0]


def test_few_times_are_left_out():
    order = order_photos(NAMES, taken(5, None, 1, None, None, None))
    assert order.indices == (0, 1, 2, 3, 4, 5)
    assert order.times is None
    assert order.notes == (
        "only 2 of 6 photos have a capture time; ordered by name, without times",
    )


def test_natural_name_order_without_any_time():
    order = order_photos(["p10.jpg", "p9.jpg"], [None, None])
    assert (order.indices, order.times) == ((1, 0), None)
    assert order.rule.startswith("by name")


def test_times_of_day_take_the_date_in_the_folder_name():
    order = order_photos(["120000.jpg", "110000.jpg"], [None, None], folder_name="2015-03-12")
    assert order.times == (NOON - HOUR, NOON)


def test_times_of_day_in_folders_per_day():
    order = order_photos(["2015-03-13/080000.jpg", "2015-03-12/120000.jpg"], [None, None])
    assert order.times == (NOON, NOON + 20 * HOUR)


def test_a_photo_without_a_time_leaves_the_times_of_day_of_the_others():
    order = order_photos(
        ["110000.jpg", "120000.jpg", "panorama.jpg"], [None] * 3, folder_name="2015-03-12"
    )
    assert order.times == (NOON - HOUR, NOON, None)
    assert order.notes == (
        (
            "1 of 3 photos have no capture time (first panorama.jpg); each follows the previous"
            " photo in name order"
        ),
    )


def test_a_date_in_a_name_does_not_date_the_times_of_day_of_the_others():
    order = order_photos(["110000.jpg", "120000.jpg", "IMG-20230715-WA0003.jpg"], [None] * 3)
    assert order.times == (11 * HOUR, 12 * HOUR, None)
    assert order.dates == (None, None, None)
    assert "1 of 3 photos have no capture time" in order.notes[0]


def test_photos_with_only_a_date_are_in_the_order_of_dates_and_names():
    names = ["IMG-20230716-WA0001.jpg", "IMG-20230715-WA0002.jpg", "IMG-20230715-WA0001.jpg"]
    order = order_photos(names, [None] * 3)
    assert order.indices == (2, 1, 0)
    assert order.times is None
    assert order.dates == ("2023-07-15", "2023-07-15", "2023-07-16")
    assert order.rule == "by the date in the file names, then by name"


def test_photos_without_a_time_in_folders_per_day():
    names = ["2015-03-12/120000.jpg", "2015-03-12/view.jpg", "2015-03-13/080000.jpg", "map.jpg"]
    order = order_photos(names, [None] * 4)
    assert order.times == (NOON, None, NOON + 20 * HOUR, None)


def test_an_evening_that_goes_on_after_midnight():
    order = order_photos(["001000.jpg", "200000.jpg", "235000.jpg"], [None] * 3)
    assert order.indices == (1, 2, 0)
    assert order.times == (20 * HOUR, 23 * HOUR + 3000, 24 * HOUR + 600)
    assert "midnight" in order.notes[0]


def test_a_day_from_morning_to_evening_is_not_turned_around():
    order = order_photos(["080000.jpg", "130000.jpg", "223000.jpg"], [None] * 3)
    assert (order.indices, order.notes) == ((0, 1, 2), ())


def test_a_whole_day_and_night_with_a_short_break_is_not_turned_around():
    """Half an hour over midnight, but nothing longer than three hours without photos."""
    hours = [0.25, 3, 6, 9, 12, 15, 18, 21, 23.75]
    names = [f"{int(h):02d}{int(60 * (h % 1)):02d}00.jpg" for h in hours]
    order = order_photos(names, [None] * len(names))
    assert order.times == tuple(h * HOUR for h in hours)
    assert order.notes == ()


def test_an_unknown_order_is_refused():
    with pytest.raises(ValueError, match='order "size" is not known; use "time" or "name"'):
        Settings(order="size")
