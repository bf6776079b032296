from __future__ import annotations

import numpy as np
import pytest

from dayline.denoise import standardize
from dayline.prices import HIGHEST_PRICE, abruptness, boundary_prices, order_matters, persistence


def test_persistence_of_looks_of_ten_frames(random):
    """Independent looks of length m have autocorrelation 1 - k/m: it sums to about (m + 1) / 2."""
    x = np.repeat(random.normal(size=(300, 40)), 10, axis=0)
    assert persistence(x) == pytest.approx(5.5, rel=0.1)
    assert persistence(random.normal(size=(1000, 40))) == pytest.approx(1.0, rel=0.05)
    assert persistence(np.ones((9, 2))) == 9


def drifting(random, n=400):
    """A slow drift with one hard cut at frame 200."""
    steps = 0.05 * random.normal(size=(n, 30))
    steps[0] = random.normal(size=30)
    steps[200] = 3 * random.normal(size=30)
    return np.cumsum(steps, axis=0)


def test_only_the_hard_cut_is_abrupt(random):
    found = abruptness(standardize(drifting(random)))
    assert np.argmax(found) == 200
    assert found[200] > 4
    assert np.mean(found > 2) < 0.05


def test_abruptness_is_blind_to_scale_and_follows_time_reversal(random):
    x = standardize(drifting(random))
    forward = abruptness(x)
    np.testing.assert_allclose(abruptness(5 * x), forward, atol=1e-6)
    np.testing.assert_allclose(abruptness(x[::-1])[1:], forward[1:][::-1], atol=1e-6)


def test_a_hard_cut_is_cheaper(random):
    prices = boundary_prices(standardize(drifting(random)))
    assert prices[200] < 0.3 * HIGHEST_PRICE
    assert prices[100] == pytest.approx(HIGHEST_PRICE)


def test_white_noise_has_no_order_and_looks_have(random):
    without = [order_matters(standardize(np.random.default_rng(k).normal(size=(200, 20)))) for k in range(50)]
    assert sum(without) == 0
    assert order_matters(standardize(np.repeat(random.normal(size=(20, 20)), 10, axis=0)))
    assert not order_matters(np.eye(3))
    assert boundary_prices(standardize(random.normal(size=(200, 20)))).min() > 1e4


def test_a_few_frames_have_finite_prices():
    for n in (1, 2, 3, 4, 5):
        assert np.isfinite(boundary_prices(np.eye(5)[:n])).all()
