"""Find cameras whose clocks are wrong: photos that look alike were taken at about one time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from dayline.arrays import FloatArray, IntArray
from dayline.media.frame import Frame, FrameSequence, shifted
from dayline.media.order import sorted_by_time, span_text

DAY = 86_400.0
COARSE_STEP, FINE_STEP, FINE_REACH = 120.0, 10.0, 1200.0
LAGS = np.asarray(
    [0, 20, 45, 90, 150, 240, 360, 540, 780, 1080, 1500, 2100, 2700, 3600], dtype=np.float64
)
"""Seconds between two photos, in steps over which the fall of their likeness is measured."""

FIRST_WIDTH, N_TURNS = 400.0, 3

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
    def stands_out(self) -> bool:
        """Whether the photos are clearly more alike at this offset than at others."""
        ratio = LEAST_RATIO if abs(self.seconds) <= LARGEST_ZONE else RATIO_BEYOND
        return (
            self.n_blocks >= FEWEST_BLOCKS
            and self.likeness >= LEAST_LIKENESS
            and self.t >= LEAST_T
            and self.ratio >= ratio
        )

    @property
    def is_clear(self) -> bool:
        """Whether the offset also is exact enough to be corrected."""
        return self.stands_out and self.error <= LARGEST_ERROR

    @property
    def agrees(self) -> bool:
        """Whether the clocks clearly agree: next to nothing is lost if none is corrected."""
        return self.stands_out and (self.gain < LEAST_GAIN or abs(self.seconds) <= SMALLEST)

    @property
    def correction(self) -> float:
        """Seconds to subtract from the second clock: 0 if the clocks agree as far as can be told.

        Close to whole hours it is a whole hour: most wrong clocks show another time zone, or summer
        time.
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
    """Estimate by how much the clock of camera b is ahead of that of camera a; None if unknown.

    For each offset up to a day, every photo is compared with those that the other camera would have
    taken just before and after it: how much more alike are they than photos in general? The
    estimate is the offset for which this stands out most. Its error comes from drawing half hours
    at random (bootstrap).

    Parameters
    ----------
    times_a, times_b : arrays of shape (n_a,) and (n_b,)
        Times in seconds, each on the camera's own clock.
    features_a, features_b : arrays of shape (n_a, n_features) and (n_b, n_features)
        Features of the photos.
    """
    if min(len(times_a), len(times_b)) < FEWEST_PHOTOS:
        return None
    order_a, order_b = np.argsort(times_a, kind="stable"), np.argsort(times_b, kind="stable")
    a = _units(features_a[order_a] - features_a.mean(axis=0))
    b = _units(features_b[order_b] - features_b.mean(axis=0))
    if a.shape[1] > N_DIRECTIONS:
        main = _main_directions(np.concatenate([a, b]))
        a, b = _units(a @ main), _units(b @ main)
    times_a, times_b = times_a[order_a], times_b[order_b]

    coarse = _thinned(times_a, a, times_b, b, MOST_COARSE)
    grid = np.arange(-DAY, DAY + 1, COARSE_STEP)
    evidence = np.asarray([_evidence(coarse, offset) for offset in grid])
    best = int(np.argmax(evidence))
    if evidence[best] <= 0:
        return None
    elsewhere = float(evidence[np.abs(grid - grid[best]) > ELSEWHERE].max())

    fine = _thinned(times_a, a, times_b, b, MOST_FINE)
    offset, error = _refined(fine, float(grid[best]))
    values, moments = fine.likeness(offset)
    _, block = np.unique(np.floor(moments / BLOCK), return_inverse=True)
    sums = np.bincount(block, values)
    spread = float(np.std(sums, ddof=1)) / np.sqrt(len(sums)) if len(sums) > 1 else np.inf
    return ClockOffset(
        seconds=offset,
        error=error,
        likeness=float(sums.sum() / max(len(values), 1)),
        t=float(np.mean(sums) / spread) if spread > 0 else 0.0,
        ratio=float(evidence[best]) / max(elsewhere, 1e-9),
        n_blocks=len(sums),
        gain=1.0 - _evidence(coarse, 0.0) / float(evidence[best]),
    )


