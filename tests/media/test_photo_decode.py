from __future__ import annotations

import struct
import threading
import time
import zlib
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from PIL.PngImagePlugin import PngImageFile

from dayline.media import decode
from dayline.media.decode import (
    BadImageError,
    content_digest,
    decode_photo,
    opened,
    read_photo,
    small_gray,
)

RED, GREEN, BLUE, WHITE = (230, 20, 20), (20, 200, 40), (20, 30, 220), (245, 245, 245)


def four_colours(width: int = 64, height: int = 48) -> np.ndarray:
    """Red and green above, blue and white below: every turn of it is told apart."""
    pixels = np.zeros((height, width, 3), dtype=np.uint8)
    top, left = height // 2, width // 2
    pixels[:top, :left], pixels[:top, left:] = RED, GREEN
    pixels[top:, :left], pixels[top:, left:] = BLUE, WHITE
    return pixels


def corners(image: np.ndarray) -> str:
    """Name the colours in the four quarters, row by row."""
    names = {"red": RED, "green": GREEN, "blue": BLUE, "white": WHITE}
    height, width = image.shape[:2]
    found = []
    for y in (height // 4, 3 * height // 4):
        for x in (width // 4, 3 * width // 4):
            away = {n: np.abs(image[y, x].astype(int) - c).max() for n, c in names.items()}
            best = min(away, key=lambda n: away[n])
            found.append(best if away[best] <= 40 else f"neither: {image[y, x]}")
    return " ".join(found)


@pytest.mark.parametrize("suffix", ["jpg", "png", "webp", "tif", "gif", "heic", "avif"])
def test_every_format_is_decoded(tmp_path, suffix):
    path = tmp_path / f"p.{suffix}"
    Image.fromarray(four_colours()).save(path)
    image = decode_photo(path, size=1000)
    assert (image.shape, image.dtype) == ((48, 64, 3), np.uint8)
    assert corners(image) == "red green blue white"


@pytest.mark.parametrize("suffix", ["jpg", "png", "webp", "heic", "avif"])
def test_exif_rotation_is_applied_once(make_photo, suffix):
    """Orientation 6: the camera was held so that its right side was up; turn clockwise."""
    path = make_photo(f"p.{suffix}", pixels=four_colours(), orientation=6)
    image = decode_photo(path, size=1000)
    assert image.shape == (64, 48, 3)
    assert corners(image) == "blue red white green"


@pytest.mark.parametrize(
    ("orientation", "expected"),
    [
        (1, "red green blue white"),
        (2, "green red white blue"),
        (3, "white blue green red"),
        (4, "blue white red green"),
        (5, "red blue green white"),
        (7, "white green blue red"),
        (8, "green white red blue"),
        (42, "red green blue white"),
    ],
)
def test_all_eight_orientations(make_photo, orientation, expected):
    path = make_photo("p.jpg", pixels=four_colours(), orientation=orientation)
    assert corners(decode_photo(path, size=1000)) == expected


@pytest.mark.parametrize(("suffix", "shape"), [("jpg", (100, 150, 3)), ("png", (100, 150, 3))])
def test_the_shorter_side_is_reduced_to_size(tmp_path, suffix, shape):
    path = tmp_path / f"p.{suffix}"
    Image.fromarray(four_colours(900, 600)).save(path)
    image = decode_photo(path, size=100)
    assert image.shape == shape
    assert corners(image) == "red green blue white"


def test_jpeg_is_reduced_inside_the_decoder(tmp_path, monkeypatch):
    Image.fromarray(four_colours(1600, 1200)).save(tmp_path / "p.jpg")
    sizes = []
    resize = Image.Image.resize
    monkeypatch.setattr(
        Image.Image, "resize", lambda im, *a, **k: sizes.append(im.size) or resize(im, *a, **k)
    )
    decode_photo(tmp_path / "p.jpg", size=140)
    assert sizes == [(200, 150)]  # an eighth, the smallest that is not below 140


def test_sixteen_bits_keep_their_high_byte(tmp_path):
    values = np.full((8, 8), 0xC83F, dtype=np.uint16)
    for name in ("p.png", "p.tif"):
        Image.fromarray(values).save(tmp_path / name)
        assert decode_photo(tmp_path / name, size=8)[3, 3].tolist() == [0xC8] * 3


def test_floating_point_is_stretched_over_its_own_range(tmp_path):
    values = np.array([[-2.0, 0.0], [2.0, np.nan]], dtype=np.float32)
    Image.fromarray(values).save(tmp_path / "p.tif")
    assert decode_photo(tmp_path / "p.tif", size=8)[:, :, 0].tolist() == [[0, 128], [255, 0]]


@pytest.mark.filterwarnings("error")
def test_a_floating_point_photo_of_random_bits_is_what_it_can_be_without_a_warning(tmp_path):
    bits = np.random.default_rng(0).integers(0, 2**32, (60, 80), dtype=np.uint32)
    values = bits.view(np.float32)
    Image.fromarray(values).save(tmp_path / "p.tif")
    shown = decode_photo(tmp_path / "p.tif", size=100)[:, :, 0]
    known = np.isfinite(values)
    assert shown[values == values[known].max()].tolist() == [255]
    assert set(shown[~known]) <= {0, 255}


def test_cmyk(tmp_path):
    Image.fromarray(four_colours()).convert("CMYK").save(tmp_path / "p.jpg", quality=95)
    assert corners(decode_photo(tmp_path / "p.jpg", size=1000)) == "red green blue white"


def test_see_through_pixels_are_white(tmp_path):
    pixels = np.dstack([four_colours(), np.full((48, 64), 255, dtype=np.uint8)])
    pixels[:24, :32, 3] = 0
    Image.fromarray(pixels).save(tmp_path / "rgba.png")
    palette = Image.fromarray(four_colours()).quantize(4)
    palette.save(tmp_path / "palette.png", transparency=palette.getpixel((0, 0)))
    for name in ("rgba.png", "palette.png"):
        assert corners(decode_photo(tmp_path / name, size=1000)) == "white green blue white"


def test_one_bit_and_grey(tmp_path):
    Image.fromarray(np.array([[0, 255]], dtype=np.uint8)).convert("1").save(tmp_path / "p.png")
    assert decode_photo(tmp_path / "p.png", size=8).tolist() == [[[0] * 3, [255] * 3]]


@pytest.mark.parametrize("suffix", ["gif", "webp", "png", "tif"])
def test_of_an_animation_the_first_frame(tmp_path, suffix):
    first, second = Image.fromarray(four_colours()), Image.new("RGB", (64, 48), BLUE)
    first.save(tmp_path / f"p.{suffix}", save_all=True, append_images=[second])
    assert corners(decode_photo(tmp_path / f"p.{suffix}", size=1000)) == "red green blue white"


def png_header(width: int, height: int, *, spare: int = 0) -> bytes:
    """Make a PNG that claims a size and holds almost nothing.

    `spare` bytes of padding stand for a large file.
    """

    def chunk(kind: bytes, content: bytes) -> bytes:
        return (
            struct.pack(">I", len(content))
            + kind
            + content
            + struct.pack(">I", zlib.crc32(kind + content))
        )

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    pixels = chunk(b"IDAT", zlib.compress(b"\0" * 10))
    padding = chunk(b"prVt", bytes(spare))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + padding + pixels + chunk(b"IEND", b"")


def test_a_decompression_bomb_is_refused_by_its_header(tmp_path):
    (tmp_path / "bomb.png").write_bytes(png_header(50_000, 40_000))
    with pytest.raises(BadImageError, match="too large: 50000 x 40000 pixels is over the limit"):
        decode_photo(tmp_path / "bomb.png", size=100)


def test_what_phones_make_is_under_the_limit_and_pillow_keeps_its_own(tmp_path):
    """At 199.8 megapixels Pillow alone would refuse; here the file is only found to be broken."""
    before = Image.MAX_IMAGE_PIXELS
    (tmp_path / "large.png").write_bytes(png_header(16_320, 12_240, spare=2_000_000))
    with pytest.raises(BadImageError, match="broken image"):
        decode_photo(tmp_path / "large.png", size=100)
    assert before == Image.MAX_IMAGE_PIXELS


def test_a_small_file_that_declares_a_large_image_is_refused_by_its_header(tmp_path):
    (tmp_path / "flat.png").write_bytes(png_header(14_000, 14_000))
    why = (
        "14000 x 14000 pixels take 784 MB to decode, over the limit of 600 MB for a file of this"
        " size"
    )
    with pytest.raises(BadImageError, match=why), opened(tmp_path / "flat.png"):
        pass


@pytest.mark.parametrize(
    ("width", "height"),
    [(8192, 6144), (11_648, 8736), (16_384, 3900)],
    ids=["50 MP", "102 MP", "panorama"],
)
def test_photos_of_cameras_pass_whatever_their_content(tmp_path, width, height):
    (tmp_path / "large.png").write_bytes(png_header(width, height))
    with opened(tmp_path / "large.png") as (image, _):
        assert image.size == (width, height)


@pytest.mark.parametrize(
    "decoded",
    [partial(decode_photo, size=20), lambda path: read_photo(path, path.name, size=20)[1]],
    ids=["decode_photo", "read_photo"],
)
def test_photos_that_do_not_fit_into_memory_together_are_decoded_one_after_the_other(
    tmp_path, monkeypatch, decoded
):
    paths = [tmp_path / f"{k}.png" for k in range(3)]
    for path in paths:
        Image.fromarray(four_colours(400, 300)).save(path)
    monkeypatch.setattr(decode, "_memory", decode._SharedMemory(900_000))  # one takes 480,000
    at_once, most = 0, []
    load, lock = PngImageFile.load_prepare, threading.Lock()

    def slowly(image):
        nonlocal at_once
        with lock:
            at_once += 1
            most.append(at_once)
        time.sleep(0.01)
        with lock:
            at_once -= 1
        return load(image)

    monkeypatch.setattr(PngImageFile, "load_prepare", slowly)
    with ThreadPoolExecutor(3) as pool:
        assert [image.shape for image in pool.map(decoded, paths)] == [(20, 27, 3)] * 3
    assert max(most) == 1


def test_a_photo_over_what_all_may_take_together_is_decoded_alone(tmp_path, monkeypatch):
    Image.fromarray(four_colours(400, 300)).save(tmp_path / "p.png")
    monkeypatch.setattr(decode, "_memory", decode._SharedMemory(1000))
    assert decode_photo(tmp_path / "p.png", size=20).shape == (20, 27, 3)


@pytest.mark.parametrize("mode", ["1", "L", "LA", "P", "RGB", "RGBA", "CMYK", "I;16", "F"])
def test_an_image_reduced_in_tiles_is_the_one_reduced_as_a_whole(tmp_path, monkeypatch, mode):
    noise = np.random.default_rng(5).integers(0, 256, (211, 307, 4), dtype=np.uint8)
    grey = noise[:, :, 0].astype(np.float32)
    whole = {"I;16": grey.astype(np.uint16) * 257, "F": grey * 2.5 - 40, "RGBA": noise}.get(mode)
    image = (
        Image.fromarray(noise[:, :, :3]).convert(mode) if whole is None else Image.fromarray(whole)
    )
    path = tmp_path / ("p.tif" if mode in ("F", "CMYK") else "p.png")
    image.save(path)
    made = {}
    for tile in (32, 10_000):
        monkeypatch.setattr(decode, "TILE", tile)
        made[tile] = decode_photo(path, size=24)
    rgb = decode._to_rgb(
        image, (float(grey.min() * 2.5 - 40), float(grey.max() * 2.5 - 40)) if mode == "F" else None
    )
    expected = rgb.resize((35, 24), Image.Resampling.BICUBIC, reducing_gap=2.0)
    np.testing.assert_array_equal(made[32], made[10_000])
    np.testing.assert_array_equal(made[32], np.asarray(expected))


def test_a_strip_far_longer_than_a_panorama_is_reduced_by_its_longer_side(tmp_path):
    Image.new("L", (300_000, 30), 90).save(tmp_path / "strip.png")
    assert decode_photo(tmp_path / "strip.png", size=50).shape == (1, 1000, 3)
    Image.new("L", (1000, 60), 90).save(tmp_path / "panorama.png")
    assert decode_photo(tmp_path / "panorama.png", size=50).shape == (50, 833, 3)


def test_the_words_about_a_file_hold_no_path(tmp_path, monkeypatch):
    Image.fromarray(four_colours()).save(tmp_path / "p.png")

    def fails(*_, **__):
        raise OSError(5, "Input/output error", str(tmp_path / "p.png"))

    monkeypatch.setattr(Image, "open", fails)
    with pytest.raises(BadImageError, match=r"^broken image: Input/output error$"):
        decode_photo(tmp_path / "p.png", size=50)


@pytest.mark.parametrize("suffix", ["jpg", "png", "webp", "tif", "gif", "heic", "avif"])
def test_cut_off_files_are_broken_not_half_grey(tmp_path, suffix):
    noise = np.random.default_rng(3).integers(0, 255, (120, 160, 3), dtype=np.uint8)
    path = tmp_path / f"p.{suffix}"
    Image.fromarray(noise).save(path)
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])
    with pytest.raises(BadImageError, match=r"broken image|not an image"):
        decode_photo(path, size=50)


