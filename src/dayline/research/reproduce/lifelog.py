"""The tables on EDUB-Seg and EDUB-SegDesc, the ablations and the grid of hyperparameters."""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from dayline.album.extraction import FrameReader, features_of, read_source
from dayline.album.segment import segment_source
from dayline.album.settings import Settings
from dayline.arrays import FloatArray, IntArray
from dayline.decision.contexts import context_distance, pick_boundaries
from dayline.estimators import DynamicGraphEmbedding, EventSegmenter
from dayline.events import labels_to_boundaries
from dayline.features.extract import load_extractor
from dayline.media.frame import FrameSequence
from dayline.metrics import equal_pieces, no_boundaries, random_cuts, score_boundaries
from dayline.research.baselines.catalogue import BASELINES, is_seeded, make_baseline
from dayline.research.baselines.clustering import ColorSegmenter
from dayline.research.baselines.vcp import VisualContextSegmenter, load_predictor
from dayline.research.datasets.annotations import LabeledSequence, load_group
from dayline.research.datasets.edub_seg import find_days, load_days
from dayline.research.reproduce.tables import (
    ABLATION,
    CORE_ABLATION,
    DAYS,
    GRID,
    Figures,
    Measured,
    OnDone,
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
from dayline.result_folder import output_folder

Finder: TypeAlias = Callable[[LabeledSequence, int], IntArray]
"""Takes a sequence and a seed."""
COLUMNS = ("F 5", "R 5", "P 5", "F 4", "F 3", "F 2", "F 1", "interior F 5", "found / true")
VARIANTS = ("paper()", "authors()", "hybrid", "default")
HYBRID: dict[str, Any] = {
    "start": "pca",
    "gradient": "full",
    "n_loop_steps": 150,
    "embedding_bandwidth": 0.3,
}
OFF: dict[str, dict[str, Any]] = {
    "full": {},
    "alpha = 0": {"initial_graph_weight": 0.0},
    "p = 0": {"smoothing_width": 1},
    "eta = 0": {"temporal_prior": 0.0},
    "mu = 0": {"semantic_prior": 0.0},
}
"""The method without alpha, p, eta or mu; p = 0 is a window of one frame."""


def score_found(found: IntArray, sequence: LabeledSequence) -> Figures:
    """Score boundaries as the papers do (F, R, P at tolerances 1 to 5) and strictly inside."""
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
    row: str, find: Finder, sequence: LabeledSequence, *, seeds: Sequence[int]
) -> Measured:
    """Score what a method finds, for every seed."""
    return {row: [score_found(find(sequence, seed), sequence) for seed in seeds]}


def make_tasks(
    finders: Mapping[str, Finder], sequences: Sequence[LabeledSequence], *, seeds: Sequence[int]
) -> list[Task]:
    """Pair every method with every sequence; only those of `SEEDED` have more than one seed."""
    tasks = []
    for name, find in finders.items():
        for s in sequences:
            own = seeds if name in SEEDED else [0]
            measure = partial(measure_boundaries, name, find, s, seeds=own)
            tasks.append(Task(s.group, s.name, name, measure, s.digest))
    return tasks


def variant_finder(variant: str, **changes: Any) -> Finder:
    """Return a finder that follows one of `VARIANTS` with some parameters changed."""

    def find(sequence: LabeledSequence, _: int) -> IntArray:
        if variant == "default":
            segmenter = EventSegmenter(DynamicGraphEmbedding().set_params(**changes))
        elif variant == "paper()":
            segmenter = EventSegmenter.paper(**changes)
        else:
            segmenter = EventSegmenter.authors(**(HYBRID if variant == "hybrid" else {}), **changes)
        return np.asarray(segmenter.fit(sequence.features).boundaries_)

    return find


def stage_finder(variant: str, stage: str) -> Finder:
    """Return a finder that applies the CES rule to one stage of a variant."""
    make = DynamicGraphEmbedding.paper if variant == "paper()" else DynamicGraphEmbedding.authors

    def find(sequence: LabeledSequence, _: int) -> IntArray:
        learned = make(n_iterations=0).fit(sequence.features)
        return pick_boundaries(context_distance(getattr(learned, stage)))

    return find


