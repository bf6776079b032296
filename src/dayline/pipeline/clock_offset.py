"""By how much the clock of one camera is ahead of another's: photos that look alike were taken at about one time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dayline.arrays import FloatArray, IntArray

__all__ = ["ClockOffset", "clock_offset"]

DAY = 86_400.0
COARSE_STEP, FINE_STEP, FINE_REACH = 120.0, 10.0, 1200.0
WIDTHS = (30.0, 120.0, 400.0)
"""Seconds within which two photos count as taken together, for the exact offset."""

NEAR = 600.0
"""Seconds within which a photo is compared with those of the other camera before and after it."""

ELSEWHERE = 5400.0
"""Seconds: offsets this far from the best one compete with it; nearer ones share its evidence."""

BLOCK = 1800.0
"""Seconds that count as one piece of evidence: about one visit."""

N_DIRECTIONS = 48
MOST_COARSE, MOST_FINE = 1500, 8000
FEWEST_PHOTOS = 8
N_SAMPLES = 200

# Limits between clocks that differ and chance, from benchmarks/album/two_cameras.py.
FEWEST_BLOCKS = 5
LEAST_LIKENESS, LEAST_T, LEAST_RATIO = 0.15, 3.5, 1.5
LARGEST_ZONE, RATIO_BEYOND = 14.5 * 3600.0, 3.0
LARGEST_ERROR = 200.0
SMALLEST, ERRORS_FROM_ZERO, LEAST_GAIN = 60.0, 4.0, 0.15
HOUR, FARTHEST_FROM_HOUR = 3600.0, 240.0


@dataclass(frozen=True)
class ClockOffset:
    """How far one clock is ahead of another, and how clearly.

    Attributes
    ----------
    seconds : float
        Seconds by which the second clock is ahead of the first.
    error : float
        Standard error of that, from samples of the visits.
    likeness : float
        How much more alike photos of about the same time are than others (cosine similarity).
    t : float
        That likeness in standard errors, from visit to visit.
    ratio : float
        The evidence for this offset, divided by that for the best one elsewhere.
    n_blocks : int
        Number of half hours in which both cameras took photos.
    gain : float
        Share of the evidence that is lost if the clocks are taken to agree.
    """

    seconds: float
    error: float
    likeness: float
    t: float
    ratio: float
    n_blocks: int
    gain: float

    @property
    def is_clear(self) -> bool:
        """Whether the offset stands out clearly, so that it may be corrected."""
        ratio = LEAST_RATIO if abs(self.seconds) <= LARGEST_ZONE else RATIO_BEYOND
        return (
            self.n_blocks >= FEWEST_BLOCKS
            and self.likeness >= LEAST_LIKENESS
            and self.t >= LEAST_T
            and self.ratio >= ratio
            and self.error <= LARGEST_ERROR
        )

    @property
    def correction(self) -> float:
        """Seconds to subtract from the second clock: 0 if the clocks agree as far as can be told.

        Close to whole hours it is a whole hour: most wrong clocks show another time zone, or summer time.
        """
        if not self.is_clear or abs(self.seconds) <= max(SMALLEST, ERRORS_FROM_ZERO * self.error):
            return 0.0
        if self.gain < LEAST_GAIN:
            return 0.0
        hours = round(self.seconds / HOUR) * HOUR
        close = abs(self.seconds - hours) <= min(max(SMALLEST, 2 * self.error), FARTHEST_FROM_HOUR)
        return hours if hours and close else float(round(self.seconds))


def clock_offset(
    times_a: FloatArray, features_a: FloatArray, times_b: FloatArray, features_b: FloatArray
) -> ClockOffset | None:
    """Estimate by how much the clock of camera b is ahead of that of camera a; None if they cannot be compared.

    For each offset up to a day, every photo is compared with those that the other camera would have taken just
    before and after it: how much more alike are they than photos in general? The estimate is the offset for which
    this stands out most. Its error comes from drawing half hours at random (bootstrap).

    Parameters
    ----------
    times_a, times_b : arrays of shape (n_a,) and (n_b,)
        Times in seconds, each on the camera's own clock.
    features_a, features_b : arrays of shape (n_a, n_features) and (n_b, n_features)
        Features of the photos.
    """
    if min(len(times_a), len(times_b)) < FEWEST_PHOTOS:
        return None
    cameras = _Cameras.of(times_a, features_a, times_b, features_b)
    coarse = cameras.thinned(MOST_COARSE)
    grid = np.arange(-DAY, DAY + 1, COARSE_STEP)
    evidence = np.asarray([_evidence(*coarse.likeness(offset)) for offset in grid])
    best = int(np.argmax(evidence))
    if evidence[best] <= 0:
        return None
    elsewhere = float(evidence[np.abs(grid - grid[best]) > ELSEWHERE].max())
    fine = cameras.thinned(MOST_FINE)
    offset, error = _refined(fine, float(grid[best]))
    values, moments = fine.likeness(offset)
    sums, counts = _in_blocks(values, moments)
    spread = float(np.std(sums, ddof=1)) / np.sqrt(len(sums)) if len(sums) > 1 else np.inf
    return ClockOffset(
        seconds=offset,
        error=error,
        likeness=float(sums.sum() / max(counts.sum(), 1)),
        t=float(np.mean(sums) / spread) if spread > 0 else 0.0,
        ratio=float(evidence[best]) / max(elsewhere, 1e-9),
        n_blocks=len(sums),
        gain=1.0 - _evidence(*coarse.likeness(0.0)) / float(evidence[best]),
    )


@dataclass(frozen=True)
class _Cameras:
    """Two cameras: times in order, and features of length 1 in the main directions."""

    times_a: FloatArray
    times_b: FloatArray
    a: FloatArray
    b: FloatArray

    @classmethod
    def of(cls, times_a: FloatArray, features_a: FloatArray, times_b: FloatArray, features_b: FloatArray) -> _Cameras:
        order_a, order_b = np.argsort(times_a, kind="stable"), np.argsort(times_b, kind="stable")
        a = _units(features_a[order_a] - features_a.mean(axis=0))
        b = _units(features_b[order_b] - features_b.mean(axis=0))
        if a.shape[1] > N_DIRECTIONS:
            _, directions = np.linalg.eigh(a.T @ a + b.T @ b)
            main = directions[:, -N_DIRECTIONS:]
            a, b = _units(a @ main), _units(b @ main)
        return cls(times_a[order_a], times_b[order_b], a, b)

    def thinned(self, most: int) -> _Cameras:
        """Keep the photos of some days of camera a and of the days around them, and thin out those."""
        days = np.unique(np.floor(self.times_a / DAY))
        keep_a, keep_b = (np.ones(len(t), dtype=bool) for t in (self.times_a, self.times_b))
        if len(self.times_a) > most:
            chosen = days[:: max(1, -(-len(self.times_a) // most))]
            keep_a = np.isin(np.floor(self.times_a / DAY), chosen)
            around = np.concatenate([chosen - 1, chosen, chosen + 1])
            keep_b = np.isin(np.floor(self.times_b / DAY), around)
        index_a, index_b = np.flatnonzero(keep_a), np.flatnonzero(keep_b)
        index_a = index_a[:: max(1, -(-len(index_a) // most))]
        index_b = index_b[:: max(1, -(-len(index_b) // (3 * most)))]
        return _Cameras(self.times_a[index_a], self.times_b[index_b], self.a[index_a], self.b[index_b])

    def likeness(self, offset: float) -> tuple[FloatArray, FloatArray]:
        """Return how alike each photo is to the other camera's at its time, beyond the usual, and when that was."""
        usual_a, usual_b = self.a @ self.b.mean(axis=0), self.b @ self.a.mean(axis=0)
        usual = float(self.a.mean(axis=0) @ self.b.mean(axis=0))
        shifted = self.times_b - offset
        of_b = _nearby(shifted, self.b, self.times_a, self.a, usual_a) - usual_b + usual
        of_a = _nearby(self.times_a, self.a, shifted, self.b, usual_b) - usual_a + usual
        values, moments = np.concatenate([of_a, of_b]), np.concatenate([self.times_a, shifted])
        known = np.isfinite(values)
        return values[known], moments[known]


