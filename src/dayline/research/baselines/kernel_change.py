"""Kernel change-point detection, by the ruptures library (extra "baselines").

S. Arlot, A. Celisse, Z. Harchaoui: A kernel multiple change-point algorithm via model selection.
JMLR 20, 2019. C. Truong, L. Oudre, N. Vayatis: Selective review of offline change point detection
methods. Signal Processing 167, 2020 (the library).
"""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass
from typing import Literal

import numpy as np

from dayline.arrays import FloatArray, IntArray, unit_rows
from dayline.checks import check_between, check_choice, check_flag, show_value
from dayline.installation import needs_extra
from dayline.method.denoise import standardize
from dayline.research.baselines.segmenter import Baseline


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


@dataclass(eq=False, repr=False)
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

    n_events: int | None = None
    _: KW_ONLY
    kernel: Literal["rbf", "cosine"] = "rbf"
    penalty: float | None = None
    min_length: int = 2
    standardize: bool = True

    @needs_extra("baselines", "kernel change points")
    def find_boundaries(self, features: FloatArray) -> IntArray:
        """Return the first frame of every event but the first."""
        from ruptures import KernelCPD  # type: ignore[import-untyped, unused-ignore]

        check_choice("kernel", self.kernel, ("rbf", "cosine"))
        check_between("min_length", self.min_length, 1, whole=True)
        check_flag("standardize", self.standardize)
        if self.penalty is not None:
            check_between("penalty", self.penalty, 0, above=True)
        x = standardize(features) if self.standardize else features
        n = len(x)
        if n < 2 * self.min_length or np.all(x == x[0]) or self.n_events == 1:
            return np.zeros(0, dtype=np.int64)
        if self.n_events is not None and self.n_events * self.min_length > n:
            raise ValueError(
                f"n_events={show_value(self.n_events)} of at least {show_value(self.min_length)}"
                f" frames do not fit into {n} frames"
            )

        detector = KernelCPD(kernel=self.kernel, min_size=self.min_length)
        detector.fit(np.ascontiguousarray(x, dtype=np.float64))
        if self.n_events is not None:
            stops = detector.predict(n_bkps=self.n_events - 1)
        else:
            usual = kernel_penalty(x, kernel=self.kernel)
            stops = detector.predict(pen=usual if self.penalty is None else self.penalty)
        return np.asarray(stops[:-1], dtype=np.int64)
