"""Choose the default's constants without a group, and see what that group loses.

    python benchmarks/accuracy/leave_one_out.py --root ../shared/data

The highest price of a boundary was chosen for the highest mean F1 among the prices with which no group stands more
than 0.02 below the best other tool on it. For every group it is chosen again without that group, by this rule and by
two others (the mean alone, the smallest worst regret), and once more together with how much dearer a boundary is
across which looks come back. The tables show the group's F1 with that choice, with today's, and the difference.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

import numpy as np
from joblib import Parallel, delayed
from sequences import Sequence, load_all
from threadpoolctl import threadpool_limits

from dayline import EventSegmenter, partition, score_boundaries
from dayline.denoise import standardize
from dayline.prices import COMEBACK, HIGHEST_PRICE, boundary_prices, persistence

HIGHEST = np.asarray([2, 3, 4, 5, 6, 8, 10, *range(12, 27), 28, 30, 32, 36, 40, 50], dtype=float)
COMEBACKS = np.asarray([0.0, 2.0, 3.0, 3.75, 4.5])
BEST_OTHER = {"bbc": 0.411, "gtea": 0.537, "sensecam": 0.412, "mocap6": 0.761, "keck": 0.243, "mad": 0.235}
"""F1 of the best automatic peer on every group, as printed by bench.py."""
NEAR = 0.02
Choice = Callable[[np.ndarray, list[str]], tuple[int, int]]
"""Takes F1 by group, comeback and price, and the groups; returns the places of comeback and price."""


def scores(sequence: Sequence) -> list[list[float]]:
    """F1 of one sequence for every comeback and highest price, from one embedding."""
    with threadpool_limits(1):
        fitted = EventSegmenter().fit(sequence.features)
    values = standardize(sequence.features.astype(np.float64))
    lasting, n = persistence(values), len(values)
    found = []
    for comeback in COMEBACKS:
        unit, _ = boundary_prices(values, fitted.embedder_.denoised_, highest=1.0, comeback=comeback)
        found.append([partition(fitted.embedding_, penalty=unit * min(lasting, h)) for h in HIGHEST])
    return [
        [score_boundaries(b, sequence.boundaries, tolerance=sequence.tolerance, n_frames=n).f1 for b in row]
        for row in found
    ]


def margins(means: np.ndarray, groups: list[str]) -> np.ndarray:
    """How far the group that stands worst stands above the best other tool on it."""
    return np.asarray((means - np.asarray([BEST_OTHER[g] for g in groups])[:, None, None]).min(axis=0))


def best_near(means: np.ndarray, groups: list[str]) -> tuple[int, int]:
    """The pair with the highest mean among those with which no group is far below the best other tool."""
    worst = margins(means, groups)
    near = worst >= min(-NEAR, float(worst.max()))
    return place(np.where(near, means.mean(axis=0), -1.0))


def best_price_near(means: np.ndarray, groups: list[str]) -> tuple[int, int]:
    """The same for the price alone, at today's comeback."""
    at = list(COMEBACKS).index(COMEBACK)
    return at, best_near(means[:, at : at + 1], groups)[1]


def smallest_regret(means: np.ndarray, _: list[str]) -> tuple[int, int]:
    """Today's comeback, and the price with which the group that loses most against its own best loses least."""
    at = list(COMEBACKS).index(COMEBACK)
    some = means[:, at]
    return at, int((some.max(axis=1, keepdims=True) - some).max(axis=0).argmin())


def highest_mean(means: np.ndarray, _: list[str]) -> tuple[int, int]:
    at = list(COMEBACKS).index(COMEBACK)
    return at, int(means[:, at].mean(axis=0).argmax())


def place(values: np.ndarray) -> tuple[int, int]:
    i, j = np.unravel_index(int(values.argmax()), values.shape)
    return int(i), int(j)


CHOICES: dict[str, Choice] = {
    "price: the highest mean with no group 0.02 below the best other tool": best_price_near,
    "price and comeback: the same": best_near,
    "price: the smallest worst regret": smallest_regret,
    "price: the highest mean": highest_mean,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", type=Path, default=Path("../shared/data"))
    parser.add_argument("--jobs", type=int, default=2)
    arguments = parser.parse_args()
    sequences = sorted(load_all(arguments.root), key=lambda s: -len(s.features))
    measured = np.asarray(Parallel(n_jobs=arguments.jobs)(delayed(scores)(s) for s in sequences))
    groups = [g for g in BEST_OTHER if any(s.group == g for s in sequences)]
    means = np.asarray([measured[[s.group == g for s in sequences]].mean(axis=0) for g in groups])
    today = list(COMEBACKS).index(COMEBACK), list(HIGHEST).index(HIGHEST_PRICE)
    for words, choose in CHOICES.items():
        i, j = choose(means, groups)
        print(f"{words} (all groups: price {HIGHEST[j]:g}, comeback {COMEBACKS[i]:g})")
        print(f"{'group':10s} {'price':>7s} {'comeback':>9s} {'F1 so':>7s} {'today':>7s} {'loss':>7s}")
        for k, group in enumerate(groups):
            i, j = choose(np.delete(means, k, axis=0), [g for g in groups if g != group])
            so, now = means[k, i, j], means[k, *today]
            print(f"{group:10s} {HIGHEST[j]:7g} {COMEBACKS[i]:9g} {so:7.3f} {now:7.3f} {now - so:7.3f}")
    for i, comeback in enumerate(COMEBACKS):
        print(f"F1 by highest price, comeback {comeback:g}:")
        print(f"{'':6s}" + " ".join(f"{g:>9s}" for g in groups) + "     mean  margin")
        for h, row, worst in zip(HIGHEST, means[:, i].T, margins(means, groups)[i], strict=True):
            print(f"{h:5.0f} " + " ".join(f"{v:9.3f}" for v in row) + f" {row.mean():8.3f} {worst:+7.3f}")


if __name__ == "__main__":
    main()
