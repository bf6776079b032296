"""Baselines that write every frame as a sum of few others, by codes that change slowly in time.

Temporal subspace clustering (TSC), by ADMM; with the CES rule on its codes it is CES-TSC. S. Li, K.
Li, Y. Fu: Temporal subspace clustering for human motion segmentation. ICCV 2015. Minimizes 1/2 |X -
D Z|^2 + ridge |Z|^2 + smoothness tr(Z L Z^T) over dictionaries D >= 0 with columns of length at
most 1 and codes Z >= 0. Columns of X are frames of length 1; L is the Laplacian of the graph that
links every frame to the nearest frames in time. L is banded, so that a step costs linear time in
the number of frames.

Low-rank transfer subspace (LRT): the frames of one sequence written as sums of the frames of
another. L. Wang, Z. Ding, Y. Fu: Low-rank transfer human motion segmentation. IEEE TIP 28(2), 2019.
With X = [source, target], columns of length 1, the published program alternates between a
projection P (the directions in which the residual X - source V is small relative to its own
spread), codes V of P X over P source that change slowly in time, a low-rank copy U of V A (A A^T
the temporal Laplacian) and a non-negative copy Z of V. We solve for V by banded systems, one for
each direction of P, instead of by a dense Lyapunov solver.

That program does two things that the paper does not mention. It never uses the labels of the
source. And it thresholds singular values at 2 / 0.001 = 2000, while the largest is about 50 (Keck),
so that U stays exactly zero; U is left out here.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np

from dayline.arrays import FloatArray, IntArray, unit_rows
from dayline.checks import MOST_STEPS, check_between, check_features
from dayline.decision.contexts import context_distance, pick_boundaries
from dayline.events import boundaries_to_labels, labels_to_boundaries
from dayline.research.baselines.segmenter import Baseline
from dayline.research.baselines.spectral import graph_labels

MOST_ATOMS = 1000
"""Columns that a dictionary may have, however few frames there are."""

HEAVIEST = 1e9
"""Largest weight of a term, and 1 over the smallest of a constraint: beyond, rounding dominates."""


def temporal_laplacian(n: int, weights: FloatArray) -> FloatArray:
    """Return the Laplacian of a graph that links frames by their distance in time, as bands.

    Parameters
    ----------
    n : int
        Number of frames.
    weights : ndarray of shape (reach,)
        Weight of the link between frames 1, 2, ... apart.

    Returns
    -------
    ndarray of shape (reach + 1, n)
        Upper bands, the diagonal last, as LAPACK stores them.
    """
    reach = min(len(weights), n - 1)
    bands = np.zeros((reach + 1, n))
    for offset, weight in enumerate(weights[:reach], start=1):
        bands[reach - offset, offset:] = -weight
        bands[reach, offset:] += weight
        bands[reach, :-offset] += weight
    return bands


def _solve_smooth(products: FloatArray, bands: FloatArray, right: FloatArray) -> FloatArray:
    """Solve products @ V + V @ Laplacian = right for V, a banded system per eigenvector."""
    values, vectors = np.linalg.eigh(products)
    return np.asarray(vectors @ solve_shifted(bands, values, vectors.T @ right))


def solve_shifted(bands: FloatArray, shifts: FloatArray, right: FloatArray) -> FloatArray:
    """Solve (B + shift) v = r for every shift and its row r; B is symmetric and banded.

    Parameters
    ----------
    bands : ndarray of shape (reach + 1, n)
        Upper bands of B, as `temporal_laplacian` returns them; entries that LAPACK does not read
        must be zero.
    shifts : ndarray of shape (n_systems,)
        Values added to the diagonal.
    right : ndarray of shape (n_systems, n)
        Right sides.
    """
    from scipy.linalg import solveh_banded

    # One long system with independent parts: the overhead of separate calls would double the time.
    systems = np.tile(bands, len(shifts))
    systems[-1] += np.repeat(shifts, bands.shape[1])
    return np.asarray(
        solveh_banded(systems, right.ravel(), overwrite_ab=True, check_finite=False)
    ).reshape(right.shape)


def code_graph(codes: FloatArray) -> FloatArray:
    """Link frames by their codes: z_i . z_j / (|z_i|^2 |z_j|^2), as the published programs do.

    Parameters
    ----------
    codes : ndarray of shape (n_frames, n_atoms)
        Non-negative codes.
    """
    sizes = np.sum(codes * codes, axis=1)
    return np.asarray(codes @ codes.T / (sizes[:, None] * sizes[None, :] + 1e-6))


def label_codes(
    codes: FloatArray,
    features: FloatArray,
    *,
    n_events: int | None,
    random_state: int | None = 0,
) -> IntArray:
    """Label frames by their codes: events of the CES rule, or `n_events` groups of their graph.

    Parameters
    ----------
    codes : ndarray of shape (n_frames, n_atoms)
        Non-negative codes.
    features : ndarray of shape (n_frames, n_features)
        What the codes are of. Identical frames are one group, although their codes start at random.
    n_events : int or None
        Number of groups; None uses the events of the CES rule.
    random_state : int or None
        Seed of k-means.
    """
    if np.all(features == features[0]):
        return np.zeros(len(features), dtype=np.int64)
    if n_events is None:
        return boundaries_to_labels(pick_boundaries(context_distance(codes)), len(codes))
    return graph_labels(code_graph(codes), n_labels=n_events, random_state=random_state)


@dataclass(eq=False, repr=False)
class TemporalSubspaceSegmenter(Baseline):
    """Cut a sequence by the codes of its frames over a learned dictionary (TSC, CES-TSC).

    Parameters
    ----------
    n_events : int or None, default=None
        None applies the CES rule to the codes (CES-TSC). A number splits the graph of the codes
        into that many groups by normalized cuts (TSC); a group may recur, so there can be more
        events.
    n_atoms, n_neighbors : int, default=80 and 7
        Columns of the dictionary, and frames of the temporal window, the frame itself included (k).
    ridge, smoothness : float, default=0.01 and 15
        Weights of |Z|^2 and of tr(Z L Z^T) (lambda 1 and lambda 2).
    rho : float, default=0.1
        Step of the multipliers, and weight of the two constraints.
    n_iterations : int, default=100
        Steps of ADMM.
    missing : {"raise", "interpolate"}, default="raise"
        How to handle NaN and infinity.
    random_state : int or None, default=0
        Seed of the start and of k-means.

    Attributes
    ----------
    boundaries_, labels_ : ndarray of int
        First frame of every event but the first, and the event number of each frame.
    codes_ : ndarray of shape (n_frames, n_atoms)
        Codes of the frames: Z, transposed.
    communities_ : ndarray of int
        Group of each frame; its event if `n_events` is None.
    """

    n_events: int | None = None
    _: KW_ONLY
    n_atoms: int = 80
    n_neighbors: int = 7
    ridge: float = 0.01
    smoothness: float = 15.0
    rho: float = 0.1
    n_iterations: int = 100
    random_state: int | None = 0

    def find_boundaries(self, features: FloatArray) -> IntArray:
        """Return the first frame of every event but the first."""
        # Codes over more atoms than frames carry no information and take forever.
        most_atoms = max(len(features), MOST_ATOMS)
        check_between("n_atoms", self.n_atoms, 1, most_atoms, whole=True)
        check_between("n_neighbors", self.n_neighbors, 1, whole=True)
        check_between("n_iterations", self.n_iterations, 1, MOST_STEPS, whole=True)
        check_between("ridge", self.ridge, 0, HEAVIEST)
        check_between("smoothness", self.smoothness, 0, HEAVIEST)
        check_between("rho", self.rho, 1 / HEAVIEST, HEAVIEST)
        rho, n_atoms = self.rho, self.n_atoms

        frames = unit_rows(features).T
        n = frames.shape[1]
        generator = np.random.default_rng(self.random_state)
        atoms, codes = generator.random((len(frames), n_atoms)), generator.random((n_atoms, n))
        atoms /= np.linalg.norm(atoms, axis=0)
        atom_duals, code_duals = np.zeros_like(atoms), np.zeros_like(codes)
        free_codes: FloatArray = codes
        identity = np.eye(n_atoms)
        reach = (min(self.n_neighbors, 2 * n) - 1) // 2
        laplacian = 2.0 * self.smoothness * temporal_laplacian(n, np.ones(reach))

        for _ in range(self.n_iterations):
            products = free_codes @ free_codes.T + rho * identity
            right = frames @ free_codes.T + rho * atoms - atom_duals
            free_atoms = np.linalg.solve(products, right.T).T
            products = free_atoms.T @ free_atoms + (2.0 * self.ridge + rho) * identity
            right = free_atoms.T @ frames + rho * codes - code_duals
            free_codes = _solve_smooth(products, laplacian, right)

            atoms = np.maximum(free_atoms + atom_duals / rho, 0.0)
            atoms /= np.maximum(np.linalg.norm(atoms, axis=0), 1.0)
            codes = np.maximum(free_codes + code_duals / rho, 0.0)
            atom_duals += rho * (free_atoms - atoms)
            code_duals += rho * (free_codes - codes)

        self.codes_ = codes.T
        self.communities_ = label_codes(
            self.codes_, features, n_events=self.n_events, random_state=self.random_state
        )
        return labels_to_boundaries(self.communities_)


REACH, SPREAD, STRENGTH = 8, 3.0, 15.0
"""The temporal graph links frames up to 8 apart, by 15 times a normal density of deviation 3."""


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


def _solve_projected(
    seen: FloatArray, mu: float, bands: FloatArray, right: FloatArray
) -> FloatArray:
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
        Maximum number of columns of the projection; fewer if the features vary in fewer directions.
    smoothness : float, default=0.15
        Weight of the change in time, and ridge of the projection (both are lambda 1 in the
        program).
    mu : float, default=0.001
        Weight of the constraints, and step of their multipliers.
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
        Codes of the frames: Z of the target, transposed.
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
        check_between("n_directions", self.n_directions, 1, whole=True)
        check_between("n_iterations", self.n_iterations, 1, MOST_STEPS, whole=True)
        check_between("smoothness", self.smoothness, 1 / HEAVIEST, HEAVIEST)
        check_between("mu", self.mu, 1 / HEAVIEST, HEAVIEST)
        smoothness, mu = self.smoothness, self.mu

        first = unit_rows(source).T
        both = np.hstack([first, unit_rows(features).T])
        offsets = np.arange(1, REACH + 1)
        density = np.exp(-0.5 * (offsets / SPREAD) ** 2) / (SPREAD * np.sqrt(2.0 * np.pi))
        bands = temporal_laplacian(both.shape[1], STRENGTH * density)
        codes = np.random.default_rng(self.random_state).random((first.shape[1], both.shape[1]))
        duals, smooth_duals = np.zeros_like(codes), np.zeros_like(codes)
        free: FloatArray = np.zeros_like(codes)

        for _ in range(self.n_iterations):
            residue = both - first @ free
            projection = _projection(residue, ridge=smoothness, n_directions=self.n_directions)
            seen = projection.T @ first
            right = seen.T @ (projection.T @ both) - duals + mu * codes + smooth_duals
            free = _solve_projected(seen, mu, (mu + smoothness) * bands, right)
            codes = np.maximum(free + duals / mu, 0.0)
            duals += mu * (free - codes)
            # The equation just solved gives the product of V and the Laplacian faster than
            # multiplying them.
            smooth_duals -= mu / (mu + smoothness) * (right - mu * free - seen.T @ (seen @ free))

        self.codes_ = codes[:, first.shape[1] :].T
        self.communities_ = label_codes(
            self.codes_, features, n_events=self.n_events, random_state=self.random_state
        )
        return labels_to_boundaries(self.communities_)
