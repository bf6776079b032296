"""Only photos of which something changed are segmented again: a whole folder, or days of an album."""

from __future__ import annotations

import os
import subprocess
import sys
import warnings
from dataclasses import replace
from io import BytesIO
from pathlib import Path

import pytest
from PIL import Image

from dayline.album import segment
from dayline.album.days import find_days, segment_days, segment_recording
from dayline.album.page.overview import overview_data
from dayline.album.save import save_events
from dayline.album.settings import Settings
from dayline.cli.options import Options
from dayline.estimators import EventSegmenter
from dayline.events import Place, read_events
from dayline.result_folder import DAY_RECORD, MANIFEST
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
    """Run on a folder of one day or more; the folders whose photos were segmented."""
    segmented = []
    usual = segment.segment_and_write

    def counted(sequence, folder, *given, **more):
        segmented.append(folder.name)
        return usual(sequence, folder, *given, **more)

    def run(photos: Path, out: Path, settings: Settings = SETTINGS, **more) -> list[str]:
        segmented.clear()
        with warnings.catch_warnings(action="ignore"):
            found = find_days(photos, settings, store=out)
            if found.days:
                list(segment_days(found.days, out, settings, source=photos, **more))
            else:
                segment_recording(found.whole, out, settings, **more)
        return list(segmented)

    monkeypatch.setattr(segment, "segment_and_write", counted)
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


def change_photo(photos: Path, result: Path) -> None:
    first = min(photos.glob("20150313*"))
    first.rename(first.with_name("20150313_085900.png"))


def change_content_only(photos: Path, result: Path) -> None:
    """Other content of the same size, at the same time of modification."""
    if sys.platform == "win32":
        pytest.skip("Windows does not tell when a file was changed")
    first = min(photos.glob("20150313*"))
    about, other = first.stat(), BytesIO()
    Image.new("RGB", (64, 48)).save(other, "PNG")
    first.write_bytes(other.getvalue().ljust(about.st_size, b"\0"))
    os.utime(first, ns=(about.st_atime_ns, about.st_mtime_ns))
    assert (first.stat().st_size, first.stat().st_mtime_ns) == (about.st_size, about.st_mtime_ns)


def save_name(photos: Path, result: Path) -> None:
    found = read_events(result / "events.json")
    named = (replace(found.events[0], name="Swim"), *found.events[1:])
    save_events(replace(found, events=named), result)


def replace_result(photos: Path, result: Path) -> None:
    found = read_events(result / "events.json")
    named = (replace(found.events[0], name="Swim"), *found.events[1:])
    (result / "events.json").write_text(replace(found, events=named).to_json())


def remove_table(photos: Path, result: Path) -> None:
    (result / "events.csv").unlink()


def cut_picture(photos: Path, result: Path) -> None:
    picture = min((result / "thumbnails").iterdir())
    picture.write_bytes(picture.read_bytes()[:-9])


def leave_unfinished(photos: Path, result: Path) -> None:
    (result / ".dayline-events.json-abc12345.part").write_text("half")


def forget_what_was_written(photos: Path, result: Path) -> None:
    (result / MANIFEST).unlink()


def damage_record(photos: Path, result: Path) -> None:
    (result / DAY_RECORD).write_text("[3]")


CHANGES = [
    change_photo,
    change_content_only,
    save_name,
    replace_result,
    remove_table,
    cut_picture,
    leave_unfinished,
    forget_what_was_written,
    damage_record,
]


@pytest.mark.parametrize("change", CHANGES)
def test_a_day_is_segmented_again_if_anything_about_it_changed(run, photos, tmp_path, change):
    out = tmp_path / "out"
    run(photos, out)
    change(photos, out / "2015-03-13")
    assert run(photos, out) == ["2015-03-13"]
    assert run(photos, out) == []
    names = [event.name for event in read_events(out / "2015-03-13" / "events.json").events]
    assert names[0] == ("Swim" if change in (save_name, replace_result) else None)
    assert not list(out.rglob("*.part"))


@pytest.mark.parametrize(
    ("option", "value", "name"),
    [
        ("n_events", 3, "n_events"),
        ("min_duration", 9.0, "min_duration"),
        ("expected_duration", 9.0, "expected_duration"),
        ("level", 1, "level"),
        ("kind", "cooking", "kind"),
        ("interpolate", True, "missing"),
        ("no_pauses", True, "pauses"),
    ],
)
def test_every_option_of_the_method_reaches_it_though_the_default_one_is_made_late(
    option, value, name
):
    assert Options().settings().segmenter is None
    made = Options(**{option: value}).settings().segmenter
    assert getattr(made, name) != getattr(EventSegmenter(), name)


@pytest.fixture
def one_day(tmp_path) -> Path:
    make_day(tmp_path / "one", DAYS["20150313"], day="20150313")
    return tmp_path / "one"


# What a killed run leaves behind is removed without segmenting; had it written, its record is gone.
@pytest.mark.parametrize("change", [one for one in CHANGES if one is not leave_unfinished])
def test_a_folder_is_segmented_again_if_anything_about_it_changed(run, one_day, tmp_path, change):
    out = tmp_path / "out"
    assert run(one_day, out) == ["out"]
    before = {p: p.stat().st_mtime_ns for p in out.rglob("*")}
    assert run(one_day, out) == []
    assert {
        p: p.stat().st_mtime_ns for p in out.rglob("*") if p.is_file()
    }.items() <= before.items()
    change(one_day, out)
    assert run(one_day, out) == ["out"]
    assert run(one_day, out) == []
    names = [event.name for event in read_events(out / "events.json").events]
    assert names[0] == ("Swim" if change in (save_name, replace_result) else None)
    assert not list(out.rglob("*.part"))


