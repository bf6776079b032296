"""F1 on synthetic sequences whose events are plain.

Steps and visits in noise, and noise without events.

    python benchmarks/accuracy/plain_cases.py [--seeds 5]

Prints interior F1 (tolerance 5) and the mean number of events found, for the default, the default
without its checks for noise within events and autocorrelated noise, `fast()`, and two kernels of
ruptures with penalty log n. Without events, F1 is 1 if one event is found. The rbf kernel needs all
pairs of frames: too many in 30,000.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from unittest.mock import patch

import numpy as np
from joblib import Parallel, delayed
from scipy.signal import lfilter
from threadpoolctl import threadpool_limits

from dayline import EventSegmenter, score_boundaries
from dayline.research.baselines.kernel_change import KernelChangeSegmenter

NO_CHECK = "without the noise checks"
METHODS: dict[str, Callable[[], object]] = {
    "dayline": EventSegmenter,
    NO_CHECK: EventSegmenter,
    "`fast()`": EventSegmenter.fast,
    "cosine kernel": lambda: KernelChangeSegmenter(kernel="cosine", standardize=False),
    "rbf kernel": lambda: KernelChangeSegmenter(kernel="rbf", standardize=False),
}


def contexts_in_noise(
    which: np.ndarray, n_columns: int, noise: float, random: np.random.Generator
) -> np.ndarray:
    """Return contexts of unit variance, in turn, with noise."""
    contexts = random.normal(size=(which.max() + 1, n_columns))
    return contexts[which] + noise * random.normal(size=(len(which), n_columns))


def visit(n_frames: int, length: int, noise: float, random: np.random.Generator) -> np.ndarray:
    which = np.zeros(n_frames, dtype=np.int64)
    which[n_frames // 2 : n_frames // 2 + length] = 1
    return contexts_in_noise(which, 8, noise, random)


def step(n_columns: int, size: float, random: np.random.Generator) -> np.ndarray:
    x = random.normal(size=(500, n_columns))
    x[250:] += size
    return x


def autoregression(coefficient: float, random: np.random.Generator) -> np.ndarray:
    """Return unit noise in 8 columns in which each frame is partly the frame before."""
    noise = random.normal(size=(600, 8))
    return np.sqrt(1 - coefficient**2) * lfilter([1.0], [1.0, -coefficient], noise, axis=0)


def one_factor(n_columns: int, random: np.random.Generator) -> np.ndarray:
    """Return columns that all follow one factor of eight levels, each with its own gain."""
    levels = np.repeat(random.permutation(8), 40)[:, None]
    return levels * random.normal(size=n_columns) + 0.1 * random.normal(size=(320, n_columns))


SIXTHS = np.repeat(np.arange(6), 70)
HUNDREDS = np.repeat(np.arange(6), 100)
CASES: dict[str, tuple[Callable[[np.random.Generator], np.ndarray], tuple[int, ...]]] = {
    "6 events, 64 columns, noise 2": (
        lambda r: contexts_in_noise(SIXTHS, 64, 2.0, r),
        (70, 140, 210, 280, 350),
    ),
    "6 events, 8 columns, noise 0.5": (
        lambda r: contexts_in_noise(SIXTHS, 8, 0.5, r),
        (70, 140, 210, 280, 350),
    ),
    "6 events, 8 columns, noise 2": (
        lambda r: contexts_in_noise(SIXTHS, 8, 2.0, r),
        (70, 140, 210, 280, 350),
    ),
    "visit of 25 in 600 frames, noise 0.5": (lambda r: visit(600, 25, 0.5, r), (300, 325)),
    "visit of 20 in 1,000 frames, noise 0.1": (lambda r: visit(1000, 20, 0.1, r), (500, 520)),
    "visit of 60 in 3,000 frames, noise 0.1": (lambda r: visit(3000, 60, 0.1, r), (1500, 1560)),
    "visit of 50 in 30,000 frames, noise 0.1": (lambda r: visit(30000, 50, 0.1, r), (15000, 15050)),
    "visit of 10 in 200 frames, noise 0.3": (lambda r: visit(200, 10, 0.3, r), (100, 110)),
    "step of 0.5 sd in 16 columns": (lambda r: step(16, 0.5, r), (250,)),
    "step of 1 sd in 2 columns": (lambda r: step(2, 1.0, r), (250,)),
    "step of 1 sd in 1 column": (lambda r: step(1, 1.0, r), (250,)),
    "no events, white noise, 8 columns": (lambda r: r.normal(size=(600, 8)), ()),
    "no events, random walk, 8 columns": (lambda r: np.cumsum(r.normal(size=(600, 8)), axis=0), ()),
    "no events, AR(1) noise, 0.5, 8 columns": (lambda r: autoregression(0.5, r), ()),
    "no events, AR(1) noise, 0.9, 8 columns": (lambda r: autoregression(0.9, r), ()),
    "6 events, AR(1) noise, 0.5, 8 columns": (
        lambda r: contexts_in_noise(HUNDREDS, 8, 0.0, r) + 0.5 * autoregression(0.5, r),
        (100, 200, 300, 400, 500),
    ),
    "6 events, AR(1) noise, 0.9, 8 columns": (
        lambda r: contexts_in_noise(HUNDREDS, 8, 0.0, r) + 0.5 * autoregression(0.9, r),
        (100, 200, 300, 400, 500),
    ),
    "8 levels of one factor, 6 columns": (lambda r: one_factor(6, r), tuple(range(40, 320, 40))),
}


@contextmanager
def unchecked() -> Iterator[None]:
    with (
        patch(
            "dayline.decision.evidence.n_above_noise",
            lambda _x, boundaries, _heights: len(boundaries),
        ),
        patch("dayline.decision.evidence.find_noise", lambda _: None),
    ):
        yield


def judge(case: str, method: str, seed: int) -> tuple[float, int]:
    make, true = CASES[case]
    x = make(np.random.default_rng(seed))
    with threadpool_limits(1), unchecked() if method == NO_CHECK else nullcontext():
        found = METHODS[method]().fit(x).boundaries_
    f1 = (
        score_boundaries(found, true, tolerance=5, n_frames=len(x)).f1
        if true
        else float(len(found) == 0)
    )
    return f1, len(found) + 1


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()

    print(
        f"| sequence | {' | '.join(f'{name}: F1, events' for name in METHODS)} |\n| ---"
        f" |{' --- |' * len(METHODS)}"
    )
    for case in CASES:
        cells = []
        for method in METHODS:
            if method == "rbf kernel" and "30,000" in case:
                cells.append("")
                continue
            answers = Parallel(options.jobs)(
                delayed(judge)(case, method, seed) for seed in range(options.seeds)
            )
            f1, number = np.mean(answers, axis=0)
            cells.append(f"{f1:.2f}, {number:.0f}")
        print(f"| {case} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
