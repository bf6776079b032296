from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from dayline.album import calendars
from dayline.album.calendars import calendar_entries, read_calendar
from dayline.album.segment import segment_and_write
from dayline.album.settings import Settings, check_settings
from dayline.media.frame import CaptureTime, Frame, FrameSequence
from made_calendars import LUNCH, write_calendar
from made_locations import photo_at

pytest.importorskip("recurring_ical_events")

EPOCH = datetime(1970, 1, 1)
HOUR = 3600.0


def photos(*times: str, offset: float | None = None) -> FrameSequence:
    """Photos at these times, of a camera whose clock is that far ahead of UTC."""
    seconds = [(datetime.fromisoformat(time) - EPOCH).total_seconds() for time in times]
    frames = [
        Frame(f"{k}.jpg", Path(), time=s, taken=CaptureTime(s, offset))
        for k, s in enumerate(seconds)
    ]
    return FrameSequence(Path(), "photos", tuple(frames), "wall", "time")


MONDAY = ("2024-05-13T08:00", "2024-05-13T20:00")


def found(path, sequence):
    """Return title, start and stop of each entry, as the clock of the photos shows them."""
    return [
        (e.title, *(f"{EPOCH + timedelta(seconds=s):%d %H:%M}" for s in (e.start, e.stop)))
        for e in calendar_entries([path], sequence)
    ]


def test_photos_without_a_zone_are_compared_by_the_clock_on_the_wall(tmp_path):
    path = write_calendar(tmp_path / "my.ics", LUNCH)
    assert found(path, photos(*MONDAY)) == [("Lunch with Ana", "13 13:00", "13 14:00")]


def test_times_are_converted_to_the_zone_that_photos_record(tmp_path):
    # In May, Madrid is two hours ahead of UTC and Lisbon one.
    path = write_calendar(
        tmp_path / "my.ics", LUNCH, "SUMMARY:Call|DTSTART:20240513T080000Z|DURATION:PT30M"
    )
    assert found(path, photos(*MONDAY, offset=HOUR)) == [
        ("Call", "13 09:00", "13 09:30"),
        ("Lunch with Ana", "13 12:00", "13 13:00"),
    ]


def test_times_in_utc_are_shown_in_the_zone_of_the_calendar(tmp_path):
    call = "SUMMARY:Call|DTSTART:20240513T080000Z|DTEND:20240513T083000Z"
    path = write_calendar(tmp_path / "my.ics", call, zone="Europe/Madrid")
    assert found(path, photos(*MONDAY)) == [("Call", "13 10:00", "13 10:30")]


def test_a_series_has_the_entries_of_these_days_without_those_taken_out(tmp_path):
    swim = (
        "SUMMARY:Swim|DTSTART;TZID=Europe/Lisbon:20240101T100000|DURATION:PT1H"
        "|RRULE:FREQ=WEEKLY;UNTIL=20240601T000000Z"
    )
    path = write_calendar(tmp_path / "my.ics", f"{swim}|EXDATE;TZID=Europe/Lisbon:20240506T100000")
    # Mondays; the first and the last photo are on two of them.
    weeks = photos("2024-05-06T08:00", "2024-05-20T20:00")
    assert [start for _, start, _ in found(path, weeks)] == ["13 10:00", "20 10:00"]
    assert found(path, photos("2024-06-03T08:00", "2024-06-03T20:00")) == []


def test_an_entry_of_whole_days_is_one_also_on_its_last_day_only(tmp_path):
    holiday = "SUMMARY:Holiday|DTSTART;VALUE=DATE:20240511|DTEND;VALUE=DATE:20240514"
    path = write_calendar(tmp_path / "my.ics", holiday)
    (entry,) = calendar_entries([path], photos(*MONDAY))
    assert entry.all_day
    assert calendar_entries([path], photos("2024-05-14T00:00", "2024-05-14T20:00")) == ()


