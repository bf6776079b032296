"""A film with chapters.

A synthetic film of seven scenes, sampled twice a second, cut at the exact frame, and written with
chapters.

Figure: One frame of each event found, and below it the film: true scenes in the upper row, events
in the lower row, in one color per place. White lines are boundaries.
"""

# %%
# The film is synthetic, so every cut is known to the frame: a camera pans over four photographs
# of dayline's demo ([CC0](../demo-photographs.md)), and shows three of them twice.
# The change to the last scene is a dissolve of one second; all others are cuts.
from itertools import accumulate

import av
import matplotlib.pyplot as plt
import numpy as np

from dayline import score_boundaries, segment_source, write_result
from dayline.research.datasets.photostream import open_photographs

RATE = 25
PLACES = (0, 1, 2, 0, 3, 1, 2)
LENGTHS = (211, 148, 263, 172, 229, 187, 240)  # frames
DISSOLVE = 25
PHOTOS = [
    np.asarray(open_photographs(place)[0].resize((200, 133)))
    for place in ("cafe", "lake", "museum", "garden")
]


def picture(place, t):
    across, down = 0.5 + 0.45 * np.sin(t / 40), 0.5 + 0.45 * np.cos(t / 55)
    photo = PHOTOS[place]
    top, left = int(down * (len(photo) - 90)), int(across * (len(photo[0]) - 160))
    noise = np.random.default_rng([place, t]).normal(scale=4, size=(90, 160, 3))
    return photo[top : top + 90, left : left + 160] + noise


starts = list(accumulate(LENGTHS, initial=0))
with av.open("film.mp4", "w") as film:
    stream = film.add_stream("libx264", rate=RATE, options={"preset": "ultrafast"})
    stream.width, stream.height, stream.pix_fmt = 160, 90, "yuv420p"
    for t in range(starts[-1]):
        scene = int(np.searchsorted(starts, t, side="right")) - 1
        pixels = picture(PLACES[scene], t)
        share = (t - starts[-2] + 1) / (DISSOLVE + 1)
        if 0 < share < 1:
            pixels = share * pixels + (1 - share) * picture(PLACES[scene - 1], t)
        film.mux(
            stream.encode(
                av.VideoFrame.from_ndarray(np.clip(pixels, 0, 255).astype(np.uint8), "rgb24")
            )
        )
    film.mux(stream.encode())
true = np.asarray(starts[1:-1]) / RATE
print(f"{starts[-1] / RATE:.0f} s, scenes start at", *(f"{t:.2f}" for t in true))

# %%
# Two frames a second are enough to see that the scene changes, but not when. The shots, which dayline
# finds among all frames, say when: `start_time` is the time of the first frame of a shot
# ([shots](../shots.md)).
result = segment_source("film.mp4", store="out", every=0.5)
segmentation = result.segmentation
print("place  sampled   exact  truth")
for event in segmentation.events[1:]:
    nearest = true[np.argmin(np.abs(true - event.start_time))]
    sampled = segmentation.times[event.start]
    print(f"{'ABCDEFG'[event.community]:5s}  {sampled:7.2f} {event.start_time:7.2f} {nearest:6.2f}")

# %%
# Measured in frames of the film, every cut is exact.
found = np.round([RATE * event.start_time for event in segmentation.events[1:]]).astype(int)
for tolerance in (0, DISSOLVE):
    print(
        f"tolerance {tolerance:2d}:",
        score_boundaries(found, starts[1:-1], n_frames=starts[-1], tolerance=tolerance),
    )

# %%
# Chapters go into a separate file, or into a copy of the film, which is not re-encoded.
written = write_result(result, "out", formats=["webvtt"], with_chapters=True)
print(written.exports[0].read_text().split("\n\n")[2])
with av.open("out/film-chapters.mp4") as copy:
    print(len(copy.chapters()), "chapters in the copy")

# %%
# To do the same in a terminal: `dayline segment film.mp4 -o out --every 0.5 --write-chapters`.
COLORS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#999999")
figure = plt.figure(figsize=(5.0, 3.2), layout="constrained")
grid = figure.add_gridspec(3, 4, height_ratios=[1, 1, 0.8])
for k, event in enumerate(segmentation.events[:8]):
    axes = figure.add_subplot(grid[k // 4, k % 4])
    t = round(RATE * segmentation.times[event.key_frame])
    scene = int(np.searchsorted(starts, t, side="right")) - 1
    axes.imshow(np.clip(picture(PLACES[scene], t), 0, 255).astype(np.uint8))
    axes.set(xticks=[], yticks=[])
    axes.set_title(f"{event.start_time:.2f} s", fontsize=10, pad=3)
    for side in axes.spines.values():
        side.set(color=COLORS[event.community], linewidth=3)
rows = figure.add_subplot(grid[2, :])
for scene, place in enumerate(PLACES):
    rows.barh(
        1, LENGTHS[scene] / RATE, left=starts[scene] / RATE, color=COLORS[place], edgecolor="white"
    )
for event in segmentation.events:
    rows.barh(
        0, event.stop_time - event.start_time, left=event.start_time, color=COLORS[event.community]
    )
    rows.axvline(event.start_time, 0, 0.5, color="white", lw=1)
rows.set(
    yticks=[0, 1], yticklabels=["found", "true"], xlabel="seconds", xlim=(0, starts[-1] / RATE)
)
figure.savefig("film.png", dpi=160)
