"""Images go through in order, in bounded memory, and errors come out where they can be seen."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from dayline.features.extract import extract_features, iter_features, load_extractor
from dayline.features.preprocess import Preprocessing, normalize, prepare, resize


class MeanColor:
    """An extractor that is checked by hand: the mean red, green and blue."""

    name, fingerprint, n_features, input_size = "mean", "m1", 3, 4

    def __init__(self):
        self.batches: list[int] = []
        self.threads: set[int] = set()

    def prepare(self, image):
        if image.ndim != 3:
            raise ValueError("the image is flat")
        return image.reshape(-1, 3).mean(axis=0)

    def extract(self, batch):
        self.batches.append(len(batch))
        self.threads.add(threading.get_ident())
        return batch.astype(np.float32)


def image(value: int) -> np.ndarray:
    return np.full((4, 5, 3), (value, value + 1, value + 2), dtype=np.uint8)


def test_features_stand_at_their_frames():
    extractor, steps = MeanColor(), []
    indices, features = extract_features(
        ((i, image(10 * i)) for i in (4, 0, 7, 2, 3)),
        extractor,
        n_frames=9,
        batch_size=2,
        on_step=lambda *s: steps.append(s),
    )
    np.testing.assert_array_equal(indices, [0, 2, 3, 4, 7])
    np.testing.assert_array_equal(features[:, 1], [1, 21, 31, 41, 71])
    assert extractor.batches == [2, 2, 1]
    assert steps == [(2, 9), (4, 9), (5, 9)]
    assert extractor.threads == {threading.get_ident()}


def test_functions_are_decoded_elsewhere_and_may_skip_a_frame():
    seen = set()

    def decode(value):
        seen.add(threading.get_ident())
        return None if value == 3 else image(value)

    images = ((i, lambda i=i: decode(i)) for i in range(6))
    indices, features = extract_features(images, MeanColor(), n_frames=6, batch_size=4)
    np.testing.assert_array_equal(indices, [0, 1, 2, 4, 5])
    np.testing.assert_array_equal(features[:, 0], indices)
    assert threading.get_ident() not in seen


def test_batches_come_in_the_order_of_the_images():
    batches = iter_features(
        ((i, image(i)) for i in range(50)), MeanColor(), n_frames=50, batch_size=8
    )
    assert [list(indices) for indices, _ in batches] == [
        list(range(s, min(s + 8, 50))) for s in range(0, 50, 8)
    ]


def test_reads_no_further_ahead_than_the_queue_allows():
    n_read = 0

    def images():
        nonlocal n_read
        for i in range(1000):
            n_read += 1
            yield i, image(1)

    batches = iter_features(images(), MeanColor(), n_frames=1000, batch_size=4)
    next(batches)
    batches.close()
    # 4 in the batch, 8 in the queue, one waiting to be put, one just read, one asked for.
    assert 4 <= n_read <= 15
    assert not [t for t in threading.enumerate() if t.name.startswith("prepare")]


def test_no_images_give_an_empty_table():
    indices, features = extract_features([], MeanColor(), n_frames=0)
    assert indices.shape == (0,)
    assert features.shape == (0, 3)


def failing_source():
    yield 0, image(1)
    raise OSError("the disk is gone")


def failing_decoder():
    raise OSError("the disk is gone")


@pytest.mark.parametrize("images", [failing_source(), [(0, image(1)), (1, failing_decoder)]])
def test_errors_of_the_source_reach_the_caller(images):
    with pytest.raises(OSError, match="the disk is gone"):
        extract_features(images, MeanColor(), n_frames=5)
    assert not [t for t in threading.enumerate() if t.name.startswith("prepare")]


def test_errors_name_the_frame():
    with pytest.raises(ValueError, match="frame 3: the image is flat"):
        extract_features([(3, np.zeros((4, 4), np.uint8))], MeanColor(), n_frames=5)
    with pytest.raises(ValueError, match="frame 5 is outside the sequence of frames 0 to 4"):
        extract_features([(5, image(1))], MeanColor(), n_frames=5)
    broken = MeanColor()
    broken.extract = lambda batch: np.where(batch == 11, np.nan, batch)
    with pytest.raises(ValueError, match="not finite for frame 1;"):
        extract_features([(0, image(1)), (1, image(10))], broken, n_frames=5)


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
