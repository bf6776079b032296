from __future__ import annotations

import csv
import json
import os
import shutil
import signal
import subprocess
import sys
from dataclasses import astuple
from pathlib import Path

import numpy as np
import pytest

from cli.run_command import run
from dayline.album.export.formats import FORMATS, suited_formats
from dayline.album.extraction import AT_ONCE
from dayline.cli.export import FORMATS as FORMATS_IN_HELP
from dayline.events import Segmentation, read_events
from made_locations import photo_at
from made_photos import make_day, make_film, save, scene


@pytest.fixture
def dayline():
    """Run a command: dayline("segment", ...) gives exit code, stdout and stderr."""
    return lambda *arguments: astuple(run(*arguments))


@pytest.fixture
def features(tmp_path):
    rows = np.repeat(np.eye(3), 30, axis=0) + np.random.default_rng(0).normal(
        scale=0.05, size=(90, 3)
    )
    np.savez(tmp_path / "day.npz", features=rows, times=30.0 * np.arange(90))
    return tmp_path / "day.npz"


def segment(dayline, *arguments):
    code, out, err = dayline("segment", "--model", "color", *arguments)
    assert code == 0, err
    return out


def test_a_folder_of_photos_gives_a_page(dayline, tmp_path):
    make_day(tmp_path / "photos", [("red", 12), ("blue", 12), ("blue", 12)], pause_before=2)
    (tmp_path / "photos" / "bad.jpg").write_text("no image")
    out = segment(dayline, tmp_path / "photos", "-o", tmp_path / "out")
    lines = [line.split() for line in out.splitlines()]
    assert ["1", "0", "12", "12", "9:00:00", "9:05:30", "start"] in lines
    second = next(line for line in lines if line[0] == "2")
    assert second[:6] + second[-1:] == ["2", "12", "24", "12", "9:06:00", "9:11:30", "content"]
    assert second[6].endswith("%")
    assert "3 events in 36 frames" in out
    assert "left out: bad.jpg: not an image" in out
    assert f"The page is {tmp_path / 'out' / 'index.html'}" in out
    found = read_events(tmp_path / "out" / "events.json")
    assert found.boundaries == (12, 24)
    assert found.method == "default, features color"
    with (tmp_path / "out" / "events.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [r["title"] for r in rows[:2]] == ["Event 1", "Event 2"]


def test_without_output_a_folder_is_chosen_and_said(dayline, tmp_path, monkeypatch):
    make_day(tmp_path / "photos")
    monkeypatch.chdir(tmp_path)
    code, _, err = dayline("segment", "--model", "color", "photos")
    assert code == 0
    assert "the result goes to photos-events" in err
    assert (tmp_path / "photos-events" / "index.html").is_file()


def test_a_result_inside_the_source_is_not_read_again(dayline, tmp_path, monkeypatch):
    make_day(tmp_path)
    monkeypatch.chdir(tmp_path)
    for _ in range(2):
        segment(dayline, ".", "-o", "out")
    (tmp_path / "out" / "index.html").unlink()  # as after an interrupted run
    segment(dayline, ".", "-o", "out")
    assert read_events(tmp_path / "out" / "events.json").n_frames == 38


def test_json_and_quiet(dayline, tmp_path):
    make_day(tmp_path / "photos")
    out = segment(dayline, tmp_path / "photos", "-o", tmp_path / "out", "--json")
    assert Segmentation.from_json(out) == read_events(tmp_path / "out" / "events.json")
    assert segment(dayline, tmp_path / "photos", "-o", tmp_path / "out", "-q") == ""


def test_dry_run_lists_and_writes_nothing(dayline, tmp_path, monkeypatch):
    make_day(tmp_path / "photos", [("red", 3), ("red", 3)], pause_before=1)
    (tmp_path / "photos" / "zero.jpg").touch()
    monkeypatch.chdir(tmp_path)
    code, out, _ = dayline("segment", "photos", "--dry-run")
    assert code == 0
    lines = out.splitlines()
    assert lines[0].split() == ["0", "2015-03-12", "09:00:00", "20150312_090000.png"]
    assert lines[3].strip() == "--- pause of 67 min ---"
    assert lines[7:] == [
        "6 frames, by the time in the file names",
        "left out: zero.jpg: empty file",
    ]
    assert [p.name for p in tmp_path.iterdir()] == ["photos"]


def test_long_pauses_are_told_in_hours(dayline, tmp_path):
    for k, clock in enumerate(("010000", "010030", "010100", "203300", "203330")):
        save(scene("red", k), tmp_path / "photos" / f"20150312_{clock}.png")
    _, out, _ = dayline("segment", tmp_path / "photos", "--dry-run")
    assert out.splitlines()[3].strip() == "--- pause of 19.5 h ---"
    out = segment(dayline, tmp_path / "photos", "-o", tmp_path / "out")
    assert "1 pause of the camera, the longest 19.5 h: each is a boundary" in out


def test_the_bar_of_several_days_says_which_day_it_is(tmp_path, monkeypatch):
    told = []
    monkeypatch.setattr("dayline.cli.console.StepBar.__call__", lambda _, *step: told.append(step))
    make_day(tmp_path / "trip" / "a", [("red", 3)])
    make_day(tmp_path / "trip" / "b", [("red", 3)], day="20150313")
    assert (
        run("segment", "--model", "color", tmp_path / "trip", "-o", tmp_path / "out").returncode
        == 0
    )
    words = [what for what, _, _ in told]
    assert words[0] == "features"  # of all days, in one pass
    for day in ("day 1 of 2: ", "day 2 of 2: "):
        assert any(word.startswith(day) for word in words)


def test_order_by_name(dayline, tmp_path):
    make_day(tmp_path / "photos", [("red", 3)])
    (tmp_path / "photos" / "20150312_090000.png").rename(
        tmp_path / "photos" / "z_20150312_090000.png"
    )
    _, out, _ = dayline("segment", tmp_path / "photos", "--dry-run", "--order", "name")
    assert [line.split()[-1] for line in out.splitlines()[:3]][-1] == "z_20150312_090000.png"


def test_a_folder_per_day(dayline, tmp_path):
    make_day(tmp_path / "trip" / "day 1")
    make_day(tmp_path / "trip" / "day 2", day="20150313")
    out = segment(dayline, tmp_path / "trip", "-o", tmp_path / "out")
    assert "day 1: 3 events in 38 photos, 2015-03-12 09:00 to 09:18\n" in out
    assert f"The page is {tmp_path / 'out' / 'index.html'}" in out
    assert read_events(tmp_path / "out" / "day 2" / "events.json").boundaries == (12, 26)
    code, _, err = dayline(
        "segment",
        tmp_path / "trip",
        "-o",
        tmp_path / "out",
        "--corrections",
        tmp_path / "out" / "day 2" / "events.json",
    )
    assert code == 2
    assert "--corrections works for one day only" in err


def test_a_day_whose_export_fails_has_its_page(dayline, tmp_path):
    make_day(tmp_path / "trip" / "day 1")
    make_day(tmp_path / "trip" / "day 2", [("red", 6)], day="20150313")
    code, out, err = dayline(
        "segment",
        tmp_path / "trip",
        "-o",
        tmp_path / "out",
        "--model",
        "color",
        "--export",
        "youtube",
    )
    assert code == 2
    assert err.splitlines()[-1].startswith(
        "dayline: some exports failed; the first: day 2: youtube: "
    )
    assert "day 2: 1 event in 6 photos" in out
    page = (tmp_path / "out" / "index.html").read_text(encoding="utf-8")
    assert 'href="day%202/index.html"' in page
    assert "Left out" not in page
    assert (tmp_path / "out" / "day 1" / "youtube.txt").is_file()
    code, _, err = dayline(
        "segment",
        tmp_path / "trip" / "day 2",
        "-o",
        tmp_path / "one",
        "--model",
        "color",
        "--export",
        "youtube",
    )
    assert code == 2
    assert err.endswith(f"; everything else is in {tmp_path / 'one'}\n")
    assert (tmp_path / "one" / "index.html").is_file()


def test_the_message_of_a_failed_export_is_true(dayline, tmp_path):
    make_day(tmp_path / "day", [("red", 6)])
    options = [
        "--model",
        "color",
        "--export",
        "youtube",
        "--export",
        "ics",
        "--export",
        "clips",
        "--export",
        "edl",
    ]
    code, _, err = dayline(
        "segment", tmp_path / "day", "-o", tmp_path / "out", *options[:6], *options[8:]
    )
    assert code == 2
    assert err.splitlines()[-1].startswith("dayline: youtube: YouTube requires at least 3 chapters")
    assert err.endswith(f"; everything else is in {tmp_path / 'out'}\n")
    assert {"events.ics", "events.edl"} <= {path.name for path in (tmp_path / "out").iterdir()}
    events = tmp_path / "out" / "events.json"
    code, out, err = dayline("export", events, "-f", "youtube", "-f", "photos", "-f", "webvtt")
    assert code == 2
    first, second, last = err.splitlines()
    assert first.startswith("dayline: youtube: YouTube requires")
    assert second.startswith("dayline: photos: needs the photos")
    assert last == f"dayline: 2 exports failed; everything else is in {tmp_path / 'out'}"
    assert out.splitlines() == [str(tmp_path / "out" / "chapters.vtt")]


def test_corrections_are_kept(dayline, tmp_path):
    make_day(tmp_path / "photos")
    segment(dayline, tmp_path / "photos", "-o", tmp_path / "out")
    content = json.loads((tmp_path / "out" / "events.json").read_text())
    first, second, third = content["events"]
    merged = first | {"stop": second["stop"], "name": "Breakfast <b>"}
    (tmp_path / "saved.json").write_text(json.dumps(content | {"events": [merged, third]}))
    for corrections in (tmp_path / "saved.json", tmp_path / "out" / "events.json"):
        out = segment(
            dayline, tmp_path / "photos", "-o", tmp_path / "out", "--corrections", corrections
        )
        found = read_events(tmp_path / "out" / "events.json")
        assert found.boundaries == (26,)
        assert found.events[0].name == "Breakfast <b>"
        assert "Breakfast <b>" in out


# What a note says is a warning, and those are errors in tests.
TOLD = pytest.mark.filterwarnings("always:.* it is kept as")


def name_first_event(out, name):
    content = json.loads((out / "events.json").read_text())
    content["events"][0]["name"] = name
    (out / "events.json").write_text(json.dumps(content))


@TOLD
def test_corrections_outlive_plain_runs_until_they_are_forgotten(dayline, tmp_path, features):
    make_day(tmp_path / "photos")
    for source in (tmp_path / "photos", features):
        out = tmp_path / f"out of {source.name}"
        options = () if source == features else ("--model", "color")
        assert dayline("segment", source, "-o", out, *options)[0] == 0
        name_first_event(out, "Breakfast")
        for _ in range(2):
            code, said, _ = dayline("segment", source, "-o", out, *options)
            assert code == 0
            assert "your corrections are included" in " ".join(said.split())
            assert read_events(out / "events.json").events[0].name == "Breakfast"
        code, _, err = dayline("segment", source, "-o", out, *options, "--forget-corrections")
        assert code == 0
        assert "contains corrections; it is kept as" in err
        for _ in range(2):
            assert read_events(out / "events.json").events[0].name is None
            assert dayline("segment", source, "-o", out, *options)[0] == 0
        assert any(
            read_events(path).events[0].name == "Breakfast" for path in out.glob("events-*.json")
        )


@TOLD
def test_a_run_updates_the_exports_of_earlier_runs(dayline, tmp_path):
    make_day(tmp_path / "photos")
    out = tmp_path / "out"
    segment(dayline, tmp_path / "photos", "-o", out, "--export", "photos", "--export", "ffmetadata")
    name_first_event(out, "Breakfast")
    for options, named in (((), True), (("--forget-corrections",), False)):
        said = segment(dayline, tmp_path / "photos", "-o", out, *options)
        assert (
            f"Exports of earlier runs, updated: {out / 'chapters.ffmetadata'}, {out / 'photos'}\n"
            in said
        )
        assert ("Breakfast" in (out / "chapters.ffmetadata").read_text()) == named
        assert any("Breakfast" in folder.name for folder in (out / "photos").iterdir()) == named


@TOLD
def test_corrections_are_forgotten_even_where_an_export_fails(dayline, tmp_path):
    make_day(tmp_path / "photos")
    out = tmp_path / "out"
    segment(dayline, tmp_path / "photos", "-o", out)
    name_first_event(out, "Breakfast")
    segment(dayline, tmp_path / "photos", "-o", out)
    (out / "photos").mkdir()
    (out / "photos" / "mine.txt").touch()
    failing = ("--model", "color", "--forget-corrections", "--export", "photos")
    assert dayline("segment", tmp_path / "photos", "-o", out, *failing)[0] == 2
    segment(dayline, tmp_path / "photos", "-o", out)
    assert read_events(out / "events.json").events[0].name is None
    assert list(out.glob("corrections-*.json"))


@TOLD
def test_corrections_of_days_outlive_plain_runs(dayline, tmp_path):
    make_day(tmp_path / "trip" / "day 1")
    make_day(tmp_path / "trip" / "day 2", day="20150313")
    segment(dayline, tmp_path / "trip", "-o", tmp_path / "out")
    name_first_event(tmp_path / "out" / "day 2", "Breakfast")
    for _ in range(2):
        segment(dayline, tmp_path / "trip", "-o", tmp_path / "out")
        assert read_events(tmp_path / "out" / "day 1" / "events.json").events[0].name is None
        assert read_events(tmp_path / "out" / "day 2" / "events.json").events[0].name == "Breakfast"
    segment(dayline, tmp_path / "trip", "-o", tmp_path / "out", "--forget-corrections")
    assert read_events(tmp_path / "out" / "day 2" / "events.json").events[0].name is None


@pytest.mark.filterwarnings("always:'Breakfast'", "always:.* it is kept as")
def test_edits_of_another_recording_in_the_same_folder_are_kept_and_named(dayline, tmp_path):
    make_day(tmp_path / "a" / "DCIM")
    make_day(tmp_path / "b" / "DCIM", day="20150313")
    out = tmp_path / "out"
    segment(dayline, tmp_path / "a" / "DCIM", "-o", out)
    name_first_event(out, "Breakfast")
    _, _, err = dayline("segment", tmp_path / "b" / "DCIM", "-o", out, "--model", "color")
    assert "'Breakfast': none of the 12 photos" in err
    assert read_events(out / "events.json").events[0].name is None
    segment(dayline, tmp_path / "a" / "DCIM", "-o", out)
    assert read_events(out / "events.json").events[0].name == "Breakfast"


def test_export_replaces_only_what_dayline_wrote(dayline, tmp_path):
    make_day(tmp_path / "photos")
    segment(dayline, tmp_path / "photos", "-o", tmp_path / "out")
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "saved.json").write_bytes((tmp_path / "out" / "events.json").read_bytes())
    (tmp_path / "mine" / "events.csv").write_text("my own table")
    export = ("export", tmp_path / "mine" / "saved.json", "-f", "webvtt", "-f", "csv")
    code, _, err = dayline(*export)
    assert code == 2
    assert "events.csv: exists, but dayline did not write it" in err
    assert err.count("\n") == 1
    assert (tmp_path / "mine" / "events.csv").read_text() == "my own table"
    assert not (tmp_path / "mine" / "chapters.vtt").exists()
    assert dayline(*export, "--force")[0] == 0
    assert (tmp_path / "mine" / "events.csv").read_text().startswith("event,")
    assert dayline(*export)[0] == 0
    (tmp_path / "mine" / "chapters.vtt").write_text("WEBVTT, edited")
    assert dayline(*export)[0] == 2


