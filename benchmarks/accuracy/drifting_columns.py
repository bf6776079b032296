"""Where a note says that one or two drifting columns drive most boundaries, and whether it is right.

    python benchmarks/accuracy/drifting_columns.py --root ../shared/data [--folder MORE]

Segments all recordings of at most 32 columns, with all of these and without those that drift and
have most of the change at most boundaries. Prints F1 of both, and whether the note appears: it asks
the other columns first. Then made pumps: six or twelve sensors, of which three jump twice, and two
temperatures that walk at random, swing or glide.
"""

from __future__ import annotations

import warnings

import numpy as np
from joblib import Parallel, delayed
from scipy.ndimage import uniform_filter1d
from sequences import load_all, options_of
from threadpoolctl import threadpool_limits

from dayline import EventSegmenter, score_boundaries
from dayline.estimators.columns import MOST_JUDGED, drifting_columns, misleading_columns
from dayline.research.datasets.annotations import LabeledSequence


def made_pump(temperatures: str, n_sensors: int, seed: int) -> LabeledSequence:
    """Make 1,100 rows of sensors, three of which differ from row 400 to 699, and two temperatures."""
    random, t = np.random.default_rng(seed), np.arange(1100)
    jumps = 3.0 * random.choice([-1, 1], n_sensors) * (np.arange(n_sensors) < 3)
    sensors = random.normal(size=(1100, n_sensors)) + np.outer((t >= 400) & (t < 700), jumps)
    slow = np.cumsum(random.normal(size=(1100, 2)), axis=0)
    if temperatures == "glide":
        slow = uniform_filter1d(slow, 40, axis=0)
    elif temperatures == "swing":
        slow = 8 * np.sin(t[:, None] / [90, 127] + [0, 1]) + 0.05 * random.normal(size=(1100, 2))
    name = f"{n_sensors} sensors, {seed}"
    features = np.column_stack([sensors, slow])
    return LabeledSequence(f"made, {temperatures}", name, features, np.array([400, 700]))


def judge(one: LabeledSequence) -> tuple[LabeledSequence, list[int], bool, list[float], list[int]]:
    """Return the drifting columns, whether the note appears, and F1 and number with and without."""
    features = np.asarray(one.features, dtype=np.float64)
    f1, n_found = [], []
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = EventSegmenter().fit(features).boundaries_
        columns, _ = misleading_columns(features, found)
        is_noted = bool(columns)
        if not is_noted:
            columns = next((drift for drift, _ in drifting_columns(features, found)[::-1]), [])
        if columns:
            rest = EventSegmenter().fit(np.delete(features, columns, axis=1)).boundaries_
            for boundaries in (found, rest):
                score = score_boundaries(boundaries, one.boundaries, tolerance=one.tolerance)
                f1.append(score.f1)
                n_found.append(len(boundaries))
    return one, columns, is_noted, f1, n_found


def main() -> None:
    options = options_of(__doc__).parse_args()
    real = [
        one
        for one in load_all(options.root, options.folder)
        if one.features.shape[1] <= MOST_JUDGED
    ]
    made = [
        made_pump(temperatures, n, seed)
        for temperatures in ("walk", "glide", "swing")
        for n in (6, 12)
        for seed in range(3)
    ]
    for what, sequences in (("recordings", real), ("made pumps", made)):
        judged = Parallel(n_jobs=options.jobs)(delayed(judge)(one) for one in sequences)
        drifting = [row for row in judged if row[1]]
        for one, columns, is_noted, f1, n_found in drifting:
            print(
                f"{one.group:12} {one.name:24} columns {columns!s:9} {n_found[0]:3} boundaries,"
                f" F1 {f1[0]:.3f}; without {n_found[1]:3}, {f1[1]:.3f}{'  NOTE' * is_noted}"
            )
        for noted in (True, False):
            some = [f1 for _, _, is_noted, f1, _ in drifting if is_noted == noted]
            if some:
                before, after = np.mean(some, axis=0)
                print(
                    f"{len(sequences)} {what}: {len(some)} drift {'with' if noted else 'without'} a"
                    f" note, F1 {before:.3f}, without these columns {after:.3f}"
                )


if __name__ == "__main__":
    main()
