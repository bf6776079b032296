"""What the decision model is worth on kinds of recordings that it has not seen.

`fit_decision.py` prints and draws with these; they change nothing that is fitted. The tables by
kind are made by summary.py, from the scores that `fit_decision.py --table` writes.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from scipy.stats import spearmanr

if TYPE_CHECKING:
    from fit_decision import Judged

    from dayline.decision.model import DecisionModel


def by_kind(judged: Iterable[Judged], value: Callable[[Judged], float]) -> dict[str, float]:
    """Return the mean of a value over the sequences of each kind."""
    found: dict[str, list[float]] = {}
    for one in judged:
        found.setdefault(one.kind, []).append(value(one))
    return {kind: float(np.mean(values)) for kind, values in sorted(found.items())}


def print_scores(name: str, judged: list[Judged], groups: Mapping[str, Collection[str]]) -> None:
    """Print the mean F1 of groups of kinds, and with the number of events given."""
    found = by_kind(judged, lambda j: j.f1(j.found))
    given = by_kind(judged, lambda j: j.f1(j.as_many_as_true))
    cells = [
        f"{len(kinds)} {group} {mean_of(found, kinds)} ({mean_of(given, kinds)})"
        for group, kinds in groups.items()
        if kinds
    ]
    print(f"  {name:20}{', '.join(cells)}", flush=True)


def mean_of(scores: dict[str, float], kinds: Iterable[str]) -> str:
    """Return the mean of some kinds."""
    return f"{np.mean([scores[kind] for kind in kinds]):.4f}"


def print_loss_of_fast(judged: list[Judged], fast: list[Judged]) -> None:
    """Print what fast() loses, and whether it loses more where named events recur."""
    default, other = (by_kind(some, lambda j: j.f1(j.found)) for some in (judged, fast))
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
    for sequence in (one.sequence for one in judged):
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
    stated = np.concatenate([j.confidence for j in judged])
    right = np.concatenate([j.is_right(j.found) for j in judged])
    kinds = np.concatenate([np.repeat(j.kind, len(j.found)) for j in judged])
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


def print_confidence(judged: list[Judged]) -> None:
    """Print the stated confidence of every kind and the share that is right."""
    found = [one for one in judged if len(one.found)]
    kinds = sorted({one.kind for one in found})
    columns = (
        np.concatenate([one.confidence for one in found]),
        np.concatenate([one.is_right(one.found) for one in found]),
        np.concatenate([np.full(len(one.found), one.evidence.shared) for one in found]),
    )
    of = np.concatenate([np.repeat(one.kind, len(one.found)) for one in found])
    table = np.asarray([[values[of == kind].mean() for values in columns] for kind in kinds])
    print("confidence by kind, held out: stated, right, share of boundaries in all partitions")
    for kind, row in zip(kinds, table, strict=True):
        print(f"  {kind:14}{row[0]:.2f} {row[1]:.2f} {row[2]:.2f}")
    apart = table[:, 0] - table[:, 1]
    far = ", ".join(kind for kind, value in zip(kinds, apart, strict=True) if abs(value) > 0.3)
    print(
        f"  stated less right: mean {apart.mean():+.3f}, mean size {np.abs(apart).mean():.3f};"
        f" beyond .3: {far}"
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
    for kind in sorted({j.kind for j in judged}):
        own = [j for j in judged if j.kind == kind and len(j.found)]
        stated = np.concatenate([j.confidence for j in own]).mean()
        right = np.concatenate([j.is_right(j.found) for j in own]).mean()
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
