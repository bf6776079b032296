from __future__ import annotations

import csv
import json
import os
import shutil
import signal
import subprocess
import sys
from contextlib import nullcontext
from dataclasses import astuple
from pathlib import Path

import numpy as np
import pytest

from cli.run_command import run, segmented
from dayline.album.export.formats import FORMATS, suited_formats
from dayline.album.extraction import AT_ONCE
from dayline.cli.export import FORMATS as FORMATS_IN_HELP
from dayline.events import Segmentation, read_events
from made_locations import photo_at
from made_photos import make_day, make_film, save, scene


def dayline(*arguments: object) -> tuple[int, str, str]:
    """Run a command; its exit code, and what it printed to stdout and to stderr."""
    return astuple(run(*arguments))


@pytest.fixture
def features(tmp_path):
    rows = np.repeat(np.eye(3), 30, axis=0) + np.random.default_rng(0).normal(
        scale=0.05, size=(90, 3)
    )
    np.savez(tmp_path / "day.npz", features=rows, times=30.0 * np.arange(90))
    return tmp_path / "day.npz"


def segment(*arguments: object) -> str:
    return segmented(*arguments).stdout


def test_a_folder_of_photos_gives_a_page(tmp_path):
    make_day(tmp_path / "photos", [("red", 12), ("blue", 12), ("blue", 12)], pause_before=2)
    (tmp_path / "photos" / "bad.jpg").write_text("no image")
    out = segment(tmp_path / "photos", "-o", tmp_path / "out")
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
    assert [r["title"] for r in rows[:2]] == ["Morning", "Morning"]


def test_without_output_a_folder_is_chosen_and_said(tmp_path, monkeypatch):
    make_day(tmp_path / "photos")
    monkeypatch.chdir(tmp_path)
    assert "The page is photos-events/index.html" in segment("photos")
    assert (tmp_path / "photos-events" / "index.html").is_file()


def test_a_result_inside_the_source_is_not_read_again(tmp_path, monkeypatch):
    make_day(tmp_path)
    monkeypatch.chdir(tmp_path)
    for _ in range(2):
        segment(".", "-o", "out")
    (tmp_path / "out" / "index.html").unlink()  # as after an interrupted run
    segment(".", "-o", "out")
    assert read_events(tmp_path / "out" / "events.json").n_frames == 38


def test_dry_run_lists_and_writes_nothing(tmp_path, monkeypatch):
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


def test_a_folder_per_day(tmp_path, monkeypatch):
    told = []
    monkeypatch.setattr(
        "dayline.cli.console.progress_bar",
        lambda quiet: nullcontext(lambda *step: told.append(step)),
    )
    make_day(tmp_path / "trip" / "day 1")
    make_day(tmp_path / "trip" / "day 2", day="20150313")
    out = segment(tmp_path / "trip", "-o", tmp_path / "out")
    assert "day 1: 3 events in 38 photos, 2015-03-12 09:00 to 09:18\n" in out
    assert f"The page is {tmp_path / 'out' / 'index.html'}" in out
    assert read_events(tmp_path / "out" / "day 2" / "events.json").boundaries == (12, 26)

    words = [what for what, _, _ in told]
    assert words[0] == "features"  # of all days, in one pass
    for day in ("day 1 of 2: ", "day 2 of 2: "):
        assert any(word.startswith(day) for word in words)

    for option in (("--corrections", tmp_path / "out" / "day 2" / "events.json"), ("--json",)):
        code, _, err = dayline("segment", tmp_path / "trip", "-o", tmp_path / "out", *option)
        assert code == 2
        assert f"{option[0]} works for one day only" in err


def test_files_that_cannot_be_used_are_listed_in_an_album_of_one_folder(tmp_path):
    for day in ("20150312", "20150313"):
        make_day(tmp_path / "trip", day=day)
    names = ("20150312_broken.jpg", "20150313_<b>.jpg")
    for name in names:
        (tmp_path / "trip" / name).write_text("notes")
    for _ in range(2):
        out = segment(tmp_path / "trip", "-o", tmp_path / "out")
        overview = (tmp_path / "out" / "index.html").read_text(encoding="utf-8")
        assert "2 files left out" in overview
        for day, name in zip(("2015-03-12", "2015-03-13"), names, strict=True):
            result = tmp_path / "out" / day
            skipped = read_events(result / "events.json").skipped
            assert [file.name for file in skipped] == [name]
            assert f"left out: {name}: not an image" in out
            shown = f"{name.replace('<b>', '&lt;b&gt;')}</"
            assert shown in (result / "index.html").read_text(encoding="utf-8")
            assert f'href="{day}/index.html#about">{shown}' in overview


