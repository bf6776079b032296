"""Boundary scores that can be summed over sequences, label agreement, and controls.

Controls are segmentations that ignore the frames: every score is worth what it has beyond theirs.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from dayline.arrays import IntArray
from dayline.checks import LARGEST_COUNT, check_between, check_choice, check_seed, show_value


@dataclass(frozen=True)
class BoundaryScore:
    """Agreement of found and true boundaries; scores of several sequences can be added.

    Attributes
    ----------
    n_matched, n_found, n_true : int
        Number of pairs within tolerance, of found and of true boundaries.
    """

    n_matched: int
    n_found: int
    n_true: int

    @property
    def precision(self) -> float:
        """Fraction of the found boundaries that are true (1 if there are none of either)."""
        return self.n_matched / self.n_found if self.n_found else float(self.n_true == 0)

    @property
    def recall(self) -> float:
        """Fraction of the true boundaries that are found (1 if there are none of either)."""
        return self.n_matched / self.n_true if self.n_true else float(self.n_found == 0)

    @property
    def f1(self) -> float:
        """Harmonic mean of precision and recall."""
        total = self.n_found + self.n_true
        return 2 * self.n_matched / total if total else 1.0

    def __str__(self) -> str:
        """Show F1 first, then what it is made of."""
        shares = f"F1 {self.f1:.3f}, precision {self.precision:.3f}, recall {self.recall:.3f}"
        return f"{shares} ({self.n_matched} matched, {self.n_found} found, {self.n_true} true)"

    def __add__(self, other: BoundaryScore) -> BoundaryScore:
        """Add the counts of another sequence."""
        return BoundaryScore(
            self.n_matched + other.n_matched,
            self.n_found + other.n_found,
            self.n_true + other.n_true,
        )


@dataclass(frozen=True)
class LabelScore:
    """Agreement of two labelings of the same frames; label names do not matter.

    Attributes
    ----------
    hungarian_accuracy : float
        Fraction of correct frames under the best one-to-one matching of labels.
    majority_accuracy : float
        Fraction of correct frames if every found label is mapped to its most frequent true label.
    nmi_geometric, nmi_arithmetic : float
        Mutual information divided by the geometric or arithmetic mean of the entropies.
    adjusted_rand : float
        Rand index, corrected for chance.
    """

    hungarian_accuracy: float
    majority_accuracy: float
    nmi_geometric: float
    nmi_arithmetic: float
    adjusted_rand: float

    def __str__(self) -> str:
        """Show the scores, shortened."""
        accuracy = f"accuracy {self.hungarian_accuracy:.3f} (majority {self.majority_accuracy:.3f})"
        nmi = f"NMI {self.nmi_geometric:.3f} (arithmetic {self.nmi_arithmetic:.3f})"
        return f"{accuracy}, {nmi}, adjusted Rand {self.adjusted_rand:.3f}"


def score_boundaries(
    found: Iterable[int],
    true: Iterable[int],
    *,
    tolerance: int = 5,
    protocol: Literal["interior", "ces"] = "interior",
    n_frames: int | None = None,
) -> BoundaryScore:
    """Compare found boundaries with true ones.

    Parameters
    ----------
    found, true : iterable of int
        Boundaries, in any order; duplicates count once.
    tolerance : int >= 0
        Frames a boundary may be off and still match.
    protocol : {"interior", "ces"}
        "interior" finds the largest one-to-one matching and ignores the ends of the sequence (frame
        0, and the last frame if `n_frames` is given). "ces" is the scorer of the papers: frame 0
        and the last frame count as found and as true boundaries, only the first of adjacent
        boundaries is kept, and each found boundary, in order, matches the first free true one. It
        flatters every method; use it only to compare with the papers.
    n_frames : int, optional
        Length of the sequence; required for "ces".
    """
    check_between("tolerance", tolerance, 0)
    check_choice("protocol", protocol, ("interior", "ces"))
    if n_frames is not None:
        check_between("n_frames", n_frames, 1, LARGEST_COUNT, whole=True)
    found_at = _sorted_frames(found, n_frames, "found")
    true_at = _sorted_frames(true, n_frames, "true")
    if protocol == "interior":
        found_at, true_at = _inside(found_at, n_frames), _inside(true_at, n_frames)
        return BoundaryScore(
            len(_most_pairs(found_at, true_at, tolerance)), len(found_at), len(true_at)
        )
    if n_frames is None:
        raise ValueError('protocol="ces" counts the ends of the sequence and needs n_frames')
    ends = np.asarray([0, n_frames - 1])
    found_at, true_at = (_first_of_runs(np.union1d(at, ends)) for at in (found_at, true_at))
    return BoundaryScore(
        _first_come_pairs(found_at, true_at, tolerance), len(found_at), len(true_at)
    )


def match_boundaries(
    found: Iterable[int], true: Iterable[int], *, tolerance: int = 5
) -> list[tuple[int, int]]:
    """Return the pairs of found and true boundaries that `score_boundaries` counts as matched.

    Parameters
    ----------
    found, true, tolerance
        See `score_boundaries`.
    """
    check_between("tolerance", tolerance, 0)
    found_at, true_at = _sorted_frames(found, None, "found"), _sorted_frames(true, None, "true")
    return _most_pairs(_inside(found_at, None), _inside(true_at, None), tolerance)


def _sorted_frames(boundaries: Iterable[int], n_frames: int | None, which: str) -> IntArray:
    values = _as_list(boundaries, which)
    if values.size == 0:
        return np.zeros(0, dtype=np.int64)
    # Numbers beyond 64 bits become objects, and True and False are not frames.
    right = values.ndim == 1 and values.dtype.kind in "iuf"
    if not right or not np.all((np.abs(values) < LARGEST_COUNT) & (values == np.floor(values))):
        raise ValueError(
            f"{which}={show_value(boundaries)}; {which} boundaries must be a list of whole frame"
            " numbers"
        )
    frames = np.unique(values.astype(np.int64))
    if len(values) > 10 and len(frames) < len(values) / 2:
        raise ValueError(
            f"{which} has {len(values)} values, only {len(frames)} of them different, like one"
            " label per frame; pass boundaries (labels_to_boundaries finds them)"
        )
    if frames[0] < 0 or (n_frames is not None and frames[-1] >= n_frames):
        wrong = frames[0] if frames[0] < 0 else frames[-1]
        raise ValueError(
            f"{which} boundary {wrong} is outside the sequence of {n_frames or 'unknown'} frames"
        )
    return frames


def _as_list(values: Iterable[Any], which: str) -> Any:
    try:
        if not isinstance(values, (str, bytes)):
            return np.asarray(list(values))
    except (TypeError, ValueError):
        pass
    raise ValueError(f"{which}={show_value(values)}; pass a list of numbers") from None


def _inside(frames: IntArray, n_frames: int | None) -> IntArray:
    last = np.inf if n_frames is None else n_frames - 1
    return frames[(frames > 0) & (frames < last)]


def _most_pairs(found: IntArray, true: IntArray, tolerance: int) -> list[tuple[int, int]]:
    """Return the largest one-to-one matching; on sorted lists the greedy matching is optimal."""
    i = j = 0
    pairs: list[tuple[int, int]] = []
    while i < len(found) and j < len(true):
        if abs(int(found[i]) - int(true[j])) <= tolerance:
            pairs.append((int(found[i]), int(true[j])))
            i, j = i + 1, j + 1
        elif found[i] < true[j]:
            i += 1
        else:
            j += 1
    return pairs


def _first_of_runs(frames: IntArray) -> IntArray:
    return frames[np.diff(frames, prepend=-2) > 1]


def _first_come_pairs(found: IntArray, true: IntArray, tolerance: int) -> int:
    free = np.ones(len(true), dtype=bool)
    for frame in found:
        near = np.flatnonzero(free & (np.abs(true - frame) <= tolerance))
        if len(near):
            free[near[0]] = False
    return int(np.sum(~free))


def score_labels(found: Iterable[int], true: Iterable[int]) -> LabelScore:
    """Compare two labelings of the same frames (see `LabelScore`)."""
    from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

    a, b, table = _joint_counts(found, true)
    # Rounding must not push the score of equal labelings above 1.
    geometric, arithmetic = (
        min(float(normalized_mutual_info_score(b, a, average_method=mean)), 1.0)
        for mean in ("geometric", "arithmetic")
    )
    return LabelScore(
        hungarian_accuracy=_hungarian(table),
        majority_accuracy=float(table.max(axis=0).sum() / len(a)),
        nmi_geometric=geometric,
        nmi_arithmetic=arithmetic,
        adjusted_rand=float(adjusted_rand_score(b, a)),
    )


def hungarian_accuracy(found: Iterable[int], true: Iterable[int]) -> float:
    """Fraction of correct frames under the best one-to-one matching of labels."""
    return _hungarian(_joint_counts(found, true)[2])


def _joint_counts(found: Iterable[int], true: Iterable[int]) -> tuple[IntArray, IntArray, IntArray]:
    """Return both labelings and the number of frames with each true (row) and found label."""
    from sklearn.metrics.cluster import contingency_matrix

    a, b = _as_list(found, "found"), _as_list(true, "true")
    if a.shape != b.shape or a.ndim != 1 or len(a) == 0:
        raise ValueError(
            f"found labels have shape {a.shape}, true labels {b.shape}; pass labels of the same"
            " frames"
        )
    for which, labels in (("found", a), ("true", b)):
        if labels.dtype.kind not in "biufUS":
            raise ValueError(f"{which} labels have type {labels.dtype}; pass numbers or strings")
    return a, b, contingency_matrix(b, a)


def _hungarian(table: IntArray) -> float:
    from scipy.optimize import linear_sum_assignment

    rows, columns = linear_sum_assignment(-table)
    return float(table[rows, columns].sum() / table.sum())


def no_boundaries(n_frames: int) -> IntArray:
    """One event."""
    check_between("n_frames", n_frames, 1, LARGEST_COUNT, whole=True)
    return np.zeros(0, dtype=np.int64)


def equal_pieces(n_frames: int, n_events: int) -> IntArray:
    """Return events of equal length: frame i belongs to event floor(i n_events / n_frames)."""
    check_between("n_frames", n_frames, 1, LARGEST_COUNT, whole=True)
    check_between("n_events", n_events, 1, n_frames, whole=True)
    return np.asarray([-(-k * n_frames // n_events) for k in range(1, n_events)], dtype=np.int64)


def random_cuts(n_frames: int, n_events: int, *, random_state: int | None = 0) -> IntArray:
    """Boundaries at random, all sets of them equally likely."""
    check_between("n_frames", n_frames, 1, LARGEST_COUNT, whole=True)
    check_between("n_events", n_events, 1, n_frames, whole=True)
    check_seed(random_state, largest=np.inf)
    generator = np.random.default_rng(random_state)
    return np.sort(1 + generator.choice(n_frames - 1, n_events - 1, replace=False))
