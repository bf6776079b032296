"""Methods that find boundaries without knowing their number, and their scores (EDUB-Seg and ablation tables)."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from dayline.arrays import FloatArray, IntArray
from dayline.baselines import catalogue
from dayline.datasets.edub_seg import find_days, load_days
from dayline.datasets.folders import load_group
from dayline.datasets.sequence import LabelledSequence
from dayline.metrics import score_boundaries
from dayline.reproduce.tasks import Figures, Measured, Task

__all__ = [
    "ALWAYS",
    "BASELINES",
    "COLUMNS",
    "CONTROLS",
    "VARIANTS",
    "Finder",
    "find_sequences",
    "make_tasks",
    "measure_boundaries",
    "score_found",
    "variant_finder",
]

Finder: TypeAlias = Callable[[LabelledSequence, int], IntArray]
"""Takes a sequence and a seed."""
COLUMNS = ("F 5", "R 5", "P 5", "F 4", "F 3", "F 2", "F 1", "interior F 5", "found / true")
VARIANTS = ("paper()", "authors()", "hybrid", "default")
HYBRID: dict[str, Any] = {"start": "pca", "gradient": "full", "n_loop_steps": 150, "embedding_bandwidth": 0.3}


def score_found(found: IntArray, sequence: LabelledSequence) -> Figures:
    """Score boundaries as the papers do (F, R and P at tolerances 1 to 5) and strictly inside (interior F)."""
    figures: Figures = {}
    n, true = sequence.n_frames, sequence.boundaries
    for tolerance in (5, 4, 3, 2, 1):
        score = score_boundaries(found, true, tolerance=tolerance, protocol="ces", n_frames=n)
        figures |= {f"F {tolerance}": score.f1, f"R {tolerance}": score.recall, f"P {tolerance}": score.precision}
    figures["interior F 5"] = score_boundaries(found, true, tolerance=5, n_frames=n).f1
    figures["found / true"] = len(found) / max(len(true), 1)
    return figures


def measure_boundaries(row: str, find: Finder, sequence: LabelledSequence, *, seeds: Sequence[int]) -> Measured:
    """Score what a method finds, for every seed."""
    return {row: [score_found(find(sequence, seed), sequence) for seed in seeds]}


def make_tasks(
    finders: Mapping[str, Finder], sequences: Sequence[LabelledSequence], *, seeds: Sequence[int]
) -> list[Task]:
    """Pair every method with every sequence; only methods of `SEEDED` are run for more than one seed."""
    return [
        Task(
            s.group,
            s.name,
            name,
            partial(measure_boundaries, name, find, s, seeds=seeds if name in SEEDED else [0]),
            s.digest,
        )
        for name, find in finders.items()
        for s in sequences
    ]


def find_sequences(
    root: str | Path, *, group: str, folder: str, only: Sequence[str] | None, most: int | None
) -> list[LabelledSequence]:
    """Read the sequences of a table, or of the named groups; raise ValueError if there are none.

    Days with only photos have no features yet.
    """
    root = Path(root)
    if not root.is_dir():
        raise ValueError(f"{root}: no such folder; pass the folder with the data sets (--root)")
    if only is not None:
        groups = {name: load_group(root, name, most=most) for name in only}
        empty = [name for name, some in groups.items() if not some]
        if empty:
            raise ValueError(f"{root}: has no group {empty[0]} ({empty[0]}/*.npz, or dev/{empty[0]}/*.npz)")
        return [s for some in groups.values() for s in some]
    own = root if root.resolve().name == folder else root / folder
    if not find_days(own):
        raise ValueError(f"{root}: {folder} not found (see `dayline datasets`); --only GROUP runs on other features")
    return load_days(own, group=group, most=most)


def _features(sequence: LabelledSequence) -> FloatArray:
    if sequence.features is None:
        raise ValueError("features are needed")
    return sequence.features


def _by_variant(sequence: LabelledSequence, _: int, *, variant: str, changes: Mapping[str, Any]) -> IntArray:
    from dayline.estimators import DynamicGraphEmbedding, EventSegmenter

    if variant == "default":
        segmenter = EventSegmenter(DynamicGraphEmbedding().set_params(**changes))
    elif variant == "paper()":
        segmenter = EventSegmenter.paper(**changes)
    else:
        segmenter = EventSegmenter.authors(**(HYBRID if variant == "hybrid" else {}), **changes)
    return np.asarray(segmenter.fit(_features(sequence)).boundaries_)


def variant_finder(variant: str, **changes: Any) -> Finder:
    """Return a finder that follows one of `VARIANTS` with some parameters changed."""
    return partial(_by_variant, variant=variant, changes=changes)


def _baseline(sequence: LabelledSequence, seed: int, *, entry: catalogue.BaselineEntry) -> IntArray:
    baseline = catalogue.make_baseline(entry.name)
    if entry.is_seeded:
        baseline.set_params(random_state=seed)
    return np.asarray(baseline.fit(_features(sequence)).boundaries_)


def _equal_pieces(sequence: LabelledSequence, _: int) -> IntArray:
    from dayline.baselines.controls import equal_pieces

    return equal_pieces(sequence.n_frames, len(sequence.boundaries) + 1)


def _random_cuts(sequence: LabelledSequence, seed: int) -> IntArray:
    from dayline.baselines.controls import random_cuts

    return random_cuts(sequence.n_frames, len(sequence.boundaries) + 1, random_state=seed)


def _on_noise(sequence: LabelledSequence, seed: int) -> IntArray:
    from dayline.estimators import EventSegmenter

    generator = np.random.default_rng([seed, zlib.crc32(f"{sequence.group} {sequence.name}".encode())])
    noise = generator.normal(size=_features(sequence).shape)
    return np.asarray(EventSegmenter.authors().fit(noise).boundaries_)


def _nothing(sequence: LabelledSequence, _: int) -> IntArray:
    from dayline.baselines.controls import no_boundaries

    return no_boundaries(sequence.n_frames)


_ENTRIES = [entry for entry in catalogue.BASELINES.values() if entry.boundary_row]
BASELINES: dict[str, Finder] = {entry.boundary_row: partial(_baseline, entry=entry) for entry in _ENTRIES}
CONTROLS: dict[str, Finder] = {
    "equal pieces (true number)": _equal_pieces,
    "random cuts (true number)": _random_cuts,
    "authors() on white noise": _on_noise,
    "no boundary at all": _nothing,
}
ALWAYS = ("equal pieces (true number)", "random cuts (true number)", "no boundary at all")
"""Controls measured with any choice of methods; the one on noise is not, because it is slow."""
SEEDED = {
    "random cuts (true number)",
    "authors() on white noise",
    *(entry.boundary_row for entry in _ENTRIES if entry.is_seeded),
}
"""Methods that depend on the seed; the variants of DGE keep the published seed of their communities."""
