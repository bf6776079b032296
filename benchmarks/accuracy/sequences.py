"""The sequences that the benchmarks use, and the options that choose them.

ROOT/dev/GROUP/*.npz, Keck, the first ten of MAD, and more folders.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from dayline.research.datasets.annotations import LabeledSequence, load_folder
from dayline.research.datasets.motion import load_motion


def options_of(about: str | None) -> argparse.ArgumentParser:
    """Return a parser of --root, --folder and --jobs, to which a script adds its own options."""
    parser = argparse.ArgumentParser(
        description=about, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--root", type=Path, default=Path("../shared/data"))
    parser.add_argument(
        "--folder", type=Path, action="append", default=[], help="additional groups; repeatable"
    )
    parser.add_argument("--jobs", type=int, default=2)
    return parser


def load_all(
    root: Path | None, folders: Sequence[Path] = (), *, mad: int | None = 10
) -> list[LabeledSequence]:
    """Read the development sets, Keck, `mad` sequences of MAD, and GROUP/*.npz of folders."""
    known = []
    if root is not None:
        known = load_folder(root / "dev") + load_motion(root, "keck")
        known += load_motion(root, "mad", most=mad)
    return known + [sequence for folder in folders for sequence in load_folder(folder)]
