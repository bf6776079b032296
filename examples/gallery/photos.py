"""One day of photos.

A day made from photographs, from image files to events with key photos, and to the
page on which you can correct them.

Figure: The events of the day by the clock, in one color per context, and the key photo of
each. White gaps are pauses of the camera.
"""

# %%
# The photos are made: parts of photographs that come with dayline ([CC0](../demo-photographs.md)),
# about one every three minutes, with changing light and blur.
from datetime import UTC, datetime
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.dates import DateFormatter
from PIL import Image

from dayline import score_boundaries, segment_source, write_result
from dayline.research.datasets.photostream import make_photostream

stream = make_photostream("photos", random_state=0)
true = stream.boundaries
print(f"{len(stream.names)} photos, {len(true)} true boundaries")

# %%
# `segment_source` reads the times from the files, computes features with a small network, and finds
# the events. A long gap between two photos is a boundary, even if both show the same place.
result = segment_source("photos", store="day")
events = result.segmentation.events
for row in result.segmentation.to_dicts():
    sure = "" if row["confidence"] is None else f"{row['confidence']:.0%}"
    print(
        f"{row['started']:%H:%M}  {row['n_frames']:3d} photos  {row['context'] or '-'} "
        f" {row['reason']:7s} {sure}"
    )

# %%
# The truth is known, so the events can be scored. Places and lighting are clearer here than on a
# real day; a perfect score shows that the pipeline works, not that every day is this easy.
print(score_boundaries(result.segmentation.boundaries, true, tolerance=2))

# %%
# `write_result` writes the page, `events.json` and `events.csv`. On the page, you can merge, split,
# move and name events; `dayline view day` opens it and saves corrections.
written = write_result(result, "day")
print(written.page)

# %%
# The key photo of an event is sharp and typical of its frames. The train and the old town are
# recognized when they recur.
COLORS = (
    "#0072b2",
    "#e69f00",
    "#009e73",
    "#cc79a7",
    "#56b4e9",
    "#d55e00",
    "#f0e442",
    "#999999",
    "#000000",
    "#882255",
    "#44aa99",
    "#661100",
    "#aa4499",
    "#999933",
)
columns = 4
rows = -(-len(events) // columns)
figure = plt.figure(figsize=(5.0, 0.9 + 1.1 * rows), layout="constrained")
grid = figure.add_gridspec(rows + 1, columns, height_ratios=[0.5, *[1.2] * rows])
strip = figure.add_subplot(grid[0, :])
for event in events:
    begin, end = (np.datetime64(int(t), "s") for t in (event.start_time, event.stop_time + 30))
    strip.axvspan(begin, end, color=COLORS[event.community % len(COLORS)], lw=0)
    strip.axvline(begin, color="white", lw=1)
strip.xaxis.set_major_formatter(DateFormatter("%H:%M"))
strip.set(yticks=[], xlim=(np.datetime64(int(events[0].start_time), "s"), end))
for k, event in enumerate(events):
    axes = figure.add_subplot(grid[1 + k // columns, k % columns])
    with Image.open(Path("photos", result.segmentation.names[event.key_frame])) as photo:
        axes.imshow(photo.resize((224, 168)))
    axes.set(xticks=[], yticks=[])
    axes.set_title(f"{datetime.fromtimestamp(event.start_time, UTC):%H:%M}", fontsize=10, pad=3)
    for side in axes.spines.values():
        side.set(color=COLORS[event.community % len(COLORS)], linewidth=3)
figure.savefig("photos.png", dpi=125)
