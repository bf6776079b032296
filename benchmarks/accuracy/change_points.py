"""Change point detectors for few columns that the benchmarks run beside dayline.

Those of ruptures (extra "baselines") are there if it is installed. Their penalties are the usual
ones (Bayesian information criterion): twice the log likelihood that a change must gain is log n for
each number that it adds, its position included. The rbf kernel, which has no likelihood, has the
penalty log n.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from importlib.util import find_spec

import numpy as np

from dayline.method.denoise import standardize
from dayline.research.baselines.kernel_change import KernelChangeSegmenter

MIN_LENGTH = 5
"""Shortest event: the normal cost needs a variance."""


def noise_deviation(x: np.ndarray) -> np.ndarray:
    """Return the standard deviation of the noise of each column, from its differences.

    The median of their size does not depend on a few changes. A column in which most values equal
    the one before has the deviation of its differences.
    """
    steps = np.diff(x, axis=0)
    usual = np.median(np.abs(steps), axis=0) / 0.6745
    deviation = np.where(usual > 0, usual, steps.std(axis=0)) / math.sqrt(2.0)
    return np.where(deviation > 0, deviation, 1.0)


def pelt(x: np.ndarray, *, cost: str) -> np.ndarray:
    """Return the changes of mean ("l2") or of mean and covariance ("normal"), found by PELT."""
    from ruptures import Pelt

    n, d = x.shape
    if n < 2 * MIN_LENGTH:
        return np.zeros(0, dtype=np.int64)
    if cost == "l2":
        values, n_numbers = x / noise_deviation(x), d + 1
    else:
        values, n_numbers = standardize(x), d + d * (d + 1) // 2 + 1
    with warnings.catch_warnings():
        # ruptures tells whoever uses the normal cost what has changed since its version 1.1.4.
        warnings.simplefilter("ignore", UserWarning)
        detector = Pelt(model=cost, min_size=MIN_LENGTH, jump=1).fit(values)
    return np.asarray(detector.predict(pen=n_numbers * math.log(n))[:-1], dtype=np.int64)


def kernel_rbf(x: np.ndarray) -> np.ndarray:
    """Return the changes of the distribution, by the Gaussian kernel."""
    return KernelChangeSegmenter(kernel="rbf", min_length=MIN_LENGTH).fit(x).boundaries_


def claspy(x: np.ndarray) -> np.ndarray:
    """Return the changes of the shape of subsequences, by ClaSP."""
    from claspy.segmentation import BinaryClaSPSegmentation

    found = BinaryClaSPSegmentation().fit_predict(x[:, 0] if x.shape[1] == 1 else x)
    return np.asarray(found, dtype=np.int64)


def installed_detectors() -> dict[str, Callable[[np.ndarray], np.ndarray]]:
    """Return the detectors of the packages that are installed, by name."""
    found: dict[str, Callable[[np.ndarray], np.ndarray]] = {}
    if find_spec("ruptures"):
        found["ruptures, l2"] = lambda x: pelt(x, cost="l2")
        found["ruptures, rbf"] = kernel_rbf
        found["ruptures, normal"] = lambda x: pelt(x, cost="normal")
    if find_spec("claspy"):
        found["claspy"] = claspy
    return found