@pytest.mark.filterwarnings("always:.* kept in")
def test_a_plain_copy_of_a_result_is_exported_again_and_force_replaces_folders(dayline, tmp_path):
    make_day(tmp_path / "photos")
    segment(
        dayline,
        tmp_path / "photos",
        "-o",
        tmp_path / "out",
        "--export",
        "xmp",
        "--export",
        "photos",
    )
    copy = shutil.copytree(tmp_path / "out", tmp_path / "copy", copy_function=shutil.copyfile)
    for path in copy.rglob("*.*"):
        os.utime(path, (1, 1))
    export = ("export", copy, "-f", "xmp", "-f", "photos", "--source", tmp_path / "photos")
    code, _, err = dayline(*export)
    assert (code, err) == (0, "")
    assert not list(copy.glob("*-kept-*"))
    (copy / "xmp" / "mine.xmp").write_text("mine")
    assert dayline(*export)[0] == 2
    code, _, err = dayline(*export, "--force")
    assert code == 0
    assert err.startswith(
        f"dayline: note: 1 file in {copy / 'xmp'} not written by dayline, or changed since:"
        " kept in "
    )
    (kept,) = copy.glob("xmp-kept-*/mine.xmp")
    assert kept.read_text() == "mine"


def test_exports_into_the_result_and_into_an_earlier_export_are_replaced(dayline, tmp_path):
    make_day(tmp_path / "photos")
    out, sheets = tmp_path / "out", tmp_path / "sheets"
    segment(dayline, tmp_path / "photos", "-o", out)
    for folder in (out, sheets, sheets):
        code, _, err = dayline(
            "export", out / "events.json", "-f", "csv", "-f", "edl", "-o", folder
        )
        assert (code, err) == (0, "")
    (sheets / "events.csv").write_text("my own table")
    code, _, err = dayline("export", out / "events.json", "-f", "edl", "-f", "csv", "-o", sheets)
    assert code == 2
    assert "events.csv: exists, but dayline did not write it" in err


