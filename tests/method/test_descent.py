from __future__ import annotations

import numpy as np
import pytest

from dayline.method.descent import descend_barzilai_borwein, descend_lbfgs, descend_many_rows


def bowl(x):
    scales = np.asarray([1.0, 4.0, 9.0])
    return float(np.sum(scales * (x - 2.0) ** 2)), 2 * scales * (x - 2.0)


def test_lbfgs_finds_the_bottom_of_a_bowl():
    descent = descend_lbfgs(bowl, np.asarray([5.0, -3.0, 1.0]), max_evaluations=50, tolerance=1e-14)
    np.testing.assert_allclose(descent.x, 2.0, atol=1e-5)
    assert descent.start_loss == 9 + 4 * 25 + 9
    assert descent.n_evaluations < 30


def test_lbfgs_returns_the_best_point_seen_when_it_runs_out():
    seen = []

    def watched(x):
        loss, gradient = bowl(x)
        seen.append(loss)
        return loss, gradient

    descent = descend_lbfgs(watched, np.asarray([5.0, -3.0, 1.0]), max_evaluations=3)
    assert descent.loss == min(seen)
    assert len(seen) == descent.n_evaluations == 3


def test_lbfgs_at_the_optimum_stays_there():
    descent = descend_lbfgs(bowl, np.full(3, 2.0), max_evaluations=9)
    assert descent.loss == 0
    assert descent.stopped == "converged: the loss no longer falls"


def test_barzilai_borwein_takes_the_second_rule_by_hand():
    """One dimension, f = 3 x^2: after the first tiny step the rule finds the exact curvature 6."""
    descent = descend_barzilai_borwein(
        lambda x: (float(3 * x[0] ** 2), 6 * x), np.asarray([4.0]), n_steps=2
    )
    np.testing.assert_allclose(descent.x, 0.0, atol=1e-8)
    one = descend_barzilai_borwein(
        lambda x: (float(3 * x[0] ** 2), 6 * x), np.asarray([4.0]), n_steps=1
    )
    assert one.x[0] == pytest.approx(4.0 - 24e-6, rel=1e-15)
    assert (one.n_evaluations, descent.n_evaluations) == (2, 3)


@pytest.mark.parametrize("library", ["numpy", "torch"])
def test_many_rows_are_minimised_on_their_device(library):
    xp = pytest.importorskip(library, reason=f"{library} is not installed")
    start = xp.asarray(np.tile([-1.2, 1.0], (30, 1)))

    def rosenbrock(x):
        a, b = x[:, 0], x[:, 1]
        loss = ((1 - a) ** 2 + 100 * (b - a * a) ** 2).sum()
        return float(loss), xp.stack([-2 * (1 - a) - 400 * a * (b - a * a), 200 * (b - a * a)], 1)

    descent = descend_many_rows(rosenbrock, start, max_evaluations=200, least_gain=1e-12)
    assert type(descent.x) is type(start)
    assert descent.loss < 1e-10
    assert descent.n_evaluations < 80
    assert descent.stopped.startswith("converged")
    limited = descend_many_rows(rosenbrock, start, max_evaluations=7, least_gain=1e-12)
    assert limited.n_evaluations == 7
    assert limited.loss < limited.start_loss
    assert "reached 7 evaluations" in limited.stopped
    still = descend_many_rows(rosenbrock, xp.ones_like(start), max_evaluations=7, least_gain=1e-12)
    assert still.loss == 0.0


def test_many_rows_stop_at_the_step_that_gains_too_little():
    losses = []

    def flat_bowl(x):
        loss = float(np.sum(np.asarray([1.0, 30.0, 900.0]) * (x - 2.0) ** 2)) - 1e6
        losses.append(loss)
        return loss, 2 * np.asarray([1.0, 30.0, 900.0]) * (x - 2.0)

    descent = descend_many_rows(
        flat_bowl, np.full((4, 3), 2.4), max_evaluations=100, least_gain=0.5
    )
    assert descent.stopped.startswith("converged")
    # The gain counts, not its share of the loss, which is far from 0 here.
    assert 0 <= losses[-2] - losses[-1] <= 0.5
    assert losses[0] - losses[-1] > 100
