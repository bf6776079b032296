"""Periods of signals: days, seasons, the turns of a machine."""

from __future__ import annotations

from typing import Any

import numpy as np

from dayline.arrays import FloatArray
from dayline.checks import check_between
from dayline.method.denoise import standardize
from dayline.method.windows import check_signals

FEWEST_CYCLES, SHORTEST_PERIOD = 8, 3
"""Cycles, and rows of one, from which on a recurrence is a period: fewer cycles are events that
recur, and a value that alternates with every row is noise."""

ABOVE_NEARBY = 4.0
"""Logarithm of the power of a period over the median power at nearby frequencies. The highest of
hundreds in noise, whatever its autocorrelation, has about 3, and random steps hardly more than 4."""

LEAST_NEARBY, MOST_NEARBY = 4, 20
"""Frequencies on either side that are nearby."""

N_PARTS, LEAST_SHARE = 4, 0.6
"""Parts of a sequence, in each of which a cycle has this share of its size in the others. What
recurs only for a while is an event, and noise keeps no phase."""

LEAST_BEYOND_CHANCE = 0.5
"""Share of the variance between phases that chance does not explain."""

MOST_HARMONIC = 12
"""Highest harmonic that may be stronger than the period itself."""

LEAST_EXPLAINED, AS_GOOD = 0.1, 0.02
"""Share of the variance about the level that a period explains at least, and by which a longer
one, or one of broken rows, must explain more."""

LEFT = 0.02
"""Deviation of what a period leaves, over that of the column, below which nothing is left."""


def dominant_period(signals: Any) -> float | None:
    """Find the period of a signal, in rows, or None if it has none.

    A period has a power that stands far above that of nearby frequencies, so that noise has none,
    autocorrelated or wandering though it may be, nor has a trend or a step. It lasts from the first
    row to the last in phase and, roughly, in size, and has at least eight cycles of three rows or
    more: a square wave of a few long cycles is a sequence of events that recur.

    Parameters
    ----------
    signals : array-like of shape (n_rows, n_columns)
        At most eight columns, one row per time. The period is that of the column in which it
        stands out most.

    Returns
    -------
    float or None
        Rows of a cycle; a whole number if that explains the signal as well.
    """
    return find_period(check_signals(signals))


def find_period(x: FloatArray) -> float | None:
    """Do what `dominant_period` says, with checked arguments."""
    if len(x) < FEWEST_CYCLES * SHORTEST_PERIOD:
        return None
    columns = standardize(x).T
    peaks = [_highest_peak(column) for column in columns]
    best = int(np.argmax([height for height, _ in peaks]))
    height, frequency = peaks[best]
    if height < ABOVE_NEARBY:
        return None

    # A cycle of another shape than a sine may be strongest in one of its harmonics.
    column = columns[best]
    longest = len(x) / FEWEST_CYCLES
    multiples = [m / frequency for m in range(1, MOST_HARMONIC + 1) if m / frequency <= longest]
    explained = [_explained(column, period) for period in multiples]
    if max(explained) < LEAST_EXPLAINED:
        return None
    as_good = (share >= max(explained) - AS_GOOD for share in explained)
    period = next(one for one, good in zip(multiples, as_good, strict=True) if good)
    whole = float(round(period))
    if _explained(column, whole) >= _explained(column, period) - AS_GOOD:
        period = whole
    return period if _lasts(column, period) else None


def without_period(signals: Any, period: float) -> FloatArray:
    """Take a period out of a signal: the median of each phase, over all cycles.

    The level of each row, its mean over one period, does not count, so that changes of level stay.
    A column in which phases differ no more than chance would have it stays nearly as it is.

    Parameters
    ----------
    signals : array-like of shape (n_rows, n_columns)
        At most eight columns, one row per time.
    period : float >= 2
        Rows of a cycle, at most half of all.
    """
    x = check_signals(signals)
    check_between("period", period, 2, len(x) / 2)
    return remove_period(x, period)


def remove_period(x: FloatArray, period: float) -> FloatArray:
    """Do what `without_period` says, with checked arguments."""
    left = x.copy()
    phases = np.arange(len(x)) / period % 1.0
    for k, column in enumerate(x.T):
        inside, rest = _without_level(column, period)
        at, profile = _profile(phases[inside], rest, period)
        share = _beyond_chance(phases[inside], rest, at, profile)
        left[:, k] = column - share * np.interp(phases, at, profile, period=1.0)
        if np.std(left[:, k]) < LEFT * np.std(column):
            left[:, k] = np.mean(column)
    return left


