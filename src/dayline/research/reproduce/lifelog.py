"""The tables on EDUB-Seg and EDUB-SegDesc, the ablations and the grid of hyperparameters."""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from dayline.arrays import FloatArray, IntArray
from dayline.metrics import score_boundaries
from dayline.research.baselines import catalogue
from dayline.research.baselines.vcp import load_predictor
from dayline.research.datasets.annotations import LabelledSequence, load_group
from dayline.research.datasets.edub_seg import find_days, load_days
from dayline.research.reproduce.pixels import FromPixels, Pixels, extract_days
from dayline.research.reproduce.report import (
    ABLATION,
    CORE_ABLATION,
    GRID,
    PUBLISHED_DAYS,
    Report,
    Row,
    Table,
    published,
    summarise,
)
from dayline.research.reproduce.tasks import Figures, Measured, OnDone, Task, choose, run_tasks

Finder: TypeAlias = Callable[[LabelledSequence, int], IntArray]
"""Takes a sequence and a seed."""
COLUMNS = ("F 5", "R 5", "P 5", "F 4", "F 3", "F 2", "F 1", "interior F 5", "found / true")
VARIANTS = ("paper()", "authors()", "hybrid", "default")
HYBRID: dict[str, Any] = {
    "start": "pca",
    "gradient": "full",
    "n_loop_steps": 150,
    "embedding_bandwidth": 0.3,
}


def score_found(found: IntArray, sequence: LabelledSequence) -> Figures:
    """Score boundaries as the papers do (F, R and P at tolerances 1 to 5) and strictly inside (interior F)."""
    figures: Figures = {}
    n, true = sequence.n_frames, sequence.boundaries
    for tolerance in (5, 4, 3, 2, 1):
        score = score_boundaries(found, true, tolerance=tolerance, protocol="ces", n_frames=n)
        figures |= {
            f"F {tolerance}": score.f1,
            f"R {tolerance}": score.recall,
            f"P {tolerance}": score.precision,
        }
    figures["interior F 5"] = score_boundaries(found, true, tolerance=5, n_frames=n).f1
    figures["found / true"] = len(found) / max(len(true), 1)
    return figures


def measure_boundaries(
    row: str, find: Finder, sequence: LabelledSequence, *, seeds: Sequence[int]
) -> Measured:
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
            raise ValueError(
                f"{root}: has no group {empty[0]} ({empty[0]}/*.npz, or dev/{empty[0]}/*.npz)"
            )
        return [s for some in groups.values() for s in some]
    own = root if root.resolve().name == folder else root / folder
    if not find_days(own):
        raise ValueError(
            f"{root}: {folder} not found (see `dayline datasets`); --only GROUP runs on other"
            " features"
        )
    return load_days(own, group=group, most=most)


def _features(sequence: LabelledSequence) -> FloatArray:
    if sequence.features is None:
        raise ValueError("features are needed")
    return sequence.features


def _by_variant(
    sequence: LabelledSequence, _: int, *, variant: str, changes: Mapping[str, Any]
) -> IntArray:
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
    from dayline.research.baselines.controls import equal_pieces

    return equal_pieces(sequence.n_frames, len(sequence.boundaries) + 1)


def _random_cuts(sequence: LabelledSequence, seed: int) -> IntArray:
    from dayline.research.baselines.controls import random_cuts

    return random_cuts(sequence.n_frames, len(sequence.boundaries) + 1, random_state=seed)


def _on_noise(sequence: LabelledSequence, seed: int) -> IntArray:
    from dayline.estimators import EventSegmenter

    generator = np.random.default_rng(
        [seed, zlib.crc32(f"{sequence.group} {sequence.name}".encode())]
    )
    noise = generator.normal(size=_features(sequence).shape)
    return np.asarray(EventSegmenter.authors().fit(noise).boundaries_)


def _nothing(sequence: LabelledSequence, _: int) -> IntArray:
    from dayline.research.baselines.controls import no_boundaries

    return no_boundaries(sequence.n_frames)


