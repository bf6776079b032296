"""Taught by one recording.

Synthetic sensors of a house: most change with every activity, door and light only where a room is
entered. Which changes count, the frames do not say. One recording with known boundaries says it for
the next.

Figure: The second recording, with the boundaries of the default above and those of what the first
recording taught below. The strip at the bottom shows the true rooms.
"""

# %%
# Eight sensors change with every activity, of which there are four in each room. Door and light
# change with the room.
import matplotlib.pyplot as plt
import numpy as np

from dayline import EventSegmenter, score_boundaries

rng = np.random.default_rng(3)


def recording():
    """Return ten sensors over 24 rooms, and the frames at which a room is entered."""
    activity = np.repeat(np.arange(96), rng.integers(8, 24, size=96))
    room = activity // 4
    sensors = np.hstack([rng.normal(size=(96, 8))[activity], 2 * rng.normal(size=(24, 2))[room]])
    return sensors + 0.2 * rng.normal(size=sensors.shape), np.flatnonzero(np.diff(room)) + 1


monday, entered = recording()
tuesday, true = recording()
print(monday.shape, tuesday.shape)

# %%
# The default takes nearly every activity for an event. That is not wrong: it cannot know.
default = EventSegmenter().fit(tuesday)
print(default.segmentation_)
print(score_boundaries(default.boundaries_, true, tolerance=2))

# %%
# A person has marked the rooms of the first recording. What that teaches is a few numbers, which
# can be printed and saved.
taught = EventSegmenter.learn([monday], [entered], tolerance=2, name="rooms")
print(taught.learned)
for sensor, weight in zip("01234567DL", taught.learned.change, strict=True):
    print(sensor, f"{weight:+.2f}")

# %%
# Door (D) and light (L) have the highest weights. In the second recording, fewer boundaries are
# found, and more of them are right.
taught.fit(tuesday)
print(taught.segmentation_)
print(score_boundaries(taught.boundaries_, true, tolerance=2))

# %%
# The figure has both answers beside the truth.
figure, (before, after, strip) = plt.subplots(
    3, 1, sharex=True, figsize=(9, 5), height_ratios=(4, 4, 0.6), layout="constrained"
)
for axes, title, found in (
    (before, "the default", default.boundaries_),
    (after, "taught by one recording", taught.boundaries_),
):
    axes.imshow(tuesday.T, aspect="auto", cmap="Greys", interpolation="nearest")
    for boundary in found:
        axes.axvline(boundary - 0.5, color="tab:red", linewidth=1.5)
    axes.set_title(f"{title}: {len(found)} boundaries", loc="left", fontsize=10)
    axes.set_yticks([0, 8, 9], ["activity", "door", "light"], fontsize=8)
rooms = np.searchsorted(true, np.arange(len(tuesday)), side="right")
strip.imshow(rooms[None, :] % 20, aspect="auto", cmap="tab20", interpolation="nearest")
strip.set_yticks([0], ["rooms"], fontsize=8)
strip.set_xlabel("frame")
figure.savefig("taught.png", dpi=100)
