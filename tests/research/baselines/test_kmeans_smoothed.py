from __future__ import annotations

import numpy as np

from dayline.research.baselines.kmeans_smoothed import SmoothedKMeans, smooth_labels


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
