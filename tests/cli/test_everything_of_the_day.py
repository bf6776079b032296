"""A day with photos, videos, live photos and screenshots, from the folder to the exports."""

from __future__ import annotations

import csv
from dataclasses import replace
from pathlib import Path

import pytest

from cli.run_command import run, segmented
from dayline.events import Segmentation, read_events
from dayline.media import decode, videos
from made_films import make_moving_film
from made_photos import MORNING, make_day, name_at, save, save_with_exif, scene

VIDEO = "20150312_090610.mp4"


@pytest.fixture
def source(tmp_path) -> Path:
    """Forty minutes of photos; a video, a live photo, two screenshots and a damaged video."""
    folder = tmp_path / "in"
    make_day(folder)
    make_moving_film(folder / VIDEO, [50])
    save_with_exif(scene("red", 500), folder / "IMG_1.JPG", taken="2015:03:12 09:01:10")
    make_moving_film(folder / "IMG_1.MOV", [25])
    for k in range(2):
        save(scene("blue", k), folder / f"Screenshot_{name_at(MORNING + 60 * k + 5)}")
    (folder / "broken.mov").write_bytes(b"x" * 100)
    return folder


def result(folder: Path) -> Segmentation:
    return read_events(folder / "events.json")


def save_edited(folder: Path, edited: Segmentation) -> None:
    """Save as the page does."""
    (folder / "events.json").write_text(edited.to_json())


def test_each_is_what_it_is(source, tmp_path):
    done = segmented(source, "-o", tmp_path / "out")
    found = result(tmp_path / "out")
    assert found.n_frames == 38 + 1 + 1
    at = found.names.index(VIDEO)
    assert found.names[at - 1] == "20150312_090600.png"
    assert found.durations is not None
    assert {k: t for k, t in enumerate(found.durations) if t is not None} == {at: 2.0}
    assert [(one.kind, one.name) for one in found.set_aside] == [
        ("screenshot", "Screenshot_20150312_090005.png"),
        ("screenshot", "Screenshot_20150312_090105.png"),
    ]
    assert [one.name for one in found.skipped] == ["broken.mov"]
    for told in ("1 video among", "1 live photo", "2 screenshots set aside", "broken.mov"):
        assert told in done.stdout
    assert Segmentation.from_json(found.to_json()) == found

    kept = segmented(source, "-o", tmp_path / "kept", "--keep-screenshots")
    assert "set aside" not in kept.stdout
    assert (result(tmp_path / "kept").n_frames, result(tmp_path / "kept").set_aside) == (42, ())


def test_each_is_decoded_once_and_never_again(source, tmp_path, monkeypatch):
    read: list[str] = []
    for module, name in (
        (decode, "read_photo"),
        (videos, "read_video_frame"),
        (videos, "with_live_video"),
    ):
        really = getattr(module, name)

        def counting(first, *rest, really=really, name=name, **options):
            path = first if isinstance(first, Path) else first.path
            if name != "with_live_video" or rest[0] is not None:
                read.append(f"{name} {path.name}")
            return really(first, *rest, **options)

        monkeypatch.setattr(module, name, counting)
    segmented(source, "-o", tmp_path / "out")
    assert (
        len(read) == len(set(read)) == 38 + 1 + 2 + 2 + 1
    )  # photos, live, screenshots, videos, live part
    before = result(tmp_path / "out")
    read.clear()
    segmented(source, "-o", tmp_path / "out")
    # What cannot be read is tried again.
    assert read == ["read_video_frame broken.mov"]
    assert result(tmp_path / "out") == before


def test_a_video_beside_a_photo_that_is_no_live_part_is_read_once(source, tmp_path, monkeypatch):
    make_moving_film(source / "IMG_1.MOV", [300])  # twelve seconds
    segmented(source, "-o", tmp_path / "out")
    found = result(tmp_path / "out")
    assert found.n_frames == 38 + 1 + 2
    assert found.durations is not None
    assert sorted(t for t in found.durations if t is not None) == [2.0, 12.0]

    monkeypatch.setattr(videos, "_best_picture", None)  # a second decoding would fail
    segmented(source, "-o", tmp_path / "out")
    assert result(tmp_path / "out") == found


