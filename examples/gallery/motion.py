"""Human motion and its controls.

Ten synthetic actions of a stick figure, once with nearly equal and once with unequal durations.
They show why a score on motion data means nothing without controls that ignore the motion.

Figure: Two recordings of the same ten actions. Rows: joint angles over time, the true actions, and
the events of dayline, of equal pieces and of random cuts.
"""

# %%
# The data sets that papers on motion report (Keck, MAD) are not part of dayline, so this sequence
# is synthetic: twelve joint angles swing around the pose of each action, with a rhythm of its own,
# and a quarter of a second passes between actions. This is simpler than the motion of a person, but
# what matters here is the length of the actions.
from itertools import pairwise

import matplotlib.pyplot as plt
import numpy as np

from dayline import EventSegmenter, equal_pieces, random_cuts, score_boundaries, score_labels
from dayline.events import boundaries_to_labels

N_JOINTS, N_ACTIONS = 12, 10


def perform(lengths, seed):
    rng = np.random.default_rng(seed)
    labels = np.repeat(np.arange(N_ACTIONS), lengths)
    t = np.arange(len(labels))[:, None]
    pose = rng.normal(scale=0.7, size=(N_ACTIONS, N_JOINTS))
    swing = rng.gamma(1.5, 0.35, size=(N_ACTIONS, N_JOINTS))
    rhythm = rng.uniform(0.1, 0.35, size=(N_ACTIONS, 1))
    phase = rng.uniform(0, 2 * np.pi, size=(N_ACTIONS, N_JOINTS))
    angles = pose[labels] + swing[labels] * np.sin(rhythm[labels] * t + phase[labels])
    smooth = (
        np.ones(8) / 8
    )  # a quarter of a second: nobody changes action from one frame to the next
    angles = np.stack([np.convolve(column, smooth, mode="same") for column in angles.T], axis=1)
    return angles + rng.normal(scale=0.1, size=angles.shape), labels


# %%
# In the published recordings, every action occurs once, and all are of nearly equal length, as in
# the first recording here. In the second, the lengths differ by a factor of up to thirteen.
rng = np.random.default_rng(5)
recordings = {
    "nearly equal durations": perform(rng.integers(85, 115, N_ACTIONS), seed=1),
    "unequal durations": perform((30, 260, 45, 110, 20, 190, 60, 150, 25, 110), seed=1),
}


# %%
# Two scores are common: the accuracy of labels, after the best match between events and actions,
# and the F1 of boundaries. The controls are given the true number of actions; dayline is not,
# unless the row says so.
def score(found, labels):
    true = np.flatnonzero(np.diff(labels)) + 1
    accuracy = score_labels(boundaries_to_labels(found, len(labels)), labels).hungarian_accuracy
    return accuracy, score_boundaries(found, true, tolerance=10).f1


def segment(angles):
    n = len(angles)
    return {
        "dayline": EventSegmenter().fit(angles).boundaries_,
        "dayline, 10 events": EventSegmenter(n_events=N_ACTIONS).fit(angles).boundaries_,
        "equal pieces": equal_pieces(n, N_ACTIONS),
        "random cuts": random_cuts(n, N_ACTIONS, random_state=3),
    }


found = {name: segment(angles) for name, (angles, _) in recordings.items()}
print(f"{'':20s} {'nearly equal':>16s} {'unequal':>16s}")
print(f"{'':20s} {'accuracy':>10s} {'F1':>5s} {'accuracy':>10s} {'F1':>5s}")
for method in found["unequal durations"]:
    scores = [score(found[name][method], labels) for name, (_, labels) in recordings.items()]
    print(f"{method:20s}" + "".join(f" {accuracy:10.2f} {f1:5.2f}" for accuracy, f1 in scores))

# %%
# In the first recording, equal pieces, which ignore the motion, are nearly as good as a method that
# uses it; so is anything that prefers long, equal runs. Only the second recording distinguishes
# them. These synthetic actions are easier than those of a person: on the published recordings,
# dayline finds too many events, and no method reaches equal pieces on Keck
# ([table](../paper-table.md)).
COLORS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9")
figure, axes = plt.subplots(
    4, 1, figsize=(5.0, 6.2), layout="constrained", height_ratios=[1, 1.6, 1, 1.6]
)
for (name, (angles, labels)), (heat, rows) in zip(
    recordings.items(), axes.reshape(2, 2), strict=True
):
    heat.imshow(angles.T, aspect="auto", cmap="PuOr", vmin=-2.5, vmax=2.5, interpolation="nearest")
    heat.set(yticks=[], xticks=[], ylabel="angles")
    heat.set_title(name, loc="left")
    bars = {"true": np.flatnonzero(np.diff(labels)) + 1, **found[name]}
    for row, boundaries in enumerate(bars.values()):
        edges = [0, *boundaries, len(labels)]
        for k, (start, stop) in enumerate(pairwise(edges)):
            rows.barh(row, stop - start, left=start, height=0.8, color=COLORS[k % len(COLORS)])
    rows.set(yticks=range(len(bars)), yticklabels=list(bars), xlim=(0, len(labels)), xlabel="frame")
    rows.invert_yaxis()
figure.savefig("motion.png", dpi=160)
