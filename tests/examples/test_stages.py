from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from dayline.research.datasets.synthetic import make_communities

STAGES = Path(__file__).parents[2] / "examples" / "stages.py"


@pytest.mark.slow
def test_the_stages_of_any_sequence_are_drawn(tmp_path):
    pytest.importorskip("matplotlib")
    made = make_communities(80, stay=300.0, n_features=20, random_state=1)
    (tmp_path / "mine").mkdir()
    np.savez(tmp_path / "mine" / "one.npz", features=made.features, boundaries=made.boundaries)
    command = [
        sys.executable,
        STAGES,
        tmp_path / "mine" / "one.npz",
        "--variant",
        "paper",
        "--iterations",
        "1",
    ]
    done = subprocess.run(
        [*command, "--output", tmp_path / "out.png"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    names = [line[:18].strip() for line in done.stdout.splitlines()]
    assert names == [
        "features",
        "denoised",
        "initial embedding",
        "iteration 1",
        "equal pieces",
        "random cuts",
    ]
    assert (tmp_path / "out.png").stat().st_size > 10_000
