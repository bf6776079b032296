"""Graph cuts: labels of low energy under a Potts prior, by alpha expansion.

Y. Boykov, O. Veksler, R. Zabih: Fast approximate energy minimization via graph cuts. IEEE TPAMI 23(11), 2001.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dayline.arrays import FloatArray, IntArray

__all__ = ["expand_labels", "potts_energy"]


def potts_energy(labels: IntArray, costs: FloatArray, pairs: IntArray, weights: FloatArray) -> float:
    """Sum the costs of the labels and the weights of the pairs that differ (see `expand_labels`)."""
    differ = labels[pairs[:, 0]] != labels[pairs[:, 1]]
    return float(costs[np.arange(len(labels)), labels].sum() + weights[differ].sum())


def expand_labels(
    labels: IntArray, *, costs: FloatArray, pairs: IntArray, weights: FloatArray, n_sweeps: int = 5
) -> IntArray:
    """Lower the energy of a labelling: each label in turn takes the best set of frames, found by min-cut.

    Parameters
    ----------
    labels : ndarray of int, shape (n_frames,)
        Initial labels.
    costs : ndarray of shape (n_frames, n_labels)
        Cost of giving each frame each label.
    pairs : ndarray of int, shape (n_pairs, 2)
        Frames that should have the same label.
    weights : ndarray of shape (n_pairs,)
        Penalty of two different labels, at least 0.
    n_sweeps : int >= 1
        Maximum number of sweeps over all labels; stops when a sweep changes nothing.
    """
    best: IntArray = np.array(labels, dtype=np.int64)
    energy = potts_energy(best, costs, pairs, weights)
    for _ in range(n_sweeps):
        before = energy
        for label in range(costs.shape[1]):
            moved = _expand_one(best, label, costs, pairs, weights)
            after = potts_energy(moved, costs, pairs, weights)
            if after < energy - 1e-9:
                best, energy = moved, after
        if energy >= before:
            break
    return best


def _expand_one(labels: IntArray, label: int, costs: FloatArray, pairs: IntArray, weights: FloatArray) -> IntArray:
    """Let one label take the set of frames that lowers the energy most."""
    a, b = labels[pairs[:, 0]], labels[pairs[:, 1]]
    stay = weights * (a != b)
    only_second, only_first = weights * (a != label), weights * (b != label)
    change = costs[:, label] - costs[np.arange(len(labels)), labels]
    np.add.at(change, pairs[:, 0], only_first - stay)
    np.add.at(change, pairs[:, 1], -only_first)
    if change.min() >= 0.0:
        return labels  # No frame gains: the usual case once labels have settled.
    takes = _min_cut(change, pairs, only_second + only_first - stay)
    return np.where(takes, label, labels)


def _min_cut(change: FloatArray, pairs: IntArray, links: FloatArray) -> Any:
    """Minimise change . x + sum over pairs of links (1 - x_first) x_second over x in {0, 1}."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import breadth_first_order, maximum_flow

    n = len(change)
    source, sink = n, n + 1
    rows = np.concatenate([np.full(n, source), np.arange(n), pairs[:, 0]])
    columns = np.concatenate([np.arange(n), np.full(n, sink), pairs[:, 1]])
    capacity = np.concatenate([np.maximum(change, 0.0), np.maximum(-change, 0.0), links])
    # The solver uses 32-bit integers, also for the total flow.
    whole = np.floor(capacity * (2.0**30 / capacity.sum())).astype(np.int32)
    used = whole > 0
    network = coo_array((whole[used], (rows[used], columns[used])), shape=(n + 2, n + 2)).tocsr()
    flow = maximum_flow(network, source, sink).flow
    rest = (network - flow).tocsr()
    rest.data = np.maximum(rest.data, 0)
    rest.eliminate_zeros()
    takes = np.ones(n + 2, dtype=bool)
    takes[breadth_first_order(rest, source, return_predecessors=False)] = False
    return takes[:n]
