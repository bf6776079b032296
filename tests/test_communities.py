from __future__ import annotations

import numpy as np

from dayline.communities import find_communities


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


def test_same_seed_same_communities(random):
    x = random.normal(size=(60, 4))
    assert np.array_equal(find_communities(x, 5, random_state=3), find_communities(x, 5, random_state=3))
