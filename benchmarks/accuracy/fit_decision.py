"""Fit the decision model, and judge it on kinds of recordings that it has not seen.

    python benchmarks/accuracy/other_kinds.py OUT
    python benchmarks/accuracy/fit_decision.py --root ../shared/data --folder OUT [--write]
        [--draw FOLDER] [--table docs/results.csv]

Embeds every sequence of ROOT/dev, Keck, the first ten of MAD and OUT, and stores the candidates of
each under --store (delete it after changing the method or the evidence). Then, for each kind in
turn, fits the model to all kinds of other families and decides for this one. `EventSegmenter.fast()`
is judged by the same models, which are fitted to the evidence of the default. Prints what each part
of the evidence is worth, what `fast()` loses, and reliability. --table saves the scores of every
method on every kind, with baselines and controls, in the format of results_table.py; summary.py
makes tables of them. --write puts the model that is fitted to all kinds into the package; the same
data give the same file, bit for bit. --draw saves the model and its reliability as pictures.

A curve per kind (two numbers) is fitted by logistic regression with a Gaussian prior. Nothing else
is: the weights of hard cuts, the candidate penalty and the prior are round numbers, see
docs/how-it-decides.md.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from decision_report import draw, print_loss_of_fast, print_reliability, worth
from results_table import Answer, write_results
from sequences import load_all, options_of
from threadpoolctl import threadpool_limits

from dayline import DynamicGraphEmbedding, equal_pieces, score_boundaries
from dayline.arrays import unit_rows
from dayline.decision.evidence import (
    NOISE,
    DecisionModel,
    boundary_weights,
    compare_neighbors,
    expected_f1,
    load_model,
    slowness,
    two_views,
)
from dayline.decision.noise import in_few_directions, n_above_noise, why_no_events
from dayline.decision.partition import build_hierarchy
from dayline.files import write_text_whole
from dayline.method.denoise import comparable_columns, standardize
from dayline.research.baselines.kernel_change import KernelChangeSegmenter
from dayline.research.baselines.novelty import ContextualSegmenter, WindowDifferenceSegmenter
from dayline.research.datasets.annotations import LabeledSequence

MODEL = Path(__file__).parents[2] / "src" / "dayline" / "decision" / "model.json"
FAMILIES = {
    "bbc": "shots of films", "rai": "shots of films",
    "keck": "pictures of actions", "mad": "pictures of actions", "weizmann": "pictures of actions",
    "mocap6": "skeletons", "utkinect": "skeletons",
    "files": "biology", "genomes": "biology",
}  # fmt: skip
"""Kinds of one family are held out together; every other kind is a family of its own."""
PRIOR_MEAN, PRIOR_PRECISION = np.asarray([1.5, -0.5]), np.asarray([5.0, 2.0])
"""Of slope and intercept: weak, for kinds with few candidates."""
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
PARTS = {
    "all evidence": {},
    "without slowness": {"slowness": 1.0},
    "without hard cuts": {"cut_weight": 0.0},
    "without the features": {"view": "embedding"},
    "without the embedding": {"view": "features"},
    "hard cuts half": {"cut_weight": 4.0},
    "candidates at 2": {"candidate_penalty": 2.0},
}
"""Variants of the evidence whose worth is printed."""
FAST = "without the embedding"
"""The evidence of `EventSegmenter.fast()`."""


@dataclass(frozen=True)
class Candidates:
    """The candidates of one sequence with one variant of the evidence, and what is true."""

    kind: str
    n_frames: int
    tolerance: int
    true: np.ndarray
    boundaries: np.ndarray
    log_heights: np.ndarray
    penalty: float
    n_clear: int

    def split(self, model: DecisionModel) -> float:
        """Split the heights of this sequence."""
        return model.split(self.log_heights, self.n_frames, penalty=self.penalty)

    def strengths(self, model: DecisionModel) -> np.ndarray:
        """Logarithms of heights over the split."""
        return self.log_heights - self.split(model)

    @property
    def family(self) -> str:
        """Kinds that are held out together."""
        return FAMILIES.get(self.kind, self.kind)

    def f1(self, found: Iterable[int]) -> float:
        """Score boundaries against those that people marked."""
        return score_boundaries(
            found, self.true, tolerance=self.tolerance, n_frames=self.n_frames
        ).f1

    def is_right(self) -> np.ndarray:
        """Return which candidates match: the closest pairs within tolerance, each used once."""
        apart = np.abs(self.true[:, None] - self.boundaries[None, :])
        pairs = sorted(
            (apart[i, j], i, j) for i, j in zip(*np.nonzero(apart <= self.tolerance), strict=True)
        )
        right, used = np.zeros(len(self.boundaries), dtype=bool), set()
        for _, i, j in pairs:
            if i not in used and not right[j]:
                used.add(i)
                right[j] = True
        return right


def gather(sequence: LabeledSequence, store: Path) -> dict[str, np.ndarray]:
    """Embed one sequence and find its candidates with every variant, unless they are stored."""
    path = store / sequence.group / f"{sequence.name}.{sequence.digest[:12]}.npz"
    if path.exists():
        with np.load(path) as stored:
            return dict(stored)
    found = {}
    features = np.asarray(sequence.features, dtype=np.float64)
    with threadpool_limits(1):
        learned = DynamicGraphEmbedding().fit(features)
        cosines, few = (
            compare_neighbors(comparable_columns(features)),
            in_few_directions(standardize(features)),
        )
        has_events = not why_no_events(few)
        both = two_views(
            unit_rows(learned.embedding_), unit_rows(np.asarray(learned.start_, dtype=np.float64))
        )
        half = learned.embedding_.shape[1]
        views = {
            "both": both,
            "embedding": np.sqrt(2.0) * both[:, :half],
            "features": np.sqrt(2.0) * both[:, half:],
        }
        for part, changes in PARTS.items():
            numbers = {
                name: value for name, value in changes.items() if name not in ("view", "slowness")
            }
            model = replace(load_model(), **numbers)
            penalty = model.candidate_penalty * changes.get("slowness", slowness(cosines))
            weights = boundary_weights(cosines, model)
            hierarchy = build_hierarchy(
                views[changes.get("view", "both")],
                weights,
                penalty=penalty,
                required=NONE,
                forbidden=NONE,
            )
            found[f"{part}: boundaries"] = hierarchy.boundaries
            found[f"{part}: log heights"] = hierarchy.log_heights
            found[f"{part}: penalty"] = np.asarray(penalty)
            n_clear = (
                n_above_noise(few, hierarchy.boundaries, hierarchy.log_heights) if has_events else 0
            )
            found[f"{part}: clear"] = np.asarray(n_clear)
        for name, make in BASELINES.items():
            found[name] = make(None).fit(features).boundaries_
            found[f"{name}: number given"] = (
                make(len(sequence.boundaries) + 1).fit(features).boundaries_
            )
    path.parent.mkdir(parents=True, exist_ok=True)
    np.savez(path, **found)
    return found


def fit_curve(strengths: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Fit slope and intercept of the log odds.

    Newton's method, with halved steps where it overshoots.
    """
    rows = np.column_stack([strengths, np.ones(len(strengths))])

    def cost(curve: np.ndarray) -> float:
        logits = rows @ curve
        return float(
            np.sum(np.logaddexp(0.0, logits) - right * logits)
            + PRIOR_PRECISION @ (curve - PRIOR_MEAN) ** 2 / 2
        )

    curve = PRIOR_MEAN.copy()
    for _ in range(100):
        chance = 1.0 / (1.0 + np.exp(-rows @ curve))
        gradient = rows.T @ (chance - right) + PRIOR_PRECISION * (curve - PRIOR_MEAN)
        curvature = (rows * (chance * (1.0 - chance))[:, None]).T @ rows + np.diag(PRIOR_PRECISION)
        step = np.linalg.solve(curvature, gradient)
        before = cost(curve)
        while np.abs(step).max() > 1e-9 and cost(curve - step) > before:
            step /= 2
        curve = curve - step
        if np.abs(step).max() <= 1e-9:
            return curve
    raise RuntimeError("the curve of a kind did not converge")


