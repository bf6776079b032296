"""Evidence for boundaries: two views of the frames, hard cuts, tests for noise and drift.

`gather_evidence` says in which order; the steps follow it in that order. `dayline.decision.model`
weighs the evidence, and `dayline.decision.decide` chooses boundaries by it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from dayline.arrays import Array, FloatArray, IntArray, row_blocks, to_numpy, unit_rows
from dayline.decision.candidates import Candidates, describe_candidates
from dayline.decision.contexts import context_scores, pick_boundaries
from dayline.decision.model import DecisionModel, expected_f1, load_model
from dayline.decision.noise import find_noise, in_few_directions, n_above_noise
from dayline.decision.partition import Hierarchy, build_hierarchy, partition, running_sums
from dayline.method.denoise import ScaledRows, spread_few_directions, standardized_rows

N_LAGS = 5
"""Lags at which frames are compared, from 0 on."""

HARD = 2.0
"""Robust standard deviations above which a jump is a hard cut: two, as usual."""

MOST_SLOWNESS = 10.0
"""Highest slowness that counts: some smooth recordings have events of only twenty frames."""

LEAST_UNITS = 24
"""Least number of frames per unit of slowness, so that a short sequence can have several events."""

SHARES = (1.0, 0.5, 0.0)
"""Exponents of the slowness: all of it counts, half of it, or none. Recordings differ in which is
right (motion capture and spectra of signals need all of it, cooking and gestures little), and the
frames do not tell."""

NOISE = -5.0
"""Added to the log odds of candidates within noise, which only finer levels have."""

NO_EVENTS = -30.0
"""Added to the log odds of all candidates of a sequence without events, which are boundaries only
if a number of events is requested."""

SEEN = 5.0
"""Added to the log weight of a change in noise that a test sees: it comes before all others."""

NEARBY, LEAST_NEARBY = 4, 0.2
"""Frames on either side of a boundary, and the share of the change between two events that happens
there, below which frames may only drift."""

LEAST_IN_QUARTERS = 2 / 3
"""The same share for the quarters of both events that meet at the boundary. It is 0.25 on a line, 1
at a step, and 0.8 if averages over a moving window blur the step over a quarter of both events."""

WINDOW = 16
"""Frames on either side that are compared for one of the answers."""

SAME = 2
"""Frames that boundaries of two answers may be apart and still agree; 1 to 8 make no difference."""

MOST_UNUSUAL = 0.5
"""Agreement that an unusual duration of events costs at most: what is clear stays."""

N_PARTITIONS = 4
"""Answers that are partitions, which come first: all but windows, which miss shorter events."""

UNLIKE = 0.35
"""Share of the boundaries in all partitions, below which a recording is unlike the known kinds. One
in ten recordings of these is below it."""


@dataclass(frozen=True)
class Evidence:
    """All that is needed to decide again without a new embedding.

    Attributes
    ----------
    embedding : ndarray of shape (n_frames, n_dims)
        The learned vector of every frame, a unit row; its main directions if nothing was learned.
    hierarchy : Hierarchy
        The candidates of `two_views`. The penalty is that of the model, times the slowness of the
        frames to the highest of `SHARES` that leaves any boundary.
    split : float
        Log height that separates boundaries from the rest in this sequence.
    log_odds : ndarray of shape (n_candidates,)
        Added to the log odds of each candidate: 0, -5 if noise has such candidates too, -30 if
        there are no events.
    answers : tuple of ndarray of int
        The boundaries that each of `find_answers` has, in order of time.
    agreement : ndarray of shape (n_candidates + 1,)
        Mean F1 of the first k candidates and each answer, for k = 0 to all of them.
    why_one_event : str
        Why no boundary is worth it, for noise and mere drift; otherwise empty.
    clock : ndarray of shape (n_frames + 1,)
        When each frame begins and the last one ends, in seconds of recording (a pause counts as ten
        long gaps at most) or, without times, in frames.
    model : DecisionModel
        What is known of other recordings.
    breaks : mapping of int to float
        Required boundaries that coarser levels may join across, each with its log weight.
    typical_duration : float or None
        Mean duration of events in recordings of this kind, in the unit of the clock.
    candidates : Candidates or None
        The candidates as `dayline.decision.learned` sees them, if they were described.
    is_learned : bool
        Whether the order, the strengths and the agreement are those that labeled recordings taught.
    finer : float
        How many times as many events as agreed on people want of this kind of recording.
    """

    embedding: FloatArray
    hierarchy: Hierarchy
    split: float
    log_odds: FloatArray
    answers: tuple[IntArray, ...]
    agreement: FloatArray
    why_one_event: str
    clock: FloatArray
    model: DecisionModel
    breaks: Mapping[int, float] = field(default_factory=dict)
    typical_duration: float | None = None
    candidates: Candidates | None = None
    is_learned: bool = False
    finer: float = 1.0

    @property
    def strengths(self) -> FloatArray:
        """Logarithm of the height of each candidate over the split."""
        return self.hierarchy.log_heights - self.split

    @property
    def agreed_number(self) -> int:
        """Number of boundaries on which the answers agree best; noise is not counted.

        A number that is unusual for this kind of recording needs more agreement, the more the
        answers differ. It costs the square of the doublings between its mean duration and the
        typical one, times the doublings between the fewest and the most events of the answers.
        """
        n_required, n_clear = len(self.hierarchy.required), int(np.sum(self.log_odds == 0))
        numbers = np.arange(n_required, max(n_required, n_clear) + 1)
        agreement = self.agreement[numbers]
        if self.typical_duration is not None and not self.why_one_event:
            durations = self.clock[-1] / (numbers + 1)
            doublings = np.log2(durations / self.typical_duration)
            found = np.log2([len(answer) + 1 for answer in self.answers])
            cost = (found.max() - found.min()) * doublings**2
            agreement = agreement - np.minimum(cost, MOST_UNUSUAL)
        agreed = int(numbers[np.argmax(agreement)])

        if self.finer == 1.0 or self.why_one_event:
            return agreed
        wanted = round((agreed + 1) * self.finer) - 1
        return min(max(wanted, n_required), len(self.hierarchy.boundaries))

    @property
    def agreed_boundaries(self) -> IntArray:
        """The boundaries of the usual level, in order of time."""
        return np.sort(self.hierarchy.boundaries[: self.agreed_number])

    @cached_property
    def shared(self) -> float:
        """Share of the boundaries agreed on that every partition has; 1 if there are none."""
        found = self.hierarchy.boundaries[len(self.hierarchy.required) : self.agreed_number]
        beside = np.arange(-SAME, SAME + 1)
        have = [np.isin(found, np.add.outer(one, beside)) for one in self.answers[:N_PARTITIONS]]
        return float(np.mean(np.all(have, axis=0))) if len(found) else 1.0

    @property
    def mean_log_odds(self) -> float:
        """Mean log odds of the boundaries agreed on, as in known kinds with the same share."""
        return self.model.shared_slope * self.shared + self.model.shared_intercept

    @property
    def why_unlike(self) -> str:
        """What is unlike the known kinds, and what follows; empty if nothing is."""
        if self.shared >= UNLIKE or self.is_learned:
            return ""
        towards = 1 / (1 + np.exp(-self.mean_log_odds))
        return (
            f"unlike most of the {len(self.model.kinds)} known kinds of recordings: four ways to"
            f" decide agree on {100 * self.shared:.0f} % of the boundaries, so confidence is drawn"
            f" towards {100 * towards:.0f} %"
        )

    @property
    def n_events_range(self) -> tuple[int, int]:
        """Fewest and most events of the answers and of the level on which they agree best."""
        if self.why_one_event:
            return (1, 1)
        numbers = [self.agreed_number, *(len(answer) for answer in self.answers)]
        return (min(numbers) + 1, max(numbers) + 1)


def gather_evidence(
    features: Array,
    directions: Array,
    embedding: FloatArray | None,
    *,
    required: IntArray,
    forbidden: IntArray,
    times: FloatArray | None,
    breaks: Sequence[int] = (),
    typical_duration: float | None = None,
    may_be_noise: bool = True,
    model: DecisionModel | None = None,
    describe: bool = False,
) -> Evidence:
    """Find the candidates of a sequence, their strengths and the answers; see `Evidence`.

    Parameters
    ----------
    features : array of shape (n_frames, n_features)
        One row per frame.
    directions : array of shape (n_frames, n_dims)
        Main directions of the denoised features.
    embedding : ndarray or None
        The learned vectors; if None, only the directions count.
    required, forbidden : ndarray of int
        Frames that must, and must not, be boundaries.
    times : ndarray or None
        Seconds, one per frame.
    breaks : sequence of int
        Those of the required boundaries that coarser levels may join across.
    typical_duration : float, optional
        See `Evidence`.
    may_be_noise : bool
        False if another test has already told the frames from noise.
    model : DecisionModel, optional
        Another model than that of the package, to compare with.
    describe : bool
        Whether to describe the candidates for `dayline.decision.learned`.
    """
    model = model or load_model()
    standardized = standardized_rows(to_numpy(features))
    main = unit_rows(to_numpy(directions).astype(np.float64))
    embedded = main if embedding is None else unit_rows(np.asarray(embedding, dtype=np.float64))
    views = main if embedding is None else two_views(embedded, main)
    n_frames = len(views)

    # Candidates, each time with another share of the slowness.
    cosines = compare_neighbors(spread_few_directions(standardized))
    log_weights = boundary_weights(cosines, model)
    few = in_few_directions(standardized)
    noise = find_noise(few) if may_be_noise else None
    if noise is not None:
        log_weights[noise.changes] += SEEN
    hierarchies = build_hierarchies(views, log_weights, slowness(cosines), model)
    finest = hierarchies[-1]

    # What noise would have, and what several ways of deciding answer.
    if noise is None:
        # Noise within events shows best among the most candidates.
        n_clear = n_above_noise(few, finest.boundaries, finest.log_heights)
        of_noise = float(np.max(finest.log_heights[n_clear:], initial=-np.inf))
        answers = find_answers(hierarchies, main, of_noise, model)
        # A share of the slowness that leaves nothing has no levels to choose from.
        at = next((k for k in range(len(SHARES)) if len(answers[k])), 0)
        why_one_event = _why_one_event(main, answers[at]) if may_be_noise else ""
    else:
        answers, at = (noise.changes,), 0
        why_one_event = "" if len(noise.changes) else noise.why

    def is_clear(found: Hierarchy) -> NDArray[np.bool_]:
        """Return which candidates noise would not have."""
        if noise is None:
            # By height: a constraint may move candidates by a frame.
            return found.log_heights > of_noise
        return log_weights[found.boundaries] >= SEEN

    # Constraints on some frames must not change how all the others are measured.
    hierarchy = hierarchies[at]
    split = model.split(hierarchy.log_heights, n_frames, penalty=hierarchy.penalty)
    candidates = None
    if describe:
        clear, clear_finest = is_clear(hierarchy), is_clear(finest)
        agreed = agreement(hierarchy.boundaries, answers, n_frames)[: int(np.sum(clear)) + 1]
        finest_split = model.split(finest.log_heights, n_frames, penalty=finest.penalty)
        candidates = describe_candidates(
            hierarchy,
            finest,
            finest.log_heights - finest_split,
            (clear, clear_finest),
            n_usual=0 if why_one_event else int(np.argmax(agreed)),
            directions=main,
            features=features,
        )

    if len(required) or len(forbidden):
        hierarchy = build_hierarchy(
            views, log_weights, penalty=hierarchy.penalty, required=required, forbidden=forbidden
        )
    log_odds = np.where(is_clear(hierarchy), 0.0, NOISE)
    if why_one_event:
        log_odds[:] = NO_EVENTS
    return Evidence(
        embedding=embedded,
        hierarchy=hierarchy,
        split=split,
        log_odds=log_odds,
        answers=answers,
        agreement=agreement(hierarchy.boundaries, answers, n_frames),
        why_one_event=why_one_event,
        clock=recording_clock(n_frames, times),
        model=model,
        breaks=break_weights(breaks, times),
        typical_duration=typical_duration,
        candidates=candidates,
    )


def two_views(embedding: FloatArray, directions: FloatArray) -> FloatArray:
    """Join the embedding and the main directions of the features, with the same weight.

    The embedding is better where events recur, the features where they do not.
    """
    return np.asarray(np.concatenate([embedding, directions], axis=1) / np.sqrt(2.0))


def compare_neighbors(x: Array | ScaledRows) -> FloatArray:
    """Return the cosine of frames t and t + lag, for lags 0 to 4, shape (5, n_frames).

    It is 0 after the last frame.
    """
    cosines = np.zeros((N_LAGS, len(x)))
    # In one pass over rows that may be computed as they are needed.
    for block in row_blocks(x):
        rows = unit_rows(
            to_numpy(x[block.start : block.stop + N_LAGS - 1]).astype(np.float64, copy=False)
        )
        for lag in range(N_LAGS):
            later = rows[lag : lag + block.stop - block.start]
            found = np.einsum("ij,ij->i", rows[: len(later)], later)
            cosines[lag, block.start : block.start + len(found)] = found
    return cosines


def boundary_weights(cosines: FloatArray, model: DecisionModel) -> FloatArray:
    """Return the log weight of a boundary at every frame: events often begin with a hard cut."""
    return np.asarray(np.log1p(model.cut_weight * hard_cuts(abruptness(cosines))))


def hard_cuts(jumps: FloatArray) -> FloatArray:
    """Return by how much a jump exceeds a hard cut, 0 to 10, where it is the highest of five."""
    from scipy.ndimage import maximum_filter1d

    # A cut shows in the jumps beside it too.
    return np.where(jumps >= maximum_filter1d(jumps, 5), np.clip(jumps - HARD, 0.0, 10.0), 0.0)


def abruptness(cosines: FloatArray) -> FloatArray:
    """Measure how much a jump stands out from those nearby, in robust deviations of the log.

    The jump is the cosine distance between the sum of two frames before t and that of two from t
    on; the usual jump is a running median over 101 frames. Cosines of neighbors are enough:
    features may have thousands of columns.
    """
    from scipy.ndimage import median_filter

    n = cosines.shape[1]
    if n < 6:
        return np.zeros(n)
    own, one, two, three, _ = np.pad(cosines, ((0, 0), (2, 2)))
    squares = own[:-1] + own[1:] + 2 * one[:-1]
    across = (one + two)[2 : n + 1] + (two + three)[1:n]
    lengths = np.sqrt(np.maximum(squares[1:n] * squares[3 : n + 2], 0.0))
    jump = 1.0 - across / np.where(lengths > 0, lengths, np.inf)
    logarithm = np.log(np.maximum(jump, 0.0) + 1e-6)
    # Odd, or the median would lean to one side.
    size = min(101, n - 1 - n % 2)
    excess = logarithm - median_filter(logarithm, size, mode="reflect")
    usual = 1.4826 * float(np.median(np.abs(excess)))
    return np.concatenate([[0.0], excess / (usual + 1e-9)])


def slowness(cosines: FloatArray) -> float:
    """Return how many times as much frames differ after four frames as after one.

    It is 1 if all that changes within events is noise, 4 for a random walk, 16 for steady motion,
    and grows with the frame rate of a recording. At most 10 is returned, and at most a 24th of the
    number of frames. The means of the lower half of the squared distances are compared, so that
    pairs of frames from different events do not count.
    """
    own, *_ = cosines
    n = len(own)
    if n < 2 * N_LAGS:
        return 1.0

    usual = []
    for lag in (1, N_LAGS - 1):
        squares = own[:-lag] + own[lag:] - 2 * cosines[lag, :-lag]
        half = n // 2 - lag
        usual.append(float(np.mean(np.partition(squares, half)[: half + 1])))
    after_one, after_four = usual
    # Equal frames differ by rounding, or by noise of a millionth.
    if after_four < 1e-9:
        return 1.0
    most = max(1.0, min(MOST_SLOWNESS, n / LEAST_UNITS))
    return float(np.clip(after_four / max(after_one, 1e-9), 1.0, most))


def build_hierarchies(
    views: FloatArray, log_weights: FloatArray, slow: float, model: DecisionModel
) -> list[Hierarchy]:
    """Find the candidates for each of `SHARES`, the fewest first.

    At a higher frame rate, the same recording has more frames to gain, from noise as well; but slow
    change may also be an event of its own.
    """
    none = np.zeros(0, dtype=np.int64)

    def build(penalty: float) -> Hierarchy:
        return build_hierarchy(views, log_weights, penalty=penalty, required=none, forbidden=none)

    highest, *between, lowest = (model.candidate_penalty * slow**share for share in SHARES)
    fewest = build(highest)
    most = fewest if lowest == highest else build(lowest)
    # What is optimal at two penalties is optimal at those between.
    if np.array_equal(fewest.boundaries, most.boundaries):
        return [fewest, *(replace(fewest, penalty=penalty) for penalty in between), most]
    return [fewest, *(build(penalty) for penalty in between), most]


def find_answers(
    hierarchies: Sequence[Hierarchy], directions: FloatArray, of_noise: float, model: DecisionModel
) -> tuple[IntArray, ...]:
    """Return the boundaries of five ways of deciding, each in order of time.

    They are those of the model for each of the hierarchies, without candidates as low as noise; the
    optimal partition of the main directions at the price of one more mean; and the peaks of the
    distance between past and future in windows.
    """
    answers = []
    for hierarchy in hierarchies:
        strengths = hierarchy.log_heights - model.split(
            hierarchy.log_heights, len(directions), penalty=hierarchy.penalty
        )
        log_odds = np.where(hierarchy.log_heights > of_noise, 0.0, NOISE)
        n_found = int(np.argmax(expected_f1(model.probabilities(strengths, log_odds=log_odds))))
        answers.append(np.sort(hierarchy.boundaries[:n_found]))

    mean = directions.mean(axis=0)
    variance = max(1.0 - float(mean @ mean), 1e-9)
    answers.append(partition(directions, penalty=0.5 * variance * np.log(max(len(directions), 2))))
    answers.append(pick_boundaries(context_scores(directions, WINDOW)))
    return tuple(answers)


def agreement(order: IntArray, answers: Sequence[IntArray], n_frames: int) -> FloatArray:
    """Return the mean F1 of the first k boundaries in order and each answer, for k = 0 to n."""
    from scipy.ndimage import maximum_filter1d, minimum_filter1d

    n = len(order)
    rank = np.full(n_frames, n)
    rank[order] = np.arange(n)
    # How many of the first boundaries it takes to have one beside each frame.
    first_beside = minimum_filter1d(rank, 2 * SAME + 1, mode="constant", cval=n)
    total = np.zeros(n + 1)
    for answer in answers:
        is_boundary = np.zeros(n_frames, dtype=bool)
        is_boundary[answer] = True
        is_beside = maximum_filter1d(is_boundary, 2 * SAME + 1, mode="constant")

        reached = np.bincount(first_beside[answer], minlength=n + 1)[:n]
        # One boundary matches one of the answer.
        matched = np.minimum(np.cumsum(reached), np.cumsum(is_beside[order]))
        total += 2.0 * np.append(0, matched) / np.maximum(np.arange(n + 1) + len(answer), 1)
        if len(answer) == 0:
            total[0] += 1.0
    return total / len(answers)


def _why_one_event(directions: FloatArray, found: IntArray) -> str:
    """Return why a recording is one event, whatever was found in it; empty if it need not be.

    It is if its frames change no more at the boundaries found than elsewhere.
    """
    nearby, in_quarters = (share_of_change(directions, found, part=part) for part in (0.0, 0.25))
    if nearby < LEAST_NEARBY and in_quarters < LEAST_IN_QUARTERS:
        return (
            "the frames change slowly all the time; if each is an average over a moving window,"
            " keep one frame in every quarter of the window"
        )
    return ""


def share_of_change(x: FloatArray, boundaries: IntArray, *, part: float) -> float:
    """Return how much of the change from event to event happens near the boundary.

    It is 1 if every event stays as it is until the next begins, near 0 if frames drift, and 1
    without boundaries. The change beside the boundary, in `part` of both events and four frames at
    least, is projected on that of the whole events, so that noise counts for neither side.
    """
    edges = np.concatenate([[0], boundaries, [len(x)]])
    sums = running_sums(x)

    def change(start: IntArray, here: IntArray, stop: IntArray) -> FloatArray:
        before = (sums[here] - sums[start]) / (here - start)[:, None]
        return np.asarray(before - (sums[stop] - sums[here]) / (stop - here)[:, None])

    start, here, stop = edges[:-2], edges[1:-1], edges[2:]
    whole = change(start, here, stop)
    before, after = (
        np.maximum(part * length, NEARBY).astype(np.int64) for length in (here - start, stop - here)
    )
    beside = change(np.maximum(start, here - before), here, np.minimum(stop, here + after))
    total = float(np.sum(whole * whole))
    return float(np.sum(beside * whole)) / total if total > 0 else 1.0


def break_weights(breaks: Sequence[int], times: FloatArray | None) -> dict[int, float]:
    """Return the log weight of each break: coarser levels join across short pauses first.

    The shortest weighs as much as any boundary, one three times as long weighs twice as much.
    """
    lengths = {b: 0.0 if times is None else float(times[b] - times[b - 1]) for b in breaks}
    shortest = min((length for length in lengths.values() if length > 0), default=1.0)
    return {
        b: float(np.log(max(1.0, np.log2(1.0 + length / shortest))))
        for b, length in lengths.items()
    }


def recording_clock(n_frames: int, times: FloatArray | None) -> FloatArray:
    """Return when each frame begins, and the last one ends; see `Evidence`."""
    if times is None or times[0] == times[-1]:
        return np.arange(n_frames + 1, dtype=np.float64)
    gaps = np.diff(times)
    usual = float(np.median(gaps[gaps > 0]))
    # A camera that was off has recorded nothing: a pause must not lengthen the events beside it.
    # Gaps after one frame in ten are not pauses but this camera's rate.
    longest = 10.0 * float(np.quantile(gaps[gaps > 0], 0.9))
    return np.concatenate([[0.0], np.cumsum(np.append(np.minimum(gaps, longest), usual))])
