"""Time `dayline segment` on photos, beside what no program with the network can save.

    python benchmarks/speed/photos.py FOLDER [--python ENVIRONMENT/bin/python]

Prints, of the best of several rounds, wall-clock time, and CPU time in all threads, which other
programs on the machine change less: decoding the photos to the size of the network and running
the network alone, in as many threads; the first run, which reads every photo once; a second run,
which opens none; and `dayline --version`. All in one process each, one after the other.

scikit-learn imports pandas, and pandas imports pyarrow, wherever they are installed, as they are
for the tests. `--python` runs dayline in another environment, such as one of `.[photos]` alone.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from time import perf_counter, process_time

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from dayline.features.extract import load_extractor

BATCH = 32


def decoded(path: Path) -> NDArray[np.uint8]:
    """Decode a photo to the input of the network, the fastest way that Pillow has."""
    with Image.open(path) as image:
        image.draft("RGB", (224, 224))
        pixels = image.convert("RGB").resize((224, 224), Image.Resampling.BILINEAR)
    return np.ascontiguousarray(np.asarray(pixels).transpose(2, 0, 1))


def bare(paths: list[Path], n_threads: int) -> tuple[float, float]:
    """Decode all photos and run the network."""
    extractor = load_extractor("lite0", threads=n_threads)
    start, cpu = perf_counter(), process_time()
    with ThreadPoolExecutor(n_threads) as pool:
        inputs = list(pool.map(decoded, paths))
    for first in range(0, len(inputs), BATCH):
        extractor.extract(np.stack(inputs[first : first + BATCH]))
    return perf_counter() - start, process_time() - cpu


def command(python: str, *arguments: str) -> tuple[float, float]:
    """Run dayline in a process of its own."""
    start, before = perf_counter(), os.times()
    subprocess.run([python, "-m", "dayline", *arguments], check=True, capture_output=True)
    after = os.times()
    cpu = after.children_user + after.children_system
    return perf_counter() - start, cpu - before.children_user - before.children_system


def main() -> None:
    """Print the times."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path, help="folder of photos (JPEG)")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=2, help="of the bare network")
    parser.add_argument("--python", default=sys.executable, help="interpreter that has dayline")
    asked = parser.parse_args()
    paths = sorted(p for p in asked.folder.iterdir() if p.suffix.lower() in (".jpg", ".jpeg"))

    times: dict[str, list[tuple[float, float]]] = {"bare": [], "first": [], "second": []}
    times["version"] = []
    for _ in range(asked.rounds):
        times["bare"].append(bare(paths, asked.threads))
        with tempfile.TemporaryDirectory() as out:
            for run in ("first", "second"):
                arguments = ("segment", str(asked.folder), "-o", f"{out}/events")
                times[run].append(command(asked.python, *arguments))
        times["version"].append(command(asked.python, "--version"))
    print(f"{len(paths)} photos, best of {asked.rounds}")
    for column, kind in enumerate(("wall clock", "CPU")):
        best = {name: min(pair[column] for pair in pairs) for name, pairs in times.items()}
        alone = f"decoding and network alone, {asked.threads} threads"
        print(f"{kind}: {alone}: {best['bare']:.2f} s")
        print(f"{kind}: first run: {best['first']:.2f} s, {best['first'] / best['bare']:.2f} times")
        more = f"{best['second'] - best['version']:.2f} s more than dayline --version"
        print(f"{kind}: second run: {best['second']:.2f} s, {more}")


if __name__ == "__main__":
    main()
