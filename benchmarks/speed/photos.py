"""Seconds of `dayline segment FOLDER`, for a first run and for a second one with stored features.

python benchmarks/speed/photos.py FOLDER
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter


def main(folder: str) -> None:
    with tempfile.TemporaryDirectory() as place:
        out = Path(place) / "out"
        for what in ("first run", "second run"):
            start = perf_counter()
            subprocess.run([sys.executable, "-m", "dayline", "segment", folder, "-o", out, "-q"], check=True)
            print(f"{what}: {perf_counter() - start:.1f} s")
        size = sum(p.stat().st_size for p in out.rglob("*") if p.suffix in (".html", ".jpg", ".png"))
        print(f"page with its pictures: {size / 1e6:.1f} MB")


if __name__ == "__main__":
    main(sys.argv[1])
