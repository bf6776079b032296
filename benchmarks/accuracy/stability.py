"""Check that boundaries survive what must not matter.

Precision, library, threads, column order, 1e-6 noise.

    python benchmarks/accuracy/stability.py --root ../shared/data [--methods default authors]
    [--most 2500]

For every sequence, the boundaries of each run are scored against those of the float64 NumPy run, as
interior F1 at tolerance 1. Also counts the evaluations of initial embeddings and the descents that
end above their starting loss (`fast` has none).
"""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
from joblib import Parallel, delayed
from sequences import load_all, options_of
from threadpoolctl import threadpool_limits

from dayline import DynamicGraphEmbedding, EventSegmenter, PrincipalComponents, score_boundaries
from dayline.research.datasets.annotations import LabeledSequence

METHODS = {
    "default": (EventSegmenter, DynamicGraphEmbedding),
    "fast": (partial(EventSegmenter.fast, dtype="float64"), PrincipalComponents),
    "paper": (EventSegmenter.paper, DynamicGraphEmbedding.paper),
    "authors": (EventSegmenter.authors, DynamicGraphEmbedding.authors),
}
VARIANTS = (
    "again",
    "float32 input",
    "float32 work",
    "PyTorch",
    "2 threads",
    "shuffled columns",
    "1e-6 noise",
)


def boundaries(method: str, variant: str, x: np.ndarray) -> EventSegmenter:
    segmenter = METHODS[method][0]()
    random = np.random.default_rng(0)
    if variant == "float32 work":
        segmenter.set_params(embedding=METHODS[method][1](dtype="float32"))
    if variant == "PyTorch":
        segmenter.set_params(device="torch")
    if variant == "float32 input":
        x = x.astype(np.float32)
    if variant == "shuffled columns":
        x = x[:, random.permutation(x.shape[1])]
    if variant == "1e-6 noise":
        # Relative to each column's standard deviation: SenseCam's columns differ by a factor of
        # 100,000.
        x = x + 1e-6 * x.std(axis=0) * random.normal(size=x.shape)
    with threadpool_limits(2 if variant == "2 threads" else 1):
        return segmenter.fit(x)


def compare(method: str, sequence: LabeledSequence, variants: list[str]) -> dict[str, object]:
    x = sequence.features.astype(np.float64)
    reference = boundaries(method, "", x)
    descents = () if method == "fast" else reference.embedder_.descents_
    row: dict[str, object] = {
        "group": sequence.group,
        "name": sequence.name,
        "events": len(reference.boundaries_) + 1,
    }
    row["initial evaluations"] = descents[0]["n_evaluations"] if descents else 0
    row["ended above start"] = sum(d["loss"] > d["start_loss"] for d in descents)
    for variant in variants:
        found = boundaries(method, variant, x).boundaries_
        row[variant] = score_boundaries(
            found, reference.boundaries_, tolerance=1, n_frames=len(x)
        ).f1
    return row


def main() -> None:
    parser = options_of(__doc__)
    parser.add_argument("--methods", nargs="+", default=list(METHODS), choices=list(METHODS))
    parser.add_argument("--variants", nargs="+", default=list(VARIANTS), choices=list(VARIANTS))
    parser.add_argument(
        "--most", type=int, default=None, help="use only the first MOST frames of each sequence"
    )
    parser.add_argument("--least", type=int, default=0, help="leave out sequences of fewer frames")
    parser.add_argument("--output", type=Path, default=None, help="write all rows as JSON")
    arguments = parser.parse_args()

    sequences = [
        replace(s, features=s.features[: arguments.most], labels=None)
        for s in load_all(arguments.root)
        if len(s.features) >= arguments.least
    ]
    everything = {}
    for method in arguments.methods:
        rows = Parallel(n_jobs=arguments.jobs)(
            delayed(compare)(method, s, arguments.variants) for s in sequences
        )
        everything[method] = rows
        print(f"\n{method}: {len(rows)} sequences")
        print(
            "most evaluations of an initial embedding:"
            f" {max(r['initial evaluations'] for r in rows)}"
        )
        print(f"descents that ended above their start: {sum(r['ended above start'] for r in rows)}")
        by_group = defaultdict(list)
        for row in rows:
            by_group[row["group"]].append(row)
        print(f"{'':18s} {'mean':>6s} {'worst':>6s}   " + " ".join(f"{g:>9s}" for g in by_group))
        for variant in arguments.variants:
            values = [row[variant] for row in rows]
            groups = " ".join(
                f"{np.mean([r[variant] for r in rs]):9.3f}" for rs in by_group.values()
            )
            print(
                f"{variant:18s} {np.mean(values):6.3f} {np.min(values):6.3f}   {groups}", flush=True
            )
    if arguments.output:
        arguments.output.write_text(json.dumps(everything, indent=1))


if __name__ == "__main__":
    main()
