"""Two ways downhill. Neither knows what it minimises."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from dayline.arrays import Array, array_namespace, like, to_numpy

__all__ = ["Descent", "Objective", "descend_barzilai_borwein", "descend_lbfgs"]

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
        How often the objective was asked.
    stopped : str
        Why it ended, in words.
    """

    x: Array
    loss: float
    start_loss: float
    n_evaluations: int
    stopped: str


def descend_lbfgs(objective: Objective, start: Array, *, max_evaluations: int, tolerance: float = 1e-5) -> Descent:
    """Minimise with L-BFGS and a line search that never ends above its start.

    Parameters
    ----------
    objective : callable
        Returns (loss, gradient) at a point.
    start : array
        First point, of any shape, library and device.
    max_evaluations : int >= 1
        Upper limit of evaluations; one iteration takes one, seldom two.
    tolerance : float
        Stop when an iteration lowers the loss by less than this share of it.
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
    options = {"maxiter": max_evaluations, "maxfun": 10 * max_evaluations, "ftol": tolerance, "gtol": 1e-9}
    try:
        # scipy looks at maxfun only between iterations; the limit here holds inside a line search too.
        message = minimize(evaluate, flat_start, jac=True, method="L-BFGS-B", options=options).message
    except StopIteration:
        message = "LIMIT"
    return Descent(best["x"], best["loss"], losses[0], len(losses), _in_words(message, max_evaluations))


def _in_words(message: str, max_evaluations: int) -> str:
    if "CONVERGENCE" in message:
        return "converged: the loss no longer falls"
    if "ABNORMAL" in message:
        return "converged to rounding: no step lowers the loss at this precision"
    return f"reached {max_evaluations} evaluations before convergence; raise n_steps to go on"


def descend_barzilai_borwein(
    objective: Objective, start: Array, *, n_steps: int, gradient_of: Callable[[Array], Array] | None = None
) -> Descent:
    """Take exactly the authors' steps: Barzilai-Borwein's second rule, no safeguard.

    The first step is 1e-6; a step that is not a number becomes 1e-16. It may well end above its start:
    it is here to repeat what was published.

    Parameters
    ----------
    objective : callable
        Returns (loss, gradient) at a point; asked at the start and at the end.
    start : array
        First point.
    n_steps : int >= 0
        How many steps.
    gradient_of : callable, optional
        Returns the gradient alone, where that costs less: no step looks at the loss.
    """
    xp = array_namespace(start)
    x = start
    start_loss, gradient = objective(x)
    loss, step = start_loss, 1e-6
    for k in range(n_steps):
        moved = x - step * gradient
        if gradient_of is None or k == n_steps - 1:
            loss, next_gradient = objective(moved)
        else:
            next_gradient = gradient_of(moved)
        change, bend = moved - x, next_gradient - gradient
        curvature = float(xp.sum(bend * bend))
        step = float(xp.sum(bend * change)) / curvature if curvature > 0 else 1e-16
        x, gradient = moved, next_gradient
    return Descent(x, loss, start_loss, n_steps + 1, f"took the {n_steps} steps asked for")
