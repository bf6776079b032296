"""Count what one `fit` and one `dayline segment PHOTOS` touch of dayline's own code.

python benchmarks/walk.py [--write | --check]

Each runs once to import everything, then under a profiler: 120 made frames of 8 numbers, and a
folder of 24 made photos. `--write` puts the table into docs/develop/walk.md, `--check` fails if
that page shows something else. Only Python calls count, without comprehensions and lambdas.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np

import dayline
from dayline import EventSegmenter

PAGE = Path(__file__).resolve().parents[1] / "docs" / "develop" / "walk.md"
BEGIN, END = "<!-- walk -->", "<!-- /walk -->"
OWN = f"{Path(dayline.__file__).parent}{os.sep}"
N_PHOTOS = 24
FEATURES = ("check_features", "check_matrix", "check_rows")


class Walk:
    """What a task called, in all threads that it began, and which of the photos it opened."""

    def __init__(self, photos: Path | None = None) -> None:
        self.photos = photos
        self.functions: dict[tuple[str, str], None] = {}
        self.deepest = 0
        self.above_equation: int | None = None
        self.parameters: Counter[str] = Counter()
        self.features: Counter[str] = Counter()
        self.segmentations = self.opened = self.decoded = 0

    def run(self, task: Callable[[], Any]) -> None:
        """Run a task and record its calls."""
        threading.setprofile(self._note)
        sys.setprofile(self._note)
        try:
            task()
        finally:
            sys.setprofile(None)
            threading.setprofile(None)  # type: ignore[arg-type]

    def _note(self, frame: FrameType, event: str, _: Any) -> None:
        if event != "call":
            return
        file, name = frame.f_code.co_filename, frame.f_code.co_name
        if file.startswith(OWN) and file.endswith(".py") and not name.startswith("<"):
            self._note_own(frame, file.removeprefix(OWN).replace(os.sep, "/"), name)
        elif file.endswith(f"PIL{os.sep}Image.py") and name == "open":
            # A thumbnail is opened, too, for its size.
            opened = frame.f_locals["fp"]
            self.opened += Path(getattr(opened, "name", opened)).parent == self.photos
        elif file.endswith(f"PIL{os.sep}ImageFile.py") and name == "load":
            self.decoded += bool(getattr(frame.f_locals["self"], "tile", None))

    def _note_own(self, frame: FrameType, file: str, name: str) -> None:
        stack = own_stack(frame)
        self.functions.setdefault((file, frame.f_code.co_qualname))
        self.deepest = max(self.deepest, len(stack))
        if file.startswith("method/") and name == "learn_graph":
            self.above_equation = len(stack) - 1

        # A check that another check makes is a part of it.
        if file == "checks.py" and stack[1:] and not stack[1].startswith("checks.py"):
            if name in FEATURES:
                self.features[name] += 1
            elif name.startswith("check_") and "value" in frame.f_locals:
                parameter = frame.f_locals.get("name", "random_state")
                self.parameters[f"{parameter} of {owner(frame)}"] += 1
        self.segmentations += frame.f_code.co_qualname == "Segmentation.__post_init__"

    def files(self) -> dict[str, list[str]]:
        """Return the functions by file, in the order in which they were first called."""
        found: dict[str, list[str]] = {}
        for file, function in self.functions:
            found.setdefault(file, []).append(function)
        return found


def own_stack(frame: FrameType | None) -> list[str]:
    """Return the files of dayline's own frames on the stack, the innermost first."""
    found = []
    while frame is not None:
        code = frame.f_code
        if code.co_filename.startswith(OWN) and not code.co_name.startswith("<"):
            found.append(code.co_filename.removeprefix(OWN))
        frame = frame.f_back
    return found


def owner(frame: FrameType) -> str:
    """Return the name of the class whose parameter is checked, or of the function."""
    caller = frame.f_back
    while caller is not None and caller.f_code.co_filename == frame.f_code.co_filename:
        caller = caller.f_back
    if caller is None:
        return "nothing"
    return type(caller.f_locals["self"]).__name__ if "self" in caller.f_locals else "a function"


