"""Compare the linear form of the graph with the dense one, on the development sequences.

    python benchmarks/accuracy/linear_form.py ROOT [--most 100]

For every group of ROOT/dev: agreement of both forms (interior F1 of the boundaries of one against those of the other,
at a tolerance of one frame), the score of each against the annotation, and CPU seconds. Means in the last line.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections import defaultdict
from pathlib import Path

import numpy as np

from dayline import DynamicGraphEmbedding, EventSegmenter, score_boundaries
from dayline.datasets.folders import load_folder
from dayline.datasets.sequence import LabelledSequence

FORMS = ("dense", "linear")


def compare(sequence: LabelledSequence) -> dict[str, float]:
    """Segment one sequence in both forms."""
    found, row = {}, {}
    n = len(sequence.features)
    for form in FORMS:
        segmenter = EventSegmenter(DynamicGraphEmbedding(graph_form=form), missing="interpolate")
        begin = time.process_time()
        found[form] = segmenter.fit(sequence.features).boundaries_
        row[f"seconds {form}"] = time.process_time() - begin
        row[f"F1 {form}"] = score_boundaries(
            found[form], sequence.boundaries, tolerance=sequence.tolerance, n_frames=n
        ).f1
    row["agreement"] = score_boundaries(found["linear"], found["dense"], tolerance=1, n_frames=n).f1
    return row


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("root", type=Path)
    parser.add_argument("--most", type=int, default=100, help="sequences per group")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    rows: dict[str, list[dict[str, float]]] = defaultdict(list)
    for sequence in load_folder(arguments.root / "dev"):
        if len(rows[sequence.group]) < arguments.most:
            rows[sequence.group].append(compare(sequence))
    names = ["agreement", *(f"F1 {form}" for form in FORMS), *(f"seconds {form}" for form in FORMS)]
    print("| group | sequences | " + " | ".join(names) + " | least agreement |")
    print("| --- | --- | " + "--- | " * (len(names) + 1))
    for group, found in rows.items():
        means = " | ".join(f"{np.mean([row[name] for row in found]):.3f}" for name in names)
        print(f"| {group} | {len(found)} | {means} | {min(row['agreement'] for row in found):.3f} |")
    every = [row for found in rows.values() for row in found]
    by_group = {name: np.mean([np.mean([row[name] for row in found]) for found in rows.values()]) for name in names}
    print(
        f"agreement: mean over sequences {np.mean([row['agreement'] for row in every]):.3f}, over groups "
        f"{by_group['agreement']:.3f}, least {min(row['agreement'] for row in every):.3f}; "
        f"F1 over groups: dense {by_group['F1 dense']:.3f}, linear {by_group['F1 linear']:.3f}"
    )


if __name__ == "__main__":
    main()
