"""CPU time and memory of EventSegmenter.fast(), beside ruptures' cosine kernel in the same run.

    python benchmarks/speed/fast.py [--frames 1000 4000 40000] [--features 512] [--default]

Features are single precision, once of clear events and once noisy (`made_features` of core.py).
Times are CPU seconds of one thread; the kernel runs up to 8,000 frames. --default adds
EventSegmenter(). The memory is what the fit of clear events allocates at most, without its input.
"""

from __future__ import annotations

import argparse
import time
import tracemalloc
from collections.abc import Callable

import numpy as np
import ruptures
from core import made_features
from threadpoolctl import threadpool_limits

from dayline import EventSegmenter


def clear_features(n_frames: int, n_features: int) -> np.ndarray:
    """Return features that change every 25 frames on average, with little noise."""
    random = np.random.default_rng(0)
    looks = random.normal(size=(40, n_features)).astype(np.float32)
    n_events = n_frames // 20 + 10
    order = np.repeat(random.integers(0, 40, n_events), random.integers(5, 45, n_events))[:n_frames]
    return looks[order] + np.float32(0.2) * random.standard_normal(
        (n_frames, n_features), dtype=np.float32
    )


def cpu_seconds(function: Callable[[], object], times: int = 3) -> float:
    """Least CPU time of a few runs; other processes disturb it little."""
    found = []
    for _ in range(times):
        begin = time.process_time()
        function()
        found.append(time.process_time() - begin)
    return min(found)


def megabytes(function: Callable[[], object]) -> float:
    tracemalloc.start()
    try:
        function()
        return tracemalloc.get_traced_memory()[1] / 1e6
    finally:
        tracemalloc.stop()


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--frames", type=int, nargs="+", default=[1000, 4000, 40000])
    parser.add_argument("--features", type=int, default=512)
    parser.add_argument("--default", action="store_true")
    arguments = parser.parse_args()
    EventSegmenter.fast().fit(clear_features(100, 8))  # load libraries before anything is measured
    with threadpool_limits(1):
        for n in arguments.frames:
            for name, make in (("clear", clear_features), ("noisy", made_features)):
                x = make(n, arguments.features).astype(np.float32)
                ours = cpu_seconds(lambda x=x: EventSegmenter.fast().fit(x))
                line = f"{n:7} x {arguments.features}, {name}: fast {ours:.2f} s"
                if name == "clear":
                    line += f", {megabytes(lambda x=x: EventSegmenter.fast().fit(x)):.0f} MB"
                if n <= 8000:
                    kernel = ruptures.KernelCPD(kernel="cosine", min_size=2)
                    theirs = cpu_seconds(
                        lambda x=x, n=n, k=kernel: k.fit(x).predict(pen=np.log(n)), times=1
                    )
                    line += f"; cosine kernel {theirs:.2f} s; ratio {ours / theirs:.1f}"
                if arguments.default:
                    line += (
                        "; default"
                        f" {cpu_seconds(lambda x=x: EventSegmenter().fit(x), times=1):.2f} s"
                    )
                print(line, flush=True)


if __name__ == "__main__":
    main()
