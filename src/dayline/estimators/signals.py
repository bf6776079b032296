"""Signals of few columns as they come: without their period, as raw rows or as windows."""

from __future__ import annotations

from bisect import bisect, insort
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np

from dayline.arrays import FloatArray, IntArray
from dayline.decision.candidates import contrast
from dayline.decision.evidence import (
    Evidence,
    agreement,
    break_weights,
    gather_evidence,
    recording_clock,
)
from dayline.decision.model import DecisionModel
from dayline.decision.partition import build_hierarchy
from dayline.estimators.embedders import PrincipalComponents
from dayline.method.autoregression import held_out_gain, refine_boundaries
from dayline.method.denoise import standardize
from dayline.method.periods import find_period, remove_period
from dayline.method.windows import MOST_COLUMNS, Level, window_features

WINDOWS: tuple[tuple[int, Level], ...] = ((10, "mean"), (20, "mean"), (40, "slope"))
"""Rows of the windows that are tried, and what is taken of their level. Each row belongs to two
windows. A slope needs more rows than a mean."""

FEWEST_WINDOWS = 24
"""Windows that a signal has at least, or it is too short for that width."""

MOST_ROWS = 20_000
"""Rows of a longer signal are taken as they are: the choice would take longer than the fit."""

LEAST_GAIN = 8.0
"""Nats by which windows must predict better than rows, and than one event; in noise, hardly any
gain 7."""

MOST_LEFT = 0.02
"""Share of the variance that is left within events of constant level: windows are not needed."""

MOST_DEVIATIONS = 3.0
"""Values beyond count as this many deviations: a few far ones must not tell events apart."""

LEAST_REACH = 4
"""Rows that boundaries of rows move before they are judged: one that is a row off costs much."""

CONTEXT = 8
"""Windows on either side that count when a boundary is moved."""


NONE: IntArray = np.zeros(0, dtype=np.int64)


@dataclass(frozen=True, eq=False)
class SignalFeatures:
    """What to look for events in, and how its rows belong to those of the signal.

    Attributes
    ----------
    features : ndarray of shape (n_steps, n_features)
        The signal, or its windows, one for every `step` rows.
    signals : ndarray of shape (n_rows, n_columns)
        The signal without its period.
    width, step : int
        Rows of a window, and from one to the next; 1 and 1 for the signal itself.
    level : {"mean", "slope"}
        Which level a window has.
    period : float or None
        Rows of the cycle that was taken out.
    boundaries : ndarray of int
        The rows at which a quick answer has boundaries: that of the main directions alone.
    gain : float
        By how much this answer predicts rows held out better than one event, in nats, less log n
        for each boundary. Where nothing changes it is not above 0: white noise, autoregressions,
        random walks, trends and seasons have one event. Nor need it be where events have only a
        few rows.
    """

    features: FloatArray
    signals: FloatArray
    width: int = 1
    step: int = 1
    level: Level = "mean"
    period: float | None = None
    boundaries: IntArray = field(default_factory=lambda: NONE)
    gain: float = 0.0

    @property
    def window_of_row(self) -> IntArray:
        """The window that stands for each row."""
        rows = np.arange(len(self.signals)) // self.step
        return np.minimum(rows, len(self.features) - 1)

    @property
    def note(self) -> str:
        """What was done to the signal, empty if it is as it came."""
        notes = []
        if self.period is not None:
            notes.append(f"a period of {self.period:g} rows was taken out")
        if self.step > 1:
            seen = f"{'level' if self.level == 'mean' else 'slope'}, spread, differences"
            notes.append(
                f"events were found in windows of {self.width} rows ({seen}), which predict rows"
                " held out better than single rows do"
            )
        return "; ".join(notes)


