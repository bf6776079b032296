"""The held-out scores as a table in a stable format, for other people's papers.

    python benchmarks/accuracy/fit_decision.py --root ROOT --folder OUT --table docs/results.csv

One row for each method and data set; docs/citing.md explains the columns. Columns may be added at
the end; those that are there keep their names, their order and their meaning.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from dayline import __version__, random_cuts, score_boundaries
from dayline.files import write_text_whole

COLUMNS = (
    "method",
    "data_set",
    "f1",
    "tolerance",
    "above_chance",
    "version",
    "number_given",
    "precision",
    "recall",
    "n_sequences",
    "n_frames",
    "n_true",
    "n_found",
)
DRAWS = 20
"""Random segmentations whose mean F1 is chance."""


@dataclass(frozen=True)
class Answer:
    """What one method found in one sequence, and what is true."""

    method: str
    data_set: str
    n_frames: int
    tolerance: int
    true: Sequence[int]
    found: Sequence[int]
    number_given: bool

    def scores(self) -> tuple[float, float, float, float]:
        """F1, precision, recall, and the mean F1 of as many boundaries at random."""
        settings = {"tolerance": self.tolerance, "n_frames": self.n_frames}
        own = score_boundaries(self.found, self.true, **settings)
        cuts = [
            random_cuts(self.n_frames, len(self.found) + 1, random_state=seed)
            for seed in range(DRAWS)
        ]
        chance = float(np.mean([score_boundaries(some, self.true, **settings).f1 for some in cuts]))
        return own.f1, own.precision, own.recall, chance


def results_csv(answers: Iterable[Answer], *, version: str) -> str:
    """Write the means over the sequences of each data set.

    Methods in the order given, data sets by name.
    """
    groups: dict[tuple[str, bool], dict[str, list[Answer]]] = {}
    for one in answers:
        groups.setdefault((one.method, one.number_given), {}).setdefault(one.data_set, []).append(
            one
        )
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    writer.writeheader()
    for (method, number_given), data_sets in groups.items():
        for name, some in sorted(data_sets.items()):
            (tolerance,) = {one.tolerance for one in some}
            f1, precision, recall, chance = np.mean([one.scores() for one in some], axis=0)
            n_frames, n_true, n_found = np.sum(
                [(one.n_frames, len(one.true), len(one.found)) for one in some], axis=0
            )
            row = {
                "method": method,
                "data_set": name,
                "f1": f"{f1:.3f}",
                "tolerance": tolerance,
                "above_chance": f"{f1 - chance:.3f}",
                "version": version,
                "number_given": "yes" if number_given else "no",
                "precision": f"{precision:.3f}",
                "recall": f"{recall:.3f}",
                "n_sequences": len(some),
                "n_frames": n_frames,
                "n_true": n_true,
                "n_found": n_found,
            }
            writer.writerow(row)
    return text.getvalue()


def write_results(path: Path, answers: Iterable[Answer]) -> None:
    """Write the table, whole or not at all."""
    write_text_whole(path, results_csv(answers, version=__version__))
