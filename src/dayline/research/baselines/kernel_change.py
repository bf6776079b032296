"""Baselines that cut where the mean of the frames in a kernel's space changes.

Kernel change points, by the ruptures library (extra "baselines"). S. Arlot, A. Celisse, Z.
Harchaoui: A kernel multiple change-point algorithm via model selection. JMLR 20, 2019. C. Truong,
L. Oudre, N. Vayatis: Selective review of offline change point detection methods. Signal Processing
167, 2020 (the library).

Kernel temporal segmentation (KTS) with its automatic number of events. D. Potapov, M. Douze, Z.
Harchaoui, C. Schmid: Category-specific video summarization. ECCV 2014. For m boundaries in n
frames, KTS minimizes L(m) + penalty g(m): L the sum over events of the squared distances to the
event's mean in the kernel's space, g(m) = m (log(n / m) + 1). The published program divides both by
n and has penalty = 1/2. For a given number the dynamic program is the usual one. For the
automatic number we do not tabulate all m: g is concave, so the best m is also optimal for some
fixed penalty per boundary, and a few such penalties, each with one dynamic program over all
starts and stops, prove which m is best.

One frame per event costs n / 2 for any n. If frames of length 1 scatter by more than 1/2 around
their events, that is the minimum: the published program then returns single frames, unless it is
given the largest m to try. Events of at least 2 frames prevent this (up to a scatter of 0.85), so
that is the default here.
"""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass
from typing import Literal

import numpy as np

from dayline.arrays import FloatArray, IntArray, to_numpy, unit_rows
from dayline.checks import check_between, check_choice, check_flag, show_value
from dayline.installation import needs_extra
from dayline.method.denoise import standardize
from dayline.research.baselines.segmenter import Baseline


