"""Fit the decision model, and judge it on kinds of recordings that it has not seen.

    python benchmarks/accuracy/fit_decision.py --root ../shared/data --folder OUT [--write]
        [--draw FOLDER] [--table docs/results.csv]

OUT has the published kinds (`python benchmarks/accuracy/other_kinds.py OUT`). Embeds every sequence
of ROOT/dev, Keck, the first ten of MAD and OUT, and stores the embedding and what the baselines find
under --store (delete it after changing the method). Then, for each kind in turn, fits the model to
all kinds of other families and decides for this one. `EventSegmenter.fast()` is judged by the same
models, which are fitted to the evidence of the default. Prints the scores of natural recordings
apart from those of the others, most of which were joined from parts; what `fast()` loses; what each
part of the evidence is worth; and how good the confidence is. --table saves the scores of every
method on every kind, with baselines and controls, in the format of results_table.py; summary.py
makes tables of them. --write puts the model that is fitted to all kinds into the package; the same
data give the same file, bit for bit. --draw saves the model and its reliability as pictures.

A curve per kind (two numbers) is fitted by logistic regression with a Gaussian prior, and another
one that says how sure boundaries are that many answers share. Nothing else is: the weights of hard
cuts, the candidate penalty and the prior are round numbers, see docs/how-it-decides.md.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from itertools import repeat
from pathlib import Path
from typing import Any

import numpy as np
from decision_report import (
    draw,
    print_confidence,
    print_loss_of_fast,
    print_reliability,
    print_scores,
)
from results_table import Answer, write_results
from scipy.special import expit, logit
from sequences import load_all, options_of
from threadpoolctl import threadpool_limits

from dayline import DynamicGraphEmbedding, equal_pieces, score_boundaries
from dayline.checks import check_features
from dayline.decision.decide import boundary_probability
from dayline.decision.evidence import Evidence, gather_evidence
from dayline.decision.model import DecisionModel, load_model
from dayline.files import write_text_whole
from dayline.research.baselines.kernel_change import KernelChangeSegmenter
from dayline.research.baselines.novelty import ContextualSegmenter, WindowDifferenceSegmenter
from dayline.research.datasets.annotations import LabeledSequence, load_folder

MODEL = Path(__file__).parents[2] / "src" / "dayline" / "decision" / "model.json"
FAMILIES = {
    "bbc": "films", "rai": "films", "forrest": "films", "sherlock": "films",
    "keck": "pictures of actions", "mad": "pictures of actions", "weizmann": "pictures of actions",
    "gtea": "cooking", "salads": "cooking", "adl": "cooking",
    "sensecam": "days of a camera", "utego": "days of a camera",
    "mocap6": "skeletons", "utkinect": "skeletons",
    "files": "biology", "genomes": "biology",
}  # fmt: skip
"""Kinds of one family are held out together; every other kind is a family of its own."""
PRIOR_MEAN, PRIOR_PRECISION = np.asarray([1.5, -0.5]), np.asarray([5.0, 2.0])
"""Of slope and intercept: weak, for kinds with few candidates."""
START = replace(
    load_model(),
    usual_split=2.5,
    kinds=("any",),
    slopes=PRIOR_MEAN[:1],
    intercepts=PRIOR_MEAN[1:],
)
"""Finds the candidates that are fitted, whatever model was there before."""
NONE = np.zeros(0, dtype=np.int64)
BASELINES: dict[str, Callable[[int | None], object]] = {
    "window difference": lambda n: WindowDifferenceSegmenter(n),
    "window difference, 8 frames": lambda n: WindowDifferenceSegmenter(n, window=8),
    "kernel, cosine": lambda n: KernelChangeSegmenter(n, kernel="cosine", standardize=False),
    "kernel, rbf": lambda n: KernelChangeSegmenter(n, kernel="rbf", standardize=False),
    "kernel, cosine, standardized": lambda n: KernelChangeSegmenter(n, kernel="cosine"),
    "kernel, rbf, standardized": lambda n: KernelChangeSegmenter(n, kernel="rbf"),
    "CES, raw": lambda n: ContextualSegmenter(n),
    "CES, denoised": lambda n: ContextualSegmenter(n, denoise=True),
}
PARTS: dict[str, tuple[str, dict[str, float]]] = {
    "without hard cuts": ("both", {"cut_weight": 0.0}),
    "without the features": ("embedding", {}),
    "without the embedding": ("features", {}),
}
"""Variants of the evidence whose worth is printed: the views of the frames, and changed numbers."""


@dataclass(frozen=True)
class Judged:
    """One sequence with people's boundaries, and the evidence as a model sees it."""

    sequence: LabeledSequence
    evidence: Evidence

    @property
    def kind(self) -> str:
        """What was recorded."""
        return self.sequence.group

    @property
    def family(self) -> str:
        """Kinds that are held out together."""
        return FAMILIES.get(self.kind, self.kind)

    @property
    def found(self) -> np.ndarray:
        """Boundaries of the decision, the highest first."""
        return self.evidence.hierarchy.boundaries[: self.evidence.agreed_number]

    @property
    def as_many_as_true(self) -> np.ndarray:
        """Boundaries if their true number is given, the highest first."""
        return self.evidence.hierarchy.first(len(self.sequence.boundaries))

    @property
    def confidence(self) -> np.ndarray:
        """Stated probability of each boundary found."""
        return boundary_probability(self.evidence, self.found)

    def with_model(self, model: DecisionModel) -> Judged:
        """Return the same decision with the confidence of another model."""
        return replace(self, evidence=replace(self.evidence, model=model))

    def f1(self, found: np.ndarray) -> float:
        """Score boundaries against those that people marked."""
        one = self.sequence
        return score_boundaries(
            found, one.boundaries, tolerance=one.tolerance, n_frames=one.n_frames
        ).f1

    def is_right(self, found: np.ndarray) -> np.ndarray:
        """Return which of them match: the closest pairs within tolerance, each used once."""
        apart = np.abs(np.asarray(self.sequence.boundaries)[:, None] - found[None, :])
        near = np.nonzero(apart <= self.sequence.tolerance)
        right, used = np.zeros(len(found), dtype=bool), set()
        for _, i, j in sorted((apart[i, j], i, j) for i, j in zip(*near, strict=True)):
            if i not in used and not right[j]:
                used.add(i)
                right[j] = True
        return right