def made_photos(folder: Path) -> None:
    """Write photos of three scenes, one a minute."""
    from PIL import Image

    random = np.random.default_rng(0)
    scenes = random.integers(0, 255, size=(3, 12, 16, 3))
    for k in range(N_PHOTOS):
        noisy = np.clip(scenes[k * 3 // N_PHOTOS] + random.normal(0, 20, (12, 16, 3)), 0, 255)
        picture = Image.fromarray(noisy.astype(np.uint8)).resize((640, 480))
        picture.save(folder / f"20240101_10{k:02d}00.jpg", quality=90)


def walk_fit() -> Walk:
    """Fit made frames."""
    random = np.random.default_rng(0)
    # More columns than a signal has.
    x = np.repeat(random.normal(size=(8, 12)), 15, axis=0) + 0.2 * random.normal(size=(120, 12))
    walk = Walk()
    EventSegmenter().fit(x)
    walk.run(lambda: EventSegmenter().fit(x))
    return walk


def walk_photos() -> Walk:
    """Segment a folder of made photos with the command."""
    from dayline.cli import main

    def segment(source: Path, output: Path) -> None:
        said = StringIO()
        sys.argv = ["dayline", "segment", str(source), "--output", str(output), "--no-open"]
        with redirect_stdout(said), redirect_stderr(said):
            try:
                main()
            except SystemExit as ended:
                if ended.code:
                    raise RuntimeError(said.getvalue()) from None

    with tempfile.TemporaryDirectory() as folder:
        photos = Path(folder, "photos")
        photos.mkdir()
        walk = Walk(photos)
        made_photos(photos)
        segment(photos, Path(folder, "first"))
        walk.run(lambda: segment(photos, Path(folder, "second")))
    return walk


def page_of(fit: Walk, photos: Walk) -> str:
    """Return the tables as Markdown."""
    rows = [
        ("own files", *(len(walk.files()) for walk in (fit, photos))),
        ("own functions", *(len(walk.functions) for walk in (fit, photos))),
        ("own calls within each other, at most", fit.deepest, photos.deepest),
        ("own calls above Algorithm 1", fit.above_equation, photos.above_equation),
        ("checks of one parameter, at most", most_checks(fit), most_checks(photos)),
        ("checks of the features", fit.features.total(), photos.features.total()),
        ("`Segmentation` made", fit.segmentations, photos.segmentations),
        ("photos opened, each", "", f"{photos.opened / N_PHOTOS:g}"),
        (
            "pictures decoded for each photo (faces are looked for in thumbnails)",
            "",
            f"{photos.decoded / N_PHOTOS:g}",
        ),
    ]
    lines = ["| | `fit(X)` | `segment PHOTOS` |", "| --- | --- | --- |"]
    lines += [f"| {what} | {a} | {b} |" for what, a, b in rows]
    for what, walk in (("fit(X)", fit), ("segment PHOTOS", photos)):
        files = ", ".join(f"`{file}`" for file in walk.files())
        lines += ["", f"The files of `{what}`, in the order in which they are entered: {files}."]
    return "\n".join(lines)


def most_checks(walk: Walk) -> int:
    """Return how often the parameter is checked that is checked most."""
    return max(walk.parameters.values(), default=0)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="put the tables into the page")
    parser.add_argument("--check", action="store_true", help="fail if the page shows others")
    options = parser.parse_args()
    os.environ["OMP_NUM_THREADS"] = "1"

    fit = walk_fit()
    made = page_of(fit, walk_photos())
    before, rest = PAGE.read_text(encoding="utf-8").split(BEGIN)
    shown, after = rest.split(END)
    if options.write:
        PAGE.write_text(f"{before}{BEGIN}\n\n{made}\n\n{END}{after}", encoding="utf-8")
    elif options.check:
        if shown.strip() != made:
            sys.exit(f"{PAGE} is out of date; run benchmarks/walk.py --write")
    else:
        print(made)
        for file, functions in fit.files().items():
            print(f"{file}: {', '.join(functions)}")


if __name__ == "__main__":
    main()