def test_a_day_whose_export_fails_has_its_page(tmp_path):
    make_day(tmp_path / "trip" / "day 1")
    make_day(tmp_path / "trip" / "day 2", [("red", 6)], day="20150313")
    options = ("--model", "color", "--export", "youtube")
    code, out, err = dayline("segment", tmp_path / "trip", "-o", tmp_path / "out", *options)
    assert code == 2
    assert err.splitlines()[-1].startswith(
        "dayline: some exports failed; the first: day 2: youtube: "
    )
    assert "day 2: 1 event in 6 photos" in out
    page = (tmp_path / "out" / "index.html").read_text(encoding="utf-8")
    assert 'href="day%202/index.html"' in page
    assert "Left out" not in page
    assert (tmp_path / "out" / "day 1" / "youtube.txt").is_file()


def test_the_message_of_a_failed_export_is_true(tmp_path):
    make_day(tmp_path / "day", [("red", 6)])
    formats = ("--export", "youtube", "--export", "ics", "--export", "edl")
    code, _, err = dayline(
        "segment", tmp_path / "day", "-o", tmp_path / "out", "--model", "color", *formats
    )
    assert code == 2
    assert err.splitlines()[-1].startswith("dayline: youtube: YouTube requires at least 3 chapters")
    assert err.endswith(f"; everything else is in {tmp_path / 'out'}\n")
    assert {"events.ics", "events.edl"} <= {path.name for path in (tmp_path / "out").iterdir()}

    events = tmp_path / "out" / "events.json"
    code, out, err = dayline("export", events, "-f", "youtube", "-f", "photos", "-f", "webvtt")
    assert (code, err.count("\n")) == (2, 1)
    assert err.startswith("dayline: youtube: YouTube requires")
    assert "; photos: needs the photos" in err
    assert err.endswith(f"; everything else is in {tmp_path / 'out'}\n")
    assert out.splitlines() == [str(tmp_path / "out" / "chapters.vtt")]


# What a note says is a warning, and those are errors in tests.
TOLD = pytest.mark.filterwarnings("always:.* it is kept as")


def name_first_event(out, name):
    content = json.loads((out / "events.json").read_text())
    content["events"][0]["name"] = name
    (out / "events.json").write_text(json.dumps(content))


@TOLD
def test_corrections_outlive_plain_runs_until_they_are_forgotten(tmp_path, features):
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
def test_a_run_updates_the_exports_of_earlier_runs(tmp_path):
    make_day(tmp_path / "photos")
    out = tmp_path / "out"
    segment(tmp_path / "photos", "-o", out, "--export", "photos", "--export", "ffmetadata")
    name_first_event(out, "Breakfast")
    for options, named in (((), True), (("--forget-corrections",), False)):
        said = segment(tmp_path / "photos", "-o", out, *options)
        assert (
            f"Exports of earlier runs, updated: {out / 'chapters.ffmetadata'}, {out / 'photos'}\n"
            in said
        )
        assert ("Breakfast" in (out / "chapters.ffmetadata").read_text()) == named
        assert any("Breakfast" in folder.name for folder in (out / "photos").iterdir()) == named


@TOLD
def test_corrections_are_forgotten_even_where_an_export_fails(tmp_path):
    make_day(tmp_path / "photos")
    out = tmp_path / "out"
    segment(tmp_path / "photos", "-o", out)
    name_first_event(out, "Breakfast")
    segment(tmp_path / "photos", "-o", out)
    (out / "photos").mkdir()
    (out / "photos" / "mine.txt").touch()
    failing = ("--model", "color", "--forget-corrections", "--export", "photos")
    assert dayline("segment", tmp_path / "photos", "-o", out, *failing)[0] == 2
    segment(tmp_path / "photos", "-o", out)
    assert read_events(out / "events.json").events[0].name is None
    assert list(out.glob("corrections-*.json"))


