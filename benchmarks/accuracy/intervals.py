"""Fit where boundaries lie, and measure how often the true ones are inside their intervals.

    python benchmarks/accuracy/intervals.py --root ../shared/data [--folder MORE] [--jobs 2]

A boundary that was found is measured if a true one is nearer to it than to any other that was found,
at whatever distance: its interval holds the nearest of them, or does not. Whether a boundary is
right at all is what its confidence says, and is not measured here. For each kind in turn, the three
weights of `dayline.decision.intervals` are fitted to all kinds of other families, by the likelihood
of the true places; every kind counts the same. Prints the share of true boundaries inside their
intervals for every kind, how wide the intervals are, and the same for an interval of the same width
everywhere, which is as wide as 80 % in the kinds of other families need. Every sequence that is
finished is stored under --store; delete it after changing the method.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from fit_decision import FAMILIES, leave_families_out
from joblib import Parallel, delayed
from scipy.optimize import minimize
from sequences import load_all, options_of
from threadpoolctl import threadpool_limits

from dayline import EventSegmenter
from dayline.decision.intervals import STATED, WEIGHTS, grow, place_weights, places_of
from dayline.research.datasets.annotations import LabeledSequence

SHARES = (0.5, STATED, 0.9)
NEARBY = 16
"""Frames within which the share is also printed: farther true boundaries are often other ones."""


@dataclass(frozen=True)
class Place:
    """A boundary that was found, and the true one that is nearer to it than to any other.

    Attributes
    ----------
    kind : str
        What was recorded.
    terms : ndarray of shape (n_places, 3)
        From `places_of`.
    found, true : int
        Rows of `terms` at which they are.
    """

    kind: str
    terms: np.ndarray
    found: int
    true: int

    @property
    def family(self) -> str:
        """Kinds that are held out together."""
        return FAMILIES.get(self.kind, self.kind)

    @property
    def apart(self) -> int:
        """Frames from the boundary found to the true one."""
        return abs(self.true - self.found)


def measure(sequence: LabeledSequence, store: Path) -> tuple[list[Place], float]:
    """Segment a sequence; return its places and the share of the time that intervals take."""
    path = store / sequence.group / f"{sequence.name}.{sequence.digest[:12]}.npz"
    if not path.exists():
        with threadpool_limits(1):
            begin = time.perf_counter()
            segmenter = EventSegmenter().fit(sequence.features)
            between = time.perf_counter()
            places = list(places_of(segmenter.evidence_, segmenter.boundaries_))
            seconds = (time.perf_counter() - between) / (between - begin)

        kept = [(np.zeros((0, 3)), 0, 0)]
        for boundary, (frames, terms) in zip(segmenter.boundaries_, places, strict=True):
            inside = sequence.boundaries[np.isin(sequence.boundaries, frames)]
            if len(inside):
                nearest = inside[np.argmin(np.abs(inside - boundary))]
                kept.append((terms, boundary - frames[0], nearest - frames[0]))
        terms, found, true = zip(*kept, strict=True)
        path.parent.mkdir(parents=True, exist_ok=True)
        lengths = [len(one) for one in terms]
        np.savez(
            path,
            terms=np.concatenate(terms),
            lengths=lengths,
            found=found,
            true=true,
            seconds=seconds,
        )

    with np.load(path) as stored:
        terms = np.split(stored["terms"], np.cumsum(stored["lengths"])[:-1])
        rows = zip(terms, stored["found"].tolist(), stored["true"].tolist(), strict=True)
        places = [Place(sequence.group, *row) for row in rows if len(row[0])]
        return places, float(stored["seconds"])


def by_kind(places: list[Place], values: np.ndarray) -> dict[str, np.ndarray]:
    """Return the values of the places of each kind."""
    kinds = np.asarray([place.kind for place in places])
    return {kind: values[kinds == kind] for kind in sorted(set(kinds.tolist()))}


def mean_over_kinds(places: list[Place], values: np.ndarray) -> float:
    """Return the mean over the kinds of the mean of each."""
    return float(np.mean([np.mean(some) for some in by_kind(places, values).values()]))


def fit_weights(places: list[Place]) -> np.ndarray:
    """Fit the weights of the terms by the likelihood of the true places."""

    def cost(weights: np.ndarray) -> float:
        chances = [place_weights(place.terms, weights)[place.true] for place in places]
        return -mean_over_kinds(places, np.log(np.maximum(chances, 1e-12)))

    return minimize(cost, WEIGHTS, method="BFGS", options={"gtol": 1e-4}).x


def fit_width(places: list[Place]) -> int:
    """Return on how many frames on either side the stated share of true boundaries lies."""
    apart = np.asarray([place.apart for place in places])
    return next(k for k in range(10**6) if mean_over_kinds(places, apart <= k) >= STATED)


def intervals_of(places: list[Place], weights: list[np.ndarray], share: float) -> np.ndarray:
    """Return for each place whether the true boundary is inside, and how many frames that is."""
    rows = []
    for place, its in zip(places, weights, strict=True):
        first, last = grow(place_weights(place.terms, its), place.found, share)
        rows.append((first <= place.true <= last, last - first + 1))
    return np.asarray(rows, dtype=float)


def main() -> None:
    parser = options_of(__doc__)
    parser.add_argument("--store", type=Path, default=Path("results/intervals"))
    options = parser.parse_args()
    sequences = load_all(options.root, options.folder)
    measured = Parallel(n_jobs=options.jobs)(
        delayed(measure)(one, options.store) for one in sequences
    )
    places = [place for its, _ in measured for place in its]
    print(f"{len(sequences)} sequences, {len(places)} boundaries found with a true one beside them")
    print(f"intervals take {np.mean([seconds for _, seconds in measured]):.2%} of the time of fit")

    left_out = leave_families_out(places, fit_weights)
    for share in SHARES:
        inside, n_frames = intervals_of(places, left_out, share).T
        off = [abs(np.mean(one) - share) for one in by_kind(places, inside).values()]
        near = np.asarray([place.apart <= NEARBY for place in places])
        beside = [place for place, is_near in zip(places, near, strict=True) if is_near]
        print(
            f"stated {share:.2f}: inside {mean_over_kinds(places, inside):.3f} (every kind the"
            f" same), {inside.mean():.3f} (every boundary the same), a kind off by"
            f" {np.mean(off):.3f}; true ones within {NEARBY} frames"
            f" {mean_over_kinds(beside, inside[near]):.3f}; median width"
            f" {np.median(n_frames):.0f}, mean over kinds {mean_over_kinds(places, n_frames):.1f}"
        )

    reach = np.asarray(leave_families_out(places, fit_width))
    inside = np.asarray([place.apart for place in places]) <= reach
    off = [abs(np.mean(one) - STATED) for one in by_kind(places, inside).values()]
    print(
        f"the same width everywhere: inside {mean_over_kinds(places, inside):.3f}, a kind off by"
        f" {np.mean(off):.3f}; width {np.mean(2 * reach + 1):.1f}"
    )

    inside, n_frames = intervals_of(places, left_out, STATED).T
    widths = by_kind(places, n_frames)
    print(f"\nstated {STATED}, by kind\n{'':14}measured inside  median width")
    for kind, some in by_kind(places, inside).items():
        print(f"{kind:14}{len(some):8} {some.mean():6.2f} {np.median(widths[kind]):13.0f}")
    weights = ", ".join(f"{weight:.2f}" for weight in fit_weights(places))
    print(f"\nweights fitted to all kinds: {weights}; in the package: {WEIGHTS.tolist()}")


if __name__ == "__main__":
    main()
