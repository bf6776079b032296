"""How much labeled recordings of a kind teach: F1 with one of them, and with all others.

    python benchmarks/accuracy/learn.py [--root ../shared/data] [--store FOLDER] [--write | --check]

Every sequence of ROOT/dev, Keck and the first ten of MAD is embedded once; the candidates are kept
under --store (delete it after changing the method). Then each sequence of the 20 groups in dev is
segmented by what others of its group teach: one other (each of them in turn), all others, and the
same if one of them is labeled wrongly (all boundaries ten frames late, or early; or every second one
missing; each of up to three in turn). And each group of a kind that a person may name is segmented
by what the other groups of this kind teach. The model and the prior are fitted without the family of
the scored group.

--write fits the prior to the 20 groups and the kinds to all of theirs, and puts them into the
package and the tables into docs/how-to/teach.md; --check says if they would change. Keck and MAD
were joined from short recordings: with them in the prior, the means are lower by .004 to .009.
"""

from __future__ import annotations

import json
import pickle
import warnings
from collections.abc import Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from itertools import repeat
from pathlib import Path

import numpy as np
from fit_decision import FAMILIES, NONE
from sequences import load_all, options_of
from threadpoolctl import threadpool_limits

from dayline import DynamicGraphEmbedding, score_boundaries
from dayline.arrays import FloatArray, to_numpy
from dayline.checks import check_features
from dayline.decision import learned as learning
from dayline.decision.evidence import Evidence, gather_evidence
from dayline.decision.learned import Example, Prior, learn_from, with_learned
from dayline.decision.model import DecisionModel, load_model
from dayline.estimators.signals import choose_signal_features, gather_signal_evidence
from dayline.files import write_text_whole
from dayline.research.datasets.annotations import LabeledSequence

DECISION = Path(__file__).parents[2] / "src" / "dayline" / "decision"
PRIOR, KINDS = DECISION / "learned_prior.json", DECISION / "kinds.json"
PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "teach.md"
SHRINKAGE = 4.0
"""Precision of the weights of a known kind around 0, when the prior is fitted."""
HINTS = {
    "cooking": ("adl", "gtea", "salads"),
    "gestures": ("keck", "mad", "weizmann"),
    "sensors": ("extrasensory", "homes", "walk"),
    "films": ("bbc", "forrest", "rai", "sherlock"),
    "worn cameras": ("sensecam", "utego"),
    "skeletons": ("mocap6", "utkinect"),
}
"""Kinds that a person may name, and the groups that are of this kind."""
OFFERED = ("cooking", "gestures", "sensors")
"""Those that gain in every group, when it is left out."""
JOINED = {"keck", "mad"}
"""Kinds of which the prior knows nothing: short recordings that were joined."""
WRONG = {"right": ("",), "moved": ("late", "early"), "half": ("odd", "even")}
"""How an example is labeled, and how its boundaries are changed for that."""
MOST_WRONG = 3
MOVED = 10

Row = tuple[float, list[tuple[float, float]]]
"""F1 by default; and for each column the change of F1 and its standard error."""


@dataclass(frozen=True)
class Recording:
    """A labeled sequence, and its evidence by a model without its family."""

    sequence: LabeledSequence
    evidence: Evidence

    @property
    def family(self) -> str:
        """Kinds that are held out together."""
        return FAMILIES.get(self.sequence.group, self.sequence.group)

    def example(self, wrong: str = "") -> Example:
        """Return it as an example; `wrong` is how its boundaries are changed."""
        true = np.asarray(self.sequence.boundaries, dtype=np.int64)
        if wrong in ("late", "early"):
            moved = true + (MOVED if wrong == "late" else -MOVED)
            true = np.unique(np.clip(moved, 1, self.sequence.n_frames - 1))
        elif wrong:
            true = true[1::2] if wrong == "odd" else true[::2]
        assert self.evidence.candidates is not None
        return Example(self.evidence.candidates, true, self.sequence.tolerance)

    def f1(self, evidence: Evidence) -> float:
        """Score what the evidence decides."""
        one = self.sequence
        found = evidence.hierarchy.boundaries[: evidence.agreed_number]
        true, tolerance = one.boundaries, one.tolerance
        return score_boundaries(found, true, tolerance=tolerance, n_frames=one.n_frames).f1


def without_family(model: DecisionModel, group: str) -> DecisionModel:
    """Return the model without the curves of a family."""
    family = FAMILIES.get(group, group)
    kept = [k for k, kind in enumerate(model.kinds) if FAMILIES.get(kind, kind) != family]
    return replace(
        model,
        kinds=tuple(model.kinds[k] for k in kept),
        slopes=model.slopes[kept],
        intercepts=model.intercepts[kept],
    )


