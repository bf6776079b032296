from __future__ import annotations

import numpy as np

from dayline.communities import find_communities, find_recurring_events


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


def test_events_of_one_context_share_a_number_and_neighbours_never_do():
    looks = np.eye(3)[[0, 1, 0, 2, 1, 0]]
    x = np.repeat(looks, [4, 9, 30, 5, 2, 7], axis=0)
    found = find_recurring_events(x, np.asarray([4, 13, 43, 48, 50]))
    assert found[[0, 4, 13, 43, 48, 50]].tolist() == [0, 1, 0, 2, 1, 0]
    same = find_recurring_events(np.ones((9, 2)), np.asarray([3, 6]))
    assert same[[0, 3, 6]].tolist()[:2] == [0, 1]
    assert find_recurring_events(np.ones((3, 2)), np.zeros(0, dtype=int)).tolist() == [0, 0, 0]
