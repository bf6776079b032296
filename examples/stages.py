"""The stages of one sequence, as in the paper's figure.

Features, graph, thresholded graph, boundaries and truth.

    python examples/stages.py SEQUENCE [--variant authors] [--output stages.png]

SEQUENCE is an .npz (features, boundaries), a motion .mat file, or a folder of EDUB-Seg with --day
NAME. Columns: the features, the denoised features, the initial embedding, and the embedding after
every iteration of the loop. Rows: (a) the values over time with found boundaries dashed and true
ones solid, and F (the papers' scorer, tolerance 5; interior F in parentheses), (b) the graph, (c)
the graph without edges below a fraction of the strongest one.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from dayline import (
    DynamicGraphEmbedding,
    affinity_graph,
    context_distance,
    equal_pieces,
    pick_boundaries,
    random_cuts,
    score_boundaries,
)
from dayline.files import writing_whole
from dayline.method.dge import bandwidths
from dayline.research.datasets.annotations import LabeledSequence, read_labeled
from dayline.research.datasets.edub_seg import load_day
from dayline.research.datasets.motion import read_motion

VARIANTS = {
    "default": DynamicGraphEmbedding,
    "paper": DynamicGraphEmbedding.paper,
    "authors": DynamicGraphEmbedding.authors,
}


def read(path: Path, day: str | None) -> LabeledSequence:
    if path.is_dir():
        if day is None:
            raise ValueError(f"{path} is a folder; choose a day with --day NAME")
        return load_day(path, day)
    return read_motion(path, group="motion") if path.suffix == ".mat" else read_labeled(path)


def stages(
    features: np.ndarray, variant: str, iterations: int
) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Return values and graph of every stage, each fitted from the start.

    That is fast, and shows what each does.
    """
    learned = [VARIANTS[variant](n_iterations=k).fit(features) for k in range(iterations + 1)]
    wide, narrow = bandwidths(learned[0], features.shape[1])
    found = {
        "features": (features, affinity_graph(features, bandwidth=wide)),
        "denoised": (learned[0].denoised_, affinity_graph(learned[0].denoised_, bandwidth=wide)),
        "initial embedding": (
            learned[0].embedding_,
            affinity_graph(learned[0].embedding_, bandwidth=narrow),
        ),
    }
    for k in range(1, iterations + 1):
        found[f"iteration {k}"] = (learned[k].embedding_, learned[k].graph_)
    return found


def draw(sequence: LabeledSequence, found: dict, path: Path, threshold: float) -> None:
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(
        3, len(found), figsize=(3.4 * len(found), 9), layout="constrained", squeeze=False
    )
    n = sequence.n_frames
    for column, (name, (values, graph)) in zip(axes.T, found.items(), strict=True):
        boundaries = pick_boundaries(context_distance(values))
        f, inside = (
            score_boundaries(boundaries, sequence.boundaries, n_frames=n, protocol=protocol).f1
            for protocol in ("ces", "interior")
        )
        column[0].imshow(values.T, aspect="auto", cmap="viridis", interpolation="nearest")
        for b in sequence.boundaries:
            column[0].axvline(b, color="#56b4e9", lw=1.2)
        for b in boundaries:
            column[0].axvline(b, color="#d55e00", lw=0.9, ls="--")
        column[0].set_title(f"{name}\nF {f:.2f} ({inside:.2f})")
        column[1].imshow(graph, cmap="viridis")
        column[2].imshow(np.where(graph < threshold * graph.max(), 0.0, graph), cmap="viridis")
        print(f"{name:18s} F {f:.3f}, interior F {inside:.3f}, {len(boundaries)} boundaries found")
    with writing_whole(path, "wb") as file:
        figure.savefig(file, format=path.suffix.lstrip(".") or "png", dpi=80)


def print_controls(sequence: LabeledSequence) -> None:
    """Print the scores of controls, boundaries placed without using the frames."""
    n, true = sequence.n_frames, sequence.boundaries
    cuts = [random_cuts(n, len(true) + 1, random_state=seed) for seed in range(20)]
    for name, found in {
        "equal pieces": [equal_pieces(n, len(true) + 1)],
        "random cuts": cuts,
    }.items():
        f, inside = (
            np.mean([score_boundaries(b, true, n_frames=n, protocol=protocol).f1 for b in found])
            for protocol in ("ces", "interior")
        )
        print(f"{name:18s} F {f:.3f}, interior F {inside:.3f}, true number given")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("sequence", type=Path)
    parser.add_argument("--day", default=None)
    parser.add_argument("--variant", choices=list(VARIANTS), default="authors")
    parser.add_argument("--iterations", type=int, default=2)
    parser.add_argument(
        "--threshold", type=float, default=0.3, help="fraction of the strongest edge"
    )
    parser.add_argument("--output", type=Path, default=Path("stages.png"))
    arguments = parser.parse_args()

    if arguments.iterations < 0:
        parser.error(f"--iterations must be 0 or more, not {arguments.iterations}")
    if not arguments.output.resolve().parent.is_dir():
        parser.error(f"--output {arguments.output}: its folder does not exist")
    try:
        sequence = read(arguments.sequence, arguments.day)
    except ValueError as error:
        parser.error(str(error))
    if sequence.features is None:
        parser.error(
            f"{arguments.sequence}: has no features; dayline reproduce edub-seg computes some from"
            " photos"
        )
    found = stages(sequence.features, arguments.variant, arguments.iterations)
    draw(sequence, found, arguments.output, arguments.threshold)
    print_controls(sequence)


if __name__ == "__main__":
    main()
