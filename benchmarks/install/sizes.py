"""Measure what an installation takes: its size, its seconds, and how quickly the command answers.

    python benchmarks/install/sizes.py

First the sizes of the wheel and the source archive, if the package build is installed. Then the
environments: each row is installed from this checkout into a new virtual environment, by pip, with
whatever index it is set up for. The size leaves pip itself out. Times to start are medians of
seven, interleaved, as ratios to `import numpy`.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parents[2]
INSTALLS = {
    "dayline": str(ROOT),
    "dayline[photos]": f"{ROOT}[photos]",
    "dayline[demo]": f"{ROOT}[demo]",
}
STARTS = {
    "import numpy": ["-c", "import numpy"],
    "import dayline": ["-c", "import dayline"],
    "dayline --help": ["-m", "dayline", "--help"],
}


def main() -> None:
    print_archives()
    print("| | MB | seconds | packages | import dayline | dayline --help |")
    print("| --- | --- | --- | --- | --- | --- |")
    for name, requirement in INSTALLS.items():
        with tempfile.TemporaryDirectory() as folder:
            python = Path(folder) / "bin" / "python"
            subprocess.run([sys.executable, "-m", "venv", folder], check=True)
            start = time.perf_counter()
            pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
            subprocess.run([*pip, requirement], check=True)
            seconds = time.perf_counter() - start
            (site,) = Path(folder).glob("lib/python*/site-packages")
            own = [
                p
                for p in site.iterdir()
                if not p.name.startswith(("pip", "setuptools", "_distutils"))
            ]
            found = [f for p in own for f in (p, *p.rglob("*")) if f.is_file()]
            n_bytes = sum(f.stat().st_size for f in found)
            n_packages = sum(p.suffix == ".dist-info" for p in own)
            ratios = start_ratios(python)
            cells = f"{n_bytes / 1e6:.0f} | {seconds:.0f} | {n_packages} | " + " | ".join(
                f"{r:.2f}" for r in ratios
            )
            print(f"| {name} | {cells} |", flush=True)


def print_archives() -> None:
    """Print the sizes of what a release consists of."""
    with tempfile.TemporaryDirectory() as folder:
        build = [sys.executable, "-m", "build", "--quiet", "--outdir", folder, ROOT]
        if subprocess.run(build, check=False, stdout=subprocess.DEVNULL).returncode != 0:
            return
        for path in sorted(Path(folder).iterdir()):
            print(
                f"{'wheel' if path.suffix == '.whl' else 'source archive'}:"
                f" {path.stat().st_size / 1e6:.1f} MB"
            )
    print()


def start_ratios(python: Path) -> list[float]:
    """Times of `STARTS` after the first, in units of the first."""
    taken: dict[str, list[float]] = {name: [] for name in STARTS}
    for name in [*STARTS, *list(STARTS) * 7]:
        start = time.perf_counter()
        subprocess.run([python, *STARTS[name]], check=True, stdout=subprocess.DEVNULL)
        taken[name].append(time.perf_counter() - start)
    # The first of each fills the caches.
    first, *others = (statistics.median(times[1:]) for times in taken.values())
    return [other / first for other in others]


if __name__ == "__main__":
    main()
