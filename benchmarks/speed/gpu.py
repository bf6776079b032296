"""Boundaries and time on a GPU compared with the CPU, in one run.

    python benchmarks/speed/gpu.py [--frames 1000 4000 10000] [--data FOLDER]

For synthetic features, and for the sequences GROUP/*.npz of a folder: seconds of the embedding, and agreement of the
boundaries (interior F1 at tolerance 1) between float64 on the CPU and float64 or float32 on the GPU.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np
from core import made_features

from dayline import DynamicGraphEmbedding, EventSegmenter, score_boundaries
from dayline.datasets.folders import load_folder


def timed(x: np.ndarray, **how: str) -> tuple[EventSegmenter, float]:
    segmenter = EventSegmenter(DynamicGraphEmbedding(**how))
    begin = time.perf_counter()
    DynamicGraphEmbedding(**how).fit(x)
    seconds = time.perf_counter() - begin
    return segmenter.fit(x), seconds


def compare(name: str, x: np.ndarray, devices: list[dict[str, str]]) -> None:
    reference, slow = timed(x)
    words = [f"{name}, {x.shape[0]} x {x.shape[1]}: embedding on the CPU {slow:.2f} s"]
    for how in devices:
        fitted, seconds = timed(x, **how)
        f1 = score_boundaries(fitted.boundaries_, reference.boundaries_, tolerance=1, n_frames=len(x)).f1
        words.append(
            f"{how['device']} {how['dtype']} {seconds:.2f} s ({slow / seconds:.1f} times as fast), F1 {f1:.3f}"
        )
    print("; ".join(words), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--frames", type=int, nargs="+", default=[1000, 4000, 10000])
    parser.add_argument("--data", type=Path, default=None)
    parser.add_argument("--device", default="cuda")
    arguments = parser.parse_args()
    devices = [{"device": arguments.device, "dtype": dtype} for dtype in ("float64", "float32")]
    timed(made_features(200, 64), device=arguments.device)  # start the device before anything is measured
    for n in arguments.frames:
        compare("made", made_features(n, 2048), devices)
    for sequence in load_folder(arguments.data) if arguments.data else []:
        compare(f"{sequence.group}/{sequence.name}", sequence.features, devices)


if __name__ == "__main__":
    main()
