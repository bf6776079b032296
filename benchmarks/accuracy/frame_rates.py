"""F1 of the default on recordings at other frame rates: repeated, interpolated and left-out frames.

    python benchmarks/accuracy/frame_rates.py [--root ../shared/data] [--folder OUT] [--most 600]

The first MOST frames of two recordings of each kind; OUT is that of other_kinds.py. Prints, for
each rate, interior F1 (averaged over recordings, then over kinds; the tolerance grows with the
rate) and the number of events over that at the recorded rate (geometric mean). As a control, the
same with candidates that do not depend on how slowly frames change. The model knows these
recordings, so only differences between rows count.
"""

from __future__ import annotations

from collections.abc import Callable
from unittest.mock import patch

import numpy as np
from joblib import Parallel, delayed
from sequences import load_all, options_of
from threadpoolctl import threadpool_limits

from dayline import EventSegmenter, score_boundaries
from dayline.decision.evidence import slowness
from dayline.research.datasets.annotations import LabeledSequence


def interpolated(x: np.ndarray, times: int) -> np.ndarray:
    """Put as many frames between two as makes the rate that many times as high."""
    at = np.arange((len(x) - 1) * times + 1) / times
    before = np.minimum(at.astype(np.int64), len(x) - 2)
    share = (at - before)[:, None]
    return (1 - share) * x[before] + share * x[before + 1]


RATES: dict[str, tuple[float, Callable[[np.ndarray], np.ndarray]]] = {
    "as recorded": (1, lambda x: x),
    "every second frame": (0.5, lambda x: x[::2]),
    "every frame twice": (2, lambda x: np.repeat(x, 2, axis=0)),
    "every frame five times": (5, lambda x: np.repeat(x, 5, axis=0)),
    "interpolated, twice the rate": (2, lambda x: interpolated(x, 2)),
    "interpolated, four times the rate": (4, lambda x: interpolated(x, 4)),
}


def judge(sequence: LabeledSequence, rate: str, most: int) -> list[tuple[float, int]]:
    """Return F1 and the number of events, with slowness and without."""
    factor, change = RATES[rate]
    features = np.asarray(sequence.features[:most], dtype=np.float64)
    true = np.asarray([b for b in sequence.boundaries if b < len(features)])
    x = change(features)
    tolerance = max(1, int(sequence.tolerance * factor + max(factor - 1, 0)))
    answers = []
    with threadpool_limits(1):
        for measured in (slowness, lambda _: 1.0):
            with patch("dayline.decision.evidence.slowness", measured):
                found = EventSegmenter().fit(x).boundaries_
            score = score_boundaries(
                found, np.unique((true * factor).astype(np.int64)), tolerance=tolerance
            )
            answers.append((score.f1, len(found) + 1))
    return answers


def main() -> None:
    parser = options_of(__doc__)
    parser.add_argument("--most", type=int, default=600)
    options = parser.parse_args()

    by_kind: dict[str, list[LabeledSequence]] = {}
    for sequence in load_all(options.root, options.folder):
        by_kind.setdefault(sequence.group, []).append(sequence)
    chosen = [sequence for some in by_kind.values() for sequence in some[:2]]
    kinds = np.asarray([sequence.group for sequence in chosen])
    print(f"{len(by_kind)} kinds, {len(chosen)} recordings")
    print(
        "| frames | F1 | events | F1, without slowness | events |\n| --- | --- | --- | --- | --- |"
    )
    usual: np.ndarray | None = None
    for rate in RATES:
        answers = np.asarray(
            Parallel(options.jobs)(delayed(judge)(s, rate, options.most) for s in chosen)
        )
        scores = [
            np.mean([answers[kinds == kind, k, 0].mean() for kind in by_kind]) for k in range(2)
        ]
        numbers = np.exp(np.log(answers[:, :, 1]).mean(axis=0))
        usual = numbers if usual is None else usual
        cells = [
            f"{f1:.3f} | {ratio:.2f}" for f1, ratio in zip(scores, numbers / usual, strict=True)
        ]
        print(f"| {rate} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
