from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "examples" / "equations.py"


@pytest.mark.slow
def test_every_step_of_the_method_is_drawn(tmp_path):
    pytest.importorskip("matplotlib")
    done = subprocess.run(
        [sys.executable, SCRIPT, "--output", tmp_path], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    drawn = {path.name for path in tmp_path.iterdir() if path.stat().st_size > 2_000}
    assert drawn == {"denoise.png", "graph.png", "embedding.png", "priors.png", "decision.png"}
