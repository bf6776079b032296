"""Methods that label every frame when the number of classes is given, and their scores (motion table)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeAlias

import numpy as np

from dayline.arrays import FloatArray, IntArray
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

    ACC names groups one to one as well as possible (Hungarian); "majority" names each by its most frequent class;
    "runs" is Hungarian after every run of a group has become a group of its own. NMI divides by the geometric or the
    arithmetic mean of the entropies. F1 is of the boundaries inside the sequence.
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
    """Score one of `LABELLERS`, for every seed where it depends on one."""
    features, true = sequence.features, sequence.labels
    if features is None or true is None:
        raise ValueError("features and classes are needed")
    label, n_labels = LABELLERS[method], len(np.unique(true))
    some = seeds if method in SEEDED else seeds[:1]
    return {method: [score_sequence(label(features, n_labels, seed), sequence) for seed in some]}


def _kmeans(x: FloatArray, n_labels: int, seed: int) -> IntArray:
    from sklearn.cluster import KMeans

    return np.asarray(KMeans(n_labels, n_init=10, random_state=seed).fit_predict(x))


def _kmeans_smoothed(x: FloatArray, n_labels: int, seed: int) -> IntArray:
    from dayline.baselines.kmeans_smoothed import SmoothedKMeans

    return np.asarray(SmoothedKMeans(n_labels, random_state=seed).fit(x).communities_)


def _tsc(x: FloatArray, n_labels: int, seed: int) -> IntArray:
    from dayline.baselines.tsc import TemporalSubspaceSegmenter

    return np.asarray(TemporalSubspaceSegmenter(n_labels, random_state=seed).fit(x).communities_)


def _tw_finch(x: FloatArray, n_labels: int, _: int) -> IntArray:
    from dayline.baselines.tw_finch import TemporalFinch

    return np.asarray(TemporalFinch(n_labels).fit(x).communities_)


def _kts(x: FloatArray, n_labels: int, _: int) -> IntArray:
    from dayline.baselines.kts import KernelTemporalSegmenter

    return KernelTemporalSegmenter(n_labels).fit_predict(x)


def _kernel_change(x: FloatArray, n_labels: int, _: int, *, kernel: str) -> IntArray:
    from dayline.baselines.kernel_change import KernelChangeSegmenter

    return KernelChangeSegmenter(n_labels).set_params(kernel=kernel).fit_predict(x)  # type: ignore[no-any-return]


def _ces(x: FloatArray, n_labels: int, _: int) -> IntArray:
    from dayline.baselines.ces import ContextualSegmenter

    return ContextualSegmenter(n_labels).fit_predict(x)


def _window_difference(x: FloatArray, n_labels: int, _: int) -> IntArray:
    from dayline.baselines.window_difference import WindowDifferenceSegmenter

    return WindowDifferenceSegmenter(n_labels).fit_predict(x)


def _sr_clustering(x: FloatArray, n_labels: int, _: int) -> IntArray:  # noqa: ARG001 (finds its own number)
    from dayline.baselines.sr_clustering import SRClustering

    return np.asarray(SRClustering().fit_predict(x))


def _default_events(x: FloatArray, n_labels: int, _: int) -> IntArray:
    from dayline.estimators import EventSegmenter

    return EventSegmenter(n_events=n_labels).fit_predict(x)


def _equal_pieces(x: FloatArray, n_labels: int, _: int) -> IntArray:
    from dayline.baselines.controls import equal_pieces

    return boundaries_to_labels(equal_pieces(len(x), n_labels), len(x))


def _random_cuts(x: FloatArray, n_labels: int, seed: int) -> IntArray:
    from dayline.baselines.controls import random_cuts

    return boundaries_to_labels(random_cuts(len(x), n_labels, random_state=seed), len(x))


LABELLERS: dict[str, Labeller] = {
    "default, its own events": _default_events,
    "TSC": _tsc,
    "TW-FINCH": _tw_finch,
    "KTS": _kts,
    "kernel change, rbf": partial(_kernel_change, kernel="rbf"),
    "kernel change, cosine": partial(_kernel_change, kernel="cosine"),
    "CES on raw features": _ces,
    "window difference": _window_difference,
    "SR-Clustering (number not given)": _sr_clustering,
    "k-means on raw features": _kmeans,
    "k-means smoothed": _kmeans_smoothed,
    "equal pieces": _equal_pieces,
    "random cuts": _random_cuts,
}
SEEDED = {"TSC", "k-means on raw features", "k-means smoothed", "random cuts"}
"""Those that depend on the seed; the others are measured once."""
