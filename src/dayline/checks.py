"""Input checks with messages that name the frames at fault."""

from __future__ import annotations

import re
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from numbers import Real
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from dayline.arrays import (
    Array,
    FloatArray,
    IntArray,
    array_namespace,
    double,
    is_torch_array,
    row_blocks,
    to_numpy,
)

Missing: TypeAlias = Literal["raise", "interpolate"]

Duration: TypeAlias = float | str | timedelta | np.timedelta64
"""Seconds or frames, or a time: "30min", "1h 30min", or a timedelta, also that of pandas."""

UNITS = {"s": 1, "sec": 1, "min": 60, "h": 3600, "hours": 3600, "d": 86400, "days": 86400}
"""Seconds of a unit in a text."""

LARGEST = 1e100
"""Beyond this, sums of squares may overflow double precision."""

LATEST = 1e12
"""Beyond this, a time in seconds is not a date; times in nanoseconds are."""

EARLIEST_DATE = 1e8
"""Seconds: no recording lasts three years, so larger times count from 1970."""

LARGEST_NUMBER = float(np.finfo(np.float64).max)

LARGEST_COUNT = 2**63 - 1
"""Largest number of frames, rows or components: no array can hold more."""

MANY_VALUES = 2**24
"""Features of at least this many values stay in single precision if they are given in it."""

MOST_STEPS = 100_000
"""Largest number of steps, iterations or restarts: more would take forever and is never needed."""

NARROWEST = 1e-6
"""Smallest bandwidth for cosines, which have this accuracy in single precision."""

TIMES_WANTED = "pass seconds, or dates as datetime64"


class TransposedWarning(UserWarning):
    """Features whose columns seem to be frames."""


def check_features(x: Any, *, missing: Missing = "raise") -> FloatArray:
    """Return features as a matrix of finite numbers, or raise ValueError.

    The matrix is a new one in double precision, but for more than 16 million values in single
    precision: those stay as they are and where they are, so that a file mapped into memory is never
    loaded whole.

    Parameters
    ----------
    x : array-like of shape (n_frames, n_features)
        Numbers, one row per frame; masked values are missing. Not modified.
    missing : {"raise", "interpolate"}
        What to do with NaN and infinity: raise an error that names the frames, or fill each gap in
        a column from the frames before and after it; `missing_rows` says which rows are nothing
        but gaps.
    """
    check_choice("missing", missing, ("raise", "interpolate"))
    features = np.asarray(unmask(x))
    if features.dtype.kind not in "biuf":
        raise ValueError(f"features have type {features.dtype}; pass real numbers")
    if features.ndim != 2 or features.size == 0:
        raise ValueError(
            f"features have shape {features.shape}; pass a matrix with a row per frame, at least"
            " one, and a column per feature"
        )

    if features.dtype != np.float32 or features.size < MANY_VALUES:
        features = np.array(features, dtype=np.float64, order="C")

    # NaN makes the sum NaN, and infinity makes it infinite or NaN; so do values that are far too
    # large.
    with np.errstate(over="ignore", invalid="ignore"):
        may_be_bad = not np.isfinite(features.sum(dtype=np.float64))
    if may_be_bad:
        bad = ~np.isfinite(features)
        if bad.any():
            features = _repair(np.array(features, order="C"), bad, missing)
    if max(float(features.max()), -float(features.min())) > LARGEST:
        frame = int(np.argmax(np.abs(features).max(axis=1)))
        raise ValueError(f"frame {frame} contains a value above {LARGEST:g}; rescale the features")

    if looks_transposed(features):
        warnings.warn(
            f"features with {features.shape[0]} rows and {features.shape[1]} columns look"
            " transposed: consecutive columns are similar, rows are not; pass X.T (--transpose) if"
            " columns are frames",
            TransposedWarning,
            stacklevel=2,
        )
    return features


