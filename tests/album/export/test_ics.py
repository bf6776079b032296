from __future__ import annotations

from dataclasses import replace

import pytest

from dayline.album.export.ics import write_ics
from dayline.events import Event, Segmentation

NOON = 1_715_532_660.0  # 2024-05-12 16:51


def day(*times: float, **about) -> Segmentation:
    events = tuple(Event(k, k + 1) for k in range(len(times)))
    return Segmentation(events, times=times, clock="wall", source="day", **about)


def values(path, key: str) -> list[str]:
    text = path.read_bytes().decode().replace("\r\n ", "")
    return [line.partition(":")[2] for line in text.split("\r\n") if line.startswith(f"{key}:")]


def test_identifiers_stay_when_names_and_later_events_change(tmp_path):
    first = values(write_ics(day(NOON, NOON + 600), tmp_path / "a.ics"), "UID")
    named = day(NOON, NOON + 600, NOON + 1200)
    named = replace(named, events=(replace(named.events[0], name="Lunch"), *named.events[1:]))
    second = values(write_ics(named, tmp_path / "b.ics"), "UID")
    assert second[:2] == first
    assert len(set(second)) == 3


def test_events_of_the_same_second_have_identifiers_of_their_own(tmp_path):
    assert len(set(values(write_ics(day(NOON, NOON), tmp_path / "a.ics"), "UID"))) == 2


def test_times_are_those_of_the_camera_and_a_single_photo_lasts_a_minute(tmp_path):
    path = write_ics(day(NOON + 0.9), tmp_path / "a.ics")
    assert values(path, "DTSTART") == ["20240512T165100"]
    assert values(path, "DTEND") == ["20240512T165200"]
    assert values(path, "DTSTAMP") == ["20240512T165100Z"]


def test_the_same_events_give_the_same_file(tmp_path):
    once = write_ics(day(NOON, NOON + 60), tmp_path / "a.ics").read_bytes()
    assert write_ics(day(NOON, NOON + 60), tmp_path / "b.ics").read_bytes() == once
    assert b"\n" not in once.replace(b"\r\n", b"")


def test_long_lines_are_folded_between_characters(tmp_path):
    name = "\U0001f642" * 60 + ",;\\"
    segmentation = day(NOON)
    path = write_ics(replace(segmentation, events=(Event(0, 1, name=name),)), tmp_path / "a.ics")
    assert max(len(line) for line in path.read_bytes().split(b"\r\n")) <= 75
    assert values(path, "SUMMARY") == ["\U0001f642" * 60 + "\\,\\;\\\\"]


@pytest.mark.parametrize(
    ("segmentation", "message"),
    [
        (day(60.0, 3600.0), "a calendar needs dates"),
        (
            Segmentation.from_boundaries([1], 2, times=(0.0, 1.0), clock="media"),
            "a calendar needs dates",
        ),
        (Segmentation.from_boundaries([1], 2), "a calendar needs dates"),
        (day(NOON, 1e20), r"time 1e\+20 s is outside the years"),
        (day(NOON, float("nan")), "frame 1 has no usable time"),
    ],
)
def test_events_without_dates_are_refused(tmp_path, segmentation, message):
    with pytest.raises(ValueError, match=message):
        write_ics(segmentation, tmp_path / "a.ics")
    assert list(tmp_path.iterdir()) == []
