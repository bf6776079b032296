"""Noise, in a sequence or within events: frames in random order, autocorrelated, random walks."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator

import numpy as np

from dayline.arrays import Array, FloatArray, IntArray, row_blocks, to_numpy, unit_rows
from dayline.method.denoise import ScaledRows

N_DIRECTIONS, N_VALUES = 32, 2**17
"""Least number of directions in which noise is judged, and of values: few frames need more."""

LAGS = (1, 2, 3, 4, 8, 16)
"""Distances of the frames that are compared."""

ORDERED, NOISY = 4.0, 2.75
"""Standard deviations above which frames are not in random order, and below which frames within
events are."""

MOST_COEFFICIENT = 0.95
"""Highest coefficient of autocorrelated noise: above it frames wander so far that they pass for
events. A random walk has 1."""

UNEVEN, LONG = 1.3, 5.0
"""Mean square of squared lengths, over that of Gaussian noise, above which some innovations
stand out, and standard deviations above which a single one does: more than any of thousands in
noise. Clean events that begin at random times have the covariances of autocorrelated noise, but
only their first frames are new."""

LEAST_WHITE, LEAST_WALK, LEAST_AUTOCORRELATED, LEAST_WITHIN = 128, 256, 300, 1000
"""Frames, or steps, of a shorter sequence are too few to call what remains within its events
noise, all of it a random walk or autocorrelated noise, and what remains within events
autocorrelated noise: short events look alike."""

MOST_DIRECTIONS = 64
"""Directions of a walk that count. Standardized, columns that happen to wander less weigh more.
This lowers ratios by up to a third of their standard deviation in one direction; four standard
deviations in 64 of them are half of it."""

SHORT, FRAMES_PER_CANDIDATE = 16, 50
"""Mean length of events in which the order of frames can still be judged. Noise of full height
has a candidate for every few frames, certainly for every fifty."""

N_STRETCHES, STRETCH = 8, 512
"""Stretches of a long sequence in which noise within events is judged, and their frames. Events
that follow noise leave traces of order, which more frames would show."""

BESIDE = 2
"""Frames on either side of a boundary that may belong to the other event."""


def in_few_directions(x: Array | ScaledRows) -> FloatArray:
    """Return standardized features in fewer directions if they have many: noise stays noise.

    Few frames span no more directions than there are of them; many are judged in random ones.
    """
    n, n_columns = x.shape
    n_directions = max(N_DIRECTIONS, N_VALUES // n)
    # Rows may be computed as they are needed.
    blocks = (to_numpy(x[block]).astype(np.float32) for block in row_blocks(x, at_least=128))
    if n_columns <= n_directions:
        return np.concatenate(list(blocks))
    if n <= n_directions:
        # All products of frames stay as they are, and so does the memory, however wide frames are.
        return np.asarray(np.linalg.qr(np.concatenate(list(blocks)).T, mode="r")).T
    directions = np.empty((n_columns, n_directions), dtype=np.float32)
    # In the order of the values of the first frames, so that the order of the columns does not
    # matter.
    order = np.lexsort(to_numpy(x[0:2]).astype(np.float64)[::-1])
    random = np.random.default_rng(0)
    for block in row_blocks(directions):
        some = directions[block]
        directions[order[block]] = random.choice([-1.0, 1.0], size=some.shape)
    return np.concatenate([rows @ directions for rows in blocks])


def why_no_events(x: FloatArray) -> str:
    """Return why the frames, in few directions, have no events: all of them are noise.

    Empty if they are not.
    """
    rows, event = x - x.mean(axis=0), np.zeros(len(x), dtype=np.int64)
    if not rows.any():
        return "all frames are equal"
    if _is_in_random_order(rows, event, ORDERED):
        return "neighboring frames are hardly more alike than others, over all columns"
    if len(rows) >= LEAST_AUTOCORRELATED and _is_autoregression(rows, event, ORDERED):
        return "the frames are autocorrelated noise"
    if _is_random_walk(rows):
        return "the frames wander like a random walk"
    return ""


def n_above_noise(x: FloatArray, boundaries: IntArray, log_heights: FloatArray) -> int:
    """Return how many of the candidates, the highest first, stand out from noise.

    `x` is in few directions.

    These are the fewest after which frames within events are in random order, and those after them
    that are clearly higher than the rest. The others would split noise, which has a bulk of
    candidates that could pass for boundaries beside a few clear ones. Recordings are hardly ever
    noise, however finely they are split; then all boundaries count.
    """
    n = len(boundaries)
    # If noise were as high as the candidates, there would be many beyond those that count.
    most = min(n - int(np.ceil(len(x) / FRAMES_PER_CANDIDATE)), len(x) // SHORT)
    frames, ends = np.arange(len(x)), np.zeros(0, dtype=np.int64)
    if len(x) > N_STRETCHES * STRETCH:
        starts = np.linspace(0, len(x) - STRETCH, N_STRETCHES).astype(np.int64)
        frames = np.add.outer(starts, np.arange(STRETCH)).ravel()
        ends = STRETCH * np.arange(1, N_STRETCHES)
    sample = x[frames]

    def is_noise(k: int, limit: float = NOISY) -> bool:
        """Return whether frames within events are in random order or an autoregression."""
        rows, event = _within(sample, np.append(ends, np.searchsorted(frames, boundaries[:k])))
        # Events that follow noise too closely leave frames that are less alike than in random
        # order.
        if _is_in_random_order(rows, event, limit, upwards_only=True):
            return True
        return len(x) >= LEAST_WITHIN and _is_autoregression(rows, event, limit)

    # Recordings are told from noise at once, by order that remains within the shortest events.
    if len(x) < LEAST_WHITE or most < 0 or not is_noise(most, ORDERED):
        return n
    doubled = [0, *(2**k for k in range(most.bit_length()))]
    noise = next((k for k in doubled if is_noise(k)), None)
    if noise is None:
        return n
    noise = bisect_left(range(noise), True, lo=min(noise, noise // 2 + 1), key=is_noise)
    rest = log_heights[noise:]
    usual = float(np.median(rest))
    spread = 1.4826 * float(np.median(np.abs(rest - usual)))
    # The highest of so many Gaussian numbers.
    clear = usual + np.sqrt(2.0 * np.log(len(rest))) * spread
    return noise + int(np.sum(rest > clear))


def _within(x: FloatArray, boundaries: IntArray) -> tuple[FloatArray, IntArray]:
    """Return frames without the mean of their event, and the event of each.

    Those beside a boundary are left out.
    """
    kept = np.setdiff1d(np.arange(len(x)), boundaries[:, None] + np.arange(-BESIDE, BESIDE))
    event = np.searchsorted(np.sort(boundaries), kept, side="right")
    return _without_means(x[kept], event), event


def _without_means(rows: FloatArray, event: IntArray) -> FloatArray:
    _, first, lengths = np.unique(event, return_index=True, return_counts=True)
    means = np.add.reduceat(rows, first, axis=0) / lengths[:, None].astype(rows.dtype)
    return np.asarray(rows - np.repeat(means, lengths, axis=0))


def _is_in_random_order(
    rows: FloatArray, event: IntArray, most: float, *, upwards_only: bool = False
) -> bool:
    """Return whether frames of an event are as alike at every lag as in random order."""
    n = len(rows)
    # Products show what is rare, cosines do not depend on outliers.
    for values in (rows, unit_rows(rows)):
        squares = _products(values, values).astype(np.float64)
        gram = values @ values.T if n <= values.shape[1] else values.T @ values
        # Mean square of the products of all pairs of different frames.
        variance = float(np.sum(gram * gram, dtype=np.float64) - squares @ squares) / (
            n * max(n - 1, 1)
        )
        for excess, n_pairs in _excess(values, event, (lag for lag in LAGS if lag < n)):
            deviation = excess / np.sqrt(n_pairs * max(variance, 1e-300))
            if (deviation if upwards_only else abs(deviation)) >= most:
                return False
    return True


def _is_autoregression(rows: FloatArray, event: IntArray, most: float) -> bool:
    """Return whether x[t] = a x[t-1] + innovations in random order of which none stands out."""
    # The covariances at lags 0, 1 and 2 are then c, a c and a^2 c. The innovations of successive
    # frames are unrelated if c1 - a (c0 + c2) + a^2 c1 = 0.
    c0, c1, c2 = (excess / n_pairs for excess, n_pairs in _excess(rows, event, (0, 1, 2)))
    half = max((c0 + c2) / (2 * c1), 1.0) if c1 > 0 else 1.0
    coefficient = half - np.sqrt(half**2 - 1.0)
    if coefficient > MOST_COEFFICIENT:
        return False
    follows = event[1:] == event[:-1]
    event = event[1:][follows]
    new = _without_means((rows[1:] - coefficient * rows[:-1])[follows], event)
    return _is_in_random_order(new, event, most) and not _is_uneven(new)


def _is_random_walk(rows: FloatArray) -> bool:
    """Return whether frames wander as far as unrelated steps take them, and no step stands out.

    The variance ratio of Lo and MacKinlay (1988): in a walk, the mean squared distance of frames
    grows in proportion to the time between them, for 2, 4, 8, ... frames, up to an eighth of the
    sequence. Within an event frames return to what they show; at a hard cut a step stands out.
    Every recording of the development sets differs from a walk in one way or the other. A walk with
    a few huge steps passes for a recording with cuts, and a short recording that is averaged over a
    moving window may pass for a walk.
    """
    n = len(rows) - 1
    if n < LEAST_WALK:
        return False
    # Without the drift of the sequence.
    rows = rows - np.linspace(0.0, 1.0, n + 1, dtype=rows.dtype)[:, None] * (rows[-1] - rows[0])
    steps = np.diff(rows, axis=0)
    square, n_directions = _mean_square(steps), min(_n_directions(steps), MOST_DIRECTIONS)

    def is_as_far(lag: int) -> bool:
        # Without drift, frames come nearer to each other.
        ratio = _mean_square(rows[lag:] - rows[:-lag]) / (lag * square * (1.0 - lag / n))
        deviation = np.sqrt(2 * (2 * lag - 1) * (lag - 1) / (3 * lag * n * n_directions))
        return bool(abs(ratio - 1.0) <= ORDERED * deviation)

    return all(is_as_far(2**k) for k in range(1, (n // 8).bit_length())) and not _is_uneven(steps)


def _is_uneven(rows: FloatArray) -> bool:
    """Return whether some rows are longer than Gaussian ones of the same covariance would be."""
    relative = _products(rows, rows) / _mean_square(rows)
    # Their cube roots are nearly Gaussian (E. B. Wilson and M. M. Hilferty, 1931).
    variance = 2.0 / (9.0 * _n_directions(rows))
    longest = (float(np.max(relative)) ** (1 / 3) - 1.0 + variance) / np.sqrt(variance)
    return bool(longest > LONG or np.mean(relative**2) > UNEVEN * (1.0 + 9.0 * variance))


def _n_directions(rows: FloatArray) -> float:
    """Return how many directions of equal variance would have the covariance of the rows."""
    covariance = rows.T @ rows
    return max(
        1.0, float(np.trace(covariance)) ** 2 / max(float(np.sum(covariance * covariance)), 1e-300)
    )


def _excess(rows: FloatArray, event: IntArray, lags: Iterable[int]) -> Iterator[tuple[float, int]]:
    """Yield by how much products at each lag exceed those of any two frames, and how many pairs."""
    _, first, lengths = np.unique(event, return_index=True, return_counts=True)
    sums, own = np.add.reduceat(rows, first, axis=0), np.add.reduceat(_products(rows, rows), first)
    usual = np.repeat(
        (_products(sums, sums) - own) / np.maximum(lengths * (lengths - 1), 1), lengths
    )
    for lag in lags:
        n = len(rows) - lag
        pairs = event[lag:] == event[:n]
        yield (
            float(np.sum((_products(rows[:n], rows[lag:]) - usual[:n])[pairs])),
            max(int(pairs.sum()), 1),
        )


def _products(a: FloatArray, b: FloatArray) -> FloatArray:
    return np.asarray(np.einsum("ij,ij->i", a, b))


def _mean_square(rows: FloatArray) -> float:
    return max(float(np.mean(_products(rows, rows))), 1e-300)
