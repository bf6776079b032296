"""Fit the default's constants without a group, and see what that group loses.

    python benchmarks/accuracy/leave_one_out.py --root ../shared/data [--folder MORE ...]

Six constants are fitted together, each over a factor of four: the highest price, how much dearer a boundary is across
which looks come back, how much cheaper a hard cut is, the lowest price, and two of the steady price. Over groups the
mean F1 is flat and noisy, so the highest of 2,025 means says little. The fit is the geometric mean of all settings,
each weighted by exp(-t), t the standard errors (over groups) by which it is below the best. An hour on one core.

For every group the fit is made again without it. Tables: the group's F1 with that fit, with the fit to all groups,
the difference, its standard error over the group's sequences, the F1 with today's constants, and the fit.
"""

from __future__ import annotations

import argparse
from itertools import product
from pathlib import Path
from typing import NamedTuple

import numpy as np
from joblib import Parallel, delayed
from sequences import Sequence, load_all, load_folder
from threadpoolctl import threadpool_limits

from dayline import EventSegmenter, partition, score_boundaries
from dayline.cuts import DISCOUNT, abruptness, cut_discount, hard_cuts, plain_factor
from dayline.denoise import standardize
from dayline.graph import unit_rows
from dayline.prices import COMEBACK, HIGHEST_PRICE, LOWEST_PRICE, comeback_factor, order_matters, persistence
from dayline.returns import return_of_looks
from dayline.steadiness import DOUBT, UNDECIDED, price_curve, steadiest

TODAY = np.asarray([HIGHEST_PRICE, COMEBACK, DISCOUNT, LOWEST_PRICE, DOUBT, UNDECIDED])
STEPS = [2.0 ** (np.arange(-k, k + 1) / k) for k in (2, 2, 1, 1, 1, 1)]
MIDDLE = (20.0, 3.5, 8.0, 2.0, 4.0, 0.03)
"""Where the fit begins; each constant goes from half of this to twice it."""
GRID = [value * steps for value, steps in zip(MIDDLE, STEPS, strict=True)]
SETTINGS = np.asarray(list(product(*GRID)))


class Looks(NamedTuple):
    """What is needed to segment one sequence with any constants."""

    u: np.ndarray
    returns: np.ndarray
    cuts: np.ndarray
    lasting: float
    ordered: bool


def looked_at(sequence: Sequence) -> Looks:
    with threadpool_limits(1):
        fitted = EventSegmenter().fit(sequence.features)
    values = standardize(sequence.features.astype(np.float64))
    return Looks(
        unit_rows(fitted.embedding_),
        return_of_looks(fitted.embedder_.denoised_),
        hard_cuts(abruptness(values)),
        persistence(values),
        order_matters(values),
    )


def f1(sequence: Sequence, u: np.ndarray, prices: np.ndarray) -> float:
    found = partition(u, penalty=prices)
    return score_boundaries(found, sequence.boundaries, tolerance=sequence.tolerance, n_frames=len(u)).f1


def asked_prices(looks: Looks, comeback: float, discount: float, lowest: float) -> np.ndarray:
    full = lowest * comeback_factor(looks.returns, strength=comeback)
    plain = plain_factor(looks.u, full, looks.cuts)
    return full * plain / cut_discount(looks.cuts, discount=discount)


def score(sequence: Sequence, looks: Looks, constants: np.ndarray) -> float:
    """F1 with these constants."""
    highest, comeback, discount, low, doubt, undecided = constants
    if not looks.ordered:
        return 0.0
    lowest = min(max(looks.lasting, low), highest)
    asked = asked_prices(looks, comeback, discount, lowest)
    curve = price_curve(looks.u, asked, room=highest / lowest)
    factor = 1.0 if curve is None else steadiest(curve, doubt=doubt, undecided=undecided)
    return f1(sequence, looks.u, asked * factor)


