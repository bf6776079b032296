"""Which columns drive the boundaries, and whether one or two that drift drive most of them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from dayline.arrays import FloatArray, IntArray
from dayline.checks import show_value
from dayline.decision.evidence import LEAST_IN_QUARTERS, gather_evidence, share_of_change
from dayline.estimators.embedders import PrincipalComponents
from dayline.estimators.signals import (
    NONE,
    SignalFeatures,
    choose_signal_features,
    gather_signal_evidence,
)
from dayline.method.windows import window_features

MOST_JUDGED, FEWEST_BOUNDARIES = 32, 4
"""Columns of which two may mislead, at most, and boundaries that show it, at least."""

DRIFT = 0.4
"""Share of the change of a column near the boundaries, below which it drifts."""

LED, LEFT, AMONG, NEAR = 0.5, 0.5, 0.7, 5
"""Drifting columns mislead if they have more than half of the change at more than half of the
boundaries, and if without them there are at most half as many, 70 % of which are within five frames
of those with them."""


def column_shares(
    features: FloatArray, boundaries: IntArray, signal: SignalFeatures | None = None
) -> FloatArray:
    """Return how much each column has of the change at each boundary.

    The change is the squared difference of the means of the two events, plus that of their standard
    deviations (the Wasserstein distance of two normal distributions), with each column in units of
    its own. Where events were found in windows, it is that of what was seen in the windows.

    Parameters
    ----------
    features : ndarray of shape (n_frames, n_columns)
        The rows that were given.
    boundaries : ndarray of int
        In order of time.
    signal : SignalFeatures, optional
        What was seen in their place, of signals of few columns.

    Returns
    -------
    ndarray of shape (n_boundaries, n_columns)
        Each row adds up to 1, or to 0 if nothing changes.
    """
    if signal is None or signal.step == 1:
        x = features if signal is None else signal.signals
        return _shares(_changes(x, boundaries).sum(axis=0))
    changes = []
    for column in signal.signals.T:
        windows = window_features(column[:, None], width=signal.width, level=signal.level)
        changes.append(_changes(windows, boundaries).sum(axis=(0, 2)))
    return _shares(np.stack(changes, axis=1))


def _shares(changes: FloatArray) -> FloatArray:
    total = changes.sum(axis=1, keepdims=True)
    return np.asarray(changes / np.where(total > 0, total, 1.0))


def _changes(x: FloatArray, boundaries: IntArray) -> FloatArray:
    """Return the squared change of mean and spread at each boundary, shape (2, n, n_columns)."""
    starts = [0, *boundaries]
    lengths = np.diff([*starts, len(x)])[:, None]
    centered = x - x.mean(axis=0, dtype=np.float64)
    means = np.add.reduceat(centered, starts, axis=0) / lengths
    squares = np.add.reduceat(centered**2, starts, axis=0) / lengths
    spreads = np.sqrt(np.maximum(squares - means**2, 0.0))

    # A constant column differs from itself by rounding alone.
    variance = np.where(np.ptp(x, axis=0) == 0, np.inf, np.mean(centered**2, axis=0))
    return np.diff([means, spreads], axis=1) ** 2 / variance


def note_of_drift(features: FloatArray, boundaries: IntArray, names: Sequence[object]) -> str:
    """Say which one or two drifting columns drive most boundaries; empty if none do.

    `names` are those of the columns, or their numbers; for the others, see `misleading_columns`.
    """
    columns, n_led = misleading_columns(features, boundaries)
    if not columns:
        return ""
    which = " and ".join(show_value(names[k]) for k in columns)
    which += " (counted from 0)" if isinstance(names[columns[0]], int) else ""
    drift = f"columns {which} drift" if len(columns) == 2 else f"column {which} drifts"
    return (
        f"{n_led} of {len(boundaries)} boundaries are there mostly because {drift}; without, there"
        " are far fewer: leave out what drifts if it is not what you look for"
    )


def misleading_columns(features: FloatArray, boundaries: IntArray) -> tuple[list[int], int]:
    """Return one or two drifting columns without which there are far fewer boundaries.

    The others alone must have at most half as many, nearly all of them among those found: where
    they have no events, or other ones, no column is returned.

    Parameters
    ----------
    features : ndarray of shape (n_frames, n_columns)
        The rows that were given.
    boundaries : ndarray of int
        Those of the usual level, in order of time.

    Returns
    -------
    columns : list of int
        In order; empty if there are none.
    n_led : int
        Boundaries at which these columns have more than half of the change.
    """
    for columns, n_led in drifting_columns(features, boundaries):
        rest = _quick_boundaries(np.delete(features, columns, axis=1))
        apart = np.abs(rest[:, None] - boundaries).min(axis=1)
        if 1 <= len(rest) <= LEFT * len(boundaries) and np.mean(apart <= NEAR) >= AMONG:
            return columns, n_led
    return [], 0


def drifting_columns(features: FloatArray, boundaries: IntArray) -> list[tuple[list[int], int]]:
    """Return the column that drifts most, and the two that do, if they drive most boundaries.

    See `misleading_columns`; the others are not asked, and drift may be what a recording is about.
    """
    n_found, n_columns = len(boundaries), features.shape[1]
    if n_found < FEWEST_BOUNDARIES or not 3 <= n_columns <= MOST_JUDGED:
        return []
    # Drift is of the level: how noisy a column is need not count.
    shares = _shares(_changes(features, boundaries)[0])
    strongest = np.argsort(-shares.mean(axis=0), kind="stable").tolist()
    drifting = [k for k in strongest if _drifts(features[:, [k]], boundaries)]
    found = []
    for k in range(1, min(2, len(drifting), n_columns - 2) + 1):
        n_led = int(np.sum(shares[:, drifting[:k]].sum(axis=1) > LED))
        if n_led > LED * n_found:
            found.append((sorted(drifting[:k]), n_led))
    return found


def _drifts(column: FloatArray, boundaries: IntArray) -> bool:
    """Whether little of the change of a column happens at the boundaries."""
    x = np.asarray(column, dtype=np.float64)
    x = x - x.mean(axis=0)
    return (
        bool(np.ptp(x) > 0)
        and share_of_change(x, boundaries, part=0.0) < DRIFT
        and share_of_change(x, boundaries, part=0.25) < LEAST_IN_QUARTERS
    )


def _quick_boundaries(features: FloatArray) -> IntArray:
    """Return the boundaries on which the answers agree, from the main directions alone."""
    signal = choose_signal_features(features)
    embedder = PrincipalComponents()
    embedder.learn(features if signal is None else signal.features)
    gather = (
        partial(gather_evidence, features)
        if signal is None
        else partial(gather_signal_evidence, signal)
    )
    evidence = gather(embedder.main_directions(), None, required=NONE, forbidden=NONE, times=None)
    return evidence.agreed_boundaries
