"""Seconds of `dayline segment FOLDER`, for a first run and for a second one with stored features; events per level.

python benchmarks/speed/photos.py FOLDER
"""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter

from dayline import read_events


def cpu_seconds() -> float:
    """CPU time of all processes that ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main(folder: str) -> None:
    with tempfile.TemporaryDirectory() as place:
        out = Path(place) / "out"
        for what in ("first run", "second run"):
            start, used = perf_counter(), cpu_seconds()
            subprocess.run(
                [sys.executable, "-m", "dayline", "segment", folder, "-o", out, "-q"], check=True
            )
            print(f"{what}: {perf_counter() - start:.1f} s, {cpu_seconds() - used:.1f} s of CPU")
        size = sum(
            p.stat().st_size for p in out.rglob("*") if p.suffix in (".html", ".jpg", ".png")
        )
        print(f"page with its pictures: {size / 1e6:.1f} MB")
        found = read_events(out / "events.json")
        levels = ", ".join(
            str(len(level.boundaries) + 1) for level in found.levels if level.level != 0
        )
        print(
            f"{found.n_frames} photos, {len(found.events)} events; coarser and finer levels:"
            f" {levels}"
        )


if __name__ == "__main__":
    main(sys.argv[1])
