"""Scripts of examples/ that draw pictures from the code of the method."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from dayline.research.datasets.synthetic import make_communities

EXAMPLES = Path(__file__).parents[2] / "examples"

pytestmark = pytest.mark.slow


def draw(name: str, *arguments: object) -> str:
    pytest.importorskip("matplotlib")
    command = [sys.executable, EXAMPLES / name, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_every_step_of_the_method_is_drawn(tmp_path):
    draw("equations.py", "--output", tmp_path)
    drawn = {path.name for path in tmp_path.iterdir() if path.stat().st_size > 2_000}
    assert drawn == {"denoise.png", "graph.png", "embedding.png", "priors.png", "decision.png"}


def test_the_stages_of_any_sequence_are_drawn(tmp_path):
    made = make_communities(80, stay=300.0, n_features=20, random_state=1)
    source = tmp_path / "mine" / "one.npz"
    source.parent.mkdir()
    np.savez(source, features=made.features, boundaries=made.boundaries)

    options = ("--variant", "paper", "--iterations", "1", "--output", tmp_path / "out.png")
    printed = draw("stages.py", source, *options)
    names = [line[:18].strip() for line in printed.splitlines()]
    stages = ["features", "denoised", "initial embedding", "iteration 1"]
    assert names == [*stages, "equal pieces", "random cuts"]
    assert (tmp_path / "out.png").stat().st_size > 10_000
