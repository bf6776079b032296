"""Folders of days that were renamed or sorted otherwise keep their corrections."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from cli.run_command import contents, segmented
from dayline.album.save import save_events
from dayline.events import read_events
from made_photos import make_day

pytestmark = pytest.mark.filterwarnings("always:'Beach'", "ignore:the previous .* contains")
SCENES = (("red", 10), ("green", 10))


def segment(*arguments: object) -> str:
    return segmented(*arguments).stderr


def name_event(folder: Path, name: str, *, at: int = 0) -> None:
    found = read_events(folder / "events.json")
    events = [
        replace(event, name=name) if k == at else event for k, event in enumerate(found.events)
    ]
    save_events(replace(found, events=tuple(events)), folder)


def named(folder: Path) -> list[str]:
    return [
        event.name for event in read_events(folder / "events.json").events if event.name is not None
    ]


@pytest.fixture
def trip(tmp_path) -> Path:
    """Two days, of which the second is named; the results are beside it in "out"."""
    for day in ("12", "13"):
        make_day(tmp_path / "trip" / f"day {day}", SCENES, day=f"201503{day}")
    segment(tmp_path / "trip", "-o", tmp_path / "out")
    name_event(tmp_path / "out" / "day 13", "Beach")
    return tmp_path / "trip"


def test_a_renamed_day_keeps_its_names(trip, tmp_path):
    out = tmp_path / "out"
    (trip / "day 13").rename(trip / "Zürich trip")
    before = contents(out / "day 13")
    assert "Beach" not in segment(trip, "-o", out)
    assert named(out / "Zürich trip") == ["Beach"]
    assert contents(out / "day 13") == before
    segment(trip, "-o", out, "--forget-corrections")
    segment(trip, "-o", out)
    assert named(out / "Zürich trip") == []


def test_the_newest_edit_holds_wherever_photos_are_moved(trip, tmp_path):
    out = tmp_path / "out"
    (trip / "day 13").rename(trip / "moved")
    segment(trip, "-o", out)
    name_event(out / "moved", "Harbor")
    (trip / "moved").rename(trip / "day 13")
    segment(trip, "-o", out)
    assert named(out / "day 13") == ["Harbor"]


def test_a_day_with_other_times_keeps_its_names(trip, tmp_path):
    """Eight photos of a named event are dated two seconds later."""
    folder = trip / "day 13"
    for path in sorted(folder.iterdir())[:8]:
        path.rename(
            folder / path.name.replace(path.stem[-2:] + ".", f"{int(path.stem[-2:]) + 2:02d}.")
        )
    assert "note" not in segment(trip, "-o", tmp_path / "out")
    assert named(tmp_path / "out" / "day 13") == ["Beach"]


def test_days_moved_to_a_folder_of_their_month_keep_their_names(trip, tmp_path):
    (trip / "March").mkdir()
    for day in ("day 12", "day 13"):
        (trip / day).rename(trip / "March" / day)
    segment(trip, "-o", tmp_path / "out")
    assert named(tmp_path / "out" / "2015-03-13") == ["Beach"]
    assert named(tmp_path / "out" / "2015-03-12") == []


def test_one_sequence_of_two_days_that_was_split_gives_each_day_its_own_names(tmp_path):
    for day in ("12", "13"):
        make_day(tmp_path / "trip", SCENES, day=f"201503{day}")
    out = tmp_path / "out"
    segment(tmp_path / "trip", "-o", out, "--as-one")
    name_event(out, "Beach")
    name_event(out, "Lunch", at=len(read_events(out / "events.json").events) - 1)
    for path in sorted((tmp_path / "trip").glob("*.png")):
        place = tmp_path / "trip" / f"day {path.name[6:8]}"
        place.mkdir(exist_ok=True)
        path.rename(place / path.name)
    assert "none of the" not in segment(tmp_path / "trip", "-o", out)
    assert named(out / "day 12") == ["Beach"]
    assert named(out / "day 13") == ["Lunch"]
    assert "none of the" not in segment(tmp_path / "trip", "-o", out)


def test_edits_of_a_day_that_is_gone_are_kept_and_named_in_one_note(trip, tmp_path):
    out = tmp_path / "out"
    (trip / "day 13").rename(tmp_path / "away")
    make_day(trip / "day 14", SCENES, day="20150314")
    told = segment(trip, "-o", out)
    assert sum("'Beach'" in line for line in told.splitlines()) == 1
    assert named(out / "day 14") == []
    (tmp_path / "away").rename(trip / "day 13")
    assert "Beach" not in segment(trip, "-o", out)
    assert named(out / "day 13") == ["Beach"]


def test_a_link_among_the_results_is_not_followed(trip, tmp_path):
    out, elsewhere = tmp_path / "out", tmp_path / "elsewhere"
    (out / "day 13").rename(elsewhere)
    (out / "day 13").symlink_to(elsewhere)
    edited = (elsewhere / "events.json").read_text().replace("Beach", "Harbor")
    (elsewhere / "events.json").write_text(edited)
    (trip / "day 13").rename(trip / "Zürich")
    segment(trip, "-o", out)
    assert named(out / "Zürich") == ["Beach"]
    assert (elsewhere / "events.json").read_text() == edited