def gather(sequence: LabeledSequence, store: Path) -> Recording:
    """Embed a sequence as `EventSegmenter` does, and gather its evidence; or read what is stored."""
    path = store / sequence.group / f"{sequence.name}.{sequence.digest[:12]}.pkl"
    if path.exists():
        return pickle.loads(path.read_bytes())
    model = without_family(load_model(), sequence.group)
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        embedder = DynamicGraphEmbedding()
        features = embedder.without_outliers(check_features(sequence.features))
        signal = choose_signal_features(to_numpy(features))
        embedder.learn(features if signal is None else signal.features)
        evidence = (gather_evidence if signal is None else gather_signal_evidence)(
            features if signal is None else signal,
            embedder.main_directions(),
            embedder.embedding_,
            required=NONE,
            forbidden=NONE,
            times=None,
            model=model,
            describe=True,
        )
    path.parent.mkdir(parents=True, exist_ok=True)
    made = Recording(
        replace(sequence, features=None, images=(Path(),) * sequence.n_frames), evidence
    )
    path.write_bytes(pickle.dumps(made))
    return made


def fit_prior(groups: dict[str, list[Recording]]) -> Prior:
    """Fit the weights of every kind; their mean and spread are the prior."""
    fitted = []
    for its in (its for name, its in groups.items() if name not in JOINED):
        examples = [one.example() for one in its]
        rows = np.concatenate([learning._design(one.candidates) for one in examples])
        right = np.concatenate([one.right for one in examples])
        n = rows.shape[1]
        start = (np.zeros(len(right)), np.zeros(n), SHRINKAGE * np.eye(n))
        fitted.append(learning._fit(rows, right, *start))
    return Prior(np.mean(fitted, axis=0).round(3), np.std(fitted, axis=0, ddof=1).round(3))


def examples_of(n: int, k: int, how: str, wrong: str) -> list[tuple[int, ...]]:
    """Return which others teach sequence k, each time the one first that may be labeled wrongly."""
    others = [i for i in range(n) if i != k]
    if how == "one":
        return [(i,) for i in others]
    at = np.linspace(0, n - 2, min(MOST_WRONG, n - 1)) if wrong else np.zeros(1)
    first = [others[i] for i in np.unique(at.round().astype(int))]
    return [(i, *(other for other in others if other != i)) for i in first]


def taught(some: Sequence[Recording], how: str, label: str, prior: Prior) -> tuple[float, float]:
    """Return by how much F1 of a group changes if others teach, and the standard error of that.

    The error is that of the mean over the sequences, and over the examples that teach them.
    """
    default = [one.f1(one.evidence) for one in some]
    changes, known = [], {}
    for wrong in WRONG[label]:
        for k, one in enumerate(some):
            for chosen in examples_of(len(some), k, how, wrong):
                key = (wrong, *chosen)
                if key not in known:
                    first, *others = (some[i] for i in chosen)
                    examples = [first.example(wrong), *(other.example() for other in others)]
                    known[key], _ = learn_from(examples, prior=prior)
                learned = known[key]
                # The recordings of one group have not all the same features.
                if len(learned.change) != one.example().candidates.change.shape[1]:
                    learned = replace(learned, change=(), level=())
                change = one.f1(with_learned(one.evidence, learned)) - default[k]
                changes.append((k, chosen[0], change))
    which, by, values = np.asarray(changes).T
    error = np.hypot(error_of(values, which), error_of(values, by) if how == "one" else 0.0)
    return float(values.mean()), float(error)


def error_of(values: FloatArray, of: FloatArray) -> float:
    """Return the standard error of a mean over things that differ, each measured several times."""
    means = [values[of == one].mean() for one in np.unique(of)]
    return float(np.std(means, ddof=1) / np.sqrt(len(means)))


def main() -> None:
    parser = options_of(__doc__)
    parser.add_argument("--store", type=Path, default=Path(".learn"))
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()

    sequences = load_all(options.root, options.folder)
    with ProcessPoolExecutor(options.jobs) as pool:
        recordings = list(pool.map(gather, sequences, repeat(options.store)))
    groups: dict[str, list[Recording]] = {}
    for one in recordings:
        groups.setdefault(one.sequence.group, []).append(one)
    names = sorted(set(groups) - JOINED)
    priors = [prior_without(groups, name) for name in names]
    with ProcessPoolExecutor(options.jobs) as pool:
        rows = pool.map(taught_group, [groups[name] for name in names], priors)
        table = dict(zip(names, rows, strict=True))

    prior = fit_prior(groups)
    kinds = {name: learned_kind(groups, HINTS[name], prior) for name in OFFERED}
    files = {
        PRIOR: as_json({"mean": prior.mean.tolist(), "spread": prior.spread.tolist()}),
        KINDS: as_json({name: about_kind(one) for name, one in kinds.items()}),
        PAGE: with_tables(table_of(table), table_of_kinds(groups)),
    }
    print(files[PAGE])
    changed = [path.name for path, text in files.items() if path.read_text("utf-8") != text]
    if options.check and changed:
        raise SystemExit(f"{', '.join(changed)}: run this script with --write")
    for path, text in files.items() if options.write else ():
        write_text_whole(path, text)


