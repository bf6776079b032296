"""The sequences that the benchmarks use: ROOT/dev/GROUP/*.npz, Keck, and the first sequences of MAD."""

from __future__ import annotations

from pathlib import Path

from dayline.research.datasets.annotations import LabelledSequence, load_folder
from dayline.research.datasets.motion import load_motion


def load_all(root: Path, *, mad: int | None = 10) -> list[LabelledSequence]:
    """Read the development sets, Keck, and the first `mad` sequences of MAD."""
    return (
        load_folder(root / "dev") + load_motion(root, "keck") + load_motion(root, "mad", most=mad)
    )
