from __future__ import annotations

import numpy as np
import pytest
from PIL import Image

from dayline.album.export.contact_sheet import photo_thumbnail, video_thumbnails
from dayline.media import decode
from dayline.media import film_decode as video_file
from made_photos import make_film


def test_a_photo_is_turned_upright_and_made_small(tmp_path):
    image = Image.new("RGB", (400, 200), (10, 10, 10))
    image.paste((250, 250, 250), (0, 0, 100, 200))
    exif = Image.Exif()
    exif[0x0112] = 6  # the camera was turned: what is left in the file belongs on top
    image.save(tmp_path / "turned.jpg", exif=exif)
    upright = photo_thumbnail(tmp_path / "turned.jpg", (100, 100))
    assert upright.size == (50, 100)
    assert upright.getpixel((25, 5))[0] > 200
    assert upright.getpixel((25, 95))[0] < 50


@pytest.mark.parametrize("content", [b"", b"\xff\xd8\xff", b"GIF89a", b"%!PS-Adobe-3.0 EPSF-3.0\n"])
def test_what_is_no_photo_gives_none(tmp_path, content):
    (tmp_path / "x.jpg").write_bytes(content)
    assert photo_thumbnail(tmp_path / "x.jpg", (100, 100)) is None


def test_a_picture_with_too_many_pixels_gives_none(tmp_path, monkeypatch):
    Image.new("L", (100, 100)).save(tmp_path / "large.png")
    monkeypatch.setattr(decode, "MAX_PIXELS", 9_000)
    assert photo_thumbnail(tmp_path / "large.png", (10, 10)) is None


def test_a_photo_that_pillow_warns_of_is_shown(tmp_path):
    Image.new("L", (12_000, 8_000)).save(tmp_path / "large.png")
    assert photo_thumbnail(tmp_path / "large.png", (30, 30)).size == (30, 20)


def test_what_is_hidden_is_not_shown(tmp_path):
    Image.new("RGB", (400, 300), (250, 250, 250)).save(tmp_path / "x.png")
    dark = photo_thumbnail(tmp_path / "x.png", (40, 30), hide=np.zeros_like)
    assert dark.getextrema() == ((0, 0), (0, 0), (0, 0))


def test_what_is_no_video_is_refused(tmp_path):
    (tmp_path / "x.mp4").write_bytes(b"no film")
    with pytest.raises(ValueError, match=r"x\.mp4: cannot be opened as a video"):
        video_thumbnails(tmp_path / "x.mp4", [0.0], (10, 10))


def test_a_list_of_other_files_is_no_video(tmp_path):
    make_film(tmp_path / "film.avi")
    (tmp_path / "list.mp4").write_text("ffconcat version 1.0\nfile film.avi\n")
    with pytest.raises(ValueError, match=r"list\.mp4: cannot be opened as a video"):
        video_thumbnails(tmp_path / "list.mp4", [0.0], (10, 10))


def test_a_colon_in_the_name_of_a_video_is_no_protocol(tmp_path):
    film = make_film(tmp_path / "12:30.avi")
    (picture,) = video_thumbnails(film, [0.0], (20, 20))
    assert max(picture.size) == 20


def test_frames_over_the_limit_are_not_decoded(tmp_path, monkeypatch):
    film = make_film(tmp_path / "film.avi")
    monkeypatch.setattr(video_file, "MAX_PIXELS", 100)
    with pytest.raises(ValueError, match=r"film\.avi: frames of .* are over the limit"):
        video_thumbnails(film, [0.0], (10, 10))