def test_exports_beside_the_photos_are_not_read_as_photos(dayline, tmp_path):
    make_day(tmp_path / "photos")
    segment(dayline, tmp_path / "photos", "-o", tmp_path / "out")
    saved = tmp_path / "photos" / "saved.json"
    saved.write_bytes((tmp_path / "out" / "events.json").read_bytes())
    beside = ("-f", "photos", "--source", tmp_path / "photos")
    assert dayline("export", saved, *beside)[0] == 0
    segment(dayline, tmp_path / "photos", "-o", tmp_path / "out")
    assert read_events(tmp_path / "out" / "events.json").n_frames == 38
    # Sorted photos by themselves are photos like any others.
    event, *_ = (path for path in (tmp_path / "photos" / "photos").iterdir() if path.is_dir())
    segment(dayline, event, "-o", tmp_path / "again")
    assert read_events(tmp_path / "again" / "events.json").n_frames == len(list(event.iterdir()))


def test_a_copy_with_chapters_replaces_no_film_of_others(dayline, tmp_path):
    film = make_film(tmp_path / "film.mp4")
    segment(dayline, film, "-o", tmp_path / "out", "--n-events", 2)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "events.json").write_bytes((tmp_path / "out" / "events.json").read_bytes())
    (tmp_path / "mine" / "film-chapters.mp4").write_text("another film")
    export = ("export", tmp_path / "mine" / "events.json", "--write-chapters", "--source", film)
    code, _, err = dayline(*export)
    assert code == 2
    assert "film-chapters.mp4: exists, but dayline did not write it" in err
    assert (tmp_path / "mine" / "film-chapters.mp4").read_text() == "another film"


