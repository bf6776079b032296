"""Check that a boundary with confidence 0.8 is right 8 times out of 10.

    python benchmarks/accuracy/reliability.py --root ../shared/data [--folder MORE ...] [--output FILE.png]

For the development sets, Keck and MAD, and further folders of groups: the share of found boundaries that match a true
one, by stated confidence. Groups weigh the same. The constants of the confidence were fitted on the four development
sets alone.
"""

from __future__ import annotations

import argparse
from itertools import pairwise
from pathlib import Path

import numpy as np
from joblib import Parallel, delayed
from sequences import load_all
from threadpoolctl import threadpool_limits

from dayline import EventSegmenter, score_boundaries
from dayline.datasets.folders import load_folder
from dayline.datasets.sequence import LabelledSequence

EDGES = np.asarray([0.0, 0.5, 0.6, 0.7, 0.8, 1.0])


def judge(sequence: LabelledSequence) -> tuple[str, np.ndarray, np.ndarray]:
    """Confidence of every found boundary, and whether it takes part in the largest matching."""
    with threadpool_limits(1):
        fitted = EventSegmenter().fit(sequence.features)
    found, true = fitted.boundaries_, sequence.boundaries

    def matched(n: int) -> int:
        return score_boundaries(found[:n], true, tolerance=sequence.tolerance).n_matched

    right = np.diff([matched(n) for n in range(len(found) + 1)])
    return sequence.group, fitted.confidence_, right


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", type=Path, default=Path("../shared/data"))
    parser.add_argument("--folder", type=Path, nargs="*", default=[], help="further folders of groups")
    parser.add_argument("--output", type=Path, default=None)
    parser.add_argument("--jobs", type=int, default=2)
    arguments = parser.parse_args()
    others = [s for folder in arguments.folder for s in load_folder(folder)]
    rows = Parallel(n_jobs=arguments.jobs)(delayed(judge)(s) for s in load_all(arguments.root) + others)
    kinds = {"keck": "Keck and MAD", "mad": "Keck and MAD"} | dict.fromkeys((s.group for s in others), "other kinds")
    curves = {}
    for name in dict.fromkeys(("development sets", *kinds.values())):
        groups = [g for g in dict.fromkeys(r[0] for r in rows) if kinds.get(g, "development sets") == name]
        curves[name] = curve([pool(rows, group) for group in groups])
        print(name)
        for low, high, sure, right, n in curves[name]:
            print(f"  stated {low:.1f}..{high:.1f}: {n:4d} boundaries, mean confidence {sure:.2f}, right {right:.2f}")
    if arguments.output:
        draw(curves, arguments.output)


def pool(rows: list, group: str) -> tuple[np.ndarray, np.ndarray]:
    own = [r for r in rows if r[0] == group]
    return np.concatenate([r[1] for r in own]), np.concatenate([r[2] for r in own])


def curve(groups: list[tuple[np.ndarray, np.ndarray]]) -> list[tuple[float, float, float, float, int]]:
    points = []
    for low, high in pairwise(EDGES):
        inside = [(c[k], r[k]) for c, r in groups for k in [(c >= low) & (c < high)] if k.any()]
        if inside:
            sure, right = (float(np.mean([part[i].mean() for part in inside])) for i in (0, 1))
            points.append((float(low), float(high), sure, right, sum(len(c) for c, _ in inside)))
    return points


def draw(curves: dict[str, list], path: Path) -> None:
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    figure, axis = plt.subplots(figsize=(4.6, 4.2), layout="constrained")
    axis.plot([0, 1], [0, 1], color="0.7", lw=1, label="stated = right")
    for (name, points), color in zip(curves.items(), ("#0072b2", "#d55e00", "#009e73"), strict=False):
        axis.plot([p[2] for p in points], [p[3] for p in points], "o-", color=color, label=name)
    axis.set(xlabel="stated confidence", ylabel="share of boundaries that match", xlim=(0, 1), ylim=(0, 1))
    axis.legend(fontsize=9)
    figure.savefig(path, dpi=90)


if __name__ == "__main__":
    main()