def choose_signal_features(
    signals: FloatArray, *, period: float | None = None, is_complete: bool = True
) -> SignalFeatures | None:
    """Choose raw rows or windows of a signal, by how well their events predict rows held out.

    Levels show in raw rows; variance, frequency, autocorrelation and slope in windows. The
    candidates are the answers of the main directions alone (as of `EventSegmenter.fast`), so this
    costs little beside the embedding. Raw rows stay if no answer predicts better than one event.

    Parameters
    ----------
    signals : ndarray of shape (n_rows, n_columns)
        Features that were checked.
    period : float, optional
        Rows of a cycle to take out; None looks for one.
    is_complete : bool
        False if values were interpolated, which have no spread: then rows are not left.

    Returns
    -------
    SignalFeatures or None
        None for more than eight columns: those are no raw signals; and for very many rows.
    """
    if signals.shape[1] > MOST_COLUMNS or len(signals) > MOST_ROWS:
        return None
    x: FloatArray = np.asarray(signals, dtype=np.float64)
    period = find_period(x) if period is None else period
    if period is not None:
        without = remove_period(x, period)
        # Where nothing is left, the cycle itself is all that finer levels can split.
        if not np.ptp(without, axis=0).any():
            return SignalFeatures(x, x)
        x = without

    raw = SignalFeatures(x, x, period=period)
    answer = _quick_answer(raw)
    left = sum(len(part) * np.var(part, axis=0) for part in np.split(x, answer)) / len(x)
    if np.sum(left) <= MOST_LEFT * np.sum(np.var(x, axis=0)):
        return replace(raw, boundaries=answer)

    found, answers = [raw], [answer]
    for width, level in WINDOWS if is_complete else ():
        step = width // 2
        features = window_features(x, width=width, level=level)[step // 2 :: step]
        if len(features) >= FEWEST_WINDOWS:
            found.append(replace(raw, features=features, width=width, step=step, level=level))
            answers.append(_quick_answer(found[-1]))

    usual = np.clip(standardize(x), -MOST_DEVIATIONS, MOST_DEVIATIONS)
    gains = [held_out_gain(usual, one) for one in answers]
    best = int(np.argmax(gains)) if max(gains) > max(gains[0], 0.0) + LEAST_GAIN else 0
    return replace(found[best], boundaries=answers[best], gain=gains[best])


def gather_signal_evidence(
    chosen: SignalFeatures,
    directions: FloatArray,
    embedding: FloatArray | None,
    *,
    required: IntArray,
    forbidden: IntArray,
    times: FloatArray | None,
    breaks: Sequence[int] = (),
    typical_duration: float | None = None,
    model: DecisionModel | None = None,
    describe: bool = False,
) -> Evidence:
    """Do what `gather_evidence` does for a signal, from its rows or its windows.

    The directions and the embedding are those of `chosen.features`, everything else is in rows.
    Candidates of windows move to where they are most likely in the signal. Each window stands for
    as many rows as lie between it and the next, so heights and the penalty are as many times as
    large, and all probabilities stay.
    """
    gather = partial(
        gather_evidence, chosen.features, directions, embedding, model=model, describe=describe
    )
    if chosen.step == 1:
        return gather(
            required=required,
            forbidden=forbidden,
            times=times,
            breaks=breaks,
            typical_duration=typical_duration,
        )
    evidence = gather(required=NONE, forbidden=NONE, times=None, may_be_noise=False)

    n = len(chosen.signals)
    window = chosen.window_of_row
    windows, longer = evidence.hierarchy, float(np.log(chosen.step))
    n_agreed = evidence.agreed_number
    described = evidence.candidates
    found = windows.boundaries if described is None else described.boundaries
    placed = _rows_of(found, n_agreed, chosen)
    if described is not None:
        change, level = contrast(chosen.signals, placed)
        described = replace(described, boundaries=placed, change=change, level=level, n_frames=n)
    order = placed[: len(windows.boundaries)]
    row_of = dict(zip(windows.boundaries.tolist(), order.tolist(), strict=True))
    answers = tuple(
        np.unique([row_of.get(b, b * chosen.step) for b in answer.tolist()]).astype(np.int64)
        for answer in evidence.answers
    )

    log_weights = np.zeros(n)
    log_weights[order] = windows.log_weights[windows.boundaries]
    in_rows = replace(
        evidence,
        embedding=evidence.embedding[window],
        hierarchy=replace(
            windows,
            boundaries=order,
            log_heights=windows.log_heights + longer,
            x=windows.x[window],
            log_weights=log_weights,
            penalty=windows.penalty * chosen.step,
        ),
        split=evidence.split + longer,
        answers=answers,
        clock=recording_clock(n, times),
        breaks=break_weights(breaks, times),
        typical_duration=typical_duration,
        candidates=described,
    )
    if len(required) == len(forbidden) == 0:
        return in_rows
    return _constrained(in_rows, required, forbidden)


def _constrained(evidence: Evidence, required: IntArray, forbidden: IntArray) -> Evidence:
    """Return the evidence with candidates that keep to the constraints."""
    free = evidence.hierarchy
    hierarchy = build_hierarchy(
        free.x, free.log_weights, penalty=free.penalty, required=required, forbidden=forbidden
    )
    # Candidates that were as low as noise are so still.
    of_noise = float(np.max(free.log_heights[evidence.log_odds < 0], initial=-np.inf))
    least = float(np.min(evidence.log_odds, initial=0.0))
    return replace(
        evidence,
        hierarchy=hierarchy,
        log_odds=np.where(hierarchy.log_heights > of_noise, 0.0, least),
        agreement=agreement(hierarchy.boundaries, evidence.answers, len(evidence.embedding)),
    )


def _quick_answer(chosen: SignalFeatures) -> IntArray:
    """Return the boundaries on which the answers agree, whatever noise would have, in rows."""
    embedder = PrincipalComponents()
    embedder.learn(chosen.features)
    evidence = gather_evidence(
        chosen.features,
        embedder.main_directions(),
        None,
        required=NONE,
        forbidden=NONE,
        times=None,
        may_be_noise=False,
    )
    reach = max(chosen.width, LEAST_REACH)
    return refine_boundaries(chosen.signals, evidence.agreed_boundaries * chosen.step, reach=reach)


def _rows_of(boundaries: IntArray, n_agreed: int, chosen: SignalFeatures) -> IntArray:
    """Return the row of each boundary of windows, in the same order.

    Those on which the answers agree are placed first, each between its neighbors among them, and
    the others between those that are placed, the highest first.
    """
    agreed = np.sort(boundaries[:n_agreed])
    moved = refine_boundaries(chosen.signals, agreed * chosen.step, reach=chosen.width)
    row_of = dict(zip(agreed.tolist(), moved.tolist(), strict=True))

    placed = [0, *moved.tolist(), len(chosen.signals)]
    reach = CONTEXT * chosen.width
    for boundary in boundaries[n_agreed:].tolist():
        here = boundary * chosen.step
        k = bisect(placed, here)
        start, stop = max(placed[k - 1], here - reach), min(placed[k], here + reach)
        if start < here:
            part, at = chosen.signals[start:stop], np.asarray([here - start])
            here = start + int(refine_boundaries(part, at, reach=chosen.width)[0])
        # One that was placed before may have moved onto this row.
        while here == placed[k - 1]:
            here, k = here + 1, k + 1
        insort(placed, here)
        row_of[boundary] = here
    return np.asarray([row_of[b] for b in boundaries.tolist()], dtype=np.int64)