def fit_model(sequences: list[Candidates]) -> DecisionModel:
    """Fit a curve to every kind; numbers are rounded as they are written."""
    kinds = sorted({s.kind for s in sequences})
    free = replace(load_model(), split_counts_as=0.0)
    own = {
        kind: [s.split(free) for s in sequences if s.kind == kind and len(s.log_heights)]
        for kind in kinds
    }
    usual = round(float(np.mean([np.mean(splits) for splits in own.values()])), 2)
    model = replace(load_model(), usual_split=usual)
    curves = []
    for kind in kinds:
        some = [s for s in sequences if s.kind == kind]
        strengths = np.concatenate([s.strengths(model) for s in some])
        curves.append(fit_curve(strengths, np.concatenate([s.is_right() for s in some])).round(3))
    slopes, intercepts = np.transpose(curves)
    return replace(model, kinds=tuple(kinds), slopes=slopes, intercepts=intercepts)


def curve_of(model: DecisionModel, kind: str) -> DecisionModel:
    """Return the model of one who knows the kind: its curve alone."""
    own = [model.kinds.index(kind)]
    return replace(model, kinds=(kind,), slopes=model.slopes[own], intercepts=model.intercepts[own])


@dataclass(frozen=True)
class Judged:
    """One sequence decided by a model that has not seen its family."""

    sequence: Candidates
    n_found: int
    probabilities: np.ndarray

    @property
    def f1(self) -> float:
        """Of the decision."""
        return self.sequence.f1(self.sequence.boundaries[: self.n_found])

    @property
    def f1_with_true_number(self) -> float:
        """Of as many boundaries as are true."""
        return self.sequence.f1(self.sequence.boundaries[: len(self.sequence.true)])


