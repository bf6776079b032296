from __future__ import annotations

import numpy as np
import pytest

from dayline.decision.penalties import (
    COMEBACK,
    HIGHEST_PRICE,
    LOWEST_PRICE,
    boundary_prices,
    comeback_factor,
    order_matters,
    persistence,
)
from dayline.method.denoise import standardize


def test_persistence_of_looks_of_ten_frames(random):
    """Independent looks of length m have autocorrelation 1 - k/m: it sums to about (m + 1) / 2."""
    x = np.repeat(random.normal(size=(300, 40)), 10, axis=0)
    assert persistence(x) == pytest.approx(5.5, rel=0.1)
    assert persistence(random.normal(size=(1000, 40))) == pytest.approx(1.0, rel=0.05)
    assert persistence(np.ones((9, 2))) == 9


def test_a_boundary_is_dearer_where_looks_come_back(random):
    """Two looks in turn, then two others in turn: only the change of the pair is new."""
    looks = random.normal(size=(4, 30))
    turns = np.concatenate([np.tile([0] * 10 + [1] * 10, 8), np.tile([2] * 10 + [3] * 10, 8)])
    x = standardize(looks[turns] + 0.3 * random.normal(size=(320, 30)))
    full = boundary_prices(x, x).full
    usual = min(persistence(x), HIGHEST_PRICE)
    within = [t for t in range(40, 300, 10) if t != 160]
    assert full[160] < 0.25 * usual
    assert np.min(full[within]) >= 0.99 * usual
    assert np.max(full[within]) > 1.3 * usual
    assert np.max(full) <= np.exp(0.4 * COMEBACK) * usual * (1 + 1e-9)


def test_what_comes_back_changes_the_price_by_a_bounded_factor():
    returns = np.concatenate([np.full(60, 0.5), [-9.0], np.full(60, 0.5), [9.0], np.full(60, 0.5)])
    factor = comeback_factor(returns)
    assert factor.min() == pytest.approx(np.exp(-0.4 * COMEBACK))
    assert factor.max() == pytest.approx(np.exp(0.4 * COMEBACK))
    assert factor[10] == 1.0
    np.testing.assert_array_equal(comeback_factor(returns, strength=0.0), 1.0)


def test_the_ends_are_neither_cheap_nor_dear(random):
    """Near an end there is little to come back from, which says nothing about events."""
    x = standardize(np.repeat(random.normal(size=(3, 20)), 100, axis=0) + 2 * random.normal(size=(300, 20)))
    full = boundary_prices(x, x).full
    usual = min(persistence(x), HIGHEST_PRICE)
    assert np.all(np.abs(np.log(full[[0, 1, 2, 298, 299]] / usual)) < 0.15)


def test_white_noise_has_no_order_and_looks_have(random):
    without = [order_matters(standardize(np.random.default_rng(k).normal(size=(200, 20)))) for k in range(50)]
    assert sum(without) == 0
    assert order_matters(standardize(np.repeat(random.normal(size=(20, 20)), 10, axis=0)))
    assert not order_matters(np.eye(3))
    noise = standardize(random.normal(size=(200, 20)))
    assert boundary_prices(noise, noise).asked.min() > 1e4
    assert boundary_prices(noise, noise).room == 1.0


def test_a_few_frames_have_finite_prices():
    for n in (1, 2, 3, 4, 5):
        prices = boundary_prices(np.eye(5)[:n], np.eye(5)[:n])
        assert np.isfinite(prices.asked).all()
        assert prices.room >= 1.0


def test_a_boundary_explains_two_frames_at_least(random):
    """Looks of one frame and a half, as far as their persistence tells."""
    x = random.normal(size=(600, 20))
    x[1:] += 0.5 * x[:-1]
    assert persistence(standardize(x)) < 1.9
    prices = boundary_prices(standardize(x), standardize(x), comeback=0.0)
    np.testing.assert_allclose(prices.full, LOWEST_PRICE)
    assert prices.room == pytest.approx(HIGHEST_PRICE / LOWEST_PRICE)


def test_rounding_does_not_tell_which_of_equal_frames_comes_back_least():
    returns = np.repeat([0.5, 0.2, 0.6, 0.1, 0.5], 30)
    noise = 1e-14 * np.random.default_rng(0).normal(size=len(returns))
    np.testing.assert_allclose(comeback_factor(returns + noise), comeback_factor(returns), rtol=1e-9)
