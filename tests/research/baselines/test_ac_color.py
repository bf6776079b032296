from __future__ import annotations

import numpy as np
import pytest

from dayline.features.handmade import lab_histogram
from dayline.research.baselines.ac_color import ColorSegmenter, color_distance


@pytest.mark.parametrize(
    ("color", "lab"),
    [
        ((255, 255, 255), (100.0, 0.0, 0.0)),
        ((255, 0, 0), (53.24, 80.09, 67.20)),
        ((0, 0, 128), (12.97, 47.50, -64.70)),
    ],
)
def test_colors_fall_into_the_bins_of_their_lab_values(color, lab):
    histogram = lab_histogram(np.full((4, 6, 3), color, dtype=np.uint8)).reshape(3, 23)
    ranges = ((0.0, 100.0), (-128.0, 127.0), (-128.0, 127.0))
    for channel, value, (low, high) in zip(histogram, lab, ranges, strict=True):
        expected = min(int((value - low) / (high - low) * 23), 22)
        assert channel[expected] == 1.0
        assert channel.sum() == 1.0


def test_distances_by_hand():
    x = np.array([[1.0, 3.0], [3.0, 1.0], [1.0, 3.0]])
    # chi2 is 4/4 + 4/4 = 2 between the first two, 0 between the outer ones, so 4/3 on average.
    distance = color_distance(x, time_window=4)
    assert distance[0, 1] == pytest.approx(1 - 0.75 * np.exp(-1.5))
    assert distance[0, 2] == pytest.approx(1 - 0.5)
    assert color_distance(x, time_window=2)[0, 2] == 1.0


def test_what_is_no_histogram_or_image_is_refused():
    with pytest.raises(ValueError, match="frames 1 and 2; AC-color takes color histograms"):
        ColorSegmenter().fit(np.array([[1.0, 2.0], [-1.0, 2.0], [0.0, -3.0]]))
    with pytest.raises(ValueError, match=r"shape \(4, 4\)"):
        lab_histogram(np.zeros((4, 4), dtype=np.uint8))


def test_groups_are_as_many_as_requested(random):
    fitted = ColorSegmenter(5).fit(random.random((60, 9)))
    assert fitted.communities_.max() + 1 == 5
    assert fitted.communities_[0] == 0
