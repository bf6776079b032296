"""Two optimizers, independent of what they minimize."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from dayline.arrays import Array, array_namespace, like, single, sum_of_products, to_numpy

Objective: TypeAlias = Callable[[Array], tuple[float, Array]]
"""Takes a point, returns (loss, gradient)."""


@dataclass(frozen=True)
class Descent:
    """Where a descent ended, and why.

    Attributes
    ----------
    x : array
        The best point seen.
    loss, start_loss : float
        Loss there and at the start.
    n_evaluations : int
        Number of evaluations of the objective.
    stopped : str
        Why the descent stopped, in words.
    """

    x: Array
    loss: float
    start_loss: float
    n_evaluations: int
    stopped: str


def descend_lbfgs(
    objective: Objective, start: Array, *, max_evaluations: int, tolerance: float = 1e-5
) -> Descent:
    """Minimize with L-BFGS and a line search; the result is never above the start.

    Parameters
    ----------
    objective : callable
        Returns (loss, gradient) at a point.
    start : array
        First point, of any shape, array library and device.
    max_evaluations : int >= 1
        Maximum number of evaluations; an iteration takes one, rarely two.
    tolerance : float
        Stop when an iteration lowers the loss by less than this fraction.
    """
    from scipy.optimize import minimize

    shape = tuple(start.shape)
    best: dict[str, Any] = {"loss": np.inf, "x": start}
    losses: list[float] = []

    def evaluate(flat: Any) -> tuple[float, Any]:
        if len(losses) >= max_evaluations:
            raise StopIteration
        x = like(flat.reshape(shape), start)
        loss, gradient = objective(x)
        losses.append(loss)
        if loss < best["loss"]:
            best.update(loss=loss, x=x)
        return loss, to_numpy(gradient).astype(np.float64).ravel()

    flat_start = to_numpy(start).astype(np.float64).ravel()
    options = {
        "maxiter": max_evaluations,
        "maxfun": 10 * max_evaluations,
        "ftol": tolerance,
        "gtol": 1e-9,
    }
    try:
        # SciPy checks maxfun only between iterations; this limit also holds inside a line search.
        message = minimize(
            evaluate, flat_start, jac=True, method="L-BFGS-B", options=options
        ).message
    except StopIteration:
        message = "LIMIT"
    return Descent(
        best["x"], best["loss"], losses[0], len(losses), _in_words(message, max_evaluations)
    )


def _in_words(message: str, max_evaluations: int) -> str:
    if "CONVERGENCE" in message:
        return "converged: the loss no longer falls"
    if "ABNORMAL" in message:
        return "converged to rounding: no step lowers the loss at this precision"
    return f"reached {max_evaluations} evaluations before convergence; increase n_steps to continue"


MEMORY = 5
"""Steps that L-BFGS remembers on long sequences; the 10 of SciPy save no evaluations there."""

DECREASE, CURVATURE = 1e-3, 0.9
"""A step is taken if the loss falls by this fraction of what its slope promises, and the slope
to that (Wolfe)."""


def descend_many_rows(
    objective: Objective, start: Array, *, max_evaluations: int, least_gain: float
) -> Descent:
    """Minimize with L-BFGS where the rows are: SciPy would move them to the host and take longest.

    Parameters
    ----------
    objective : callable
        Returns (loss, gradient) at a point.
    start : array of shape (n_rows, n_columns)
        First point; rows of about unit length.
    max_evaluations : int >= 1
        Maximum number of evaluations.
    least_gain : float
        Stop when a step lowers the loss by less than this.
    """
    xp = array_namespace(start)
    x, n_evaluations = start, 1
    loss, gradient = objective(x)
    start_loss, reason = loss, ""
    history: list[tuple[Array, Array, float]] = []
    while not reason:
        direction = _lbfgs_direction(gradient, history)
        slope = sum_of_products(gradient, direction)
        if not slope < 0:
            reason = "ABNORMAL"
            break

        # Without a history, a step as long as that of the row that moves most: rows are of unit
        # length.
        longest = xp.sqrt(xp.max(xp.sum(direction * direction, axis=-1)))
        step = 1.0 if history else 0.3 / float(longest)
        low, high, taken = 0.0, np.inf, None
        while taken is None:
            if n_evaluations >= max_evaluations:
                reason = "LIMIT"
                break
            moved = x + step * direction
            new_loss, new_gradient = objective(moved)
            n_evaluations += 1
            new_slope = sum_of_products(new_gradient, direction)
            if not new_loss <= loss + DECREASE * step * slope or new_slope > -CURVATURE * slope:
                high = step
            elif new_slope < CURVATURE * slope:
                low = step
            else:
                taken = moved
                break

            # The minimum of the parabola through both losses and the first slope, if it is inside;
            # else the middle.
            bend = new_loss - loss - step * slope
            ideal = -0.5 * slope * step * step / bend if bend > 0 else np.inf
            inside = (
                low + 0.1 * (high - low) < ideal < high - 0.1 * (high - low)
                if high < np.inf
                else False
            )
            step = ideal if inside else (0.5 * (low + high) if high < np.inf else 3.0 * step)
            if high - low < 1e-9 * max(1.0, high):
                reason = "ABNORMAL"
                break

        if taken is None:
            break
        change, bend_of = taken - x, new_gradient - gradient
        product = sum_of_products(change, bend_of)
        if product > 1e-12 * sum_of_products(bend_of, bend_of):
            # Single precision: the history only shapes the direction of a step.
            history = [*history[1 - MEMORY :], (single(change), single(bend_of), product)]

        if loss - new_loss <= least_gain:
            reason = "CONVERGENCE"
        x, loss, gradient = taken, new_loss, new_gradient
    return Descent(x, loss, start_loss, n_evaluations, _in_words(reason, max_evaluations))


def _lbfgs_direction(gradient: Array, history: list[tuple[Array, Array, float]]) -> Array:
    """Multiply the negative gradient by the inverse curvature that the history implies."""
    # In single precision, as the history: the direction only has to lead down, which the caller
    # checks.
    direction = single(-gradient)
    shares = []
    for change, bend, product in reversed(history):
        shares.append(sum_of_products(change, direction) / product)
        direction -= shares[-1] * bend
    if history:
        _, bend, product = history[-1]
        direction *= product / sum_of_products(bend, bend)
    for (change, bend, product), share in zip(history, reversed(shares), strict=True):
        direction += (share - sum_of_products(bend, direction) / product) * change
    return direction


def descend_barzilai_borwein(objective: Objective, start: Array, *, n_steps: int) -> Descent:
    """Take exactly the authors' steps: Barzilai-Borwein's second rule, no safeguard.

    The first step is 1e-6; an undefined step becomes 1e-16. The result may be above the start: this
    function exists to reproduce what was published.

    Parameters
    ----------
    objective : callable
        Returns (loss, gradient) at a point.
    start : array
        First point.
    n_steps : int >= 0
        Number of steps.
    """
    xp = array_namespace(start)
    x = start
    start_loss, gradient = objective(x)
    loss, step = start_loss, 1e-6
    for _ in range(n_steps):
        moved = x - step * gradient
        loss, next_gradient = objective(moved)
        change, bend = moved - x, next_gradient - gradient
        curvature = float(xp.sum(bend * bend))
        step = float(xp.sum(bend * change)) / curvature if curvature > 0 else 1e-16
        x, gradient = moved, next_gradient
    return Descent(x, loss, start_loss, n_steps + 1, f"took all {n_steps} steps")
