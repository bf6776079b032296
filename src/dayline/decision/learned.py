"""Learn from labeled recordings which boundaries people mark in a kind of recording, and how many.

`benchmarks/accuracy/learn.py` measures it and writes learned_prior.json; docs/how-to/teach.md shows
it.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, Self

import numpy as np

from dayline.arrays import FloatArray, IntArray
from dayline.decision.candidates import BESIDE, COLUMNS, MOST, Candidates
from dayline.decision.evidence import NOISE, Evidence
from dayline.decision.model import expected_f1
from dayline.files import UnreadableFileError, check_against, read_json, write_text_whole
from dayline.text import clean_text, counted

FORMAT, VERSION = "dayline-learned", 1

STAYS = 0.2
"""Expected F1 that it costs to have nothing in common with what the default decides."""

CHANCE = 0.05
"""Share of other offsets at which the boundaries of an example may match as well as where they are.
If they do at more, they are wrong, or have nothing to do with the frames."""

BESIDE_TOLERANCES = 3
"""Tolerances within which no offset may match better than those up to one tolerance. If one does,
the boundaries were marked too early or too late."""

FEATURE_SPREAD, LARGE_SPREAD = 0.7, 2.8
"""Standard deviation of what all features together add to the log odds, before any example; and
where a few features tell nearly everything, as a sensor of a door may."""

CLEARLY = 3.0
"""Nats by which the boundaries of the examples must be more likely with the large spread."""

FOUND, KNOWN = 0.8, 10
"""Share of the boundaries near a candidate in known kinds; it counts as much as so many boundaries
of the examples."""

MOST_COLUMNS, MOST_NUMBER, MOST_RECORDINGS = 100_000, 1e6, 10**9
"""Of a file that somebody else wrote."""

MOST_FINER, LEAST_FOUND = 64.0, 0.01
"""Times as many events, or as few; and share of the boundaries near a candidate."""

_NUMBERS = {"type": "array", "items": {"type": "number"}, "maxItems": MOST_COLUMNS}
_COUNT = {"type": "integer", "minimum": 0, "maximum": MOST_RECORDINGS}
SCHEMA: dict[str, Any] = {
    "type": "object",
    "required": [
        "name",
        "n_recordings",
        "n_boundaries",
        "finer",
        "found",
        "weights",
        "change",
        "level",
    ],
    "properties": {
        "name": {"type": "string"},
        "n_recordings": _COUNT,
        "n_boundaries": _COUNT,
        "finer": {"type": "number", "minimum": 1 / MOST_FINER, "maximum": MOST_FINER},
        "found": {"type": "number", "minimum": LEAST_FOUND, "maximum": 1},
        "weights": _NUMBERS,
        "change": _NUMBERS,
        "level": _NUMBERS,
    },
}


@dataclass(frozen=True, kw_only=True)
class Learned:
    """What was learned from labeled recordings of one kind.

    Attributes
    ----------
    name : str
        The kind of recording.
    n_recordings, n_boundaries : int
        What it was learned from.
    finer : float
        How many times as many events people marked as the default finds. If there are no weights,
        this alone is what was learned.
    found : float
        Share of the boundaries that are near a candidate; others cannot be found, but count.
    weights : tuple of float
        The log odds of a boundary are the sum of these times `dayline.decision.candidates.COLUMNS`,
        plus the last one; empty if nothing but `finer` is known.
    change, level : tuple of float
        The same for the change of each standardized feature, and for its level around the boundary;
        empty if the features are not the same in all recordings.
    """

    name: str = ""
    n_recordings: int = 0
    n_boundaries: int = 0
    finer: float = 1.0
    found: float = 1.0
    weights: tuple[float, ...] = ()
    change: tuple[float, ...] = ()
    level: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        """Raise ValueError if a number is impossible, or one is missing."""
        numbers = np.asarray([self.finer, *self.weights, *self.change, *self.level])
        if not (np.isfinite(numbers).all() and np.abs(numbers).max() <= MOST_NUMBER):
            raise ValueError("what was learned must be finite numbers up to a million")
        if not 1 / MOST_FINER <= self.finer <= MOST_FINER:
            raise ValueError(f"finer={self.finer:g} is not between 1/64 and 64")
        if not LEAST_FOUND <= self.found <= 1:
            raise ValueError(f"found={self.found:g} is not between {LEAST_FOUND} and 1")
        if len(self.weights) not in (0, len(COLUMNS) + 1):
            raise ValueError(
                f"{len(self.weights)} weights; there must be {len(COLUMNS) + 1}, or none"
            )
        if len(self.change) != len(self.level) or (self.change and not self.weights):
            raise ValueError("change and level must have one weight for each feature, or none")

    def __str__(self) -> str:
        """Say what was learned, in words."""
        times = max(self.finer, 1 / self.finer)
        if times < 1.15:
            finer = "events are about as fine as the default would cut"
        else:
            way = "finer" if self.finer > 1 else "coarser"
            finer = f"events are {times:.1f} times {way} than the default would cut"
        if not self.n_recordings:
            return finer
        examples = counted(self.n_recordings, "recording")
        return f"{finer} ({examples}, {counted(self.n_boundaries, 'boundary', 'boundaries')})"

    def save(self, path: str | Path) -> None:
        """Write it as a small JSON file, whole or not at all."""
        content = {"format": FORMAT, "version": VERSION, **vars(self)}
        lines = (f'  "{name}": {json.dumps(value)}' for name, value in content.items())
        write_text_whole(path, "{\n" + ",\n".join(lines) + "\n}\n")

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read what `save` wrote; raise ValueError if the file is something else."""
        path = Path(path)
        try:
            content = read_json(
                path, kind="a file of what was learned", form=FORMAT, version=VERSION
            )
            if content is None:
                raise ValueError("no such file")
            check_against(SCHEMA, content)
            own = {name: content[name] for name in SCHEMA["properties"]}
            name = clean_text(own.pop("name"))[:100]
            lists = {k: tuple(map(float, v)) for k, v in own.items() if isinstance(v, list)}
            return cls(name=name, **{**own, **lists})
        except (ValueError, OverflowError) as error:
            raise UnreadableFileError(f"{path}: {error}") from None


