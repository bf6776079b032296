"""Human motion (Keck, MAD, Weizmann, UT): every variant, every baseline, and the controls."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TypeAlias

import numpy as np
from sklearn.cluster import KMeans

from dayline.arrays import Array, FloatArray, IntArray
from dayline.estimators import DynamicGraphEmbedding, EventSegmenter
from dayline.events import boundaries_to_labels, labels_to_boundaries
from dayline.method.graph import (
    affinity_graph,
    normalize_columns,
    smooth_edges,
    weaken_distant_edges,
)
from dayline.metrics import (
    equal_pieces,
    hungarian_accuracy,
    random_cuts,
    score_boundaries,
    score_labels,
)
from dayline.research.baselines.catalogue import BASELINES, is_seeded, make_baseline
from dayline.research.baselines.spectral import random_walk_eigenvectors, vector_labels
from dayline.research.baselines.subspace import LowRankTransferSegmenter, code_graph
from dayline.research.datasets.annotations import LabeledSequence
from dayline.research.datasets.motion import MOTION_FOLDERS, load_motion
from dayline.research.reproduce.tables import (
    MOTION,
    Figures,
    Measured,
    Report,
    Row,
    RunOptions,
    Table,
    Task,
    choose,
    published_row,
    run_tasks,
    summarize,
)

LABEL_COLUMNS = ("ACC", "ACC majority", "ACC runs", "NMI", "NMI arithmetic", "F1")
Labeler: TypeAlias = Callable[[FloatArray, int, int], IntArray]
"""Takes features, the number of labels and a seed."""


def score_sequence(labels: IntArray, sequence: LabeledSequence) -> Figures:
    """Score labels against the classes of a sequence.

    ACC assigns groups to classes one to one (Hungarian); "majority" assigns each group to its most
    frequent class; "runs" is Hungarian after every group is split into its runs. NMI divides by the
    geometric or the arithmetic mean of the entropies. F1 is that of the boundaries inside the
    sequence.
    """
    true = np.asarray(sequence.labels)
    score = score_labels(labels, true)
    found = labels_to_boundaries(labels)
    runs = boundaries_to_labels(found, len(labels))
    return {
        "ACC": score.hungarian_accuracy,
        "ACC majority": score.majority_accuracy,
        "ACC runs": hungarian_accuracy(runs, true),
        "NMI": score.nmi_geometric,
        "NMI arithmetic": score.nmi_arithmetic,
        "F1": (
            score_boundaries(
                found, sequence.boundaries, tolerance=sequence.tolerance, n_frames=len(labels)
            ).f1
        ),
    }


def _baseline(x: FloatArray, n_labels: int, seed: int, *, name: str) -> IntArray:
    fitted = make_baseline(name, number=n_labels, seed=seed).fit(x)
    return np.asarray(getattr(fitted, BASELINES[name].labels))


_ENTRIES = [entry for entry in BASELINES.values() if entry.label_row]
LABELERS: dict[str, Labeler] = {
    "default, its own events": lambda x, n, _: EventSegmenter(n_events=n).fit_predict(x),
    **{entry.label_row: partial(_baseline, name=entry.name) for entry in _ENTRIES},
    "k-means on raw features": lambda x, n, seed: KMeans(
        n, n_init=10, random_state=seed
    ).fit_predict(x),
    "equal pieces": lambda x, n, _: boundaries_to_labels(equal_pieces(len(x), n), len(x)),
    "random cuts": lambda x, n, seed: boundaries_to_labels(
        random_cuts(len(x), n, random_state=seed), len(x)
    ),
}
SEEDED = {
    "k-means on raw features",
    "random cuts",
    *(entry.label_row for entry in _ENTRIES if is_seeded(entry.name)),
}
"""Methods that depend on the seed; the others are measured once."""

VARIANTS = (
    "paper()",
    "paper(), columns rescaled",
    "paper(), l-hat = 0.0025",
    "authors()",
    "hybrid",
    "default",
)
NOISE, SMOOTHED_NOISE = "hybrid on white noise", "white noise, smoothed 50 x 50"
MOTION_METHODS = (*VARIANTS, "LRT", *LABELERS, NOISE, SMOOTHED_NOISE)
NEVER = {
    "MTS": (
        "no program was published and its description leaves too much open; see the published row"
    ),
    "VCP": "needs a training set of many sequences of the same kind",
    "AC-color": "needs the images' colors; these sets are features only",
}
NOTES = (
    (
        "ACC: one class per group (Hungarian); majority: every group is assigned its most frequent"
        " class; runs: Hungarian after every group is split into its runs. The papers do not define"
        " ACC. The program published with LRT computes the majority (compacc.m): compare that"
        " column with the published rows."
    ),
    (
        "NMI: over the geometric mean of the entropies; F1: boundaries strictly inside, one to one,"
        " within 5 frames."
    ),
    (
        "Variants of DGE are learned once (communities with seed 0, as published); seeds affect"
        " only the final grouping, as for LRT. For TSC they also affect the dictionary. Methods"
        " without ± do not depend on a seed."
    ),
    (
        "DGE runs in single precision, in half the time: compared with double precision, the means"
        " differ about as much as the last k-means changes them."
    ),
    (
        "Every class occurs once, in one run, and runs have nearly equal lengths: compare every row"
        " with equal pieces and noise."
    ),
)


def motion_variants() -> dict[str, DynamicGraphEmbedding]:
    """Return every variant of the method, with d = 35 and p = 50, as in the motion table.

    "hybrid" is the notebook with the start, gradient, l-tilde and steps of the text; the text,
    taken literally, has l-hat = 0.0025, with which nearly all weights between frames vanish.
    """
    hybrid = DynamicGraphEmbedding.authors(start="pca", gradient="full", n_loop_steps=150)
    variants = {
        "paper()": DynamicGraphEmbedding.paper(),
        "paper(), columns rescaled": DynamicGraphEmbedding.paper(rescale_columns=True),
        "paper(), l-hat = 0.0025": DynamicGraphEmbedding.paper(feature_bandwidth=0.0025),
        "authors()": DynamicGraphEmbedding.authors(),
        "hybrid": hybrid.set_params(embedding_bandwidth=0.02 * 35),
        "default": DynamicGraphEmbedding(),
    }
    for variant in variants.values():
        variant.set_params(n_components=35, smoothing_width=50, dtype="float32")
    return variants


def measure(
    method: str, sequence: LabeledSequence, source: LabeledSequence, *, seeds: Sequence[int]
) -> Measured:
    """Score one of `MOTION_METHODS` for every seed.

    Variants are learned once, then grouped by k-means on the embedding and by normalized cuts of
    the graph. LRT transfers codes from `source`, another sequence of the set.
    """
    features, n_labels = np.asarray(sequence.features), len(np.unique(np.asarray(sequence.labels)))

    def group(vectors: FloatArray) -> list[Figures]:
        labels = (vector_labels(vectors, n_labels=n_labels, random_state=seed) for seed in seeds)
        return [score_sequence(found, sequence) for found in labels]

    def cut(graph: Array) -> list[Figures]:
        return group(random_walk_eigenvectors(graph, n_vectors=n_labels))

    if method in LABELERS:
        some = seeds if method in SEEDED else seeds[:1]
        found = [LABELERS[method](features, n_labels, seed) for seed in some]
        return {method: [score_sequence(labels, sequence) for labels in found]}
    if method == "LRT":
        fitted = LowRankTransferSegmenter(source=source.features).fit(features)
        return {method: cut(code_graph(fitted.codes_))}

    if method in (NOISE, SMOOTHED_NOISE):  # different for every sequence
        generator = np.random.default_rng(zlib.crc32(f"{sequence.group} {sequence.name}".encode()))
        features = generator.normal(size=features.shape)
    if method == SMOOTHED_NOISE:  # the graph contains nothing of the frames
        graph = normalize_columns(affinity_graph(features, bandwidth=0.0025 * features.shape[1]))
        graph = weaken_distant_edges(smooth_edges(graph, width=50), temporal_prior=0.3)
        return {method: cut(graph)}

    variant = motion_variants()["hybrid" if method == NOISE else method]
    learned = variant.fit(features)
    graph = np.asarray(learned.graph_, dtype=np.float64)
    if variant.variant != "paper":
        graph = smooth_edges(graph, width=variant.smoothing_width)
        graph = weaken_distant_edges(graph, temporal_prior=variant.temporal_prior)
    return {
        f"{method}, k-means": group(learned.embedding_),
        f"{method}, normalized cuts": cut(graph),
    }


def motion_report(root: str | Path, options: RunOptions) -> Report:
    """Measure the motion table.

    Parameters
    ----------
    root : str or Path
        Holds the data sets; see `dayline.research.datasets.motion`.
    options : RunOptions
        Methods are some of `MOTION_METHODS`; seeds are those of the groupings.
    """
    only, most = options.only, options.most
    wanted = choose(options.methods, MOTION_METHODS, what="method")
    chosen = [m for m in MOTION_METHODS if m in wanted or m in ("equal pieces", "random cuts")]
    kernels = [] if find_spec("ruptures") else [m for m in chosen if "kernel" in m]
    absent = dict.fromkeys(kernels, "needs ruptures (extra baselines)")

    # LRT uses the next person as its source, measured or not.
    sets = {g: load_motion(root, g) for g in choose(only, list(MOTION_FOLDERS), what="data set")}
    lost = [group for group, some in sets.items() if not some]
    if lost and (only is not None or len(lost) == len(sets)):
        expected = "; ".join(f"{group} in {' or '.join(MOTION_FOLDERS[group])}" for group in lost)
        raise ValueError(
            f"{root}: no data found ({expected}); give the folder that holds them (--root)"
        )

    tasks = []
    for method in chosen:
        for some in sets.values():
            for k, sequence in enumerate(some[:most]):
                if method in absent or (method == "LRT" and len(some) == 1):
                    continue
                source = some[(k + 1) % len(some)]
                data = f"{sequence.digest} {source.digest}" if method == "LRT" else sequence.digest
                run = partial(measure, method, sequence, source, seeds=range(options.n_seeds))
                tasks.append(Task(sequence.group, sequence.name, method, run, data))
    settings = {"n_seeds": options.n_seeds, "n_components": 35, "smoothing_width": 50}
    results = run_tasks(tasks, options, settings=settings)

    tables = []
    for group, some in sets.items():
        rows = [
            published_row(name, {"ACC": acc, "NMI": nmi})
            for name, (acc, nmi) in MOTION.get(group, {}).items()
        ]
        rows += summarize((r for r in results if r.group == group), columns=LABEL_COLUMNS)
        if not some:
            rows.append(
                Row("all others", {}, f"{group} not found ({' or '.join(MOTION_FOLDERS[group])})")
            )
        missing = absent | (NEVER if options.methods is None else {})
        if "LRT" in chosen and len(some) == 1:
            missing |= {"LRT": "needs a second sequence as its source"}
        rows += [Row(name, {}, why) for name, why in missing.items()]
        tables.append(Table(f"{group}, {len(some[:most])} sequences", LABEL_COLUMNS, tuple(rows)))

    seconds = {m: sum(r.cpu_seconds for r in results if r.method == m) for m in chosen}
    scope = {"n_jobs": options.n_jobs, "most": most}
    return Report("motion", tuple(tables), settings | scope, NOTES, seconds)
