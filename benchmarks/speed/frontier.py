"""Time against F1 of all methods that find the number of events themselves, in one run.

    python benchmarks/speed/frontier.py [--root ../shared/data/dev] [--most 3] [--draw
    docs/images/frontier.png]

ROOT holds groups, GROUP/*.npz with features, boundaries and tolerance. Of each group, the first
--most sequences are segmented, one after the other. Prints mean interior F1 over groups and seconds
per 1,000 frames of all sequences together, and marks the methods that no other one beats in both
(the frontier).

The decision model of the default and of `fast()` was fitted to these groups among others, so that
their F1 here is not held out. README.md has the held-out figures, from
`benchmarks/accuracy/fit_decision.py --table`.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from dayline import score_boundaries
from dayline.research.datasets.annotations import LabeledSequence, find_groups, load_group

sys.path.insert(0, str(Path(__file__).parents[1] / "accuracy"))
from bench import METHODS

AUTOMATIC = [name for name in METHODS if "true number" not in name and name != "none"]
FITTED = ("default", "fast")
"""Methods whose model was fitted to these groups too."""
LABELS = {
    "default": "dayline",
    "fast": "dayline, fast()",
    "paper": "paper()",
    "authors": "authors()",
    "window-difference": "window difference",
    "kernel-cosine": "kernel change points, cosine",
    "kernel-rbf": "kernel change points, rbf",
    "ces-raw": "CES rule, raw features",
    "ces-denoised": "CES rule, denoised",
    "tw-finch": "TW-FINCH",
    "kts": "KTS",
}


@dataclass(frozen=True)
class Point:
    """One method: mean F1 over groups, and seconds per 1,000 frames."""

    method: str
    f1: float
    cpu: float
    wall: float


def measure(method: str, groups: dict[str, list[LabeledSequence]]) -> Point:
    segment = METHODS[method]
    first = next(iter(groups.values()))[0]
    segment(first)  # load libraries before anything is measured
    means, cpu, wall, n_frames = [], 0.0, 0.0, 0
    for sequences in groups.values():
        scores = []
        for sequence in sequences:
            begin = time.process_time(), time.perf_counter()
            found = segment(sequence)
            cpu += time.process_time() - begin[0]
            wall += time.perf_counter() - begin[1]
            n = len(sequence.features)
            n_frames += n
            scores.append(
                score_boundaries(
                    found, sequence.boundaries, tolerance=sequence.tolerance, n_frames=n
                ).f1
            )
        means.append(np.mean(scores))
    return Point(method, float(np.mean(means)), 1000 * cpu / n_frames, 1000 * wall / n_frames)


def frontier(points: list[Point]) -> list[Point]:
    """Return the points that no other one beats in both time and F1, the fastest first."""
    best: list[Point] = []
    for point in sorted(points, key=lambda p: (p.cpu, -p.f1)):
        if not best or point.f1 > best[-1].f1:
            best.append(point)
    return best


def draw(path: Path, points: list[Point], title: str) -> None:
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    figure, axis = plt.subplots(figsize=(8, 4.6), layout="constrained")
    best = frontier(points)
    axis.plot(
        [p.cpu for p in best],
        [p.f1 for p in best],
        color="0.75",
        lw=1.5,
        drawstyle="steps-post",
        zorder=0,
    )
    for fitted, color, marker in ((False, "#d55e00", "o"), (True, "#0072b2", "s")):
        some = [p for p in points if (p.method in FITTED) == fitted]
        name = "model fitted to these groups too" if fitted else "others"
        axis.plot([p.cpu for p in some], [p.f1 for p in some], marker, color=color, label=name)
    for point in points:
        label = LABELS.get(point.method, point.method)
        axis.annotate(
            label, (point.cpu, point.f1), xytext=(5, 4), textcoords="offset points", fontsize=8
        )
    axis.set(xscale="log", xlabel="CPU seconds per 1,000 frames", ylabel="mean interior F1")
    axis.margins(x=0.14, y=0.1)
    axis.set_title(title, loc="left", fontsize=10)
    axis.legend(fontsize=8, loc="lower right")
    figure.savefig(path, dpi=80)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--root", type=Path, default=Path("../shared/data/dev"))
    parser.add_argument("--most", type=int, default=3, help="sequences of each group")
    parser.add_argument("--methods", nargs="+", default=AUTOMATIC, choices=AUTOMATIC)
    parser.add_argument("--draw", type=Path, metavar="FILE")
    options = parser.parse_args()

    groups = {
        name: load_group(options.root, name, most=options.most)
        for name in find_groups(options.root)
    }
    if not groups:
        raise SystemExit(f"no sequences under {options.root}; pass --root")
    warnings.simplefilter("ignore")  # outlying frames, once per method and sequence
    n_sequences = sum(map(len, groups.values()))
    n_frames = sum(len(s.features) for some in groups.values() for s in some)
    title = f"{n_sequences} sequences of {len(groups)} groups, {n_frames:,} frames"
    print(f"{title}\n\n| | F1 | CPU s per 1,000 frames | wall s per 1,000 frames | frontier |")
    print("| --- | --- | --- | --- | --- |")
    points = [measure(method, groups) for method in options.methods]
    best = frontier(points)
    for p in sorted(points, key=lambda p: -p.f1):
        name = LABELS.get(p.method, p.method) + (", not held out" if p.method in FITTED else "")
        print(
            f"| {name} | {p.f1:.3f} | {p.cpu:.3g} | {p.wall:.3g} | {'yes' if p in best else ''} |"
        )
    if options.draw:
        draw(options.draw, points, title)


if __name__ == "__main__":
    main()