@dataclass(frozen=True)
class _Cameras:
    """Two cameras: times in order, and what differs in each photo from the usual one.

    The product of two rows is how much more alike two photos are than photos in general.
    """

    times_a: FloatArray
    times_b: FloatArray
    a: FloatArray
    b: FloatArray

    def likeness(self, offset: float) -> tuple[FloatArray, FloatArray]:
        """Return how alike each photo is to the other camera's at its time, and when that was."""
        shifted = self.times_b - offset
        of_b = _nearby(shifted, self.b, self.times_a, self.a)
        of_a = _nearby(self.times_a, self.a, shifted, self.b)
        values, moments = np.concatenate([of_a, of_b]), np.concatenate([self.times_a, shifted])
        known = np.isfinite(values)
        return values[known], moments[known]


def _thinned(
    times_a: FloatArray, a: FloatArray, times_b: FloatArray, b: FloatArray, most: int
) -> _Cameras:
    """Keep the photos of some days of camera a and of the days around, and thin out those."""
    days = np.unique(np.floor(times_a / DAY))
    keep_a, keep_b = (np.ones(len(t), dtype=bool) for t in (times_a, times_b))
    if len(times_a) > most:
        chosen = days[:: max(1, -(-len(times_a) // most))]
        keep_a = np.isin(np.floor(times_a / DAY), chosen)
        around = np.concatenate([chosen - 1, chosen, chosen + 1])
        keep_b = np.isin(np.floor(times_b / DAY), around)
    index_a, index_b = np.flatnonzero(keep_a), np.flatnonzero(keep_b)
    index_a = index_a[:: max(1, -(-len(index_a) // most))]
    index_b = index_b[:: max(1, -(-len(index_b) // (3 * most)))]
    a, b = a[index_a], b[index_b]
    return _Cameras(times_a[index_a], times_b[index_b], a - a.mean(axis=0), b - b.mean(axis=0))


def _main_directions(rows: FloatArray) -> FloatArray:
    """Return the directions along which rows differ most, from the smaller of two products."""
    if len(rows) >= rows.shape[1]:
        return np.linalg.eigh(rows.T @ rows)[1][:, -N_DIRECTIONS:]
    values, weights = np.linalg.eigh(rows @ rows.T)
    main = weights[:, -N_DIRECTIONS:][:, values[-N_DIRECTIONS:] > 1e-6 * values[-1]]
    return _units((rows.T @ main).T).T


def _units(rows: FloatArray) -> FloatArray:
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(rows / np.where(lengths > 0, lengths, 1.0), dtype=np.float32)


def _nearby(
    moments: FloatArray, rows: FloatArray, times: FloatArray, others: FloatArray
) -> FloatArray:
    """Compare each photo with the other camera's before and after it; NaN if both are far."""
    after = np.searchsorted(times, moments)
    before, after = np.maximum(after - 1, 0), np.minimum(after, len(times) - 1)
    total, weights = np.zeros(len(moments)), np.zeros(len(moments))
    for index in (before, after):
        distance = np.abs(times[index] - moments)
        weight = np.where(distance <= NEAR, 1.0 / (distance + 20.0), 0.0)
        total += weight * np.einsum("ij,ij->i", others[index], rows)
        weights += weight
    return np.where(weights > 0, total / np.where(weights > 0, weights, 1.0), np.nan)


def _evidence(cameras: _Cameras, offset: float) -> float:
    """Return the sum of the likeness in units of chance; few photos are little evidence."""
    values, _ = cameras.likeness(offset)
    return float(values.sum() / np.sqrt(len(values) + 20.0))


def _refined(cameras: _Cameras, coarse: float) -> tuple[float, float]:
    """Return the best offset near a coarse one, and its standard error, from all near pairs.

    How alike two photos are falls with the time between them. This curve is fitted, then the offset
    by least squares under the curve, in turns.
    """
    reach = FINE_REACH + LAGS[-1]
    lags, values, blocks = _pairs(cameras, coarse, reach)
    if not len(lags):
        return coarse, np.inf

    middle = round(reach / FINE_STEP)
    bins = np.clip(np.round(lags / FINE_STEP).astype(np.int64) + middle, 0, 2 * middle)
    sums, counts = (np.zeros((int(blocks.max()) + 1, 2 * middle + 1)) for _ in range(2))
    np.add.at(sums, (blocks, bins), values)
    np.add.at(counts, (blocks, bins), 1.0)

    positions = FINE_STEP * (np.arange(2 * middle + 1) - middle)
    offsets = positions[np.abs(positions) <= FINE_REACH]
    apart = np.abs(positions[:, None] - offsets[None, :])
    all_sums, all_counts = sums.sum(axis=0), counts.sum(axis=0)
    best = int(np.argmax(all_sums @ np.exp(-0.5 * np.square(apart / FIRST_WIDTH))))
    fit = np.zeros(len(offsets))
    for _ in range(N_TURNS):
        curve, level = _curve(all_sums, all_counts, np.abs(positions - offsets[best]))
        expected = np.interp(apart, (LAGS[1:] + LAGS[:-1]) / 2, curve, right=0.0)
        gains = (sums - level * counts) @ expected - 0.5 * counts @ np.square(expected)
        fit = gains.sum(axis=0)
        best = int(np.argmax(fit))

    draws = np.random.default_rng(0).multinomial(
        len(gains), np.full(len(gains), 1 / len(gains)), N_SAMPLES
    )
    found = offsets[np.argmax(draws @ gains, axis=1)]
    # The median of the draws is steadier than the one best offset, which a single photo can move.
    center = float(np.median(found))
    error = float(np.sqrt(np.mean(np.square(found - center))))
    return coarse + center, max(error, FINE_STEP / 2)


def _curve(sums: FloatArray, counts: FloatArray, apart: FloatArray) -> tuple[FloatArray, float]:
    """Return the mean likeness by time between photos, above the level that it falls to."""
    from sklearn.isotonic import isotonic_regression

    number = np.digitize(apart, LAGS) - 1
    inside = number < len(LAGS) - 1
    total = np.bincount(number[inside], sums[inside], len(LAGS) - 1)
    many = np.bincount(number[inside], counts[inside], len(LAGS) - 1)
    means = isotonic_regression(
        total / np.maximum(many, 1.0), sample_weight=many + 1e-6, increasing=False
    )
    return np.asarray(means - means[-1]), float(means[-1])


def _pairs(
    cameras: _Cameras, coarse: float, reach: float
) -> tuple[FloatArray, FloatArray, IntArray]:
    """Return the pairs of photos near in time: lag, likeness, number of the half hour.

    The lag is that beyond the coarse offset.
    """
    shifted = cameras.times_b - coarse
    first = np.searchsorted(shifted, cameras.times_a - reach)
    last = np.searchsorted(shifted, cameras.times_a + reach)
    lags, values, of_a = [np.empty(0)], [np.empty(0)], [np.empty(0, dtype=np.int64)]
    for i in np.flatnonzero(last > first).tolist():
        near = slice(int(first[i]), int(last[i]))
        lags.append(shifted[near] - cameras.times_a[i])
        values.append(cameras.b[near] @ cameras.a[i])
        of_a.append(np.full(near.stop - near.start, i))
    halves = np.floor(cameras.times_a / BLOCK)[np.concatenate(of_a)]
    _, blocks = np.unique(halves, return_inverse=True)
    return np.concatenate(lags), np.concatenate(values), blocks


def clock_corrections(
    times: Sequence[float],
    cameras: Sequence[str],
    features: FloatArray,
    *,
    zoned: Collection[str] = (),
    located: Collection[str] = (),
) -> tuple[dict[str, float], tuple[str, ...]]:
    """Compare the clocks of cameras; return the seconds to add to those that are wrong, and notes.

    The clock that most others agree with is taken as right; that of a camera with locations if
    several are equal, then that of the one with the most photos. Each camera is compared with
    those already known to agree with it.

    Parameters
    ----------
    times : sequence of float
        Time of each photo.
    cameras : sequence of str
        Camera of each photo; "" stands for all whose clocks are right, "?" for none that can be
        compared.
    features : array of shape (n_photos, n_features)
        Features of the photos.
    zoned : collection of str
        Cameras that record time zones; if there are any, the right clock is one of theirs.
    located : collection of str
        Cameras that record locations.
    """
    moments, labels = np.asarray(times, dtype=np.float64), np.asarray(cameras)
    names, counts = np.unique(labels, return_counts=True)
    many = {
        str(n): int(c)
        for n, c in zip(names, counts, strict=True)
        if n != "?" and c >= FEWEST_PHOTOS
    }
    if len(many) < 2:
        return {}, ()

    # Which clock is right, and the others in the order in which they are compared with it.
    ranked = sorted(many, key=lambda name: (name not in located, -many[name], name))
    if "" in many:
        first = ""
    else:
        candidates = [name for name in ranked if name in zoned] or ranked
        agreeing = _agreeing(ranked, candidates, labels, moments, features)
        first = max(candidates, key=lambda name: agreeing[name])
    ranked.sort(key=lambda name: (name != first, -many[name], name))

    right = [first]
    corrections: dict[str, float] = {}
    notes: list[str] = []
    # Twice: what is not clear by one camera may be clear by all that agree.
    for name in 2 * ranked[1:]:
        if name in right:
            continue
        known, own = np.isin(labels, right), labels == name
        found = clock_offset(moments[known], features[known], moments[own], features[own])
        ahead = 0.0 if found is None else found.correction
        if ahead:
            moments = np.where(own, moments - ahead, moments)
            corrections[name] = -ahead
            notes.append(_note(name, ahead, first))
        if found is not None and found.is_clear:
            right.append(name)
    return corrections, tuple(notes)


def _agreeing(
    names: Sequence[str],
    candidates: Sequence[str],
    labels: NDArray[np.str_],
    moments: FloatArray,
    features: FloatArray,
) -> Counter[str]:
    """Count the cameras whose clocks agree with that of each candidate, if that can decide."""
    agreeing: Counter[str] = Counter()
    if len(names) == 2 or len(candidates) == 1:
        return agreeing
    for one, other in combinations(names, 2):
        if one in candidates or other in candidates:
            a, b = labels == one, labels == other
            found = clock_offset(moments[a], features[a], moments[b], features[b])
            if found is not None and found.agrees:
                agreeing.update((one, other))
    return agreeing


def _note(name: str, ahead: float, reference: str) -> str:
    other = f" that of {reference}" if reference else " the others"
    way = "ahead of" if ahead > 0 else "behind"
    return (
        f"the clock of {name} is {span_text(abs(ahead))} {way}{other}, by photos that look alike;"
        f" its times were corrected (--offset {name!r}=0 keeps them)".replace("'", '"')
    )


def clocks_of_most(frames: Iterable[Frame], holds: Callable[[Frame], bool]) -> set[str]:
    """Return the clocks for at least half of whose photos something holds."""
    frames = [frame for frame in frames if frame.clock != "?"]
    many = Counter(frame.clock for frame in frames)
    some = Counter(frame.clock for frame in frames if holds(frame))
    return {clock for clock, n_photos in many.items() if 2 * some[clock] >= n_photos}


def records_zone(photo: Frame) -> bool:
    """Return whether the camera recorded the time zone, as phones do, which ask the network."""
    return photo.taken is not None and photo.taken.offset is not None and not photo.taken.is_utc


def with_one_clock(
    sequence: FrameSequence, features: FloatArray
) -> tuple[tuple[Frame, ...], tuple[str, ...]]:
    """Return photos with the times of all cameras on one clock, in order, and notes.

    Parameters
    ----------
    sequence : FrameSequence
        Photos.
    features : array of shape (n_frames, n_features)
        Their features.
    """
    times = sequence.placed_times
    if times is None:
        return sequence.frames, ()
    clocks = [frame.clock for frame in sequence.frames]
    corrections, notes = clock_corrections(
        times,
        clocks,
        features,
        zoned=clocks_of_most(sequence.frames, records_zone),
        located=clocks_of_most(sequence.frames, lambda frame: frame.location is not None),
    )
    if not corrections:
        return sequence.frames, ()
    moved = [shifted(frame, corrections.get(frame.clock, 0.0)) for frame in sequence.frames]
    return tuple(sorted_by_time(moved)), notes
