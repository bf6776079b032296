"""How the default decides, on a synthetic sequence.

Scores, candidates, nested levels, probability and contexts.

python examples/decision.py [--output docs/images/decision.png]
"""

from __future__ import annotations

import argparse
from itertools import pairwise
from pathlib import Path

import numpy as np

from dayline import EventSegmenter, make_communities

COLORS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#999999")


def draw(path: Path) -> None:
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    made = make_communities(400, stay=400.0, variance=9.0, n_features=8, random_state=3)
    fitted = EventSegmenter().fit(made.features)
    figure, axes = plt.subplots(
        4, 1, figsize=(10, 7), sharex=True, layout="constrained", height_ratios=[1, 1, 2.2, 0.5]
    )
    axes[0].plot(fitted.scores_, color="#0072b2", lw=1)
    axes[0].set_title("boundary score: past against future", loc="left", fontsize=10)
    evidence = fitted.evidence_
    axes[1].vlines(
        evidence.hierarchy.boundaries, 0, np.exp(evidence.strengths), color="#d55e00", lw=1
    )
    axes[1].axhline(1.0, color="0.5", lw=0.8, ls=":")
    axes[1].set_ylim(0)
    axes[1].set_title(
        "candidates: height over the split of this sequence (dotted)", loc="left", fontsize=10
    )
    for row, level in enumerate(fitted.levels_):
        usual = level.factor == 1.0
        edges = [0, *level.boundaries, len(made.features)]
        for k, (start, stop) in enumerate(pairwise(edges)):
            shade = ("#1b4f72" if k % 2 else "#2e86c1") if usual else ("0.6" if k % 2 else "0.8")
            axes[2].barh(row, stop - start, left=start, color=shade, height=0.85)
    axes[2].set_yticks(
        range(len(fitted.levels_)),
        [f"x {level.factor:.2g}" for level in fitted.levels_],
        fontsize=7,
    )
    axes[2].invert_yaxis()
    axes[2].set_title(
        "nested levels, by factor on the odds against a boundary; the usual one in blue",
        loc="left",
        fontsize=10,
    )
    for event in fitted.events_:
        color = COLORS[event.community % len(COLORS)]
        axes[3].barh(0, event.n_frames, left=event.start, color=color, height=1, alpha=0.8)
        if event.confidence is not None:
            axes[3].text(event.start, 0.62, f"{event.confidence:.0%}", fontsize=6, ha="center")
    axes[3].vlines(made.boundaries, -0.9, -0.5, color="k", lw=1)
    axes[3].set(yticks=[], ylim=(-0.9, 1.0), xlabel="frame")
    axes[3].set_title(
        "events by context, probability above, true boundaries below", loc="left", fontsize=10
    )
    figure.savefig(path, dpi=80)
    print(f"{len(fitted.boundaries_)} boundaries found, {len(made.boundaries)} true")
    print("confidence:", np.round(fitted.confidence_, 2))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--output", type=Path, default=Path("decision.png"))
    draw(parser.parse_args().output)


if __name__ == "__main__":
    main()
