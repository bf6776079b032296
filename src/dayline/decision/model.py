"""The decision model: how probable a boundary of a height is, and how many boundaries are worth it.

Its numbers are in model.json, which `benchmarks/accuracy/fit_decision.py` fits to recordings with
known events and writes; docs/how-it-decides.md shows the curves.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import numpy as np

from dayline.arrays import FloatArray

MOST_ADDED, FRAMES_PER_ADDED = 5, 48
"""Candidates that are added to those of a sequence before they are split: one for so many
frames, up to five."""


@dataclass(frozen=True)
class DecisionModel:
    """What was learned from recordings of many kinds whose events are known.

    Attributes
    ----------
    candidate_penalty : float
        Gain that a candidate has at least, in frames of full contrast, if frames change at once;
        see `dayline.decision.evidence.slowness`.
    cut_weight : float
        How much hard cuts raise the weight of a boundary.
    usual_split, split_counts_as : float
        The usual split of heights, and how many candidates it counts as.
    kinds, slopes, intercepts : tuple of str, and ndarrays of shape (n_kinds,)
        For each kind of recording, the log odds of a boundary are slope times strength plus
        intercept.
    shared_slope, shared_intercept : float
        The mean log odds of boundaries found are slope times the share of them that every partition
        has, plus intercept.
    """

    candidate_penalty: float
    cut_weight: float
    usual_split: float
    split_counts_as: float
    shared_slope: float
    shared_intercept: float
    kinds: tuple[str, ...]
    slopes: FloatArray
    intercepts: FloatArray

    def split(self, log_heights: FloatArray, n_frames: int, *, penalty: float) -> float:
        """Split candidates into boundaries and the rest (N. Otsu, 1979).

        The split lies halfway between two neighboring heights, where the variance between the
        classes is highest. It is the unit in which this sequence measures heights: how different
        events are, and how many frames they last, differs from recording to recording by factors of
        a hundred. With few candidates it is drawn towards the usual split. A few candidates that
        gain just the penalty are added: they are the rest if all others are boundaries.
        """
        own = float(np.log(penalty))
        added = np.full(min(MOST_ADDED, n_frames // FRAMES_PER_ADDED), own)
        # Merging can lower a candidate below its penalty, so that those added need not be the last.
        heights = np.sort(np.append(log_heights, added))[::-1]
        n = len(heights)
        # One or two candidates do not make two classes: split below them.
        if n > 2:
            first = np.arange(1, n)
            sums = np.cumsum(heights)
            apart = sums[:-1] / first - (sums[-1] - sums[:-1]) / (n - first)
            best = int(np.argmax(first * (n - first) * apart**2))
            own = float(heights[best] + heights[best + 1]) / 2
        # In a short sequence the usual split is out of reach: the best boundary gains about half of
        # all frames.
        usual = min(self.usual_split, float(np.log(n_frames / 4)))
        return (n * own + self.split_counts_as * usual) / (n + self.split_counts_as)

    def probabilities(
        self, strengths: FloatArray, *, log_odds: float | FloatArray = 0.0
    ) -> FloatArray:
        """Return the probability of every boundary for each kind, shape (n_kinds, n_boundaries).

        Strengths are logarithms of heights over the split; infinite where the boundary is required.
        """
        from scipy.special import expit

        finite = np.where(np.isposinf(strengths), 0.0, strengths)
        logits = self.slopes[:, None] * finite + self.intercepts[:, None] + log_odds
        return np.where(np.isposinf(strengths), 1.0, expit(logits))


@cache
def load_model() -> DecisionModel:
    """Read the model of the package, model.json."""
    content = json.loads(
        files("dayline.decision").joinpath("model.json").read_text(encoding="utf-8")
    )
    curves = content.pop("curves")
    slopes, intercepts = np.transpose(list(curves.values()))
    return DecisionModel(**content, kinds=tuple(curves), slopes=slopes, intercepts=intercepts)


def expected_f1(probabilities: FloatArray, *, found: float = 1.0) -> FloatArray:
    """Return the expected F1 of the first k boundaries, for k = 0 to n.

    For a recording of one kind, T boundaries are expected in all. If a boundary of probability p is
    right, 1 + T - p are, so each of k boundaries adds about 2 p / (k + 1 + T - p), here with the
    mean p of those that are right. k = 0 has the probability that there is none at all. Every kind
    counts the same.
    """
    right = np.cumsum(probabilities, axis=1)
    mean_of_right = np.cumsum(probabilities**2, axis=1) / np.maximum(right, 1e-300)
    total = 1.0 + right[:, -1:] / found - mean_of_right
    k = np.arange(1, probabilities.shape[1] + 1)
    none = np.prod(1.0 - probabilities, axis=1, keepdims=True)
    return np.asarray(np.concatenate([none, 2.0 * right / (k + total)], axis=1).mean(axis=0))