def test_a_long_video_is_no_pause(tmp_path):
    make_day(tmp_path / "in", [("red", 6)])
    # Its name says 09:02:35; it lasts ten minutes, at one frame every ten seconds.
    make_moving_film(
        tmp_path / "in" / "20150312_090235.mp4", [61], times_ms=[10_000 * k for k in range(61)]
    )
    make_moving_film(tmp_path / "in" / "20150312_091300.mp4", [25])
    segmented(tmp_path / "in", "-o", tmp_path / "out")
    found = result(tmp_path / "out")
    assert not any(event.reason in ("pause", "both") for event in found.events)
    assert not any("pause" in note for note in found.notes)
    # Its event lasts until it ends, unless the next begins first.
    (event,) = [e for e in found.events if e.start <= 6 < e.stop]
    assert event.stop_time is not None
    assert event.stop_time >= found.times[6] + 600


@pytest.mark.filterwarnings(
    "ignore:.*is not the file that dayline wrote", "ignore:.*your corrections in"
)
def test_corrections_stay_when_screenshots_are_set_aside_and_videos_join(source, tmp_path):
    out = tmp_path / "out"
    video = source / VIDEO
    content = video.read_bytes()
    video.unlink()
    segmented(source, "-o", out, "--keep-screenshots")
    first = result(out)
    green = next(k for k, name in enumerate(first.names) if name == "20150312_090600.png")
    events = [replace(e, name="Garden") if e.start <= green < e.stop else e for e in first.events]
    screenshot = first.names.index("Screenshot_20150312_090005.png")
    save_edited(out, replace(first, events=tuple(events), favorites=(screenshot,)))

    video.write_bytes(content)
    segmented(source, "-o", out)
    found = result(out)
    garden = next(event for event in found.events if event.name == "Garden")
    inside = found.names[garden.start : garden.stop]
    assert "20150312_090600.png" in inside
    assert VIDEO in found.names
    # The favorite is still one, and shown; the other screenshot is set aside.
    assert [found.names[k] for k in found.favorites] == ["Screenshot_20150312_090005.png"]
    assert [one.name for one in found.set_aside] == ["Screenshot_20150312_090105.png"]
    segmented(source, "-o", out)
    assert result(out) == found


@pytest.mark.filterwarnings(
    "ignore:.*is not the file that dayline wrote", "ignore:.*your corrections in"
)
def test_a_named_event_of_screenshots_stays(tmp_path):
    source, out = tmp_path / "in", tmp_path / "out"
    make_day(source, [("red", 8), ("green", 8)])
    for k in range(6):
        save(scene("blue", k), source / f"Screenshot_{name_at(MORNING + 1000 + 30 * k)}")
    segmented(source, "-o", out, "--keep-screenshots")
    first = result(out)
    last = first.events[-1]
    assert first.names[last.start].startswith("Screenshot")
    save_edited(out, replace(first, events=(*first.events[:-1], replace(last, name="Tickets"))))
    segmented(source, "-o", out)
    found = result(out)
    assert (found.events[-1].name, found.n_frames, found.set_aside) == ("Tickets", 22, ())


def test_exports_take_videos_like_photos(source, tmp_path):
    out = tmp_path / "out"
    formats = [part for name in ("photos", "xmp", "ics", "csv") for part in ("--export", name)]
    segmented(source, "-o", out, *formats)
    names = [path.name for path in (out / "photos").rglob("*") if path.is_file()]
    assert names.count(VIDEO) == 1
    assert not any(name.startswith("Screenshot") for name in names)
    (copy,) = (out / "photos").rglob(VIDEO)
    assert copy.read_bytes() == (source / VIDEO).read_bytes()
    assert (out / "xmp" / f"{VIDEO}.xmp").is_file()
    assert "BEGIN:VEVENT" in (out / "events.ics").read_text()
    rows = list(csv.DictReader((out / "events.csv").read_text().splitlines()))
    assert sum(int(row["n_frames"]) for row in rows) == 40