@pytest.mark.filterwarnings("always:faces were blurred", "always:sorted photos are not changed")
def test_exports_of_a_result_with_blurred_faces_warn_of_faces(dayline, tmp_path, monkeypatch):
    for module in ("album.pictures", "album.write", "album.settings"):
        monkeypatch.setattr(f"dayline.{module}.face_blurrer", lambda: np.zeros_like)
    make_day(tmp_path / "photos")
    out = tmp_path / "out"
    segment(dayline, tmp_path / "photos", "-o", out, "--blur-faces")
    code, _, err = dayline("export", out, "-f", "photos", "--source", tmp_path / "photos")
    assert code == 0
    assert "sorted photos are not changed: their faces are not blurred" in err
    code, _, err = dayline("segment", tmp_path / "photos", "-o", out, "--model", "color")
    assert code == 0
    assert (
        "note: faces were blurred in an earlier run and are not in this one; --blur-faces blurs"
        " them again" in err
    )


def test_shared_pages_link_to_no_file(dayline, tmp_path):
    make_day(tmp_path / "my photos", [("red", 6), ("blue", 6)])
    segment(dayline, tmp_path / "my photos", "-o", tmp_path / "out")
    page = tmp_path / "out" / "index.html"
    assert b"../my%20photos/20150312_090000.png" in page.read_bytes()
    segment(dayline, tmp_path / "my photos", "-o", tmp_path / "out", "--share")
    assert b"my%20photos" not in page.read_bytes()
    film = make_film(tmp_path / "my film.mp4")
    segment(dayline, film, "-o", tmp_path / "of film")
    assert b'"film":"../my%20film.mp4"' in (tmp_path / "of film" / "index.html").read_bytes()
    segment(dayline, film, "-o", tmp_path / "of film", "--share")
    assert b"my%20film" not in (tmp_path / "of film" / "index.html").read_bytes()


