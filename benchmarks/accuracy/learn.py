"""How much labeled recordings of a kind teach: F1 with one of them, and with all others.

    python benchmarks/accuracy/learn.py [--root ../shared/data] [--store FOLDER] [--write | --check]

Every sequence of ROOT/dev, Keck and the first ten of MAD is embedded once; the candidates are kept
under --store (delete it after changing the method). Then each sequence of the 20 groups in dev is segmented by what others of its group
teach: one other (each of five in turn), all others, and the same if one of them is labeled wrongly
(all boundaries ten frames late, or half of them missing). And each group of a kind that a person may
name is segmented by what the other groups of this kind teach. The model and the prior are fitted
without the family of the scored group. --write fits the prior to the 20 groups and the kinds to all
of theirs, and puts them into the package and the tables into docs/how-to/teach.md; --check says if
they would change. Keck and MAD were joined from short recordings: with them
in the prior, the means are lower by .004 to .009.
"""

from __future__ import annotations

import json
import pickle
import warnings
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from itertools import repeat
from pathlib import Path

import numpy as np
from fit_decision import FAMILIES, NONE
from sequences import load_all, options_of
from threadpoolctl import threadpool_limits

from dayline import DynamicGraphEmbedding, score_boundaries
from dayline.arrays import to_numpy
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
MOST_EXAMPLES = 5
LATE = 10


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
        if wrong == "late":
            true = np.unique(np.minimum(true + LATE, self.sequence.n_frames - 1))
        elif wrong == "half":
            true = true[::2]
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


def examples_of(n: int, k: int, how: str) -> list[list[int]]:
    """Return which others teach sequence k: up to five, one at a time, or all of them at once."""
    others = [i for i in range(n) if i != k]
    if how == "all":
        return [others]
    chosen = np.unique(np.linspace(0, len(others) - 1, min(MOST_EXAMPLES, len(others))).round())
    return [[others[int(i)]] for i in chosen]


def taught(some: Sequence[Recording], how: str, wrong: str, prior: Prior) -> float:
    """Return the mean F1 of a group if others teach; the first of them is labeled wrongly."""
    scores, known = [], {}
    for k, one in enumerate(some):
        for chosen in examples_of(len(some), k, how):
            key = tuple(chosen)
            if key not in known:
                examples = [some[i].example(wrong if i == chosen[0] else "") for i in chosen]
                known[key], _ = learn_from(examples, prior=prior)
            learned = known[key]
            # The recordings of one group have not all the same features.
            if len(learned.change) != one.example().candidates.change.shape[1]:
                learned = replace(learned, change=(), level=())
            scores.append(one.f1(with_learned(one.evidence, learned)))
    return float(np.mean(scores))


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
    columns: list[tuple[str, str]] = [
        (how, wrong) for how in ("one", "all") for wrong in ("", "late", "half")
    ]
    table: dict[str, list[float]] = {}
    for name in sorted(set(groups) - JOINED):
        its = groups[name]
        default = float(np.mean([one.f1(one.evidence) for one in its]))
        prior = prior_without(groups, name)
        table[name] = [default, *(taught(its, how, wrong, prior) for how, wrong in columns)]

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
    names = ("n_recordings", "n_boundaries", "finer", "weights")
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


def row(name: str, values: Sequence[float], sign: str = "") -> str:
    """Return a row of a table."""
    return f"| {name} | " + " | ".join(f"{v:{sign}.3f}".replace("0.", ".") for v in values) + " |"


def table_of(table: dict[str, list[float]]) -> str:
    """Return the F1 of every group, means, and the largest losses."""
    lines = [
        "| group | default | one | one, late | one, half | all | all, one late | all, one half |"
    ]
    lines.append("| --- |" + " --- |" * 7)
    names = list(table)
    lines += [row(name, table[name]) for name in names]
    for title, some in (
        ("mean", names),
        ("mean, one half of the groups", names[::2]),
        ("mean, the other half", names[1::2]),
    ):
        lines.append(row(title, np.mean([table[name] for name in some], axis=0).tolist()))
    changes = np.asarray(list(table.values()))
    changes = changes[:, 1:] - changes[:, :1]
    for title, values in (
        ("mean change", changes.mean(axis=0)),
        ("largest loss", changes.min(axis=0)),
    ):
        lines.append(row(title, values.tolist(), "+").replace(f"| {title} |", f"| {title} |  |"))
    worst = ", ".join(names[k] for k in changes.argmin(axis=0))
    lines += ["", f"The largest losses are in {worst}."]
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
            lines.append(scores + row("", changes[-1:], "+").removeprefix("|  |"))
        offered = "offered" if kind in OFFERED else "not offered"
        lines.append(row(f"**{kind}** | {offered} | | ", [float(np.mean(changes))], "+"))
    return "\n".join(lines)


if __name__ == "__main__":
    main()