def learn(sequence: LabeledSequence, store: Path) -> dict[str, np.ndarray]:
    """Embed one sequence and run the baselines, unless that is stored."""
    path = store / sequence.group / f"{sequence.name}.{sequence.digest[:12]}.npz"
    if path.exists():
        with np.load(path) as stored:
            return dict(stored)
    features = np.asarray(sequence.features, dtype=np.float64)
    with threadpool_limits(1):
        learned = DynamicGraphEmbedding().fit(features)
        found = {"embedding": learned.embedding_, "directions": learned.main_directions()}
        for name, make in BASELINES.items():
            found[name] = make(None).fit(features).boundaries_
            found[f"{name}: number given"] = (
                make(len(sequence.boundaries) + 1).fit(features).boundaries_
            )
    path.parent.mkdir(parents=True, exist_ok=True)
    np.savez(path, **found)
    return found


def gather(
    sequence: LabeledSequence,
    learned: dict[str, np.ndarray],
    model: DecisionModel,
    *,
    views: str = "both",
) -> Judged:
    """Gather the evidence of one sequence, from both views of its frames or one of them."""
    with threadpool_limits(1), warnings.catch_warnings():
        # What is said of outliers and missing values is not of interest here.
        warnings.simplefilter("ignore")
        features = DynamicGraphEmbedding().without_outliers(check_features(sequence.features))
        evidence = gather_evidence(
            features,
            learned["embedding" if views == "embedding" else "directions"],
            learned["embedding"] if views == "both" else None,
            required=NONE,
            forbidden=NONE,
            times=None,
            model=model,
        )
    return Judged(sequence, evidence)