def test_shared_results_do_not_say_where_photos_were_taken(dayline, tmp_path):
    for k in range(8):
        photo_at(tmp_path / "photos" / f"{k}.jpg", 30 * k, (39.571, 2.651))
    printed = segment(dayline, tmp_path / "photos", "-o", tmp_path / "out", "--json")
    assert json.loads(printed)["events"][0]["location"] == pytest.approx([39.571, 2.651], abs=1e-4)
    printed = segment(dayline, tmp_path / "photos", "-o", tmp_path / "out", "--json", "--share")
    assert json.loads(printed)["events"][0]["location"] is None
    for path in (tmp_path / "out").rglob("*"):
        assert not path.is_file() or b"39.57" not in path.read_bytes(), path


def test_pages_say_nothing_of_where_things_lie(dayline, tmp_path, monkeypatch):
    pytest.importorskip("opentimelineio")
    private = tmp_path / "home of ada"
    make_day(private / "trip" / "day 1")
    make_day(private / "trip" / "day 2", day="20150313")
    make_day(private / "trip" / "day 3", [("red", 1)], day="20150314")
    (private / "trip" / "day 4").mkdir()
    (private / "trip" / "day 4" / "bad.jpg").write_bytes(b"not a photo")
    (private / "trip" / "day 1" / "bad.jpg").write_bytes(b"not a photo")
    (private / "trip" / "day 1" / "letter.txt").touch()
    (private / "out" / "day 2").mkdir(parents=True)
    (private / "out" / ".dayline").touch()
    (private / "out" / "day 2" / "private tax 2024.pdf").touch()
    code, _, err = dayline(
        "segment",
        private / "trip",
        "-o",
        private / "out",
        "--model",
        "color",
        "--export",
        "photos",
        "--export",
        "edl",
    )
    assert code == 0, err
    assert "private tax 2024.pdf" in err
    film = make_film(private / "film.mp4")
    segment(
        dayline,
        film,
        "-o",
        private / "out of film",
        "--write-chapters",
        "--export",
        "otio",
        "--export",
        "edl",
    )
    monkeypatch.chdir(private)
    segment(dayline, "trip/day 1", "-o", "relative", "--export", "xmp")
    page = (private / "out" / "index.html").read_text(encoding="utf-8")
    assert page.count("Left out") == 2
    for folder in (private / "out", private / "out of film", private / "relative"):
        for path in folder.rglob("*"):
            content = path.read_bytes() if path.is_file() else b""
            assert b"home of ada" not in content, path
            assert os.fsencode(tmp_path) not in content, path
            assert b"private tax" not in content, path


def test_links_planted_below_the_output_are_not_followed(dayline, tmp_path):
    make_day(tmp_path / "trip" / "d1")
    make_day(tmp_path / "trip" / "d2", day="20150313")
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / ".dayline").touch()
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "out" / "d1").symlink_to(tmp_path / "elsewhere")
    segment(dayline, tmp_path / "trip", "-o", tmp_path / "out")
    assert list((tmp_path / "elsewhere").iterdir()) == []
    assert (tmp_path / "out" / "d2" / "index.html").is_file()
    page = (tmp_path / "out" / "index.html").read_text(encoding="utf-8")
    assert "Left out: d1: is a link to another place" in page


@pytest.mark.skipif(sys.platform != "linux", reason="names of any bytes are a matter of Linux")
def test_a_day_whose_name_is_not_utf8_has_its_row_on_the_overview(dayline, tmp_path):
    make_day(tmp_path / "trip" / "day 1")
    make_day(tmp_path / "trip" / os.fsdecode(b"day \xff"), day="20150313")
    segment(dayline, tmp_path / "trip", "-o", tmp_path / "out")
    page = (tmp_path / "out" / "index.html").read_text(encoding="utf-8")
    assert 'href="day%20%FF/index.html"' in page
    assert "day \\xff" in page


