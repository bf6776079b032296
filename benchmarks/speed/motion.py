"""How long the variants of the motion table take to learn, and then to group for four seeds.

    python benchmarks/speed/motion.py --root ../shared/data/motion [--jobs 2]

Prints wall-clock seconds for all sequences of Keck and MAD with JOBS processes, and those of TSC in
the same run.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

from joblib import Parallel, delayed
from threadpoolctl import threadpool_limits

from dayline.research.datasets.annotations import LabelledSequence
from dayline.research.datasets.motion import load_motion
from dayline.research.reproduce.motion import measure_labels, measure_variant, motion_variants

VARIANTS = ("paper()", "authors()", "hybrid", "default")


def learn(variant: str, sequence: LabelledSequence) -> None:
    with threadpool_limits(1):
        motion_variants()[variant].fit(sequence.features)


def learn_and_group(variant: str, sequence: LabelledSequence) -> None:
    with threadpool_limits(1):
        measure_variant(variant, motion_variants()[variant], sequence, seeds=range(4))


def tsc(_: str, sequence: LabelledSequence) -> None:
    with threadpool_limits(1):
        measure_labels("TSC", sequence, seeds=range(4))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--root", type=Path, default=Path("../shared/data/motion"))
    parser.add_argument("--jobs", type=int, default=2)
    arguments = parser.parse_args()
    sequences = [s for group in ("keck", "mad") for s in load_motion(arguments.root, group)]
    work = {f"{variant}, learning": (learn, variant) for variant in VARIANTS}
    work |= {f"{variant}, with grouping": (learn_and_group, variant) for variant in VARIANTS}
    work["TSC, with grouping"] = (tsc, "")
    seconds = {}
    with Parallel(n_jobs=arguments.jobs) as parallel:
        parallel(delayed(learn)("default", s) for s in sequences[:2])  # starts the processes
        for name, (run, variant) in work.items():
            begin = time.perf_counter()
            parallel(delayed(run)(variant, s) for s in sequences)
            seconds[name] = time.perf_counter() - begin
            print(f"{name:26s} {seconds[name]:6.1f} s", flush=True)
    for what in ("learning", "with grouping"):
        total = sum(seconds[f"{variant}, {what}"] for variant in VARIANTS)
        print(
            f"{'the four variants, ' + what:34s} {total / 60:5.2f} min, {len(sequences)} sequences"
        )


if __name__ == "__main__":
    main()
