"""Why did it cut here?

Three candidates of one sequence: a clear boundary, one that a hard cut decided, and one that was
rejected although it is right. Numbers show what mattered for each.

Figure: Top: the sequence, with boundaries as dotted lines and the three candidates marked. Middle:
what adds up to the strength of each. Bottom: from strength to probability, with one curve for each
kind of recording and their mean.
"""  # noqa: D400

# %%
# The default segments a synthetic sequence with known events. `plot(segmenter)` draws everything in
# one figure; this page looks at three of its candidates in detail. [How it
# decides](../how-it-decides.md) explains the terms.
import matplotlib.pyplot as plt
import numpy as np

from dayline import EventSegmenter, make_communities
from dayline.decision.model import load_model

made = make_communities(400, stay=400.0, variance=9.0, n_features=8, random_state=3)
segmenter = EventSegmenter().fit(made.features)
print(segmenter.segmentation_)
print("found ", *segmenter.boundaries_)
print("missed", *(b for b in made.boundaries if np.abs(segmenter.boundaries_ - b).min() > 2))

# %%
# `evidence_` holds all candidates, the highest first. The height of a candidate is what the
# sequence gains by this boundary: the contrast of the events on its two sides, times a weight that
# a hard cut raises. In logarithms, everything is a sum.
evidence, model = segmenter.evidence_, load_model()
order = evidence.hierarchy.boundaries.tolist()


def terms(frame):
    k = order.index(frame)
    height, strength = evidence.hierarchy.log_heights[k], evidence.strengths[k]
    return {
        "contrast": height - evidence.hierarchy.log_weights[frame],
        "hard cut": evidence.hierarchy.log_weights[frame],
        "split": strength - height,
        "strength": strength,
    }


# %%
# The split is the unit in which this sequence measures heights, the same for all its candidates.
# Subtracting it gives the strength, the only number that the model uses.
chosen = (210, 154, 251)
print(f"{'frame':>16s}" + "".join(f"{frame:7d}" for frame in chosen))
for name in terms(chosen[0]):
    print(f"{name:>16s}" + "".join(f"{terms(frame)[name]:+7.2f}" for frame in chosen))
probability = {
    frame: model.probabilities(np.asarray([terms(frame)["strength"]])) for frame in chosen
}
print(f"{'probability':>16s}" + "".join(f"{probability[frame].mean():7.2f}" for frame in chosen))
print(
    f"{'boundary':>16s}"
    + "".join(f"{'yes' if frame in segmenter.boundaries_ else 'no':>7s}" for frame in chosen)
)

# %%
# At frame 210, everything supports a boundary. The other two candidates have the same contrast. At
# frame 154, the features jump from one frame to the next, far more than nearby, and this decides
# it. At frame 251 they do not, and the model considers a boundary improbable. But there is a true
# boundary: a visit of five frames. Asking for more events finds it.
finer = segmenter.choose(n_events=15)
print("with n_events=15:", 251 in finer.boundaries)

# %%
COLORS = {"contrast": "#0072b2", "hard cut": "#e69f00", "split": "#999999"}
MARKS = {210: "#000000", 154: "#d55e00", 251: "#882255"}
figure, (above, middle, below) = plt.subplots(
    3, 1, figsize=(5.0, 6.6), layout="constrained", height_ratios=[1, 1.2, 1.4]
)
shown = slice(110, 300)
scaled = (made.features - made.features.mean(axis=0)) / made.features.std(axis=0)
extent = (shown.start - 0.5, shown.stop - 0.5, 7.5, -0.5)
above.imshow(
    scaled[shown].T,
    aspect="auto",
    cmap="PuOr",
    vmin=-2.5,
    vmax=2.5,
    extent=extent,
    interpolation="nearest",
)
for boundary in segmenter.boundaries_:
    if shown.start < boundary < shown.stop:
        above.axvline(boundary - 0.5, color="0.1", lw=1, ls=":")
for frame, color in MARKS.items():
    above.annotate(
        f"{frame}", (frame - 0.5, -0.5), (frame - 0.5, -2.6), color=color, ha="center",
        weight="bold", size=11,
        arrowprops={"arrowstyle": "-|>", "color": color, "lw": 2}, annotation_clip=False,
    )  # fmt: skip
above.set(yticks=[], ylabel="features", xlabel="frame")
for row, frame in enumerate(chosen):
    parts = terms(frame)
    reached = 0.0
    for name, color in COLORS.items():
        # The split is taken away from the sum of the others, so it goes back from their end.
        at = row + (0.22 if name == "split" else -0.22)
        middle.barh(
            at, parts[name], left=reached, height=0.4, color=color, label=name if row == 0 else None
        )
        reached += parts[name]
    middle.plot([parts["strength"]] * 2, [row - 0.45, row + 0.45], color=MARKS[frame], lw=3)
middle.axvline(0, color="0.1", lw=0.8)
middle.set(
    yticks=range(len(chosen)), yticklabels=chosen, xlabel="logarithm; strength as a thick line"
)
middle.invert_yaxis()
middle.legend(
    ncols=4,
    loc="lower center",
    bbox_to_anchor=(0.5, 1.0),
    frameon=False,
    columnspacing=1.0,
    handlelength=1,
)
strengths = np.linspace(-3, 4, 100)
curves = model.probabilities(strengths)
below.plot(strengths, curves.T, color="0.8", lw=0.8)
below.plot(strengths, curves.mean(axis=0), color="0.1", lw=2.5)
for frame, color in MARKS.items():
    strength, mean = terms(frame)["strength"], probability[frame].mean()
    below.plot([strength], [mean], "o", ms=10, color=color)
    aside = (-62, 8) if frame == 210 else (8, -14)
    below.annotate(
        f"{frame}: {mean:.0%}",
        (strength, mean),
        aside,
        textcoords="offset points",
        color=color,
        weight="bold",
    )
below.set(xlabel="strength", ylabel="probability", ylim=(0, 1), xlim=(-3, 4))
figure.savefig("one_boundary.png", dpi=160)