def baseline_finder(name: str) -> Finder:
    """Return a finder that follows one of the catalogue's baselines."""

    def find(sequence: LabeledSequence, seed: int) -> IntArray:
        fitted = make_baseline(name, seed=seed).fit(sequence.features)
        return np.asarray(fitted.boundaries_)

    return find


def _on_noise(sequence: LabeledSequence, seed: int) -> IntArray:
    generator = np.random.default_rng(
        [seed, zlib.crc32(f"{sequence.group} {sequence.name}".encode())]
    )
    noise = generator.normal(size=np.asarray(sequence.features).shape)
    return np.asarray(EventSegmenter.authors().fit(noise).boundaries_)


_ENTRIES = [entry for entry in BASELINES.values() if entry.boundary_row]
BASELINE_FINDERS: dict[str, Finder] = {
    entry.boundary_row: baseline_finder(entry.name) for entry in _ENTRIES
}
CONTROLS: dict[str, Finder] = {
    "equal pieces (true number)": lambda s, _: equal_pieces(s.n_frames, len(s.boundaries) + 1),
    "random cuts (true number)": lambda s, seed: random_cuts(
        s.n_frames, len(s.boundaries) + 1, random_state=seed
    ),
    "authors() on white noise": _on_noise,
    "no boundary at all": lambda s, _: no_boundaries(s.n_frames),
}
ALWAYS = ("equal pieces (true number)", "random cuts (true number)", "no boundary at all")
"""Controls measured with any choice of methods; the one on noise is not, because it is slow."""
SEEDED = {
    "random cuts (true number)",
    "authors() on white noise",
    *(entry.boundary_row for entry in _ENTRIES if is_seeded(entry.name)),
}
"""Methods that depend on the seed; variants of DGE keep the published seed of communities."""

LIFELOG_TABLES = ("edub-seg", "edub-seg-desc", "ablation", "core-ablation", "robustness")

NOTES = (
    (
        "F, R and P at a tolerance of 5 to 1 frames use the papers' scorer: both ends count as"
        " found and true boundaries, so finding nothing scores well above 0. Interior F counts only"
        " boundaries strictly inside, one to one."
    ),
    "Means over sequences; ± is the spread over seeds. Methods without ± do not depend on a seed.",
)
NO_PIXELS = (
    "needs the photos; features were read from files (--model computes them from the photos"
    " instead)"
)
NO_NETWORK = (
    "needs a network trained on many other days; train one with dayline.research.baselines.vcp and"
    " give its file (--predictor)"
)


