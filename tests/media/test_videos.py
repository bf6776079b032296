"""Videos among photos: their times, lengths and pictures; live photos."""

from __future__ import annotations

from datetime import datetime

import numpy as np
import pytest

from dayline.media import film_decode
from dayline.media.decode import BadImageError
from dayline.media.exif import video_camera, video_location, video_time
from dayline.media.frame import Camera, CaptureTime
from dayline.media.photos import read_photo_folder
from dayline.media.videos import MOST_BEFORE, MOST_LOOKED_AT, decode_video, read_video_frame
from made_films import make_moving_film, moving_frame
from made_photos import save_with_exif, scene


def at(text: str) -> float:
    return datetime.fromisoformat(f"{text}+00:00").timestamp()


APPLE = "com.apple.quicktime.creationdate"
UTC_TAG = {"creation_time": "2023-07-15T08:11:12.000000Z"}


@pytest.mark.parametrize(
    ("tags", "name", "expected"),
    [
        # Apple: local time with its offset, whatever else is said.
        (
            UTC_TAG | {APPLE: "2023-07-15T10:11:05+0200"},
            "IMG_1.MOV",
            CaptureTime(at("2023-07-15T10:11:05"), 7200.0),
        ),
        # A name with the local time gives the offset, at the start of the recording ...
        (UTC_TAG, "VID_20230715_101112.mp4", CaptureTime(at("2023-07-15T10:11:12"), 7200.0)),
        # ... or at its end, 30 s later.
        (UTC_TAG, "VID_20230715_101042.mp4", CaptureTime(at("2023-07-15T10:10:42"), 7200.0)),
        # Local time that is called UTC says nothing of the zone.
        (UTC_TAG, "VID_20230715_081112.mp4", CaptureTime(at("2023-07-15T08:11:12"))),
        # Edited later: the name knows better.
        (UTC_TAG, "VID_20230713_173333.mp4", CaptureTime(at("2023-07-13T17:33:33"))),
        (UTC_TAG, "MVI_1234.MP4", CaptureTime(at("2023-07-15T08:11:12"), is_utc=True)),
        ({"creation_time": "1970-01-01T00:00:00.000000Z"}, "MVI_1234.MP4", None),
        ({"creation_time": "yesterday", APPLE: "2023"}, "MVI_1234.MP4", None),
        ({}, "VID_20230715_101112.mp4", None),  # as for photos, the name is read later
    ],
)
def test_the_time_of_a_video(tags, name, expected):
    assert video_time(tags, name, duration=30.0) == expected


def test_camera_and_location_of_a_video():
    tags = {
        "com.apple.quicktime.make": "Apple",
        "com.apple.quicktime.model": "iPhone 12",
        "com.apple.quicktime.location.ISO6709": "+48.1371+011.5754+519.000/",
    }
    assert video_camera(tags) == Camera("Apple iPhone 12")
    assert video_location(tags) == (48.1371, 11.5754)
    assert video_location({"location": "-33.8568+151.2153/"}) == (-33.8568, 151.2153)
    for wrong in ("+00.0000+000.0000/", "+95.0000+011.0000/", "somewhere", ""):
        assert video_location({"location": wrong}) is None


def test_the_tags_of_a_file_are_read(tmp_path):
    path = make_moving_film(tmp_path / "IMG_1.MOV", [40], tags={APPLE: "2023-07-15T10:11:05+0200"})
    frame, pixels = read_video_frame(path, "IMG_1.MOV")
    assert frame.taken == CaptureTime(at("2023-07-15T10:11:05"), 7200.0)
    assert frame.duration == pytest.approx(40 / 25)
    assert pixels is None


def test_tags_that_are_not_utf_8_are_no_damage(tmp_path):
    tags = {APPLE: "2023-07-15T10:11:05+0200", "com.apple.quicktime.model": "Kamera-Modell"}
    path = make_moving_film(tmp_path / "v.mov", [25], tags=tags)
    content = path.read_bytes()
    assert content.count(b"Kamera-Modell") == 1
    path.write_bytes(content.replace(b"Kamera-Modell", "Kåmera-Modell".encode("latin-1")))
    frame, _ = read_video_frame(path, "v.mov")
    assert frame.taken == CaptureTime(at("2023-07-15T10:11:05"), 7200.0)
    assert frame.camera.model.endswith("mera-Modell")


@pytest.fixture
def decoded(monkeypatch) -> list[object]:
    """The packets that are decoded."""
    packets: list[object] = []
    really_decode = film_decode._decode
    monkeypatch.setattr(
        film_decode,
        "_decode",
        lambda video, packet: packets.append(packet) or really_decode(video, packet),
    )
    return packets


def test_the_picture_is_the_best_of_a_few(tmp_path, decoded):
    # One second of darkness, then a scene; a key frame every ten frames, as phones have.
    dark = [np.zeros((90, 160, 3), dtype=np.uint8)] * 25
    bright = [moving_frame(0, k) for k in range(200)]
    path = make_moving_film(
        tmp_path / "v.mp4", [], pictures=[*dark, *bright], options={"g": "10", "bf": "0"}
    )
    looked_at = []

    def brightness(image):
        looked_at.append(image.mean())
        return float(image.mean())

    picture = decode_video(path, size=90, score=brightness)
    assert picture.shape == (90, 160, 3)
    assert picture.mean() == max(looked_at) > 50 > min(looked_at)
    assert len(looked_at) == MOST_LOOKED_AT
    # Only key frames are asked for; a decoder with threads needs some packets more for each.
    assert len(decoded) < 225 / 2