@TOLD
def test_corrections_of_days_outlive_plain_runs(tmp_path):
    make_day(tmp_path / "trip" / "day 1")
    make_day(tmp_path / "trip" / "day 2", day="20150313")
    segment(tmp_path / "trip", "-o", tmp_path / "out")
    name_first_event(tmp_path / "out" / "day 2", "Breakfast")
    for _ in range(2):
        segment(tmp_path / "trip", "-o", tmp_path / "out")
        assert read_events(tmp_path / "out" / "day 1" / "events.json").events[0].name is None
        assert read_events(tmp_path / "out" / "day 2" / "events.json").events[0].name == "Breakfast"
    segment(tmp_path / "trip", "-o", tmp_path / "out", "--forget-corrections")
    assert read_events(tmp_path / "out" / "day 2" / "events.json").events[0].name is None


@pytest.mark.filterwarnings("always:'Breakfast'", "always:.* it is kept as")
def test_edits_of_another_recording_in_the_same_folder_are_kept_and_named(tmp_path):
    make_day(tmp_path / "a" / "DCIM")
    make_day(tmp_path / "b" / "DCIM", day="20150313")
    out = tmp_path / "out"
    segment(tmp_path / "a" / "DCIM", "-o", out)
    name_first_event(out, "Breakfast")
    _, _, err = dayline("segment", tmp_path / "b" / "DCIM", "-o", out, "--model", "color")
    assert "'Breakfast': none of the 12 photos" in err
    assert read_events(out / "events.json").events[0].name is None
    segment(tmp_path / "a" / "DCIM", "-o", out)
    assert read_events(out / "events.json").events[0].name == "Breakfast"


def test_export_replaces_only_what_dayline_wrote(tmp_path):
    make_day(tmp_path / "photos")
    segment(tmp_path / "photos", "-o", tmp_path / "out")
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
    for folder in (tmp_path / "out", tmp_path / "new", tmp_path / "new"):
        again = ("export", tmp_path / "out", "-f", "csv", "-f", "edl", "-o", folder)
        assert dayline(*again)[0::2] == (0, "")
    (tmp_path / "new" / "events.csv").write_text("my own table")
    assert dayline(*again)[0] == 2


@pytest.mark.filterwarnings("always:.* kept in")
def test_a_plain_copy_of_a_result_is_exported_again_and_force_replaces_folders(tmp_path):
    make_day(tmp_path / "photos")
    segment(tmp_path / "photos", "-o", tmp_path / "out", "--export", "xmp", "--export", "photos")
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
        f"dayline: note: 1 file in {copy / 'xmp'} not written by dayline, changed since, or of"
    )
    (kept,) = copy.glob("xmp-kept-*/mine.xmp")
    assert kept.read_text() == "mine"


def test_exports_beside_the_photos_are_not_read_as_photos(tmp_path):
    make_day(tmp_path / "photos")
    segment(tmp_path / "photos", "-o", tmp_path / "out")
    saved = tmp_path / "photos" / "saved.json"
    saved.write_bytes((tmp_path / "out" / "events.json").read_bytes())
    beside = ("-f", "photos", "--source", tmp_path / "photos")
    assert dayline("export", saved, *beside)[0] == 0
    segment(tmp_path / "photos", "-o", tmp_path / "out")
    assert read_events(tmp_path / "out" / "events.json").n_frames == 38
    # Sorted photos by themselves are photos like any others.
    event, *_ = (path for path in (tmp_path / "photos" / "photos").iterdir() if path.is_dir())
    segment(event, "-o", tmp_path / "again")
    assert read_events(tmp_path / "again" / "events.json").n_frames == len(list(event.iterdir()))


def test_a_copy_with_chapters_replaces_no_film_of_others(tmp_path):
    film = make_film(tmp_path / "film.mp4")
    segment(film, "-o", tmp_path / "out", "--n-events", 2)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "events.json").write_bytes((tmp_path / "out" / "events.json").read_bytes())
    (tmp_path / "mine" / "film-chapters.mp4").write_text("another film")
    export = ("export", tmp_path / "mine" / "events.json", "--write-chapters", "--source", film)
    code, _, err = dayline(*export)
    assert code == 2
    assert "film-chapters.mp4: exists, but dayline did not write it" in err
    assert (tmp_path / "mine" / "film-chapters.mp4").read_text() == "another film"