def test_a_folder_is_segmented_again_after_other_options_and_other_commands(
    run, one_day, tmp_path, monkeypatch
):
    out = tmp_path / "out"
    finer = replace(SETTINGS, segmenter=EventSegmenter(n_events=4))
    assert run(one_day, out) == run(one_day, out, finer) == run(one_day, out) == ["out"]
    assert run(one_day, out) == []

    # A run that reads the folder itself writes other events into the same result.
    segment.segment_and_write(one_day, out, finer)
    assert len(read_events(out / "events.json").events) == 4
    assert run(one_day, out) == ["out"]
    assert len(read_events(out / "events.json").events) == 2

    named = read_events(out / "events.json")
    (tmp_path / "named.json").write_text(
        replace(named, events=(replace(named.events[0], name="Swim"), named.events[1])).to_json()
    )
    assert run(one_day, out, corrections=read_events(tmp_path / "named.json")) == ["out"]
    assert run(one_day, out) == ["out"]
    assert run(one_day, out) == []
    assert read_events(out / "events.json").events[0].name == "Swim"
    assert run(one_day, out, forget=True) == ["out"]
    assert run(one_day, out) == ["out"]
    assert run(one_day, out) == []
    assert read_events(out / "events.json").events[0].name is None

    with monkeypatch.context() as another:
        another.setattr("dayline.album.unchanged._code", lambda: ["another"])
        assert run(one_day, out) == ["out"]


def test_other_content_of_the_same_size_and_time_is_looked_at(run, one_day, tmp_path):
    out = tmp_path / "out"
    run(one_day, out)
    before = read_events(out / "events.json").digests
    change_content_only(one_day, out)
    run(one_day, out)
    after = read_events(out / "events.json").digests
    assert [a == b for a, b in zip(before, after, strict=True)] == [False] + [True] * 15


def test_photos_that_got_a_link_are_opened_once_and_not_decoded(
    run, one_day, tmp_path, monkeypatch
):
    out = tmp_path / "out"
    run(one_day, out)
    os.link(min(one_day.iterdir()), tmp_path / "link.png")
    with monkeypatch.context() as decoding:
        decoding.delattr("dayline.media.decode._pixels")
        assert run(one_day, out) == []
    monkeypatch.delattr("dayline.media.decode.opened")
    assert run(one_day, out) == []


def test_exports_of_a_folder_that_changed_are_written_again(run, one_day, tmp_path):
    out = tmp_path / "out"
    run(one_day, out, replace(SETTINGS, formats=("webvtt", "photos")))
    first = min((out / "photos").rglob("*.png"))
    first.unlink()
    assert run(one_day, out) == ["out"]
    assert first.is_file()
    (out / "chapters.vtt").write_text("mine")
    assert run(one_day, out) == ["out"]


def test_exports_that_are_as_they_were_written_are_no_reason_to_segment_again(
    run, one_day, tmp_path
):
    out = tmp_path / "out"
    run(one_day, out, replace(SETTINGS, formats=("xmp", "photos", "story")))
    run(one_day, out)  # of other settings
    assert run(one_day, out) == []
    sidecar = min((out / "xmp").iterdir(), key=lambda path: path.suffix != ".xmp")
    sidecar.write_text("")
    assert run(one_day, out) == ["out"]


def test_a_download_that_nobody_uses_is_named_by_every_run(one_day, tmp_path):
    out = tmp_path / "out"
    found = find_days(one_day, SETTINGS, store=out).whole
    segment_recording(found, out, SETTINGS)
    named = read_events(out / "events.json")
    named = replace(named, events=(replace(named.events[0], name="Swim"), named.events[1]))
    (out / "events (1).json").write_text(named.to_json())
    for _ in range(2):
        with pytest.warns(UserWarning, match=r"events \(1\)\.json is not used"):
            segment_recording(found, out, SETTINGS)


def test_a_day_with_warnings_is_not_segmented_again_and_repeats_them(run, one_day, tmp_path):
    out = tmp_path / "out"
    many = replace(SETTINGS, segmenter=EventSegmenter(n_events=12, min_duration=60.0))
    found = find_days(one_day, many, store=out).whole

    def said() -> list[str]:
        with warnings.catch_warnings(record=True, action="always") as given:
            segment_recording(found, out, many)
        return [str(one.message) for one in given]

    first = said()
    assert len(first) == 1
    assert "n_events=12 is not possible" in first[0]
    assert run(one_day, out, many) == []
    assert said() == first
    # What was done to a file in the folder is said once: it is not done again.
    (out / "events.csv").write_text("mine")
    once = said()
    assert len(once) == 2
    assert "events.csv is not the file that dayline wrote" in " ".join(once)
    assert said() == said() == first
    assert run(one_day, out, many) == []


WITHOUT = ("sklearn", "scipy", "pandas", "onnxruntime")


def test_an_unchanged_folder_prints_the_same_and_imports_no_libraries(one_day, tmp_path):
    script = f"""
import sys
from dayline.cli import main
try:
    main()
finally:
    print([name for name in {WITHOUT} if name in sys.modules], file=sys.stderr)
"""
    options = [one_day, "-o", tmp_path / "out", "--model", "color"]
    command = [sys.executable, "-c", script, "segment", *map(str, options)]
    runs = [subprocess.run(command, capture_output=True, text=True, check=True) for _ in range(2)]
    assert runs[0].stdout == runs[1].stdout
    imported = [run.stderr.splitlines()[-1] for run in runs]
    assert "sklearn" in imported[0]
    assert imported[1] == "[]"


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
