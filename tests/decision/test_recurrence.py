"""How much of what was seen before a frame is seen again after it."""

import numpy as np
import pytest

from dayline.decision import recurrence as module
from dayline.decision.recurrence import recurrence
from dayline.method.graph import unit_rows


def by_hand(x, reach):
    """The definition, frame by frame."""
    u = unit_rows(x - x.mean(axis=0))
    found = np.empty(len(u))
    for t in range(1, len(u)):
        cosines = u[max(t - reach, 0) : t] @ u[t : t + reach].T
        found[t] = 0.5 * (cosines.max(axis=1).mean() + cosines.max(axis=0).mean())
    found[0] = found[1]
    any_two, neighbours = np.mean(u @ u.T), np.mean(np.sum(u[1:] * u[:-1], axis=1))
    return (found - any_two) / (neighbours - any_two)


@pytest.mark.parametrize(("n", "reach"), [(12, 1), (40, 5), (40, 8), (30, 64), (330, 16)])
def test_it_is_the_mean_of_the_best_cosines(n, reach, random):
    x = np.cumsum(random.normal(size=(n, 6)), axis=0)
    np.testing.assert_allclose(recurrence(x, reaches=[reach]), by_hand(x, reach), atol=1e-10)


def test_several_reaches_are_averaged(random):
    x = np.cumsum(random.normal(size=(60, 6)), axis=0)
    both = recurrence(x, reaches=(4, 9))
    np.testing.assert_allclose(both, 0.5 * (by_hand(x, 4) + by_hand(x, 9)), atol=1e-10)


def test_it_is_the_same_backwards(random):
    x = np.cumsum(random.normal(size=(200, 6)), axis=0)
    np.testing.assert_allclose(recurrence(x[::-1])[1:], recurrence(x)[1:][::-1], atol=1e-10)


def test_few_or_equal_frames_say_nothing():
    for x in (np.ones((50, 3)), np.eye(3), np.ones((1, 2)), np.zeros((9, 2))):
        assert not recurrence(x).any()


@pytest.mark.parametrize("block", [1, 7, 100, 299, 300])
def test_blocks_of_frames_give_the_same_as_the_whole(random, monkeypatch, block):
    x = np.cumsum(random.normal(size=(300, 6)), axis=0)
    whole = recurrence(x)
    monkeypatch.setattr(module, "BLOCK", block)
    np.testing.assert_array_equal(recurrence(x), whole)
