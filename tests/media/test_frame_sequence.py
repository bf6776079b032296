from __future__ import annotations

import numpy as np
import pytest
from PIL import Image

from dayline.media.photos import read_photo_folder
from dayline.media.source import images, open_source
from dayline.text import time_text


@pytest.fixture
def five_photos(make_photo, tmp_path):
    for i in range(5):
        make_photo(f"{i}.png", grey=40 * i + 10)
    return tmp_path


def test_images_come_in_order(five_photos):
    decoded = images(read_photo_folder(five_photos), size=8)
    greys = [(i, int(image[0, 0, 0])) for i, image in decoded]
    assert greys == [(0, 10), (1, 50), (2, 90), (3, 130), (4, 170)]


def test_only_some_images(five_photos):
    sequence = read_photo_folder(five_photos)
    assert [i for i, _ in images(sequence, size=8, indices=[3, 1, 1])] == [1, 3]
    assert list(images(sequence, size=8, indices=[])) == []
    with pytest.raises(ValueError, match="frames 2 to 5 requested from a sequence of 5"):
        images(sequence, size=8, indices=[2, 5])


def test_photos_that_are_cut_off_or_vanish_after_they_were_found_are_told(five_photos):
    noise = np.random.default_rng(2).integers(0, 255, (64, 64, 3), dtype=np.uint8)
    Image.fromarray(noise).save(five_photos / "2.png")
    content = (five_photos / "2.png").read_bytes()
    (five_photos / "2.png").write_bytes(content[:2000])
    sequence = read_photo_folder(five_photos)
    (five_photos / "4.png").unlink()
    failed: dict[int, str] = {}
    assert [i for i, _ in images(sequence, size=8, on_skip=failed.__setitem__)] == [0, 1, 3]
    assert failed[2].startswith("broken image: ")
    assert list(failed) == [2, 4]
    with pytest.raises(ValueError, match=r"frame 2, 2\.png: broken image"):
        list(images(sequence, size=8))


def test_stopping_early_leaves_no_thread_behind(five_photos):
    import threading

    frames = images(read_photo_folder(five_photos), size=8)
    next(frames)
    frames.close()
    assert not [t for t in threading.enumerate() if t.name.startswith("dayline-decode")]


@pytest.mark.parametrize(
    ("seconds", "clock", "text"),
    [
        (26614.0, "wall", "07:23:34"),
        (1426170153.25, "wall", "2015-03-12 14:22:33.250"),
        (-86400.0, "wall", "1969-12-31 00:00:00"),
        (83.4, "media", "0:01:23.400"),
        (36_000.9996, "media", "10:00:01.000"),
        (-0.04, "media", "-0:00:00.040"),
    ],
)
def test_times_as_text(seconds, clock, text):
    assert time_text(seconds, clock=clock) == text


def test_a_source_is_a_folder_or_a_video(five_photos, make_video, tmp_path):
    assert open_source(five_photos).kind == "photos"
    video = make_video("clip.mkv", times_ms=[0, 40])
    assert open_source(video, every=0.04).kind == "video"
    assert open_source(video.rename(tmp_path / "clip"), every=0.04).n_frames == 2


def test_anything_else_gets_one_clear_line(five_photos):
    (five_photos / "notes.txt").write_text("hello\n" * 100)
    for path, why in [
        (five_photos / "nowhere", "no such file or folder"),
        (five_photos / "0.png", "a single photo has no events; pass its folder"),
        (
            five_photos / "notes.txt",
            r"not a folder of photos, a video \(.*\) or features \(\.npy, ",
        ),
    ]:
        with pytest.raises(ValueError, match=why) as refused:
            open_source(path)
        assert "\n" not in str(refused.value)
    with pytest.raises(ValueError, match="is for videos"):
        open_source(five_photos, every=2)
