from __future__ import annotations

import numpy as np
import pytest

from dayline.decision.penalties import (
    HIGHEST_PENALTY,
    LOWEST_PENALTY,
    RECURRENCE_STRENGTH,
    boundary_penalties,
    order_matters,
    persistence,
    recurrence_factor,
)
from dayline.method.denoise import standardize


def test_persistence_of_events_of_ten_frames(random):
    """Independent events of length m have autocorrelation 1 - k/m: it sums to about (m + 1) / 2."""
    x = np.repeat(random.normal(size=(300, 40)), 10, axis=0)
    assert persistence(x) == pytest.approx(5.5, rel=0.1)
    assert persistence(random.normal(size=(1000, 40))) == pytest.approx(1.0, rel=0.05)
    assert persistence(np.ones((9, 2))) == 9


def test_the_penalty_is_higher_where_frames_recur(random):
    """Two contexts in turn, then two others in turn: only the change of the pair is new."""
    contexts = random.normal(size=(4, 30))
    turns = np.concatenate([np.tile([0] * 10 + [1] * 10, 8), np.tile([2] * 10 + [3] * 10, 8)])
    x = standardize(contexts[turns] + 0.3 * random.normal(size=(320, 30)))
    undiscounted = boundary_penalties(x, x).undiscounted
    usual = min(persistence(x), HIGHEST_PENALTY)
    within = [t for t in range(40, 300, 10) if t != 160]
    assert undiscounted[160] < 0.25 * usual
    assert np.min(undiscounted[within]) >= 0.99 * usual
    assert np.max(undiscounted[within]) > 1.3 * usual
    assert np.max(undiscounted) <= np.exp(0.4 * RECURRENCE_STRENGTH) * usual * (1 + 1e-9)


def test_recurrence_changes_the_penalty_by_a_bounded_factor():
    recurring = np.concatenate([np.full(60, 0.5), [-9.0], np.full(60, 0.5), [9.0], np.full(60, 0.5)])
    factor = recurrence_factor(recurring)
    assert factor.min() == pytest.approx(np.exp(-0.4 * RECURRENCE_STRENGTH))
    assert factor.max() == pytest.approx(np.exp(0.4 * RECURRENCE_STRENGTH))
    assert factor[10] == 1.0
    np.testing.assert_array_equal(recurrence_factor(recurring, strength=0.0), 1.0)


def test_the_penalty_at_the_ends_is_the_usual_one(random):
    """Near an end little can recur, which says nothing about events."""
    x = standardize(np.repeat(random.normal(size=(3, 20)), 100, axis=0) + 2 * random.normal(size=(300, 20)))
    undiscounted = boundary_penalties(x, x).undiscounted
    usual = min(persistence(x), HIGHEST_PENALTY)
    assert np.all(np.abs(np.log(undiscounted[[0, 1, 2, 298, 299]] / usual)) < 0.15)


def test_order_matters_for_events_and_not_for_white_noise(random):
    without = [order_matters(standardize(np.random.default_rng(k).normal(size=(200, 20)))) for k in range(50)]
    assert sum(without) == 0
    assert order_matters(standardize(np.repeat(random.normal(size=(20, 20)), 10, axis=0)))
    assert not order_matters(np.eye(3))
    noise = standardize(random.normal(size=(200, 20)))
    assert boundary_penalties(noise, noise).discounted.min() > 1e4
    assert boundary_penalties(noise, noise).max_factor == 1.0


def test_a_few_frames_have_finite_penalties():
    for n in (1, 2, 3, 4, 5):
        penalties = boundary_penalties(np.eye(5)[:n], np.eye(5)[:n])
        assert np.isfinite(penalties.discounted).all()
        assert penalties.max_factor >= 1.0


def test_a_boundary_explains_two_frames_at_least(random):
    """Events of one frame and a half, as far as their persistence tells."""
    x = random.normal(size=(600, 20))
    x[1:] += 0.5 * x[:-1]
    assert persistence(standardize(x)) < 1.9
    penalties = boundary_penalties(standardize(x), standardize(x), recurrence_strength=0.0)
    np.testing.assert_allclose(penalties.undiscounted, LOWEST_PENALTY)
    assert penalties.max_factor == pytest.approx(HIGHEST_PENALTY / LOWEST_PENALTY)


def test_rounding_does_not_decide_which_of_equal_frames_recurs_least():
    recurring = np.repeat([0.5, 0.2, 0.6, 0.1, 0.5], 30)
    noise = 1e-14 * np.random.default_rng(0).normal(size=len(recurring))
    np.testing.assert_allclose(recurrence_factor(recurring + noise), recurrence_factor(recurring), rtol=1e-9)
