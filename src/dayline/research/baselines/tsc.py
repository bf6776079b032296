"""Temporal subspace clustering, by ADMM; with the CES rule on its codes it is CES-TSC.

S. Li, K. Li, Y. Fu: Temporal subspace clustering for human motion segmentation. ICCV 2015.

Minimises 1/2 |X - D Z|^2 + ridge |Z|^2 + smoothness tr(Z L Z^T) over dictionaries D >= 0 with
columns of length at most 1 and codes Z >= 0. Columns of X are frames of length 1; L is the
Laplacian of the graph that links every frame to the nearest frames in time. L is banded, so that a
step costs linear time in the number of frames.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass

import numpy as np

from dayline.arrays import FloatArray, IntArray, to_numpy, unit_rows
from dayline.checks import MOST_STEPS, check_between, check_seed
from dayline.decision.contexts import context_distance, pick_boundaries
from dayline.events import boundaries_to_labels, labels_to_boundaries
from dayline.research.baselines.segmenter import Baseline
from dayline.research.baselines.spectral import graph_labels

MOST_ATOMS = 1000
"""Columns that a dictionary may have, however few frames there are."""

HEAVIEST = 1e9
"""Largest weight of a term, and 1 over the smallest of a constraint: beyond, rounding dominates."""


def temporal_codes(
    x: FloatArray,
    *,
    n_atoms: int = 80,
    n_neighbors: int = 7,
    ridge: float = 0.01,
    smoothness: float = 15.0,
    rho: float = 0.1,
    n_iterations: int = 100,
    random_state: int | None = 0,
) -> FloatArray:
    """Write every frame as a sum of few non-negative atoms that change slowly in time.

    Parameters
    ----------
    x : ndarray of shape (n_frames, n_features)
        One row per frame; scaled to length 1 here.
    n_atoms : int >= 1
        Columns of the dictionary.
    n_neighbors : int >= 1
        Frames of the temporal window, the frame itself included (k).
    ridge, smoothness : float >= 0
        Weights of |Z|^2 and of tr(Z L Z^T) (lambda 1 and lambda 2).
    rho : float > 0
        Step of the multipliers, and weight of the two constraints.
    n_iterations : int >= 1
        Steps of ADMM.
    random_state : int or None
        Seed of the random start.

    Returns
    -------
    ndarray of shape (n_frames, n_atoms)
        The codes Z, transposed.
    """
    values = to_numpy(x).astype(np.float64)
    # Codes over more atoms than frames carry no information and take forever.
    check_between("n_atoms", n_atoms, 1, max(len(values), MOST_ATOMS), whole=True)
    check_between("n_neighbors", n_neighbors, 1, whole=True)
    check_between("n_iterations", n_iterations, 1, MOST_STEPS, whole=True)
    check_between("ridge", ridge, 0, HEAVIEST)
    check_between("smoothness", smoothness, 0, HEAVIEST)
    check_between("rho", rho, 1 / HEAVIEST, HEAVIEST)
    check_seed(random_state, largest=np.inf)

    frames = unit_rows(values).T
    n = frames.shape[1]
    generator = np.random.default_rng(random_state)
    atoms, codes = generator.random((len(frames), n_atoms)), generator.random((n_atoms, n))
    atoms /= np.linalg.norm(atoms, axis=0)
    atom_duals, code_duals = np.zeros_like(atoms), np.zeros_like(codes)
    free_codes: FloatArray = codes
    identity = np.eye(n_atoms)
    reach = (min(n_neighbors, 2 * n) - 1) // 2
    laplacian = 2.0 * smoothness * temporal_laplacian(n, np.ones(reach))

    for _ in range(n_iterations):
        products = free_codes @ free_codes.T + rho * identity
        right = frames @ free_codes.T + rho * atoms - atom_duals
        free_atoms = np.linalg.solve(products, right.T).T
        products = free_atoms.T @ free_atoms + (2.0 * ridge + rho) * identity
        right = free_atoms.T @ frames + rho * codes - code_duals
        free_codes = _solve_smooth(products, laplacian, right)

        atoms = np.maximum(free_atoms + atom_duals / rho, 0.0)
        atoms /= np.maximum(np.linalg.norm(atoms, axis=0), 1.0)
        codes = np.maximum(free_codes + code_duals / rho, 0.0)
        atom_duals += rho * (free_atoms - atoms)
        code_duals += rho * (free_codes - codes)
    return codes.T


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
        Columns of the dictionary and frames of the temporal window.
    ridge, smoothness, rho : float, default=0.01, 15 and 0.1
        Weights of the codes' size, of their change in time, and of the constraints.
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
        Codes of the frames.
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
        self.codes_ = temporal_codes(
            features,
            n_atoms=self.n_atoms,
            n_neighbors=self.n_neighbors,
            ridge=self.ridge,
            smoothness=self.smoothness,
            rho=self.rho,
            n_iterations=self.n_iterations,
            random_state=self.random_state,
        )
        self.communities_ = label_codes(
            self.codes_, features, n_events=self.n_events, random_state=self.random_state
        )
        return labels_to_boundaries(self.communities_)
