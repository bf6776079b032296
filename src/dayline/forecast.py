"""How long one sequence takes, and how much memory it needs.

Below `LINEAR_FROM` frames, both are a x n_frames x n_frames + b x n_frames x n_features + c x
n_frames; from there on, the square term is gone. The seconds are scaled to this machine by two
small fits: these alone do not show the square term, which matters only for sequences that take too
long to try. `benchmarks/speed/forecast.py` compares the forecast with what fits take.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import platform
import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from dayline import __version__
from dayline.features.cache import cache_folder, kept_in_cache
from dayline.method.dge import LINEAR_FROM as EMBEDDING_LINEAR_FROM


@dataclass(frozen=True)
class _Line:
    """Cost per pair of frames, per value of the features and per frame."""

    pair: float
    value: float
    frame: float

    def at(self, n_frames: int, n_features: int) -> float:
        return (
            self.pair * n_frames * n_frames
            + self.value * n_frames * n_features
            + self.frame * n_frames
        )


LINEAR_FROM: Mapping[str, int] = {"default": EMBEDDING_LINEAR_FROM, "fast": 0}
"""From this number of frames on, a method needs no matrix of frames x frames; methods not listed always do."""

DENSE_SECONDS: Mapping[str, _Line] = {
    "default": _Line(pair=8e-7, value=4e-7, frame=1e-4),
    "paper": _Line(pair=1.2e-6, value=4e-7, frame=2e-4),
    "authors": _Line(pair=1.1e-6, value=1e-6, frame=1e-4),
}
LINEAR_SECONDS: Mapping[str, _Line] = {
    "default": _Line(pair=0.0, value=3e-7, frame=5e-4),
    "fast": _Line(pair=0.0, value=2e-7, frame=5e-5),
}
"""On one core of the reference machine (a 2.1 GHz server), for recorded sequences, below and from `LINEAR_FROM`."""

DENSE_BYTES = _Line(pair=80.0, value=40.0, frame=10_000.0)
LINEAR_BYTES = _Line(pair=0.0, value=32.0, frame=15_000.0)
"""Dense: ten matrices of frames x frames, and five copies of the features, in double precision."""

PROCESS_BYTES = 250_000_000
"""Memory of a process that has loaded dayline and its libraries."""

TRIED = ((256, 64), (512, 64))
TRIED_SECONDS = 0.45
"""Shapes of the fits of made features that scale the seconds, and what they take on the reference machine."""

SHORT_WORK = 5.0
"""Seconds; a forecast below is not worth the fits, which take about one second."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Forecast:
    """What one sequence will probably need.

    Attributes
    ----------
    seconds : float or None
        On one core, without computing features; None for baselines, whose time is not known.
    bytes : int
        Memory on top of a process that has loaded dayline.
    """

    seconds: float | None
    bytes: int


def forecast(n_frames: int, n_features: int, method: str = "default") -> Forecast:
    """Estimate the time and memory to segment one sequence.

    The first forecast of long work runs two small fits of made features and keeps what they took in
    the user's cache folder, for this version of dayline and this machine.

    Parameters
    ----------
    n_frames, n_features : int
        Shape of the sequence.
    method : str
        Name of the method. Baselines are given the memory of dense matrices.
    """
    is_linear = method in LINEAR_FROM and n_frames >= LINEAR_FROM[method]
    line = (LINEAR_SECONDS if is_linear else DENSE_SECONDS).get(method)
    seconds = None if line is None else line.at(n_frames, n_features)
    if seconds is not None and seconds > SHORT_WORK:
        seconds *= _slowness()
    return Forecast(
        seconds, int((LINEAR_BYTES if is_linear else DENSE_BYTES).at(n_frames, n_features))
    )


def needed_memory(expected: Forecast) -> int:
    """Return the memory of a whole process that segments such a sequence, in bytes."""
    return expected.bytes + PROCESS_BYTES


@cache
def _slowness() -> float:
    """Return how many times as long this machine takes as the reference machine."""

    def measured() -> bytes:
        return json.dumps({"slowness": _measured_slowness()}).encode()

    try:
        folder = cache_folder()
    except ModuleNotFoundError:
        # The base install does not know the user's cache folder, so every process measures.
        return _measured_slowness()
    content = kept_in_cache(f"forecast-{__version__}-{_machine()}.json", measured, folder=folder)
    try:
        return float(json.loads(content)["slowness"])
    except (ValueError, TypeError, KeyError) as error:
        _log.warning("the stored speed of this machine cannot be used (%s); measuring again", error)
        return _measured_slowness()


def _machine() -> str:
    """Identify this machine as far as it affects the time."""
    about = (
        platform.node(),
        platform.machine(),
        platform.processor(),
        os.cpu_count(),
        platform.python_version(),
    )
    return hashlib.sha256(repr(about).encode()).hexdigest()[:12]


def _measured_slowness() -> float:
    from threadpoolctl import threadpool_limits

    from dayline.estimators import EventSegmenter

    seconds = 0.0
    with threadpool_limits(1):
        EventSegmenter().fit(made_features(48, 16))  # loads libraries, which is not timed
        for shape in TRIED:
            features = made_features(*shape)
            begin = time.perf_counter()
            EventSegmenter().fit(features)
            seconds += time.perf_counter() - begin
    return seconds / TRIED_SECONDS


def made_features(n_frames: int, n_features: int) -> NDArray[np.float64]:
    """Make features for trials: noise around a centre that changes every 30 frames."""
    random = np.random.default_rng(0)
    centres = random.normal(size=(n_frames // 30 + 1, n_features))
    rows: NDArray[np.float64] = np.repeat(centres, 30, axis=0)[:n_frames]
    return rows + random.normal(scale=0.3, size=(n_frames, n_features))
