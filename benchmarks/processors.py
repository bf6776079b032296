"""Run the numeric tests, and compare boundaries, as on other processors.

python benchmarks/processors.py [--data ../shared/data/dev] [--no-tests]

Libraries choose their code by the processor, so sums are rounded differently from machine to
machine. Environment variables make them choose the code of older processors, and other numbers of
threads. Under each setting this runs the tests of method, decision and estimators, and fits made
sequences and, if there is a folder of labeled ones, those too. It fails if a test does, and lists
every sequence whose boundaries are not those of the plain setting. A setting that this machine
does not support is skipped.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
from numpy._core._multiarray_umath import (  # type: ignore[import-not-found, unused-ignore]
    __cpu_dispatch__,
    __cpu_features__,
)

from dayline import EventSegmenter

ROOT = Path(__file__).resolve().parents[1]
TESTS = ("tests/method", "tests/decision", "tests/estimators")
NEEDED = {"Haswell": "AVX2", "SkylakeX": "AVX512_SKX", "Zen": "AVX2", "Prescott": "SSE3"}


def without_numpy_code(*generations: str) -> str:
    """Return the value of NPY_DISABLE_CPU_FEATURES that leaves out some generations of code."""
    return " ".join(
        name
        for name in __cpu_dispatch__
        if __cpu_features__.get(name) and any(part in name for part in generations)
    )


def settings() -> dict[str, dict[str, str]]:
    """Return the environment variables of every setting that this machine supports, by its name."""
    found = {"plain": {}}
    for name, feature in NEEDED.items():
        if __cpu_features__.get(feature):
            found[f"OPENBLAS_CORETYPE={name}"] = {"OPENBLAS_CORETYPE": name}
        else:
            print(f"OPENBLAS_CORETYPE={name}: skipped, this processor has no {feature}")

    found["ATEN_CPU_CAPABILITY=default"] = {"ATEN_CPU_CAPABILITY": "default"}
    if __cpu_features__.get("AVX2"):
        found["ATEN_CPU_CAPABILITY=avx2"] = {"ATEN_CPU_CAPABILITY": "avx2"}
    else:
        print("ATEN_CPU_CAPABILITY=avx2: skipped, this processor has no AVX2")

    # NumPy names features in one way up to 2.3, and levels such as X86_V4 later.
    for title, generations in (
        ("NumPy without AVX512", ("AVX512", "X86_V4")),
        ("NumPy without AVX512 and AVX2", ("AVX512", "X86_V4", "AVX2", "FMA3", "X86_V3")),
    ):
        disabled = without_numpy_code(*generations)
        if disabled:
            found[title] = {"NPY_DISABLE_CPU_FEATURES": disabled}
        else:
            print(f"{title}: skipped, this processor has none of them")
    for count in ("2", "4"):
        found[f"{count} threads"] = {"OMP_NUM_THREADS": count, "OPENBLAS_NUM_THREADS": count}
    return found


def made_sequences() -> dict[str, np.ndarray]:
    """Return sequences of noisy events, some of them too faint to be clear, by their name."""
    made = {}
    for seed, (n_frames, n_features) in enumerate([(90, 4), (400, 30), (700, 2), (2400, 60)]):
        random = np.random.default_rng(seed)
        lengths = random.integers(8, 60, n_frames)
        events = np.repeat(random.normal(size=(n_frames, n_features)), lengths, axis=0)[:n_frames]
        for noise in (0.3, 1.5):
            name = f"made {n_frames} x {n_features}, noise {noise:g}"
            made[name] = events + noise * random.normal(size=events.shape)
    return made


def print_boundaries(data: Path | None) -> None:
    """Fit every sequence and print the boundaries of each as JSON."""
    sequences = made_sequences()
    if data is not None:
        for path in sorted(data.glob("*/*.npz")):
            sequences[f"{path.parent.name}/{path.stem}"] = np.load(path)["features"]
    warnings.simplefilter("ignore")
    print(
        json.dumps({k: EventSegmenter().fit(x).boundaries_.tolist() for k, x in sequences.items()})
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, help="a folder of GROUP/*.npz")
    parser.add_argument("--no-tests", action="store_true", help="only compare boundaries")
    parser.add_argument("--fit", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    data = given.data if given.data is not None and given.data.is_dir() else None
    if given.fit:
        print_boundaries(data)
        return

    plain: dict[str, list[int]] = {}
    red = []
    fit = [sys.executable, __file__, "--fit", *(["--data", str(data)] if data else [])]
    test = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-m", "not slow"]
    for name, variables in settings().items():
        environment = {**os.environ, "OMP_NUM_THREADS": "1", **variables}
        fitted = subprocess.run(fit, env=environment, stdout=subprocess.PIPE, check=True)
        boundaries = json.loads(fitted.stdout)
        plain = plain or boundaries
        moved = [k for k in plain if boundaries[k] != plain[k]]

        result = "tests not run"
        if not given.no_tests:
            tested = subprocess.run(
                [*test, *TESTS], env=environment, cwd=ROOT, capture_output=True, text=True
            )
            result = tested.stdout.splitlines()[-1]
            if tested.returncode:
                red.append(name)
                result += "\n" + tested.stdout[-3000:]
        print(f"{name}: boundaries differ in {len(moved)} of {len(plain)} sequences; {result}")
        for sequence in moved:
            gone = sorted(set(plain[sequence]) - set(boundaries[sequence]))
            new = sorted(set(boundaries[sequence]) - set(plain[sequence]))
            print(f"    {sequence}: {gone} became {new}")
    if red:
        sys.exit(f"tests failed under {', '.join(red)}")


if __name__ == "__main__":
    main()
