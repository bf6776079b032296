"""Scores on the Turing Change Point Dataset, as its authors define them.

    python benchmarks/accuracy/tcpd.py --root PATH [--series NAME ...] [--jobs 2]

PATH is a checkout of github.com/alan-turing-institute/TCPD: annotations.json, and
datasets/NAME/NAME.json for each series. Some series must be downloaded first, as its README says;
those that are annotated but not there are named. Five people marked the changes of every series:
G. J. J. van den Burg, C. K. I. Williams: An evaluation of change point detection algorithms, 2020.

Prints F1 (margin 5), cover and the number of changes found for each series, beside the mean number
that people marked, and the means over series of one column, of several, and of all. Missing values
are interpolated.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from change_points import installed_detectors
from joblib import Parallel, delayed
from threadpoolctl import threadpool_limits

from dayline import EventSegmenter, score_boundaries
from dayline.checks import check_features
from dayline.research.baselines.novelty import WindowDifferenceSegmenter

MARGIN = 5
"""Positions that a change may be off, as published."""

METHODS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "dayline": lambda x: EventSegmenter().fit(x).boundaries_,
    "fast()": lambda x: EventSegmenter.fast().fit(x).boundaries_,
    "window difference": lambda x: WindowDifferenceSegmenter().fit(x).boundaries_,
    **installed_detectors(),
    "none": lambda _: np.zeros(0, dtype=np.int64),
}


@dataclass(frozen=True)
class AnnotatedSeries:
    """One series, values of shape (n, n_columns), and the changes that each person marked."""

    name: str
    values: np.ndarray
    annotations: tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class Scores:
    """F1 and cover of one method on one series, and how many changes it found."""

    f1: float
    cover: float
    n_found: int


def f1_of_people(
    found: Iterable[int], annotations: Sequence[Iterable[int]], *, margin: int = MARGIN
) -> float:
    """Return F1 from precision against all people and recall averaged over them.

    Position 0 is a change that everybody marks and every method finds, so no set is empty. A change
    found counts for one marked change at most; as many as possible are matched, where the published
    program takes the nearest, and may so leave another without a partner.

    Parameters
    ----------
    found : iterable of int
        First position after each change.
    annotations : sequence of iterables of int
        What each person marked; an empty one means no change.
    margin : int
        Positions that a change may be off.
    """
    changes = {int(b) for b in found} - {0}

    def n_right(marked: set[int]) -> int:
        # Position 0 matches itself in one of the largest matchings.
        return 1 + score_boundaries(changes, marked, tolerance=margin).n_matched

    people = [{int(b) for b in marks} - {0} for marks in annotations]
    precision = n_right(set().union(*people)) / (len(changes) + 1)
    recall = np.mean([n_right(marked) / (len(marked) + 1) for marked in people])
    return float(2.0 * precision * recall / (precision + recall))


def cover_of_people(
    found: Iterable[int], annotations: Sequence[Iterable[int]], n_positions: int
) -> float:
    """Return how well the segments found cover those of each person, on average.

    Every segment of a person has the highest Jaccard index (intersection over union) with any
    segment found, weighted by its length.

    Parameters
    ----------
    found, annotations
        See `f1_of_people`.
    n_positions : int
        Length of the series.
    """
    own = _segments(found, n_positions)
    covers = []
    for marks in annotations:
        total = 0.0
        for start, stop in _segments(marks, n_positions):
            shared = [max(0, min(stop, end) - max(start, begin)) for begin, end in own]
            lengths = [stop - start + end - begin for begin, end in own]
            best = max(s / (both - s) for s, both in zip(shared, lengths, strict=True))
            total += (stop - start) * best
        covers.append(total / n_positions)
    return float(np.mean(covers))


def _segments(changes: Iterable[int], n_positions: int) -> list[tuple[int, int]]:
    edges = sorted({0, n_positions} | {int(b) for b in changes})
    return list(pairwise(edges))


def read_series(path: Path, people: Mapping[str, Sequence[int]]) -> AnnotatedSeries:
    """Read one series; raise ValueError if the file is not one, or if the marks do not fit it."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        columns = [np.asarray(one["raw"], dtype=np.float64) for one in content["series"]]
        values = np.stack(columns, axis=1)
        n_positions, n_columns = content["n_obs"], content["n_dim"]
    except (ValueError, TypeError, KeyError) as problem:
        raise ValueError(f"{path} is not a series of the data set: {problem!r}") from None
    if values.shape != (n_positions, n_columns):
        raise ValueError(
            f"{path}: {values.shape[0]} positions in {values.shape[1]} columns, but n_obs is"
            f" {n_positions} and n_dim {n_columns}"
        )

    annotations = tuple(tuple(sorted({int(b) for b in marks})) for marks in people.values())
    marked = [b for marks in annotations for b in marks]
    if not annotations or not all(0 <= b < n_positions for b in marked):
        raise ValueError(f"{path}: annotations.json has no marks for it, or some are outside of it")
    return AnnotatedSeries(path.stem, check_features(values, missing="interpolate"), annotations)


