"""Screenshots and the like are told from photos by what their files say."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from dayline.media.aside import aside_by_header, aside_by_name
from dayline.media.decode import read_photo
from dayline.media.frame import Camera
from dayline.media.group_days import group_by_day, with_aside
from dayline.media.photos import read_photo_folder, read_photos
from made_photos import save_with_exif, scene


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("Screenshot_20230715-101112_Maps.png", "screenshot"),
        ("Screenshot 2023-07-15 at 10.11.12.png", "screenshot"),
        ("in/Screen Shot 2020-01-02 at 10.11.12 AM.png", "screenshot"),
        ("Bildschirmfoto 2023-07-15 um 10.11.12.png", "screenshot"),
        ("Capture d’écran 2023-07-15.png", "screenshot"),
        ("DCIM/Screenshots/IMG_1.jpg", "screenshot"),
        ("スクリーンショット 2023-07-15.png", "screenshot"),
        ("Screen_Recording_20230715_101112.mp4", "screen recording"),
        ("RPReplay_Final1689408672.mp4", "screen recording"),
        ("CamScanner 07-15-2023 10.11.jpg", "document"),
        ("Receipts/IMG_1.jpg", "receipt"),
        ("Quittung.jpg", "receipt"),
        # Photos: the words are not at the beginning, or part of others, or a whole folder's name.
        ("IMG_1.jpg", ""),
        ("my screenshot of fame/IMG_1.jpg", ""),
        ("Screenshotting.jpg", ""),
        ("Receiptsville.jpg", ""),
        ("Scan_0001.jpg", ""),  # of a paper photo
        ("Documents/IMG_1.jpg", ""),
        ("Rechnungen 2023/IMG_1.jpg", ""),
    ],
)
def test_names(name, kind):
    assert aside_by_name(name) == kind


def by_header(name="IMG_1.png", camera=None, form="PNG", size=(1170, 2532), comment=""):
    return aside_by_header(name, camera or Camera(), form=form, size=size, comment=comment)


def test_screens_of_phones():
    assert by_header() == "screenshot"
    assert by_header(size=(2532, 1170)) == "screenshot"
    # 16:9, 4:3 and other sizes are those of pictures, too; JPEGs of any size may be cropped photos.
    for size in ((1080, 1920), (1536, 2048), (1171, 2532), (4000, 3000)):
        assert by_header(size=size) == ""
    assert by_header(form="JPEG") == ""
    assert by_header(form="JPEG", comment="Screenshot") == "screenshot"


def test_what_a_camera_took_is_a_photo_whatever_it_is_called():
    camera = Camera("Phone")
    assert by_header("Screenshots/Screenshot_1.png", camera, comment="Screenshot") == ""


def test_the_header_of_a_file_is_read(tmp_path):
    pixels = np.zeros((2532, 1170, 3), dtype=np.uint8)
    for path, kind in (
        (save_with_exif(pixels, tmp_path / "IMG_1.png"), "screenshot"),
        (save_with_exif(pixels, tmp_path / "IMG_2.png", camera="Phone"), ""),
        (save_with_exif(scene("red", 1), tmp_path / "a.jpg", comment="Screenshot"), "screenshot"),
        (save_with_exif(scene("red", 1), tmp_path / "b.jpg", comment="A walk"), ""),
        (save_with_exif(scene("red", 1), tmp_path / "c.jpg"), ""),
    ):
        frame, _ = read_photo(path, path.name)
        assert frame.aside == kind


def test_pictures_in_hand_do_not_decide(tmp_path):
    """A page of a book is a photo of the day: nothing is set aside for what it shows."""
    page = np.full((1200, 900, 3), 250, dtype=np.uint8)
    page[100:1100:40, 80:820] = 20
    path = save_with_exif(page, tmp_path / "IMG_1.jpg")
    assert read_photo(path, path.name)[0].aside == ""


def test_they_are_in_order_beside_the_photos(tmp_path):
    for k in range(3):
        save_with_exif(scene("red", k), tmp_path / f"20230715_10000{k}.jpg")
    for k in (9, 4):
        save_with_exif(scene("blue", k), tmp_path / f"Screenshot_20230715-10000{k}.png")
    found = read_photo_folder(tmp_path)
    assert found.n_frames == 3
    assert [frame.name[-8:] for frame in found.aside] == ["0004.png", "0009.png"]
    kept = read_photo_folder(tmp_path, keep_screenshots=True)
    assert (kept.n_frames, kept.aside) == (5, ())


def test_a_folder_of_screenshots_alone_is_read(tmp_path):
    for k in range(3):
        save_with_exif(scene("red", k), tmp_path / f"Screenshot_20230715-10000{k}.png")
    found = read_photo_folder(tmp_path)
    assert (found.n_frames, found.aside) == (3, ())


def test_each_goes_to_the_nearest_day_and_makes_none(tmp_path):
    for day in (15, 17):
        for k in range(2):
            save_with_exif(scene("red", day + k), tmp_path / f"202307{day}_10000{k}.jpg")
    for day in (14, 15, 17, 20):
        save_with_exif(scene("blue", day), tmp_path / f"Screenshot_202307{day}-180000.png")
    save_with_exif(scene("blue", 99), tmp_path / "Screenshot.png")  # no time
    photos = read_photos(tmp_path)
    days = with_aside(group_by_day(photos)[0], photos.aside)
    assert [name for name, _ in days] == ["2023-07-15", "2023-07-17"]
    given = [{frame.name[11:19] for frame in day.aside} for _, day in days]
    assert given == [{"20230714", "20230715", "png"}, {"20230717", "20230720"}]


@pytest.mark.parametrize("what", ["day", "scikit-image"])
def test_no_real_photo_is_set_aside(what, request):
    """None of the 586 photos of a real day, and none of the sample pictures of scikit-image."""
    if what == "day":
        folder = request.getfixturevalue("shared_data") / "photos" / "day1"
    else:
        folder = Path(pytest.importorskip("skimage.data").__file__).parent
    paths = [p for p in sorted(folder.iterdir()) if p.suffix in (".jpg", ".png")]
    assert len(paths) > 5
    assert [p.name for p in paths if read_photo(p, p.name)[0].aside] == []
