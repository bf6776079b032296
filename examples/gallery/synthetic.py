"""The paper's synthetic example.

Four noisy communities in the plane: how the loop of graph and embedding changes them, iteration by
iteration, and how much of the score any segmentation would get.

Figure: Top: the points before the loop and after three and ten iterations, in the colors of their
true communities. Bottom: F1 by iteration, as the mean of five sequences, with controls.
"""

# %%
# `make_communities` draws the sequence of the paper's example: 350 points that jump between four
# Gaussian clouds that touch each other. A visit lasts eight points on average; each new visit
# begins with a boundary.
import matplotlib.pyplot as plt
import numpy as np

from dayline import (
    EventSegmenter,
    context_distance,
    equal_pieces,
    make_communities,
    pick_boundaries,
    random_cuts,
    score_boundaries,
)

made = make_communities(random_state=0)
print(f"{len(made.features)} points, {len(made.boundaries)} true boundaries")


# %%
# `EventSegmenter.paper()` follows the paper's text. In this example, the points themselves are the
# first embedding, in two dimensions, and every iteration takes one step: it embeds the graph,
# smooths it, and weakens edges between frames that are far apart in time or in different
# communities.
def embed(points, iterations):
    segmenter = EventSegmenter.paper(
        n_components=2,
        n_iterations=iterations,
        search_radius=0,
        start="columns",
        n_steps=1,
        embedding_bandwidth=0.3,
    )
    return segmenter.fit(points)


def f1(found, true):
    return score_boundaries(found, true, tolerance=5).f1


# %%
# One sequence proves little, so we score five. Equal pieces and random cuts are controls that
# ignore the points. The CES rule on the points does not use an embedding.
iterations = (0, 1, 3, 5, 10)
by_iteration = np.zeros((5, len(iterations)))
others = {
    "CES rule on the points": [],
    "equal pieces, true number": [],
    "random cuts, found number": [],
    "default of dayline": [],
}
for seed in range(5):
    sequence = make_communities(random_state=seed)
    n, true = len(sequence.features), sequence.boundaries
    found = [embed(sequence.features, k).boundaries_ for k in iterations]
    by_iteration[seed] = [f1(boundaries, true) for boundaries in found]
    cuts = (
        pick_boundaries(context_distance(sequence.features)),
        equal_pieces(n, len(true) + 1),
        random_cuts(n, len(found[-1]) + 1, random_state=seed),
        EventSegmenter().fit(sequence.features).boundaries_,
    )
    for scores, boundaries in zip(others.values(), cuts, strict=True):
        scores.append(f1(boundaries, true))

for name, scores in others.items():
    print(f"{name:26s} F1 {np.mean(scores):.2f}")
for k, scores in zip(iterations, by_iteration.T, strict=True):
    print(f"{f'paper(), iteration {k}':26s} F1 {np.mean(scores):.2f}")

# %%
# The loop orders the points along a curve, with one section for each community, and the score rises
# a little, as in the paper. It stays far below that of equal pieces: events are so short that any
# even spacing comes within five frames of most boundaries. The default, which is not given the
# number, is hardly better than equal pieces. The example shows what the loop does, not that it
# finds events; see [the paper, equation by equation](../paper.md).
COLORS = np.asarray(["#0072b2", "#e69f00", "#009e73", "#cc79a7"])
figure = plt.figure(figsize=(5.0, 4.8), layout="constrained")
axes = figure.subplot_mosaic([["0", "3", "10"], ["scores"] * 3], height_ratios=[1, 1.35])
for k in (0, 3, 10):
    x, y = embed(made.features, k).embedding_.T
    axes[str(k)].plot(x, y, color="0.85", lw=0.5, zorder=0)
    axes[str(k)].scatter(x, y, c=COLORS[made.communities], s=7)
    axes[str(k)].set(title=f"{k} iterations", xticks=[], yticks=[])
axes["scores"].plot(
    iterations, by_iteration.mean(axis=0), "o-", color="#0072b2", label="paper(), by iteration"
)
styles = [{"color": "#d55e00", "ls": line} for line in ("-", ":", "--")] + [
    {"color": "#009e73", "ls": "-."}
]
for (name, scores), style in zip(others.items(), styles, strict=True):
    axes["scores"].axhline(np.mean(scores), **style, label=name)
axes["scores"].set(xlabel="iterations of the loop", ylabel="F1 (tolerance 5)", ylim=(0, 1))
axes["scores"].legend(loc="lower center", ncols=2, fontsize=8.5, columnspacing=1.0)
figure.savefig("synthetic.png", dpi=160)
