"""Landmarks: a few hundred points that stand for all frames, so that a kernel never needs frames x frames."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dayline.arrays import Array, FloatArray, IntArray, array_namespace, to_numpy
from dayline.method.rows import unit_rows

__all__ = ["Landmarks", "choose_landmarks"]

MOST_LANDMARKS = 320
"""Largest number of landmarks of an embedding; see docs/scale.md for what fewer and more of them change."""

MEMBERS = 8
"""Frames whose mean is a landmark."""

SAMPLE = 8192
"""Frames among which landmarks are sought; in longer sequences, this many evenly spaced ones."""

NEAR = 5e-4
"""No more landmarks are added once every frame is this near one of them: 1 - cosine, in bandwidths."""

ROUNDS = 3
"""Rounds of k-means after the first choice; more change nothing that can be measured."""


@dataclass(frozen=True)
class Landmarks:
    """Centres of groups of similar frames; they move with the frames.

    Attributes
    ----------
    members : array of int, shape (n_landmarks, n_members)
        The frames whose mean each landmark is.
    """

    members: Array

    def centres(self, x: Array) -> Array:
        """Return the landmarks, unit rows, of features or an embedding."""
        xp = array_namespace(x)
        count, each = self.members.shape
        rows = unit_rows(xp.take(x, xp.reshape(self.members, (-1,)), axis=0))
        return unit_rows(xp.mean(xp.reshape(rows, (count, each, x.shape[1])), axis=1))


def choose_landmarks(x: Array, *, bandwidth: float, most: int = MOST_LANDMARKS) -> Landmarks:
    """Group frames by k-means on the sphere, starting from frames far from each other.

    The start makes sure that rare frames have landmarks too; the means make every landmark count (with 256 of them,
    column sums of the kernel were five to ten times as exact as with single frames).

    Parameters
    ----------
    x : array of shape (n_frames, n_dims)
        Features or embedding.
    bandwidth : float > 0
        Decay of the kernel that the landmarks are for.
    most : int
        Largest number of landmarks.
    """
    xp = array_namespace(x)
    n = x.shape[0]
    frames = np.unique(np.linspace(0, n - 1, min(n, SAMPLE)).round().astype(np.int64))
    # On the host in double precision, so that every device chooses the same landmarks.
    u = unit_rows(to_numpy(xp.take(x, xp.asarray(frames, device=x.device), axis=0)).astype(np.float64))
    groups: IntArray = np.arange(len(u))
    if len(u) > most:
        groups = _nearest(u, _means_of_groups(u, u[_far_apart(u, most, NEAR * bandwidth)]))
    return Landmarks(xp.asarray(frames[_members(groups)], device=x.device))


def _far_apart(u: FloatArray, most: int, near: float) -> IntArray:
    """Start from the first frame and add the frame farthest from all so far, again and again."""
    chosen = [0]
    closest = u @ u[0]
    while len(chosen) < most:
        farthest = int(np.argmin(closest))
        if closest[farthest] >= 1.0 - near:
            break
        chosen.append(farthest)
        np.maximum(closest, u @ u[farthest], out=closest)
    return np.asarray(chosen)


def _means_of_groups(u: FloatArray, centres: FloatArray) -> FloatArray:
    from scipy.sparse import csr_matrix

    n = len(u)
    for _ in range(ROUNDS):
        groups = _nearest(u, centres)
        sums = csr_matrix((np.ones(n), (groups, np.arange(n))), shape=(len(centres), n)) @ u
        # A group that lost all its frames stays where it was.
        centres = np.where(np.any(sums != 0, axis=1, keepdims=True), unit_rows(sums), centres)
    return centres


def _nearest(u: FloatArray, centres: FloatArray) -> IntArray:
    return np.concatenate([np.argmax(u[k : k + 1024] @ centres.T, axis=1) for k in range(0, len(u), 1024)])


def _members(groups: IntArray) -> IntArray:
    """Return members of each group, evenly spaced in time; a group of fewer repeats them."""
    order = np.argsort(groups, kind="stable")
    _, first, counts = np.unique(groups[order], return_index=True, return_counts=True)
    places = ((np.arange(MEMBERS) + 0.5) / MEMBERS * counts[:, None]).astype(np.int64)
    return np.asarray(order[first[:, None] + places])
