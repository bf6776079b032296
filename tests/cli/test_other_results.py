"""A folder with the result of another source is refused; that of the same source is updated."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

from cli.run_command import contents, run
from dayline.album.extraction import FrameReader
from dayline.events import read_events
from made_photos import make_day, make_film

SCENES = (("red", 10), ("green", 10))


@pytest.fixture
def made(tmp_path) -> Path:
    """Sources of all kinds, two of each, without a photo in common."""
    for day in ("20150312", "20150313"):
        make_day(tmp_path / "trip" / day, SCENES, day=day)
        make_day(tmp_path / "home" / f"at {day}", SCENES, day=day.replace("03", "07"))
    make_day(tmp_path / "walk", SCENES, day="20150501")
    make_day(tmp_path / "ride", SCENES, day="20150601")
    make_film(tmp_path / "film.mp4")
    make_film(tmp_path / "other.mp4", (("green", 40), ("sand", 40)))
    np.save(tmp_path / "table.npy", np.random.default_rng(0).normal(size=(30, 4)))
    np.save(tmp_path / "more.npy", np.random.default_rng(1).normal(size=(40, 4)))
    return tmp_path


def written(command: str, source: Path, output: Path):
    model = () if source.suffix == ".npy" else ("--model", "color")
    return run(
        command, source, "-o", output, *model, *(("--jobs", 1) if command == "batch" else ())
    )


@pytest.mark.parametrize(
    ("first", "second", "holds"),
    [
        (("segment", "walk"), ("segment", "trip"), "the result of 'walk' (20 photos)"),
        (("segment", "walk"), ("batch", "trip"), "the result of 'walk' (20 photos)"),
        (("segment", "walk"), ("segment", "ride"), "the result of 'walk' (20 photos)"),
        (("segment", "trip"), ("segment", "walk"), "2 days of 'trip'"),
        (("segment", "trip"), ("segment", "home"), "2 days of 'trip'"),
        (("segment", "trip"), ("batch", "trip"), "2 days of 'trip'"),
        (("batch", "trip"), ("segment", "walk"), "the results of a batch"),
        (("segment", "film.mp4"), ("segment", "other.mp4"), "the result of 'film.mp4'"),
        (
            ("segment", "table.npy"),
            ("segment", "more.npy"),
            "the result of 'table.npy' (30 frames)",
        ),
    ],
)
def test_the_result_of_another_source_is_kept_and_named(made, first, second, holds):
    out = made / "out"
    assert written(first[0], made / first[1], out).returncode == 0
    before = contents(out)
    done = written(second[0], made / second[1], out)
    assert done.returncode == 2
    line = done.stderr.strip().splitlines()[-1]
    assert f"{out}: holds {holds}" in line
    assert "choose another folder (-o)" in line
    assert contents(out) == before


def test_a_result_of_another_source_is_replaced_on_request(made):
    out = made / "out"
    assert written("segment", made / "walk", out).returncode == 0
    assert (
        run(
            "segment", made / "ride", "-o", out, "--model", "color", "--forget-corrections"
        ).returncode
        == 0
    )
    assert read_events(out / "events.json").source == "ride"


def test_days_are_refused_before_their_photos_are_read_also_without_corrections(made, monkeypatch):
    out = made / "out"
    assert written("segment", made / "trip", out).returncode == 0
    before = contents(out)
    monkeypatch.setattr(FrameReader, "read_files", lambda *_: pytest.fail("photos are read"))
    options = ("--model", "color", "--forget-corrections")
    done = run("segment", made / "home", "-o", out, *options)
    assert done.returncode == 2
    assert "holds 2 days of 'trip'" in done.stderr
    assert contents(out) == before


def test_a_path_with_a_typo_is_said_to_be_missing_whatever_the_folder_holds(made):
    out = made / "out"
    assert written("segment", made / "trip", out).returncode == 0
    done = written("segment", made / "tripp", out)
    assert (done.returncode, done.stderr) == (
        2,
        f"dayline: {made / 'tripp'}: no such file or folder\n",
    )


def test_an_album_is_not_written_into_one_of_its_days(made):
    out = made / "out"
    assert written("segment", made / "trip", out).returncode == 0
    day = out / "2015-03-12"
    pages = {path: path.read_bytes() for path in out.rglob("*") if path.suffix in (".html", ".jpg")}
    done = written("segment", made / "trip", day)
    assert done.returncode == 2
    assert done.stderr == (
        f"dayline: {day}: one of the days of {out}, and these are photos of 2 days;"
        f" choose another folder (-o {out})\n"
    )
    assert {path: path.read_bytes() for path in pages} == pages
    assert not (day / "2015-03-13").exists()
    # A day alone is still written into its own folder.
    assert written("segment", made / "trip" / "20150312", day).returncode == 0


@pytest.mark.parametrize("source", ["walk", "trip", "film.mp4", "table.npy"])
def test_a_source_that_moved_or_was_renamed_keeps_its_folder(made, source):
    out = made / "out"
    assert written("segment", made / source, out).returncode == 0
    assert written("segment", made / source, out).returncode == 0
    (made / "elsewhere").mkdir()
    moved = shutil.move(made / source, made / "elsewhere" / source)
    assert written("segment", moved, out).returncode == 0
    renamed = shutil.move(moved, made / f"again{moved.suffix}")
    assert written("segment", renamed, out).returncode == 0


def test_a_source_whose_photos_are_all_new_keeps_its_folder(made):
    out = made / "out"
    assert written("segment", made / "walk", out).returncode == 0
    shutil.rmtree(made / "walk")
    make_day(made / "walk", SCENES, day="20150502")
    assert written("segment", made / "walk", out).returncode == 0
    assert read_events(out / "events.json").names[0].startswith("20150502")


def test_days_that_are_all_new_keep_the_folder_of_their_source(made):
    out = made / "out"
    assert written("segment", made / "trip", out).returncode == 0
    shutil.rmtree(made / "trip")
    shutil.move(made / "home", made / "trip")
    assert written("segment", made / "trip", out).returncode == 0


def test_a_source_may_become_several_days_and_one_again(made):
    """Two cameras on one day are one recording; a second day makes several."""
    out = made / "out"
    make_day(made / "tour" / "a", SCENES, day="20150312")
    make_day(made / "tour" / "b", (("blue", 10),), day="20150312")
    assert written("segment", made / "tour", out).returncode == 0
    assert (out / "events.json").is_file()
    make_day(made / "tour" / "b", (("sand", 10),), day="20150313")
    renamed = shutil.move(made / "tour", made / "journey")
    assert written("segment", renamed, out).returncode == 0
    assert (out / "2015-03-13" / "events.json").is_file()
    for path in (renamed / "b").glob("20150313*"):
        path.unlink()
    assert written("segment", renamed, out).returncode == 0
    assert run("segment", renamed, "-o", out, "--model", "color", "--by-folder").returncode == 0
    assert (out / "b" / "events.json").is_file()


def test_a_day_may_become_one_of_several(made):
    out = made / "out"
    assert written("segment", made / "trip" / "20150312", out).returncode == 0
    assert written("segment", made / "trip", out).returncode == 0


def test_a_day_of_several_can_be_run_alone(made):
    out = made / "out"
    assert written("segment", made / "trip", out).returncode == 0
    assert written("segment", made / "trip" / "20150312", out / "20150312").returncode == 0


@pytest.mark.filterwarnings("always:.* listed 2 other sequences:UserWarning")
def test_a_batch_of_other_sequences_says_what_its_list_no_longer_shows(made):
    out = made / "out"
    assert written("batch", made / "trip", out).returncode == 0
    done = written("batch", made / "home", out)
    assert done.returncode == 0
    assert "listed 2 other sequences (the first: 20150312)" in done.stderr
    assert (out / "20150312" / "index.html").is_file()
    assert "listed" not in written("batch", made / "home", out).stderr