@pytest.mark.filterwarnings("always:faces were blurred", "always:sorted photos are not changed")
def test_exports_of_a_result_with_blurred_faces_warn_of_faces(tmp_path, monkeypatch):
    for module in ("album.pictures", "album.write", "album.settings"):
        monkeypatch.setattr(f"dayline.{module}.face_blurrer", lambda: np.zeros_like)
    make_day(tmp_path / "photos")
    out = tmp_path / "out"
    segment(tmp_path / "photos", "-o", out, "--blur-faces")
    code, _, err = dayline("export", out, "-f", "photos", "--source", tmp_path / "photos")
    assert code == 0
    assert "sorted photos are not changed: their faces are not blurred" in err
    code, _, err = dayline("segment", tmp_path / "photos", "-o", out, "--model", "color")
    assert code == 0
    assert (
        "note: faces were blurred in an earlier run and are not in this one; --blur-faces blurs"
        " them again" in err
    )


def test_shared_pages_link_to_no_file(tmp_path):
    make_day(tmp_path / "my photos", [("red", 6), ("blue", 6)])
    segment(tmp_path / "my photos", "-o", tmp_path / "out")
    page = tmp_path / "out" / "index.html"
    assert b"../my%20photos/20150312_090000.png" in page.read_bytes()
    segment(tmp_path / "my photos", "-o", tmp_path / "out", "--private")
    assert b"my%20photos" not in page.read_bytes()
    film = make_film(tmp_path / "my film.mp4")
    segment(film, "-o", tmp_path / "of film")
    assert b'"film":"../my%20film.mp4"' in (tmp_path / "of film" / "index.html").read_bytes()
    segment(film, "-o", tmp_path / "of film", "--private")
    assert b"my%20film" not in (tmp_path / "of film" / "index.html").read_bytes()


def test_shared_results_do_not_say_where_photos_were_taken(tmp_path):
    for k in range(8):
        photo_at(tmp_path / "photos" / f"{k}.jpg", 30 * k, (39.571, 2.651))
    printed = segment(tmp_path / "photos", "-o", tmp_path / "out", "--json")
    assert json.loads(printed)["events"][0]["location"] == pytest.approx([39.571, 2.651], abs=1e-4)
    printed = segment(tmp_path / "photos", "-o", tmp_path / "out", "--json", "--private")
    assert json.loads(printed)["events"][0]["location"] is None
    for path in (tmp_path / "out").rglob("*"):
        assert not path.is_file() or b"39.57" not in path.read_bytes(), path


def test_pages_say_nothing_of_where_things_lie(tmp_path, monkeypatch):
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
    options = ("--model", "color", "--export", "photos", "--export", "edl")
    code, _, err = dayline("segment", private / "trip", "-o", private / "out", *options)
    assert code == 0, err
    assert "private tax 2024.pdf" in err
    film = make_film(private / "film.mp4")
    options = ("--write-chapters", "--export", "otio", "--export", "edl")
    segment(film, "-o", private / "out of film", *options)
    monkeypatch.chdir(private)
    segment("trip/day 1", "-o", "relative", "--export", "xmp")
    page = (private / "out" / "index.html").read_text(encoding="utf-8")
    assert page.count("Left out") == 2
    for folder in (private / "out", private / "out of film", private / "relative"):
        for path in folder.rglob("*"):
            content = path.read_bytes() if path.is_file() else b""
            assert b"home of ada" not in content, path
            assert os.fsencode(tmp_path) not in content, path
            assert b"private tax" not in content, path


def test_links_planted_below_the_output_are_not_followed(tmp_path):
    make_day(tmp_path / "trip" / "d1")
    make_day(tmp_path / "trip" / "d2", day="20150313")
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / ".dayline").touch()
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "out" / "d1").symlink_to(tmp_path / "elsewhere")
    segment(tmp_path / "trip", "-o", tmp_path / "out")
    assert list((tmp_path / "elsewhere").iterdir()) == []
    assert (tmp_path / "out" / "d2" / "index.html").is_file()
    page = (tmp_path / "out" / "index.html").read_text(encoding="utf-8")
    assert "Left out: d1: is a link to another place" in page