def test_a_video_with_one_key_frame_is_not_decoded_to_its_end(tmp_path, decoded):
    path = make_moving_film(
        tmp_path / "v.mp4", [240], options={"g": "1000", "bf": "0", "sc_threshold": "0"}
    )
    decode_video(path, size=90, score=None)
    # A decoder returns a frame some packets late, as many as it has threads (16 at most).
    assert len([p for p in decoded if p is not None]) <= MOST_BEFORE + 1 + 16


def test_damaged_videos_say_why(tmp_path):
    whole = make_moving_film(tmp_path / "whole.mp4", [60])
    cut = tmp_path / "cut.mp4"
    cut.write_bytes(whole.read_bytes()[: whole.stat().st_size * 2 // 3])
    (tmp_path / "text.mov").write_text("no video")
    (tmp_path / "empty.mp4").touch()
    for name, why in (
        ("cut.mp4", "missing"),
        ("text.mov", "cannot be opened"),
        ("empty.mp4", "empty"),
    ):
        with pytest.raises(BadImageError, match=why) as refused:
            read_video_frame(tmp_path / name, name, size=90)
        assert str(tmp_path) not in str(refused.value)


def test_videos_are_frames_at_their_time_and_damaged_ones_are_left_out(tmp_path):
    for k in range(3):
        save_with_exif(
            scene("red", k), tmp_path / f"p{k}.jpg", taken=f"2023:07:15 10:{10 * k:02d}:00"
        )
    make_moving_film(tmp_path / "VID_20230715_101500.mp4", [50])
    for k in range(6):  # more than there are photos
        (tmp_path / f"broken{k}.mp4").write_bytes(b"x" * 100)
    found = read_photo_folder(tmp_path)
    assert found.names == ("p0.jpg", "p1.jpg", "VID_20230715_101500.mp4", "p2.jpg")
    assert found.durations == (None, None, 2.0, None)
    assert [file.name for file in found.skipped] == [f"broken{k}.mp4" for k in range(6)]


def test_a_folder_of_videos_alone_is_still_refused(tmp_path):
    make_moving_film(tmp_path / "a.mp4", [10])
    with pytest.raises(ValueError, match=r"contains no photos but 1 video.*dayline batch"):
        read_photo_folder(tmp_path)


JULY = "2023:07:15 10:11:12"


@pytest.mark.parametrize(
    ("n_frames", "taken", "offset", "tag", "is_one"),
    [
        (50, JULY, "+02:00", "2023-07-15T10:11:13+0200", True),
        (50, JULY, "+02:00", "2023-07-15T09:11:13+0100", True),  # the same moment
        (50, JULY, None, "2023-07-15T08:11:13+0000", True),  # the photo knows no zone
        (50, None, None, "2023-07-15T10:11:13+0200", True),
        (50, JULY, "+02:00", None, True),
        (50, JULY, "+02:00", "2023-07-15T10:15:12+0200", False),  # four minutes later
        (50, JULY, None, "2023-07-16T08:11:13+0000", False),  # no zone is a day away
        (300, JULY, "+02:00", "2023-07-15T10:11:13+0200", False),  # twelve seconds long
    ],
)
def test_a_live_photo_is_one_frame(tmp_path, n_frames, taken, offset, tag, is_one):
    photo = save_with_exif(scene("red", 1), tmp_path / "IMG_1.JPG", taken=taken, offset=offset)
    video = make_moving_film(
        tmp_path / "img_1.mov", [n_frames], tags=None if tag is None else {APPLE: tag}
    )
    found = read_photo_folder(tmp_path)
    first = next(frame for frame in found.frames if frame.path == photo)
    assert first.live == (video if is_one else None)
    assert found.n_frames == (1 if is_one else 2)


def test_a_video_of_another_folder_or_beside_a_damaged_photo_is_one_of_its_own(tmp_path):
    save_with_exif(scene("red", 1), tmp_path / "a" / "IMG_1.jpg", taken=JULY)
    make_moving_film(tmp_path / "b" / "IMG_1.mov", [25])
    (tmp_path / "b" / "IMG_2.heic").write_bytes(b"x")
    make_moving_film(tmp_path / "b" / "IMG_2.mov", [30])
    found = read_photo_folder(tmp_path)
    assert set(found.names) == {"a/IMG_1.jpg", "b/IMG_1.mov", "b/IMG_2.mov"}
    assert [file.name for file in found.skipped] == ["b/IMG_2.heic"]


def test_a_video_has_the_camera_of_the_photos_beside_it(tmp_path):
    from dayline.media.group_days import with_camera_clocks
    from dayline.media.photos import read_photos

    for camera in ("A", "B"):
        for k in range(2):
            save_with_exif(
                scene("red", k),
                tmp_path / camera / f"p{k}.jpg",
                taken=f"2023:07:15 10:1{k}:00",
                camera=camera,
            )
    make_moving_film(tmp_path / "B" / "VID_20230715_101030.mp4", [25])
    make_moving_film(tmp_path / "VID_20230715_101130.mp4", [25])
    clocks = {f.name: f.clock for f in with_camera_clocks(read_photos(tmp_path)).frames}
    assert clocks["B/VID_20230715_101030.mp4"] == clocks["B/p0.jpg"] != clocks["A/p0.jpg"]
    assert clocks["VID_20230715_101130.mp4"] == "?"  # it may be of either
