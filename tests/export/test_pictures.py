from __future__ import annotations

import pytest
from PIL import Image

from dayline.export.pictures import photo_thumbnail, video_thumbnails


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
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 9_000)
    assert photo_thumbnail(tmp_path / "large.png", (10, 10)) is None


def test_what_is_no_video_is_refused(tmp_path):
    (tmp_path / "x.mp4").write_bytes(b"no film")
    with pytest.raises(ValueError, match=r"x\.mp4 cannot be read as a video"):
        video_thumbnails(tmp_path / "x.mp4", [0.0], (10, 10))
