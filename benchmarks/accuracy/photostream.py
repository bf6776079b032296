"""Boundaries of synthetic sequences of photos, from pixels.

The default, the CES rule, and controls.

    python benchmarks/accuracy/photostream.py [N_STREAMS] [--write docs/results.md]

Prints the mean F1 over streams (seeds 0, 1, ...) at a tolerance of 2 photos. Only dayline knows the
pauses, from the times of the photos; the row "dayline without times" does not use them. --write
puts the table between the marks of a Markdown file.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

import numpy as np

from dayline import EventSegmenter, equal_pieces, random_cuts, score_boundaries, segment_source
from dayline.files import write_text_whole
from dayline.research.baselines.novelty import ContextualSegmenter
from dayline.research.datasets.photostream import make_photostream

TOLERANCE = 2
BEGIN, END = "<!-- photostream.py -->", "<!-- end of photostream.py -->"


def measure(n_streams: int) -> dict[str, list[float]]:
    """Return the F1 of every method on every stream."""
    scores: dict[str, list[float]] = {}
    with tempfile.TemporaryDirectory() as place:
        for seed in range(n_streams):
            stream = make_photostream(Path(place) / "photos", random_state=seed)
            store = Path(place) / f"result-{seed}"
            found = segment_source(stream.folder, store=store).segmentation
            with np.load(store / "features.npz") as stored:
                rows = dict(zip(stored["names"].tolist(), stored["features"], strict=True))
            features = np.asarray([rows[name] for name in found.names or ()])
            n, k = found.n_frames, len(stream.boundaries) + 1
            for what, boundaries in {
                "dayline": found.boundaries,
                "dayline without times": EventSegmenter().segment(features).boundaries,
                "the CES rule on the same features": (
                    ContextualSegmenter().fit(features).boundaries_
                ),
                "equal pieces (true number)": equal_pieces(n, k),
                "random cuts (true number)": random_cuts(n, k, random_state=seed),
            }.items():
                score = score_boundaries(
                    boundaries, stream.boundaries, tolerance=TOLERANCE, n_frames=n
                )
                scores.setdefault(what, []).append(score.f1)
    return scores


def table(scores: dict[str, list[float]]) -> str:
    """Return mean and lowest F1 as Markdown."""
    lines = ["| | mean F1 | lowest |", "| --- | --- | --- |"]
    lines += [
        f"| {what} | {np.mean(values):.3f} | {min(values):.3f} |" for what, values in scores.items()
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("n_streams", type=int, nargs="?", default=10)
    parser.add_argument("--write", type=Path, metavar="FILE")
    options = parser.parse_args()

    result = table(measure(options.n_streams))
    print(result)
    if options.write:
        text = options.write.read_text(encoding="utf-8")
        write_text_whole(
            options.write, f"{text.split(BEGIN)[0]}{BEGIN}\n\n{result}\n\n{END}{text.split(END)[1]}"
        )
