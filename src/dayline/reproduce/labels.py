"""Methods that label every frame, given the number of classes, and their scores (motion table)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeAlias

import numpy as np

from dayline.arrays import FloatArray, IntArray
from dayline.baselines.catalogue import BASELINES, BaselineEntry, make_baseline
from dayline.datasets.sequence import LabelledSequence
from dayline.events import boundaries_to_labels, labels_to_boundaries
from dayline.metrics import hungarian_accuracy, score_boundaries, score_labels
from dayline.reproduce.tasks import Figures, Measured

__all__ = ["LABELLERS", "SEEDED", "LabelColumns", "measure_labels", "score_sequence"]

LabelColumns = ("ACC", "ACC majority", "ACC runs", "NMI", "NMI arithmetic", "F1")
Labeller: TypeAlias = Callable[[FloatArray, int, int], IntArray]
"""Takes features, the number of labels and a seed."""


def score_sequence(labels: IntArray, sequence: LabelledSequence) -> Figures:
    """Score labels against the classes of a sequence.

    ACC assigns groups to classes one to one (Hungarian); "majority" assigns each group to its most frequent class;
    "runs" is Hungarian after every group is split into its runs. NMI divides by the geometric or the arithmetic mean
    of the entropies. F1 is that of the boundaries inside the sequence.
    """
    true = sequence.labels
    if true is None:
        raise ValueError("the sequence has no classes")
    score = score_labels(labels, true)
    found = labels_to_boundaries(labels)
    runs = boundaries_to_labels(found, len(labels))
    return {
        "ACC": score.hungarian_accuracy,
        "ACC majority": score.majority_accuracy,
        "ACC runs": hungarian_accuracy(runs, true),
        "NMI": score.nmi_geometric,
        "NMI arithmetic": score.nmi_arithmetic,
        "F1": score_boundaries(found, sequence.boundaries, tolerance=sequence.tolerance, n_frames=len(labels)).f1,
    }


def measure_labels(method: str, sequence: LabelledSequence, *, seeds: Sequence[int]) -> Measured:
    """Score one of `LABELLERS`, for every seed if it depends on one."""
    features, true = sequence.features, sequence.labels
    if features is None or true is None:
        raise ValueError("features and classes are needed")
    label, n_labels = LABELLERS[method], len(np.unique(true))
    some = seeds if method in SEEDED else seeds[:1]
    return {method: [score_sequence(label(features, n_labels, seed), sequence) for seed in some]}


def _kmeans(x: FloatArray, n_labels: int, seed: int) -> IntArray:
    from sklearn.cluster import KMeans

    return np.asarray(KMeans(n_labels, n_init=10, random_state=seed).fit_predict(x))


def _baseline(x: FloatArray, n_labels: int, seed: int, *, entry: BaselineEntry) -> IntArray:
    baseline = make_baseline(entry.name)
    if entry.number_parameter is not None:
        baseline.set_params(**{entry.number_parameter: n_labels})
    if entry.is_seeded:
        baseline.set_params(random_state=seed)
    return np.asarray(getattr(baseline.fit(x), entry.labels))


def _default_events(x: FloatArray, n_labels: int, _: int) -> IntArray:
    from dayline.estimators import EventSegmenter

    return EventSegmenter(n_events=n_labels).fit_predict(x)


def _equal_pieces(x: FloatArray, n_labels: int, _: int) -> IntArray:
    from dayline.baselines.controls import equal_pieces

    return boundaries_to_labels(equal_pieces(len(x), n_labels), len(x))


def _random_cuts(x: FloatArray, n_labels: int, seed: int) -> IntArray:
    from dayline.baselines.controls import random_cuts

    return boundaries_to_labels(random_cuts(len(x), n_labels, random_state=seed), len(x))


_ENTRIES = [entry for entry in BASELINES.values() if entry.label_row]
LABELLERS: dict[str, Labeller] = {
    "default, its own events": _default_events,
    **{entry.label_row: partial(_baseline, entry=entry) for entry in _ENTRIES},
    "k-means on raw features": _kmeans,
    "equal pieces": _equal_pieces,
    "random cuts": _random_cuts,
}
SEEDED = {"k-means on raw features", "random cuts", *(entry.label_row for entry in _ENTRIES if entry.is_seeded)}
"""Methods that depend on the seed; the others are measured once."""
