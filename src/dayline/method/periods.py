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
hundreds in noise, whatever its autocorrelation, has about 3, and random steps hardly more than
4."""

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
one must explain more."""

MOST_PHASES = 128
"""Phases of a cycle whose medians are taken; a longer one is smooth between them."""

MOST_LEFT = 1.1
"""What a whole number of rows may leave of the variance, over what the period itself leaves."""

LEAST_STEP, N_OFFSETS, MOST_OF_STEPS = 0.5, 40, 2.0
"""Of equal steps, their height over the range of a cycle at least, the starts of the first one that
are tried, and the variance that they leave at most, over that which a period leaves."""

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
    columns = standardize(x)
    rows = _tapered(columns)
    heights = _above_nearby(rows)
    peak, best = np.unravel_index(int(np.argmax(heights)), heights.shape)
    if heights[peak, best] < ABOVE_NEARBY:
        return None

    # Cycles that are not whole in the sequence lie between two frequencies.
    near = (peak + np.linspace(-0.75, 0.75, 61)) / len(x)
    near = np.maximum(near, FEWEST_CYCLES / len(x))
    angles = -2j * np.pi * np.arange(len(x))
    sizes = [abs(np.exp(frequency * angles) @ rows[:, best]) for frequency in near]
    frequency = float(near[np.argmax(sizes)])

    # A cycle of another shape than a sine may be strongest in one of its harmonics.
    column = columns[:, best]
    longest = len(x) / FEWEST_CYCLES
    # 1 / (8 / n) may be more than n / 8.
    multiples = [min(m / frequency, longest) for m in range(1, MOST_HARMONIC + 1)]
    multiples = [one for m, one in enumerate(multiples, start=1) if m / frequency < longest + 1e-6]
    explained = [_explained(column, period) for period in multiples]
    if max(explained) < LEAST_EXPLAINED:
        return None
    as_good = (share >= max(explained) - AS_GOOD for share in explained)
    period = next(one for one, good in zip(multiples, as_good, strict=True) if good)
    whole = float(round(period))
    # One that is nearly whole drifts out of phase: it must leave hardly more.
    if 1.0 - _explained(column, whole) <= MOST_LEFT * (1.0 - _explained(column, period)) + LEFT**2:
        period = whole
    return period if _lasts(column, period) and not _is_staircase(column, period) else None


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
        left[:, k] = column - share * _at_phases(phases, at, profile)
        if np.std(left[:, k]) < LEFT * np.std(column):
            left[:, k] = np.mean(column)
    return left


def _tapered(columns: FloatArray) -> FloatArray:
    """Return columns without their linear trend, that begin and end at zero."""
    n = len(columns)
    time = np.linspace(-1.0, 1.0, n)[:, None]
    rows = columns - columns.mean(axis=0) - time * (time.T @ columns) / np.sum(time * time)
    return np.asarray(rows * np.hanning(n + 2)[1:-1, None])


def _above_nearby(rows: FloatArray) -> FloatArray:
    """Return the log power at each frequency over the median at nearby ones, for each column.

    It is minus infinity where there can be no period. Nearby are as many frequencies below as
    above, since the power of autocorrelated noise falls.
    """
    from scipy.ndimage import median_filter

    power = np.abs(np.fft.rfft(rows, axis=0)) ** 2
    log_power = np.log(power + 1e-12 * power.max(axis=0) + 1e-300)
    # Column by column, since SciPy's filter of one dimension is a hundred times as fast.
    size = 2 * MOST_NEARBY + 1
    nearby = np.stack([median_filter(one, size, mode="mirror") for one in log_power.T], axis=1)
    for k in range(FEWEST_CYCLES, min(2 * MOST_NEARBY, len(power) - 2)):
        reach = max(LEAST_NEARBY, k // 2)
        # Not the frequency itself and its two neighbors, over which the taper spreads a peak.
        below, above = log_power[k - reach : k - 1], log_power[k + 2 : k + reach + 1]
        nearby[k] = np.median(np.concatenate([below, above]), axis=0)

    heights = np.full(log_power.shape, -np.inf)
    last = min(len(rows) // SHORTEST_PERIOD, len(power) - 3)
    possible = slice(FEWEST_CYCLES, last + 1)
    heights[possible] = log_power[possible] - nearby[possible]
    return heights


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
    """Return phases of a cycle, up to one for each row of it, and the median of each."""
    n_phases = min(round(period), MOST_PHASES)
    # What rounding puts just below 1 is 0.
    phases = np.where(phases * n_phases + 1e-6 >= n_phases, phases - 1.0, phases)
    bins = np.floor(phases * n_phases + 1e-6).astype(np.int64) % n_phases
    order = np.argsort(bins, kind="stable")
    parts = np.split(order, np.flatnonzero(np.diff(bins[order])) + 1)
    at = np.asarray([float(np.mean(phases[part])) for part in parts])
    profile = np.asarray([float(np.median(rest[part])) for part in parts])
    return at, profile - profile.mean()


def _is_staircase(column: FloatArray, period: float) -> bool:
    """Return whether a trend with a period is nothing but equal steps of equal length."""
    inside, rest = _without_level(column, period)
    phases = np.arange(len(column))[inside] / period % 1.0
    at, profile = _profile(phases, rest, period)
    with_period = float(np.mean((rest - _at_phases(phases, at, profile)) ** 2))
    slope = float(np.polyfit(np.arange(len(column)), column, 1)[0])
    if abs(slope) * period < LEAST_STEP * float(np.ptp(profile)):
        return False

    with_steps = []
    for offset in np.linspace(0.0, 1.0, N_OFFSETS, endpoint=False):
        step = np.floor(np.arange(len(column)) / period + offset).astype(np.int64)
        means = np.bincount(step, column) / np.maximum(np.bincount(step), 1)
        with_steps.append(float(np.mean((column - means[step]) ** 2)))
    return min(with_steps) <= MOST_OF_STEPS * with_period + LEFT**2 * float(np.var(column))


def _at_phases(phases: FloatArray, at: FloatArray, profile: FloatArray) -> FloatArray:
    """Return a cycle at other phases, by cubic splines."""
    from scipy.interpolate import CubicSpline

    spline = CubicSpline(
        np.append(at, at[0] + 1.0), np.append(profile, profile[0]), bc_type="periodic"
    )
    return np.asarray(spline(phases))


def _beyond_chance(
    phases: FloatArray, rest: FloatArray, at: FloatArray, profile: FloatArray
) -> float:
    """Return the share of a profile that is not chance: medians of noise differ, too."""
    about = rest - _at_phases(phases, at, profile)
    chance = np.pi / 2 * np.var(about) * len(profile) / len(rest)
    return max(0.0, 1.0 - float(chance) / max(float(np.var(profile)), 1e-300))


def _explained(column: FloatArray, period: float) -> float:
    """Return the share of the variance that a period explains, adjusted for its length."""
    inside, rest = _without_level(column, period)
    phases = np.arange(len(column))[inside] / period % 1.0
    at, profile = _profile(phases, rest, period)
    unexplained = np.sum((rest - _at_phases(phases, at, profile)) ** 2)
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
        expected = _at_phases(phases[own], at, profile)
        if rest[own] @ expected < LEAST_SHARE * (expected @ expected):
            return False
    return True
