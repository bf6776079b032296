"""Throughput from photos to features, compared with the bare network on prepared tensors.

    python benchmarks/speed/features.py FOLDER

Prints images per second of (1) onnxruntime alone, with its own default settings, on prepared
tensors and (2) JPEG files through decoding, preprocessing and the network, overlapped; medians over
alternating rounds.
"""

from __future__ import annotations

import argparse
import os
from functools import partial
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dayline.features.extract import BATCH_SIZE, extract_features, load_extractor
from dayline.features.lite0 import GRAPH, LITE0_PREPROCESSING, find_lite0_weights
from dayline.features.preprocess import normalize


def read_jpeg(path: Path, *, shorter_side: int) -> NDArray[np.uint8]:
    from PIL import Image

    with Image.open(path) as image:
        image.draft("RGB", (shorter_side, shorter_side))
        return np.asarray(image if image.mode == "RGB" else image.convert("RGB"))


def time_bare(session: Any, inputs: NDArray[np.float32], *, n_images: int) -> float:
    start = perf_counter()
    for first in range(0, n_images, BATCH_SIZE):
        session.run(["features"], {"image": inputs[: min(BATCH_SIZE, n_images - first)]})
    return n_images / (perf_counter() - start)


def time_pipeline(paths: list[Path], extractor: Any) -> float:
    start = perf_counter()
    images = (
        (i, partial(read_jpeg, path, shorter_side=extractor.input_size))
        for i, path in enumerate(paths)
    )
    indices, _ = extract_features(images, extractor, n_frames=len(paths))
    assert len(indices) == len(paths)
    return len(paths) / (perf_counter() - start)


def main() -> None:
    import onnxruntime

    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path, help="folder of JPEG photos")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--limit", type=int, default=None, help="use only the first LIMIT photos")
    arguments = parser.parse_args()
    paths = sorted(p for p in arguments.folder.iterdir() if p.suffix.lower() in (".jpg", ".jpeg"))
    paths = paths[: arguments.limit]
    if not paths:
        parser.error(f"{arguments.folder} has no JPEG photos")
    start = perf_counter()
    extractor = load_extractor("lite0")
    print(
        f"{os.cpu_count()} cores, {len(paths)} photos; network opened in"
        f" {perf_counter() - start:.2f} s"
    )
    prepared = [
        extractor.prepare(read_jpeg(p, shorter_side=extractor.input_size))
        for p in paths[:BATCH_SIZE]
    ]
    pixels = np.stack([prepared[i % len(prepared)] for i in range(BATCH_SIZE)])
    inputs = normalize(pixels, LITE0_PREPROCESSING)
    providers = onnxruntime.get_available_providers()
    options = onnxruntime.SessionOptions()
    options.add_session_config_entry(
        "session.model_external_initializers_file_folder_path", str(find_lite0_weights().parent)
    )
    bare_session = onnxruntime.InferenceSession(GRAPH.read_bytes(), options, providers=providers)
    time_bare(bare_session, inputs, n_images=2 * BATCH_SIZE)
    bare, whole = [], []
    for _ in range(arguments.rounds):
        bare.append(time_bare(bare_session, inputs, n_images=len(paths)))
        whole.append(time_pipeline(paths, extractor))
        print(f"  bare {bare[-1]:6.1f} images/s   pipeline {whole[-1]:6.1f} images/s", flush=True)
    for name, pick in (("median", median), ("best", max)):
        print(
            f"{name}: bare {pick(bare):.1f} images/s, pipeline {pick(whole):.1f} images/s"
            f" ({pick(whole) / pick(bare):.0%}); {len(paths)} photos in"
            f" {len(paths) / pick(whole):.1f} s"
        )


if __name__ == "__main__":
    main()
