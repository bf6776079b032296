"""Choose the default's constants without a group, and see what that group loses.

    python benchmarks/accuracy/leave_one_out.py --root ../shared/data [--folder MORE ...]

For every group, the highest price of a boundary is chosen again on all the other groups (the highest mean F1), once
alone and once together with how much dearer a boundary is across which looks come back. The tables show the group's
F1 with that choice, with today's, the difference, and its standard error over the group's sequences.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from joblib import Parallel, delayed
from sequences import Sequence, load_all, load_folder
from threadpoolctl import threadpool_limits

from dayline import EventSegmenter, partition, score_boundaries
from dayline.denoise import standardize
from dayline.graph import unit_rows
from dayline.prices import COMEBACK, HIGHEST_PRICE, LOWEST_PRICE, boundary_prices, persistence
from dayline.steadiness import steady_factor

HIGHEST = np.asarray([10, 12, 14, 17, 20, 24, 28, 34, 40], dtype=float)
COMEBACKS = np.asarray([0.0, 2.0, 3.0, 3.5, 4.0, 5.0])
TODAY = list(COMEBACKS).index(COMEBACK), list(HIGHEST).index(HIGHEST_PRICE)


def scores(sequence: Sequence) -> list[list[float]]:
    """F1 of one sequence for every comeback and highest price, from one embedding."""
    with threadpool_limits(1):
        fitted = EventSegmenter().fit(sequence.features)
    values = standardize(sequence.features.astype(np.float64))
    u, n = unit_rows(fitted.embedding_), len(values)
    lasting = max(persistence(values), LOWEST_PRICE)
    rows = []
    for comeback in COMEBACKS:
        unit = boundary_prices(values, fitted.embedder_.denoised_, highest=1.0, comeback=comeback).asked
        found = []
        for highest in HIGHEST:
            lowest = unit * min(lasting, highest)
            factor = steady_factor(u, lowest, room=highest / min(lasting, highest))
            found.append(partition(u, penalty=lowest * factor))
        scored = (
            score_boundaries(b, sequence.boundaries, tolerance=sequence.tolerance, n_frames=n).f1 for b in found
        )
        rows.append(list(scored))
    return rows


def best(means: np.ndarray, *, price_alone: bool) -> tuple[int, int]:
    """Places of the comeback and the price with the highest mean over groups."""
    over_groups = means.mean(axis=0)
    if price_alone:
        return TODAY[0], int(over_groups[TODAY[0]].argmax())
    i, j = np.unravel_index(int(over_groups.argmax()), over_groups.shape)
    return int(i), int(j)


def print_losses(of_group: dict[str, np.ndarray], *, price_alone: bool) -> None:
    means = np.asarray([values.mean(axis=0) for values in of_group.values()])
    i, j = best(means, price_alone=price_alone)
    print(f"{'price alone' if price_alone else 'price and comeback'}; on all: {HIGHEST[j]:g}, {COMEBACKS[i]:g}")
    print(f"{'group':12s} {'price':>6s} {'comeback':>9s} {'F1 so':>7s} {'today':>7s} {'loss':>7s} {'error':>7s}")
    for k, (group, values) in enumerate(of_group.items()):
        i, j = best(np.delete(means, k, axis=0), price_alone=price_alone)
        loss = values[:, *TODAY] - values[:, i, j]
        error = loss.std(ddof=1) / np.sqrt(len(loss)) if len(loss) > 1 else np.nan
        cells = f"{means[k, i, j]:7.3f} {means[k, *TODAY]:7.3f} {loss.mean():7.3f} {error:7.3f}"
        print(f"{group:12s} {HIGHEST[j]:6g} {COMEBACKS[i]:9g} {cells}")


def print_surface(of_group: dict[str, np.ndarray]) -> None:
    for i, comeback in enumerate(COMEBACKS):
        print(f"F1 by highest price, comeback {comeback:g}:")
        print(f"{'':6s}" + " ".join(f"{group[:8]:>8s}" for group in of_group) + "     mean")
        for j, highest in enumerate(HIGHEST):
            row = [values[:, i, j].mean() for values in of_group.values()]
            print(f"{highest:5g} " + " ".join(f"{v:8.3f}" for v in row) + f" {np.mean(row):8.3f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", type=Path, default=Path("../shared/data"))
    parser.add_argument("--folder", type=Path, nargs="*", default=[], help="further folders of groups")
    parser.add_argument("--jobs", type=int, default=2)
    arguments = parser.parse_args()
    sequences = load_all(arguments.root) + [s for folder in arguments.folder for s in load_folder(folder)]
    sequences.sort(key=lambda s: -len(s.features))
    measured = np.asarray(Parallel(n_jobs=arguments.jobs)(delayed(scores)(s) for s in sequences))
    groups = sorted({s.group for s in sequences})
    of_group = {group: measured[[s.group == group for s in sequences]] for group in groups}
    for price_alone in (True, False):
        print_losses(of_group, price_alone=price_alone)
    print_surface(of_group)


if __name__ == "__main__":
    main()
