from __future__ import annotations

import numpy as np
import pytest
from PIL import Image, ImageFilter

from dayline.album.key_photos import measure_photo, photo_quality, with_key_photos
from dayline.events import Event, Segmentation

FEATURES = np.asarray([[1, 0], [1, 0.1], [1, 0.3], [0, 1], [0.1, 1], [0.5, 1]])


def street(seed: int = 0, *, height: int = 256, width: int = 340) -> np.ndarray:
    """Draw windows and doors on walls, with the noise of a camera."""
    random = np.random.default_rng(seed)
    image = np.full((height, width, 3), 120.0)
    for _ in range(60):
        top, left = random.integers(0, height - 20), random.integers(0, width - 20)
        high, wide = random.integers(8, 60, 2)
        image[top : top + high, left : left + wide] = random.uniform(30, 220, 3)
    return np.clip(image + random.normal(scale=3, size=image.shape), 0, 255).astype(np.uint8)


def sky(seed: int = 0, *, height: int = 256, width: int = 340) -> np.ndarray:
    """Draw a blue gradient with the noise of a camera."""
    shade = np.linspace(90, 200, height)[:, None, None] * np.asarray([0.6, 0.75, 1.0])
    noise = np.random.default_rng(seed).normal(scale=3, size=(height, width, 3))
    return np.clip(shade + noise, 0, 255).astype(np.uint8)


def sky_with_a_roof() -> np.ndarray:
    image = sky()
    image[-40:] = street()[-40:]
    return image


def blurred(image: np.ndarray, radius: float = 6.0) -> np.ndarray:
    return np.asarray(Image.fromarray(image).filter(ImageFilter.GaussianBlur(radius)))


def brightened(image: np.ndarray) -> np.ndarray:
    return np.clip(image.astype(float) + 140, 0, 255).astype(np.uint8)


def quality(*images: np.ndarray) -> np.ndarray:
    grays = [np.asarray(Image.fromarray(image).convert("L")) for image in images]
    return photo_quality(np.stack([measure_photo(gray) for gray in grays]).astype(float))


POOR = {
    "sky": sky(),
    "sky with a roof": sky_with_a_roof(),
    "blurred": blurred(street()),
    "black": np.zeros((256, 340, 3), np.uint8),
    "covered lens": (
        np.random.default_rng(1).normal(8, 3, (256, 340, 3)).clip(0, 255).astype(np.uint8)
    ),
    "overexposed": brightened(street()),
    "white": np.full((256, 340, 3), 255, np.uint8),
}


@pytest.mark.parametrize("fault", POOR)
def test_a_photo_with_a_fault_is_worth_less_than_one_with_content(fault):
    good, poor = quality(street(), POOR[fault])
    assert good > 0.9
    assert poor < 0.7 * good


def test_a_sky_with_a_roof_is_worth_more_than_a_blank_one():
    blank, roof = quality(sky(), sky_with_a_roof())
    assert blank == 0 < roof


def test_of_blurred_photos_one_with_content_is_still_better():
    street_only, sky_only = quality(blurred(street()), blurred(sky()))
    assert street_only > sky_only


def test_the_measures_by_hand():
    # The left 32 columns are a chessboard of single pixels of 100 and 140, the other 33 are black.
    image = np.zeros((65, 65), np.uint8)
    image[:, :32] = np.where(np.indices((65, 32)).sum(axis=0) % 2, 140, 100)
    content, _, clipped = measure_photo(image).tolist()
    assert clipped == pytest.approx(33 / 65)
    assert content == 0.5
    # An edge one pixel wide between pairs of pixels keeps its height at half resolution; a ramp
    # loses half of it.
    edge = np.full((64, 64), 50, np.uint8)
    edge[:, 32:] = 150
    ramp = np.broadcast_to(np.arange(64, dtype=np.uint8) * 3, (64, 64))
    assert measure_photo(edge)[1] == pytest.approx(1.0)
    assert measure_photo(ramp)[1] == pytest.approx(0.5)


@pytest.mark.parametrize("shape", [(1, 1), (2, 9), (7, 7), (300, 1)])
def test_tiny_images_have_no_content(shape):
    values = measure_photo(np.random.default_rng(2).integers(0, 255, shape).astype(np.uint8))
    assert values[0] == 0
    assert np.isfinite(values).all()


def test_the_key_photo_is_nearest_to_the_center():
    found = with_key_photos(Segmentation.from_boundaries([3], 6).events, FEATURES)
    assert [e.key_frame for e in found] == [1, 4]


def test_of_the_good_ones():
    good = np.asarray([0.5, 0.3, 0.4, 0.1, 0.2, 0.9])
    found = with_key_photos(Segmentation.from_boundaries([3], 6).events, FEATURES, good)
    assert [e.key_frame for e in found] == [0, 5]


def test_if_none_is_good_the_nearest_one_is_taken():
    found = with_key_photos(Segmentation.from_boundaries([3], 6).events, FEATURES, np.zeros(6))
    assert [e.key_frame for e in found] == [1, 4]


def test_a_chosen_one_is_kept():
    chosen = (Event(0, 3, key_frame=2, key_chosen=True), Event(3, 6, key_frame=5))
    found = with_key_photos(chosen, FEATURES, np.asarray([1, 1, 0.1, 1, 1, 1]))
    assert [e.key_frame for e in found] == [2, 4]
