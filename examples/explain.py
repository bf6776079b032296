"""One figure of a synthetic sequence: its events, and why the boundaries are where they are.

python examples/explain.py [--output docs/images/plot.png]
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from dayline import EventSegmenter, make_communities, plot, score_boundaries


def draw(path: Path) -> None:
    made = make_communities(400, stay=400.0, variance=9.0, n_features=8, random_state=3)
    morning = np.datetime64("2024-05-12T08:00:00")
    segmenter = EventSegmenter().fit(made.features, times=morning + 60 * np.arange(400))
    plot(segmenter, truth=made.boundaries).savefig(path, dpi=80)
    print(segmenter.segmentation_)
    print(score_boundaries(segmenter.boundaries_, made.boundaries))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--output", type=Path, default=Path("plot.png"))
    draw(parser.parse_args().output)


if __name__ == "__main__":
    main()
