"""Colour histograms and histograms of gradients, against hand counts and scikit-image."""

from __future__ import annotations

import numpy as np
import pytest

from dayline.features.extract import load_extractor
from dayline.features.handmade import _rgb_to_lab, histogram_of_gradients, hsv_histogram


def test_hsv_histogram_by_hand():
    picture = np.zeros((4, 4, 3), dtype=np.uint8)
    picture[:3] = (255, 0, 0)
    picture[3] = (0, 0, 255)
    histogram = hsv_histogram(picture).reshape(16, 4, 4)
    assert histogram[0, 3, 3] == pytest.approx(np.sqrt(3 / 4))
    # Blue is 2/3 of the way round: bin 10 of 16.
    assert histogram[10, 3, 3] == pytest.approx(np.sqrt(1 / 4))
    assert np.count_nonzero(histogram) == 2


def test_greys_have_no_hue():
    warm, cold = (np.full((2, 2, 3), c, np.uint8) for c in ((131, 128, 125), (125, 128, 131)))
    np.testing.assert_array_equal(hsv_histogram(warm), hsv_histogram(cold))


def test_lab_equals_scikit_image():
    color = pytest.importorskip("skimage.color")
    rgb = np.random.default_rng(0).integers(0, 256, (500, 3), dtype=np.uint8)
    np.testing.assert_allclose(_rgb_to_lab(rgb), color.rgb2lab(rgb), atol=0.02)


@pytest.mark.parametrize(("model", "n_features"), [("color", 256), ("color-lab", 69)])
def test_color_features_are_shares_that_see_brightness(model, n_features):
    extractor = load_extractor(model)
    picture = np.random.default_rng(1).integers(0, 256, (60, 90, 3), dtype=np.uint8)
    features = extractor.extract(extractor.prepare(picture)[None])
    assert (extractor.name, extractor.n_features, features.shape) == (
        model,
        n_features,
        (1, n_features),
    )
    shares = np.sum(features**2) if model == "color" else np.sum(features) / 3
    assert shares == pytest.approx(1, abs=1e-6)
    brighter = extractor.prepare(np.minimum(picture.astype(int) + 60, 255).astype(np.uint8))
    assert np.linalg.norm(features[0] - brighter) > 0.1


def test_hog_equals_scikit_image():
    feature = pytest.importorskip("skimage.feature")
    grey = np.random.default_rng(2).random((64, 64))
    expected = feature.hog(grey, 9, (16, 16), (2, 2), block_norm="L2-Hys")
    np.testing.assert_allclose(histogram_of_gradients(grey), expected, atol=1e-4)


def test_hog_sees_the_direction_of_an_edge():
    grey = np.zeros((64, 64))
    grey[:, 32:] = 1.0
    cells = histogram_of_gradients(grey).reshape(3, 3, 2, 2, 9)
    # Brightness rises from left to right everywhere: direction 0, seen left and right of the edge.
    assert cells[1, 1, :, :, 0] == pytest.approx(0.5, abs=1e-3)
    assert cells[1, 1, :, :, 1:].max() < 1e-3


def test_hog_of_a_blank_image_is_not_zero():
    extractor = load_extractor("hog")
    features = extractor.extract(extractor.prepare(np.zeros((50, 70, 3), np.uint8))[None])
    assert (extractor.n_features, features.shape) == (324, (1, 324))
    assert features == pytest.approx(1 / 6, abs=1e-3)


def test_every_recipe_has_its_own_fingerprint():
    assert len({load_extractor(m).fingerprint for m in ("color", "color-lab", "hog")}) == 3