def taught_group(some: Sequence[Recording], prior: Prior) -> Row:
    """Return the mean F1 of a group, and what each way of teaching changes; a row of the table."""
    default = float(np.mean([one.f1(one.evidence) for one in some]))
    with threadpool_limits(1):
        changes = [taught(some, how, label, prior) for how in ("one", "all") for label in WRONG]
    return default, changes


def prior_without(groups: dict[str, list[Recording]], name: str) -> Prior:
    """Fit the prior without the family of a group."""
    family = groups[name][0].family
    return fit_prior({k: its for k, its in groups.items() if its[0].family != family})


def learned_kind(
    groups: dict[str, list[Recording]], names: Sequence[str], prior: Prior
) -> learning.Learned:
    """Learn from all recordings of some groups; they have no features in common."""
    examples = [one.example() for name in names for one in groups[name]]
    return replace(learn_from(examples, prior=prior)[0], change=(), level=())


def about_kind(learned: learning.Learned) -> dict[str, object]:
    """Return what kinds.json has of a kind."""
    names = ("n_recordings", "n_boundaries", "finer", "found", "weights")
    return {name: getattr(learned, name) for name in names}


def as_json(content: dict[str, object]) -> str:
    lines = (f'  "{name}": {json.dumps(values)}' for name, values in content.items())
    return "{\n" + ",\n".join(lines) + "\n}\n"


def with_tables(*tables: str) -> str:
    """Return the page with new tables."""
    page = PAGE.read_text(encoding="utf-8")
    for name, table in zip(("taught", "kinds"), tables, strict=True):
        start, stop = f"<!-- table: {name} -->\n\n", f"\n\n<!-- end of table: {name} -->"
        before, after = page.index(start) + len(start), page.index(stop)
        page = page[:before] + table + page[after:]
    return page


def signed(value: float) -> str:
    return f"{value:+.3f}".replace("0.", ".")


def row(name: str, values: Sequence[float]) -> str:
    """Return a row of a table."""
    return f"| {name} | " + " | ".join(f"{v:.3f}".replace("0.", ".") for v in values) + " |"


def table_of(table: dict[str, Row]) -> str:
    """Return what teaching changes in every group, means, and the largest losses."""
    lines = [
        "| group | default | one | one, moved | one, half | all | all, one moved | all, one half |"
    ]
    lines.append("| --- |" + " --- |" * 7)

    def add(name: str, default: str, changes: Iterable[tuple[float, float]]) -> None:
        cells = [f"{signed(value)} ± {error:.3f}".replace("0.", ".") for value, error in changes]
        lines.append(f"| {name} | {default} | " + " | ".join(cells) + " |")

    for name, (default, changes) in table.items():
        add(name, f"{default:.3f}".replace("0.", "."), changes)
    every = np.asarray([changes for _, changes in table.values()])
    defaults = np.asarray([default for default, _ in table.values()])
    for title, part in (
        ("mean", slice(None)),
        ("mean, one half of the groups", slice(0, None, 2)),
        ("mean, the other half", slice(1, None, 2)),
    ):
        values = every[part, :, 0]
        errors = values.std(axis=0, ddof=1) / np.sqrt(len(values))
        mean = f"{defaults[part].mean():.3f}".replace("0.", ".")
        add(title, mean, zip(values.mean(axis=0), errors, strict=True))
    worst = every[:, :, 0].argmin(axis=0)
    add("largest loss", "", every[worst, range(len(worst))])
    names = list(table)
    lines += ["", f"The largest losses are in {', '.join(names[k] for k in worst)}."]
    return "\n".join(lines)


def table_of_kinds(groups: dict[str, list[Recording]]) -> str:
    """Return what each kind brings to each of its groups, left out."""
    lines = ["| kind | group | default | kind named | change |", "| --- | --- | --- | --- | --- |"]
    for kind, names in HINTS.items():
        changes = []
        for name in names:
            others = [one for one in names if one != name]
            learned = learned_kind(groups, others, prior_without(groups, name))
            its = groups[name]
            default = float(np.mean([one.f1(one.evidence) for one in its]))
            known = float(np.mean([one.f1(with_learned(one.evidence, learned)) for one in its]))
            changes.append(known - default)
            scores = row(f"{kind} | {name}", [default, known])
            lines.append(f"{scores} {signed(changes[-1])} |")
        offered = "offered" if kind in OFFERED else "not offered"
        lines.append(f"| **{kind}** | {offered} | |  | {signed(float(np.mean(changes)))} |")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
