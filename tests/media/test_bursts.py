from __future__ import annotations

import numpy as np
import pytest

from dayline.media.bursts import group_bursts, signature


def thumbnails(*greys: int) -> np.ndarray:
    return np.repeat(np.asarray(greys, dtype=np.uint8)[:, None], 9, axis=1)


def test_close_and_alike_photos_are_one_burst():
    times = [0.0, 1.0, 1.5, 30.0, 31.0, 60.0]
    assert group_bursts(times, thumbnails(100, 104, 98, 100, 180, 180)) == (0, 0, 0, 1, 2, 3)


def test_likeness_is_to_the_first_of_the_burst_so_that_it_cannot_drift():
    """Steps of 8 grey levels: the third is 16 from the first, more than the 12 allowed."""
    assert group_bursts([0.0, 1.0, 2.0, 3.0], thumbnails(100, 108, 116, 124)) == (0, 0, 1, 1)


def test_dark_and_light_do_not_wrap_around():
    assert group_bursts([0.0, 1.0], thumbnails(2, 252)) == (0, 1)


def test_a_time_lapse_of_a_still_scene_stays_many_frames():
    times = [2.0 * i for i in range(13)]
    assert group_bursts(times, thumbnails(*[90] * 13)) == (0,) * 6 + (1,) * 6 + (2,)


def test_the_rule_can_be_set():
    grey = thumbnails(100, 120)
    assert group_bursts([0.0, 5.0], grey) == (0, 1)
    assert group_bursts([0.0, 5.0], grey, max_gap_seconds=5, max_difference=20) == (0, 0)


def test_without_times_every_photo_stands_alone():
    assert group_bursts(None, thumbnails(7, 7, 7)) == (0, 1, 2)


def test_a_clock_that_goes_back_ends_a_burst():
    assert group_bursts([10.0, 9.0], thumbnails(7, 7)) == (0, 1)


def test_times_and_photos_must_be_as_many():
    with pytest.raises(ValueError, match="2 times for 3 photos"):
        group_bursts([0.0, 1.0], thumbnails(1, 2, 3))


def test_a_signature_is_the_mean_grey_of_each_field():
    image = np.zeros((40, 80, 3), dtype=np.uint8)
    image[:20, 40:] = 200
    assert signature(image, side=2).tolist() == [0, 200, 0, 0]
