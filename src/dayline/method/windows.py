"""Signals of few columns: what a moving window of rows shows, and what it is worth."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

import numpy as np

from dayline.arrays import FloatArray
from dayline.checks import LARGEST_COUNT, check_between, check_choice, check_features
from dayline.method.denoise import standardize

Level: TypeAlias = Literal["mean", "slope"]

MOST_COLUMNS = 8
"""Columns of a signal; features of networks have more."""

WIDTH = 16
"""Rows of a window."""

N_DECIMALS = 6
"""Decimals of features before they are standardized."""

LAGS = (1, 2, 4)
"""Distances in rows of the differences: how their size grows with them is a spectrum."""

LEAST_SPREAD = 0.01
"""Smallest spread and difference that count, in standard deviations of the column: logarithms of
zeros would be infinite, and those of rounding errors would stand out."""


def signal_windows(signals: Any, *, width: int = WIDTH, level: Level = "mean") -> FloatArray:
    """Describe the window of rows around each row: level, spread, and differences.

    The values of a signal show its level; variance, frequency or autocorrelation show only over
    several rows. Each column of the signal becomes the mean of the window, the logarithm of its
    standard deviation, and the logarithms of the mean absolute differences of rows 1, 2 and 4 apart
    (fewer in windows of less than eight rows), which tell fast from slow changes.

    Parameters
    ----------
    signals : array-like of shape (n_rows, n_columns)
        At most eight columns, one row per time.
    width : int >= 3
        Rows of a window, the row itself in its middle; an even number has one more before it. At
        both ends, rows are mirrored.
    level : {"mean", "slope"}, default="mean"
        "slope" takes the slope of the window instead of its mean: for signals that rise and fall
        without staying at a level.

    Returns
    -------
    ndarray of shape (n_rows, n_features)
        Standardized features, in double precision, all of one kind side by side.
    """
    x = check_signals(signals)
    check_between("width", width, 3, LARGEST_COUNT, whole=True)
    check_choice("level", level, ("mean", "slope"))
    return window_features(x, width=width, level=level)


def check_signals(signals: Any) -> FloatArray:
    """Return signals as a matrix of finite numbers in double precision, or raise ValueError."""
    x: FloatArray = np.asarray(check_features(signals), dtype=np.float64)
    if x.shape[1] > MOST_COLUMNS:
        raise ValueError(
            f"signals have {x.shape[1]} columns; windows are for at most {MOST_COLUMNS}"
        )
    return x


def window_features(x: FloatArray, *, width: int, level: Level = "mean") -> FloatArray:
    """Do what `signal_windows` says, with checked arguments."""
    n = len(x)
    if n < 3:
        return np.zeros((n, 2 * x.shape[1]))
    width = min(width, n)
    values = standardize(x)
    # A mirror has at most n - 1 rows.
    before, after = width // 2, width - 1 - width // 2
    padded = np.pad(values, ((before, after), (0, 0)), mode="reflect")

    mean = _moving_mean(padded, width)
    squares = _moving_mean(padded**2, width) - mean**2
    first = mean if level == "mean" else _slopes(values, before, after)
    features = [first, np.log(np.sqrt(np.maximum(squares, 0.0)) + LEAST_SPREAD)]
    for lag in LAGS:
        if 2 * lag <= width:
            sizes = np.abs(padded[lag:] - padded[:-lag])
            features.append(np.log(_moving_mean(sizes, width - lag) + LEAST_SPREAD))
    # What differs by rounding alone is equal.
    return np.asarray(standardize(np.round(np.concatenate(features, axis=1), N_DECIMALS)))


def _slopes(values: FloatArray, before: int, after: int) -> FloatArray:
    """Return the slope of the line through each window, times a constant."""
    # Turned by half a circle about the first and last row, so that a line goes on as a line.
    margins = ((before, after), (0, 0))
    padded = np.pad(values, margins, mode="reflect", reflect_type="odd")
    weights = np.arange(before + after, -1, -1) - (before + after) / 2
    weights /= np.sqrt(weights @ weights)
    return np.stack([np.convolve(column, weights, "valid") for column in padded.T], axis=1)


def _moving_mean(x: FloatArray, width: int) -> FloatArray:
    """Return the mean of every `width` consecutive rows."""
    sums = np.concatenate([np.zeros((1, x.shape[1])), np.cumsum(x, axis=0)])
    return np.asarray((sums[width:] - sums[:-width]) / width)
