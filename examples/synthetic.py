"""The paper's synthetic example: four communities in the plane, over ten iterations of the loop.

    python examples/synthetic.py [--seeds 20] [--output docs/images/synthetic.png]

Draws, for iterations 0, 1, 3 and 10: (a) the points, (b) the coordinates over time with found and
true boundaries, (c) the graph of the embedding, (d) the same without its weak edges, and (e)
interior and CES scores by iteration over all seeds, compared with the CES rule on the points
themselves, equal pieces (true number) and random cuts (found number). The paper reports F rising
from 0.59 to 0.67 on one sequence.
"""

from __future__ import annotations

import argparse
import io
from pathlib import Path

import numpy as np

from dayline import (
    affinity_graph,
    context_distance,
    equal_pieces,
    make_communities,
    pick_boundaries,
    random_cuts,
    score_boundaries,
)
from dayline.files import writing_whole
from dayline.research.datasets.synthetic import CommunitySequence
from dayline.research.reproduce.made import example_segmenter

SHOWN = (0, 1, 3, 10)
COLORS = np.asarray(["#0072b2", "#e69f00", "#009e73", "#cc79a7"])


def scores(made: CommunitySequence, found: np.ndarray) -> tuple[float, float]:
    n = len(made.features)
    return (
        score_boundaries(found, made.boundaries, n_frames=n).f1,
        score_boundaries(found, made.boundaries, n_frames=n, protocol="ces").f1,
    )


def score_table(seeds: int, most_iterations: int) -> dict[str, np.ndarray]:
    """Return interior and CES F1 of every seed, by iteration and for the controls."""
    rows: dict[str, list] = {"iterations": [], "points": [], "equal pieces": [], "random cuts": []}
    for seed in range(seeds):
        made = make_communities(random_state=seed)
        n, k = len(made.features), len(made.boundaries) + 1
        runs = [
            example_segmenter(iterations).fit(made.features).boundaries_
            for iterations in range(most_iterations + 1)
        ]
        rows["iterations"].append([scores(made, found) for found in runs])
        rows["points"].append(scores(made, pick_boundaries(context_distance(made.features))))
        rows["equal pieces"].append(scores(made, equal_pieces(n, k)))
        rows["random cuts"].append(
            scores(made, random_cuts(n, len(runs[-1]) + 1, random_state=seed))
        )
    return {name: np.asarray(values) for name, values in rows.items()}


def draw(table: dict[str, np.ndarray], path: Path) -> None:
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt
    from PIL import Image

    made = make_communities(random_state=0)
    figure, axes = plt.subplots(5, 4, figsize=(13, 14), layout="constrained")
    for column, iterations in enumerate(SHOWN):
        draw_iteration(axes[:4, column], made, iterations)
    for axis in axes[4]:
        axis.remove()
    draw_scores(figure.add_subplot(axes[4, 0].get_gridspec()[4, :]), table)
    drawn = io.BytesIO()
    figure.savefig(drawn, format="png", dpi=80)
    with writing_whole(path, "wb") as file, Image.open(drawn) as picture:
        # Graphs of noise hardly compress; 256 colors are enough.
        picture.convert("RGB").quantize(256).save(file, "PNG", optimize=True)


def draw_iteration(axes: np.ndarray, made: CommunitySequence, iterations: int) -> None:
    fitted = example_segmenter(iterations).fit(made.features)
    x, colors = fitted.embedding_, COLORS[made.communities]
    axes[0].plot(*x.T, color="0.85", lw=0.5, zorder=0)
    axes[0].scatter(*x.T, c=colors, s=9)
    axes[0].set_title(f"iteration {iterations}")
    axes[1].plot(x, lw=0.8)
    for b in made.boundaries:
        axes[1].axvline(b, color="k", lw=0.5)
    for b in fitted.boundaries_:
        axes[1].axvline(b, color="#d55e00", lw=0.9, ls="--")
    graph = affinity_graph(x, bandwidth=0.3)
    axes[2].imshow(graph, cmap="viridis")
    axes[3].imshow(np.where(graph < 0.7 * graph.max(), 0, graph), cmap="viridis")


def draw_scores(axis, table: dict[str, np.ndarray]) -> None:
    iterations = np.arange(table["iterations"].shape[1])
    for kind, (name, color) in enumerate((("interior", "#0072b2"), ("CES scorer", "#d55e00"))):
        values = table["iterations"][:, :, kind]
        error = values.std(axis=0) / np.sqrt(len(values))
        axis.errorbar(
            iterations,
            values.mean(axis=0),
            error,
            color=color,
            label=f"{name} F, mean and standard error",
        )
        for control, style in (("points", "-"), ("equal pieces", ":"), ("random cuts", "--")):
            axis.axhline(
                table[control][:, kind].mean(),
                color=color,
                ls=style,
                lw=1,
                label=f"{control}, {name}",
            )
    axis.set_xlabel("iterations of the loop")
    axis.legend(fontsize=8, ncols=3)
    axis.set_ylim(0, 1)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--iterations", type=int, default=10)
    parser.add_argument("--output", type=Path, default=Path("synthetic.png"))
    arguments = parser.parse_args()

    if arguments.seeds < 1 or arguments.iterations < 0:
        parser.error("--seeds must be 1 or more, --iterations 0 or more")
    if not arguments.output.resolve().parent.is_dir():
        parser.error(f"--output {arguments.output}: its folder does not exist")
    table = score_table(arguments.seeds, arguments.iterations)
    print(f"mean over {arguments.seeds} seeds: interior F / CES F")
    for iteration, (interior, ces) in enumerate(table["iterations"].mean(axis=0)):
        print(f"iteration {iteration:2d}       {interior:.3f} / {ces:.3f}")
    for control in (
        "points",
        "equal pieces",
        "random cuts",
    ):  # equal pieces: true number; random cuts: found number
        print("{:13s} {:.3f} / {:.3f}".format(control, *table[control].mean(axis=0)))
    draw(table, arguments.output)


if __name__ == "__main__":
    main()
