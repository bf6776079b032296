"""Let tests import the scripts of benchmarks/ by their names."""

from __future__ import annotations

import sys
from pathlib import Path

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"

sys.path += [str(BENCHMARKS / folder) for folder in ("accuracy", "album", "speed")]