def test_a_png_that_ends_in_zeros_is_broken_not_half_black(tmp_path):
    """As an interrupted copy leaves it: of its whole length, but filled up to a point."""
    noise = np.random.default_rng(3).integers(90, 110, (48, 64, 3), dtype=np.uint8)
    path = tmp_path / "p.png"
    Image.fromarray(noise).save(path)
    content = path.read_bytes()
    path.write_bytes(content[:200] + bytes(len(content) - 200))
    with pytest.raises(BadImageError, match="broken image"):
        decode_photo(path, size=50)


def test_formats_that_no_camera_writes_are_not_opened(tmp_path):
    path = tmp_path / "p.jpg"
    path.write_bytes(
        b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 10 10\n%%EndComments\nshowpage\n"
    )
    with pytest.raises(BadImageError, match="not an image"):
        decode_photo(path, size=50)


def test_a_png_called_jpg_is_read_as_what_it_is(tmp_path):
    Image.fromarray(four_colours()).save(tmp_path / "p.png")
    (tmp_path / "p.png").rename(tmp_path / "p.jpg")
    assert corners(decode_photo(Path(tmp_path / "p.jpg"), size=1000)) == "red green blue white"


def digest(content: bytes) -> str:
    return content_digest(BytesIO(content))


@pytest.mark.parametrize(
    ("suffix", "options"),
    [
        ("JPEG", {"quality": 90}),
        ("JPEG", {"progressive": True}),
        ("PNG", {}),
        ("WEBP", {"lossless": True}),
    ],
)
def test_the_digest_is_that_of_the_picture_not_of_its_metadata(suffix, options):
    picture = Image.fromarray(np.random.default_rng(1).integers(0, 255, (24, 32, 3), np.uint8))
    other = picture.transpose(Image.Transpose.FLIP_LEFT_RIGHT)

    def saved(image, **more) -> bytes:
        buffer = BytesIO()
        image.save(buffer, suffix, **options, **more)
        return buffer.getvalue()

    exif = Image.Exif()
    exif[0x0132] = "2023:07:15 10:00:00"
    plain, dated = saved(picture), saved(picture, exif=exif.tobytes())
    assert plain != dated
    assert digest(plain) == digest(dated)
    assert digest(plain) != digest(saved(other))


def test_the_digest_of_a_jpeg_ends_with_its_first_picture(make_photo):
    content = make_photo("a.jpg").read_bytes()
    assert digest(content) == digest(content + content) != digest(content[:-20])


def test_a_damaged_jpeg_has_a_digest():
    contents = [b"\xff\xd8", b"\xff\xd8\xff\xdb\x00\x00rest", b"\xff\xd8\xff\xe1\xff\xff", b""]
    # All but the second are empty pictures.
    assert len({digest(content) for content in contents}) == 2


@pytest.mark.parametrize(("side", "small"), [(480, 240), (448, 224), (256, 256), (100, 100)])
def test_a_small_gray_picture_averages_whole_squares_of_pixels(side, small):
    pixels = np.zeros((side, 2 * side, 3), np.uint8)
    pixels[:, side:, 1] = 200
    gray = small_gray(pixels, size=256)
    assert gray.shape == (small, 2 * small)
    assert (gray[:, :small] == 0).all()
    assert (gray[:, small:] == round(0.587 * 200)).all()
