"""How close the linear form of the graph is to the dense form, on recorded sequences.

    python benchmarks/accuracy/linear_form.py [--root ../shared/data/dev] [--most 5] [--landmarks
    160 320 640]

ROOT holds groups, GROUP/*.npz. For each group: agreement of the boundaries of both forms (interior
F1 at tolerance 1), and the F1 of both against those that people marked. The same for each further
number of landmarks of the embedding, with 1.2 times as many for the features. A form is forced, so
that short sequences count too. The last line leaves out sequences of fewer frames than landmarks,
where only single precision and the ridge of the kernel differ.
"""

from __future__ import annotations

import argparse
import warnings
from pathlib import Path

import numpy as np
from joblib import Parallel, delayed
from threadpoolctl import threadpool_limits

from dayline import DynamicGraphEmbedding, EventSegmenter, score_boundaries
from dayline.method import dge, landmarks
from dayline.research.datasets.annotations import LabeledSequence, load_folder


def compare(sequence: LabeledSequence, counts: list[int]) -> list[tuple[float, float, float]]:
    """Return agreement, linear F1 and dense F1 for every number of landmarks."""
    n = len(sequence.features)

    def f1(found: np.ndarray, true: np.ndarray, tolerance: int) -> float:
        return score_boundaries(found, true, tolerance=tolerance, n_frames=n).f1

    def boundaries(form: str) -> np.ndarray:
        return (
            EventSegmenter(DynamicGraphEmbedding(graph_form=form))
            .fit(sequence.features)
            .boundaries_
        )

    rows = []
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        dense = boundaries("dense")
        for count in counts:
            # The default argument is bound where the function is defined.
            landmarks.choose_landmarks.__kwdefaults__["most"] = count
            dge.FEATURE_LANDMARKS = count * 6 // 5
            linear = boundaries("linear")
            true = np.asarray(sequence.boundaries)
            own = [f1(found, true, sequence.tolerance) for found in (linear, dense)]
            rows.append((f1(linear, dense, 1), *own))
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--root", type=Path, default=Path("../shared/data/dev"))
    parser.add_argument("--most", type=int, default=None, help="sequences of each group")
    parser.add_argument("--landmarks", type=int, nargs="+", default=[landmarks.MOST_LANDMARKS])
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()

    sequences = load_folder(options.root, most=options.most)
    if not sequences:
        raise SystemExit(f"no sequences under {options.root}; pass --root")
    found = Parallel(n_jobs=options.jobs)(delayed(compare)(s, options.landmarks) for s in sequences)
    lengths = np.asarray([len(s.features) for s in sequences])
    groups = np.asarray([s.group for s in sequences])
    for k, count in enumerate(options.landmarks):
        rows = np.asarray([one[k] for one in found])
        print(f"\n{count} landmarks of the embedding, {count * 6 // 5} of the features")
        print(
            "| group | sequences | frames | agreement, mean | agreement, worst | F1, linear | F1,"
            " dense |"
        )
        print("| --- | --- | --- | --- | --- | --- | --- |")
        for group in dict.fromkeys(groups):
            own = rows[groups == group]
            few, many = lengths[groups == group].min(), lengths[groups == group].max()
            values = (
                f"{own[:, 0].mean():.3f} | {own[:, 0].min():.3f} | {own[:, 1].mean():.3f} |"
                f" {own[:, 2].mean():.3f}"
            )
            print(f"| {group} | {len(own)} | {few:,} to {many:,} | {values} |")
        means = np.asarray([rows[groups == group].mean(axis=0) for group in dict.fromkeys(groups)])
        agreement, linear, dense = means.mean(axis=0)
        print(
            f"mean over groups: agreement {agreement:.3f}, F1 linear {linear:.3f}, dense"
            f" {dense:.3f}, difference {linear - dense:+.4f}; mean over sequences: agreement"
            f" {rows[:, 0].mean():.3f}"
        )
        longer = lengths > count
        if longer.any():
            agreement, linear, dense = rows[longer].mean(axis=0)
            print(
                f"{longer.sum()} sequences of more frames than landmarks: agreement {agreement:.3f}"
                f" (worst {rows[longer, 0].min():.3f}), F1 linear {linear:.3f}, dense {dense:.3f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
