"""Compare the forecast of time and memory with what fits of made features take.

    python benchmarks/speed/forecast.py [--most 2000]

Prints a table of seconds and megabytes as forecast and as measured, in one process with one thread.
Made features are easier than recorded ones, which take up to twice as long.
"""

from __future__ import annotations

import argparse
import time
import tracemalloc
from collections.abc import Callable

from threadpoolctl import threadpool_limits

from dayline.estimators import EventSegmenter
from dayline.forecast import _slowness, forecast, made_features

SHAPES = (
    (500, 64),
    (1000, 64),
    (1000, 2048),
    (2000, 64),
    (2000, 512),
    (4000, 512),
    (8000, 512),
    (40_000, 64),
)
METHODS: dict[str, Callable[[], EventSegmenter]] = {
    "default": EventSegmenter,
    "fast": EventSegmenter.fast,
    "paper": EventSegmenter.paper,
    "authors": EventSegmenter.authors,
}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--most", type=int, default=2000, help="longest sequence to try")
    most = parser.parse_args().most
    begin = time.perf_counter()
    slowness = _slowness()
    print(
        f"this machine takes {slowness:.2f} times as long as the reference"
        f" ({time.perf_counter() - begin:.1f} s)\n"
    )
    print("| method | shape | forecast s | measured s | forecast MB | measured MB |")
    print("| --- | --- | --- | --- | --- | --- |")
    for method, make in METHODS.items():
        for n_frames, n_features in SHAPES:
            if n_frames > most:
                continue
            features = made_features(n_frames, n_features)
            with threadpool_limits(1):
                begin = time.perf_counter()
                make().fit(features)
                seconds = time.perf_counter() - begin
                tracemalloc.start()
                make().fit(features)
                size = tracemalloc.get_traced_memory()[1]
                tracemalloc.stop()
            expected = forecast(n_frames, n_features, method)
            print(
                f"| {method} | {n_frames} x {n_features} | {expected.seconds:.1f} | {seconds:.1f} "
                f"| {expected.bytes / 1e6:.0f} | {size / 1e6:.0f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
