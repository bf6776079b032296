from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from dayline.metrics import score_labels
from dayline.research.baselines.tw_finch import TemporalFinch, finch_hierarchy, merge_groups


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
