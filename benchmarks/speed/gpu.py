"""Time on a GPU, and agreement of its boundaries with those of the CPU, in one run.

    python benchmarks/speed/gpu.py [--frames 4000 100000] [--days 20] [--data FOLDER]
        [--device cuda]

- One long sequence: made features of 512 columns in single precision; seconds of every stage on
  the GPU and, up to `--most-on-cpu` frames, on the CPU.
- Many short sequences: `--days` made sequences of 937 frames x 2,048 features, segmented at once
  by `--processes` processes that share the GPU (or the CPU), after each has segmented one.
- Sequences GROUP/*.npz of a folder: interior F1 at a tolerance of one frame between float64 on
  the CPU and float64 or float32 on the GPU.
"""

from __future__ import annotations

import argparse
import time
import warnings
from itertools import pairwise
from pathlib import Path

import numpy as np
from made import made_features

from dayline import DynamicGraphEmbedding, EventSegmenter, score_boundaries
from dayline.research.datasets.annotations import load_folder


def long_features(n_frames: int, n_features: int) -> np.ndarray:
    """Return recurring events of 20 to 99 frames in noise, in single precision."""
    random = np.random.default_rng(0)
    looks = random.normal(size=(200, n_features)).astype(np.float32)
    made = np.empty((n_frames, n_features), dtype=np.float32)
    begin = 0
    while begin < n_frames:
        stop = min(begin + int(random.integers(20, 100)), n_frames)
        noise = random.standard_normal((stop - begin, n_features), dtype=np.float32)
        made[begin:stop] = looks[random.integers(200)] + noise
        begin = stop
    return made


def time_long(x: np.ndarray, device: str) -> str:
    """Segment one long sequence; return the seconds of every stage."""
    marks: list[tuple[str, float]] = [("checks", time.perf_counter())]
    segmenter = EventSegmenter(device=device)
    segmenter.fit(x, on_step=lambda what, *_: marks.append((what, time.perf_counter())))
    marks.append(("", time.perf_counter()))
    stages = ", ".join(f"{a[0]} {b[1] - a[1]:.1f}" for a, b in pairwise(marks))
    return (
        f"{x.shape[0]} x {x.shape[1]} on {device}: {marks[-1][1] - marks[0][1]:.1f} s ({stages} and"
        f" decision), {len(segmenter.boundaries_) + 1} events"
    )


def boundaries(x: np.ndarray, device: str) -> np.ndarray:
    return EventSegmenter(device=device).fit(x).boundaries_


def time_days(n_days: int, device: str, n_processes: int) -> float:
    """Segment many short sequences at once; every process has started its device before."""
    from joblib import Parallel, delayed

    days = [made_features(937, 2048)] * n_days
    with Parallel(n_jobs=n_processes) as pool:
        pool(delayed(boundaries)(x, device) for x in days)
        begin = time.perf_counter()
        pool(delayed(boundaries)(x, device) for x in days)
        return time.perf_counter() - begin


def agreement(folder: Path, device: str) -> None:
    """Compare the boundaries of both devices."""
    scores: dict[str, list[float]] = {"float64": [], "float32": []}
    for sequence in load_folder(folder):
        reference = EventSegmenter(missing="interpolate").fit(sequence.features).boundaries_
        for dtype, found in scores.items():
            embedding = DynamicGraphEmbedding(device=device, dtype=dtype)
            other = (
                EventSegmenter(embedding, missing="interpolate").fit(sequence.features).boundaries_
            )
            n = len(sequence.features)
            found.append(score_boundaries(other, reference, tolerance=1, n_frames=n).f1)
    for dtype, found in scores.items():
        print(
            f"{device} {dtype} against CPU float64, {len(found)} sequences: F1"
            f" {np.mean(found):.3f}, least {min(found):.3f}"
        )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--frames", type=int, nargs="*", default=[4000, 100_000])
    parser.add_argument("--features", type=int, default=512)
    parser.add_argument("--most-on-cpu", type=int, default=100_000)
    parser.add_argument("--days", type=int, default=20)
    parser.add_argument("--processes", type=int, default=10)
    parser.add_argument("--data", type=Path, default=None)
    parser.add_argument("--device", default="cuda")
    arguments = parser.parse_args()

    warnings.simplefilter("ignore")
    for n in (300, 2000):
        boundaries(
            made_features(n, 64), arguments.device
        )  # start the device before anything is measured
    for n in arguments.frames:
        x = long_features(n, arguments.features)
        for device in (arguments.device, *(["cpu"] if n <= arguments.most_on_cpu else [])):
            print(time_long(x, device), flush=True)
    if arguments.days:
        for device in (arguments.device, "cpu"):
            seconds = time_days(arguments.days, device, arguments.processes)
            print(
                f"{arguments.days} days, {arguments.processes} processes on {device}:"
                f" {seconds:.2f} s",
                flush=True,
            )
    if arguments.data:
        agreement(arguments.data, arguments.device)


if __name__ == "__main__":
    main()
