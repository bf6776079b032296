"""Photos as people have them: several cameras and days, exports of phones, copies."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from PIL import Image

from cli.run_command import run, segmented
from dayline.events import read_events
from dayline.text import parse_offset
from made_photos import make_day, save, scene

TOLD = pytest.mark.filterwarnings(
    "ignore:.*is not the file that dayline wrote",
    "ignore:the previous .* contains",
    "ignore:.*your corrections in",
)


def test_two_cameras_of_one_day_are_one_result(tmp_path):
    make_day(tmp_path / "in" / "A", [("red", 6), ("green", 6)])
    for k in range(12):
        save(
            scene("red" if k < 6 else "green", 99 + k),
            tmp_path / "in" / "B" / f"20150312_09{k // 2:02d}{k % 2 * 30 + 7:02d}.png",
        )
    segmented(tmp_path / "in", "-o", tmp_path / "out")
    found = read_events(tmp_path / "out" / "events.json")
    assert found.n_frames == 24
    assert found.names[:2] == ("A/20150312_090000.png", "B/20150312_090007.png")
    segmented(tmp_path / "in", "-o", tmp_path / "by", "--by-folder")
    assert sorted(p.name for p in (tmp_path / "by").iterdir() if p.is_dir()) == ["A", "B"]


def test_a_single_subfolder_is_a_day_of_its_own_also_beside_its_copy(tmp_path):
    make_day(tmp_path / "in" / "A", [("red", 6)])
    segmented(tmp_path / "in", "-o", tmp_path / "out")
    shutil.copytree(tmp_path / "in" / "A", tmp_path / "in" / "B")
    segmented(tmp_path / "in", "-o", tmp_path / "out")
    assert [path.parent.name for path in (tmp_path / "out").rglob("events.json")] == ["A"]


def test_a_holiday_in_folders_by_month_gives_a_result_per_day(tmp_path):
    for day in ("20230731", "20230801", "20230802"):
        make_day(tmp_path / "in" / day[:6], [("red", 5), ("blue", 5)], day=day)
    done = segmented(tmp_path / "in", "-o", tmp_path / "out")
    names = ["2023-07-31", "2023-08-01", "2023-08-02"]
    assert [line.partition(":")[0] for line in done.stdout.splitlines()[:3]] == names
    events = read_events(tmp_path / "out" / "2023-08-01" / "events.json")
    assert (events.source, events.names[0]) == ("in", "202308/20230801_090000.png")
    listed = run("segment", tmp_path / "in", "--dry-run").stdout.splitlines()
    assert [line for line in listed if line.endswith(":")] == [f"{name}:" for name in names]


def test_several_dates_in_one_folder_are_days_unless_they_are_wanted_as_one(tmp_path):
    source, out = tmp_path / "holiday", tmp_path / "out"
    for day in ("20230715", "20230716"):
        make_day(source, [("red", 5), ("blue", 5)], day=day)
    make_day(source / "phone", [("sand", 4)], day="20230717")
    done = segmented(source, "-o", out)
    names = ["2023-07-15", "2023-07-16", "2023-07-17"]
    assert [line.partition(":")[0] for line in done.stdout.splitlines()[:3]] == names
    assert sorted(p.name for p in out.iterdir() if p.is_dir() and p.name[0] == "2") == names
    assert read_events(out / "2023-07-16" / "events.json").n_frames == 10
    listed = run("segment", source, "--dry-run").stdout.splitlines()
    assert [line for line in listed if line.endswith(":")] == [f"{name}:" for name in names]

    segmented(source, "-o", tmp_path / "one", "--as-one")
    assert read_events(tmp_path / "one" / "events.json").n_frames == 24
    refused = run("segment", source, "--as-one", "--by-folder")
    assert (refused.returncode, refused.stderr) == (
        2,
        "dayline: --by-folder and --as-one contradict each other; use one of them\n",
    )


def test_one_folder_with_one_night_stays_one_result(tmp_path):
    for hour, day in ((22, "20230715"), (23, "20230715"), (0, "20230716"), (1, "20230716")):
        for minute in range(4):
            pixels = scene("red", 60 * hour + minute)
            save(pixels, tmp_path / "party" / f"{day}_{hour:02d}{minute:02d}00.png")
    segmented(tmp_path / "party", "-o", tmp_path / "out")
    assert read_events(tmp_path / "out" / "events.json").n_frames == 16


def test_undated_photos_beside_days_in_one_folder_have_the_name_of_the_folder(tmp_path):
    for day in ("20230715", "20230716"):
        make_day(tmp_path / "in" / "dated", [("red", 4)], day=day)
    for k in range(3):
        save(scene("blue", k), tmp_path / "in" / f"scan{k}.png")
    done = segmented(tmp_path / "in", "-o", tmp_path / "out")
    assert "in: 3 photos without a date cannot be assigned to a day" in done.stderr
    assert read_events(tmp_path / "out" / "in" / "events.json").n_frames == 3


def test_a_takeout_of_a_year_is_split_by_its_json_times(tmp_path):
    folder = tmp_path / "in" / "Takeout" / "Google Photos" / "Photos from 2023"
    for k in range(6):
        save(scene("red", k), folder / f"IMG_{k}.png")
        seconds = int(datetime(2023, 7, 15 + k // 3, 10, k, tzinfo=UTC).timestamp())
        about = {"title": f"IMG_{k}.png", "photoTakenTime": {"timestamp": str(seconds)}}
        (folder / f"IMG_{k}.png.supplemental-metad.json").write_text(
            json.dumps(about), encoding="utf-8"
        )
    shutil.copytree(folder, folder.with_name("Holiday"))
    done = segmented(tmp_path / "in", "-o", tmp_path / "out", "--timezone", "Europe/Madrid")
    assert "2023-07-15: 1 event in 3 photos" in done.stdout
    assert "6 files are copies of another" in done.stderr
    assert "12 photos without a time zone: Europe/Madrid, as requested" in done.stderr
    hour = read_events(tmp_path / "out" / "2023-07-16" / "events.json").times[0] % 86_400 / 3600
    assert int(hour) == 12  # 10:00 UTC


def test_whatsapp_photos_join_the_day_of_their_name(tmp_path):
    make_day(tmp_path / "in" / "DCIM", [("red", 6)], day="20230715")
    make_day(tmp_path / "in" / "DCIM", [("red", 6)], day="20230716")
    for k in (2, 10):
        save(scene("blue", k), tmp_path / "in" / "WhatsApp Images" / f"IMG-20230715-WA{k:04d}.png")
    segmented(tmp_path / "in", "-o", tmp_path / "out")
    found = read_events(tmp_path / "out" / "2023-07-15" / "events.json")
    assert [name.rpartition("/")[2] for name in found.names[-2:]] == [
        "IMG-20230715-WA0002.png",
        "IMG-20230715-WA0010.png",
    ]
    assert any("2 of 8 photos have a date but no time" in note for note in found.notes)


def walk(folder, ahead, *, seed, n_days=2):
    """Photos of colorful visits: every visit has a color of its own, which both cameras see."""
    rng, colors = np.random.default_rng(seed), np.random.default_rng(0)
    for day in range(n_days):
        moment = datetime(2023, 7, 15 + day, 9)
        for _ in range(10):
            color, wait = colors.uniform(0, 255, (2, 2, 3)), colors.uniform(4, 15)
            for _k in range(12):
                moment += timedelta(seconds=30 + 30 * rng.random())
                pixels = np.kron(color, np.ones((24, 24, 1))) + rng.normal(
                    scale=6, size=(48, 48, 3)
                )
                path = folder / f"{moment + timedelta(seconds=ahead):%Y%m%d_%H%M%S}.png"
                path.parent.mkdir(parents=True, exist_ok=True)
                Image.fromarray(np.clip(pixels, 0, 255).astype(np.uint8)).save(path)
            moment = moment.replace(second=0) + timedelta(minutes=wait)


@TOLD
@pytest.mark.slow
def test_the_clock_of_the_second_camera_is_corrected_before_days_are_split(tmp_path):
    walk(tmp_path / "in" / "camera-a", 0, seed=1)
    walk(tmp_path / "in" / "camera-b", 13 * 3600, seed=2)
    out = tmp_path / "out"
    done = segmented(tmp_path / "in", "-o", out)
    assert (
        "the clock of camera-b is 13 h 00 min ahead of that of camera-a, by photos that look alike"
        in done.stderr
    )
    assert sorted(p.name for p in out.iterdir() if p.is_dir()) == ["2023-07-15", "2023-07-16"]
    found = read_events(out / "2023-07-15" / "events.json")
    assert found.n_frames == 240
    assert any("the clock of camera-b is 13 h 00 min ahead" in note for note in found.notes)
    assert list(found.times) == sorted(found.times)
    assert found.times[-1] - found.times[0] < 12 * 3600
    # Corrections are matched by the corrected times, and features are not computed again.
    events = (replace(found.events[0], name="Start"), *found.events[1:])
    (out / "2023-07-15" / "events.json").write_text(
        replace(found, events=events).to_json(), encoding="utf-8"
    )
    segmented(tmp_path / "in", "-o", out)
    assert read_events(out / "2023-07-15" / "events.json").events[0].name == "Start"
    given = segmented(tmp_path / "in", "-o", tmp_path / "given", "--offset", "camera-b=-13:00:00")
    assert "13 h 00 min taken from the times of camera-b, as requested" in given.stderr
    assert read_events(tmp_path / "given" / "2023-07-15" / "events.json").times == found.times


def test_offsets_are_read_in_several_forms():
    forms = {
        "B=+3600": 3600,
        "B=-1:00:00": -3600,
        "B=+47m": 2820,
        "B=1h30m": 5400,
        "a=b=90s": 90,
        "B=+0:30": 1800,
    }
    for text, seconds in forms.items():
        assert parse_offset(text)[1] == seconds
    assert parse_offset("a=b=90s")[0] == "a=b"
    for text in ("B", "B=", "=3", "B=x", "B=+", "B=1:2:3"):
        with pytest.raises(ValueError, match="give a folder or camera and the time to add"):
            parse_offset(text)


def test_wrong_options_are_one_line(tmp_path):
    make_day(tmp_path / "in" / "A", [("red", 3)])
    np.save(tmp_path / "x.npy", np.zeros((9, 3)))
    for arguments, said in (
        (
            (tmp_path / "in", "--offset", "C=1h"),
            "--offset C: no camera or folder has this name; there are: A",
        ),
        (
            (tmp_path / "in", "--offset", "C"),
            "--offset C: give a folder or camera and the time to add",
        ),
        ((tmp_path / "in", "--timezone", "Moon"), "time zone 'Moon' is not known"),
        ((tmp_path / "x.npy", "--by-folder"), "--by-folder only applies to photos"),
    ):
        done = run("segment", *arguments, "-o", tmp_path / "out")
        assert (done.returncode, done.stderr.count("\n")) == (2, 1)
        assert said in done.stderr
