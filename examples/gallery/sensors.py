"""A sensor stream with real times.

A synthetic recording of a watch: five channels at irregular times over a day, with two gaps. Its
times give durations in minutes, required boundaries at the gaps, and dates in every output.

Figure: Heart rate, steps and light over the day. Colors are the contexts found, the strip at the
bottom shows the truth, and hatched gaps are times without data.
"""

# %%
# There is about one row per minute: heart rate, steps, light, skin temperature and wrist angle,
# which vary around a typical value for each activity. Twice, the watch is on its charger and
# records nothing.
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.dates import DateFormatter, HourLocator

from dayline import EventSegmenter, score_boundaries

CHANNELS = ("heart rate", "steps", "light", "skin", "wrist")
LEVELS = {
    "sleep": (54, 0, 0, 35.0, 0),
    "breakfast": (72, 6, 220, 33.5, 20),
    "walk": (98, 105, 900, 32.0, -25),
    "desk": (68, 2, 340, 33.0, 35),
    "run": (148, 160, 850, 31.5, 60),
    "reading": (61, 1, 90, 33.8, 10),
}
NOISE = (4.0, 6.0, 40.0, 0.3, 9.0)
DAY = (
    ("sleep", 95), ("breakfast", 25), ("walk", 22), ("desk", 140), ("walk", 12), ("desk", 95),
    ("run", 38),
    ("breakfast", 30), ("reading", 80), ("sleep", 60),
)  # fmt: skip
CHARGING = {4: 70, 8: 45}  # minutes on the charger before these activities

rng = np.random.default_rng(2)
rows, minutes, now = [], [], 5 * 60.0
for k, (name, length) in enumerate(DAY):
    now += CHARGING.get(k, 0)
    for _ in range(length):
        now += rng.gamma(9, 1 / 9)  # about a minute, never twice the same
        rows.append(np.asarray(LEVELS[name]) + rng.normal(size=5) * NOISE)
        minutes.append(now)
X = np.maximum(rows, np.asarray([30, 0, 0, 25, -90]))
times = np.datetime64("2024-05-12") + np.round(60 * np.asarray(minutes)).astype("timedelta64[s]")
true = np.cumsum([length for _, length in DAY])[:-1]
print(X.shape, times[0], times[-1])

# %%
# A gap alone is not evidence for `EventSegmenter`: in some recordings a gap means that something
# ended, in others that nothing was worth recording. If you know what it means, say so: here, every
# gap of more than half an hour is a boundary.
gaps = np.flatnonzero(np.diff(times) > np.timedelta64(30, "m")) + 1
segmenter = EventSegmenter().fit(X, times=times, must=gaps)
print(segmenter.segmentation_)
print(score_boundaries(segmenter.boundaries_, true, tolerance=2))

# %%
# With `times=`, durations are in seconds, whatever the rate of the rows. `choose` gives other
# segmentations without learning again: here, one with no event under twenty minutes, and one with a
# given number of events. Reading and sleep at the end differ less than the other activities, and
# are separated only if the number is given.
for request in ({"min_duration": 20 * 60}, {"n_events": 10}):
    other = segmenter.choose(**request)
    print(request, other, score_boundaries(other.boundaries, true, tolerance=2), sep="\n    ")

# %%
# Tables and files show dates.
table = segmenter.segmentation_.to_frame()
table["minutes"] = (table["duration"] / 60).round().astype(int)
shown = table[["context", "started", "minutes", "reason", "confidence"]].fillna({"context": "-"})
print(shown.to_string(index=False))

# %%
COLORS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#999999")
figure, axes = plt.subplots(
    4, 1, figsize=(5.0, 5.0), sharex=True, layout="constrained", height_ratios=[3, 3, 3, 1]
)
for axis, channel in zip(axes, range(3), strict=False):
    for event in segmenter.events_:
        begin, end = times[event.start], times[event.stop - 1]
        color = COLORS[event.community % len(COLORS)]
        axis.axvspan(begin, end, color=color, alpha=0.35, lw=0)
        axis.plot(
            times[event.start : event.stop],
            X[event.start : event.stop, channel],
            color="0.15",
            lw=0.8,
        )
        axis.axvline(begin, color="0.15", lw=0.8, ls=":")
    for gap in gaps:
        axis.axvspan(
            times[gap - 1], times[gap], facecolor="white", edgecolor="0.7", hatch="//", lw=0
        )
    axis.set_ylabel(CHANNELS[channel])
names = list(LEVELS)
for first, stop, name in zip([0, *true], [*true, len(X)], [name for name, _ in DAY], strict=True):
    axes[3].axvspan(times[first], times[stop - 1], color=COLORS[names.index(name)], lw=0)
    axes[3].axvline(times[first], color="white", lw=1)
axes[3].set(yticks=[], ylabel="true", xlim=(times[0], times[-1]))
axes[3].xaxis.set_major_locator(HourLocator(byhour=range(0, 24, 2)))
axes[3].xaxis.set_major_formatter(DateFormatter("%H:%M"))
figure.savefig("sensors.png", dpi=160)
