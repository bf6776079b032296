"""Labels from a graph: normalized cuts by random-walk eigenvectors and k-means.

J. Shi, J. Malik: Normalized cuts and image segmentation. IEEE TPAMI 22(8), 2000.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from dayline.arrays import Array, FloatArray, IntArray, to_numpy
from dayline.method.graph import in_order_of_appearance


def random_walk_eigenvectors(graph: Array, *, n_vectors: int) -> FloatArray:
    """Return the slowest modes of a random walk on the graph, the constant one first.

    Parameters
    ----------
    graph : array of shape (n_frames, n_frames)
        Weights of at least 0; made symmetric as (W + W^T) / 2 first.
    n_vectors : int >= 1
        Number of eigenvectors, at most n_frames.

    Returns
    -------
    ndarray of shape (n_frames, n_vectors)
        Eigenvectors of D^-1 W with the largest eigenvalues, D the sums of the rows of W;
        orthonormal under D.
    """
    from scipy.linalg import eigh

    weights = to_numpy(graph).astype(np.float64)
    weights = 0.5 * (weights + weights.T)
    degrees = weights.sum(axis=1)
    # Link an isolated frame to itself: its degree must not be zero.
    alone = degrees <= 0
    weights[alone, alone] = degrees[alone] = 1.0
    scale = 1.0 / np.sqrt(degrees)
    weights *= scale[:, None]
    weights *= scale[None, :]
    n = len(weights)
    _, vectors = eigh(
        weights,
        subset_by_index=(n - min(n_vectors, n), n - 1),
        overwrite_a=True,
        check_finite=False,
    )
    vectors = vectors[:, ::-1]
    # The sign of an eigenvector is arbitrary: fix it, so that k-means starts alike on every
    # machine.
    largest = np.argmax(np.abs(vectors), axis=0)
    vectors = vectors * np.sign(vectors[largest, np.arange(vectors.shape[1])])
    return np.asarray(vectors * scale[:, None])


def graph_labels(graph: Array, *, n_labels: int, random_state: int | None = 0) -> IntArray:
    """Group the frames of a graph so that little weight is cut.

    Parameters
    ----------
    graph : array of shape (n_frames, n_frames)
        Weights of at least 0, not necessarily symmetric.
    n_labels : int >= 1
        Number of groups; as many eigenvectors are used.
    random_state : int or None
        Seed of k-means on the eigenvectors.

    Returns
    -------
    ndarray of int, shape (n_frames,)
        Groups, numbered in order of first appearance.
    """
    vectors = random_walk_eigenvectors(graph, n_vectors=n_labels)
    return vector_labels(vectors, n_labels=n_labels, random_state=random_state)


def vector_labels(vectors: FloatArray, *, n_labels: int, random_state: int | None = 0) -> IntArray:
    """Group the rows of a matrix by k-means, numbered in order of first appearance."""
    from sklearn.cluster import KMeans

    points = np.asarray(vectors, dtype=np.float64)
    # With fewer restarts than ten, accuracy is a few hundredths lower.
    means = KMeans(n_labels, init=_spread_start(points), n_init=10, random_state=random_state)
    return in_order_of_appearance(means.fit_predict(points))


def _spread_start(points: FloatArray) -> Callable[..., FloatArray]:
    """Start k-means for these points (k-means++, D. Arthur, S. Vassilvitskii, SODA 2007).

    scikit-learn's own takes two thirds of the time of k-means here, since it recomputes distances
    for every start.
    """
    from sklearn.metrics import euclidean_distances

    squared = euclidean_distances(points, squared=True)

    def start(x: FloatArray, n_labels: int, random_state: np.random.RandomState) -> FloatArray:
        chosen = [int(random_state.randint(len(x)))]
        nearest = squared[chosen[0]]
        for _ in range(1, n_labels):
            draws = random_state.uniform(size=2 + int(np.log(n_labels))) * nearest.sum()
            candidates = np.minimum(np.searchsorted(np.cumsum(nearest), draws), len(x) - 1)
            after = np.minimum(nearest, squared[candidates])
            best = int(np.argmin(after.sum(axis=1)))
            nearest = after[best]
            chosen.append(int(candidates[best]))
        return x[chosen]

    return start