def unmask(x: Any) -> Any:
    """Replace masked values by NaN; return a tensor as an array, and anything else unchanged.

    NumPy silently drops the mask of an array and exposes the masked values as data.
    """
    if is_torch_array(x):
        # NumPy has no bfloat16, and takes no tensor that is part of a gradient.
        return to_numpy(
            x.detach().double() if x.is_floating_point() and x.itemsize < 4 else x.detach()
        )
    if not isinstance(x, np.ma.MaskedArray) or x.dtype.kind not in "biuf":
        return x
    return np.ma.filled(x.astype(np.float64), np.nan) if np.ma.is_masked(x) else x.data


def missing_rows(x: FloatArray) -> NDArray[np.bool_]:
    """Return which rows have less than half of the values of a usual one.

    A usual row has the median number of finite values, of rows that have any: in a table of sensors
    with different rates, it has those of the fast ones.

    Parameters
    ----------
    x : ndarray of shape (n_rows, n_columns)
        Numbers; NaN and infinity are missing.
    """
    counts = np.concatenate([np.isfinite(x[block]).sum(axis=1) for block in row_blocks(x)])
    usual = np.median(counts[counts > 0]) if counts.any() else 0.0
    return np.asarray(counts < usual / 2)


def _repair(features: FloatArray, bad: Any, missing: Missing) -> FloatArray:
    if bad.all():
        raise ValueError("features contain no finite values; pass rows that are not missing")
    frames = np.flatnonzero(bad.any(axis=1))
    lost = np.flatnonzero(bad.all(axis=0))
    if len(lost):
        raise ValueError(f"column {lost[0]} contains no finite values; drop it")
    if missing == "raise":
        raise ValueError(
            f"{list_frames(frames)} {'holds' if len(frames) == 1 else 'hold'} NaN or infinity; "
            f'drop {"it" if len(frames) == 1 else "them"} or pass missing="interpolate"'
            " (--interpolate)"
        )
    t = np.arange(len(features))
    for column in np.flatnonzero(bad.any(axis=0)):
        good = ~bad[:, column]
        features[:, column] = np.interp(t, t[good], features[good, column])
    return features


def list_frames(frames: IntArray | Sequence[int], most: int = 5) -> str:
    """Format frame numbers for a message: "frames 12 and 40", "frames 0, 1, 2 and 95 more"."""
    shown = [str(int(f)) for f in frames[:most]]
    if len(frames) > most:
        return f"frames {', '.join(shown)} and {len(frames) - most} more"
    if len(shown) == 1:
        return f"frame {shown[0]}"
    return f"frames {', '.join(shown[:-1])} and {shown[-1]}"


def looks_transposed(features: FloatArray) -> bool:
    """Whether columns rather than rows are consecutive in time.

    Consecutive frames are more alike than distant ones. The mean squared step, relative to the
    variance, is compared between rows and columns; of fewer than 16 rows, only that of the columns
    counts. Means are removed first, so that a common offset per feature (or per frame) has no
    effect.
    """
    n, dims = features.shape
    if 1 < n < 16:
        # Too few rows to compare with. If there are many smooth columns, the rows are probably
        # sensors.
        return dims >= 160 and _roughness(features.T) < 0.25
    if min(n, dims) < 16 or dims < 1.5 * n:
        return False
    rough = _roughness(features)
    return rough > 0.25 and _roughness(features.T) < 0.5 * rough


def _roughness(x: FloatArray) -> float:
    """Return the mean squared step between rows over that of random ones (0: smooth)."""
    ratios: list[float] = []
    for some in row_blocks(x.T):
        columns = np.ascontiguousarray(x[:, some].T)
        variances = columns.var(axis=1)
        steps = np.diff(columns, axis=1)
        squares = np.einsum("ij,ij->i", steps, steps) / steps.shape[1]
        ratios += (squares[variances > 0] / variances[variances > 0]).tolist()
    return float(np.mean(ratios)) / 2.0 if ratios else 1.0