def test_what_no_day_has_is_left_out(tmp_path):
    path = write_calendar(
        tmp_path / "my.ics",
        "SUMMARY:Off|STATUS:CANCELLED|DTSTART:20240513T100000|DURATION:PT1H",
        "SUMMARY:Bomb|DTSTART:20240513T100000|DURATION:PT1S|RRULE:FREQ=SECONDLY",
        "SUMMARY:Old|DTSTART:00010101T100000|DURATION:PT1H|RRULE:FREQ=DAILY",
        "SUMMARY:Odd|DTSTART:20240513T100000|DURATION:PT1H|RRULE:FREQ=NONSENSE",
        "SUMMARY:|DTSTART:20240513T100000|DURATION:PT1H",
        "DTSTART:20240513T100000|DURATION:PT1H",
        "SUMMARY:No start",
        f"SUMMARY:{'long ' * 100}|DTSTART:20240513T110000|DURATION:PT1H",
    )
    assert [len(title) for title, *_ in found(path, photos(*MONDAY))] == [199]


def test_photos_without_dates_have_no_entries(tmp_path):
    path = write_calendar(tmp_path / "my.ics", LUNCH)
    assert calendar_entries([path], photos("1970-01-01T08:00", "1970-01-01T20:00")) == ()


def test_a_shared_page_says_nothing_of_the_calendar(tmp_path):
    for k in range(6):
        photo_at(tmp_path / "photos" / f"{k}.jpg", 30 * k, None)
    secret = "SUMMARY:Secret meeting|DTSTART:20150312T085500|DURATION:PT1H"
    whole = "SUMMARY:Secret holiday|DTSTART;VALUE=DATE:20150312"
    calendar = write_calendar(tmp_path / "my.ics", secret, whole)
    settings = Settings(model="color", calendars=(calendar,), private=False)
    segment_and_write(tmp_path / "photos", tmp_path / "out", settings)
    page = (tmp_path / "out" / "index.html").read_bytes()
    assert b"Secret meeting" in page
    assert b"Secret holiday" in page
    # What a person did not take is nowhere but on the page.
    assert b"Secret" not in (tmp_path / "out" / "events.json").read_bytes()
    segment_and_write(tmp_path / "photos", tmp_path / "out", replace(settings, private=True))
    for path in (tmp_path / "out").rglob("*"):
        assert path.is_dir() or b"Secret" not in path.read_bytes(), path


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\xff\xfe\x00",
        b"hello",
        b"BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\n",
        b"BEGIN:VCALENDAR\r\n" + b"BEGIN:VEVENT\r\n" * 3000 + b"END:VEVENT\r\n" * 3000,
    ],
)
def test_a_broken_calendar_is_one_line_before_any_work(tmp_path, content):
    path = tmp_path / "my.ics"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"my\.ics: not a calendar.*export it again") as caught:
        check_settings(Settings(calendars=(path,)))
    assert "\n" not in str(caught.value)


def test_a_time_zone_that_is_none_is_one_line(tmp_path):
    path = write_calendar(tmp_path / "my.ics", LUNCH.replace("Europe/Madrid", "Europe"))
    with pytest.raises(ValueError, match="export it again"), calendars._reading(path):
        raise IsADirectoryError(21, "Is a directory")
    with suppress(ValueError):  # whether it is found depends on how the system stores time zones
        found(path, photos(*MONDAY))


def test_a_calendar_that_is_missing_large_or_full_of_series_is_refused(tmp_path, monkeypatch):
    with pytest.raises(ValueError, match=r"none\.ics: No such file"):
        read_calendar(tmp_path / "none.ics")
    series = "SUMMARY:Swim|DTSTART:20240101T100000|DURATION:PT1H|RRULE:FREQ=WEEKLY"
    path = write_calendar(tmp_path / "my.ics", series, series)
    monkeypatch.setattr(calendars, "MOST_SERIES", 1)
    with pytest.raises(ValueError, match="2 entries repeat, more than 1"):
        read_calendar(path)
    monkeypatch.setattr(calendars, "MOST_BYTES", 100)
    with pytest.raises(ValueError, match="not a calendar file of at most"):
        read_calendar(path)
