"""Model events of a signal as autoregressions: which boundaries predict its rows best.

Within an event, each value of a column follows from those before it, a trend and noise:
x[t] = a + b t + c x[t-1] + d x[t-2] + ... + s e[t]. Level, variance, frequency, autocorrelation and
slope are all in these numbers, so events of any features can be compared on the same raw rows.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from dayline.arrays import FloatArray, IntArray
from dayline.method.denoise import standardize

SHORT, LONG = 2, 6
"""Values before that predict the next one. Two follow a cycle, and can be fitted in short events;
six see it through noise."""

RUN = 4
"""Rows that are held out together, because neighbors share their noise; single ones if only the
level of an event predicts them, as in short events."""

RIDGE = 1e-3
"""Keeps equations solvable: mean square, and total, of what is added to each regressor."""

PRIOR_ROWS, LEAST_VARIANCE = 0.1, 1e-4
"""Rows of unit variance that count as seen, and variance of the noise of equal rows: a few equal
rows must not make all others impossible."""


def held_out_gain(x: FloatArray, boundaries: IntArray) -> float:
    """Return how much better rows are predicted by events than by one event, in nats.

    Every other run of four rows of an event is predicted by an autoregression fitted to the others,
    from two values before or from six; the higher gain counts. Short events may also be predicted
    by their level alone, every other row by the others; this is compared with the best prediction
    of one event. The gain is in log likelihood, less log n for each boundary, which was placed with
    all rows in sight.

    Parameters
    ----------
    x : ndarray of shape (n_rows, n_columns)
        Signal without missing values; columns may have any scale.
    boundaries : ndarray of int
        First row of every event but the first.
    """
    none = np.zeros(0, dtype=np.int64)
    likelihoods = []
    for order, run in ((0, 1), (SHORT, RUN), (LONG, RUN)):
        equations = _equations(x, order)
        likelihoods.append(
            [_held_out_likelihood(equations, one, run) for one in (none, boundaries)]
        )
    one_event, events = np.transpose(likelihoods)
    gain = max(events[0] - np.max(one_event), *(events - one_event)[1:])
    return float(gain - len(boundaries) * np.log(len(x)))


def refine_boundaries(x: FloatArray, boundaries: IntArray, *, reach: int) -> IntArray:
    """Move each boundary to where the events beside it are most likely as autoregressions.

    Parameters
    ----------
    x : ndarray of shape (n_rows, n_columns)
        Signal without missing values; columns may have any scale.
    boundaries : ndarray of int
        First row of every event but the first, in order.
    reach : int >= 0
        Rows a boundary may move, less if it would leave fewer than five in an event.

    Returns
    -------
    ndarray of int
        As many boundaries, in order; they never pass each other.
    """
    equations = _equations(x, SHORT)
    n, _, n_terms = equations.shape
    refined = np.concatenate([[0], boundaries, [n]]).astype(np.int64)
    for k in range(1, len(refined) - 1):
        start, here, stop = refined[k - 1 : k + 2]
        first, last = max(start + n_terms, here - reach), min(stop - n_terms, here + reach)
        if first > last:
            continue
        at = np.arange(first, last + 1)
        nearby = equations[first:last]
        none = np.zeros((1, *nearby.shape[1:], n_terms))
        passed = np.cumsum(nearby[:, :, :, None] * nearby[:, :, None, :], axis=0)
        before = _products(equations[start:first]) + np.concatenate([none, passed])
        after = _products(equations[start:stop]) - before
        misfit = _misfit(before, at - start) + _misfit(after, stop - at)
        refined[k] = at[np.argmin(misfit)]
    return refined[1:-1]


def _equations(x: FloatArray, order: int) -> FloatArray:
    """Return one, the time, the values before and the value itself, of each row and column.

    Without values before, only one and the value: the level.
    """
    values = standardize(x)
    if order == 0:
        return np.stack([np.ones_like(values), values], axis=2)
    time = np.broadcast_to(np.linspace(-1.0, 1.0, len(values))[:, None], values.shape)
    before = [values[np.maximum(np.arange(len(values)) - k, 0)] for k in range(1, order + 1)]
    return np.stack([np.ones_like(values), time, *before, values], axis=2)


def _products(rows: FloatArray) -> FloatArray:
    """Return the sums of products of all terms, of shape (n_columns, n_terms, n_terms)."""
    return np.asarray(np.einsum("tci,tcj->cij", rows, rows))


def _coefficients(products: FloatArray, n_rows: IntArray) -> FloatArray:
    """Fit the last term to the others, from sums of products of all terms."""
    n_terms = products.shape[-1]
    ridge = RIDGE * (1.0 + n_rows[..., None, None]) * np.eye(n_terms - 1)
    fitted = np.linalg.solve(products[..., :-1, :-1] + ridge, products[..., :-1, -1:])
    return np.asarray(fitted[..., 0])


def _variance(squares: FloatArray, n_rows: IntArray) -> FloatArray:
    return (squares + PRIOR_ROWS) / (n_rows + PRIOR_ROWS) + LEAST_VARIANCE


def _misfit(products: FloatArray, n_rows: IntArray) -> FloatArray:
    """Return twice the negative log likelihood of events, summed over columns."""
    n_rows = n_rows[:, None]
    fitted = _coefficients(products, n_rows)
    # Squared errors of [-fitted, 1], term by term.
    weights = np.concatenate([-fitted, np.ones((*fitted.shape[:-1], 1))], axis=-1)
    squares = np.einsum("...i,...ij,...j->...", weights, products, weights)
    return np.asarray(np.sum(n_rows * np.log(_variance(np.maximum(squares, 0.0), n_rows)), axis=1))


def _held_out_likelihood(equations: FloatArray, boundaries: IntArray, run: int) -> float:
    """Return the log likelihood of all rows, each predicted from the others of its event."""
    is_even = (np.arange(len(equations)) // run) % 2 == 0
    edges = np.concatenate([[0], boundaries, [len(equations)]]).astype(np.int64)
    n_before = equations.shape[2] - 3
    total = 0.0
    for start, stop in pairwise(edges.tolist()):
        event, even = equations[start:stop], is_even[start:stop]
        best = _likelihood_of_halves(event, even)
        if start > 0 and n_before > 0:
            # After a jump, the values before the event say nothing of it: its mean stands for them.
            jumped = event.copy()
            for k in range(1, n_before + 1):
                jumped[:k, :, k + 1] = event[:, :, -1].mean(axis=0)
            best = max(best, _likelihood_of_halves(jumped, even) - float(np.log(2.0)))
        total += best
    return total


def _likelihood_of_halves(event: FloatArray, even: IntArray) -> float:
    """Return the log likelihood of each half of the rows of an event, given the other half."""
    total = 0.0
    for seen, held_out in ((event[even], event[~even]), (event[~even], event[even])):
        n_seen = np.full(1, len(seen))
        fitted = _coefficients(_products(seen), n_seen)
        errors = [
            rows[:, :, -1] - np.einsum("tci,ci->tc", rows[:, :, :-1], fitted)
            for rows in (seen, held_out)
        ]
        variance = _variance(np.sum(errors[0] ** 2, axis=0), n_seen)
        # Student's t: a variance from few rows is uncertain.
        freedom = max(len(seen) - 1, 1)
        surprise = (freedom + 1) * np.log1p(errors[1] ** 2 / (freedom * variance))
        total -= 0.5 * float(np.sum(surprise + np.log(variance)))
    return total
