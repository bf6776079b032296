"""F1 with pauses as boundaries and without, of the recordings that have times.

    python benchmarks/accuracy/pauses.py [--root ../shared/data] [--jobs 2]

Reads ROOT/dev/GROUP/*.npz that hold `times`. Prints for each kind the number of recordings, the
pauses, how many of them have a true boundary within the tolerance, and interior F1.
"""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
from joblib import Parallel, delayed
from sequences import options_of
from threadpoolctl import threadpool_limits

from dayline import EventSegmenter, score_boundaries
from dayline.features.numpy_files import list_npz, load_npz
from dayline.metrics import match_boundaries
from dayline.research.datasets.annotations import read_labeled


def judge(path: Path) -> tuple[int, int, float, float]:
    """Return the pauses of a recording, how many are right, and F1 without and with them."""
    sequence, times = read_labeled(path), load_npz(path, ["times"])["times"]
    true, tolerance = sequence.boundaries, sequence.tolerance
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        without, found = (
            EventSegmenter(pauses=pauses).fit(sequence.features, times=times)
            for pauses in (False, True)
        )
    pauses = [event.start for event in found.events_ if event.reason == "pause"]
    scores = [
        score_boundaries(f.boundaries_, true, tolerance=tolerance).f1 for f in (without, found)
    ]
    n_right = len(match_boundaries(pauses, true, tolerance=tolerance))
    return len(pauses), n_right, scores[0], scores[1]


def main() -> None:
    parser = options_of(__doc__)
    options = parser.parse_args()
    paths = [
        path for path in sorted((options.root / "dev").glob("*/*.npz")) if "times" in list_npz(path)
    ]
    judged = Parallel(options.jobs)(delayed(judge)(path) for path in paths)
    kinds = np.asarray([path.parent.name for path in paths])
    print("| kind | recordings | pauses | right | F1 without | F1 with |")
    print("| --- | --- | --- | --- | --- | --- |")
    means = []
    for kind in np.unique(kinds):
        rows = np.asarray(judged)[kinds == kind]
        n_pauses, n_right = rows[:, :2].sum(axis=0).astype(int)
        means.append(rows[:, 2:].mean(axis=0))
        cells = [f"{kind}", len(rows), n_pauses, n_right, *(f"{f1:.3f}" for f1 in means[-1])]
        print(f"| {' | '.join(map(str, cells))} |")
    total = " | ".join(f"{f1:.4f}" for f1 in np.mean(means, axis=0))
    print(f"| mean | {len(paths)} | | | {total} |")


if __name__ == "__main__":
    main()
