from __future__ import annotations

import io
import struct
import sys
from contextlib import suppress

import numpy as np
import pytest
from PIL import Image

from dayline.media.decode import BadImageError, decode_photo
from dayline.media.frame import RAW_SUFFIXES
from dayline.media.raw import directories, raw_preview
from dayline.media.source import read_photo_folder
from made_raw import Bytes, Shorts, about, jpeg, made_raw, pointed, strip, tiff

KINDS = sorted(suffix.lstrip(".") for suffix in RAW_SUFFIXES)


@pytest.mark.parametrize("kind", KINDS)
def test_the_preview_is_shown(kind, tmp_path):
    path = tmp_path / f"photo.{kind.upper()}"
    path.write_bytes(made_raw(kind))
    shown = np.asarray(Image.open(io.BytesIO(jpeg(96))).convert("RGB"))
    np.testing.assert_allclose(decode_photo(path, size=500), shown, atol=2)


@pytest.mark.parametrize("kind", KINDS)
def test_time_and_location_are_read(kind, tmp_path):
    for k in range(3):
        (tmp_path / f"{'cab'[k]}.{kind}").write_bytes(
            made_raw(kind, taken=f"2015:03:12 10:00:0{k}")
        )
    sequence = read_photo_folder(tmp_path)
    assert sequence.names == (f"c.{kind}", f"a.{kind}", f"b.{kind}")
    assert [t - 1426154400 for t in sequence.times] == [0.5, 1.5, 2.5]
    # Fuji's file has no structure of its own; its JPEG has all that the camera wrote.
    assert sequence.locations == (() if kind == "raf" else ((39.5, 2.75),) * 3)


def test_a_photo_taken_upright_is_turned(tmp_path):
    path = tmp_path / "a.nef"
    path.write_bytes(tiff([about(turned=6) | {0x014A: [pointed(jpeg(96))]}]))
    assert decode_photo(path, size=500).shape == (96, 72, 3)


def test_the_largest_preview_is_taken(tmp_path):
    path = tmp_path / "a.nef"
    path.write_bytes(tiff([about() | pointed(jpeg(32)), pointed(jpeg(160)), pointed(jpeg(64))]))
    assert decode_photo(path, size=500).shape == (120, 160, 3)


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


@pytest.fixture
def without_rawpy(monkeypatch):
    monkeypatch.setitem(sys.modules, "rawpy", None)


def test_a_file_without_a_preview_says_what_to_install(tmp_path, without_rawpy):
    path = tmp_path / "a.dng"
    path.write_bytes(tiff([about() | {0x014A: [strip(bytes(300), 1)]}]))
    with pytest.raises(
        BadImageError,
        match=r'^a RAW file without a preview; pip install "dayline\[raw\]" to develop',
    ):
        decode_photo(path, size=64)


def test_a_file_without_a_preview_is_developed(tmp_path):
    pytest.importorskip("rawpy", reason="rawpy is not installed")
    path = tmp_path / "a.dng"
    path.write_bytes(sensor_data(200))
    assert decode_photo(path, size=500).shape == (
        24,
        32,
        3,
    )  # two by two pixels of the sensor make one
    bright = decode_photo(path, size=500).mean()
    path.write_bytes(sensor_data(5))
    assert decode_photo(path, size=500).mean() < bright
    (tmp_path / "b.dng").write_bytes(sensor_data(100, taken="2015:03:12 10:00:31"))
    assert read_photo_folder(tmp_path).times == (1426154430.5, 1426154431.5)


def sensor_data(level: int, *, taken: str = "2015:03:12 10:00:30") -> bytes:
    """Write a DNG of 64 x 48 pixels behind red, green and blue filters."""
    pixels = np.full((48, 64), level, np.uint8)
    pixels[:, :32] //= 2
    content = pixels.tobytes()
    return tiff(
        [
            about(taken)
            | strip(content, 1)
            | {
                0x00FE: 0,
                0x0100: 64,
                0x0101: 48,
                0x0116: 48,
                0xC612: Bytes((1, 4, 0, 0)),
                0xC614: "Model 1",
            }
            | {tag: Shorts((value,)) for tag, value in ((0x0102, 8), (0x0106, 32803), (0x0115, 1))}
            | {0x828D: Shorts((2, 2)), 0x828E: Bytes((0, 1, 1, 2))}
        ]
    )


@pytest.mark.parametrize("kind", KINDS)
def test_a_file_cut_off_anywhere_is_refused_or_shows_a_preview(kind, tmp_path, without_rawpy):
    whole = made_raw(kind)
    path = tmp_path / f"a.{kind}"
    for length in range(1, len(whole), 97):
        path.write_bytes(whole[:length])
        with suppress(BadImageError):
            assert decode_photo(path, size=500).shape in ((72, 96, 3), (24, 32, 3))


def test_directories_that_point_to_themselves_end(tmp_path):
    path = tmp_path / "a.dng"
    content = bytearray(tiff([{0x014A: 8, 0x8769: 8}]))
    content[-4:] = struct.pack("<I", 8)
    path.write_bytes(content)
    with path.open("rb") as file:
        assert len(list(directories(file))) == 1


def test_values_that_claim_gigabytes_are_not_read(tmp_path):
    class Counting(io.BytesIO):
        most = 0

        def read(self, n=-1):
            self.most = max(self.most, n)
            return super().read(n)

    entry = struct.pack("<HHII", 0x010F, 2, 2**32 - 1, 8)
    file = Counting(b"II*\0\x08\0\0\0" + struct.pack("<H", 1) + entry + bytes(4))
    assert [directory.values for directory in directories(file)] == [{}]
    assert file.most < 100
    many = struct.pack("<H", 65535) + entry * 3
    assert list(directories(Counting(b"II*\0\x08\0\0\0" + many))) == []


@pytest.mark.parametrize("place", [0, 4, 2**31, 2**32 - 1])
def test_previews_outside_the_file_are_ignored(place, tmp_path):
    path = tmp_path / "a.arw"
    path.write_bytes(tiff([{0x0201: place, 0x0202: 500}]))
    assert raw_preview(path).jpeg == b""
