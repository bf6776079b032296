"""Clusters of colors, of smoothed k-means and of first neighbors."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from dayline.features.handmade import lab_histogram
from dayline.metrics import score_labels
from dayline.research.baselines.clustering import (
    ColorSegmenter,
    SmoothedKMeans,
    TemporalFinch,
    color_distance,
    finch_hierarchy,
    merge_groups,
    smooth_labels,
)


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


def test_what_is_no_histogram_is_refused():
    with pytest.raises(ValueError, match="frames 1 and 2; AC-color takes color histograms"):
        ColorSegmenter().fit(np.array([[1.0, 2.0], [-1.0, 2.0], [0.0, -3.0]]))


def test_groups_are_as_many_as_requested(random):
    fitted = ColorSegmenter(5).fit(random.random((60, 9)))
    assert fitted.communities_.max() + 1 == 5
    assert fitted.communities_[0] == 0


def test_every_frame_takes_the_most_frequent_label_around_it():
    labels = np.array([0, 0, 1, 0, 2, 2, 2, 1, 2])
    assert smooth_labels(labels, radius=1).tolist() == [0, 0, 0, 0, 2, 2, 2, 2, 2]
    assert smooth_labels(labels, radius=0).tolist() == labels.tolist()


def test_of_equally_frequent_labels_a_frame_keeps_its_own():
    assert smooth_labels(np.array([3, 3, 1, 1]), radius=1).tolist() == [3, 3, 1, 1]
    assert smooth_labels(np.array([2, 1]), radius=4).tolist() == [2, 1]


def test_short_visits_do_not_cut(random):
    x = np.repeat(random.normal(size=(2, 5)), 20, axis=0)
    x[8], x[31] = x[30], x[3]
    assert SmoothedKMeans(2, radius=3).fit(x).boundaries_.tolist() == [20]
    assert SmoothedKMeans(2, radius=0).fit(x).boundaries_.tolist() == [8, 9, 20, 31, 32]


def angles(*degrees: float) -> np.ndarray:
    a = np.deg2rad(degrees)
    return np.column_stack([np.cos(a), np.sin(a)])


def test_first_neighbors_are_near_in_features_and_time():
    # Frame 0 is most similar to frame 5 (2 degrees off: 0.0006), but that is 5 frames away
    # (0.0030); frame 1 (4 degrees off: 0.0024) is next to it. So the two pairs at the ends stay
    # apart.
    x = angles(30, 26, 80, 84, 36, 32)
    assert finch_hierarchy(x)[0].tolist() == [0, 0, 1, 1, 2, 2]


def test_every_partition_joins_groups_of_the_one_before(random):
    x = np.cumsum(random.normal(size=(150, 6)), axis=0)
    partitions = finch_hierarchy(x)
    assert len(partitions) >= 2
    for fine, coarse in pairwise(partitions):
        assert coarse.max() < fine.max()
        assert len({(a, b) for a, b in zip(fine, coarse, strict=True)}) == fine.max() + 1


def test_the_closest_pair_is_merged_first():
    # Pairs at 0, 10 and 50 degrees, two frames apart: 10 is nearer to 0 than to 50.
    x = angles(0, 0, 10, 10, 50, 50)
    assert merge_groups(x, np.array([5, 5, 2, 2, 9, 9]), n_groups=2).tolist() == [0, 0, 0, 0, 1, 1]
    assert merge_groups(x, np.array([0, 0, 1, 1, 2, 2]), n_groups=3).tolist() == [0, 0, 1, 1, 2, 2]


def test_the_level_is_taken_from_the_hierarchy(random):
    x = np.cumsum(random.normal(size=(150, 6)), axis=0)
    partitions = finch_hierarchy(x)
    assert TemporalFinch(level=1).fit(x).communities_.tolist() == partitions[1].tolist()
    assert TemporalFinch(level=99).fit(x).communities_.tolist() == partitions[-1].tolist()


@pytest.mark.parametrize("n_events", [1, 3, 40, 150])
def test_as_many_groups_as_requested(random, n_events):
    x = np.cumsum(random.normal(size=(150, 6)), axis=0)
    assert TemporalFinch(n_events).fit(x).communities_.max() + 1 == n_events


def test_keck_scores_as_measured_elsewhere(shared):
    from scipy.io import loadmat

    scores = []
    for path in sorted((shared / "motion" / "Keck_feature").glob("*.mat")):
        content = loadmat(path)
        true = content["keck_label"].ravel()
        found = TemporalFinch(len(np.unique(true))).fit(content["keck_feature"].T).communities_
        scores.append(score_labels(found, true))
    assert np.mean([s.hungarian_accuracy for s in scores]) == pytest.approx(0.630, abs=0.01)
    assert np.mean([s.nmi_geometric for s in scores]) == pytest.approx(0.754, abs=0.01)