def check_matrix(name: str, x: Any) -> Array:
    """Return a NumPy or PyTorch matrix of finite floating-point numbers, or raise an error."""
    kind = type(x).__name__
    if not (isinstance(x, np.ndarray) or is_torch_array(x)):
        raise TypeError(
            f"{name} has type {kind}; pass a matrix as a NumPy array or a PyTorch tensor"
        )
    if x.ndim != 2:
        raise ValueError(f"{name} has shape {tuple(x.shape)}; pass a matrix")
    xp = array_namespace(x)
    if xp.isdtype(x.dtype, ("bool", "integral")):
        return double(x)
    if not xp.isdtype(x.dtype, "real floating"):
        raise TypeError(f"{name} has values of type {x.dtype}; pass real numbers")
    # A finite sum has finite terms, and is the fastest to compute.
    with np.errstate(over="ignore", invalid="ignore"):
        is_finite = np.isfinite(float(xp.sum(x)))
    if not is_finite:
        _check_finite(name, to_numpy(x))
    return x


def _check_finite(name: str, x: FloatArray) -> None:
    frames = np.flatnonzero(~np.isfinite(x).all(axis=1))
    if len(frames):
        hold = "holds" if len(frames) == 1 else "hold"
        raise ValueError(
            f"{name}: {list_frames(frames)} {hold} NaN or infinity; drop or replace such values"
        )


def show_value(value: Any, most: int = 60) -> str:
    """Format a value for a message: one line, however large the value is."""
    try:
        text = " ".join(repr(value).split())
    except ValueError:  # Python does not print integers of more than 4,300 digits
        return f"a number of {int(value).bit_length()} bits"
    return text if len(text) <= most else f"{text[: most - 3]}..."


def check_choice(name: str, value: Any, allowed: Sequence[str]) -> None:
    """Raise ValueError for anything except one of the allowed strings."""
    if not isinstance(value, str) or value not in allowed:
        words = ", ".join(f'"{a}"' for a in allowed)
        raise ValueError(f"{name}={show_value(value)} is not known; use one of {words}")


def check_flag(name: str, value: Any) -> None:
    """Raise ValueError for anything except True and False."""
    if not isinstance(value, (bool, np.bool_)):
        raise ValueError(f"{name}={show_value(value)}; it must be True or False")


def check_seed(value: Any, *, largest: float = 2**32 - 1) -> None:
    """Raise ValueError if random_state is not a seed.

    Scikit-learn's have 32 bits, NumPy's may be larger.
    """
    if value is not None:
        check_between("random_state", value, 0, largest, whole=True)


def is_whole(value: Any) -> bool:
    """Return whether a value is a whole number."""
    # np.timedelta64 is an np.signedinteger.
    return isinstance(value, (int, np.integer)) and not isinstance(value, (bool, np.timedelta64))


def check_between(
    name: str,
    value: Any,
    low: float,
    high: float = np.inf,
    *,
    whole: bool = False,
    above: bool = False,
) -> None:
    """Raise ValueError for a number outside [low, high], not above low, or not whole."""
    kind = "a whole number" if whole else "a number"
    value = float(value) if isinstance(value, np.floating) else value
    right = is_whole(value) or (not whole and isinstance(value, float))
    # An integer may have any size, but a real parameter must fit into double precision.
    inside = right and low <= value <= high and (whole or abs(value) <= LARGEST_NUMBER)
    if not inside or (above and value == low):
        side = f"above {low:g}" if above else f"of at least {low:g}"
        top = "" if high >= LARGEST_COUNT else f" and at most {high:g}"
        raise ValueError(f"{name}={show_value(value)}; it must be {kind} {side}{top}")