def check_fit(n_events: int, min_length: int, n_frames: int) -> None:
    """Raise ValueError if so many events are longer than the sequence."""
    if n_events > 1 and n_events * min_length > n_frames:
        raise ValueError(
            f"n_events={show_value(n_events)} of at least {show_value(min_length)} frames do not"
            f" fit into {n_frames} frames"
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
        if self.n_events is not None:
            check_fit(self.n_events, self.min_length, n)

        detector = KernelCPD(kernel=self.kernel, min_size=self.min_length)
        detector.fit(np.ascontiguousarray(x, dtype=np.float64))
        if self.n_events is not None:
            stops = detector.predict(n_bkps=self.n_events - 1)
        else:
            usual = kernel_penalty(x, kernel=self.kernel)
            stops = detector.predict(pen=usual if self.penalty is None else self.penalty)
        return np.asarray(stops[:-1], dtype=np.int64)


@dataclass(frozen=True)
class _Cut:
    """One optimal segmentation, its loss, and a penalty per boundary for which it is optimal."""

    boundaries: IntArray
    loss: float
    linear_penalty: float


def scatter_sums(x: FloatArray) -> FloatArray:
    """Tabulate the scatter of every run: entry [stop, start] is for frames start .. stop-1.

    Parameters
    ----------
    x : ndarray of shape (n_frames, n_dims)
        Vectors, with the linear kernel.

    Returns
    -------
    ndarray of shape (n_frames + 1, n_frames + 1)
        Lower triangle: sum of squared distances to the mean of the run. N x N numbers: 150 MB for
        4,300 frames.
    """
    values = to_numpy(x).astype(np.float64)
    # A shift does not change distances, and sums around the mean keep their precision.
    values -= values.mean(axis=0)
    lengths = np.concatenate([[0.0], np.cumsum(np.einsum("ij,ij->i", values, values))])
    sums = np.cumsum(values, axis=0, out=values)
    scatter = np.zeros((len(sums) + 1, len(sums) + 1))
    np.matmul(sums, sums.T, out=scatter[1:, 1:])
    own = np.diag(scatter).copy()
    for stop in range(len(scatter)):
        row = scatter[stop, :stop]
        run = own[stop] - 2.0 * row + own[:stop]
        scatter[stop, :stop] = np.maximum(
            lengths[stop] - lengths[:stop] - run / np.arange(stop, 0, -1), 0.0
        )
        scatter[stop, stop:] = 0.0
    return np.asarray(scatter)


def cut_into(scatter: FloatArray, *, n_events: int, min_length: int = 1) -> IntArray:
    """Cut into a given number of events with the least scatter (exact dynamic programming).

    Parameters
    ----------
    scatter : ndarray of shape (n_frames + 1, n_frames + 1)
        See `scatter_sums`.
    n_events : int >= 1
        At most n_frames / min_length.
    min_length : int >= 1
        Minimum number of frames of an event.
    """
    check_between("min_length", min_length, 1, whole=True)
    n = len(scatter) - 1
    check_fit(n_events, min_length, n)
    best = np.full((n_events + 1, n + 1), np.inf)
    best[0, 0] = 0.0
    previous = np.zeros((n_events + 1, n + 1), dtype=np.int32)
    for stop in range(min(min_length, n), n + 1):
        most, starts = min(n_events, stop), max(stop - min_length + 1, 1)
        totals = best[:most, :starts] + scatter[stop, :starts]
        winners = np.argmin(totals, axis=1)
        previous[1 : most + 1, stop] = winners
        best[1 : most + 1, stop] = totals[np.arange(most), winners]
    boundaries = np.zeros(n_events - 1, dtype=np.int64)
    at = n
    for k in range(n_events, 1, -1):
        at = int(previous[k, at])
        boundaries[k - 2] = at
    return boundaries


def cut_automatically(
    scatter: FloatArray, *, penalty: float = 0.5, min_length: int = 1
) -> IntArray:
    """Cut into the number of events that minimizes scatter + penalty m (log(n / m) + 1).

    Parameters
    ----------
    scatter : ndarray of shape (n_frames + 1, n_frames + 1)
        See `scatter_sums`.
    penalty : float > 0
        1/2 in the published program.
    min_length : int >= 1
        Minimum number of frames of an event; 1 in the published program.
    """
    check_between("penalty", penalty, 0, above=True)
    check_between("min_length", min_length, 1, whole=True)
    n = len(scatter) - 1
    whole = _Cut(np.zeros(0, dtype=np.int64), float(scatter[n, 0]), float(scatter[n, 0]))
    if n < 2 * min_length:
        return whole.boundaries
    pieces = _cut_at_penalty(scatter, 0.0, min_length)

    def total(cut: _Cut) -> float:
        return _penalised(len(cut.boundaries), cut.loss, n, penalty)

    best = min((whole, pieces), key=total)
    open_pairs = [(whole, pieces)]
    while open_pairs:
        few, many = open_pairs.pop()
        between = len(many.boundaries) - len(few.boundaries)
        # Between two cuts the loss lies above both lines of linear penalty, so nothing there beats
        # their corner.
        if between < 2 or _penalised(*_corner(few, many), n, penalty) >= total(best):
            continue
        middle = _cut_at_penalty(scatter, (few.loss - many.loss) / between, min_length)
        if len(few.boundaries) < len(middle.boundaries) < len(many.boundaries):
            best = min((best, middle), key=total)
            open_pairs += [(few, middle), (middle, many)]
    return best.boundaries


def _penalised(m: float, loss: float, n: int, penalty: float) -> float:
    return loss + (penalty * m * (math.log(n / m) + 1.0) if m > 0 else 0.0)


def _corner(few: _Cut, many: _Cut) -> tuple[float, float]:
    """Where the lines through two cuts, each falling by its penalty per boundary, meet."""
    a, b = len(few.boundaries), len(many.boundaries)
    if few.linear_penalty <= many.linear_penalty:
        return float(a), few.loss
    m = (few.loss - many.loss + few.linear_penalty * a - many.linear_penalty * b) / (
        few.linear_penalty - many.linear_penalty
    )
    m = min(max(m, float(a)), float(b))
    return m, few.loss - few.linear_penalty * (m - a)


def _cut_at_penalty(scatter: FloatArray, linear_penalty: float, min_length: int) -> _Cut:
    """Cut with the least scatter plus a fixed penalty per boundary."""
    n = len(scatter) - 1
    best = np.full(n + 1, np.inf)
    best[0] = -linear_penalty
    previous = np.zeros(n + 1, dtype=np.int64)
    for stop in range(min_length, n + 1):
        starts = stop - min_length + 1
        totals = best[:starts] + scatter[stop, :starts]
        previous[stop] = winner = int(np.argmin(totals))
        best[stop] = totals[winner] + linear_penalty
    boundaries = []
    at = int(previous[n])
    while at > 0:
        boundaries.append(at)
        at = int(previous[at])
    found = np.asarray(boundaries[::-1], dtype=np.int64)
    return _Cut(found, float(best[n] - linear_penalty * len(found)), linear_penalty)


@dataclass(eq=False, repr=False)
class KernelTemporalSegmenter(Baseline):
    """Cut a sequence so that frames are close to the mean of their event (KTS).

    Parameters
    ----------
    n_events : int or None, default=None
        None lets the published penalty decide.
    kernel : {"cosine", "linear"}, default="cosine"
        "cosine" scales every frame to length 1 first, as the paper does; "linear" uses features as
        they are, and the penalty must then match their scale.
    penalty : float, default=0.5
        Weight of the penalty in the automatic rule, loss + penalty m (log(n / m) + 1).
    min_length : int, default=2
        Minimum number of frames of an event.
    missing : {"raise", "interpolate"}, default="raise"
        How to handle NaN and infinity.

    Attributes
    ----------
    boundaries_, labels_ : ndarray of int
        First frame of every event but the first, and the event number of each frame.
    """

    n_events: int | None = None
    _: KW_ONLY
    kernel: Literal["cosine", "linear"] = "cosine"
    penalty: float = 0.5
    min_length: int = 2

    def find_boundaries(self, features: FloatArray) -> IntArray:
        """Return the first frame of every event but the first."""
        check_choice("kernel", self.kernel, ("cosine", "linear"))
        scatter = scatter_sums(unit_rows(features) if self.kernel == "cosine" else features)
        if self.n_events is None:
            return cut_automatically(scatter, penalty=self.penalty, min_length=self.min_length)
        return cut_into(scatter, n_events=self.n_events, min_length=self.min_length)
