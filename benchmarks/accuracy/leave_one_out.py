"""Choose the default's constants without a group, and see what that group loses.

    python benchmarks/accuracy/leave_one_out.py --root ../shared/data

Two constants were chosen on these groups: the highest price of a boundary and the discount of a hard cut. For every
group they are chosen again from a grid without it, in three ways: so that the group that stands worst against the
best other tool on it stands as well as possible (how the default was chosen), so that no group is far below the best
it can have on the grid (smallest worst regret), and by the mean F1. The tables show the group's F1 with that choice,
with today's constants, and the difference.
"""

from __future__ import annotations

import argparse
import itertools
from pathlib import Path

import numpy as np
from joblib import Parallel, delayed
from sequences import Sequence, load_all
from threadpoolctl import threadpool_limits

from dayline import EventSegmenter, partition, score_boundaries
from dayline.denoise import standardize
from dayline.prices import DISCOUNT, HIGHEST_PRICE, boundary_prices

HIGHEST = (*(float(h) for h in range(2, 19)), 20.0, 22.0, 25.0, 28.0, 32.0, 40.0, 50.0)
DISCOUNTS = (0.0, 2.0, 8.0)
TODAY = (HIGHEST_PRICE, DISCOUNT)
BEST_OTHER = {"bbc": 0.411, "gtea": 0.537, "sensecam": 0.412, "mocap6": 0.761, "keck": 0.243, "mad": 0.235}
"""F1 of the best automatic peer on every group, as printed by bench.py."""
GRID = list(itertools.product(HIGHEST, DISCOUNTS))


def scores(sequence: Sequence) -> list[float]:
    """F1 of one sequence for every pair of constants, from one embedding."""
    with threadpool_limits(1):
        embedding = EventSegmenter().fit(sequence.features).evidence_.embedding
    values = standardize(sequence.features.astype(np.float64))
    found = [partition(embedding, penalty=boundary_prices(values, highest=h, discount=d)) for h, d in GRID]
    n = len(values)
    return [score_boundaries(b, sequence.boundaries, tolerance=sequence.tolerance, n_frames=n).f1 for b in found]


def worst_margin(means: np.ndarray, groups: list[str]) -> int:
    """The pair with which the group that stands worst against the best other tool stands as well as possible."""
    others = np.asarray([[BEST_OTHER[group]] for group in groups])
    return int((means - others).min(axis=0).argmax())


def smallest_regret(means: np.ndarray, _: list[str]) -> int:
    """The pair with which the group that loses most against its own best pair loses least."""
    return int((means.max(axis=1, keepdims=True) - means).max(axis=0).argmin())


def highest_mean(means: np.ndarray, _: list[str]) -> int:
    return int(means.mean(axis=0).argmax())


CHOICES = {
    "worst margin over the best other tool": worst_margin,
    "smallest worst regret": smallest_regret,
    "highest mean": highest_mean,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", type=Path, default=Path("../shared/data"))
    parser.add_argument("--jobs", type=int, default=2)
    arguments = parser.parse_args()
    sequences = load_all(arguments.root)
    measured = np.asarray(Parallel(n_jobs=arguments.jobs)(delayed(scores)(s) for s in sequences))
    groups = list(dict.fromkeys(s.group for s in sequences))
    means = np.asarray([measured[[s.group == g for s in sequences]].mean(axis=0) for g in groups])
    today = GRID.index(TODAY)
    for words, choose in CHOICES.items():
        print(f"chosen by the {words} (all groups: {GRID[choose(means, groups)]})")
        print(f"{'group':10s} {'chosen without it':>18s} {'F1 so':>7s} {'today':>7s} {'loss':>7s}")
        for k, group in enumerate(groups):
            chosen = choose(np.delete(means, k, axis=0), [g for g in groups if g != group])
            so, now = means[k, chosen], means[k, today]
            print(f"{group:10s} {GRID[chosen]!s:>18s} {so:7.3f} {now:7.3f} {now - so:7.3f}")
    print(f"F1 by highest price, discount {TODAY[1]:g}:")
    print(f"{'':6s}" + " ".join(f"{g:>9s}" for g in groups))
    for h in HIGHEST:
        print(f"{h:5.1f} " + " ".join(f"{v:9.3f}" for v in means[:, GRID.index((h, TODAY[1]))]))
    print("mean over groups by highest price and discount:")
    print(f"{'':6s}" + " ".join(f"{d:7.1f}" for d in DISCOUNTS))
    for h in HIGHEST:
        print(f"{h:5.1f} " + " ".join(f"{means[:, GRID.index((h, d))].mean():7.3f}" for d in DISCOUNTS))


if __name__ == "__main__":
    main()
