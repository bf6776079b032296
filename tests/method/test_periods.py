"""Periods: found in noisy cycles, none in noise, and taken out without the changes of level."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.signal import lfilter

from dayline import dominant_period, without_period

ROWS = np.arange(600)


def autoregression(coefficient, random, n=600):
    start = random.normal() / np.sqrt(1 - coefficient**2)
    noise = random.normal(size=n)
    return lfilter([1.0], [1.0, -coefficient], noise, zi=[coefficient * start])[0]


CYCLES = {
    "sine": (24.0, lambda r: np.sin(2 * np.pi * ROWS / 24) + 0.5 * r.normal(size=600)),
    "short": (12.0, lambda r: np.sin(2 * np.pi * ROWS / 12) + 0.5 * r.normal(size=600)),
    "week": (7.0, lambda r: 2.0 * (ROWS % 7 < 2) + 0.7 * r.normal(size=600)),
    "day": (24.0, lambda r: np.resize(np.repeat([0, 1, 3, 1], 6), 600) + 0.7 * r.normal(size=600)),
    "square of ten": (60.0, lambda r: 3.0 * (ROWS % 60 < 30) + r.normal(size=600)),
    "with a step": (
        24.0,
        lambda r: 2 * np.sin(2 * np.pi * ROWS / 24) + 2 * (ROWS > 250) + 0.5 * r.normal(size=600),
    ),
    "on a walk": (
        24.0,
        lambda r: 3 * np.sin(2 * np.pi * ROWS / 24) + np.cumsum(0.3 * r.normal(size=600)),
    ),
    "broken rows": (
        23.7,
        lambda r: np.sin(2 * np.pi * ROWS / 23.7 + r.uniform(0, 6)) + 0.3 * r.normal(size=600),
    ),
    "clean": (10 * np.pi, lambda r: np.sin(ROWS / 5 + r.uniform(0, 6))),
}


@pytest.mark.parametrize("kind", CYCLES)
def test_the_period_of_noisy_cycles_is_found(kind):
    period, make = CYCLES[kind]
    found = [dominant_period(make(np.random.default_rng(seed))[:, None]) for seed in range(10)]
    assert None not in found
    # Over 600 rows, a hundredth of 24 rows adds up to a quarter of a cycle.
    tolerance = 0.0 if period == round(period) else 0.005 * period
    assert found == pytest.approx([period] * 10, abs=tolerance)


NO_PERIOD = {
    "white noise": lambda r: r.normal(size=600),
    "AR(.5)": lambda r: autoregression(0.5, r),
    "AR(.95)": lambda r: autoregression(0.95, r),
    "AR(.95), long": lambda r: autoregression(0.95, r, 5000),
    "random walk": lambda r: np.cumsum(r.normal(size=600)),
    "trend": lambda r: 0.02 * ROWS + r.normal(size=600),
    "one step": lambda r: 3.0 * (ROWS > 250) + r.normal(size=600),
    "ten steps": lambda r: np.repeat(3 * r.normal(size=10), 60) + r.normal(size=600),
    "ten clean steps": lambda r: np.repeat(r.normal(size=10), 60),
    "rare steps": lambda r: np.cumsum((r.random(600) < 0.02) * r.normal(size=600)),
    "square wave of five cycles": lambda r: 3.0 * (ROWS % 120 < 60) + r.normal(size=600),
    "cycles in the middle third": lambda r: (
        2 * (abs(ROWS - 300) < 100) * np.sin(ROWS / 3) + r.normal(size=600)
    ),
    "few rows": lambda r: np.sin(ROWS[:20] * np.pi / 2),
    "equal rows": lambda r: np.ones(600),
}


@pytest.mark.parametrize("kind", NO_PERIOD)
def test_noise_steps_and_trends_have_no_period(kind):
    for seed in range(20):
        assert dominant_period(NO_PERIOD[kind](np.random.default_rng(seed))[:, None]) is None


def test_the_column_in_which_a_period_stands_out_most_decides():
    random = np.random.default_rng(0)
    x = random.normal(size=(600, 3))
    x[:, 1] += np.sin(2 * np.pi * ROWS / 20)
    assert dominant_period(x) == 20.0


@pytest.mark.parametrize("period", [24.0, 23.7])
def test_a_period_is_taken_out_and_the_step_stays(period):
    for seed in range(10):
        noise = 0.5 * np.random.default_rng(seed).normal(size=600)
        step = 2.0 * (ROWS >= 250)
        left = without_period(
            (3 * np.sin(2 * np.pi * ROWS / period) + step + noise)[:, None], period
        )
        # 25 values of each phase: their median errs by 1.25 of 0.5 / 5.
        assert np.std(left[:, 0] - step - noise) < 0.2
        assert np.mean(left[250:, 0]) - np.mean(left[:250, 0]) == pytest.approx(2.0, abs=0.2)


def test_a_clean_cycle_leaves_nothing():
    left = without_period(np.sin(ROWS / 5)[:, None], 10 * np.pi)
    assert np.ptp(left) == 0


def test_a_column_without_the_period_stays_nearly_as_it_is():
    for seed in range(10):
        random = np.random.default_rng(seed)
        x = random.normal(size=(600, 2))
        x[:, 0] += 3 * np.sin(2 * np.pi * ROWS / 24)
        left = without_period(x, 24)
        # All of what chance makes of 25 rows would be 1.25 / 5.
        assert np.std(left[:, 1] - x[:, 1]) < 0.2
        assert np.std(left[:, 0]) < 1.2


def test_what_is_given_stays_and_what_is_wrong_is_said():
    x = np.sin(ROWS / 5)[:, None]
    before = x.copy()
    dominant_period(x)
    without_period(x, 30)
    assert np.array_equal(x, before)

    with pytest.raises(ValueError, match="period=301"):
        without_period(x, 301)
    with pytest.raises(ValueError, match="at most 8"):
        dominant_period(np.zeros((600, 9)))
    with pytest.raises(ValueError, match="frame 3 holds NaN"):
        dominant_period([[0.0], [1.0], [2.0], [np.nan]])


@pytest.mark.parametrize("cycles", [7.9, 8.0])
def test_the_longest_period_is_found_for_every_length(cycles):
    # 1 / (8 / n) is rounded, for some n to more than n / 8, the longest period.
    for n in (49, 98, 103, 107, 196, 206, 214):
        found = dominant_period(np.sin(2 * np.pi * cycles * np.arange(n) / n)[:, None])
        assert found is None or abs(found - n / 8) < 1.0
