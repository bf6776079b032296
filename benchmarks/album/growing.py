"""Add one day to a made year, and print what the run takes relative to the first one per day.

    python benchmarks/album/growing.py FOLDER [--days 365] [--photos 40] [--seed 0]

FOLDER/photos is made if it is missing; FOLDER/result must not exist. The first run sees all days
but the last, the second one all. Both are processes of their own, and the time of a run on nothing
new, which starts the program and looks at all files, is printed, too.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import time
from pathlib import Path

from made_year import make_year


def run(photos: Path, result: Path) -> tuple[float, float]:
    """Return the seconds, and the seconds of CPU, of one run."""
    before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    command = [sys.executable, "-m", "dayline", "segment", str(photos), "-o", str(result)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = used.ru_utime + used.ru_stime - before.ru_utime - before.ru_stime
    return time.perf_counter() - begin, cpu


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--days", type=int, default=365)
    parser.add_argument("--photos", type=int, default=40)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    photos, result = chosen.folder / "photos", chosen.folder / "result"
    if result.exists():
        parser.error(f"{result}: exists; remove it")
    if not photos.is_dir():
        make_year(
            photos,
            n_days=chosen.days,
            n_photos=chosen.photos,
            two_cameras=False,
            seed=chosen.seed,
        )
    last = max(photos.iterdir())
    aside = chosen.folder / last.name
    last.rename(aside)
    first = run(photos, result)
    aside.rename(last)
    second, third = run(photos, result), run(photos, result)
    n = len(list(photos.iterdir()))
    for name, (seconds, cpu) in (("first", first), ("one new day", second), ("nothing", third)):
        print(f"{name}: {seconds:.1f} s, {cpu:.1f} s of CPU")
    per_day = first[1] / (n - 1)
    print(
        f"{n} days; CPU of the run with one new day: {second[1] / per_day:.1f} times that of the"
        f" first run per day ({per_day:.2f} s); relative to the whole first run"
        f" {second[1] / first[1]:.3f}"
    )


if __name__ == "__main__":
    main()
