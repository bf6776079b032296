"""Choose the default's constants without a group, and see what that group loses.

    python benchmarks/accuracy/leave_one_out.py --root ../shared/data

Two constants were chosen on these groups: the highest price of a boundary and the discount of a hard cut. For every
group they are chosen again from a grid without it, in two ways: so that no other group is far below the best it can
have on the grid (smallest worst regret), which is how the default was chosen, and by the mean F1 over the others. The
tables show the group's F1 with that choice, with today's constants, and the difference.
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

HIGHEST = tuple(float(h) for h in range(6, 19))
DISCOUNTS = (0.0, 2.0, 8.0)
TODAY = (HIGHEST_PRICE, DISCOUNT)
GRID = list(itertools.product(HIGHEST, DISCOUNTS))


def scores(sequence: Sequence) -> list[float]:
    """F1 of one sequence for every pair of constants, from one embedding."""
    with threadpool_limits(1):
        embedding = EventSegmenter().fit(sequence.features).evidence_.embedding
    values = standardize(sequence.features.astype(np.float64))
    found = [partition(embedding, penalty=boundary_prices(values, highest=h, discount=d)) for h, d in GRID]
    n = len(values)
    return [score_boundaries(b, sequence.boundaries, tolerance=sequence.tolerance, n_frames=n).f1 for b in found]


def smallest_regret(means: np.ndarray) -> int:
    """The pair with which the group that loses most against its own best pair loses least."""
    return int((means.max(axis=1, keepdims=True) - means).max(axis=0).argmin())


def highest_mean(means: np.ndarray) -> int:
    return int(means.mean(axis=0).argmax())


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
    for words, choose in (("smallest worst regret", smallest_regret), ("highest mean", highest_mean)):
        print(f"chosen by the {words} (all groups: {GRID[choose(means)]})")
        print(f"{'group':10s} {'chosen without it':>18s} {'F1 so':>7s} {'today':>7s} {'loss':>7s}")
        for k, group in enumerate(groups):
            chosen = choose(np.delete(means, k, axis=0))
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
