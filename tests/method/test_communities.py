from __future__ import annotations

import numpy as np
import pytest
from sklearn.cluster import KMeans

from dayline.method.graph import find_communities, in_order_of_appearance
from dayline.metrics import score_labels


def test_three_heaps_are_found_and_numbered_as_they_appear(xp, random):
    truth = np.repeat([0, 1, 0, 2, 1], 8)
    centres = np.asarray([[9.0, 0.0], [0.0, 9.0], [-9.0, -9.0]])
    found = find_communities(xp.asarray(centres[truth] + random.normal(scale=0.1, size=(40, 2))), 3)
    assert found.tolist() == truth.tolist()


def test_no_more_communities_than_different_frames():
    x = np.repeat([[1.0, 0.0], [0.0, 1.0]], 5, axis=0)
    assert find_communities(x, 10).tolist() == [0] * 5 + [1] * 5
    assert find_communities(np.zeros((4, 2)), 10).tolist() == [0] * 4
    assert find_communities(np.zeros((1, 2)), 10).tolist() == [0]


@pytest.mark.parametrize(("difference", "n_found"), [(4e-8, 1), (4e-7, 2)])
def test_frames_that_differ_by_rounding_alone_are_one_community(difference, n_found):
    x = 1000 * np.asarray([[1.0, 0.0], [1.0, difference]] * 4)
    assert len(set(find_communities(x, 2).tolist())) == n_found


@pytest.mark.parametrize("seed", [3, 6, 18, 38])
def test_the_best_of_ten_restarts_is_taken(seed):
    """On these points the tenth or the eleventh restart finds better groups than any before it."""
    x = np.random.default_rng(seed).normal(size=(40, 3))
    expected = KMeans(6, n_init=10, random_state=0).fit_predict(x)
    assert score_labels(find_communities(x, 6), expected).adjusted_rand == pytest.approx(1.0)


def test_same_seed_same_communities(random):
    x = random.normal(size=(60, 4))
    assert np.array_equal(
        find_communities(x, 5, random_state=3), find_communities(x, 5, random_state=3)
    )


def test_labels_are_renumbered_in_the_order_in_which_they_first_appear():
    assert in_order_of_appearance(np.asarray([7, 7, 2, 9, 2, 7])).tolist() == [0, 0, 1, 2, 1, 0]
