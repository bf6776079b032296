"""How well the decision model does on kinds of recordings that it has not seen.

Tables, reliability and pictures.

`fit_decision.py` prints and draws with these; they change nothing that is fitted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from scipy.stats import spearmanr

if TYPE_CHECKING:
    from fit_decision import Judged

    from dayline.decision.model import DecisionModel
    from dayline.research.datasets.annotations import LabeledSequence

NEW_AT_010 = (
    "rai",
    "weizmann",
    "utkinect",
    "beedance",
    "extrasensory",
    "homes",
    "forrest",
    "apollo",
    "tssb",
)
OLD = ("bbc", "gtea", "sensecam", "mocap6", "keck", "mad")


def by_kind(judged: Iterable[Judged], value: Callable[[Judged], float]) -> dict[str, float]:
    found: dict[str, list[float]] = {}
    for one in judged:
        found.setdefault(one.sequence.kind, []).append(value(one))
    return {kind: float(np.mean(values)) for kind, values in sorted(found.items())}


def summary(scores: dict[str, float]) -> str:
    def mean(kinds: Iterable[str]) -> str:
        some = [scores[kind] for kind in kinds if kind in scores]
        return f"{np.mean(some):.3f}" if some else "-"

    rest = [kind for kind in scores if kind not in OLD]
    parts = {
        f"all {len(scores)}": scores,
        "old six": OLD,
        "nine new at 0.1.0": NEW_AT_010,
        "all but the six": rest,
    }
    return "   ".join(f"{name}: {mean(kinds)}" for name, kinds in parts.items())


def print_table(
    judged: list[Judged], fast: list[Judged], baselines: dict[str, dict[str, float]]
) -> None:
    without_graph = by_kind(fast, lambda j: j.f1)
    held_out, given = (
        by_kind(judged, lambda j: j.f1),
        by_kind(judged, lambda j: j.f1_with_true_number),
    )
    chance = by_kind(judged, lambda j: j.f1_of_random_cuts)
    ratio = by_kind(judged, lambda j: np.log((j.n_found + 0.5) / (len(j.sequence.true) + 0.5)))
    n = {kind: sum(j.sequence.kind == kind for j in judged) for kind in held_out}
    best = max(baselines, key=lambda name: np.mean(list(baselines[name].values())))
    heads = "held out  fast()  number given  random cuts  found/true"
    print(f"{'kind':14}{'n':>3}  {heads}  {best}  best baseline of this kind")
    for kind in held_out:
        top = max(baselines, key=lambda name, kind=kind: baselines[name][kind])
        print(
            f"{kind:14}{n[kind]:3}  {held_out[kind]:8.3f}  {without_graph[kind]:6.3f} "
            f" {given[kind]:12.3f}  {chance[kind]:11.3f}  {np.exp(ratio[kind]):10.2f} "
            f" {baselines[best][kind]:{len(best)}.3f}  {baselines[top][kind]:.3f} {top}"
        )
    for name, scores in (
        ("held out", held_out),
        ("fast(), held out", without_graph),
        ("number given", given),
        ("fast(), number given", by_kind(fast, lambda j: j.f1_with_true_number)),
        ("random cuts of that number", chance),
        *baselines.items(),
    ):
        print(f"{name:28}{summary(scores)}")
    ahead = sum(held_out[kind] > baselines[best][kind] for kind in held_out)
    ahead_of_all = sum(
        held_out[kind] > max(scores[kind] for scores in baselines.values()) for kind in held_out
    )
    print(
        f"ahead of {best} in {ahead} of {len(held_out)} kinds, of the best baseline of each kind in"
        f" {ahead_of_all}"
    )


def print_loss_of_fast(
    sequences: list[LabeledSequence], judged: list[Judged], fast: list[Judged]
) -> None:
    """Print what fast() loses, and whether it loses more where named events recur."""
    default, other = by_kind(judged, lambda j: j.f1), by_kind(fast, lambda j: j.f1)
    change = {kind: other[kind] - default[kind] for kind in default}
    values, random = np.asarray(list(change.values())), np.random.default_rng(0)
    low, high = np.quantile(
        [random.choice(values, len(values)).mean() for _ in range(4000)], [0.05, 0.95]
    )
    print(
        f"fast() - default: {values.mean():+.3f}, 90 % interval over kinds {low:+.3f} to"
        f" {high:+.3f}"
    )
    shares: dict[str, list[float]] = {}
    for sequence in sequences:
        if sequence.labels is not None and len(sequence.boundaries):
            names = np.asarray(sequence.labels)[[0, *sequence.boundaries]].tolist()
            shares.setdefault(sequence.group, []).append(
                float(np.mean([names.count(name) > 1 for name in names]))
            )
    recurring = {kind: float(np.mean(some)) for kind, some in shares.items()}
    if len(recurring) > 2:
        rank = spearmanr(list(recurring.values()), [change[kind] for kind in recurring])
        print(
            f"rank correlation with the share of events that recur, {len(recurring)} kinds:"
            f" {rank.statistic:+.2f}"
        )


def reliability(judged: list[Judged]) -> list[tuple[int, float, float, float, float]]:
    """Return a row for each tenth of the stated probability of boundaries found.

    How many there are, and their stated and right share, each twice.

        First every kind counts the same, as in all tables; then every boundary does, so that kinds
        of most boundaries decide.
    """
    stated = np.concatenate([j.probabilities[: j.n_found] for j in judged])
    right = np.concatenate([j.sequence.is_right()[: j.n_found] for j in judged])
    kinds = np.concatenate([np.repeat(j.sequence.kind, j.n_found) for j in judged])
    names, counts = np.unique(kinds, return_counts=True)
    weights = 1.0 / counts[np.searchsorted(names, kinds)]
    rows = []
    for low in np.arange(10) / 10:
        inside = (stated >= low) & (stated < low + 0.1)
        if inside.any():
            even = [
                float(np.average(values[inside], weights=weights[inside]))
                for values in (stated, right)
            ]
            rows.append(
                (
                    int(inside.sum()),
                    *even,
                    float(stated[inside].mean()),
                    float(right[inside].mean()),
                )
            )
    return rows


def print_reliability(judged: list[Judged]) -> None:
    print("reliability of the boundaries found: every kind the same, and every boundary the same")
    for count, *values in reliability(judged):
        even_stated, even_right, stated, right = values
        print(
            f"  {count:5} boundaries: stated {even_stated:.2f}, right {even_right:.2f};"
            f" {stated:.2f}, {right:.2f}"
        )


def draw(folder: Path, model: DecisionModel, judged: list[Judged]) -> None:
    """Save decision-model.png and reliability.png."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    figure, axis = plt.subplots(figsize=(7, 4), layout="constrained")
    strengths = np.linspace(-4, 6, 200)
    by_kind = model.probabilities(strengths)
    axis.plot(np.exp(strengths), by_kind.T, color="0.75", lw=0.8)
    axis.plot(np.exp(strengths), by_kind.mean(axis=0), color="#0072b2", lw=2.5)
    axis.set(
        xscale="log",
        xlabel="height over the split of its sequence",
        ylabel="probability of a boundary",
        ylim=(0, 1),
    )
    axis.set_title(
        f"{len(model.kinds)} kinds of recordings, and their mean", loc="left", fontsize=10
    )
    figure.savefig(folder / "decision-model.png", dpi=80)
    figure, axes = plt.subplots(1, 2, figsize=(9, 4.4), sharey=True, layout="constrained")
    rows = [row for row in reliability(judged) if row[0] >= 100]
    for column, name, color in (
        (1, "every kind the same", "#0072b2"),
        (3, "every boundary the same", "#d55e00"),
    ):
        axes[0].plot(
            [r[column] for r in rows], [r[column + 1] for r in rows], "o-", color=color, label=name
        )
    axes[0].legend(fontsize=8, loc="upper left")
    for kind in sorted({j.sequence.kind for j in judged}):
        own = [j for j in judged if j.sequence.kind == kind and j.n_found]
        stated = np.concatenate([j.probabilities[: j.n_found] for j in own]).mean()
        right = np.concatenate([j.sequence.is_right()[: j.n_found] for j in own]).mean()
        axes[1].plot(stated, right, "o", color="#0072b2", ms=4)
        axes[1].annotate(
            kind, (stated, right), xytext=(3, 2), textcoords="offset points", fontsize=6
        )
    for axis, title in zip(
        axes, ("tenths of at least 100 boundaries", "means of each kind"), strict=True
    ):
        axis.plot([0, 1], [0, 1], color="0.7", lw=1)
        axis.set(xlim=(0, 1), ylim=(0, 1), xlabel="stated probability")
        axis.set_title(title, loc="left", fontsize=10)
    axes[0].set_ylabel("right")
    figure.savefig(folder / "reliability.png", dpi=80)
