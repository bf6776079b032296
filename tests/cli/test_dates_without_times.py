"""Photos of a messenger: their names have a date, and nobody knows their time of day."""

from __future__ import annotations

import csv
import json

import jsonschema
import pytest

from cli.run_command import run
from dayline.album.page.page import page_data
from dayline.events import events_schema, read_events
from made_photos import make_day, save, scene

COLOURS = ("red", "green", "blue")


def messenger_photos(folder, days, *, n=8):
    """Eight photos of two colours on each of some days of July 2023; returns their names."""
    names = []
    for k, day in enumerate(days):
        for i in range(n):
            colour = COLOURS[(k + (i >= n // 2)) % 3]
            names.append(f"IMG-202307{day}-WA{len(names):04d}.png")
            save(scene(colour, 100 + len(names)), folder / names[-1])
    return names


def segment(source, out, *arguments):
    done = run("segment", source, "-o", out, "--model", "color", *arguments)
    assert done.returncode == 0, done.stderr
    return done


@pytest.fixture(scope="module")
def one_day(tmp_path_factory):
    folder = tmp_path_factory.mktemp("messenger")
    messenger_photos(folder / "in", [15])
    exports = ("--export", "ics", "--export", "photos", "--export", "xmp")
    done = segment(folder / "in", folder / "out", *exports)
    return folder / "out", done.stdout


@pytest.fixture(scope="module")
def mixed(tmp_path_factory):
    """Twelve photos with a time, and four of the same day without one."""
    folder = tmp_path_factory.mktemp("mixed")
    make_day(folder / "in", [("red", 6), ("green", 6)], day="20230715")
    messenger_photos(folder / "in", [15], n=4)
    segment(folder / "in", folder / "out", "--export", "ics")
    return folder / "out"


def test_the_date_is_kept_and_no_time_is_made_up(one_day):
    out, printed = one_day
    content = json.loads((out / "events.json").read_text())
    jsonschema.validate(content, events_schema())
    assert content["times"] is None
    assert content["dates"] == ["2023-07-15"] * 8
    assert {e["start_time"] for e in content["events"]} == {None}
    assert read_events(out / "events.json").to_json() == (out / "events.json").read_text()
    assert "by the date in the file names" in printed
    assert "no capture times found" not in printed


def test_the_page_is_titled_by_the_date(one_day):
    out, _ = one_day
    assert page_data(out / "index.html")["about"]["heading"] == "Saturday 15 July 2023"


def test_exports_have_the_date_and_no_time(one_day):
    out, _ = one_day
    rows = list(csv.DictReader((out / "events.csv").read_text(encoding="utf-8").splitlines()))
    assert {row["started"] for row in rows} == {"2023-07-15"}
    assert {row["start_time"] + row["stopped"] + row["duration"] for row in rows} == {""}
    calendar = (out / "events.ics").read_text()
    assert calendar.count("DTSTART;VALUE=DATE:20230715\n") == len(rows)
    assert calendar.count("DTEND;VALUE=DATE:20230716\n") == len(rows)
    assert "DTSTART:" not in calendar
    folders = sorted(p.name for p in (out / "photos").iterdir() if p.is_dir())
    assert folders == [f"2023-07-15 {k:02d} Event" for k in range(1, len(rows) + 1)]
    sidecars = list((out / "xmp").rglob("*.xmp"))
    assert len(sidecars) == 8
    assert all("dayline|2023-07-15|Event" in path.read_text() for path in sidecars)


def test_among_photos_with_times_they_follow_those_of_their_day_without_one(mixed):
    found = read_events(mixed / "events.json")
    times = found.times
    assert times[12:] == (None,) * 4
    assert None not in times[:12]
    assert found.dates == ("2023-07-15",) * 16
    of_messenger = [event for event in found.events if event.stop > 12]
    assert of_messenger[0].start == 12
    assert of_messenger[0].reason == "date"
    assert {(e.start_time, e.stop_time) for e in of_messenger} == {(None, None)}
    calendar = (mixed / "events.ics").read_text()
    assert calendar.count("DTSTART:20230715T09") == len(found.events) - len(of_messenger)
    assert calendar.count("DTSTART;VALUE=DATE:20230715") == len(of_messenger)


def test_several_dates_are_days_and_as_one_each_date_begins_an_event(tmp_path):
    messenger_photos(tmp_path / "in", [15, 16, 19], n=4)
    done = segment(tmp_path / "in", tmp_path / "out")
    days = ["2023-07-15: ", "2023-07-16: ", "2023-07-19: "]
    assert [line[:12] for line in done.stdout.splitlines()[:3]] == days
    segment(tmp_path / "in", tmp_path / "one", "--as-one")
    found = read_events(tmp_path / "one" / "events.json")
    assert {event.start for event in found.events if event.reason == "date"} == {4, 8}
    about = page_data(tmp_path / "one" / "index.html")["about"]
    assert (about["heading"], about["overline"]) == ("15–19 July 2023", "in")


@pytest.mark.filterwarnings(
    "ignore:.*is not the file that dayline wrote",
    "ignore:the previous .* contains",
    "ignore:.*your corrections in",
)
def test_a_second_run_uses_corrections_of_photos_without_times(mixed):
    path = mixed / "events.json"
    content = json.loads(path.read_text())
    content["events"][-1]["name"] = "From grandma"
    path.write_text(json.dumps(content), encoding="utf-8")
    segment(mixed.parent / "in", mixed)
    assert read_events(path).events[-1].name == "From grandma"