@pytest.mark.skipif(sys.platform != "linux", reason="names of any bytes are a matter of Linux")
def test_a_day_whose_name_is_not_utf8_has_its_row_on_the_overview(tmp_path):
    make_day(tmp_path / "trip" / "day 1")
    make_day(tmp_path / "trip" / os.fsdecode(b"day \xff"), day="20150313")
    segment(tmp_path / "trip", "-o", tmp_path / "out")
    page = (tmp_path / "out" / "index.html").read_text(encoding="utf-8")
    assert 'href="day%20%FF/index.html"' in page
    assert "day \\xff" in page


@pytest.mark.skipif(sys.platform != "linux", reason="names of any bytes are a matter of Linux")
@pytest.mark.parametrize(
    "names",
    [
        [b"a\xff.png", b"a\xfe.png", b"a\\xff.png", "a\x80.png".encode(), b"a\x80.png"],
        [b"\abell.png", "\u200ex.png".encode(), b"\\server.png", b'quote".png'],
        [b"<script>alert(1).png", b" two  spaces.png", "\u05d0\u202e.png".encode(), b"plain.png"],
    ],
)
def test_photos_with_names_that_cannot_be_shown_are_each_sorted(names, tmp_path):
    for k, name in enumerate(names):
        save(scene("red", k), tmp_path / "photos" / os.fsdecode(name))
    options = ("--export", "photos", "--order", "name")
    segment(tmp_path / "photos", "-o", tmp_path / "out", *options)
    found = {os.fsencode(path.name): path for path in (tmp_path / "out" / "photos").rglob("*.png")}
    assert set(found) == set(names)
    assert all(
        path.samefile(tmp_path / "photos" / os.fsdecode(name)) for name, path in found.items()
    )
    page = (tmp_path / "out" / "index.html").read_text(encoding="utf-8")
    assert "<script>alert" not in page
    assert "\u202e" not in page


def test_a_film_with_exports_and_chapters(tmp_path):
    pytest.importorskip("opentimelineio")
    film = make_film(tmp_path / "film.mp4")
    options = [
        f"--export={name}" for name in suited_formats(list(FORMATS), "video") if name != "youtube"
    ]
    out = segment(
        film, "-o", tmp_path / "out", "--every", 0.5, "--n-events", 2, "--write-chapters", *options
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
    assert {"chapters.vtt", "events.otio", "events.edl"} <= names


def test_export_of_a_saved_file(tmp_path):
    photos = make_day(tmp_path / "photos")
    segment(tmp_path / "photos", "-o", tmp_path / "out")
    events = tmp_path / "out" / "events.json"
    code, out, err = dayline(
        "export", events, "--format", "webvtt", "-f", "photos", "--source", tmp_path / "photos"
    )
    assert code == 0, err
    assert out.splitlines() == [
        str(tmp_path / "out" / "chapters.vtt"),
        str(tmp_path / "out" / "photos"),
    ]
    assert (tmp_path / "out" / "photos" / "2015-03-12 09.00 Morning" / photos[0].name).samefile(
        photos[0]
    )
    code, out, _ = dayline("export", tmp_path / "out", "-f", "csv", "-o", tmp_path / "elsewhere")
    assert out.strip() == str(tmp_path / "elsewhere" / "events.csv")
    code, _, err = dayline("export", tmp_path / "out", "--write-chapters")
    assert (code, err) == (2, "dayline: --write-chapters needs the video; pass it as --source\n")


@pytest.mark.filterwarnings("always")
def test_sidecars_beside_the_photos_are_an_option_of_their_own(tmp_path):
    photos = make_day(tmp_path / "photos")
    segment(tmp_path / "photos", "-o", tmp_path / "out", "--export", "xmp")
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


def test_chapters_of_photos_without_times_name_the_command_that_writes_them(tmp_path):
    (tmp_path / "photos").mkdir()
    for k, photo in enumerate(make_day(tmp_path / "dated")):
        photo.rename(tmp_path / "photos" / f"image {k}.png")
    options = ("--model", "color", "--export", "webvtt")
    code, _, err = dayline("segment", tmp_path / "photos", "-o", tmp_path / "out", *options)
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


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        ([f"0723{7 * k:02d}" for k in range(6)], ("07:23:00", "07:23:35", "35.0")),
        # The clock was set back: nobody knows how long it took.
        (
            ["a_20150312_090000", "b_20150312_090030", "c_20150311_090000", "d_20150311_090030"],
            ("2015-03-12 09:00:00", "2015-03-11 09:00:30", ""),
        ),
    ],
)
def test_a_clock_without_dates_or_set_back_makes_up_nothing(names, expected, tmp_path):
    for k, name in enumerate(names):
        save(scene("red", k), tmp_path / "photos" / f"{name}.png")
    options = ("--order", "name", "--pause-seconds", "1e9")
    segment(tmp_path / "photos", "-o", tmp_path / "out", *options)
    with (tmp_path / "out" / "events.csv").open(encoding="utf-8", newline="") as file:
        (row,) = csv.DictReader(file)
    assert (row["started"], row["stopped"], row["duration"]) == expected


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
        "--write-chapters only applies to videos": ["photos", "--write-chapters"],
        "for other frames": ["photos", "--corrections", "saved.json"],
        "nope.json: No such file": ["photos", "--corrections", "nope.json"],
        "--dry-run lists": ["x.npy", "--dry-run"],
        "--key only applies to feature files": ["photos", "--key", "x"],
        "--interpolate only applies to feature files": ["photos", "--interpolate"],
        "--no-pauses only applies to feature files": ["photos", "--no-pauses"],
        'is not known; use "cpu"': ["photos", "--device", "abacus"],
        "--pause-factor -1; it must be": ["photos", "--pause-factor", "-1"],
        "--pause-seconds nan; it must be": ["photos", "--pause-seconds", "nan"],
        "--jump-km 0; it must be": ["photos", "--jump-km", "0"],
        "--expected-duration nan; it must": ["photos", "--expected-duration", "nan"],
        "--kind films is not known": ["photos", "--kind", "films"],
        "--device abacus is not known": ["photos", "--device", "abacus"],
        "Invalid value for '--method': 'magic' is not": ["photos", "--method", "magic"],
    }


