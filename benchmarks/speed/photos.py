"""Time `dayline segment` on photos, beside what no program with the network can save.

    python benchmarks/speed/photos.py FOLDER [--python ENVIRONMENT/bin/python]

Prints, of the best of several rounds: decoding the photos to the size of the network and running
the network alone, in as many threads; the first run, which reads every photo once; a second run,
which opens none; and `dayline --version`. All in one process each, one after the other.

scikit-learn imports pandas, and pandas imports pyarrow, wherever they are installed, as they are
for the tests. `--python` runs dayline in another environment, such as one of `.[photos]` alone.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from time import perf_counter

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


def bare(paths: list[Path], n_threads: int) -> float:
    """Decode all photos and run the network."""
    extractor = load_extractor("lite0", threads=n_threads)
    start = perf_counter()
    with ThreadPoolExecutor(n_threads) as pool:
        inputs = list(pool.map(decoded, paths))
    for first in range(0, len(inputs), BATCH):
        extractor.extract(np.stack(inputs[first : first + BATCH]))
    return perf_counter() - start


def command(python: str, *arguments: str) -> float:
    """Run dayline in a process of its own."""
    start = perf_counter()
    subprocess.run([python, "-m", "dayline", *arguments], check=True, capture_output=True)
    return perf_counter() - start


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

    times: dict[str, list[float]] = {"bare": [], "first": [], "second": [], "version": []}
    for _ in range(asked.rounds):
        times["bare"].append(bare(paths, asked.threads))
        with tempfile.TemporaryDirectory() as out:
            for run in ("first", "second"):
                arguments = ("segment", str(asked.folder), "-o", f"{out}/events")
                times[run].append(command(asked.python, *arguments))
        times["version"].append(command(asked.python, "--version"))
    best = {name: min(values) for name, values in times.items()}
    print(f"{len(paths)} photos, best of {asked.rounds}")
    print(f"decoding and network alone, {asked.threads} threads: {best['bare']:.2f} s")
    print(f"first run: {best['first']:.2f} s, {best['first'] / best['bare']:.2f} times as long")
    more = best["second"] - best["version"]
    print(f"second run: {best['second']:.2f} s, {more:.2f} s more than dayline --version")


if __name__ == "__main__":
    main()
