"""Choose the default's constants without one group, and measure what that group loses.

    python benchmarks/accuracy/leave_one_out.py --root ../shared/data [--folder MORE ...] [--shift FACTOR]

Six constants are chosen together from 2,025 settings, each over a factor of four: the highest penalty, how strongly
recurrence raises it, how much a hard cut lowers it, the lowest penalty, and two of the stable penalty. They are
chosen in two ways: the setting with the highest mean F1 over groups, and the geometric mean of all settings, each
weighted by exp(-t), t the standard errors (over groups) by which it is below the best. The first follows chance,
because the mean is flat and noisy. The second stays near the middle of the grid if the groups decide little;
--shift moves the middle, which is today's constants. For every group the choice is made again without it. This takes
half an hour on one core.

Tables: the group's F1 with that choice, with the choice from all groups, the difference, its standard error over the
group's sequences, the F1 with today's constants, and the choice. Finally, each constant is chosen alone by the
highest mean, with the others in the middle of their grids: the choice, and the group that loses most.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import NamedTuple

import numpy as np
from joblib import Parallel, delayed
from sequences import load_all
from threadpoolctl import threadpool_limits

from dayline import EventSegmenter, partition, score_boundaries
from dayline.datasets.folders import load_folder
from dayline.datasets.sequence import LabelledSequence
from dayline.decision.hard_cuts import DISCOUNT, abruptness, cut_discount, gradual_factor, hard_cuts
from dayline.decision.penalties import (
    HIGHEST_PENALTY,
    LOWEST_PENALTY,
    RECURRENCE_STRENGTH,
    order_matters,
    persistence,
    recurrence_factor,
)
from dayline.decision.recurrence import recurrence
from dayline.decision.stability import DOUBT, UNDECIDED, most_stable_factor, penalty_curve
from dayline.method.denoise import standardize
from dayline.method.graph import unit_rows

NAMES = ("highest penalty", "recurrence", "discount", "lowest penalty", "doubt", "undecided")
TODAY = np.asarray([HIGHEST_PENALTY, RECURRENCE_STRENGTH, DISCOUNT, LOWEST_PENALTY, DOUBT, UNDECIDED])
STEPS = [2.0 ** (np.arange(-k, k + 1) / k) for k in (2, 2, 1, 1, 1, 1)]
Grid = list[np.ndarray]
"""Values of every constant."""


class Evidence(NamedTuple):
    """What is needed to segment one sequence with any constants."""

    u: np.ndarray
    recurring: np.ndarray
    cuts: np.ndarray
    persistence: float
    ordered: bool


def gather(sequence: LabelledSequence) -> Evidence:
    with threadpool_limits(1):
        fitted = EventSegmenter().fit(sequence.features)
    values = standardize(sequence.features.astype(np.float64))
    return Evidence(
        unit_rows(fitted.embedding_),
        recurrence(fitted.embedder_.denoised_),
        hard_cuts(abruptness(values)),
        persistence(values),
        order_matters(values),
    )


def f1(sequence: LabelledSequence, u: np.ndarray, penalties: np.ndarray) -> float:
    found = partition(u, penalty=penalties)
    return score_boundaries(found, sequence.boundaries, tolerance=sequence.tolerance, n_frames=len(u)).f1


def lowest_penalties(evidence: Evidence, strength: float, discount: float, lowest: float) -> np.ndarray:
    undiscounted = lowest * recurrence_factor(evidence.recurring, strength=strength)
    gradual = gradual_factor(evidence.u, undiscounted, evidence.cuts)
    return undiscounted * gradual / cut_discount(evidence.cuts, discount=discount)


def score(sequence: LabelledSequence, evidence: Evidence, constants: np.ndarray) -> float:
    """F1 with these constants."""
    highest, strength, discount, low, doubt, undecided = constants
    if not evidence.ordered:
        return 0.0
    lowest = min(max(evidence.persistence, low), highest)
    penalties = lowest_penalties(evidence, strength, discount, lowest)
    curve = penalty_curve(evidence.u, penalties, max_factor=highest / lowest)
    factor = 1.0 if curve is None else most_stable_factor(curve, doubt=doubt, undecided=undecided)
    return f1(sequence, evidence.u, penalties * factor)


def scores(sequence: LabelledSequence, evidence: Evidence, grid: Grid) -> np.ndarray:
    """F1 for every setting; what several settings share is computed once."""
    if not evidence.ordered:
        return np.zeros(int(np.prod([len(values) for values in grid])))
    known: dict[tuple[float, ...], float] = {}
    found = []
    for highest, strength, discount, low in product(*grid[:4]):
        lowest = min(max(evidence.persistence, low), highest)
        shared = (highest, strength, discount, lowest)
        pairs = list(product(*grid[4:]))
        if (*shared, *pairs[0]) not in known:
            penalties = lowest_penalties(evidence, strength, discount, lowest)
            curve = penalty_curve(evidence.u, penalties, max_factor=highest / lowest)
            factors = [1.0 if curve is None else most_stable_factor(curve, doubt=d, undecided=t) for d, t in pairs]
            of_factor = {factor: f1(sequence, evidence.u, penalties * factor) for factor in set(factors)}
            known |= {(*shared, *pair): of_factor[factor] for pair, factor in zip(pairs, factors, strict=True)}
        found += [known[*shared, *pair] for pair in pairs]
    return np.asarray(found)


def measured(sequence: LabelledSequence, grid: Grid) -> tuple[Evidence, np.ndarray]:
    evidence = gather(sequence)
    return evidence, scores(sequence, evidence, grid)


def highest_mean(means: np.ndarray, settings: np.ndarray) -> np.ndarray:
    """Return constants from the mean F1 of every group (rows) with every setting (columns)."""
    return np.asarray(settings[means.mean(axis=0).argmax()])


def weighted_mean(means: np.ndarray, settings: np.ndarray) -> np.ndarray:
    """Return constants from the mean F1 of every group (rows) with every setting (columns)."""
    below = means[:, [means.mean(axis=0).argmax()]] - means
    error = below.std(axis=0, ddof=1) / np.sqrt(len(means))
    weights = np.exp(-below.mean(axis=0) / np.maximum(error, 1e-9))
    return np.asarray(np.exp(weights @ np.log(settings) / weights.sum()))


Choose = Callable[[np.ndarray, np.ndarray], np.ndarray]
Results = dict[str, list[tuple[LabelledSequence, Evidence, np.ndarray]]]
"""Sequences of every group with their measurements."""


def print_losses(results: Results, choose: Choose, settings: np.ndarray, jobs: int) -> None:
    means = np.asarray([np.mean([grid for _, _, grid in group], axis=0) for group in results.values()])
    on_all = choose(means, settings)
    print(f"{choose.__name__.replace('_', ' ')}, {len(results)} groups: {_words(on_all)}")
    print(f"{'group':12s} {'F1 so':>7s} {'all':>7s} {'loss':>7s} {'error':>7s} {'today':>7s}  chosen without it")
    for k, (name, group) in enumerate(results.items()):
        without = choose(np.delete(means, k, axis=0), settings)
        rows = Parallel(n_jobs=jobs)(
            delayed(score)(s, evidence, c) for s, evidence, _ in group for c in (without, on_all, TODAY)
        )
        so, known, today = np.reshape(rows, (-1, 3)).T
        error = (known - so).std(ddof=1) / np.sqrt(len(so)) if len(so) > 1 else np.nan
        cells = " ".join(f"{v:7.3f}" for v in (so.mean(), known.mean(), (known - so).mean(), error, today.mean()))
        print(f"{name:12s} {cells}  {_words(without)}", flush=True)


def print_each_alone(results: Results, grid: Grid) -> None:
    means = np.asarray([np.mean([scored for _, _, scored in group], axis=0) for group in results.values()])
    table = means.reshape(len(means), *[len(values) for values in grid])
    print(f"each constant alone, {len(results)} groups")
    for k, (name, values) in enumerate(zip(NAMES, grid, strict=True)):
        middle = tuple(slice(None) if i == k else len(v) // 2 for i, v in enumerate(grid))
        line = table[(slice(None), *middle)]
        chosen = int(line.mean(axis=0).argmax())
        without = [int(np.delete(line, g, axis=0).mean(axis=0).argmax()) for g in range(len(line))]
        losses = np.asarray([line[g, chosen] - line[g, other] for g, other in enumerate(without)])
        most = int(losses.argmax())
        where = f"{list(results)[most]}, with {values[without[most]]:.3g}" if losses[most] > 0 else "none"
        print(f"{name:14s} {values[chosen]:7.3g}  largest loss {losses[most]:.3f} ({where})", flush=True)


def _words(constants: np.ndarray) -> str:
    return " ".join(f"{value:.3g}" for value in constants)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", type=Path, default=Path("../shared/data"))
    parser.add_argument("--folder", type=Path, nargs="*", default=[], help="additional folders of groups")
    parser.add_argument("--shift", type=float, default=1.0, help="factor on the middle of the grid")
    parser.add_argument("--jobs", type=int, default=2)
    arguments = parser.parse_args()
    own, more = load_all(arguments.root), [load_folder(folder) for folder in arguments.folder]
    sequences = sorted(own + [s for folder in more for s in folder], key=lambda s: -len(s.features))
    grid = [arguments.shift * value * steps for value, steps in zip(TODAY, STEPS, strict=True)]
    found = Parallel(n_jobs=arguments.jobs)(delayed(measured)(s, grid) for s in sequences)
    results: Results = {}
    for sequence, (evidence, of_grid) in zip(sequences, found, strict=True):
        results.setdefault(sequence.group, []).append((sequence, evidence, of_grid))
    known: set[str] = set()
    for folder in [own, *more]:
        known |= {s.group for s in folder}
        some = {group: results[group] for group in sorted(known)}
        if len(some) < 3:
            raise SystemExit(f"{', '.join(some)}: leaving one out needs at least three groups")
        for choose in (highest_mean, weighted_mean):
            print_losses(some, choose, np.asarray(list(product(*grid))), arguments.jobs)
        print_each_alone(some, grid)


if __name__ == "__main__":
    main()
