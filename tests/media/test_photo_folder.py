from __future__ import annotations

import os
from pathlib import Path

import pytest
from PIL import Image

from dayline.decision.pauses import find_pauses
from dayline.events import SkippedFile
from dayline.media.group_days import group_by_folder
from dayline.media.photos import read_photo_folder, read_photos
from dayline.media.source import images
from dayline.media.walk import holds_only_folders
from dayline.text import time_text


def test_photos_are_found_below_the_folder_and_ordered_by_exif(make_photo, tmp_path):
    make_photo("sub/a.jpg", taken="2015:03:12 14:00:01")
    make_photo("b.JPG", taken="2015:03:12 14:00:00", subsec="75")
    make_photo("c.heic", taken="2015:03:12 14:00:00", subsec="5")
    sequence = read_photo_folder(tmp_path)
    assert sequence.names == ("c.heic", "b.JPG", "sub/a.jpg")
    assert [time_text(t, clock="wall") for t in sequence.times] == [
        "2015-03-12 14:00:00.500",
        "2015-03-12 14:00:00.750",
        "2015-03-12 14:00:01",
    ]
    assert (sequence.kind, sequence.clock, sequence.order) == (
        "photos",
        "wall",
        "by capture time (EXIF)",
    )
    assert sequence.paths == tuple(tmp_path / name for name in sequence.names)


def test_bad_files_are_named_and_the_rest_goes_on(make_photo, tmp_path):
    for i in range(3):
        make_photo(f"good{i}.png")
    (tmp_path / "empty.jpg").touch()
    (tmp_path / "fake.jpg").write_text("<script>alert(1)</script>")
    (tmp_path / "gone.jpg").symlink_to(tmp_path / "nowhere.jpg")
    sequence = read_photo_folder(tmp_path)
    assert sequence.names == ("good0.png", "good1.png", "good2.png")
    assert sequence.skipped == (
        SkippedFile("empty.jpg", "empty file"),
        SkippedFile("fake.jpg", "not an image, despite its name"),
        SkippedFile("gone.jpg", "broken link"),
    )


def test_more_than_half_bad_is_an_error(make_photo, tmp_path):
    make_photo("good.png")
    (tmp_path / "a.jpg").touch()
    assert read_photo_folder(tmp_path).n_frames == 1  # half is not more than half
    (tmp_path / "b.jpg").touch()
    with pytest.raises(ValueError, match=r"2 of 3 frames .*a\.jpg: empty file") as refused:
        read_photo_folder(tmp_path)
    assert "\n" not in str(refused.value)


def test_unreadable_files_are_named(make_photo, tmp_path, monkeypatch):
    """Name the files that the system gives no permission to read.

    The refusal is made here: tests may run as root, who may read everything.
    """
    make_photo("a.png")
    make_photo("b.png")
    really_open = Image.open

    def open_unless_b(path, **options):
        if Path(path.name).name == "b.png":
            raise PermissionError(13, "Permission denied", str(path))
        return really_open(path, **options)

    monkeypatch.setattr(Image, "open", open_unless_b)
    assert read_photo_folder(tmp_path).skipped == (
        SkippedFile("b.png", "no permission to read it"),
    )


def test_unreadable_folders_are_named(make_photo, tmp_path, monkeypatch):
    make_photo("a.png")
    make_photo("in/closed/b.png")
    really_list = Path.iterdir

    def list_unless_closed(path):
        if path.name == "closed":
            raise PermissionError(13, "Permission denied", str(path))
        return really_list(path)

    monkeypatch.setattr(Path, "iterdir", list_unless_closed)
    why = "folder cannot be read: Permission denied"
    assert read_photo_folder(tmp_path).skipped == (SkippedFile("in/closed", why),)
    with pytest.raises(ValueError, match=why):
        holds_only_folders(tmp_path / "in" / "closed")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_a_pipe_named_like_a_photo_does_not_block(make_photo, tmp_path):
    make_photo("a.png")
    os.mkfifo(tmp_path / "b.jpg")
    assert read_photo_folder(tmp_path).skipped == (SkippedFile("b.jpg", "not a regular file"),)


def test_links_in_a_circle_come_to_an_end(make_photo, tmp_path):
    make_photo("sub/a.png")
    (tmp_path / "sub" / "up").symlink_to(tmp_path)
    (tmp_path / "also").symlink_to(tmp_path / "sub")
    (tmp_path / "self").symlink_to(tmp_path / "self")
    assert read_photo_folder(tmp_path).names == ("sub/a.png",)