@pytest.mark.skipif(sys.platform != "linux", reason="names of any bytes are a matter of Linux")
def test_photos_whose_names_differ_only_in_undecodable_bytes_are_each_sorted(dayline, tmp_path):
    names = [b"a\xff.png", b"a\xfe.png", b"a\\xff.png", "a\x80.png".encode(), b"a\x80.png"]
    for k, name in enumerate(names):
        save(scene("red", k), tmp_path / "photos" / os.fsdecode(name))
    segment(
        dayline,
        tmp_path / "photos",
        "-o",
        tmp_path / "out",
        "--export",
        "photos",
        "--order",
        "name",
    )
    found = {os.fsencode(path.name): path for path in (tmp_path / "out" / "photos").rglob("*.png")}
    assert set(found) == set(names)
    assert all(
        path.samefile(tmp_path / "photos" / os.fsdecode(name)) for name, path in found.items()
    )


def test_a_film_with_exports_and_chapters(dayline, tmp_path):
    pytest.importorskip("opentimelineio")
    film = make_film(tmp_path / "film.mp4")
    options = [
        f"--export={name}" for name in suited_formats(list(FORMATS), "video") if name != "youtube"
    ]
    out = segment(
        dayline,
        film,
        "-o",
        tmp_path / "out",
        "--every",
        0.5,
        "--n-events",
        2,
        "--write-chapters",
        *options,
    )
    (also,) = [line for line in out.splitlines() if line.startswith("Also written: ")]
    told = also.removeprefix("Also written: ").split(", ")
    assert {
        str(tmp_path / "out" / name) for name in ("chapters.vtt", "clips", "film-chapters.mp4")
    } <= set(told)
    assert all(Path(path).exists() for path in told)
    import av

    with av.open(str(tmp_path / "out" / "film-chapters.mp4")) as copy:
        assert [c["metadata"]["title"] for c in copy.chapters()] == ["Event 1", "Event 2"]
    names = {p.name for p in (tmp_path / "out").iterdir()}
    assert {
        "chapters.vtt",
        "events.otio",
        "events.edl",
    } <= names


def test_export_of_a_saved_file(dayline, tmp_path):
    photos = make_day(tmp_path / "photos")
    segment(dayline, tmp_path / "photos", "-o", tmp_path / "out")
    events = tmp_path / "out" / "events.json"
    code, out, err = dayline(
        "export", events, "--format", "webvtt", "-f", "photos", "--source", tmp_path / "photos"
    )
    assert code == 0, err
    assert out.splitlines() == [
        str(tmp_path / "out" / "chapters.vtt"),
        str(tmp_path / "out" / "photos"),
    ]
    assert (tmp_path / "out" / "photos" / "2015-03-12 09.00 Event" / photos[0].name).samefile(
        photos[0]
    )
    code, out, _ = dayline("export", events, "-f", "csv", "-o", tmp_path / "elsewhere")
    assert out.strip() == str(tmp_path / "elsewhere" / "events.csv")


@pytest.mark.filterwarnings("always")
def test_sidecars_beside_the_photos_are_an_option_of_their_own(dayline, tmp_path):
    photos = make_day(tmp_path / "photos")
    segment(dayline, tmp_path / "photos", "-o", tmp_path / "out", "--export", "xmp")
    assert not list((tmp_path / "photos").glob("*.xmp"))
    (tmp_path / "photos" / f"{photos[0].name}.xmp").write_text("mine")
    events = tmp_path / "out" / "events.json"
    code, out, err = dayline("export", events, "--xmp-beside", "--source", tmp_path / "photos")
    assert code == 0, err
    assert "dayline: note: 1 sidecar not written by dayline, left unchanged" in err
    assert out.splitlines() == [
        str(tmp_path / "out" / "xmp"),
        f"sidecars beside the photos in {tmp_path / 'photos'}",
    ]
    assert len(list((tmp_path / "photos").glob("*.xmp"))) == len(photos)
    assert (tmp_path / "photos" / f"{photos[0].name}.xmp").read_text() == "mine"
    _, out, _ = dayline("segment", tmp_path / "photos", "--dry-run")
    assert "note: skipped files" not in out
    code, _, err = dayline("export", events, "--xmp-beside")
    assert (code, err) == (2, "dayline: xmp: needs the folder of photos; pass source (--source)\n")


def test_chapters_of_photos_without_times_name_the_command_that_writes_them(dayline, tmp_path):
    (tmp_path / "photos").mkdir()
    for k, photo in enumerate(make_day(tmp_path / "dated")):
        photo.rename(tmp_path / "photos" / f"image {k}.png")
    code, _, err = dayline(
        "segment",
        tmp_path / "photos",
        "-o",
        tmp_path / "out",
        "--model",
        "color",
        "--export",
        "webvtt",
    )
    assert code == 2
    assert (
        "webvtt: the frames have no times, which chapters need; pass fps, the frames per second"
        " (dayline exp" in err
    )
    code, _, err = dayline("export", tmp_path / "out", "-f", "webvtt", "--fps", "2")
    assert (code, err) == (0, "")
    film = make_film(tmp_path / "film.mp4")
    code, _, err = dayline(
        "export", tmp_path / "out", "--write-chapters", "--source", film, "--fps", "20"
    )
    assert (code, err) == (0, "")