def check_duration(name: str, value: Duration | None, *, has_times: bool) -> float | None:
    """Return a duration as a number; raise ValueError if it is not one or has no meaning.

    Parameters
    ----------
    name : str
        Of the parameter, for the message.
    value : Duration or None
        A number is returned as it is.
    has_times : bool
        Whether the frames have times; without them, durations are in frames.
    """
    if isinstance(value, str):
        parts = re.findall(r"(\d+(?:\.\d+)?)\s*([a-z]+)\s*", value)
        is_whole_text = "".join(value.split()) == "".join(number + unit for number, unit in parts)
        if not parts or not is_whole_text or not {unit for _, unit in parts} <= set(UNITS):
            raise ValueError(
                f"{name}={show_value(value)} is not a duration; write it as 45s, 30min, 1h 30min or 2d"
            )
        seconds = sum(float(number) * UNITS[unit] for number, unit in parts)
    elif isinstance(value, (timedelta, np.timedelta64)):
        seconds = _seconds_of(value)[0]
    else:
        return value
    if not has_times:
        raise ValueError(
            f"{name}={show_value(value)} needs times, and these frames have none; give it in"
            " frames, or pass times= to fit"
        )
    return seconds


@dataclass(frozen=True)
class Times:
    """Times of frames.

    Attributes
    ----------
    seconds : ndarray of shape (n_frames,)
        In double precision, finite and nondecreasing. Dates count from 1970; those with a time
        zone are converted to UTC.
    kind : {"numbers", "durations", "dates", "dates with a time zone"}
        How they were given.
    """

    seconds: FloatArray
    kind: str

    @property
    def clock(self) -> Literal["wall"] | None:
        """Return "wall" for dates, or seconds of at least 1e8 (in 1973), and None for others."""
        if self.kind.startswith("dates"):
            return "wall"
        return "wall" if self.kind == "numbers" and self.seconds[0] >= EARLIEST_DATE else None

    def followed_by(self, later: Times) -> Times:
        """Join later times; raise ValueError if they are of another kind, or not later."""
        _check_same_kind(self.kind, later.kind)
        if self.clock != later.clock:
            raise ValueError(f"times mix seconds with and without a date; {TIMES_WANTED}")
        if later.seconds[0] < self.seconds[-1]:
            n_frames = len(self.seconds)
            raise ValueError(f"time goes backwards at frame {n_frames}; put the frames in order")
        return Times(np.concatenate([self.seconds, later.seconds]), self.kind)


def check_times(times: Any, n_frames: int) -> Times | None:
    """Return times in seconds, one per frame and nondecreasing, or raise ValueError.

    Parameters
    ----------
    times : array-like or None
        Seconds, durations or dates, of NumPy, Python or pandas.
    n_frames : int
        Length of the sequence.
    """
    if times is None:
        return None
    seconds, kind = _as_seconds(times)
    if seconds.shape != (n_frames,):
        raise ValueError(
            f"times have shape {seconds.shape} for {n_frames} frames; pass one time per frame"
        )
    wrong = np.flatnonzero(~np.isfinite(seconds))
    if len(wrong):
        raise ValueError(
            f"{list_frames(wrong)} {'has' if len(wrong) == 1 else 'have'} no time; provide all"
            " times or none"
        )
    far = np.flatnonzero(np.abs(seconds) > LATEST)
    if len(far):
        raise ValueError(
            f"{list_frames(far)}: {seconds[far[0]]:g} seconds is not a valid time; pass seconds"
        )
    back = np.flatnonzero(np.diff(seconds) < 0)
    if len(back):
        raise ValueError(f"time goes backwards at {list_frames(back + 1)}; put the frames in order")
    _check_resolution(np.asarray(unmask(times)).dtype, seconds)
    return Times(seconds, kind)