NOTHING = Learned()
"""Changes nothing."""


@dataclass(frozen=True, eq=False)
class Prior:
    """What the weights of a kind are like: their mean and spread over known kinds."""

    mean: FloatArray
    spread: FloatArray


@cache
def load_prior() -> Prior:
    """Read learned_prior.json."""
    text = files("dayline.decision").joinpath("learned_prior.json").read_text(encoding="utf-8")
    content = json.loads(text)
    return Prior(np.asarray(content["mean"]), np.asarray(content["spread"]))


@cache
def load_kinds() -> dict[str, Learned]:
    """Read kinds.json: what labeled recordings of some known kinds teach."""
    content = json.loads(files("dayline.decision").joinpath("kinds.json").read_text("utf-8"))
    return {
        name: Learned(name=name, **{**about, "weights": tuple(about["weights"])})
        for name, about in content.items()
    }


@dataclass(frozen=True, eq=False)
class Example:
    """A labeled recording: its candidates, the true boundaries, and frames they may be off."""

    candidates: Candidates
    true: IntArray
    tolerance: int = 5

    @property
    def right(self) -> FloatArray:
        """1 for candidates that match a true boundary, else 0."""
        found = self.candidates.boundaries
        right, used = np.zeros(len(found)), set[int]()
        apart = np.abs(self.true[:, None] - found)
        near = np.nonzero(apart <= self.tolerance)
        # The closest pairs, each boundary once.
        for at in np.argsort(apart[near], kind="stable").tolist():
            i, j = int(near[0][at]), int(near[1][at])
            if i not in used and not right[j]:
                used.add(i)
                right[j] = 1.0
        return right

    def is_credible(self, prior: Prior) -> bool:
        """Whether the boundaries match the candidates better where they are than elsewhere.

        Neither many other offsets may match as well, nor one nearby better.
        """
        n, tolerance = self.candidates.n_frames, self.tolerance
        if len(self.true) == 0:
            return True
        if len(self.candidates.boundaries) == 0:
            return False
        from scipy.ndimage import maximum_filter1d

        chances = np.zeros(n)
        chances[self.candidates.boundaries] = _logistic(
            _design(self.candidates) @ prior.mean + _noise(self.candidates)
        )
        chances = maximum_filter1d(chances, 2 * tolerance + 1)
        marked = np.zeros(n)
        marked[self.true] = 1.0
        # How well they match if all are moved by the same number of frames, around the ends. Moved
        # onto each other, as regular ones are by their period, they are where they were.
        matches = _moved(chances, marked)
        onto = _moved(maximum_filter1d(marked, 2 * tolerance + 1), marked)
        is_elsewhere = onto < 0.5 * len(self.true)
        if not is_elsewhere.any():
            return False

        offsets = np.minimum(np.arange(n), n - np.arange(n))
        is_here = offsets <= tolerance
        is_beside = is_elsewhere & ~is_here & (offsets <= BESIDE_TOLERANCES * tolerance)
        beside = float(np.max(matches[is_beside], initial=-np.inf))
        as_well = float(np.mean(matches[is_elsewhere] >= matches[0] - 1e-9))
        return as_well < CHANCE and beside <= matches[is_here].max() + 1e-9


