"""Checks that return their input, or say which frames are at fault."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any, Literal, TypeAlias

import numpy as np

from dayline.arrays import FloatArray, IntArray

__all__ = [
    "Missing",
    "check_between",
    "check_choice",
    "check_features",
    "check_times",
    "list_frames",
    "looks_transposed",
]

Missing: TypeAlias = Literal["raise", "interpolate"]

LARGEST = 1e100
"""Beyond this, squares and sums of squares leave the range of double precision."""

LATEST = 1e12
"""Beyond this, a time in seconds is no date; times in nanoseconds are."""


def check_features(x: Any, *, missing: Missing = "raise") -> FloatArray:
    """Return features as a new float64 matrix, or say what is wrong with them.

    Parameters
    ----------
    x : array-like of shape (n_frames, n_features)
        Numbers, one row per frame. Never modified.
    missing : {"raise", "interpolate"}
        What to do about NaN and infinity: refuse and name the frames, or fill each gap in a column from the
        frames before and after it.
    """
    check_choice("missing", missing, ("raise", "interpolate"))
    features = np.asarray(x)
    if features.dtype == object:
        raise ValueError("features are an object array; give a matrix of numbers")
    if features.ndim != 2:
        raise ValueError(f"features have shape {features.shape}; give a matrix with one row per frame")
    if 0 in features.shape:
        raise ValueError(f"features have shape {features.shape}; at least one frame and one column are needed")
    if not (np.issubdtype(features.dtype, np.number) or features.dtype == bool):
        raise ValueError(f"features are of type {features.dtype}; give numbers")
    if np.iscomplexobj(features):
        raise ValueError("features are complex numbers; give real ones")
    features = np.array(features, dtype=np.float64, order="C")
    bad = ~np.isfinite(features)
    if bad.any():
        features = _repair(features, bad, missing)
    if np.abs(features).max() > LARGEST:
        frame = int(np.argmax(np.abs(features).max(axis=1)))
        raise ValueError(f"frame {frame} holds a value above {LARGEST:g}; rescale the features")
    if looks_transposed(features):
        warnings.warn(
            f"{features.shape[0]} rows and {features.shape[1]} columns: the columns follow each other like frames, "
            "the rows do not; pass X.T (--transpose) if columns are frames",
            stacklevel=2,
        )
    return features


def _repair(features: FloatArray, bad: Any, missing: Missing) -> FloatArray:
    frames = np.flatnonzero(bad.any(axis=1))
    if missing == "raise":
        raise ValueError(
            f"{list_frames(frames)} {'holds' if len(frames) == 1 else 'hold'} NaN or infinity; "
            'drop them or pass missing="interpolate" (--interpolate)'
        )
    lost = np.flatnonzero(bad.all(axis=0))
    if len(lost):
        raise ValueError(f"column {lost[0]} holds no number at all; drop it")
    t = np.arange(len(features))
    for column in np.flatnonzero(bad.any(axis=0)):
        good = ~bad[:, column]
        features[:, column] = np.interp(t, t[good], features[good, column])
    return features


def list_frames(frames: IntArray | Sequence[int], most: int = 5) -> str:
    """Name frames in a sentence: "frames 12, 13 and 40", "frames 0, 1, 2, 3, 4 and 95 more"."""
    shown = [str(int(f)) for f in frames[:most]]
    if len(frames) > most:
        return f"frames {', '.join(shown)} and {len(frames) - most} more"
    if len(shown) == 1:
        return f"frame {shown[0]}"
    return f"frames {', '.join(shown[:-1])} and {shown[-1]}"


def looks_transposed(features: FloatArray) -> bool:
    """Tell whether columns follow each other in time and rows do not.

    Frames that follow each other are more alike than frames far apart. The share of the variance that a step to
    the next one leaves unexplained is compared for rows and columns, each after the other direction's mean is
    taken out, so that a common offset per feature (or per frame) says nothing.
    """
    n, dims = features.shape
    if min(n, dims) < 16 or dims < 1.5 * n:
        return False
    return _roughness(features.T) < 0.5 * _roughness(features) and _roughness(features) > 0.25


def _roughness(x: FloatArray) -> float:
    """Mean squared step between consecutive rows over that of random rows (1: no order, 0: smooth)."""
    spread = x.std(axis=0)
    kept = x[:, spread > 0]
    if kept.shape[1] == 0:
        return 1.0
    z = (kept - kept.mean(axis=0)) / spread[spread > 0]
    return float(np.mean(np.diff(z, axis=0) ** 2) / 2.0)


def check_choice(name: str, value: Any, allowed: Sequence[str]) -> None:
    """Refuse a word that is not among the allowed ones."""
    if value not in allowed:
        words = ", ".join(f'"{a}"' for a in allowed)
        raise ValueError(f"{name}={value!r} is not known; use one of {words}")


def check_between(
    name: str, value: Any, low: float, high: float = np.inf, *, whole: bool = False, above: bool = False
) -> None:
    """Refuse a number outside [low, high] (or not above low), or one that is not whole."""
    kind = "a whole number" if whole else "a number"
    right = isinstance(value, (int, np.integer)) or (not whole and isinstance(value, (float, np.floating)))
    inside = right and not isinstance(value, bool) and low <= value <= high
    endless = isinstance(value, (float, np.floating)) and not np.isfinite(value)
    if not inside or endless or (above and value == low):
        side = f"above {low:g}" if above else f"of at least {low:g}"
        top = "" if np.isinf(high) else f" and at most {high:g}"
        raise ValueError(f"{name}={value!r}; it must be {kind} {side}{top}")


def check_times(times: Any, n_frames: int) -> FloatArray | None:
    """Return times as float64 seconds, one per frame and never backwards, or say what is wrong with them."""
    if times is None:
        return None
    seconds = _as_seconds(times)
    if seconds.shape != (n_frames,):
        raise ValueError(f"times have shape {seconds.shape} for {n_frames} frames; give one time per frame")
    wrong = np.flatnonzero(~np.isfinite(seconds))
    if len(wrong):
        raise ValueError(f"{list_frames(wrong)} {'has' if len(wrong) == 1 else 'have'} no time; give all or none")
    far = np.flatnonzero(np.abs(seconds) > LATEST)
    if len(far):
        raise ValueError(f"{list_frames(far)}: no time can be {seconds[far[0]]:g} seconds; give seconds")
    back = np.flatnonzero(np.diff(seconds) < 0)
    if len(back):
        raise ValueError(f"time runs backwards at {list_frames(back + 1)}; put the frames in order")
    return seconds


def _as_seconds(times: Any) -> FloatArray:
    """Turn dates and durations into seconds; numbers are seconds already."""
    values = np.asarray(times)
    try:
        if values.dtype == object:  # dates of Python, or of pandas with a time zone
            values = values.astype("M8[us]")
        if values.dtype.kind not in "mM":
            return np.array(values, dtype=np.float64)
        if np.datetime_data(values.dtype)[0] == "generic":
            raise TypeError
        microseconds = values.astype(f"{values.dtype.kind}8[us]")
    except (TypeError, ValueError):
        raise ValueError(f"times are of type {values.dtype}; give seconds, or dates as datetime64") from None
    return np.where(np.isnat(microseconds), np.nan, microseconds.astype(np.int64) / 1e6)