def lifelog_report(
    table: str,
    root: str | Path,
    options: RunOptions,
    *,
    model: str | None = None,
    predictor: Path | None = None,
) -> Report:
    """Measure one table, to be shown beside the published figures.

    Parameters
    ----------
    table : str
        One of `LIFELOG_TABLES`.
    root : str or Path
        Holds EDUB-Seg or EDUB-SegDesc; see `dayline.research.datasets.edub_seg`.
    options : RunOptions
        With `only`, groups of feature files (ROOT/GROUP/*.npz) are used instead of the table's own
        set.
    model : str, optional
        Model that computes features from the photos (see
        `dayline.features.extract.load_extractor`). Without one, features are read from files or, if
        there are none, computed by "lite0".
    predictor : Path, optional
        A trained network for CES-VCP (.safetensors).
    """
    methods, only = options.methods, options.only
    is_of_days = table in DAYS
    if only is not None and (model or predictor):
        raise ValueError(
            "model and predictor are for days of photos; groups of feature files (only) have none"
        )
    if predictor is not None:
        if not is_of_days:
            raise ValueError(
                f"{table} has no row CES-VCP; a predictor is for edub-seg and edub-seg-desc"
            )
        load_predictor(predictor)  # before any photo is read

    # Unknown methods raise first, too, because photos take a long time.
    finders, known = _methods(table)
    choose(methods, list(finders), what="method")
    sequences = _sequences(table, Path(root), only=only, most=options.most)

    features = "read from files"
    if only is None and (model is not None or any(s.features is None for s in sequences)):
        pixels = Pixels(model or "lite0", options.out / "photos")
        colored = Pixels("color-lab", options.out / "photos")
        colors = {s.name: colored.extract(s, options.on_done) for s in sequences}
        sequences = [replace(s, features=pixels.extract(s, options.on_done)) for s in sequences]
        features = f"{pixels.name}, from the photos"
        if is_of_days:
            finders["dayline segment"] = lambda s, _: pixels.segment(s)
            finders["AC-color"] = lambda s, _: ColorSegmenter().fit(colors[s.name]).boundaries_
    if predictor is not None:
        by_contexts = VisualContextSegmenter(predictor=predictor)
        finders["CES-VCP"] = lambda s, _: by_contexts.fit(s.features).boundaries_
    annotated = [s for s in sequences if s.annotations and is_of_days]
    if annotated:
        del finders["second annotators"]

    wanted = [m for m in finders if methods is None or m in methods or m in ALWAYS]
    ready = {m: find for m in wanted if not isinstance(find := finders[m], str)}
    tasks = make_tasks(ready, sequences, seeds=range(options.n_seeds))
    for s in annotated:
        measure = partial(_second_annotators, s)
        tasks.append(Task(s.group, s.name, "second annotators", measure))
    network = None if predictor is None else hashlib.sha256(predictor.read_bytes()).hexdigest()[:20]
    settings = {"table": table, "n_seeds": options.n_seeds}
    settings |= {"features": features, "predictor": network}
    results = run_tasks(tasks, options, settings=settings)

    tables = []
    for group in dict.fromkeys(s.group for s in sequences):
        n = sum(s.group == group for s in sequences)
        rows = list(known) if only is None else []  # published figures are for the paper's own set
        rows += summarize((r for r in results if r.group == group), columns=COLUMNS)
        rows += [Row(m, {}, why) for m in wanted if isinstance(why := finders[m], str)]
        tables.append(Table(f"{table} on {group}, {n} sequences", COLUMNS, tuple(rows)))

    seconds = {m: sum(r.cpu_seconds for r in results if r.method == m) for m in ready}
    scope = {"n_jobs": options.n_jobs, "most": options.most, "only": only, "methods": methods}
    note = (
        f"Features: {features}; published figures use InceptionV3. default uses these features"
        " alone, dayline segment also the times, pauses and bursts of the photos."
    )
    return Report(table, tuple(tables), settings | scope, (note, *NOTES), seconds)


def _methods(table: str) -> tuple[dict[str, Finder | str], list[Row]]:
    """Return the methods of a table, or why a row is empty without more input; and known rows."""
    finders: dict[str, Finder | str] = {}
    if table in DAYS:
        finders = {variant: variant_finder(variant) for variant in VARIANTS}
        finders |= {"dayline segment": NO_PIXELS, "AC-color": NO_PIXELS, "CES-VCP": NO_NETWORK}
        finders |= BASELINE_FINDERS
        finders["second annotators"] = "these sequences have only one annotator"
        known = [published_row(name, row) for name, row in DAYS[table].items()]
    elif table == "ablation":
        finders["CES on raw features"] = BASELINE_FINDERS["CES on raw features"]
        for variant in ("paper()", "authors()"):
            for name, stage in (("NL-means", "denoised_"), ("embedding", "initial_embedding_")):
                finders[f"{variant}, {name}"] = stage_finder(variant, stage)
            finders[f"{variant}, DGE"] = variant_finder(variant)
        known = [published_row(name, row) for name, row in ABLATION.items()]
    elif table == "core-ablation":
        for variant in VARIANTS:
            for name, changes in OFF.items():
                finders[f"{variant}, {name}"] = variant_finder(variant, **changes)
        known = [published_row(name, {"F 5": f}) for name, f in CORE_ABLATION.items()]
    else:
        known = []
        for symbol, (parameter, values) in GRID.items():
            for value, f in values.items():
                known.append(published_row(f"{symbol} = {value}", {"F 5": f}))
                for variant in ("authors()", "paper()", "default"):
                    find = variant_finder(variant, **{parameter: value})
                    finders[f"{variant}, {symbol} = {value}"] = find

    if find_spec("ruptures") is None:
        finders |= {m: "needs ruptures (extra baselines)" for m in finders if "kernel" in m}
    return finders | CONTROLS, known


