"""The tables on EDUB-Seg and EDUB-SegDesc, the ablations and the grid of hyperparameters.

All but the first two also run on any group of features with boundaries (`only`).
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from dayline.arrays import IntArray
from dayline.baselines.context_predictor import load_predictor
from dayline.datasets.sequence import LabelledSequence
from dayline.reproduce.boundaries import (
    ALWAYS,
    BASELINES,
    COLUMNS,
    CONTROLS,
    VARIANTS,
    Finder,
    find_sequences,
    make_tasks,
    score_found,
    variant_finder,
)
from dayline.reproduce.figures import ABLATION, CORE_ABLATION, GRID, PUBLISHED_DAYS
from dayline.reproduce.pixels import FromPixels, Pixels, extract_days
from dayline.reproduce.report import Report, Row, Table, published, summarise
from dayline.reproduce.tasks import Measured, OnDone, Task, choose, run_tasks

__all__ = ["LIFELOG_TABLES", "Plan", "lifelog_report"]

NOTES = (
    "F, R and P at a tolerance of 5 to 1 frames use the papers' scorer: both ends count as found and true "
    "boundaries, so finding nothing scores well above 0. Interior F counts only boundaries strictly inside, "
    "one to one.",
    "Means over sequences; ± is the spread over seeds. Methods without ± do not depend on a seed.",
)
FROM_PIXELS = {"dayline segment": FromPixels.by_command, "AC-color": FromPixels.by_colors}
NO_PIXELS = "needs the photos; features were read from files (--model computes them from the photos instead)"
NO_NETWORK = (
    "needs a network trained on many other days; train one with dayline.baselines.context_predictor and give its "
    "file (--predictor)"
)


@dataclass(frozen=True)
class Source:
    """Where the sequences of a table come from, and how features are computed from photos."""

    root: Path
    only: Sequence[str] | None
    most: int | None
    out: Path
    model: str | None = None
    weights: Path | None = None
    predictor: Path | None = None
    methods: Sequence[str] | None = None
    on_done: OnDone | None = None

    def sequences(
        self, rows: Iterable[str], *, desc: bool = False
    ) -> tuple[list[LabelledSequence], FromPixels | None]:
        """Read the days of EDUB-Seg or EDUB-SegDesc, or the named groups; compute missing features from photos.

        Unknown methods raise ValueError first, because photos take a long time.
        """
        choose(self.methods, list(rows), what="method")
        group, folder = ("edub-seg-desc", "EDUB-SegDesc") if desc else ("edub-seg", "EDUB-Seg")
        found = find_sequences(self.root, group=group, folder=folder, only=self.only, most=self.most)
        ready = self.model is None and all(s.features is not None for s in found)
        if ready or self.only is not None:
            return found, None
        pixels = Pixels(self.model or "lite0", self.weights, self.out / "photos")
        seen, from_pixels = extract_days(found, pixels, on_done=self.on_done)
        return seen, from_pixels


@dataclass(frozen=True)
class Plan:
    """What one table measures: methods by row, published rows and sequences."""

    finders: Mapping[str, Finder]
    known: Sequence[Row]
    sequences: Sequence[LabelledSequence]
    extra: Sequence[Task] = ()
    never: Mapping[str, str] = field(default_factory=dict)
    features: str = "read from files"


def lifelog_report(
    table: str,
    root: str | Path,
    *,
    out: Path,
    n_seeds: int = 4,
    n_jobs: int = 1,
    methods: Sequence[str] | None = None,
    only: Sequence[str] | None = None,
    most: int | None = None,
    model: str | None = None,
    weights: Path | None = None,
    predictor: Path | None = None,
    on_done: OnDone | None = None,
) -> Report:
    """Measure one table, to be shown beside the published figures.

    Parameters
    ----------
    table : str
        One of `LIFELOG_TABLES`.
    root : str or Path
        Holds EDUB-Seg or EDUB-SegDesc; see `dayline.datasets.edub_seg`.
    out : Path
        Folder for the measurements.
    n_seeds, n_jobs : int
        Seeds 0, 1, ... and processes.
    methods, only : sequence of str, optional
        Rows to measure, and groups of feature files (ROOT/GROUP/*.npz) to use instead of the table's own set.
    most : int, optional
        Maximum number of sequences of each set.
    model, weights : str and Path, optional
        Model that computes features from the photos (see `dayline.features.load_extractor`). Without one, features
        are read from files or, if there are none, computed by "lite0".
    predictor : Path, optional
        A trained network for CES-VCP (.safetensors).
    on_done : callable, optional
        Called after every sequence and method.
    """
    if only is not None and (model or predictor):
        raise ValueError("model and predictor are for days of photos; groups of feature files (only) have none")
    if weights is not None and model is None:
        raise ValueError("weights need a model; say which (--model)")
    if predictor is not None:
        if not table.startswith("edub-seg"):
            raise ValueError(f"{table} has no row CES-VCP; a predictor is for edub-seg and edub-seg-desc")
        load_predictor(predictor)  # before any photo is read
    source = Source(Path(root), only, most, out, model, weights, predictor, methods, on_done)
    plan = _PLANS[table](source)
    empty = {m: why for m, why in plan.never.items() if methods is None or m in methods}
    chosen = {m: find for m, find in plan.finders.items() if methods is None or m in methods or m in ALWAYS}
    if find_spec("ruptures") is None:
        empty |= {m: "needs ruptures (extra baselines)" for m in chosen if "kernel" in m}
    ready = {m: f for m, f in chosen.items() if m not in empty}
    tasks = [*make_tasks(ready, plan.sequences, seeds=range(n_seeds)), *plan.extra]
    settings = {
        "table": table,
        "n_seeds": n_seeds,
        "features": plan.features,
        "predictor": _fingerprint(predictor),
    }
    results = run_tasks(tasks, store=out, settings=settings, n_jobs=n_jobs, on_done=on_done)
    tables = []
    for group in dict.fromkeys(s.group for s in plan.sequences):
        n = sum(s.group == group for s in plan.sequences)
        known = plan.known if only is None else ()  # published figures are for the paper's own set
        rows = [*known, *summarise((r for r in results if r.group == group), columns=COLUMNS)]
        rows += [Row(m, {}, reason) for m, reason in empty.items()]
        tables.append(Table(f"{table} on {group}, {n} sequences", COLUMNS, tuple(rows)))
    seconds = {m: sum(r.cpu_seconds for r in results if r.method == m) for m in chosen}
    scope = {"n_jobs": n_jobs, "most": most, "only": only, "methods": methods}
    return Report(table, tuple(tables), settings | scope, (_features_note(plan), *NOTES), seconds)


def _fingerprint(path: Path | None) -> str | None:
    return None if path is None else hashlib.sha256(path.read_bytes()).hexdigest()[:20]


def _features_note(plan: Plan) -> str:
    return (
        f"Features: {plan.features}; published figures use InceptionV3. default uses these features alone, "
        "dayline segment also the times, pauses and bursts of the photos."
    )


def _second_annotators(sequence: LabelledSequence) -> Measured:
    scores = [score_found(other, sequence) for other in sequence.annotations]
    mean = {column: float(np.mean([score[column] for score in scores])) for column in scores[0]}
    return {"second annotators": [mean]}


def _days(source: Source, *, desc: bool) -> Plan:
    """Every variant, baseline and control at tolerances 5 to 1."""
    rows = [*VARIANTS, *FROM_PIXELS, "CES-VCP", *BASELINES, *CONTROLS, "second annotators"]
    sequences, from_pixels = source.sequences(rows, desc=desc)
    finders: dict[str, Finder] = {variant: variant_finder(variant) for variant in VARIANTS}
    never: dict[str, str] = {}
    if from_pixels is not None:
        finders |= {name: partial(find, from_pixels) for name, find in FROM_PIXELS.items()}
    else:
        never |= dict.fromkeys(FROM_PIXELS, NO_PIXELS)
    if source.predictor is not None:
        finders["CES-VCP"] = partial(_by_network, path=source.predictor)
    else:
        never["CES-VCP"] = NO_NETWORK
    finders |= BASELINES | CONTROLS
    marked = [s for s in sequences if s.annotations]
    if not marked:
        never["second annotators"] = "these sequences have only one annotator"
    extra = [Task(s.group, s.name, "second annotators", partial(_second_annotators, s)) for s in marked]
    known = [published(name, **row) for name, row in PUBLISHED_DAYS["edub-seg-desc" if desc else "edub-seg"].items()]
    return Plan(finders, known, sequences, extra, never, _origin(from_pixels))


def _origin(from_pixels: FromPixels | None) -> str:
    return "read from files" if from_pixels is None else f"{from_pixels.pixels.name}, from the photos"


def _by_network(sequence: LabelledSequence, _: int, *, path: Path) -> IntArray:
    from dayline.baselines.vcp import VisualContextSegmenter

    return np.asarray(VisualContextSegmenter(predictor=path).fit(sequence.features).boundaries_)


def _stage(sequence: LabelledSequence, _: int, *, stage: str, variant: str) -> IntArray:
    """Apply the CES rule to one stage of a variant."""
    from dayline.decision.context_distance import context_distance, pick_boundaries
    from dayline.estimators import DynamicGraphEmbedding

    make = DynamicGraphEmbedding.paper if variant == "paper()" else DynamicGraphEmbedding.authors
    learnt = make(n_iterations=0).fit(sequence.features)
    return pick_boundaries(context_distance(getattr(learnt, stage)))


def _ablation(source: Source) -> Plan:
    """Measure the stages: raw features, denoised features, the initial embedding, and the full method."""
    finders: dict[str, Finder] = {"CES on raw features": BASELINES["CES on raw features"]}
    for variant in ("paper()", "authors()"):
        for name, stage in (("NL-means", "denoised_"), ("embedding", "initial_embedding_")):
            finders[f"{variant}, {name}"] = partial(_stage, stage=stage, variant=variant)
        finders[f"{variant}, DGE"] = variant_finder(variant)
    known = [published(name, **figures) for name, figures in ABLATION.items()]
    sequences, from_pixels = source.sequences([*finders, *CONTROLS])
    return Plan(finders | CONTROLS, known, sequences, features=_origin(from_pixels))


def _core_ablation(source: Source) -> Plan:
    """Measure the method without alpha, p, eta or mu (p = 0 is a window of one frame)."""
    off: dict[str, dict[str, Any]] = {
        "full": {},
        "alpha = 0": {"initial_graph_weight": 0.0},
        "p = 0": {"smoothing_width": 1},
        "eta = 0": {"temporal_prior": 0.0},
        "mu = 0": {"semantic_prior": 0.0},
    }
    finders = {f"{r}, {name}": variant_finder(r, **off[name]) for r in VARIANTS for name in off}
    known = [published(name, **{"F 5": f}) for name, f in CORE_ABLATION.items()]
    sequences, from_pixels = source.sequences([*finders, *CONTROLS])
    return Plan(finders | CONTROLS, known, sequences, features=_origin(from_pixels))


def _robustness(source: Source) -> Plan:
    """Measure the paper's whole grid, one hyperparameter at a time."""
    finders, known = {}, []
    for symbol, (parameter, values) in GRID.items():
        for value, f in values.items():
            known.append(published(f"{symbol} = {value}", **{"F 5": f}))
            for variant in ("authors()", "paper()", "default"):
                finders[f"{variant}, {symbol} = {value}"] = variant_finder(variant, **{parameter: value})
    sequences, from_pixels = source.sequences([*finders, *CONTROLS])
    return Plan(finders | CONTROLS, known, sequences, features=_origin(from_pixels))


_PLANS: dict[str, Callable[[Source], Plan]] = {
    "edub-seg": partial(_days, desc=False),
    "edub-seg-desc": partial(_days, desc=True),
    "ablation": _ablation,
    "core-ablation": _core_ablation,
    "robustness": _robustness,
}
LIFELOG_TABLES = tuple(_PLANS)