def _as_seconds(times: Any) -> tuple[FloatArray, str]:
    """Return times in seconds, NaN where one is missing, and their kind."""
    try:
        values = np.asarray(unmask(times))
    except (TypeError, ValueError):
        raise ValueError(f"times are not a list of single values; {TIMES_WANTED}") from None
    hidden: Any = np.ma.getmaskarray(times) if isinstance(times, np.ma.MaskedArray) else False

    kind = values.dtype.kind
    if kind == "O":
        known = np.asarray([not _is_missing(value) for value in values.ravel()], dtype=bool)
        known = known.reshape(values.shape) & ~np.asarray(hidden)
        found = [_seconds_of(value) for value in values[known]]
        kinds = [kind for _, kind in found]
        _check_same_kind(*kinds)
        seconds = np.full(values.shape, np.nan)
        seconds[known] = [time for time, _ in found]
        return seconds, kinds[0] if kinds else "numbers"
    if kind in "iuf":
        return np.array(values, dtype=np.float64), "numbers"
    if kind not in "mM" or np.datetime_data(values.dtype)[0] == "generic":
        raise ValueError(f"times have type {values.dtype}; {TIMES_WANTED}")

    try:
        microseconds = values.astype(f"{kind}8[us]")
    except OverflowError:
        raise ValueError(
            f"times of type {values.dtype} are too far from 1970; {TIMES_WANTED}"
        ) from None
    seconds = np.where(np.isnat(microseconds) | hidden, np.nan, microseconds.astype(np.int64) / 1e6)
    return seconds, "dates" if kind == "M" else "durations"


def _is_missing(value: Any) -> bool:
    """Return whether a value is None, NaN, NaT or pandas' NA, which cannot be compared."""
    if value is None or value is np.ma.masked or type(value).__name__ == "NAType":
        return True
    return bool(np.all(value != value))


def _seconds_of(value: Any) -> tuple[float, str]:
    """Return an object in seconds, and its kind.

    NumPy's own conversion reads numbers as microseconds and strings as years.
    """
    as_date: Any = np.datetime64  # its type hints cover fewer types than it accepts
    as_duration: Any = np.timedelta64
    if hasattr(value, "to_timestamp"):  # a pandas Period: use its start
        value = value.to_timestamp()
    try:
        # Before numbers: NumPy's durations are also integers.
        if isinstance(value, (timedelta, np.timedelta64)):
            return as_duration(value, "us").astype(np.int64) / 1e6, "durations"
        if not isinstance(value, bool) and isinstance(value, (Real, Decimal)):
            return float(value), "numbers"
        if isinstance(value, datetime) and value.tzinfo is not None:
            utc = value.astimezone(UTC).replace(tzinfo=None)
            return as_date(utc, "us").astype(np.int64) / 1e6, "dates with a time zone"
        if isinstance(value, (date, np.datetime64)):
            return as_date(value, "us").astype(np.int64) / 1e6, "dates"
    except (OverflowError, TypeError, ValueError):
        pass
    raise ValueError(
        f"times contain {show_value(value, 40)} of type {type(value).__name__}; {TIMES_WANTED}"
    )


def _check_same_kind(*kinds: str) -> None:
    if len(set(kinds)) > 1:
        raise ValueError(f"times mix {' and '.join(sorted(set(kinds)))}; {TIMES_WANTED}")


def _check_resolution(dtype: np.dtype[Any], seconds: FloatArray) -> None:
    """Raise ValueError if numbers of this type are too coarse for these times."""
    if dtype.kind != "f" or dtype.itemsize >= 8 or len(seconds) < 2:
        return
    largest = float(np.abs(seconds).max())
    coarse = float(np.spacing(dtype.type(largest)))
    steps = np.diff(seconds)
    steps = steps[steps > 0]
    # If all times are equal, the true steps are unknown; a second is a usual one.
    if coarse >= (float(np.median(steps)) if len(steps) else 1.0):
        raise ValueError(
            f"times of type {dtype} are too coarse: near {largest:g} s they are multiples of"
            f" {coarse:g} s; pass float64"
        )


def check_rows(x: Array) -> FloatArray:
    """Return vectors as float64, one row per frame, or raise ValueError."""
    try:
        values = to_numpy(x).astype(np.float64)
    except (OverflowError, TypeError, ValueError):
        values = np.zeros(0)
    if values.ndim != 2:
        raise ValueError(f"x={show_value(x)}; pass a matrix of numbers, one row per frame")
    _check_finite("x", values)
    return values
