"""A run on an album with one new day segments that day only, and writes what a whole run would."""

from __future__ import annotations

import warnings
from dataclasses import replace
from pathlib import Path

import pytest

from dayline.album import days
from dayline.album.days import find_days, segment_days
from dayline.album.page.overview import overview_data
from dayline.album.save import save_events
from dayline.album.settings import Settings
from dayline.estimators import EventSegmenter
from dayline.events import Place, read_events
from dayline.result_folder import DAY_RECORD
from made_photos import make_day

SETTINGS = Settings(model="color")
DAYS = {
    "20150312": (("red", 8), ("green", 8), ("red", 8)),
    "20150313": (("blue", 8), ("red", 8)),
    "20150314": (("sand", 8), ("blue", 8)),
}
NEW = ("20150320", (("red", 8), ("blue", 8)))  # places that are known


@pytest.fixture
def photos(tmp_path) -> Path:
    for day, scenes in DAYS.items():
        make_day(tmp_path / "photos", scenes, day=day)
    return tmp_path / "photos"


@pytest.fixture
def run(monkeypatch):
    """Run on a folder of days; the names of those that were segmented."""
    segmented = []
    usual = days.segment_and_write

    def counted(sequence, folder, *given, **more):
        segmented.append(folder.name)
        return usual(sequence, folder, *given, **more)

    def run(photos: Path, out: Path, settings: Settings = SETTINGS, **more) -> list[str]:
        segmented.clear()
        with warnings.catch_warnings(action="ignore"):
            found = find_days(photos, settings, store=out)
            list(segment_days(found.days, out, settings, source=photos, **more))
        return list(segmented)

    monkeypatch.setattr(days, "segment_and_write", counted)
    return run


def written(out: Path) -> dict[str, bytes]:
    names = ("events.json", "events.csv", "event-features.json")
    return {str(p.relative_to(out)): p.read_bytes() for name in names for p in out.rglob(name)}


def test_one_new_day_is_the_only_one_that_is_segmented(run, photos, tmp_path):
    out = tmp_path / "out"
    assert run(photos, out) == ["2015-03-12", "2015-03-13", "2015-03-14"]
    assert run(photos, out) == []
    pages = {p: p.stat().st_mtime_ns for p in out.glob("2015-*/index.html")}
    make_day(photos, NEW[1], day=NEW[0])
    assert run(photos, out) == ["2015-03-20"]
    # The day before it leads to it now; no other page is written again.
    changed = [p.parent.name for p, when in pages.items() if p.stat().st_mtime_ns != when]
    assert changed == ["2015-03-14"]
    assert run(photos, tmp_path / "at once") == [*(f"2015-03-{d}" for d in (12, 13, 14, 20))]
    assert written(out) == written(tmp_path / "at once")


def change_photo(photos: Path, out: Path) -> None:
    first = min(photos.glob("20150313*"))
    first.rename(first.with_name("20150313_085900.png"))


def save_name(photos: Path, out: Path) -> None:
    found = read_events(out / "2015-03-13" / "events.json")
    named = (replace(found.events[0], name="Swim"), *found.events[1:])
    save_events(replace(found, events=named), out / "2015-03-13")


def replace_result(photos: Path, out: Path) -> None:
    found = read_events(out / "2015-03-13" / "events.json")
    named = (replace(found.events[0], name="Swim"), *found.events[1:])
    (out / "2015-03-13" / "events.json").write_text(replace(found, events=named).to_json())


def remove_table(photos: Path, out: Path) -> None:
    (out / "2015-03-13" / "events.csv").unlink()


def cut_picture(photos: Path, out: Path) -> None:
    picture = min((out / "2015-03-13" / "thumbnails").iterdir())
    picture.write_bytes(picture.read_bytes()[:-9])


def leave_unfinished(photos: Path, out: Path) -> None:
    (out / "2015-03-13" / ".dayline-events.json-abc12345.part").write_text("half")


def damage_record(photos: Path, out: Path) -> None:
    (out / "2015-03-13" / DAY_RECORD).write_text("[3]")


@pytest.mark.parametrize(
    "change",
    [
        change_photo,
        save_name,
        replace_result,
        remove_table,
        cut_picture,
        leave_unfinished,
        damage_record,
    ],
)
def test_a_day_is_segmented_again_if_anything_about_it_changed(run, photos, tmp_path, change):
    out = tmp_path / "out"
    run(photos, out)
    change(photos, out)
    assert run(photos, out) == ["2015-03-13"]
    assert run(photos, out) == []
    names = [event.name for event in read_events(out / "2015-03-13" / "events.json").events]
    assert names[0] == ("Swim" if change in (save_name, replace_result) else None)
    assert not list(out.rglob("*.part"))


def test_other_settings_another_program_and_forgetting_segment_all(
    run, photos, tmp_path, monkeypatch
):
    out = tmp_path / "out"
    everything = run(photos, out)
    fewer = replace(SETTINGS, segmenter=EventSegmenter(n_events=2))
    assert run(photos, out, fewer) == everything
    assert run(photos, out, fewer) == []
    monkeypatch.setattr("dayline.album.unchanged._code", lambda: ["another"])
    assert run(photos, out, fewer) == everything
    assert run(photos, out, fewer, forget=True) == everything


def test_names_of_places_reach_unchanged_days_and_leave_them(run, photos, tmp_path):
    out = tmp_path / "out"
    run(photos, out)
    at = {}
    for day in ("2015-03-12", "2015-03-13"):
        found = read_events(out / day / "events.json")
        at[day] = found.events[0 if day == "2015-03-12" else 1].community  # red

    def name_red(day: str, name: str) -> None:
        found = read_events(out / day / "events.json")
        others = tuple(place for place in found.places if place.community != at[day])
        known = next((p.id for p in found.places if p.community == at[day]), None)
        named = replace(found, places=(*others, Place(at[day], name, known)))
        with warnings.catch_warnings(action="ignore"):
            save_events(named, out / day)

    def red(day: str) -> str | None:
        places = read_events(out / day / "events.json").places
        return next((place.name for place in places if place.community == at[day]), None)

    name_red("2015-03-12", "kitchen")
    assert red("2015-03-13") == "kitchen"
    assert run(photos, out) == ["2015-03-12"]
    # Nobody said it on this day: another name on the other one holds for both.
    name_red("2015-03-12", "cuisine")
    assert run(photos, out) == ["2015-03-12"]
    assert (red("2015-03-12"), red("2015-03-13")) == ("cuisine", "cuisine")
    assert run(photos, out) == []
    assert (red("2015-03-12"), red("2015-03-13")) == ("cuisine", "cuisine")


def test_places_keep_their_letters_when_more_is_seen_of_others(run, photos, tmp_path):
    out = tmp_path / "out"
    run(photos, out)
    before = overview_data(out)
    labels = {c: k for day in before["letters"] for c, k in day.items()}
    assert labels
    # Sand is seen for longer than all else now.
    make_day(photos, (("sand", 30), ("green", 8), ("sand", 30)), day="20150301")
    run(photos, out)
    after = overview_data(out)
    old = dict(zip(before["folders"], before["letters"], strict=True))
    new = dict(zip(after["folders"], after["letters"], strict=True))
    assert len(new) == 4
    for folder, letters in old.items():
        assert letters.items() <= new[folder].items()
    taken = {k for letters in old.values() for k in letters.values()}
    fresh = set(new["2015-03-01"].values()) - taken
    assert not fresh or min(fresh) > max(taken)
