"""The page about the walk shows what one call touches now."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def test_the_page_shows_what_the_calls_touch():
    pytest.importorskip("onnxruntime", reason="the extra photos is not installed")
    walk = [sys.executable, str(ROOT / "benchmarks" / "walk.py"), "--check"]
    checked = subprocess.run(walk, capture_output=True, text=True)
    assert checked.returncode == 0, checked.stderr
