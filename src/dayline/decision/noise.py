"""Noise: sequences that are nothing else, and the changes in it that a test can see.

A sequence is noise if its frames are in random order, once they are freed of what repeats itself: a
trend, a period, and what each frame keeps of the one before. Nothing that a test can see in such a
sequence is taken for noise: changes of level or of spread that frames in random order do not have.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from dayline.arrays import Array, FloatArray, IntArray, row_blocks, to_numpy, unit_rows
from dayline.decision.partition import running_sums
from dayline.method.denoise import ScaledRows
from dayline.method.periods import find_period, remove_period

N_DIRECTIONS, N_VALUES = 32, 2**17
"""Least number of directions in which noise is judged, and of values: few frames need more."""

LEAST_FRAMES, LEAST_AUTOCORRELATED, LEAST_KEPT = 100, 300, 0.7
"""Of fewer frames than the first, only those in random order are called noise, and of fewer than
the second only those that keep more of the frame before: short events look alike."""

LEAST_WITHIN, LEAST_AUTOCORRELATED_WITHIN, MOST_KEPT_WITHIN = 128, 1000, 0.95
"""Fewer frames are too few to call what remains within events noise, or autocorrelated noise. One
that keeps more of the frame before passes for events."""

LAGS = (1, 2, 3, 4, 8, 16, 32, 64, 128)
"""Distances of the frames that are compared: averages over a moving window are noise but for one as
long as the window."""

ORDERED, NOISY = 4.0, 2.75
"""Standard deviations above which frames are not in random order, and below which frames within
events are."""

WANDERS = 0.95
"""What each frame keeps of the one before, from which on frames wander like a random walk."""

UNEVEN, LONG = 1.3, 5.0
"""Mean square of squared lengths, over that of Gaussian noise, above which some innovations
stand out, and standard deviations above which a single one does: more than any of thousands in
noise. Clean events that begin at random times have the covariances of autocorrelated noise, but
only their first frames are new."""

SHORT, FRAMES_PER_CANDIDATE = 16, 50
"""Mean length of events in which the order of frames can still be judged. Noise of full height
has a candidate for every few frames, certainly for every fifty."""

N_STRETCHES, STRETCH = 8, 512
"""Stretches of a long sequence in which noise within events is judged, and their frames. Events
that follow noise leave traces of order, which more frames would show."""

BESIDE = 2
"""Frames on either side of a boundary that may belong to the other event."""

EXACT = 1e-3
"""Share of the frames' size below which nothing is left of them."""

MOST_LEFT = 0.99
"""Share of the variance that a trend leaves at most."""

N_PERIODIC = 8
"""Main directions in which a period is looked for."""

SHORTEST = 8
"""Frames on either side of a change that a test can see, at least."""

N_ORDERS, ABOVE_ORDERS = 39, 5.0
"""Random orders of the frames whose highest changes are compared, and standard deviations by which
a change must exceed them: one in thousands of sequences of noise does."""

KEPT = (0.0, 0.25, 0.5, 0.7, 0.85, 0.93, 0.97, 1.0)
"""What a frame may keep of the one before, where steps in autocorrelated noise are looked for."""

SURPRISE = 1.4
"""Price of a step, over that of its numbers by Schwarz' criterion: it may be anywhere."""


@dataclass(frozen=True)
class Noise:
    """What is known of frames that are noise: why they are, and the changes that a test sees."""

    why: str
    changes: IntArray


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


def find_noise(x: FloatArray) -> Noise | None:
    """Return what is known of frames, in few directions, that are noise; None if they are not."""
    none = np.zeros(0, dtype=np.int64)
    rows, event = x - x.mean(axis=0), np.zeros(len(x), dtype=np.int64)
    if not rows.any():
        return Noise("all frames are equal", none)

    found = None
    for words, before, rest, kept in _hypotheses(rows):
        if np.abs(rest).max() <= EXACT * np.abs(rows).max():
            return Noise(words, none)
        new, its = _innovations(rest, event, kept)
        if (kept > 0 and _is_uneven(new)) or not _is_in_random_order(new, its, ORDERED):
            continue

        changes = _changes(new) + len(x) - len(new)
        if len(changes) == 0:
            changes = _steps(before, kept)
        # What one kind of noise explains needs no events.
        if found is None or len(changes) == 0:
            why = f"{words}, and the rest is noise" if words else _kind(kept)
            found = Noise(why, changes)
        if len(changes) == 0:
            break
    return found