def fit_curve(
    values: np.ndarray,
    right: np.ndarray,
    *,
    known: np.ndarray | float = 0.0,
    weights: np.ndarray | float = 1.0,
) -> np.ndarray:
    """Fit slope and intercept of the log odds, which are added to those that are known.

    Newton's method, with halved steps where it overshoots.
    """
    rows = np.column_stack([values, np.ones(len(values))])

    def cost(curve: np.ndarray) -> float:
        logits = rows @ curve + known
        return float(
            np.sum(weights * (np.logaddexp(0.0, logits) - right * logits))
            + PRIOR_PRECISION @ (curve - PRIOR_MEAN) ** 2 / 2
        )

    curve = PRIOR_MEAN.copy()
    for _ in range(100):
        chance = expit(rows @ curve + known)
        gradient = rows.T @ (weights * (chance - right)) + PRIOR_PRECISION * (curve - PRIOR_MEAN)
        changes = weights * chance * (1.0 - chance)
        curvature = (rows * changes[:, None]).T @ rows + np.diag(PRIOR_PRECISION)
        step = np.linalg.solve(curvature, gradient)
        before = cost(curve)
        while np.abs(step).max() > 1e-9 and cost(curve - step) > before:
            step /= 2
        curve = curve - step
        if np.abs(step).max() <= 1e-9:
            return curve
    raise RuntimeError("a curve did not converge")


def fit_model(some: Sequence[Judged]) -> DecisionModel:
    """Fit a curve to every kind; numbers are rounded as they are written."""
    base = some[0].evidence.model
    by_kind: dict[str, list[Judged]] = {}
    for one in some:
        by_kind.setdefault(one.kind, []).append(one)
    free = replace(base, split_counts_as=0.0)
    own = [
        [split_of(one, free) for one in its if len(one.evidence.hierarchy.boundaries)]
        for its in by_kind.values()
    ]
    usual = round(float(np.mean([np.mean(splits) for splits in own if splits])), 2)
    model = replace(base, usual_split=usual)
    curves = {}
    for kind, its in sorted(by_kind.items()):
        candidates = [one.evidence.hierarchy for one in its]
        strengths = [
            h.log_heights - split_of(one, model) for h, one in zip(candidates, its, strict=True)
        ]
        right = [one.is_right(h.boundaries) for h, one in zip(candidates, its, strict=True)]
        curves[kind] = fit_curve(np.concatenate(strengths), np.concatenate(right)).round(3)
    slopes, intercepts = np.transpose(list(curves.values()))
    return replace(model, kinds=tuple(curves), slopes=slopes, intercepts=intercepts)


def split_of(one: Judged, model: DecisionModel) -> float:
    """Split the heights of a sequence."""
    hierarchy = one.evidence.hierarchy
    return model.split(hierarchy.log_heights, one.sequence.n_frames, penalty=hierarchy.penalty)


def fit_confidence(some: Sequence[Judged]) -> dict[str, float]:
    """Fit how probable boundaries are on average, by the share of them that all partitions have.

    Every kind counts the same.
    """
    shares = [np.full(len(one.found), one.evidence.shared) for one in some]
    known = [logit(one.confidence) - one.evidence.mean_log_odds for one in some]
    right = [one.is_right(one.found) for one in some]

    kinds = np.concatenate([np.repeat(one.kind, len(one.found)) for one in some])
    _, of_kind, counts = np.unique(kinds, return_inverse=True, return_counts=True)
    slope, intercept = fit_curve(
        np.concatenate(shares),
        np.concatenate(right),
        known=np.concatenate(known),
        weights=counts.mean() / counts[of_kind],
    ).round(2)
    return {"shared_slope": float(slope), "shared_intercept": float(intercept)}


def leave_families_out(some: Sequence[Judged], fit: Callable[[list[Judged]], Any]) -> list[Any]:
    """Return for each sequence what is fitted to all other families."""
    fitted = {
        family: fit([one for one in some if one.family != family])
        for family in {one.family for one in some}
    }
    return [fitted[one.family] for one in some]


# Names in the table for other people's papers: they never change, and have no commas.
TABLE_NAMES = {
    "window difference": "window difference (16 frames)",
    "window difference, 8 frames": "window difference (8 frames)",
    "kernel, cosine": "kernel change points (cosine)",
    "kernel, rbf": "kernel change points (rbf)",
    "kernel, cosine, standardized": "kernel change points (cosine on standardized columns)",
    "kernel, rbf, standardized": "kernel change points (rbf on standardized columns)",
    "CES, raw": "CES rule (raw features)",
    "CES, denoised": "CES rule (denoised features)",
}


