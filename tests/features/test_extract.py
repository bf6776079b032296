"""Images become features, and errors name the image."""

from __future__ import annotations

import numpy as np
import pytest

from dayline.features.extract import extract_features, load_extractor
from dayline.features.preprocess import Preprocessing, normalize, prepare, resize


class MeanColor:
    """An extractor that is checked by hand: the mean red, green and blue."""

    name, fingerprint, n_features, input_size = "mean", "m1", 3, 4

    def prepare(self, image):
        if image.ndim != 3:
            raise ValueError("the image is flat")
        return image.reshape(-1, 3).mean(axis=0)

    def extract(self, batch):
        return batch.astype(np.float32)


def image(value: int) -> np.ndarray:
    return np.full((4, 5, 3), (value, value + 1, value + 2), dtype=np.uint8)


def test_one_row_per_image():
    features = extract_features([image(10 * i) for i in (4, 0, 7)], MeanColor())
    np.testing.assert_array_equal(features, [[40, 41, 42], [0, 1, 2], [70, 71, 72]])
    assert extract_features([], MeanColor()).shape == (0, 3)


def test_errors_name_the_frame():
    flat = np.zeros((4, 4), np.uint8)
    with pytest.raises(ValueError, match="frame 1: the image is flat"):
        extract_features([image(1), flat], MeanColor())
    with pytest.raises(ValueError, match="frame b: the image is flat"):
        extract_features([image(1), flat], MeanColor(), names=["a", "b"])
    broken = MeanColor()
    broken.extract = lambda batch: np.where(batch == 11, np.nan, batch)
    with pytest.raises(ValueError, match="not finite for frame 1;"):
        extract_features([image(1), image(10)], broken)


def test_unknown_models_are_named():
    with pytest.raises(ValueError, match='model "resnet" is not known; use lite0'):
        load_extractor("resnet")


def test_crop_keeps_the_center():
    picture = np.zeros((40, 80, 3), dtype=np.uint8)
    picture[5:35, 25:55] = 90
    # The center square of 20 pixels, and the pixels round it that resampling may touch, are all 90.
    assert (resize(picture, size=10, crop=0.5) == 90).all()
    whole = resize(picture, size=10, crop=1.0)[:, :, 0]
    assert (whole[3:7, 3:7] == 90).all()
    assert (whole[[0, -1]] < 20).all()
    np.testing.assert_allclose(whole, whole.T.astype(float), atol=1)
    picture[:, 64:] = 250
    assert (resize(picture, size=10, crop=None)[:, 9, 0] > 200).all()


@pytest.mark.parametrize("layout", ["NCHW", "NHWC"])
def test_normalization_by_hand(layout):
    wanted = Preprocessing(size=4, crop=1.0, mean=(10, 20, 30), std=(2, 4, 8), layout=layout)
    inputs = normalize(prepare(np.full((9, 7, 3), (20, 12, 46), np.uint8), wanted)[None], wanted)
    channels = inputs[0] if layout == "NCHW" else inputs[0].transpose(2, 0, 1)
    assert channels.shape == (3, 4, 4)
    for channel, value in zip(channels, (5, -2, 2), strict=True):
        assert (channel == value).all()


@pytest.mark.parametrize("shape", [(4, 4), (4, 4, 4), (0, 4, 3)])
def test_wrong_images_are_refused(shape):
    with pytest.raises(ValueError, match=r"it must be uint8 \(height, width, 3\)"):
        resize(np.zeros(shape, np.uint8), size=4, crop=1.0)
