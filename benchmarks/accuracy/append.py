"""Check that a sequence that grows gives the boundaries of a fresh run.

    python benchmarks/accuracy/append.py --root ../shared/data [--most 1500]

Each development sequence is fitted on its first two thirds and the rest is appended. Boundaries more than 100 frames
before the end are compared with those of a fresh run as interior F1 at tolerance 1; evaluations of both are counted.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from joblib import Parallel, delayed
from sequences import Sequence, load_folder

from dayline import EventSegmenter, score_boundaries


def compare(sequence: Sequence, most: int | None) -> tuple[str, float, int, int]:
    x = sequence.features[:most]
    fresh = EventSegmenter().fit(x)
    grown = EventSegmenter().fit(x[: 2 * len(x) // 3]).append(x[2 * len(x) // 3 :])
    before = len(x) - 100
    pair = (some.boundaries_[some.boundaries_ < before] for some in (grown, fresh))
    f1 = score_boundaries(*pair, tolerance=1).f1
    return sequence.group, f1, grown.embedder_.n_evaluations_, fresh.embedder_.n_evaluations_


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", type=Path, default=Path("../shared/data"))
    parser.add_argument("--most", type=int, default=None, help="use only the first MOST frames of each sequence")
    parser.add_argument("--jobs", type=int, default=2)
    arguments = parser.parse_args()
    sequences = load_folder(arguments.root / "dev")
    rows = Parallel(n_jobs=arguments.jobs)(delayed(compare)(s, arguments.most) for s in sequences)
    for group in dict.fromkeys(row[0] for row in rows):
        own = [row for row in rows if row[0] == group]
        f1 = [row[1] for row in own]
        print(f"{group:10s} F1 mean {np.mean(f1):.3f}, worst {np.min(f1):.3f}; evaluations "
              f"{np.mean([r[2] for r in own]):.0f} appended, {np.mean([r[3] for r in own]):.0f} fresh")  # fmt: skip
    print(
        f"{'all':10s} F1 mean {np.mean([row[1] for row in rows]):.3f}, worst {np.min([row[1] for row in rows]):.3f}"
    )


if __name__ == "__main__":
    main()