def _highest_peak(column: FloatArray) -> tuple[float, float]:
    """Return how far the highest peak of the power is above its surroundings, and its frequency.

    The former is a logarithm, the latter in cycles per row.
    """
    n = len(column)
    taper = np.hanning(n + 2)[1:-1]
    time = np.linspace(-1.0, 1.0, n)
    # Without the linear trend.
    rows = (column - column.mean() - time * (time @ column) / (time @ time)) * taper
    power = np.abs(np.fft.rfft(rows)) ** 2
    if power.max() == 0:
        return 0.0, 0.5
    log_power = np.log(power + 1e-12 * power.max())

    peaks = np.arange(FEWEST_CYCLES, min(n // SHORTEST_PERIOD, len(power) - 3) + 1)
    heights = log_power[peaks] - _nearby(log_power)[peaks]
    best = int(peaks[np.argmax(heights)])

    # Cycles that are not whole in the sequence lie between two frequencies.
    near = np.maximum(best + np.linspace(-0.75, 0.75, 61), FEWEST_CYCLES) / n
    waves = np.exp(-2j * np.pi * np.outer(near, np.arange(n)))
    return float(heights.max()), float(near[np.argmax(np.abs(waves @ rows))])


def _nearby(log_power: FloatArray) -> FloatArray:
    """Return the median log power at nearby frequencies, but for the lowest and highest.

    As many below as above, since the power of autocorrelated noise falls, and not the frequency
    itself and its two neighbors, over which the taper spreads a peak.
    """
    n = len(log_power)
    nearby = np.full(n, np.inf)
    offsets = np.setdiff1d(np.arange(-MOST_NEARBY, MOST_NEARBY + 1), [-1, 0, 1])
    inner = np.arange(2 * MOST_NEARBY, n - MOST_NEARBY)
    nearby[inner] = np.median(log_power[inner[:, None] + offsets], axis=1)

    for k in np.setdiff1d(np.arange(FEWEST_CYCLES, n - 2), inner):
        reach = min(max(LEAST_NEARBY, k // 2), MOST_NEARBY)
        below, above = log_power[k - reach : k - 1], log_power[k + 2 : k + reach + 1]
        nearby[k] = np.median(np.concatenate([below, above]))
    return nearby


def _without_level(column: FloatArray, period: float) -> tuple[Any, FloatArray]:
    """Return the rows that have half a period on either side, and their distance to its mean."""
    n = len(column)
    sums = np.concatenate([[0.0], np.cumsum(column - column.mean())])
    half = period / 2
    inside = slice(int(np.ceil(half - 0.5)), int(np.floor(n - half - 0.5)) + 1)
    middle, at = np.arange(n)[inside] + 0.5, np.arange(n + 1)
    level = (np.interp(middle + half, at, sums) - np.interp(middle - half, at, sums)) / period
    return inside, column[inside] - column.mean() - level


def _profile(phases: FloatArray, rest: FloatArray, period: float) -> tuple[FloatArray, FloatArray]:
    """Return phases of a cycle, one for each row of it, and the median of each."""
    bins = np.floor(phases * round(period) + 1e-6).astype(np.int64) % round(period)
    order = np.argsort(bins, kind="stable")
    parts = np.split(order, np.flatnonzero(np.diff(bins[order])) + 1)
    at = np.asarray([float(np.mean(phases[part])) for part in parts])
    profile = np.asarray([float(np.median(rest[part])) for part in parts])
    return at, profile - profile.mean()


def _beyond_chance(
    phases: FloatArray, rest: FloatArray, at: FloatArray, profile: FloatArray
) -> float:
    """Return the share of a profile that is not chance: medians of noise differ, too."""
    about = rest - np.interp(phases, at, profile, period=1.0)
    chance = np.pi / 2 * np.var(about) * len(profile) / len(rest)
    return max(0.0, 1.0 - float(chance) / max(float(np.var(profile)), 1e-300))


def _explained(column: FloatArray, period: float) -> float:
    """Return the share of the variance that a period explains, adjusted for its length."""
    inside, rest = _without_level(column, period)
    phases = np.arange(len(column))[inside] / period % 1.0
    at, profile = _profile(phases, rest, period)
    unexplained = np.sum((rest - np.interp(phases, at, profile, period=1.0)) ** 2)
    freedom = len(rest) / max(len(rest) - len(profile), 1)
    return float(1.0 - freedom * unexplained / max(float(np.sum(rest**2)), 1e-300))


def _lasts(column: FloatArray, period: float) -> bool:
    """Return whether a cycle is more than chance, and the same in each part of the sequence."""
    inside, rest = _without_level(column, period)
    phases = np.arange(len(column))[inside] / period % 1.0
    if _beyond_chance(phases, rest, *_profile(phases, rest, period)) < LEAST_BEYOND_CHANCE:
        return False

    part = np.arange(len(rest)) * N_PARTS // len(rest)
    for k in range(N_PARTS):
        own, others = part == k, part != k
        at, profile = _profile(phases[others], rest[others], period)
        expected = np.interp(phases[own], at, profile, period=1.0)
        if rest[own] @ expected < LEAST_SHARE * (expected @ expected):
            return False
    return True
