"""The sequences that the benchmarks judge by: ROOT/dev/GROUP/*.npz, Keck, and the first sequences of MAD."""

from __future__ import annotations

from pathlib import Path

from dayline.datasets.folders import load_folder
from dayline.datasets.motion import load_motion
from dayline.datasets.sequence import LabelledSequence


def load_all(root: Path, *, mad: int | None = 10) -> list[LabelledSequence]:
    """Read the development sets, Keck, and the first `mad` sequences of MAD."""
    return load_folder(root / "dev") + load_motion(root, "keck") + load_motion(root, "mad", most=mad)
