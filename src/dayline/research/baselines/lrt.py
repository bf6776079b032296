"""Low-rank transfer subspace: the frames of one sequence written as sums of the frames of another.

L. Wang, Z. Ding, Y. Fu: Low-rank transfer human motion segmentation. IEEE TIP 28(2), 2019.

With X = [source, target], columns of length 1, the published program alternates between a
projection P (the directions in which the residual X - source V is small relative to its own
spread), codes V of P X over P source that change slowly in time, a low-rank copy U of V A (A A^T
the temporal Laplacian) and a non-negative copy Z of V. We solve for V by banded systems, one for
each direction of P, instead of by a dense Lyapunov solver.

The program does two things that the paper does not mention. It never uses the labels of the source.
And it thresholds singular values at 2 / 0.001 = 2000, while the largest is about 50 (Keck), so that
U stays exactly zero; U is left out here.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np

from dayline.arrays import FloatArray, IntArray, to_numpy, unit_rows
from dayline.checks import MOST_STEPS, check_between, check_features, check_seed
from dayline.events import labels_to_boundaries
from dayline.research.baselines.segmenter import Baseline
from dayline.research.baselines.tsc import HEAVIEST, label_codes, solve_shifted, temporal_laplacian

REACH, SPREAD, STRENGTH = 8, 3.0, 15.0
"""The temporal graph links frames up to 8 apart, by 15 times a normal density of deviation 3."""


def transfer_codes(
    source: FloatArray,
    target: FloatArray,
    *,
    n_directions: int = 80,
    smoothness: float = 0.15,
    mu: float = 0.001,
    n_iterations: int = 20,
    random_state: int | None = 0,
) -> FloatArray:
    """Write every frame of the target as a non-negative sum of frames of the source.

    Parameters
    ----------
    source, target : ndarray of shape (n_frames, n_features)
        Two sequences with the same features; rows are scaled to length 1 here.
    n_directions : int >= 1
        Maximum number of columns of the projection; fewer if the features vary in fewer directions.
    smoothness : float > 0
        Weight of the change in time, and ridge of the projection (both are lambda 1 in the
        program).
    mu : float > 0
        Weight of the constraints, and step of their multipliers.
    n_iterations : int >= 1
        Number of alternations.
    random_state : int or None
        Seed of the random start.

    Returns
    -------
    ndarray of shape (n_target_frames, n_source_frames)
        The codes Z of the target, transposed.
    """
    check_between("n_directions", n_directions, 1, whole=True)
    check_between("n_iterations", n_iterations, 1, MOST_STEPS, whole=True)
    check_between("smoothness", smoothness, 1 / HEAVIEST, HEAVIEST)
    check_between("mu", mu, 1 / HEAVIEST, HEAVIEST)
    check_seed(random_state, largest=np.inf)
    first = unit_rows(to_numpy(source).astype(np.float64)).T
    both = np.hstack([first, unit_rows(to_numpy(target).astype(np.float64)).T])
    offsets = np.arange(1, REACH + 1)
    density = np.exp(-0.5 * (offsets / SPREAD) ** 2) / (SPREAD * np.sqrt(2.0 * np.pi))
    bands = temporal_laplacian(both.shape[1], STRENGTH * density)
    codes = np.random.default_rng(random_state).random((first.shape[1], both.shape[1]))
    duals, smooth_duals = np.zeros_like(codes), np.zeros_like(codes)
    free: FloatArray = np.zeros_like(codes)
    for _ in range(n_iterations):
        projection = _projection(both - first @ free, ridge=smoothness, n_directions=n_directions)
        seen = projection.T @ first
        right = seen.T @ (projection.T @ both) - duals + mu * codes + smooth_duals
        free = _solve_smooth(seen, mu, (mu + smoothness) * bands, right)
        codes = np.maximum(free + duals / mu, 0.0)
        duals += mu * (free - codes)
        # The equation just solved gives the product of V and the Laplacian faster than multiplying
        # them.
        smooth_duals -= mu / (mu + smoothness) * (right - mu * free - seen.T @ (seen @ free))
    return np.asarray(codes[:, first.shape[1] :].T)


def _projection(residue: FloatArray, *, ridge: float, n_directions: int) -> FloatArray:
    """Return directions p with the least p.(R R^T + ridge).p for p.(R H R^T).p = 1; H centers."""
    from scipy.linalg import eigh

    n = len(residue)
    centered = residue - residue.mean(axis=1, keepdims=True)
    # Maximise spread over size instead, since the spread may be singular and the ridge never is.
    size = residue @ residue.T + ridge * np.eye(n)
    values, vectors = eigh(
        centered @ centered.T, size, subset_by_index=(max(n - n_directions, 0), n - 1)
    )
    # Directions dominated by the ridge would grow without bound; the published data have none.
    kept = values > 0.01
    return np.asarray(vectors[:, kept] / np.sqrt(values[kept]))


def _solve_smooth(seen: FloatArray, mu: float, bands: FloatArray, right: FloatArray) -> FloatArray:
    """Solve (seen^T seen + mu) V + V Laplacian = right for V."""
    from scipy.linalg import solveh_banded, svd

    system = bands.copy()
    system[-1] += mu
    solution: FloatArray = solveh_banded(system, right.T, check_finite=False).T
    _, sizes, directions = svd(seen, full_matrices=False)
    # Outside the row space of `seen` this is the solution; inside, every direction has its own
    # diagonal.
    inside = solve_shifted(bands, mu + sizes**2, directions @ right)
    return np.asarray(solution + directions.T @ (inside - directions @ solution))


@dataclass(eq=False, repr=False)
class LowRankTransferSegmenter(Baseline):
    """Cut a sequence by the codes of its frames over the frames of a source sequence (LRT).

    Parameters
    ----------
    n_events : int or None, default=None
        None applies the CES rule to the codes. A number splits the graph of the codes into that
        many groups by normalized cuts, as published; a group may recur, so there can be more
        events.
    source : array-like of shape (n_source_frames, n_features) or None, default=None
        A sequence of another recording with the same features; None uses the sequence itself.
    n_directions : int, default=80
        Columns of the projection.
    smoothness, mu : float, default=0.15 and 0.001
        Weight of the change in time, and of the constraints.
    n_iterations : int, default=20
        Number of alternations.
    missing : {"raise", "interpolate"}, default="raise"
        How to handle NaN and infinity.
    random_state : int or None, default=0
        Seed of the start and of k-means.

    Attributes
    ----------
    boundaries_, labels_ : ndarray of int
        First frame of every event but the first, and the event number of each frame.
    codes_ : ndarray of shape (n_frames, n_source_frames)
        Codes of the frames.
    communities_ : ndarray of int
        Group of each frame; its event if `n_events` is None.
    """

    n_events: int | None = None
    _: KW_ONLY
    source: Any = None
    n_directions: int = 80
    smoothness: float = 0.15
    mu: float = 0.001
    n_iterations: int = 20
    random_state: int | None = 0

    def find_boundaries(self, features: FloatArray) -> IntArray:
        """Return the first frame of every event but the first."""
        source = features
        if self.source is not None:
            try:
                source = check_features(self.source, missing=self.missing)
            except ValueError as error:
                raise ValueError(f"source: {error}") from None
        if source.shape[1] != features.shape[1]:
            raise ValueError(
                f"the source has {source.shape[1]} features, the sequence {features.shape[1]}"
            )
        self.codes_ = transfer_codes(
            source,
            features,
            n_directions=self.n_directions,
            smoothness=self.smoothness,
            mu=self.mu,
            n_iterations=self.n_iterations,
            random_state=self.random_state,
        )
        self.communities_ = label_codes(
            self.codes_, features, n_events=self.n_events, random_state=self.random_state
        )
        return labels_to_boundaries(self.communities_)
