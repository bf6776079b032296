from __future__ import annotations

from dataclasses import replace

import pytest

from dayline.album.export.ics import ics_text
from dayline.events import Event, Segmentation

NOON = 1_715_532_660.0  # 2024-05-12 16:51


def day(*times: float, **about) -> Segmentation:
    events = tuple(Event(k, k + 1) for k in range(len(times)))
    return Segmentation(events, times=times, clock="wall", source="day", **about)


def values(text: str, key: str) -> list[str]:
    text = text.replace("\r\n ", "")
    return [line.partition(":")[2] for line in text.split("\r\n") if line.startswith(f"{key}:")]


def test_identifiers_stay_when_names_and_later_events_change():
    first = values(ics_text(day(NOON, NOON + 600)), "UID")
    named = day(NOON, NOON + 600, NOON + 1200)
    named = replace(named, events=(replace(named.events[0], name="Lunch"), *named.events[1:]))
    second = values(ics_text(named), "UID")
    assert second[:2] == first
    assert len(set(second)) == 3


def test_events_of_the_same_second_have_identifiers_of_their_own():
    assert len(set(values(ics_text(day(NOON, NOON)), "UID"))) == 2


def test_times_are_those_of_the_camera_and_a_single_photo_lasts_a_minute():
    text = ics_text(day(NOON + 0.9))
    assert values(text, "DTSTART") == ["20240512T165100"]
    assert values(text, "DTEND") == ["20240512T165200"]
    assert values(text, "DTSTAMP") == ["20240512T165100Z"]


def test_the_same_events_give_the_same_file():
    once = ics_text(day(NOON, NOON + 60))
    assert ics_text(day(NOON, NOON + 60)) == once
    assert "\n" not in once.replace("\r\n", "")


def test_long_lines_are_folded_between_characters():
    name = "\U0001f642" * 60 + ",;\\"
    segmentation = day(NOON)
    text = ics_text(replace(segmentation, events=(Event(0, 1, name=name),)))
    assert max(len(line.encode()) for line in text.split("\r\n")) <= 75
    assert values(text, "SUMMARY") == ["\U0001f642" * 60 + "\\,\\;\\\\"]


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
def test_events_without_dates_are_refused(segmentation, message):
    with pytest.raises(ValueError, match=message):
        ics_text(segmentation)