def learn_from(
    examples: Sequence[Example], *, name: str = "", prior: Prior | None = None
) -> tuple[Learned, tuple[int, ...]]:
    """Learn from labeled recordings; also return which of them are not credible.

    What the examples do not say is as in known kinds: a logistic regression with a Gaussian prior.
    """
    prior = prior or load_prior()
    incredible = tuple(k for k, one in enumerate(examples) if not one.is_credible(prior))
    kept = [one for k, one in enumerate(examples) if k not in incredible]
    n_candidates = sum(len(one.candidates.boundaries) for one in kept)
    if not n_candidates:
        return replace(NOTHING, name=name), incredible

    rows = np.concatenate([_design(one.candidates) for one in kept])
    right = np.concatenate([one.right for one in kept])
    weights = _fit(rows, right, np.zeros(len(right)), prior.mean, np.diag(prior.spread**-2.0))

    change: FloatArray = np.zeros(0)
    level: FloatArray = np.zeros(0)
    if len({one.candidates.change.shape[1] for one in kept}) == 1:
        features = np.concatenate(
            [np.hstack([one.candidates.change, one.candidates.level]) for one in kept]
        )
        mean, spread = features.mean(axis=0), features.std(axis=0) + 1e-6
        n = len(mean)
        # Weights outside the span of the examples stay 0: there may be thousands of features.
        u, s, vt = np.linalg.svd((features - mean) / spread, full_matrices=False)
        own = vt.T @ _fit_features(u * s, right, rows @ weights, n) / spread
        weights[-1] -= mean @ own
        change, level = own[: n // 2], own[n // 2 :]

    usual = np.asarray([one.candidates.n_usual + 1 for one in kept])
    true = np.asarray([len(one.true) + 1 for one in kept])
    finer = float(np.exp(np.mean(np.log(true / usual))))
    n_boundaries = sum(len(one.true) for one in kept)
    found = (right.sum() + FOUND * KNOWN) / (n_boundaries + KNOWN)
    return Learned(
        name=name,
        n_recordings=len(kept),
        n_boundaries=n_boundaries,
        finer=round(float(np.clip(finer, 1 / MOST_FINER, MOST_FINER)), 3),
        found=round(float(np.clip(found, LEAST_FOUND, 1.0)), 3),
        weights=_short(weights),
        change=_short(change),
        level=_short(level),
    ), incredible


def _moved(values: FloatArray, marked: FloatArray) -> FloatArray:
    """Return the sum of the values at the marks, if these are moved by 0, 1, 2, ... frames."""
    products = np.fft.rfft(values) * np.conj(np.fft.rfft(marked))
    return np.asarray(np.fft.irfft(products, len(values)))


def _short(values: FloatArray) -> tuple[float, ...]:
    return tuple(float(f"{value:.4g}") for value in values.tolist())


def _logistic(x: FloatArray) -> FloatArray:
    from scipy.special import expit

    return np.asarray(expit(x))


def _design(candidates: Candidates) -> FloatArray:
    return np.column_stack([candidates.columns, np.ones(len(candidates.columns))])


def _noise(candidates: Candidates) -> FloatArray:
    return np.where(candidates.is_clear, 0.0, NOISE)


def _fit(
    rows: FloatArray, right: FloatArray, known: FloatArray, mean: FloatArray, precision: FloatArray
) -> FloatArray:
    """Fit weights of log odds that are added to known ones, by Newton's method.

    Steps that overshoot are halved.
    """

    def cost(weights: FloatArray) -> float:
        logits = rows @ weights + known
        off = weights - mean
        return float(np.sum(np.logaddexp(0.0, logits) - right * logits) + off @ precision @ off / 2)

    weights = mean.copy()
    for _ in range(50):
        chance = _logistic(rows @ weights + known)
        gradient = rows.T @ (chance - right) + precision @ (weights - mean)
        curvature = (rows * (chance * (1.0 - chance))[:, None]).T @ rows + precision
        step = np.linalg.solve(curvature, gradient)
        before = cost(weights)
        while np.abs(step).max() > 1e-6 and cost(weights - step) > before:
            step = step / 2
        weights = weights - step
        if np.abs(step).max() <= 1e-6:
            break
    return weights


def _fit_features(
    rows: FloatArray, right: FloatArray, known: FloatArray, n_features: int
) -> FloatArray:
    """Fit small weights, or large ones if these make the examples clearly more likely."""
    n = rows.shape[1]
    found = []
    for spread, needed in ((FEATURE_SPREAD, 0.0), (LARGE_SPREAD, CLEARLY)):
        precision = n_features / spread**2
        weights = _fit(rows, right, known, np.zeros(n), precision * np.eye(n))

        # Laplace's approximation of the log of the marginal likelihood.
        logits = rows @ weights + known
        chance = _logistic(logits)
        curvature = (rows * (chance * (1.0 - chance))[:, None]).T @ rows / precision
        likely = float(np.sum(right * logits - np.logaddexp(0.0, logits)))
        likely -= (
            float(precision * weights @ weights + np.linalg.slogdet(curvature + np.eye(n))[1]) / 2
        )
        found.append((likely - needed, weights))
    small, large = found
    return large[1] if large[0] > small[0] else small[1]


def with_learned(evidence: Evidence, learned: Learned) -> Evidence:
    """Return the evidence as what was learned weighs it; required boundaries stay.

    The order of the candidates is that of their probability. The number of boundaries is that of
    highest expected F1, and something of what the default decides.
    """
    if not learned.weights:
        return replace(evidence, finer=learned.finer)
    candidates = evidence.candidates
    if candidates is None or evidence.why_one_event:
        return evidence
    n_features = candidates.change.shape[1]
    if learned.change and len(learned.change) != n_features:
        raise ValueError(
            f"{learned.name or 'what was learned'} knows {len(learned.change)} features, and here"
            f" are {n_features}; learn from recordings with the same features"
        )

    logits = _design(candidates) @ np.asarray(learned.weights)
    if learned.change:
        logits += candidates.change @ np.asarray(learned.change)
        logits += candidates.level @ np.asarray(learned.level)
    logits = np.clip(logits, -MOST_LOGIT, MOST_LOGIT)
    log_odds = _noise(candidates)
    order = np.lexsort((-logits, ~candidates.is_clear))
    order = order[_may_be(candidates, evidence)[order]]

    hierarchy, log_odds = evidence.hierarchy, log_odds[order]
    n_required = len(hierarchy.required)
    expected = expected_f1(_logistic(logits[order] + log_odds)[None, :], found=learned.found)
    shared = np.append(0, np.cumsum(order < candidates.n_usual))
    total = np.arange(len(order) + 1) + candidates.n_usual
    expected += STAYS * np.where(total > 0, 2.0 * shared / np.maximum(total, 1), 1.0)

    # Heights are log odds now; frames that are no candidates are less likely than any.
    split = float(np.log(hierarchy.penalty)) + MOST_LOGIT
    return replace(
        evidence,
        hierarchy=replace(
            hierarchy,
            boundaries=np.concatenate([np.sort(hierarchy.required), candidates.boundaries[order]]),
            log_heights=np.concatenate([np.full(n_required, np.inf), logits[order] + split]),
        ),
        split=split,
        log_odds=np.concatenate([np.zeros(n_required), log_odds]),
        agreement=np.concatenate([np.full(n_required, -np.inf), expected]),
        model=replace(
            evidence.model,
            kinds=(learned.name,),
            slopes=np.ones(1),
            intercepts=np.zeros(1),
        ),
        typical_duration=None,
        candidates=None,
        is_learned=True,
    )


MOST_LOGIT = 4.0 * MOST
"""Log odds are not above or below."""


def _may_be(candidates: Candidates, evidence: Evidence) -> np.ndarray:
    """Return which candidates are neither forbidden nor explained by required boundaries."""
    hierarchy, n = evidence.hierarchy, len(evidence.embedding)
    required, forbidden = hierarchy.required, hierarchy.forbidden
    if not len(required) and not len(forbidden):
        return np.ones(len(candidates.boundaries), dtype=bool)
    beside = np.arange(-BESIDE, BESIDE + 1)

    def near(frames: IntArray) -> np.ndarray:
        is_near = np.zeros(n, dtype=bool)
        is_near[np.clip(np.add.outer(frames, beside), 0, n - 1)] = True
        return np.asarray(is_near[candidates.boundaries])

    # With its constraints, the hierarchy has no candidate where a required boundary is enough.
    is_lower = np.arange(len(candidates.boundaries)) >= candidates.n_higher
    remains = near(hierarchy.boundaries) | is_lower
    return np.asarray(~np.isin(candidates.boundaries, forbidden) & ~near(required) & remains)