def read_all(root: Path, names: Sequence[str] = ()) -> tuple[list[AnnotatedSeries], list[str]]:
    """Read the annotated series, or those of these names; also return the names of missing ones."""
    try:
        marks: dict[str, dict[str, Any]] = json.loads(
            (root / "annotations.json").read_text(encoding="utf-8")
        )
    except (OSError, ValueError) as problem:
        raise ValueError(f"{root} is no checkout of the data set: {problem}") from None
    unknown = [name for name in names if name not in marks]
    if unknown:
        raise ValueError(f"annotations.json has no {', '.join(unknown)}")

    wanted = [name for name in sorted(marks) if not names or name in names]
    paths = {name: root / "datasets" / name / f"{name}.json" for name in wanted}
    there = [name for name in wanted if paths[name].is_file()]
    missing = [name for name in wanted if name not in there]
    return [read_series(paths[name], marks[name]) for name in there], missing


def judge(series: AnnotatedSeries, method: str) -> Scores:
    """Run one method on one series."""
    with threadpool_limits(1):
        found = METHODS[method](series.values)
    return Scores(
        f1=f1_of_people(found, series.annotations),
        cover=cover_of_people(found, series.annotations, len(series.values)),
        n_found=len(found),
    )


def table(series: Sequence[AnnotatedSeries], scores: Mapping[str, Sequence[Scores]]) -> str:
    """Return scores as a table: F1, cover and number found of each method, by series."""
    heads = ["series", "n", "columns", "marked"]
    lines = [
        f"| {' | '.join([*heads, *(f'{name}: F1, cover, found' for name in scores)])} |",
        f"|{' --- |' * (len(heads) + len(scores))}",
    ]

    def cell(some: Sequence[Scores]) -> str:
        f1, cover, n_found = np.mean([(s.f1, s.cover, s.n_found) for s in some], axis=0)
        number = f"{n_found:.0f}" if len(some) == 1 else f"{n_found:.1f}"
        return f"{f1:.3f}, {cover:.3f}, {number}"

    def marked(one: AnnotatedSeries) -> float:
        return float(np.mean([len(marks) for marks in one.annotations]))

    for k, one in enumerate(series):
        n, d = one.values.shape
        cells = [one.name, str(n), str(d), f"{marked(one):.1f}"]
        cells += [cell([of_method[k]]) for of_method in scores.values()]
        lines.append(f"| {' | '.join(cells)} |")

    parts = {
        "one column": [k for k, one in enumerate(series) if one.values.shape[1] == 1],
        "several columns": [k for k, one in enumerate(series) if one.values.shape[1] > 1],
        "all": list(range(len(series))),
    }
    for name, part in parts.items():
        if part:
            usual = np.mean([marked(series[k]) for k in part])
            cells = [f"**mean, {name}: {len(part)}**", "", "", f"{usual:.1f}"]
            cells += [cell([of_method[k] for k in part]) for of_method in scores.values()]
            lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--root", type=Path, required=True, help="checkout of the data set")
    parser.add_argument("--series", nargs="+", default=[], help="only these")
    parser.add_argument("--methods", nargs="+", default=list(METHODS), choices=list(METHODS))
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args(arguments)

    try:
        series, missing = read_all(options.root, options.series)
    except ValueError as problem:
        parser.error(str(problem))
    if not series:
        parser.error(f"{options.root} has none of the series that are annotated")
    if missing:
        print(f"not there, so not scored: {', '.join(missing)}", file=sys.stderr)

    scores = {}
    for method in options.methods:
        scores[method] = Parallel(options.jobs)(delayed(judge)(one, method) for one in series)
    print(table(series, scores))


if __name__ == "__main__":
    main()
