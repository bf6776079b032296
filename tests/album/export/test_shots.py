from __future__ import annotations

import csv
import io

import av
import pytest

from cli.run_command import run
from dayline import read_events
from dayline.album.export.formats import FORMATS, export
from dayline.album.segment import segment_source
from dayline.events import Segmentation, Shot
from made_films import make_moving_film

SCENES = (60, 40, 50)


@pytest.fixture(scope="module")
def film(tmp_path_factory):
    return make_moving_film(tmp_path_factory.mktemp("film") / "film.mp4", SCENES)


@pytest.fixture(scope="module")
def found(film):
    return segment_source(film, model="color").segmentation


def test_every_timed_format_has_the_shots_at_exact_times(found, film, tmp_path):
    formats = ["csv", "webvtt", "ffmetadata", "edl", "otio", "clips"]
    export(found, tmp_path, formats=formats, shots=True, with_chapters=True, source=film)
    rows = list(csv.DictReader(io.StringIO((tmp_path / "shots.csv").read_text())))
    assert [(row["start"], row["stop"]) for row in rows] == [
        ("0", "60"),
        ("60", "100"),
        ("100", "150"),
    ]
    assert [row["start_time"] for row in rows] == ["0.0", "2.4", "4.0"]
    assert "00:00:02.400 --> 00:00:04.000\nShot 2" in (tmp_path / "shots.vtt").read_text()
    assert "START=2400\nEND=4000\ntitle=Shot 2" in (tmp_path / "shots.ffmetadata").read_text()
    assert "00:00:02:10 00:00:04:00" in (tmp_path / "shots.edl").read_text()
    assert (tmp_path / "shots.otio").is_file()
    assert (tmp_path / "shot-clips").is_dir()
    with av.open(str(tmp_path / "film-chapters.mp4")) as copy:
        starts = [float(c["start"] * c["time_base"]) for c in copy.chapters()]
    assert starts == [0.0, 2.4, 4.0]


def test_without_the_film_the_last_shot_ends_with_its_last_frame(found, tmp_path):
    export(found, tmp_path, formats=["webvtt"], shots=True)
    # 150 frames at 25 a second.
    assert "00:00:04.000 --> 00:00:06.000" in (tmp_path / "shots.vtt").read_text()


def test_scenes_and_shots_lie_side_by_side(found, film, tmp_path):
    export(found, tmp_path, formats=["webvtt"], source=film)
    export(found, tmp_path, formats=["webvtt"], shots=True, source=film)
    assert "Event 1" in (tmp_path / "chapters.vtt").read_text()
    assert "Shot 1" in (tmp_path / "shots.vtt").read_text()


@pytest.mark.parametrize("name", [name for name, form in FORMATS.items() if not form.of_shots])
def test_formats_of_photos_have_no_shots(found, tmp_path, name):
    with pytest.raises(ValueError, match="cannot have shots"):
        export(found, tmp_path, formats=[name], shots=True)


def test_events_without_shots_say_so(tmp_path):
    photos = Segmentation.from_boundaries([2], 4, times=[0, 1, 2, 3], clock="wall")
    with pytest.raises(ValueError, match="only films have them"):
        export(photos, tmp_path, formats=["webvtt"], shots=True)


def test_the_commands_write_shots_and_take_them_back(film, tmp_path):
    first, again = tmp_path / "first", tmp_path / "again"
    segmented = ["segment", str(film), "-q", "--model", "color", "--no-thumbnails"]
    assert run(*segmented, "-o", str(first), "--export", "edl", "--shots").returncode == 0
    assert run(*segmented, "-o", str(again), "--cuts", str(first / "shots.edl")).returncode == 0
    assert read_events(again / "events.json").shots == read_events(first / "events.json").shots
    assert run("export", str(again), "--shots", "-f", "csv").returncode == 0
    assert (again / "shots.csv").is_file()
    alone = run(*segmented, "-o", str(again), "--shots")
    assert alone.returncode == 2
    assert "--shots is about exports" in alone.stderr


def test_exports_of_shots_follow_other_cuts(film, tmp_path):
    out, cuts = tmp_path / "out", tmp_path / "cuts.csv"
    segmented = ["segment", str(film), "-q", "--model", "color", "--no-thumbnails", "-o", str(out)]
    assert run(*segmented, "--export", "webvtt", "--shots").returncode == 0
    assert run("export", str(out), "--shots", "-f", "csv").returncode == 0
    assert "00:00:02.400 --> 00:00:04.000" in (out / "shots.vtt").read_text()

    cuts.write_text("Start Time (seconds)\n0.0\n3.0\n")
    assert run(*segmented, "--cuts", str(cuts)).returncode == 0
    assert "00:00:03.000 --> 00:00:06.000\nShot 2" in (out / "shots.vtt").read_text()
    rows = list(csv.DictReader(io.StringIO((out / "shots.csv").read_text())))
    assert [row["start"] for row in rows] == ["0", "75"]
    # What did not change is not written again, but for the table, which names events.
    (out / "shots.vtt").touch()
    at = (out / "shots.vtt").stat().st_mtime_ns
    assert run(*segmented, "--cuts", str(cuts)).returncode == 0
    assert (out / "shots.vtt").stat().st_mtime_ns == at


@pytest.mark.filterwarnings("always:n_events=9")
def test_more_events_than_shots_are_told_by_the_shots(film, tmp_path):
    asked = run("segment", str(film), "-o", str(tmp_path / "out"), "-q", "--n-events", "9")
    assert asked.returncode == 0
    assert "--n-events 9 is not possible: the film has 3 shots" in asked.stderr
    assert len(read_events(tmp_path / "out" / "events.json").events) == 3


def test_an_interval_longer_than_the_film_replaces_no_result(film, tmp_path):
    segmented = ["segment", str(film), "-o", str(tmp_path / "out"), "-q", "--model", "color"]
    assert run(*segmented).returncode == 0
    before = (tmp_path / "out" / "events.json").read_bytes()
    # 150 frames at 25 a second: the last begins at 5.96 s.
    refused = run(*segmented, "--every", "6")
    assert refused.returncode == 2
    assert refused.stderr.count("\n") == 1
    assert "--every 6: the time between frames is longer than the video" in refused.stderr
    assert (tmp_path / "out" / "events.json").read_bytes() == before
    assert run(*segmented, "--every", "5.9").returncode == 0


@pytest.mark.parametrize("name", ["photos", "xmp", "story"])
def test_formats_of_photos_are_refused_for_a_film(found, film, tmp_path, name):
    (tmp_path / "events.json").write_text(found.to_json())
    for more in ([], ["--source", str(film)]):
        refused = run("export", str(tmp_path / "events.json"), "-f", name, *more)
        assert refused.returncode == 2
        assert f"{name}: is for photos, and these are the events of a film" in refused.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["events.json"]


def test_shots_are_in_events_json(found, tmp_path):
    (tmp_path / "events.json").write_text(found.to_json())
    assert read_events(tmp_path / "events.json").shots == found.shots
    with pytest.raises(ValueError, match="is empty, or the one before does not stop there"):
        found.about(shots=(Shot(0, 5, 0.0, 1.0), Shot(6, 9, 1.1, 2.0)))