def test_wrong_input_is_one_line_and_leaves_nothing(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    cases = wrong_input(tmp_path)
    for message, arguments in cases.items():
        model = [] if "--model" in arguments else ["--model", "color"]
        before = {p.name for p in tmp_path.iterdir()}
        for where in [[]] if "-o" in arguments else [["-o", "out"], []]:
            code, out, err = dayline("segment", *arguments, *model, *where)
            assert (code, out) == (2, ""), (arguments, err)
            assert message in err
            assert err.startswith("dayline: ")
            assert err.count("\n") == 1
        made = {p.name for p in tmp_path.iterdir()} - before
        assert not any((tmp_path / name / "events.json").exists() for name in made), message
    assert sorted(p.name for p in (tmp_path / "others").iterdir()) == ["letter.txt"]


# A shell starts what runs behind it with SIGINT ignored, and children inherit that; a terminal
# never does.
SLOWLY = """
import signal, sys, time
signal.signal(signal.SIGINT, signal.default_int_handler)
from dayline.cli import main
from dayline.features.handmade import HandmadeExtractor
extract = HandmadeExtractor.extract
def slowly(self, batch):
    values = extract(self, batch)
    sys.stdout.write("a batch\\n")
    sys.stdout.flush()
    time.sleep(1.0)
    return values
HandmadeExtractor.extract = slowly
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


# The first Ctrl-C comes while features are saved; the second while the generator that reads photos
# in threads is closed and waits for these.
TWICE = """
import os, threading
from dayline.album import extraction
extraction.SAVE_EVERY = -1.0
def interrupt():
    os.kill(os.getpid(), signal.SIGINT)
def save(self, keys, read):
    extraction.FrameReader._save = lambda *_: threading.Timer(0.3, interrupt).start()
    interrupt()
extraction.FrameReader._save = save
"""


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGINT for one process")
def test_a_second_control_c_ends_at_once_without_a_traceback(tmp_path):
    n_photos = 6 * min(os.cpu_count() or 1, 8) * AT_ONCE
    make_day(tmp_path / "photos", [("red", n_photos // 2), ("blue", n_photos // 2)])
    code = SLOWLY.replace("main()", f"{TWICE}main()")
    command = [sys.executable, "-c", code, "segment", "photos", "-o", "out", "--model", "color"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 130
    assert done.stderr == "dayline: stopped; no file is incomplete, and the same command resumes\n"


@pytest.mark.filterwarnings("always")
def test_messages_name_options_and_what_limits_them(features, tmp_path):
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
