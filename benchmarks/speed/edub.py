"""Time of `EventSegmenter.paper()` and of the notebook's formulas in the shape of EDUB-Seg.

    python benchmarks/speed/edub.py [--sequences 20] [--frames 18735] [--features 2048] [--jobs 2]

Embeds all sequences with the paper's settings and finds their boundaries, in JOBS processes of one
thread each, and prints the wall-clock seconds. Then, on the two sequences of median length, in one
process with JOBS threads: seconds of `paper()`, and of the same stages as the published notebook
writes them (automatic differentiation, cosines broadcast over frames x frames x components; 1 and 6
steps per embedding are run and scaled to 150). All times are from one run: compare ratios. Loading
libraries and starting processes is not counted.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
from joblib import Parallel, delayed
from made import made_sequence
from methods import autograd_seconds
from threadpoolctl import threadpool_limits

from dayline import EventSegmenter


def made_lengths(n_sequences: int, n_frames: int) -> list[int]:
    """Return lengths of days that differ by up to a factor of three and sum to `n_frames`."""
    shares = np.random.default_rng(0).uniform(1, 3, n_sequences)
    stops = np.round(np.cumsum(shares) / shares.sum() * n_frames).astype(int)
    return np.diff(stops, prepend=0).tolist()


def n_boundaries(features: np.ndarray) -> int:
    with threadpool_limits(1):
        return len(EventSegmenter.paper().fit(features).boundaries_)


def times() -> tuple[float, float]:
    return time.perf_counter(), time.process_time()


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sequences", type=int, default=20)
    parser.add_argument("--frames", type=int, default=18_735, help="of all sequences")
    parser.add_argument("--features", type=int, default=2048)
    parser.add_argument("--jobs", type=int, default=2)
    arguments = parser.parse_args()

    lengths = made_lengths(arguments.sequences, arguments.frames)
    sequences = [made_sequence(n, arguments.features)[0].astype(np.float32) for n in lengths]
    # The longest first, so that no process waits for a long one at the end.
    by_length = sorted(sequences, key=len, reverse=True)
    with Parallel(n_jobs=arguments.jobs) as parallel:
        parallel(
            delayed(n_boundaries)(x[:100]) for x in by_length[: 2 * arguments.jobs]
        )  # starts the processes
        begin = time.perf_counter()
        found = parallel(delayed(n_boundaries)(x) for x in by_length)
        seconds = time.perf_counter() - begin
    print(
        f"paper(), {len(sequences)} sequences, {sum(lengths):,} frames x {arguments.features:,}, "
        f"{arguments.jobs} processes: {seconds:.1f} s, {sum(found)} boundaries",
        flush=True,
    )

    import torch

    torch.set_num_threads(arguments.jobs)
    middle = len(by_length) // 2
    with threadpool_limits(arguments.jobs):
        EventSegmenter.paper().fit(by_length[middle][:100])
        autograd_seconds(by_length[middle][:100], times)
        for x in by_length[max(middle - 1, 0) : middle + 1]:
            begin = time.perf_counter()
            EventSegmenter.paper().fit(x)
            ours = time.perf_counter() - begin
            theirs, _ = autograd_seconds(x, times)
            print(
                f"{len(x)} frames: paper() {ours:.2f} s, notebook's formulas {theirs:.0f} s, "
                f"{theirs / ours:.0f} times as long",
                flush=True,
            )


if __name__ == "__main__":
    main()
