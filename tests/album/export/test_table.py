from __future__ import annotations

import csv
from dataclasses import replace

import pytest

from dayline.album.export.table import context_labels, event_titles, time_text, write_csv
from dayline.events import Event, Place, Segmentation
from dayline.events.table import context_letters, same_place
from dayline.text import clean_text


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("two\r\nlines\tand \x00\x1b a bell\x07", "two lines and a bell"),
        ("broken \udce9 name", "broken \ufffd name"),
        ("next\x85line\u2029paragraph", "next line paragraph"),
        ("\ufffe\uffffkept", "kept"),
        ("\u05e9\u05dc\u05d5\u05dd \U0001f642", "\u05e9\u05dc\u05d5\u05dd \U0001f642"),
        (" \n ", ""),
    ],
)
def test_a_text_of_others_is_put_on_one_clean_line(text, clean):
    assert clean_text(text) == clean


def made(communities, *, places=()):
    events = tuple(Event(k, k + 1, community=c) for k, c in enumerate(communities))
    return Segmentation(events, places=tuple(Place(c, *about) for c, *about in places))


def test_recurring_contexts_get_letters_without_gaps_in_order_of_appearance():
    day = made([7, 5, 0, None, 5, 3, 0, *range(10, 35), *range(10, 35)])
    letters = context_letters(day.events, day.places)
    assert [row["context"] or "" for row in day.to_dicts()] == list(letters)
    assert letters[:7] == ("", "A", "B", "", "A", "", "B")
    assert letters[-2:] == ("Z", "AA")


def test_a_named_context_has_its_name_and_takes_no_letter():
    day = made([5, 0, 5, 2, 0, 9], places=[(5, "kitchen\n"), (9, "garden"), (2, " ")])
    assert context_labels(day) == ("kitchen", "A", "kitchen", "", "A", "garden")


def test_contexts_with_one_name_or_id_are_one_place():
    day = made(
        [4, 1, 6, 3, 2],
        places=[(4, "kitchen"), (6, "kitchen", "p1"), (1, None, "p2"), (2, None, "p2")],
    )
    assert same_place(day.events, day.places) == {4: 4, 1: 1, 6: 4, 3: 3, 2: 1}
    assert context_labels(day) == ("kitchen", "A", "kitchen", "", "A")


def test_two_names_are_two_places_even_if_recognized_as_one():
    day = made([4, 1], places=[(4, "kitchen", "p1"), (1, "office", "p1")])
    assert same_place(day.events, day.places) == {4: 4, 1: 1}


def test_a_title_is_the_name_or_the_place_or_the_number_and_context():
    events = (
        Event(0, 1, name="  Lunch \n"),
        Event(1, 2, name=" "),
        Event(2, 3, community=4),
        Event(3, 4, community=4),
        Event(4, 5, community=8),
        Event(5, 6, community=1),
    )
    segmentation = Segmentation(events, places=(Place(8, "kitchen"),))
    titles = ("Lunch", "Event 2", "Event 3 (A)", "Event 4 (A)", "kitchen", "Event 6")
    assert event_titles(segmentation, context_labels(segmentation)) == titles


def test_a_time_that_is_no_date_is_named():
    wall = Segmentation((Event(0, 1),), clock="wall")
    assert time_text(wall, 86400.0 * 366 + 5) == "1971-01-02 00:00:05"
    with pytest.raises(ValueError, match=r"time 1e\+20 s is outside the years"):
        time_text(wall, 1e20)


def rows_of(path):
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_every_event_is_one_row_that_reads_back(film, tmp_path, expected_chapters):
    rows = rows_of(write_csv(film, tmp_path / "events.csv"))
    assert [row["event"] for row in rows] == ["1", "2", "3", "4"]
    assert [row["context"] for row in rows] == ["A", "", "A", ""]
    assert [(int(row["start"]), int(row["stop"])) for row in rows] == [
        (0, 14),
        (14, 27),
        (27, 40),
        (40, 54),
    ]
    assert rows[0]["title"] == expected_chapters[0][2]
    assert (
        rows[1] | {"start_time": "20.5", "started": "00:00:20.500", "duration": "18.0"} == rows[1]
    )
    assert rows[1] | {"confidence": "0.75", "reason": "content", "key_photo": ""} == rows[1]


@pytest.mark.parametrize(
    "name", ["=1+1", "+cmd|' /C calc'!A0", "-2", "@SUM(A1)", "\t=1", "\r\n=1", "＝1"]
)
def test_no_name_is_run_as_a_formula(tmp_path, name):
    events = (Event(0, 1, key_frame=0, name=name),)
    rows = rows_of(write_csv(Segmentation(events, names=(name,)), tmp_path / "events.csv"))
    for column in ("title", "key_photo", "first_photo", "last_photo"):
        assert rows[0][column] == "'" + name.strip()


def test_negative_numbers_stay_numbers(film, tmp_path):
    early = replace(film, times=(-0.5, *film.times[1:]))
    assert float(rows_of(write_csv(early, tmp_path / "events.csv"))[0]["start_time"]) == -0.5


def test_a_wall_clock_is_written_as_dates_and_photos_by_name(tmp_path):
    about = {"times": (1431356400.0, 1431356430.5, 1431356490.0), "clock": "wall"}
    names = ("a, b.jpg", "broken\udcff.jpg", "c.jpg")
    segmentation = Segmentation.from_boundaries([1], 3, names=names, **about)
    rows = rows_of(write_csv(segmentation, tmp_path / "events.csv"))
    assert rows[1]["started"] == "2015-05-11 15:00:30"
    assert rows[1]["duration"] == "59.5"
    assert [row["first_photo"] for row in rows] == ["a, b.jpg", "broken\ufffd.jpg"]


def test_events_without_times_are_written_too(tmp_path):
    rows = rows_of(write_csv(Segmentation.from_boundaries([2], 5), tmp_path / "events.csv"))
    assert [row["n_frames"] for row in rows] == ["2", "3"]
    assert rows[0]["start_time"] == rows[0]["started"] == rows[0]["duration"] == ""