def test_pictures_that_are_missing_are_made_again(source, tmp_path):
    segmented(source, "-o", tmp_path / "out", "--no-thumbnails")
    assert not (tmp_path / "out" / "thumbnails").exists()
    segmented(source, "-o", tmp_path / "out")
    assert len(list((tmp_path / "out" / "thumbnails").iterdir())) == 40 + 2


def test_every_day_has_its_own(tmp_path):
    source = tmp_path / "in"
    for day in ("20150312", "20150314"):
        make_day(source, [("red", 6), ("green", 6)], day=day)
    make_moving_film(source / "20150314_090030.mp4", [50])
    for day in ("20150312", "20150313"):
        save(scene("blue", int(day)), source / f"Screenshot_{name_at(MORNING, day=day)}")
    segmented(source, "-o", tmp_path / "out")
    days = sorted(path.name for path in (tmp_path / "out").iterdir() if path.is_dir())
    assert [name for name in days if name.startswith("2015")] == ["2015-03-12", "2015-03-14"]
    first, second = (result(tmp_path / "out" / name) for name in ("2015-03-12", "2015-03-14"))
    # 33 hours from one day's photos, 15 from the other's.
    assert [one.name[11:19] for one in first.set_aside] == ["20150312", "20150313"]
    assert (first.durations, second.set_aside) == (None, ())
    assert second.durations is not None
    assert 2.0 in second.durations


def test_by_folder_videos_outside_of_all_folders_are_named(tmp_path):
    source = tmp_path / "in"
    for name in ("a", "b"):
        make_day(source / name, [("red", 5), ("green", 5)])
    make_moving_film(source / "20150312_090030.mp4", [25])
    done = run("segment", "--model", "color", source, "-o", tmp_path / "out", "--by-folder")
    assert done.returncode == 0, done.stderr
    assert sorted(p.name for p in (tmp_path / "out").iterdir() if p.is_dir()) == ["a", "b"]
    assert (
        "1 video is in no folder of a day, and not used (first 20150312_090030.mp4)" in done.stderr
    )


def test_what_is_set_aside_is_not_shared(source, tmp_path):
    out = tmp_path / "out"
    segmented(source, "-o", out)
    assert b"Screenshot_" in (out / "index.html").read_bytes()
    segmented(source, "-o", out, "--private")
    assert result(out).set_aside == ()
    assert len(list((out / "thumbnails").iterdir())) == 40
    shared = [out / name for name in ("index.html", "events.json", "events.csv")]
    assert not any(b"Screenshot_" in path.read_bytes() for path in shared)
    assert b".MOV" not in (out / "index.html").read_bytes()  # no links to the originals either


@pytest.mark.filterwarnings("ignore:.* is kept as:UserWarning")
def test_the_video_of_a_live_photo_goes_with_it_into_sorted_folders(source, tmp_path):
    # A video of a photo's name that is an item of its own is there once, as that.
    make_moving_film(source / "IMG_2.MOV", [25], tags={"creation_time": "2015-03-12T12:00:00Z"})
    save_with_exif(scene("red", 501), source / "IMG_2.JPG", taken="2015:03:12 09:01:20")
    segmented(source, "-o", tmp_path / "out", "--export", "photos", "--timezone", "UTC")
    sorted_photos = tmp_path / "out" / "photos"
    found = sorted(sorted_photos.rglob("IMG*"))
    assert [path.name for path in found] == ["IMG_1.JPG", "IMG_1.MOV", "IMG_2.JPG", "IMG_2.MOV"]
    assert found[0].parent == found[1].parent == found[2].parent != found[3].parent
    assert found[1].samefile(source / "IMG_1.MOV")

    # Hidden, neither of both is; and copies are no reason to keep an earlier folder.
    edited = result(tmp_path / "out")
    hidden = (edited.names or ()).index("IMG_1.JPG")
    save_edited(tmp_path / "out", replace(edited, hidden=(hidden,)))
    segmented(source, "-o", tmp_path / "out", "--export", "photos", "--timezone", "UTC")
    assert [p.name for p in sorted(sorted_photos.rglob("IMG*"))] == ["IMG_2.JPG", "IMG_2.MOV"]
    assert list((tmp_path / "out").glob("photos-kept-*")) == []
