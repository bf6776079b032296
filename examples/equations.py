"""The method step by step on one synthetic sequence: one picture per step, for docs/method.md.

python examples/equations.py [--output docs/images/method]

Every picture shows the same 160 frames of four recurring contexts; gray lines are true boundaries.
Graphs show the square roots of their weights, so that weak ones are visible.
"""

from __future__ import annotations

import argparse
import io
from pathlib import Path
from typing import Any

import numpy as np

from dayline import (
    EventSegmenter,
    affinity_graph,
    context_distance,
    embed_graph,
    find_communities,
    make_communities,
    nonlocal_means,
    principal_components,
    smooth_edges,
    weaken_distant_edges,
    weaken_edges_between_communities,
)

COLORS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7")


def draw(folder: Path) -> None:
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt
    from PIL import Image

    folder.mkdir(parents=True, exist_ok=True)
    made = make_communities(160, stay=300.0, variance=9.0, n_features=8, random_state=3)
    features = (made.features - made.features.mean(axis=0)) / made.features.std(axis=0)
    denoised = nonlocal_means(
        features,
        search_radius=4,
        patch_radius=1,
        bandwidth="median",
        kernel="gaussian",
        decay=0.25,
        include_self=True,
    )
    initial = affinity_graph(denoised, bandwidth=0.1)
    start = principal_components(denoised, 3)
    embedding = embed_graph(initial, start=start, bandwidth=0.5).x
    graph = affinity_graph(embedding, bandwidth=0.5)
    target = 0.9 * graph + 0.1 * initial
    smooth = smooth_edges(target, width=5)
    near = weaken_distant_edges(smooth, temporal_prior=0.3)
    communities = find_communities(embedding, 4, random_state=0)
    within = weaken_edges_between_communities(near, communities, semantic_prior=0.3)

    def save(name: str, figure: Any) -> None:
        drawn = io.BytesIO()
        figure.savefig(drawn, format="png", dpi=72)
        plt.close(figure)
        with Image.open(drawn) as picture:  # graphs of noise hardly compress; 256 colors are enough
            picture.convert("RGB").quantize(256).save(folder / f"{name}.png", optimize=True)
        print(folder / f"{name}.png")

    def rows(name: str, parts: dict[str, Any]) -> None:
        figure, axes = plt.subplots(
            len(parts), 1, figsize=(8, 1.3 * len(parts)), sharex=True, layout="constrained"
        )
        for axis, (title, values) in zip(np.atleast_1d(axes), parts.items(), strict=True):
            axis.imshow(np.asarray(values).T, aspect="auto", cmap="RdBu_r", vmin=-2.5, vmax=2.5)
            axis.vlines(
                made.boundaries - 0.5, -0.5, np.shape(values)[1] - 0.5, color="#555", lw=0.8
            )
            axis.set(ylabel=title, yticks=[])
        axes[-1].set_xlabel("frame")
        save(name, figure)

    def graphs(name: str, parts: dict[str, Any]) -> None:
        figure, axes = plt.subplots(
            1, len(parts), figsize=(3.2 * len(parts), 3.5), layout="constrained"
        )
        for axis, (title, values) in zip(np.atleast_1d(axes), parts.items(), strict=True):
            axis.imshow(np.sqrt(values), cmap="viridis", vmin=0, vmax=1)
            axis.set(title=title, xticks=[], yticks=[])
        save(name, figure)

    rows("denoise", {"features": features, "denoised": denoised})
    graphs(
        "graph",
        {"of the features": affinity_graph(features, bandwidth=0.1), "of the denoised": initial},
    )
    rows("embedding", {"start (PCA)": scaled(start), "embedding": scaled(embedding)})
    graphs(
        "priors",
        {
            "mixed (Eq. 5)": target,
            "smoothed": smooth,
            "time (Eq. 6)": near,
            "communities (Eq. 7)": within,
        },
    )

    fitted = EventSegmenter().fit(made.features)
    figure, axes = plt.subplots(
        3, 1, figsize=(8, 4), sharex=True, layout="constrained", height_ratios=[2, 1, 0.5]
    )
    axes[0].plot(context_distance(fitted.embedding_), color=COLORS[0], lw=1)
    axes[0].set(ylabel="score", ylim=(0, None))
    axes[1].scatter(fitted.boundaries_, fitted.confidence_, color=COLORS[0], s=18)
    axes[1].set(ylabel="confidence", ylim=(0, 1))
    for axis in axes[:2]:
        for boundary in made.boundaries:
            axis.axvline(boundary, color="#999", lw=0.8)
    names = np.asarray(fitted.communities_)
    for event in fitted.events_:
        color = COLORS[names[event.start] % len(COLORS)]
        axes[2].axvspan(event.start, event.stop, color=color, ec="white", lw=1.5)
    axes[2].set(
        yticks=[], ylabel="events", xlim=(0, len(features)), xlabel="frame; gray: true boundaries"
    )
    save("decision", figure)


def scaled(values: Any) -> Any:
    """Scale all columns by the same factor, to be drawn."""
    return np.asarray(values) / np.std(values)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--output", type=Path, default=Path("method"))
    draw(parser.parse_args().output)


if __name__ == "__main__":
    main()
