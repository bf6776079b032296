"""Hard cuts, and what they mean for places without one."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dayline.decision.hard_cuts as cuts_module
from dayline import EventSegmenter, partition, score_boundaries
from dayline.decision.hard_cuts import abruptness, cut_discount, hard_cuts, plain_factor
from dayline.decision.penalties import HIGHEST_PRICE, boundary_prices
from dayline.method.denoise import standardize
from dayline.method.graph import unit_rows


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


@pytest.mark.parametrize("n", [60, 61, 101, 102, 400])
def test_abruptness_is_blind_to_scale_and_follows_time_reversal(random, n):
    x = standardize(drifting(random)[200 - n // 2 : 200 + n - n // 2])
    forward = abruptness(x)
    np.testing.assert_allclose(abruptness(5 * x), forward, atol=1e-6)
    np.testing.assert_allclose(abruptness(x[::-1])[1:], forward[1:][::-1], atol=1e-6)


def test_a_hard_cut_is_cheaper(random):
    x = standardize(drifting(random))
    prices = boundary_prices(x, x, comeback=0.0)
    assert prices.asked[200] < 0.3 * HIGHEST_PRICE
    assert prices.asked[100] == pytest.approx(HIGHEST_PRICE)
    np.testing.assert_allclose(prices.full, HIGHEST_PRICE)
    assert prices.room == 1.0


def spliced(random, *, n_clips=12, length=80):
    """Clips joined by cuts; within each the look wanders."""
    clips = []
    for _ in range(n_clips):
        wandering = np.cumsum(0.3 * random.normal(size=(length, 40)), axis=0)
        clips.append(random.normal(size=40) + wandering - wandering.mean(axis=0))
    return np.concatenate(clips) + 0.3 * random.normal(size=(n_clips * length, 40))


@pytest.mark.slow
def test_movement_between_cuts_is_seldom_a_boundary(monkeypatch):
    """Nearly all sure boundaries are cuts, so wandering is not worth one."""
    truth = np.arange(80, 960, 80)

    def found():
        return [EventSegmenter().fit(spliced(np.random.default_rng(seed))).boundaries_ for seed in range(4)]

    def mean_f1(found):
        return np.mean([score_boundaries(b, truth, n_frames=960, tolerance=2).f1 for b in found])

    with_rule = found()
    monkeypatch.setattr(cuts_module, "DEAREST", 1.0)
    assert mean_f1(with_rule) > mean_f1(found()) + 0.1
    assert mean_f1(with_rule) > 0.8


def three_looks():
    """A hard boundary at 40 and one at 80, of unit rows."""
    return unit_rows(np.repeat(np.eye(3), 40, axis=0) + 0.1)


def test_a_place_without_a_cut_is_dearer_as_more_sure_boundaries_are_cuts():
    prices, cuts = np.full(120, 2.0), np.zeros(120)
    np.testing.assert_array_equal(plain_factor(three_looks(), prices, cuts), 1.0)
    cuts[40] = 3.0
    np.testing.assert_array_equal(plain_factor(three_looks(), prices, cuts), 1.0)
    cuts[82] = 3.0
    factor = plain_factor(three_looks(), prices, cuts)
    assert factor[[40, 82]].tolist() == [1.0, 1.0]
    np.testing.assert_allclose(np.delete(factor, [40, 82]), 10 / 3)
    cuts[100] = 1.5
    assert plain_factor(three_looks(), prices, cuts)[100] == pytest.approx(np.sqrt(10 / 3))
    cuts[[82, 84]] = 0.0, 3.0
    np.testing.assert_array_equal(plain_factor(three_looks(), prices, cuts), 1.0)


def test_boundaries_that_are_not_sure_prove_nothing():
    """What stands at the price, but not at twice it, is not counted."""
    x, cuts = three_looks(), np.zeros(120)
    cuts[[40, 80]] = 3.0
    price = 20.0
    assert partition(x, penalty=price).tolist() == [40, 80]
    assert partition(x, penalty=2 * price).tolist() == []
    np.testing.assert_array_equal(plain_factor(x, np.full(120, price), cuts), 1.0)


def test_other_places_are_eight_times_dearer_at_most():
    x = unit_rows(np.repeat(np.eye(40), 10, axis=0))
    cuts = np.zeros(400)
    cuts[10::10] = 3.0
    assert plain_factor(x, np.full(400, 1.0), cuts).max() == 8.0


def test_it_is_asked_again_at_the_new_prices(monkeypatch):
    """Cuts of full contrast and half as many weak places beside them: those are not sure once they are dearer."""
    x = np.repeat(np.eye(13)[:, None], 40, axis=1).reshape(-1, 13)[: 12 * 40]
    for k in range(0, 12, 2):
        x[40 * k + 20 : 40 * k + 40, 12] = 0.45
    x, cuts = unit_rows(x), np.zeros(480)
    cuts[40::40] = 3.0
    prices = np.full(480, 0.8)
    assert len(partition(x, penalty=2 * prices)) == 11 + 6
    again = plain_factor(x, prices, cuts).max()
    monkeypatch.setattr(cuts_module, "TURNS", 1)
    once = plain_factor(x, prices, cuts).max()
    assert 1.0 < once < again


def test_a_cut_shows_once_and_lowers_the_price():
    jumps = np.asarray([0.0, 1.0, 3.0, 2.5, 1.0, -1.0, 0.0, 0.0, 0.0, 12.5])
    cuts = hard_cuts(jumps)
    assert np.flatnonzero(cuts).tolist() == [2, 9]
    np.testing.assert_allclose(cut_discount(cuts, discount=8.0), [1, 1, 9, 1, 1, 1, 1, 1, 1, 81])
    np.testing.assert_array_equal(cut_discount(cuts, discount=0.0), 1.0)


@settings(deadline=None, max_examples=40)
@given(st.integers(1, 60), st.integers(0, 2**31))
def test_the_factor_is_between_one_and_eight(n, seed):
    random = np.random.default_rng(seed)
    x, cuts = unit_rows(random.normal(size=(n, 3))), hard_cuts(3.0 * random.normal(size=n))
    factor = plain_factor(x, np.full(n, random.uniform(0.05, 2.0)), cuts)
    assert np.all((factor >= 1.0) & (factor <= 8.0))
    assert np.all(factor[cuts >= 2.0] == 1.0)