def _hypotheses(rows: FloatArray) -> Iterator[tuple[str, FloatArray, FloatArray, float]]:
    """Yield what repeats, the frames before and after it is taken out, and what each of them keeps.

    The former still have their trend, which steps may explain better.
    """
    if len(rows) < LEAST_FRAMES:
        yield "", rows, rows, 0.0
        return
    event = np.zeros(len(rows), dtype=np.int64)
    for words, before, rest in _without_what_repeats(rows):
        for kept in sorted({0.0, _kept_of_the_frame_before(rest, event), 1.0}):
            if kept == 0 or kept >= LEAST_KEPT or len(rows) >= LEAST_AUTOCORRELATED:
                yield words, before, rest, kept


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
        kept = _kept_of_the_frame_before(rows, event)
        if len(x) < LEAST_AUTOCORRELATED_WITHIN or kept > MOST_KEPT_WITHIN:
            return False
        new, event = _innovations(rows, event, kept)
        return _is_in_random_order(new, event, limit) and not _is_uneven(new)

    # Recordings are told from noise at once, by order that remains within the shortest events.
    if len(x) < LEAST_WITHIN or most < 0 or not is_noise(most, ORDERED):
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


def _kind(kept: float) -> str:
    if kept == 0:
        return "neighboring frames are hardly more alike than others, over all columns"
    if kept < WANDERS:
        return "the frames are autocorrelated noise"
    return "the frames wander like a random walk"


def _without_what_repeats(rows: FloatArray) -> Iterator[tuple[str, FloatArray, FloatArray]]:
    """Yield the frames as they are, without their trend, and without a period if they have one."""
    yield "", rows, rows
    rest = _without_trend(rows)
    if _mean_square(rest) < MOST_LEFT * _mean_square(rows):
        yield "the frames change steadily", rows, rest

    main = np.linalg.eigh(rows.T @ rows)[1][:, : -N_PERIODIC - 1 : -1]
    few = (rows @ main).astype(np.float64)
    period = find_period(few)
    if period is not None:
        once = remove_period(few, period)
        once -= once.mean(axis=0)
        yield f"the frames repeat every {period:.4g}", once, _without_trend(once)


def _without_trend(rows: FloatArray) -> FloatArray:
    time = np.linspace(-1.0, 1.0, len(rows), dtype=rows.dtype)[:, None]
    return np.asarray(rows - time * (time.T @ rows / np.sum(time * time)))


def _kept_of_the_frame_before(rows: FloatArray, event: IntArray) -> float:
    """Return a of x[t] = a x[t-1] + innovations within events, from 0 to 1."""
    # The covariances at lags 0, 1 and 2 are then c, a c and a^2 c. The innovations of successive
    # frames are unrelated if c1 - a (c0 + c2) + a^2 c1 = 0.
    c0, c1, c2 = (excess / n_pairs for excess, n_pairs in _excess(rows, event, (0, 1, 2)))
    if c1 <= 0:
        return 0.0
    half = max((c0 + c2) / (2 * c1), 1.0)
    return float(half - np.sqrt(half**2 - 1.0))


def _innovations(rows: FloatArray, event: IntArray, kept: float) -> tuple[FloatArray, IntArray]:
    """Return what is new in each frame after the first of its event, without the event's mean."""
    if kept == 0:
        return _without_means(rows, event), event
    follows = event[1:] == event[:-1]
    event = event[1:][follows]
    return _without_means((rows[1:] - kept * rows[:-1])[follows], event), event


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


def _is_uneven(rows: FloatArray) -> bool:
    """Return whether some rows are longer than Gaussian ones of the same covariance would be."""
    relative = _products(rows, rows) / _mean_square(rows)
    # Their cube roots are nearly Gaussian (E. B. Wilson and M. M. Hilferty, 1931).
    variance = 2.0 / (9.0 * _n_directions(rows))
    longest = (float(np.max(relative)) ** (1 / 3) - 1.0 + variance) / np.sqrt(variance)
    return bool(longest > LONG or np.mean(relative**2) > UNEVEN * (1.0 + 9.0 * variance))