def groups_of(root: Path, sequences: Iterable[LabeledSequence]) -> dict[str, set[str]]:
    """Return the kinds whose means are printed: natural ones, halves of them, and all others."""
    natural = {one.group for one in load_all(root)}
    developed = {one.group for one in load_folder(root / "dev")}
    families = sorted({FAMILIES.get(kind, kind) for kind in developed})
    half = {kind for kind in developed if FAMILIES.get(kind, kind) in families[::2]}
    return {
        "natural": natural,
        "in dev": developed,
        "one half": half,
        "other half": developed - half,
        "published": {one.group for one in sequences} - natural,
    }


def all_answers(
    judged: dict[str, list[Judged]], learned: list[dict[str, np.ndarray]]
) -> Iterable[Answer]:
    """Yield what every method found in every sequence.

    Number of events not given, then given, then a control.
    """

    def answer(method: str, one: LabeledSequence, found: np.ndarray, *, given: bool) -> Answer:
        true = one.boundaries
        return Answer(method, one.group, one.n_frames, one.tolerance, true, found, given)

    sequences = [one.sequence for one in next(iter(judged.values()))]
    for given in (False, True):
        for method, some in judged.items():
            for j in some:
                found = j.as_many_as_true if given else j.found
                yield answer(method, j.sequence, found, given=given)
        for name in BASELINES:
            for one, its in zip(sequences, learned, strict=True):
                found = its[f"{name}: number given" if given else name]
                yield answer(TABLE_NAMES[name], one, found, given=given)
    for one in sequences:
        pieces = equal_pieces(one.n_frames, len(one.boundaries) + 1)
        yield answer("equal pieces", one, pieces, given=True)


def as_json(model: DecisionModel) -> str:
    """Write a model as model.json has it."""
    numbers = (
        "candidate_penalty",
        "cut_weight",
        "usual_split",
        "split_counts_as",
        "shared_slope",
        "shared_intercept",
    )
    curves = {
        k: [float(a), float(b)]
        for k, a, b in zip(model.kinds, model.slopes, model.intercepts, strict=True)
    }
    lines = [f'  "{name}": {json.dumps(getattr(model, name))},' for name in numbers]
    rows = ",\n".join(f'    "{kind}": {json.dumps(curve)}' for kind, curve in curves.items())
    return "\n".join(["{", *lines, '  "curves": {', rows, "  }", "}"]) + "\n"


def main() -> None:
    parser = options_of(__doc__)
    parser.add_argument("--store", type=Path, default=Path(".fit"))
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--draw", type=Path, metavar="FOLDER")
    parser.add_argument("--table", type=Path, metavar="FILE")
    options = parser.parse_args()

    sequences = load_all(options.root, options.folder)
    groups = groups_of(options.root, sequences)
    with ProcessPoolExecutor(options.jobs) as pool:
        learned = list(pool.map(learn, sequences, repeat(options.store)))

        def judge(models: Iterable[DecisionModel], views: str = "both") -> list[Judged]:
            return list(pool.map(partial(gather, views=views), sequences, learned, models))

        gathered = judge(repeat(START))
        models = leave_families_out(gathered, fit_model)
        judged, fast = judge(models), judge(models, "features")
        confidence = fit_confidence(judged)
        judged = [
            one.with_model(replace(one.evidence.model, **numbers))
            for one, numbers in zip(judged, leave_families_out(judged, fit_confidence), strict=True)
        ]
        if options.table:
            answers = all_answers({"dayline": judged, "dayline (fast)": fast}, learned)
            write_results(options.table, answers)
        print("mean F1, held out (number given):")
        print_scores("default", judged, groups)
        print_scores("fast()", fast, groups)
        print_loss_of_fast(judged, fast)
        print_reliability(judged)
        print_confidence(judged)

        print("what the parts are worth, held out:")
        for part, (views, changes) in PARTS.items():
            changed = judge(repeat(replace(START, **changes)), views)
            print_scores(part, judge(leave_families_out(changed, fit_model), views), groups)
        model = replace(fit_model(gathered), **confidence)
        print_scores("trained with all", judge(repeat(model)), groups)
    if options.draw:
        draw(options.draw, model, judged)
    if options.write:
        write_text_whole(MODEL, as_json(model))
        print(f"wrote {MODEL.name}: {len(model.kinds)} kinds")


if __name__ == "__main__":
    main()