def test_hidden_files_and_other_things_are_passed_over_and_counted(make_photo, tmp_path):
    for name in ("a.png", ".hidden.png", "._a.png", ".thumbs/t.png", "@eaDir/t.png"):
        make_photo(name)
    for name in ("notes.txt", "clip.mp4", "Thumbs.db"):
        (tmp_path / name).write_bytes(b"x")
    sequence = read_photo_folder(tmp_path)
    assert sequence.names == ("a.png",)
    assert sequence.notes == ("skipped files that are not photos or videos: 2 hidden, 2 other",)
    assert [file.name for file in sequence.skipped] == ["clip.mp4"]  # of one byte


def test_an_earlier_result_inside_the_folder_is_not_read_as_photos(make_photo, tmp_path):
    for name in ("a.png", "day/thumbnails/a.png"):
        make_photo(name)
    (tmp_path / "day" / "events.json").write_text("{}")
    assert (
        read_photo_folder(tmp_path).n_frames == 2
    )  # a person's corrections do not make it a result
    (tmp_path / "day" / "index.html").write_text("")
    sequence = read_photo_folder(tmp_path)
    assert sequence.names == ("a.png",)
    assert sequence.notes == ("skipped folders with earlier results: 1 (first day)",)


def test_broken_utf8_in_a_name(make_photo, tmp_path):
    make_photo("a.png").rename(tmp_path / os.fsdecode(b"br\xff.png"))
    sequence = read_photo_folder(tmp_path)
    assert sequence.names == ("br\\xff.png",)
    assert [image.shape for _, image in images(sequence, size=8)] == [(8, 11, 3)]


@pytest.mark.filterwarnings("ignore::UserWarning:PIL")
def test_a_photo_with_broken_exif_is_still_a_photo(make_photo, tmp_path):
    content = make_photo("p.jpg", taken="2015:03:12 14:22:33").read_bytes()
    start = content.index(b"Exif\0\0") + 6
    (tmp_path / "p.jpg").write_bytes(
        content[:start] + b"II*\0" + b"\xff" * 20 + content[start + 24 :]
    )
    sequence = read_photo_folder(tmp_path)
    assert (sequence.names, sequence.clock, sequence.skipped) == (("p.jpg",), None, ())
    assert len(list(images(sequence, size=8))) == 1


def test_a_folder_without_photos(tmp_path):
    with pytest.raises(ValueError, match="contains no photos"):
        read_photo_folder(tmp_path)
    (tmp_path / "a.mp4").touch()
    (tmp_path / "b.mp4").touch()
    message = (
        r"contains no photos but 2 videos; pass one of them \(a.mp4\), or all of them:"
        r" dayline batch FOLDER -o OUT$"
    )
    with pytest.raises(ValueError, match=message):
        read_photo_folder(tmp_path)


def test_a_folder_of_folders(make_photo, tmp_path):
    for name in ("day10/a.png", "day2/in/a.png", ".trash/a.png"):
        make_photo(name)
    (tmp_path / "empty").mkdir()
    assert holds_only_folders(tmp_path)
    groups, _ = group_by_folder(read_photos(tmp_path))
    assert [(name, len(group.frames)) for name, group in groups] == [("day2", 1), ("day10", 1)]
    make_photo("loose.png")
    assert not holds_only_folders(tmp_path)


def test_folders_a_camera_makes_are_no_days(make_photo, tmp_path):
    for name in ("100CANON/a.png", "101CANON/a.png"):
        make_photo(name)
    (((_, group),), _) = group_by_folder(read_photos(tmp_path))
    assert (group.root, len(group.frames)) == (tmp_path, 2)


def test_a_real_day_is_ordered_by_the_times_in_its_names(shared_data):
    sequence = read_photo_folder(shared_data / "photos" / "day1")
    assert sequence.n_frames == 586
    assert sequence.order == "by time of day in the file names"
    assert list(sequence.names) == sorted(sequence.names)
    assert time_text(sequence.times[0], clock="wall") == "07:23:34"
    # Two hours before noon, three hours after it, and a quarter of an hour in the evening.
    pauses = find_pauses(sequence.times)
    assert {sequence.names[frame]: seconds for frame, seconds in pauses.items()} == {
        "115257.jpg": 7606.0,
        "151629.jpg": 11129.0,
        "175308.jpg": 993.0,
    }


def test_a_result_of_ours_is_no_source(make_photo, tmp_path):
    make_photo("day/thumbnails/0.jpg")
    (tmp_path / "day" / ".dayline").touch()
    for read in (read_photo_folder, holds_only_folders):
        with pytest.raises(ValueError, match=r"day: is a dayline result, not a folder of photos"):
            read(tmp_path / "day")


def test_a_time_outside_the_calendar_is_one_line():
    with pytest.raises(ValueError, match=r"^time 1e\+15 s is outside the years 1 to 9999"):
        time_text(1e15, clock="wall")
