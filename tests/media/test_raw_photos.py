from __future__ import annotations

import io
import struct
import sys
from contextlib import suppress

import numpy as np
import pytest
from PIL import Image

from dayline.events import SkippedFile
from dayline.media.decode import BadImageError, decode_photo, read_photo
from dayline.media.frame import Camera, CaptureTime
from dayline.media.photos import read_photo_folder
from dayline.media.raw import EXIF, GPS, tags_of_raw
from made_raw import Shorts, about, cr3_start, dng, jpeg, made_raw, sensor, tiff

pytest.importorskip("rawpy", reason="rawpy is not installed")
KINDS = ("arw", "cr2", "dng", "nef", "orf", "pef", "srw")


@pytest.mark.parametrize("kind", KINDS)
def test_the_largest_preview_is_shown_with_the_tags_of_the_file(kind, tmp_path):
    path = tmp_path / f"photo.{kind.upper()}"
    path.write_bytes(made_raw(kind))
    frame, pixels = read_photo(path, path.name, size=500)
    shown = np.asarray(Image.open(io.BytesIO(jpeg(96))).convert("RGB"))
    np.testing.assert_allclose(pixels, shown, atol=2)
    assert frame.taken == CaptureTime(1426154430.5, 7200.0)
    assert frame.location == (39.5, 2.75)
    assert frame.camera.serial == "1234"


def test_a_name_that_is_not_utf_8_and_a_photo_taken_upright(tmp_path):
    path = tmp_path / "a\udcff.nef"
    path.write_bytes(made_raw("nef", turned=6))
    assert decode_photo(path, size=500).shape == (96, 72, 3)


@pytest.mark.parametrize(
    "content", [cr3_start(), tiff([about("Panasonic", "G9") | {0x2E: bytes(9)}], version=0x55)]
)
def test_tags_of_formats_with_a_start_of_their_own(content):
    tags = tags_of_raw(io.BytesIO(content))
    assert (tags.get_ifd(EXIF)[0x9011], tags.get_ifd(GPS)[2]) == ("+02:00", (39, 30, 0))
    assert tags[0x010F] in ("Canon", "Panasonic")


def test_of_raw_and_jpeg_of_one_photo_the_jpeg_is_used(tmp_path):
    (tmp_path / "IMG_1.CR2").write_bytes(made_raw("cr2"))
    (tmp_path / "img_1.jpg").write_bytes(jpeg(48))
    (tmp_path / "IMG_2.CR2").write_bytes(made_raw("cr2"))
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "IMG_2.jpg").write_bytes(jpeg(48))
    sequence = read_photo_folder(tmp_path)
    assert set(sequence.names) == {"img_1.jpg", "IMG_2.CR2", "sub/IMG_2.jpg"}
    assert (
        "1 RAW file is not used, since the same photo is there in another format" in sequence.notes
    )


def test_without_rawpy_a_raw_file_is_skipped_and_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "rawpy", None)
    (tmp_path / "a.nef").write_bytes(made_raw("nef"))
    (tmp_path / "b.jpg").write_bytes(jpeg(48))
    why = 'reading RAW photos needs more packages (rawpy is missing); pip install "dayline[raw]"'
    assert read_photo_folder(tmp_path).skipped == (SkippedFile("a.nef", why),)


def test_a_file_without_a_preview_is_developed(tmp_path):
    path = tmp_path / "a.dng"
    tags = about("Maker", "Model 1", turned=6)
    path.write_bytes(dng(tags, [sensor()]))
    frame, pixels = read_photo(path, path.name, size=500)
    assert frame.camera == Camera("Maker Model 1", "1234")
    # Two by two pixels of the sensor make one. Turned once, its dark left is above.
    assert pixels.shape == (32, 24, 3)
    assert pixels[:16].mean() < pixels[16:].mean()


def test_a_sensor_without_color_filters_is_developed_in_gray(tmp_path):
    path = tmp_path / "a.dng"
    gray = sensor() | {0x0106: Shorts((34892,))}  # linear raw
    path.write_bytes(dng(about("Maker", "Model 1"), [gray]))
    assert decode_photo(path, size=500).shape[2] == 3


@pytest.mark.parametrize("kind", KINDS)
def test_a_file_cut_off_anywhere_is_refused_or_shows_a_picture(kind, tmp_path):
    whole = made_raw(kind)
    path = tmp_path / f"a.{kind}"
    for length in range(1, len(whole), 397):
        path.write_bytes(whole[:length])
        with suppress(BadImageError):
            assert decode_photo(path, size=500).shape in ((72, 96, 3), (24, 32, 3))


@pytest.mark.skipif(sys.platform != "linux", reason="memory is counted in KiB on Linux")
@pytest.mark.filterwarnings("ignore::UserWarning:PIL")
def test_directories_that_point_to_themselves_or_claim_gigabytes_end(tmp_path):
    import resource

    camera, path = about("SONY", "ILCE-7M3"), tmp_path / "a.arw"
    loop = tiff([camera | {0x8769: 8, 0x8825: 8, 0x014A: [sensor()]}])
    preview = tiff([camera | {0x0201: 400, 0x0202: 2**32 - 1, 0x014A: [sensor()]}])
    text = tiff([camera | {0x014A: [sensor()]}]).replace(
        struct.pack("<HHI", 0x010F, 2, 5), struct.pack("<HHI", 0x010F, 2, 2**32 - 1)
    )
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for content in (loop, preview, text):
        path.write_bytes(content)
        with suppress(BadImageError):
            decode_photo(path, size=500)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 200 * 1024