def test_formats_in_the_help_are_those_there_are():
    assert FORMATS_IN_HELP.split(", ") == list(FORMATS)


@pytest.mark.skipif(sys.platform != "linux", reason="names of any bytes are a matter of Linux")
def test_names_that_begin_with_what_cannot_be_shown_are_sorted_too(dayline, tmp_path):
    names = ["\abell.png", "\u200ex.png", "\\server.png", "plain.png"]
    for k, name in enumerate(names):
        save(scene("red", k), tmp_path / "photos" / name)
    segment(
        dayline,
        tmp_path / "photos",
        "-o",
        tmp_path / "out",
        "--export",
        "photos",
        "--order",
        "name",
    )
    sorted_names = {p.name for p in (tmp_path / "out" / "photos").rglob("*.png")}
    assert sorted_names == set(names)


def rows_of(path):
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_a_time_of_day_without_a_date_gets_none(dayline, tmp_path):
    for k in range(6):
        save(scene("red", k), tmp_path / "photos" / f"0723{7 * k:02d}.png")
    segment(dayline, tmp_path / "photos", "-o", tmp_path / "out")
    (row,) = rows_of(tmp_path / "out" / "events.csv")
    assert (row["started"], row["stopped"], row["duration"]) == ("07:23:00", "07:23:35", "35.0")


def test_a_clock_set_back_tells_no_duration(dayline, tmp_path):
    for name in (
        "a_20150312_090000",
        "b_20150312_090030",
        "c_20150311_090000",
        "d_20150311_090030",
    ):
        save(scene("red", 0), tmp_path / "photos" / f"{name}.png")
    segment(
        dayline,
        tmp_path / "photos",
        "-o",
        tmp_path / "out",
        "--order",
        "name",
        "--pause-seconds",
        "1e9",
    )
    (row,) = rows_of(tmp_path / "out" / "events.csv")
    assert row["duration"] == ""


def test_odd_names_come_through_to_page_and_folders(dayline, tmp_path):
    paths = make_day(tmp_path / "photos", [("red", 6), ("blue", 6)])
    odd = [
        'quote".png',
        "<script>alert(1)</script>".replace("/", "_") + ".png",
        " two  spaces.png",
        "\u05d0\u202e.png",
    ]
    for path, name in zip(paths, odd, strict=False):
        path.rename(path.with_name(path.stem + name))
    paths[5].rename(paths[5].with_name(paths[5].stem + os.fsdecode(b"\xff\xfe.png")))
    segment(dayline, tmp_path / "photos", "-o", tmp_path / "out", "--export", "photos")
    found = read_events(tmp_path / "out" / "events.json")
    assert found.n_frames == 12
    assert sum(len(files) for _, _, files in os.walk(tmp_path / "out" / "photos")) == 12 + 1
    page = (tmp_path / "out" / "index.html").read_text(encoding="utf-8")
    assert "<script>alert" not in page
    assert "\u202e" not in page


def wrong_input(folder: Path):
    photos = make_day(folder / "photos", [("red", 6)])
    (folder / "nothing").mkdir()
    (folder / "text").mkdir()
    (folder / "text" / "a.txt").write_text("a")
    (folder / "cut.mp4").write_bytes(make_film(folder / "film.mp4").read_bytes()[:700])
    (folder / "others").mkdir()
    (folder / "others" / "letter.txt").write_text("dear")
    (folder / "saved.json").write_text(
        Segmentation.from_boundaries([2], 6, names=tuple("abcdef")).to_json()
    )
    (folder / "bad").mkdir()
    for k in range(3):
        (folder / "bad" / f"{k}.jpg").touch()
    return {
        "no such file or folder": ["nope"],
        "contains no photos": ["nothing"],
        "contains no photos (": ["text"],
        "a single photo has no events": [photos[0]],
        "cannot be opened as a video": ["cut.mp4"],
        "contains other files (letter.txt": ["photos", "-o", "others"],
        "is a file; choose a folder": ["photos", "-o", "film.mp4"],
        "more than half": ["bad"],
        "only applies to videos": ["photos", "--every", 2],
        "is not known; use lite0": ["photos", "--model", "magic"],
        "unknown export format 'pdf'": ["photos", "--export", "pdf"],
        "chapters can only be written to a video": ["photos", "--write-chapters"],
        "for other frames": ["photos", "--corrections", "saved.json"],
        "nope.json: No such file": ["photos", "--corrections", "nope.json"],
        "--dry-run lists": ["x.npy", "--dry-run"],
        "--key only applies to feature files": ["photos", "--key", "x"],
        "--interpolate only applies to feature files": ["photos", "--interpolate"],
        'is not known; use "cpu"': ["photos", "--device", "abacus"],
        "pauses need factor > 0": ["photos", "--pause-factor", "-1"],
        "pauses need factor > 0 and at_least >= 0 seconds": ["photos", "--pause-seconds", "nan"],
    }


