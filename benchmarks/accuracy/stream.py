"""How much `EventStream` agrees with `fit` on the whole, how late it is, and what memory it takes.

Prints, for each group of long sequences, the F1 of the boundaries reported as frames arrive against
those of `fit` on the whole (within five frames), their number relative to those, the F1 of both
against people's boundaries, and the mean delay of a report in frames; the end of the sequence,
where all the rest is reported, is left out of the delay. `--joined` joins the sequences of a group.

    python benchmarks/accuracy/stream.py [--fast] [--joined] [--window 8000] [--every 500]
    python benchmarks/accuracy/stream.py --memory
"""

from __future__ import annotations

import resource
import time
import warnings
from itertools import groupby
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from sequences import load_all, options_of

from dayline import EventSegmenter, EventStream, score_boundaries
from dayline.arrays import FloatArray, IntArray

SHORTEST = 1500
"""Frames of a sequence that is long."""


def stream(
    segmenter: EventSegmenter, x: FloatArray, window: int, every: int
) -> tuple[IntArray, list[int]]:
    """Return all boundaries, and the delays of those reported before the end."""
    events = EventStream(segmenter, window=window, every=every)
    found, delays = [], []
    for start in range(0, len(x), 100):
        now = events.add(x[start : start + 100])
        found.append(now)
        delays += (events.n_frames_ - now).tolist()
    return np.concatenate([*found, events.finish()]), delays


def measure(
    fast: bool, x: FloatArray, true: IntArray, tolerance: int, window: int, every: int
) -> tuple[float, ...]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        segmenter = EventSegmenter.fast() if fast else EventSegmenter()
        whole = segmenter.fit(x).boundaries_
        found, delays = stream(segmenter, x, window, every)
    agreement = score_boundaries(found, whole, tolerance=5).f1
    of_stream, of_whole = (
        score_boundaries(one, true, tolerance=tolerance).f1 for one in (found, whole)
    )
    share = len(found) / max(len(whole), 1)
    return agreement, share, of_stream, of_whole, float(np.mean(delays)) if delays else np.nan


def joined(group: list[Any]) -> tuple[FloatArray, IntArray, int]:
    """Join sequences of the same columns; where one begins is a boundary."""
    same = [one for one in group if one.features.shape[1] == group[0].features.shape[1]]
    starts = np.cumsum([0, *(len(one.features) for one in same[:-1])])
    pairs = zip(starts, same, strict=True)
    true = np.concatenate([[s, *(s + one.boundaries)] for s, one in pairs])[1:]
    features = np.concatenate([one.features for one in same])
    return features, true.astype(np.int64), same[0].tolerance


def print_memory() -> None:
    rng = np.random.default_rng(0)
    means = rng.normal(size=(100_000 // 200, 32))
    events = EventStream(EventSegmenter.fast())
    began, n_found = time.process_time(), 0
    for k, mean in enumerate(means):
        n_found += len(events.add(mean + rng.normal(scale=0.3, size=(200, 32))))
        if (k + 1) % 50 == 0:
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
            seconds = time.process_time() - began
            began = time.process_time()
            print(
                f"{events.n_frames_:7} frames: peak {peak:.0f} MB,"
                f" {seconds / 10:.3f} CPU s per 1,000 frames, {n_found} boundaries"
            )


def main() -> None:
    parser = options_of(__doc__)
    parser.add_argument("--fast", action="store_true")
    parser.add_argument("--joined", action="store_true")
    parser.add_argument("--memory", action="store_true")
    parser.add_argument("--window", type=int, default=8000)
    parser.add_argument("--every", type=int, default=500)
    options = parser.parse_args()
    if options.memory:
        print_memory()
        return

    print("| group | sequences | frames | agreement | number | stream | whole | delay |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    rows = []
    by_group = groupby(load_all(options.root, options.folder, mad=0), key=lambda one: one.group)
    for name, sequences in by_group:
        group = list(sequences)
        given = [(one.features, one.boundaries, one.tolerance) for one in group]
        if options.joined:
            given = [joined(group)]
        given = [one for one in given if len(one[0]) >= SHORTEST]
        if not given:
            continue
        measured = Parallel(options.jobs)(
            delayed(measure)(options.fast, *one, options.window, options.every) for one in given
        )
        rows.append(np.array(measured)[:, :4].mean(axis=0))
        delays = np.array(measured)[:, 4]
        delay = f"{np.nanmean(delays):.0f}" if np.isfinite(delays).any() else ""
        cells = " | ".join(f"{value:.3f}" for value in rows[-1])
        n_frames = sum(len(one[0]) for one in given)
        print(f"| {name} | {len(given)} | {n_frames} | {cells} | {delay} |", flush=True)
    print(f"| mean | | | {' | '.join(f'{v:.3f}' for v in np.mean(rows, axis=0))} | |")


if __name__ == "__main__":
    main()