_ENTRIES = [entry for entry in catalogue.BASELINES.values() if entry.boundary_row]
BASELINES: dict[str, Finder] = {
    entry.boundary_row: partial(_baseline, entry=entry) for entry in _ENTRIES
}
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


NOTES = (
    (
        "F, R and P at a tolerance of 5 to 1 frames use the papers' scorer: both ends count as"
        " found and true boundaries, so finding nothing scores well above 0. Interior F counts only"
        " boundaries strictly inside, one to one."
    ),
    "Means over sequences; ± is the spread over seeds. Methods without ± do not depend on a seed.",
)
FROM_PIXELS = {"dayline segment": FromPixels.by_command, "AC-color": FromPixels.by_colors}
NO_PIXELS = (
    "needs the photos; features were read from files (--model computes them from the photos"
    " instead)"
)
NO_NETWORK = (
    "needs a network trained on many other days; train one with dayline.research.baselines.vcp and"
    " give its file (--predictor)"
)


@dataclass(frozen=True)
class Source:
    """Where the sequences of a table come from, and how features are computed from photos."""

    root: Path
    only: Sequence[str] | None
    most: int | None
    out: Path
    model: str | None = None
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
        found = find_sequences(
            self.root, group=group, folder=folder, only=self.only, most=self.most
        )
        ready = self.model is None and all(s.features is not None for s in found)
        if ready or self.only is not None:
            return found, None
        pixels = Pixels(self.model or "lite0", self.out / "photos")
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
    predictor: Path | None = None,
    on_done: OnDone | None = None,
) -> Report:
    """Measure one table, to be shown beside the published figures.

    Parameters
    ----------
    table : str
        One of `LIFELOG_TABLES`.
    root : str or Path
        Holds EDUB-Seg or EDUB-SegDesc; see `dayline.research.datasets.edub_seg`.
    out : Path
        Folder for the measurements.
    n_seeds, n_jobs : int
        Seeds 0, 1, ... and processes.
    methods, only : sequence of str, optional
        Rows to measure, and groups of feature files (ROOT/GROUP/*.npz) to use instead of the
        table's own set.
    most : int, optional
        Maximum number of sequences of each set.
    model : str, optional
        Model that computes features from the photos (see
        `dayline.features.extract.load_extractor`). Without one, features are read from files or, if
        there are none, computed by "lite0".
    predictor : Path, optional
        A trained network for CES-VCP (.safetensors).
    on_done : callable, optional
        Called after every sequence and method.
    """
    if only is not None and (model or predictor):
        raise ValueError(
            "model and predictor are for days of photos; groups of feature files (only) have none"
        )
    if predictor is not None:
        if not table.startswith("edub-seg"):
            raise ValueError(
                f"{table} has no row CES-VCP; a predictor is for edub-seg and edub-seg-desc"
            )
        load_predictor(predictor)  # before any photo is read
    source = Source(Path(root), only, most, out, model, predictor, methods, on_done)
    plan = _PLANS[table](source)
    empty = {m: why for m, why in plan.never.items() if methods is None or m in methods}
    chosen = {
        m: find
        for m, find in plan.finders.items()
        if methods is None or m in methods or m in ALWAYS
    }
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
        f"Features: {plan.features}; published figures use InceptionV3. default uses these features"
        " alone, dayline segment also the times, pauses and bursts of the photos."
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
    extra = [
        Task(s.group, s.name, "second annotators", partial(_second_annotators, s)) for s in marked
    ]
    known = [
        published(name, **row)
        for name, row in PUBLISHED_DAYS["edub-seg-desc" if desc else "edub-seg"].items()
    ]
    return Plan(finders, known, sequences, extra, never, _origin(from_pixels))


def _origin(from_pixels: FromPixels | None) -> str:
    return (
        "read from files" if from_pixels is None else f"{from_pixels.pixels.name}, from the photos"
    )


def _by_network(sequence: LabelledSequence, _: int, *, path: Path) -> IntArray:
    from dayline.research.baselines.vcp import VisualContextSegmenter

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
                finders[f"{variant}, {symbol} = {value}"] = variant_finder(
                    variant, **{parameter: value}
                )
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