def judge(sequence: Candidates, model: DecisionModel) -> Judged:
    log_odds = np.where(np.arange(len(sequence.boundaries)) < sequence.n_clear, 0.0, NOISE)
    by_kind = model.probabilities(sequence.strengths(model), log_odds=log_odds)
    n_found = int(np.argmax(expected_f1(by_kind)))
    return Judged(sequence, n_found, by_kind.mean(axis=0))


def leave_families_out(
    sequences: list[Candidates], fitted_to: list[Candidates] | None = None
) -> list[Judged]:
    """Judge every sequence by a model fitted to all other families, maybe with other evidence."""
    judged = []
    for family in sorted({s.family for s in sequences}):
        model = fit_model([s for s in fitted_to or sequences if s.family != family])
        judged += [judge(s, model) for s in sequences if s.family == family]
    return judged


def read(
    sequences: list[LabeledSequence], found: list[dict[str, np.ndarray]], part: str
) -> list[Candidates]:
    return [
        Candidates(
            s.group, s.n_frames, s.tolerance, np.asarray(s.boundaries),
            f[f"{part}: boundaries"], f[f"{part}: log heights"],
            float(f[f"{part}: penalty"]), int(f[f"{part}: clear"]),
        )
        for s, f in zip(sequences, found, strict=True)
    ]  # fmt: skip


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


def all_answers(
    judged: dict[str, list[Judged]],
    candidates: list[Candidates],
    found: list[dict[str, np.ndarray]],
) -> Iterable[Answer]:
    """Yield what every method found in every sequence.

    Number of events not given, then given, then a control.
    """

    def answer(method: str, one: Candidates, boundaries: np.ndarray, *, given: bool) -> Answer:
        return Answer(method, one.kind, one.n_frames, one.tolerance, one.true, boundaries, given)

    for given in (False, True):
        for method, some in judged.items():
            for j in some:
                n_found = len(j.sequence.true) if given else j.n_found
                yield answer(method, j.sequence, j.sequence.boundaries[:n_found], given=given)
        for name in BASELINES:
            for one, its in zip(candidates, found, strict=True):
                yield answer(
                    TABLE_NAMES[name],
                    one,
                    its[f"{name}: number given" if given else name],
                    given=given,
                )
    for one in candidates:
        yield answer("equal pieces", one, equal_pieces(one.n_frames, len(one.true) + 1), given=True)


def as_json(model: DecisionModel) -> str:
    """Write a model as model.json has it."""
    numbers = (
        "candidate_penalty",
        "cut_weight",
        "usual_split",
        "split_counts_as",
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
    with ProcessPoolExecutor(options.jobs) as pool:
        found = list(pool.map(gather, sequences, [options.store] * len(sequences)))
    candidates = read(sequences, found, "all evidence")
    judged = leave_families_out(candidates)
    fast = leave_families_out(read(sequences, found, FAST), fitted_to=candidates)
    if options.table:
        write_results(
            options.table,
            all_answers({"dayline": judged, "dayline (fast)": fast}, candidates, found),
        )
    print("mean F1 of all kinds, held out (number given):")
    print(f"  default {worth(judged)}, fast() {worth(fast)}")
    print_loss_of_fast(sequences, judged, fast)
    print_reliability(judged)
    print("what the parts are worth, held out:")
    for part in PARTS:
        print(f"  {part:24}{worth(leave_families_out(read(sequences, found, part)))}")
    model = fit_model(candidates)
    print(f"  {'trained with all':24}{worth([judge(c, model) for c in candidates])}")
    told = [judge(c, curve_of(model, c.kind)) for c in candidates]
    print(f"  {'and told the kind':24}{worth(told)}")
    if options.draw:
        draw(options.draw, model, judged)
    if options.write:
        write_text_whole(MODEL, as_json(model))
        print(f"wrote {MODEL.name}: {len(model.kinds)} kinds")


if __name__ == "__main__":
    main()
