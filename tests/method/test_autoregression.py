"""Events as autoregressions: a twin by least squares, gains with margins, boundaries moved back."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from scipy.signal import lfilter

from dayline.method.autoregression import (
    LEAST_VARIANCE,
    PRIOR_ROWS,
    RIDGE,
    held_out_gain,
    refine_boundaries,
)

ROWS = np.arange(600)
INSIDE = (ROWS >= 200) & (ROWS < 380)
TRUE = np.asarray([200, 380])
NONE = np.zeros(0, dtype=np.int64)


def filtered(coefficient, random):
    return np.sqrt(1 - coefficient**2) * lfilter([1], [1, -coefficient], random.normal(size=600))


CHANGES = {
    "level": lambda r: r.normal(size=600) + 3 * INSIDE,
    "spread": lambda r: r.normal(size=600) * np.where(INSIDE, 4, 1),
    "frequency": lambda r: np.sin(np.cumsum(np.where(INSIDE, 0.8, 0.4))) + 0.2 * r.normal(size=600),
    "autocorrelation": lambda r: np.where(INSIDE, filtered(0.95, r), filtered(-0.5, r)),
}


def of_one_event(z, start, stop, order, run, jumped):
    """Return the log likelihood of held-out rows of an event of one column, row by row.

    If it begins with a jump, the mean of the event stands for the values before it.
    """
    first, mean = (start if jumped else 0), z[start:stop].mean()
    time = np.linspace(-1, 1, len(z))

    def terms(t):
        before = [
            z[t - k] if t - k >= first else mean if jumped else z[0] for k in range(1, order + 1)
        ]
        return np.asarray([1.0, time[t], *before] if order else [1.0])

    total = 0.0
    for fold in (0, 1):
        seen = [t for t in range(start, stop) if t // run % 2 == fold]
        n_terms = len(terms(0))
        # As many rows more as there are terms keep it solvable.
        extra = np.sqrt(RIDGE * (1 + len(seen))) * np.eye(n_terms)
        design = np.concatenate([np.reshape([terms(t) for t in seen], (-1, n_terms)), extra])
        target = np.append(z[seen], np.zeros(n_terms))
        fitted = np.linalg.lstsq(design, target, rcond=None)[0]
        squares = sum((z[t] - terms(t) @ fitted) ** 2 for t in seen)
        variance = (squares + PRIOR_ROWS) / (len(seen) + PRIOR_ROWS) + LEAST_VARIANCE
        freedom = max(len(seen) - 1, 1)
        for t in set(range(start, stop)) - set(seen):
            error = z[t] - terms(t) @ fitted
            total -= 0.5 * (freedom + 1) * np.log1p(error**2 / (freedom * variance))
            total -= 0.5 * np.log(variance)
    return total


def by_least_squares(x, boundaries, order, run):
    """Return the log likelihood of held-out rows; each event jumps or goes on from the last."""
    columns = ((x - x.mean(axis=0)) / x.std(axis=0)).T
    total = 0.0
    for start, stop in pairwise([0, *boundaries, len(x)]):
        goes_on, jumps = (
            sum(of_one_event(z, start, stop, order, run, jumped) for z in columns)
            for jumped in (False, True)
        )
        may_jump = start > 0 and order > 0
        total += max(goes_on, jumps - np.log(2)) if may_jump else goes_on
    return total


@pytest.mark.parametrize("boundaries", [[], [45], [3, 40, 41], [*range(10, 90, 10)]])
@pytest.mark.parametrize("kind", ["walk", "levels", "cycle"])
def test_the_gain_is_that_of_regressions_fitted_row_by_row(kind, boundaries):
    x = 0.3 * np.random.default_rng(0).normal(size=(90, 2))
    if kind == "walk":
        x = np.cumsum(x, axis=0)
    if kind == "levels":
        x += 3 * np.random.default_rng(1).normal(size=(9, 2)).repeat(10, axis=0)
    if kind == "cycle":
        x += np.sin(ROWS[:90, None] * np.where(ROWS[:90, None] < 45, 0.3, 0.6))

    models = [(0, 1), (2, 4), (6, 4)]
    one_event = [by_least_squares(x, [], *model) for model in models]
    level, two, six = (by_least_squares(x, boundaries, *model) for model in models)
    expected = max(level - max(one_event), two - one_event[1], six - one_event[2])
    gain = held_out_gain(x, np.asarray(boundaries))
    assert gain == pytest.approx(expected - len(boundaries) * np.log(90), abs=1e-6)


@pytest.mark.parametrize("kind", CHANGES)
def test_true_boundaries_predict_rows_better_and_others_do_not(kind):
    for seed in range(10):
        x = CHANGES[kind](np.random.default_rng(seed))[:, None]
        assert held_out_gain(x, NONE) == 0
        assert held_out_gain(x, TRUE) > 20
        assert held_out_gain(x, TRUE) > held_out_gain(x, np.asarray([200]))
        assert held_out_gain(x, TRUE) > held_out_gain(x, np.asarray([100, 200, 300, 380, 500]))


NOTHING = {
    "white noise": lambda r: r.normal(size=600),
    "AR(.95)": lambda r: filtered(0.95, r),
    "random walk": lambda r: np.cumsum(r.normal(size=600)),
    "trend": lambda r: 0.02 * ROWS + r.normal(size=600),
}


@pytest.mark.parametrize("kind", NOTHING)
def test_boundaries_in_noise_predict_nothing(kind):
    for seed in range(20):
        random = np.random.default_rng(seed)
        x = NOTHING[kind](random)[:, None]
        for n_boundaries in (1, 3, 10):
            boundaries = np.sort(random.choice(np.arange(10, 590), n_boundaries, replace=False))
            assert held_out_gain(x, boundaries) < 0


def test_short_events_are_predicted_by_their_level():
    for seed in range(10):
        random = np.random.default_rng(seed)
        x = 3 * random.normal(size=(25, 4)).repeat(8, axis=0) + random.normal(size=(200, 4))
        assert held_out_gain(x, np.arange(8, 200, 8)) > 20


@pytest.mark.parametrize("kind", CHANGES)
def test_boundaries_move_back_to_where_they_belong(kind):
    apart = []
    for seed in range(10):
        x = CHANGES[kind](np.random.default_rng(seed))[:, None]
        for moved in ([192, 388], [207, 373]):
            apart += abs(refine_boundaries(x, np.asarray(moved), reach=10) - TRUE).tolist()
    # They were 7 and 8 rows off.
    assert np.mean(apart) < 2.5


def test_boundaries_stay_in_order_and_within_reach():
    x = np.random.default_rng(0).normal(size=(300, 2))
    boundaries = np.asarray([4, 9, 100, 103, 150, 298])
    for reach in (0, 3, 50):
        moved = refine_boundaries(x, boundaries, reach=reach)
        assert np.all(np.diff(moved) > 0)
        assert np.all(abs(moved - boundaries) <= reach)
    assert refine_boundaries(x, NONE, reach=5).tolist() == []


def test_scale_and_equal_rows_do_no_harm():
    x = np.random.default_rng(0).normal(size=(300, 1))
    x[150:] += 3
    moved = refine_boundaries(x, np.asarray([145]), reach=10)
    assert np.array_equal(refine_boundaries(1e6 * x + 1e9, np.asarray([145]), reach=10), moved)

    zeros = np.zeros((100, 1))
    assert np.isfinite(held_out_gain(zeros, np.asarray([50])))
    assert held_out_gain(zeros, np.asarray([50])) < 0
    step = np.repeat([0.0, 1.0], 50)[:, None]
    assert held_out_gain(step, np.asarray([50])) > 0
    assert refine_boundaries(step, np.asarray([46]), reach=6).tolist() == [50]
