"""What is found in a signal: steps, variance, frequency, autocorrelation, slope, seasons.

    python benchmarks/accuracy/signals.py            # measure and print
    python benchmarks/accuracy/signals.py --write    # measure and put the table into docs/signals.md
    python benchmarks/accuracy/signals.py --check    # fail if the page shows something else

600 values of one column; events begin at 200 and 380. F1 with a tolerance of 10 values, mean over
ten seeds; where nothing happens, the share of seeds in which one event is found. All methods choose
the number of events themselves.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
from change_points import installed_detectors
from joblib import Parallel, delayed
from threadpoolctl import threadpool_limits

from dayline import EventSegmenter, score_boundaries
from dayline.files import write_text_whole

PAGE = Path(__file__).parents[2] / "docs" / "signals.md"
BEGIN, END = "<!-- benchmarks: signals -->", "<!-- end of benchmarks: signals -->"

N, TRUE, TOLERANCE = 600, (200, 380), 10
ROWS = np.arange(N)
INSIDE = np.searchsorted(TRUE, ROWS, side="right") == 1
FIRST_SEED = 100
"""Of the sequences in the table; the rule was chosen on others."""

Random = np.random.Generator


def autoregression(coefficient: np.ndarray | float, random: Random) -> np.ndarray:
    """Return values of unit variance, each the given part of the one before, and noise."""
    coefficients = np.broadcast_to(coefficient, N)
    values = random.normal(size=N)
    for t in range(1, N):
        a = coefficients[t]
        values[t] = a * values[t - 1] + np.sqrt(1 - a**2) * values[t]
    return values


def sine(period: np.ndarray | float) -> np.ndarray:
    return np.sin(np.cumsum(2 * np.pi / np.broadcast_to(period, N)))


CHANGES: dict[str, Callable[[Random], np.ndarray]] = {
    "step of one standard deviation": lambda r: r.normal(size=N) + INSIDE,
    "step of three": lambda r: r.normal(size=N) + 3 * INSIDE,
    "standard deviation × 4": lambda r: r.normal(size=N) * np.where(INSIDE, 4, 1),
    "standard deviation × 2": lambda r: r.normal(size=N) * np.where(INSIDE, 2, 1),
    "period 20 to 10": lambda r: sine(np.where(INSIDE, 10, 20)) + 0.3 * r.normal(size=N),
    "AR coefficient .1 to .9": lambda r: autoregression(np.where(INSIDE, 0.9, 0.1), r),
    "slope .05 to -.05": lambda r: (
        np.cumsum(np.where(INSIDE, -0.05, 0.05)) + 0.5 * r.normal(size=N)
    ),
    "amplitude × 3": lambda r: np.where(INSIDE, 3, 1) * sine(20) + 0.3 * r.normal(size=N),
    "season of 24, with a step": lambda r: 2 * sine(24) + 2 * INSIDE + 0.5 * r.normal(size=N),
}
NOTHING: dict[str, Callable[[Random], np.ndarray]] = {
    "white noise": lambda r: r.normal(size=N),
    "AR(.5)": lambda r: autoregression(0.5, r),
    "AR(.95)": lambda r: autoregression(0.95, r),
    "random walk": lambda r: np.cumsum(r.normal(size=N)),
    "trend": lambda r: 0.02 * ROWS + r.normal(size=N),
    "season of 24": lambda r: 2 * sine(24) + 0.5 * r.normal(size=N),
    "sine": lambda r: np.sin(ROWS / 5 + r.uniform(0, 2 * np.pi)),
}


METHODS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "dayline": lambda x: EventSegmenter().fit(x).boundaries_,
    "dayline, `fast()`": lambda x: EventSegmenter.fast().fit(x).boundaries_,
    **installed_detectors(),
}


def judge(kind: str, method: str, seed: int) -> float:
    """Return F1, or whether one event is found where nothing happens."""
    make = CHANGES.get(kind) or NOTHING[kind]
    x = make(np.random.default_rng(seed))[:, None]
    with threadpool_limits(1):
        found = METHODS[method](x)
    if kind in NOTHING:
        return float(len(found) == 0)
    return score_boundaries(found, TRUE, tolerance=TOLERANCE, n_frames=N).f1


def cell(value: float) -> str:
    return f"{value:.2f}".removeprefix("0")


def measure(seeds: int, jobs: int) -> str:
    """Return the table, measured."""
    lines = [f"| | {' | '.join(METHODS)} |", "| --- |" + " --- |" * len(METHODS)]
    for title, kinds in (("what changes: F1", CHANGES), ("nothing: share right", NOTHING)):
        rows = {}
        for kind in kinds:
            some = range(FIRST_SEED, FIRST_SEED + seeds)
            every = [(kind, method, seed) for method in METHODS for seed in some]
            answers = Parallel(jobs)(delayed(judge)(*one) for one in every)
            rows[kind] = np.reshape(answers, (len(METHODS), seeds)).mean(axis=1)
        lines.append(f"| *{title}* |" + " |" * len(METHODS))
        lines += [f"| {kind} | {' | '.join(map(cell, row))} |" for kind, row in rows.items()]
        means = np.mean(list(rows.values()), axis=0)
        lines.append(f"| **mean** | {' | '.join(map(cell, means))} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--write", action="store_true", help="put the table into the page")
    parser.add_argument("--check", action="store_true", help="fail if the page shows another one")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()

    table = measure(options.seeds, options.jobs)
    before, begin, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    shown, end, after = rest.partition(END)
    if not (begin and end):
        sys.exit(f"{PAGE.name} has no marks for the table")
    if options.write:
        write_text_whole(PAGE, f"{before}{begin}\n\n{table}\n\n{end}{after}")
    elif not options.check:
        print(table)
    elif shown.strip() != table:
        sys.exit("run `python benchmarks/accuracy/signals.py --write`: the page is not as measured")


if __name__ == "__main__":
    main()