def test_wrong_input_is_one_line_and_leaves_nothing(dayline, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    cases = wrong_input(tmp_path)
    for message, arguments in cases.items():
        model = [] if "--model" in arguments else ["--model", "color"]
        before = {p.name for p in tmp_path.iterdir()}
        for where in [[]] if "-o" in arguments else [["-o", "out"], []]:
            code, out, err = dayline("segment", *arguments, *model, *where)
            assert code == 2, (arguments, err)
            assert message in err
            said = [line for line in err.splitlines() if "the result goes to" not in line]
            assert len(said) == 1, err
            assert said[0].startswith("dayline: ")
            assert out == ""
        made = {p.name for p in tmp_path.iterdir()} - before
        assert not any((tmp_path / name / "events.json").exists() for name in made), message
    assert sorted(p.name for p in (tmp_path / "others").iterdir()) == ["letter.txt"]


def test_a_read_only_output_folder_is_one_line(dayline, tmp_path, monkeypatch):
    make_day(tmp_path / "photos", [("red", 6)])

    def refuse(*_, **__):
        raise PermissionError(13, "Permission denied", str(tmp_path / "out"))

    monkeypatch.setattr("dayline.result_folder.open_no_follow", refuse)
    code, _, err = dayline("segment", tmp_path / "photos", "-o", tmp_path / "out")
    assert code == 2
    assert "cannot be used as output folder: Permission denied" in err
    assert err.count("\n") == 1


def test_a_full_disk_is_one_line(dayline, tmp_path, monkeypatch):
    make_day(tmp_path / "photos")
    replaced = os.replace

    def full(source, target):
        if Path(target).suffix != ".npz" and Path(target).name != ".dayline-files.json":
            raise OSError(28, "No space left on device", str(target))
        replaced(source, target)

    monkeypatch.setattr(os, "replace", full)
    code, out, err = dayline(
        "segment", tmp_path / "photos", "-o", tmp_path / "out", "--model", "color"
    )
    assert code == 2
    assert err.endswith("No space left on device\n")
    assert err.count("\n") == 1
    assert out == ""
    kept = {p.name for p in (tmp_path / "out").rglob("*") if p.is_file()}
    assert kept <= {".dayline", ".dayline-files.json", "features.npz"}


# A shell starts what runs behind it with SIGINT ignored, and children inherit that; a terminal
# never does.
SLOWLY = """
import signal, sys, time
signal.signal(signal.SIGINT, signal.default_int_handler)
from dayline.cli import main
from dayline.features.handmade import ColorExtractor
extract = ColorExtractor.extract
def slowly(self, batch):
    values = extract(self, batch)
    sys.stdout.write("a batch\\n")
    sys.stdout.flush()
    time.sleep(1.0)
    return values
ColorExtractor.extract = slowly
main()
"""


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGINT for one process")
def test_control_c_ends_with_130_and_the_next_run_goes_on(tmp_path):
    n_threads = min(os.cpu_count() or 1, 8)
    n_photos = 6 * n_threads * AT_ONCE
    make_day(tmp_path / "photos", [("red", n_photos // 2), ("blue", n_photos // 2)])
    command = [sys.executable, "-c", SLOWLY, "segment", "photos", "-o", "out", "--model", "color"]
    with subprocess.Popen(
        command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        for _ in range(2 * n_threads + 1):
            assert process.stdout.readline() == "a batch\n"
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert err == "dayline: stopped; no file is incomplete, and the same command resumes\n"
    left = {p.name for p in (tmp_path / "out").iterdir()}
    assert left <= {".dayline", ".dayline-files.json", "features.npz", "thumbnails"}
    with np.load(tmp_path / "out" / "features.npz") as kept:
        n_kept = len(kept["names"])
    assert AT_ONCE <= n_kept < n_photos
    again = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert again.stdout.count("a batch") == (n_photos - n_kept) // AT_ONCE
    assert read_events(tmp_path / "out" / "events.json").n_frames == n_photos


@pytest.mark.filterwarnings("always")
def test_messages_name_options_and_what_limits_them(dayline, features, tmp_path):
    result = tmp_path / "out"
    _, _, err = dayline("segment", features, "-o", result, "--n-events", "3", "--level", "2")
    assert "note: --n-events 3 takes precedence over the level and the duration" in err
    code, _, err = dayline("segment", features, "-o", result, "--min-duration", "-5")
    assert (code, err) == (2, "dayline: --min-duration -5.0; it must be a number above 0\n")
    corrections = result / "corrections.json"
    dayline("segment", features, "-o", result, "--corrections", result / "events.json")
    assert corrections.exists()
    _, _, err = dayline("segment", features, "-o", result, "--n-events", "2")
    assert "note: --n-events 2 cannot change events that your corrections contain" in err
    assert (
        "--n-events 2 is not possible: with 2 required boundaries, the fewest events are 3" in err
    )


def test_export_takes_the_folder_of_a_result_and_says_what_is_missing(dayline, features, tmp_path):
    dayline("segment", features, "-o", tmp_path / "out")
    code, out, _ = dayline("export", tmp_path / "out", "-f", "csv")
    assert (code, out) == (0, f"{tmp_path / 'out' / 'events.csv'}\n")
    code, _, err = dayline("export", tmp_path / "out", "--write-chapters")
    assert (code, err) == (2, "dayline: --write-chapters needs the video; pass it as --source\n")
