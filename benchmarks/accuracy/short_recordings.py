"""F1 of the default on short recordings: parts of longer ones, each segmented on its own.

    python benchmarks/accuracy/short_recordings.py [--root ../shared/data] [--folder OUT]

Up to two parts of 40, 80, 160 and 320 frames of every recording that is at least half as long
again; OUT is that of other_kinds.py. Prints interior F1 (boundaries of all parts of a kind counted
together, then averaged over kinds) and the number of boundaries found over the true one (geometric
mean over kinds), for each part on its own, for the same frames within the whole recording, and with
the true number given. The last column counts the parts without a true boundary, and those in which
none was found. The model knows these recordings, so only differences count.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
from joblib import Parallel, delayed
from sequences import load_all, options_of
from threadpoolctl import threadpool_limits

from dayline import EventSegmenter, score_boundaries
from dayline.research.datasets.annotations import LabeledSequence

LENGTHS = (40, 80, 160, 320)
ANSWERS = ("alone", "within the whole", "number given")


@dataclass
class Counts:
    """Boundaries that match, were found and are true."""

    matched: float = 0.0
    found: int = 0
    true: int = 0

    def add(self, found: np.ndarray, true: np.ndarray, *, tolerance: int, n_frames: int) -> None:
        """Count one part."""
        f1 = (
            score_boundaries(found, true, tolerance=tolerance, n_frames=n_frames).f1
            if len(true)
            else 0.0
        )
        self.matched += f1 * (len(found) + len(true)) / 2
        self.found += len(found)
        self.true += len(true)

    @property
    def f1(self) -> float:
        """Of all parts together."""
        return 2 * self.matched / max(1, self.found + self.true)


def parts(sequence: LabeledSequence) -> list[tuple[int, dict[str, np.ndarray], np.ndarray]]:
    """Segment the whole and some parts.

    Return for each part its length, the answers and the true boundaries.
    """
    features, made = np.asarray(sequence.features, dtype=np.float64), []
    true, n = np.asarray(sequence.boundaries), sequence.n_frames
    with threadpool_limits(1), warnings.catch_warnings():
        # Frames that stand out in a part need not do so in the whole.
        warnings.simplefilter("ignore", UserWarning)
        whole = EventSegmenter().fit(features).boundaries_
        for length in LENGTHS:
            for start in [] if n < 1.5 * length else [(n - length) // 4, 3 * (n - length) // 4]:
                here = EventSegmenter().fit(features[start : start + length])
                own = true[(true > start) & (true < start + length)] - start
                answers = {
                    "alone": here.boundaries_,
                    "within the whole": whole[(whole > start) & (whole < start + length)] - start,
                    "number given": np.asarray(
                        here.choose(n_events=len(own) + 1).boundaries, dtype=np.int64
                    ),
                }
                made.append((length, answers, own))
    return made


def main() -> None:
    options = options_of(__doc__).parse_args()

    sequences = load_all(options.root, options.folder)
    results = Parallel(options.jobs)(delayed(parts)(sequence) for sequence in sequences)
    counts: dict[tuple[int, str, str], Counts] = {}
    empty = dict.fromkeys(LENGTHS, 0)
    left = dict.fromkeys(LENGTHS, 0)
    for sequence, made in zip(sequences, results, strict=True):
        for length, answers, true in made:
            empty[length] += len(true) == 0
            left[length] += len(true) == 0 and len(answers["alone"]) == 0
            for name, found in answers.items():
                mine = counts.setdefault((length, name, sequence.group), Counts())
                mine.add(found, true, tolerance=sequence.tolerance, n_frames=length)
    columns = " | ".join(f"{name}: F1 | found / true" for name in ANSWERS[:2])
    print(
        f"| frames | kinds | {columns} | number given: F1 | parts without a boundary, none found"
        " in |"
    )
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    for length in LENGTHS:
        kinds = sorted({kind for (n, _, kind), some in counts.items() if n == length and some.true})
        cells = []
        for name in ANSWERS:
            some = [counts[length, name, kind] for kind in kinds]
            cells.append(f"{np.mean([one.f1 for one in some]):.3f}"[1:])
            if name != "number given":
                ratio = np.exp(np.mean([np.log(max(one.found, 0.5) / one.true) for one in some]))
                cells.append(f"{ratio:.2f}")
        print(
            f"| {length} | {len(kinds)} | {' | '.join(cells)} | {empty[length]}, {left[length]} |"
        )


if __name__ == "__main__":
    main()