def _changes(new: FloatArray) -> IntArray:
    """Return where the spread of innovations changes, or their level, more than by chance."""
    sizes = np.sqrt(_products(new, new))[:, None]
    of_spread = _beyond_random_orders(sizes - sizes.mean())
    # Level is judged in units of the spread around it.
    scaled = np.concatenate(
        [part / np.sqrt(_mean_square(part)) for part in np.split(new, of_spread)]
    )
    return np.union1d(of_spread, _beyond_random_orders(scaled - scaled.mean(axis=0)))


def _beyond_random_orders(rows: FloatArray) -> IntArray:
    """Return the changes of mean that are higher than those of the rows in random orders."""
    random = np.random.default_rng(0)

    def highest(order: IntArray) -> float:
        return max((float(gains.max()) for gains, _, _ in _gains(rows[order])), default=0.0)

    # Cube roots are nearly Gaussian.
    by_chance = np.cbrt([highest(random.permutation(len(rows))) for _ in range(N_ORDERS)])
    return _above(rows, float(by_chance.mean() + ABOVE_ORDERS * by_chance.std()) ** 3)


def _steps(rows: FloatArray, kept: float) -> IntArray:
    """Return the steps with which noise explains the frames better than without any.

    Autocorrelated noise explains a step as well as it explains any wandering; noise that keeps less
    of the frame before, and has the step, may explain it better. Both pay for their numbers.
    """
    n, event = len(rows), np.zeros(len(rows), dtype=np.int64)

    def innovations(of: FloatArray, share: float) -> FloatArray:
        return _innovations(of, event, share)[0]

    n_directions = _n_directions(innovations(rows, kept))
    price = SURPRISE * (n_directions + 2.0) * np.log(n)

    def misfit(new: FloatArray) -> float:
        return n * n_directions * float(np.log(_mean_square(new)))

    simpler = [rows, _without_trend(rows)]
    best, found = np.inf, np.zeros(0, dtype=np.int64)
    for share in sorted({*KEPT, kept}):
        for n_taken_out, rest in enumerate(simpler):
            without = misfit(innovations(rest, share)) + n_taken_out * price / 2.0
            if without < best:
                best, found = without, np.zeros(0, dtype=np.int64)
        new = innovations(rows, share)
        steps = _above(new, price * _mean_square(new) / n_directions / 2.0)
        parts = [part - part.mean(axis=0) for part in np.split(new, steps)]
        with_steps = misfit(np.concatenate(parts)) + price * len(steps)
        if with_steps < best:
            best, found = with_steps, np.asarray(steps + (n - len(new)))
    return found


def _gains(rows: FloatArray) -> Iterator[tuple[FloatArray, IntArray, int]]:
    """Yield gains of a change of mean between two windows, where they meet, and their length.

    Windows grow by the square root of two, and move by an eighth of their length.
    """
    sums = running_sums(rows)
    length = float(SHORTEST)
    while length <= len(rows) // 2:
        width = round(length)
        at = np.arange(width, len(rows) - width + 1, width // SHORTEST)
        change = sums[at + width] - 2 * sums[at] + sums[at - width]
        yield _products(change, change) / (2 * width), at, width
        length *= np.sqrt(2.0)


def _above(rows: FloatArray, limit: float) -> IntArray:
    """Return the changes of mean that gain more, the highest first, none in another's windows."""
    found = [
        (gains[k], at[k], width)
        for gains, at, width in _gains(rows)
        for k in np.flatnonzero(gains > limit)
    ]
    chosen: list[int] = []
    for _, at, width in sorted(found, reverse=True):
        if all(abs(at - other) >= width for other in chosen):
            chosen.append(int(at))

    # Each moves to where it splits the frames between its neighbors best.
    sums, edges = running_sums(rows), [0, *sorted(chosen), len(rows)]
    for k in range(1, len(edges) - 1):
        start, stop = edges[k - 1], edges[k + 1]
        here = np.arange(start + 2, stop - 1)
        before, after = sums[here] - sums[start], sums[stop] - sums[here]
        gains = _products(before, before) / (here - start) + _products(after, after) / (stop - here)
        edges[k] = int(here[np.argmax(gains)])
    return np.asarray(edges[1:-1], dtype=np.int64)


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
