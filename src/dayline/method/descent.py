"""Two optimisers, independent of what they minimise."""

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
        Number of evaluations of the objective.
    stopped : str
        Why the descent stopped, in words.
    """

    x: Array
    loss: float
    start_loss: float
    n_evaluations: int
    stopped: str


def descend_lbfgs(objective: Objective, start: Array, *, max_evaluations: int, tolerance: float = 1e-5) -> Descent:
    """Minimise with L-BFGS and a line search; the result is never above the start.

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
    options = {"maxiter": max_evaluations, "maxfun": 10 * max_evaluations, "ftol": tolerance, "gtol": 1e-9}
    try:
        # SciPy checks maxfun only between iterations; this limit also holds inside a line search.
        message = minimize(evaluate, flat_start, jac=True, method="L-BFGS-B", options=options).message
    except StopIteration:
        message = "LIMIT"
    return Descent(best["x"], best["loss"], losses[0], len(losses), _in_words(message, max_evaluations))


def _in_words(message: str, max_evaluations: int) -> str:
    if "CONVERGENCE" in message:
        return "converged: the loss no longer falls"
    if "ABNORMAL" in message:
        return "converged to rounding: no step lowers the loss at this precision"
    return f"reached {max_evaluations} evaluations before convergence; increase n_steps to continue"


def descend_barzilai_borwein(
    objective: Objective, start: Array, *, n_steps: int, gradient_of: Callable[[Array], Array] | None = None
) -> Descent:
    """Take exactly the authors' steps: Barzilai-Borwein's second rule, no safeguard.

    The first step is 1e-6; an undefined step becomes 1e-16. The result may be above the start: this function exists
    to reproduce what was published.

    Parameters
    ----------
    objective : callable
        Returns (loss, gradient) at a point; evaluated at the start and at the end.
    start : array
        First point.
    n_steps : int >= 0
        Number of steps.
    gradient_of : callable, optional
        Returns the gradient alone, if that is faster: no step needs the loss.
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
    return Descent(x, loss, start_loss, n_steps + 1, f"took all {n_steps} steps")
