from __future__ import annotations

import numpy as np

from dayline.events import Segmentation
from dayline.pipeline.extraction import sharpness
from dayline.pipeline.key_photos import with_key_photos

FEATURES = np.asarray([[1, 0], [1, 0.1], [1, 0.3], [0, 1], [0.1, 1], [0.5, 1]])


def test_the_key_photo_is_nearest_to_the_centre():
    found = with_key_photos(Segmentation.from_boundaries([3], 6), FEATURES)
    assert [e.key_frame for e in found.events] == [1, 4]


def test_of_the_sharper_half():
    sharp = np.asarray([5.0, 1.0, 4.0, 1.0, 2.0, 9.0])
    found = with_key_photos(Segmentation.from_boundaries([3], 6), FEATURES, sharp)
    assert [e.key_frame for e in found.events] == [0, 4]


def test_blur_lowers_sharpness():
    image = np.random.default_rng(0).integers(0, 255, (40, 60, 3)).astype(np.uint8)
    blurred = ((image[:-1].astype(int) + image[1:]) // 2).astype(np.uint8)
    assert sharpness(blurred) < 0.7 * sharpness(image)
    assert sharpness(np.full((30, 30, 3), 90, np.uint8)) < 1e-3
    # By hand: one white point in black is 4 times its value there and once at its four neighbours.
    point = np.zeros((7, 7, 3), np.uint8)
    point[3, 3] = 100
    values = np.zeros(25)
    values[0], values[1:5] = -400, 100
    np.testing.assert_allclose(sharpness(point), values.var(), rtol=1e-5)


def test_tiny_images_have_no_sharpness():
    assert sharpness(np.zeros((2, 9, 3), np.uint8)) == 0
