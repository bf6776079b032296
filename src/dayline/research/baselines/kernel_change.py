"""Kernel change-point detection, by the ruptures library (extra "baselines").

S. Arlot, A. Celisse, Z. Harchaoui: A kernel multiple change-point algorithm via model selection.
JMLR 20, 2019. C. Truong, L. Oudre, N. Vayatis: Selective review of offline change point detection
methods. Signal Processing 167, 2020 (the library).
"""

from __future__ import annotations

import math
from typing import Any, Literal, Self

import numpy as np

from dayline.arrays import FloatArray, IntArray, unit_rows
from dayline.checks import Missing, check_between, check_choice, check_flag, show_value
from dayline.method.denoise import standardize
from dayline.research.baselines.segmenter import (
    Baseline,
    check_n_events,
    store_boundaries,
    take_features,
)


def kernel_penalty(x: FloatArray, *, kernel: Literal["rbf", "cosine"]) -> float:
    """Return our penalty of one more event: log N for "rbf", 0.5 V log N for "cosine".

    V is the variance of the frames in the cosine kernel's space, 1 - |mean of the unit rows|^2: it
    is between 0 and 1, and small if all frames are similar, as with most image features. The
    Gaussian kernel needs no such factor, since its width is the median distance of the frames.
    """
    log_n = math.log(max(len(x), 2))
    if kernel == "rbf":
        return log_n
    mean = unit_rows(x).mean(axis=0)
    return 0.5 * log_n * max(1.0 - float(mean @ mean), 1e-9)


def kernel_changes(
    x: FloatArray,
    *,
    kernel: Literal["rbf", "cosine"] = "rbf",
    penalty: float | None = None,
    n_events: int | None = None,
    min_length: int = 2,
) -> IntArray:
    """Cut a sequence where its mean in the kernel's space changes.

    Parameters
    ----------
    x : ndarray of shape (n_frames, n_features)
        One row per frame.
    kernel : {"rbf", "cosine"}
        Gaussian, with the median squared distance as its width, or cosine.
    penalty : float, optional
        Penalty of one more event; None uses `kernel_penalty`.
    n_events : int, optional
        Number of events, instead of a penalty.
    min_length : int >= 1
        Minimum number of frames of an event.
    """
    try:
        from ruptures import KernelCPD  # type: ignore[import-untyped, unused-ignore]
    except ModuleNotFoundError:
        raise ValueError(
            'kernel change points need ruptures (pip install "dayline[baselines]")'
        ) from None
    check_choice("kernel", kernel, ("rbf", "cosine"))
    check_between("min_length", min_length, 1, whole=True)
    if penalty is not None:
        check_between("penalty", penalty, 0, above=True)
    if n_events is not None:
        check_between("n_events", n_events, 1, whole=True)
    n = len(x)
    if n < 2 * min_length or np.all(x == x[0]) or n_events == 1:
        return np.zeros(0, dtype=np.int64)
    if n_events is not None and n_events * min_length > n:
        raise ValueError(
            f"n_events={show_value(n_events)} of at least {show_value(min_length)} frames do not"
            f" fit into {n} frames"
        )
    detector = KernelCPD(kernel=kernel, min_size=min_length).fit(
        np.ascontiguousarray(x, dtype=np.float64)
    )
    if n_events is not None:
        stops = detector.predict(n_bkps=n_events - 1)
    else:
        stops = detector.predict(
            pen=kernel_penalty(x, kernel=kernel) if penalty is None else penalty
        )
    return np.asarray(stops[:-1], dtype=np.int64)


class KernelChangeSegmenter(Baseline):
    """Cut a sequence where its mean in a kernel's space changes (KernelCPD of ruptures).

    Parameters
    ----------
    n_events : int or None, default=None
        None lets the penalty decide.
    kernel : {"rbf", "cosine"}, default="rbf"
        Gaussian, with the median squared distance as its width, or cosine.
    penalty : float or None, default=None
        Penalty of one more event; None: log N for "rbf", 0.5 V log N for "cosine" (see
        `kernel_penalty`).
    min_length : int, default=2
        Minimum number of frames of an event.
    standardize : bool, default=True
        Center every feature and divide it by its standard deviation first, as `EventSegmenter`
        does.
    missing : {"raise", "interpolate"}, default="raise"
        How to handle NaN and infinity.

    Attributes
    ----------
    boundaries_, labels_ : ndarray of int
        First frame of every event but the first, and the event number of each frame.
    """

    def __init__(
        self,
        n_events: int | None = None,
        *,
        kernel: Literal["rbf", "cosine"] = "rbf",
        penalty: float | None = None,
        min_length: int = 2,
        standardize: bool = True,
        missing: Missing = "raise",
    ) -> None:
        self.n_events = n_events
        self.kernel = kernel
        self.penalty = penalty
        self.min_length = min_length
        self.standardize = standardize
        self.missing = missing

    def fit(self, X: Any, y: None = None) -> Self:  # noqa: ARG002
        """Find the events of one sequence, X of shape (n_frames, n_features); y is ignored."""
        check_flag("standardize", self.standardize)
        features = take_features(self, X, missing=self.missing)
        check_n_events(self.n_events, len(features))
        boundaries = kernel_changes(
            standardize(features) if self.standardize else features,
            kernel=self.kernel,
            penalty=self.penalty,
            n_events=self.n_events,
            min_length=self.min_length,
        )
        return store_boundaries(self, boundaries, len(features))