def _units(rows: FloatArray) -> FloatArray:
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(rows / np.where(lengths > 0, lengths, 1.0), dtype=np.float32)


def _nearby(
    moments: FloatArray, rows: FloatArray, times: FloatArray, others: FloatArray, usual: FloatArray
) -> FloatArray:
    """Compare each photo with the other camera's before and after it; NaN if both are far."""
    after = np.searchsorted(times, moments)
    before, after = np.maximum(after - 1, 0), np.minimum(after, len(times) - 1)
    total, weights = np.zeros(len(moments)), np.zeros(len(moments))
    for index in (before, after):
        distance = np.abs(times[index] - moments)
        weight = np.where(distance <= NEAR, 1.0 / (distance + 20.0), 0.0)
        total += weight * (np.einsum("ij,ij->i", others[index], rows) - usual[index])
        weights += weight
    return np.where(weights > 0, total / np.where(weights > 0, weights, 1.0), np.nan)


def _evidence(values: FloatArray, _: FloatArray) -> float:
    """Return the sum of the likeness in units of chance; few photos at the same time are little evidence."""
    return float(values.sum() / np.sqrt(len(values) + 20.0))


def _in_blocks(values: FloatArray, moments: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Sum the likeness in each half hour."""
    numbers = np.floor(moments / BLOCK)
    _, block = np.unique(numbers, return_inverse=True)
    return np.bincount(block, values).astype(np.float64), np.bincount(block).astype(np.float64)


def _refined(cameras: _Cameras, coarse: float) -> tuple[float, float]:
    """Return the best offset near a coarse one, and its standard error, from all pairs of photos near in time.

    Of several widths within which photos count as taken together, the one with the smallest error is used: seconds if
    both cameras follow the same scene, minutes if they only visit the same places.
    """
    lags, values, blocks = _pairs(cameras, coarse, FINE_REACH + 3 * max(WIDTHS))
    n_bins = round(2 * (FINE_REACH + 3 * max(WIDTHS)) / FINE_STEP) + 1
    bins = np.clip(np.round(lags / FINE_STEP).astype(np.int64) + n_bins // 2, 0, n_bins - 1)
    sums = np.zeros((int(blocks.max(initial=-1)) + 1, n_bins))
    np.add.at(sums, (blocks, bins), values)
    if not len(sums):
        return coarse, np.inf
    offsets = FINE_STEP * np.arange(-round(FINE_REACH / FINE_STEP), round(FINE_REACH / FINE_STEP) + 1)
    draws = np.random.default_rng(0).multinomial(len(sums), np.full(len(sums), 1 / len(sums)), N_SAMPLES)
    drawn = draws @ sums
    found = []
    positions = FINE_STEP * (np.arange(n_bins) - n_bins // 2)
    for width in WIDTHS:
        kernel = np.exp(-0.5 * np.square((positions[:, None] - offsets[None, :]) / width))
        best = offsets[np.argmax(drawn @ kernel, axis=1)]
        # The median of the draws is steadier than the one best offset, which a single photo can move.
        centre = float(np.median(best))
        found.append((float(np.sqrt(np.mean(np.square(best - centre)))), coarse + centre))
    error, offset = min(found)
    return offset, max(error, FINE_STEP / 2)


def _pairs(cameras: _Cameras, coarse: float, reach: float) -> tuple[FloatArray, FloatArray, IntArray]:
    """Return the pairs of photos near in time: lag beyond the coarse offset, likeness, number of the half hour."""
    shifted = cameras.times_b - coarse
    usual_a, usual_b = cameras.a @ cameras.b.mean(axis=0), cameras.b @ cameras.a.mean(axis=0)
    usual = float(cameras.a.mean(axis=0) @ cameras.b.mean(axis=0))
    first, last = np.searchsorted(shifted, cameras.times_a - reach), np.searchsorted(shifted, cameras.times_a + reach)
    lags, values, of_a = [np.empty(0)], [np.empty(0)], [np.empty(0, dtype=np.int64)]
    for i in np.flatnonzero(last > first).tolist():
        near = slice(int(first[i]), int(last[i]))
        lags.append(shifted[near] - cameras.times_a[i])
        values.append(cameras.b[near] @ cameras.a[i] - usual_a[i] - usual_b[near] + usual)
        of_a.append(np.full(near.stop - near.start, i))
    halves = np.floor(cameras.times_a / BLOCK)[np.concatenate(of_a)]
    _, blocks = np.unique(halves, return_inverse=True)
    return np.concatenate(lags), np.concatenate(values), blocks
