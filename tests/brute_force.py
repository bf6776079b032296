"""The optimal partition by trying every one: the slow twin of the dynamic programmes."""

from __future__ import annotations

from itertools import pairwise

import numpy as np


def chains(start, stop, allowed):
    """Yield every way to go from `start` to `stop` in allowed steps.

    A way is the list of frames in between.
    """
    if allowed(start, stop):
        yield []
    for middle in range(start + 1, stop):
        if allowed(start, middle):
            for rest in chains(middle, stop, allowed):
                yield [middle, *rest]


def worth(x, boundaries, penalties):
    """Sum over events the length times the squared length of the mean, minus the penalties.

    The penalties are those of all boundaries.
    """
    events = [x[a:b] for a, b in pairwise([0, *boundaries, len(x)])]
    return sum(len(e) * np.sum(e.mean(axis=0) ** 2) for e in events) - sum(
        penalties[b] for b in boundaries
    )


def best_partition(x, penalties, *, min_length=1):
    """Try all sets of boundaries: events long enough, penalties finite."""
    n = len(x)
    frames = {b for b in range(1, n) if np.isfinite(penalties[b])}

    def allowed(start, stop):
        return stop - start >= min_length and (stop == n or stop in frames)

    possible = list(chains(0, n, allowed)) or [[]]
    return max(possible, key=lambda boundaries: worth(x, boundaries, penalties))


def best_between(x, penalties, fixed, *, min_length=1):
    """Try all partitions of every piece between fixed boundaries."""
    found = list(fixed)
    for start, stop in pairwise([0, *fixed, len(x)]):
        best = best_partition(x[start:stop], penalties[start:stop], min_length=min_length)
        found += [start + b for b in best]
    return sorted(found)
