"""Accuracy of segmenters over groups of sequences, beside controls and baselines.

    python benchmarks/accuracy/bench.py --root ../shared/data [--folder MORE] [--methods default
    ces-raw ...]

MORE is a folder of groups, GROUP/*.npz with features, boundaries and tolerance, as in ROOT/dev.
Runs in parallel and stores every finished sequence under --store, so that an interrupted run
resumes; delete the store after changing a method. Prints interior F1, precision and recall (means
over the sequences of a group), found / true, seconds, F1 minus that of as many random cuts (it
separates placing boundaries from counting them), the mean over groups, and bootstrap intervals (90
%) over sequences within groups and over groups.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from joblib import Parallel, delayed
from sequences import load_all, options_of
from threadpoolctl import threadpool_limits

from dayline import EventSegmenter, equal_pieces, random_cuts, score_boundaries
from dayline.files import write_text_whole
from dayline.research.baselines.clustering import TemporalFinch
from dayline.research.baselines.kernel_change import KernelChangeSegmenter, KernelTemporalSegmenter
from dayline.research.baselines.novelty import ContextualSegmenter, WindowDifferenceSegmenter
from dayline.research.datasets.annotations import LabeledSequence

DEV = ("bbc", "gtea", "sensecam", "mocap6")
METHODS: dict[str, Callable[[LabeledSequence], np.ndarray]] = {
    "default": lambda s: EventSegmenter().fit(s.features).boundaries_,
    "fast": lambda s: EventSegmenter.fast().fit(s.features).boundaries_,
    "default, true number": lambda s: (
        EventSegmenter(n_events=len(s.boundaries) + 1).fit(s.features).boundaries_
    ),
    "authors": lambda s: EventSegmenter.authors().fit(s.features).boundaries_,
    "paper": lambda s: EventSegmenter.paper().fit(s.features).boundaries_,
    "ces-raw": lambda s: ContextualSegmenter().fit(s.features).boundaries_,
    "ces-denoised": lambda s: ContextualSegmenter(denoise=True).fit(s.features).boundaries_,
    "kernel-rbf": lambda s: (
        KernelChangeSegmenter(kernel="rbf", standardize=False).fit(s.features).boundaries_
    ),
    "kernel-cosine": lambda s: (
        KernelChangeSegmenter(kernel="cosine", standardize=False).fit(s.features).boundaries_
    ),
    "kernel-rbf, standardized": lambda s: (
        KernelChangeSegmenter(kernel="rbf").fit(s.features).boundaries_
    ),
    "kernel-cosine, standardized": lambda s: (
        KernelChangeSegmenter(kernel="cosine").fit(s.features).boundaries_
    ),
    "kts": lambda s: KernelTemporalSegmenter().fit(s.features).boundaries_,
    "tw-finch": lambda s: TemporalFinch().fit(s.features).boundaries_,
    "window-difference": lambda s: WindowDifferenceSegmenter().fit(s.features).boundaries_,
    "equal pieces, true number": lambda s: equal_pieces(len(s.features), len(s.boundaries) + 1),
    "none": lambda _: np.zeros(0, dtype=int),
}


def measure(method: str, sequence: LabeledSequence, store: Path) -> dict[str, float]:
    """Score one method on one sequence, or read the stored scores of an earlier run."""
    path = store / method.replace(" ", "_") / sequence.group / f"{sequence.name}.json"
    if path.exists():
        return json.loads(path.read_text())
    begin = time.perf_counter()
    with threadpool_limits(1):
        found = METHODS[method](sequence)
    seconds = time.perf_counter() - begin
    n = len(sequence.features)

    def score(boundaries: np.ndarray):
        return score_boundaries(
            boundaries, sequence.boundaries, tolerance=sequence.tolerance, n_frames=n
        )

    own = score(found)
    chance = np.mean([score(random_cuts(n, len(found) + 1, random_state=k)).f1 for k in range(50)])
    row = {
        "f1": own.f1,
        "precision": own.precision,
        "recall": own.recall,
        "above chance": own.f1 - chance,
    }
    row |= {"found": own.n_found, "true": own.n_true, "seconds": seconds}
    path.parent.mkdir(parents=True, exist_ok=True)
    write_text_whole(path, json.dumps(row))
    return row


def interval(
    groups: list[np.ndarray], random: np.random.Generator, times: int = 2000
) -> tuple[float, float]:
    """Bootstrap the mean over groups: draw groups, then sequences within each."""
    means = []
    for _ in range(times):
        drawn = [groups[i] for i in random.integers(len(groups), size=len(groups))]
        means.append(np.mean([random.choice(g, len(g)).mean() for g in drawn]))
    low, high = np.quantile(means, [0.05, 0.95])
    return float(low), float(high)


def report(method: str, rows: dict[str, list[dict[str, float]]]) -> None:
    random = np.random.default_rng(0)
    f1 = {group: np.asarray([r["f1"] for r in some]) for group, some in rows.items()}
    means = {group: values.mean() for group, values in f1.items()}
    print(f"\n{method}")
    heads = ("F1", "90 % interval", "P", "R", ">chance", "found/true", "s")
    print("  " + " ".join(f"{head:>13s}" for head in ("", *heads)))
    for group, some in rows.items():
        low, high = interval([f1[group]], random, 500)
        p, r, above, s = (
            np.mean([row[k] for row in some])
            for k in ("precision", "recall", "above chance", "seconds")
        )
        ratio = sum(row["found"] for row in some) / max(1, sum(row["true"] for row in some))
        cells = (
            f"{means[group]:.3f}",
            f"{low:.3f}..{high:.3f}",
            *(f"{v:.3f}" for v in (p, r, above)),
        )
        print(
            "  " + " ".join(f"{cell:>13s}" for cell in (group, *cells, f"{ratio:.2f}", f"{s:.2f}"))
        )
    for name, groups in (("dev", [g for g in DEV if g in rows]), ("all groups", list(rows))):
        if groups:
            low, high = interval([f1[g] for g in groups], random)
            above = np.mean([np.mean([row["above chance"] for row in rows[g]]) for g in groups])
            mean = np.mean([means[g] for g in groups])
            print(
                f"  {'mean, ' + name:16s} {mean:.3f} ({low:.3f}..{high:.3f}), above chance"
                f" {above:.3f}"
            )


def main() -> None:
    parser = options_of(__doc__)
    parser.add_argument("--only-folders", action="store_true", help="do not use ROOT")
    parser.add_argument("--mad", type=int, default=10, help="number of MAD sequences")
    parser.add_argument("--methods", nargs="+", default=list(METHODS), choices=list(METHODS))
    parser.add_argument("--store", type=Path, default=Path("results/accuracy"))
    arguments = parser.parse_args()

    root = None if arguments.only_folders else arguments.root
    sequences = load_all(root, arguments.folder, mad=arguments.mad)
    if not sequences:
        raise SystemExit(f"no sequences under {arguments.root}; pass --root or --folder")
    for method in arguments.methods:
        measured = Parallel(n_jobs=arguments.jobs)(
            delayed(measure)(method, s, arguments.store) for s in sequences
        )
        rows: dict[str, list[dict[str, float]]] = {}
        for sequence, row in zip(sequences, measured, strict=True):
            rows.setdefault(sequence.group, []).append(row)
        report(method, rows)


if __name__ == "__main__":
    main()
