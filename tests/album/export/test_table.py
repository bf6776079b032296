from __future__ import annotations

import csv
from dataclasses import replace

import pytest

from dayline.album.export.table import write_csv
from dayline.events import Event, Segmentation


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