def scores(sequence: Sequence, looks: Looks) -> np.ndarray:
    """F1 for every setting; what several settings share is computed once."""
    if not looks.ordered:
        return np.zeros(len(SETTINGS))
    known: dict[tuple[float, ...], float] = {}
    found = []
    for highest, comeback, discount, low in product(*GRID[:4]):
        lowest = min(max(looks.lasting, low), highest)
        shared = (highest, comeback, discount, lowest)
        pairs = list(product(*GRID[4:]))
        if (*shared, *pairs[0]) not in known:
            asked = asked_prices(looks, comeback, discount, lowest)
            curve = price_curve(looks.u, asked, room=highest / lowest)
            factors = [1.0 if curve is None else steadiest(curve, doubt=d, undecided=t) for d, t in pairs]
            of_factor = {factor: f1(sequence, looks.u, asked * factor) for factor in set(factors)}
            known |= {(*shared, *pair): of_factor[factor] for pair, factor in zip(pairs, factors, strict=True)}
        found += [known[*shared, *pair] for pair in pairs]
    return np.asarray(found)


def measured(sequence: Sequence) -> tuple[Looks, np.ndarray]:
    looks = looked_at(sequence)
    return looks, scores(sequence, looks)


def fitted(means: np.ndarray) -> np.ndarray:
    """Constants from the mean F1 of every group (rows) with every setting (columns)."""
    below = means[:, [means.mean(axis=0).argmax()]] - means
    error = below.std(axis=0, ddof=1) / np.sqrt(len(means))
    weights = np.exp(-below.mean(axis=0) / np.maximum(error, 1e-9))
    return np.asarray(np.exp(weights @ np.log(SETTINGS) / weights.sum()))


Results = dict[str, list[tuple[Sequence, Looks, np.ndarray]]]
"""Sequences of every group with what was measured."""


def print_losses(results: Results, jobs: int) -> None:
    means = np.asarray([np.mean([grid for _, _, grid in group], axis=0) for group in results.values()])
    on_all = fitted(means)
    print(f"fitted to {len(results)} groups: {_words(on_all)}")
    print(f"{'group':12s} {'F1 so':>7s} {'all':>7s} {'loss':>7s} {'error':>7s} {'today':>7s}  fitted without it")
    for k, (name, group) in enumerate(results.items()):
        without = fitted(np.delete(means, k, axis=0))
        rows = Parallel(n_jobs=jobs)(
            delayed(score)(s, looks, c) for s, looks, _ in group for c in (without, on_all, TODAY)
        )
        so, known, today = np.reshape(rows, (-1, 3)).T
        error = (known - so).std(ddof=1) / np.sqrt(len(so)) if len(so) > 1 else np.nan
        cells = " ".join(f"{v:7.3f}" for v in (so.mean(), known.mean(), (known - so).mean(), error, today.mean()))
        print(f"{name:12s} {cells}  {_words(without)}", flush=True)


def _words(constants: np.ndarray) -> str:
    return " ".join(f"{value:.3g}" for value in constants)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", type=Path, default=Path("../shared/data"))
    parser.add_argument("--folder", type=Path, nargs="*", default=[], help="further folders of groups")
    parser.add_argument("--jobs", type=int, default=2)
    arguments = parser.parse_args()
    own, more = load_all(arguments.root), [load_folder(folder) for folder in arguments.folder]
    sequences = sorted(own + [s for folder in more for s in folder], key=lambda s: -len(s.features))
    found = Parallel(n_jobs=arguments.jobs)(delayed(measured)(s) for s in sequences)
    results: Results = {}
    for sequence, (looks, grid) in zip(sequences, found, strict=True):
        results.setdefault(sequence.group, []).append((sequence, looks, grid))
    known: set[str] = set()
    for folder in [own, *more]:
        known |= {s.group for s in folder}
        print_losses({group: results[group] for group in sorted(known)}, arguments.jobs)


if __name__ == "__main__":
    main()
