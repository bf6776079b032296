"""Run dayline on a made year, end to end, and print what it took and found.

    python benchmarks/album/year.py FOLDER [--days 365] [--one-camera] [--seed 0]

FOLDER/photos and FOLDER/result are made if they are missing and reused if not. Prints minutes and
memory of the run, the share of recurring places matched and wrong (as in places.py; also without
the rule about days), what the notes say of the clocks, and how long the overview takes to open in
Chromium.
"""

from __future__ import annotations

import argparse
import json
import resource
import shutil
import subprocess
import sys
import time
from pathlib import Path
from unittest.mock import patch

from made_year import make_year
from places import made_contexts, show


def opened(page: Path) -> str:
    """Return the best of three times until Chromium has loaded and drawn the page."""
    program = shutil.which("chromium") or shutil.which("chromium-browser")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        program = None
    if program is None:
        return "not measured: Playwright or Chromium is missing"
    seconds = []
    with sync_playwright() as driver:
        browser = driver.chromium.launch(
            executable_path=program, args=["--no-sandbox", "--disable-gpu"]
        )
        for _ in range(3):
            tab = browser.new_page()
            begin = time.perf_counter()
            tab.goto(page.absolute().as_uri())
            tab.evaluate(
                "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"
            )
            seconds.append(time.perf_counter() - begin)
            tab.close()
        browser.close()
    return (
        f"{min(seconds):.2f} s (of {', '.join(f'{s:.2f}' for s in seconds)}),"
        f" {page.stat().st_size / 2**20:.1f} MB"
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--days", type=int, default=365)
    parser.add_argument("--one-camera", action="store_true")
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    photos, result = chosen.folder / "photos", chosen.folder / "result"
    truth = chosen.folder / "photos-truth.json"
    if not truth.exists():
        make_year(photos, n_days=chosen.days, two_cameras=not chosen.one_camera, seed=chosen.seed)
    begin = time.perf_counter()
    command = [sys.executable, "-m", "dayline", "segment", str(photos), "-o", str(result), "-q"]
    subprocess.run(command, check=True)
    minutes = (time.perf_counter() - begin) / 60
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu, memory = (used.ru_utime + used.ru_stime) / 60, used.ru_maxrss / 2**20
    print(f"run: {minutes:.1f} min, {cpu:.1f} min of CPU, {memory:.2f} GB")
    print(f"places.json: {(result / 'places.json').stat().st_size / 2**20:.1f} MB")
    contexts = made_contexts(result, truth)
    show("places", contexts)
    show("  of contexts that show one place only", [c for c in contexts if c.share == 1])
    with patch("dayline.album.places.log_odds_of_days", lambda shared, *_: 0.0 * shared):
        show("  without the rule about days", contexts)
    notes = {
        note
        for path in result.glob("*/events.json")
        for note in json.loads(path.read_text())["notes"]
    }
    clocks = sorted(note for note in notes if "clock" in note)
    print(
        f"clocks: {clocks[0] if clocks else 'no note'} (true offset"
        f" {json.loads(truth.read_text())['offset']} s)"
    )
    print(f"overview: {opened(result / 'index.html')}")


if __name__ == "__main__":
    main()
