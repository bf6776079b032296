from __future__ import annotations

import numpy as np

from dayline.media.bursts import group_frames, signature


def thumbnails(*greys: int) -> np.ndarray:
    return np.repeat(np.asarray(greys, dtype=np.uint8)[:, None], 9, axis=1)


def bursts(times, signatures, **options) -> tuple[int, ...]:
    return tuple(group_frames(times, signatures, **options).of_frame.tolist())


def test_close_and_alike_photos_are_one_burst():
    times = [0.0, 1.0, 1.5, 30.0, 31.0, 60.0]
    assert bursts(times, thumbnails(100, 104, 98, 100, 180, 180)) == (0, 0, 0, 1, 2, 3)


def test_likeness_is_to_the_first_of_the_burst_so_that_it_cannot_drift():
    """Steps of 8 grey levels: the third is 16 from the first, more than the 12 allowed."""
    assert bursts([0.0, 1.0, 2.0, 3.0], thumbnails(100, 108, 116, 124)) == (0, 0, 1, 1)


def test_dark_and_light_do_not_wrap_around():
    assert bursts([0.0, 1.0], thumbnails(2, 252)) == (0, 1)


def test_a_time_lapse_of_a_still_scene_stays_many_frames():
    times = [2.0 * i for i in range(13)]
    assert bursts(times, thumbnails(*[90] * 13)) == (0,) * 6 + (1,) * 6 + (2,)


def test_a_required_boundary_splits_a_burst():
    assert bursts([0.0, 1.0, 2.0], thumbnails(9, 9, 9), opened=[2, 7]) == (0, 0, 1)


def test_without_times_every_photo_stands_alone():
    assert bursts(None, thumbnails(7, 7, 7)) == (0, 1, 2)


def test_a_clock_that_goes_back_ends_a_burst():
    assert bursts([10.0, 9.0], thumbnails(7, 7)) == (0, 1)


def test_a_signature_is_the_mean_grey_of_each_field():
    image = np.zeros((32, 64, 3), dtype=np.uint8)
    image[:16, 32:] = 200
    fields = signature(image).reshape(16, 16)
    assert (fields[:8, 8:] == 200).all()
    assert fields.sum() == 64 * 200
