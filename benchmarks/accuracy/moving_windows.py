"""F1 of the default on averages over a moving window, as video networks give them.

    python benchmarks/accuracy/moving_windows.py [--seeds 5]

Made sequences: 12 events of six contexts in 32 columns, contexts and noise of variance 1, averaged
over windows of 1 to 100 frames. Prints the mean number of events found and interior F1, at a
tolerance of half a window (5 frames at least), with all frames and with one frame in every quarter
of a window.
"""

from __future__ import annotations

import argparse

import numpy as np
from scipy.ndimage import uniform_filter1d

from dayline import EventSegmenter, score_boundaries

WINDOWS = (1, 8, 16, 32, 64, 100)
N_EVENTS, N_CONTEXTS, N_COLUMNS = 12, 6, 32


def made_events(mean_length: int, random: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return features and boundaries of events that differ from their neighbors."""
    contexts = random.normal(size=(N_CONTEXTS, N_COLUMNS))
    lengths = random.integers(mean_length // 2, 3 * mean_length // 2, N_EVENTS)
    # A step of 1 to 5 contexts is never back to the same one.
    which = np.cumsum(random.integers(1, N_CONTEXTS, N_EVENTS)) % N_CONTEXTS
    clean = np.repeat(contexts[which], lengths, axis=0)
    return clean + random.normal(size=clean.shape), np.cumsum(lengths)[:-1]


def judge(mean_length: int, window: int, step: int, seed: int) -> tuple[int, float]:
    """Return the number of events found, and F1."""
    x, true = made_events(mean_length, np.random.default_rng(seed))
    averaged = uniform_filter1d(x, window, axis=0)
    found = EventSegmenter().fit(averaged[::step]).boundaries_
    score = score_boundaries(found * step, true, tolerance=max(5, window // 2), n_frames=len(x))
    return len(found) + 1, score.f1


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seeds", type=int, default=5)
    seeds = range(parser.parse_args().seeds)

    print(
        "| window | events of about | all frames: events, F1 | one frame in a quarter of the"
        " window: events, F1 |"
    )
    print("| --- | --- | --- | --- |")
    for window in WINDOWS:
        for mean_length in (100, 300):
            cells = []
            for step in (1, max(1, window // 4)):
                events, scores = zip(
                    *(judge(mean_length, window, step, seed) for seed in seeds), strict=True
                )
                cells.append(f"{np.mean(events):.0f}, {np.mean(scores):.2f}".replace("0.", "."))
            print(f"| {window} | {mean_length} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