def _sequences(
    table: str, root: Path, *, only: Sequence[str] | None, most: int | None
) -> list[LabeledSequence]:
    """Read the days of a table, or the named groups; days with only photos have no features yet."""
    if only is not None:
        groups = {name: load_group(root, name, most=most) for name in only}
        for name, some in groups.items():
            if not some:
                raise ValueError(f"{root}: has no group {name} ({name}/*.npz, or dev/{name}/*.npz)")
        return [s for some in groups.values() for s in some]

    group, folder = "edub-seg", "EDUB-Seg"
    if table == "edub-seg-desc":
        group, folder = "edub-seg-desc", "EDUB-SegDesc"
    own = root if root.resolve().name == folder else root / folder
    if not find_days(own):
        raise ValueError(
            f"{root}: {folder} not found (see `dayline datasets`); --only GROUP runs on other"
            " features"
        )
    return load_days(own, group=group, most=most)


def _second_annotators(sequence: LabeledSequence) -> Measured:
    scores = [score_found(other, sequence) for other in sequence.annotations]
    mean = {column: float(np.mean([score[column] for score in scores])) for column in scores[0]}
    return {"second annotators": [mean]}


@dataclass(frozen=True)
class Pixels:
    """How to compute features from photos.

    Attributes
    ----------
    model : str
        See `dayline.features.extract.load_extractor`.
    store : Path
        Folder for what was computed, with one folder per day and model.
    """

    model: str
    store: Path

    @property
    def name(self) -> str:
        """Name of the model, without the folder of its file."""
        return Path(self.model).stem if self.model.lower().endswith(".onnx") else self.model

    def folder(self, sequence: LabeledSequence) -> Path:
        """Where what was computed from one day is kept."""
        return self.store / sequence.group / sequence.name / self.name

    def extract(self, sequence: LabeledSequence, on_done: OnDone | None) -> FloatArray:
        """Return features in the order of the truth, which needs every photo.

        Parameters
        ----------
        sequence : LabeledSequence
            With images.
        on_done : callable, optional
            Called as on_done(what, done, total) for every photo.
        """

        def on_step(_: str, done: int, total: int) -> None:
            if on_done is not None:
                on_done(f"{self.name} on {sequence.name}", done, total)

        extractor = load_extractor(self.model, threads=1)
        with output_folder(self.folder(sequence)) as store:
            reader = FrameReader(extractor, store, on_step=on_step)
            photos = read_source(sequence.images[0].parent, reader, Settings(order="name"))

        index_of = {file: k for k, file in enumerate(_file_names(photos))}
        lost = [image for image in sequence.images if image.name not in index_of]
        if lost:
            why = {file.name: file.why for file in photos.skipped}.get(
                lost[0].name, "not found among the photos"
            )
            raise ValueError(
                f"{lost[0]}: {why}; the ground truth counts every photo: repair it, or leave out"
                " the day"
            )
        return features_of(photos)[[index_of[image.name] for image in sequence.images]]

    def segment(self, sequence: LabeledSequence) -> IntArray:
        """Run `dayline segment`, with times, pauses, bursts and the typical duration of events."""
        result = segment_source(
            sequence.images[0].parent,
            store=self.folder(sequence),
            model=self.model,
            order="name",
        )
        # The folder may contain photos that the ground truth does not.
        event = dict(
            zip(_file_names(result.sequence), result.segmentation.labels.tolist(), strict=True)
        )
        return labels_to_boundaries([event[image.name] for image in sequence.images])


def _file_names(photos: FrameSequence | None) -> list[str]:
    return [] if photos is None else [path.name for path in photos.paths]
