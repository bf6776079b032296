"""The method for one source: a copy of its own, its prior on durations, and the graph it learns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from sklearn.base import clone

from dayline.arrays import Array, FloatArray, IntArray, to_numpy
from dayline.decision.constraints import Frames
from dayline.decision.decide import DECISION_PARAMETERS
from dayline.estimators import EventSegmenter
from dayline.events import Segmentation
from dayline.method.linear_graph import LinearGraph
from dayline.progress import OnStep
from dayline.report import Drawable

__all__ = [
    "Segmenter",
    "copied_segmenter",
    "graph_of_frames",
    "learnt_graph",
    "requests_of",
    "wants_durations",
    "with_typical_duration",
]

REQUESTS = tuple(name for name in DECISION_PARAMETERS if name != "typical_duration")
"""Parameters that change the number or the length of events."""

TYPICAL_EVENT = {"wall": 16 * 60.0, "media": 43.0}
"""Seconds, a weak prior (`typical_duration`). Photos: the EDUB-Seg days have 28 boundaries per 937 photos, one every
30 s. Films: the place changes 169 times in the 7,237 s of the studyforrest annotations."""


class Segmenter(Protocol):
    """What `EventSegmenter` and `BaselineSegmenter` have in common."""

    @property
    def communities_(self) -> IntArray:
        """Recurring context of every frame."""

    @property
    def graph_(self) -> Array | None:
        """The learnt graph, or None if the method learns none."""

    def check_parameters(self) -> None:
        """Raise ValueError if a parameter is invalid."""

    def segment(
        self, X: Any, *, times: Any = None, must: Frames = (), must_not: Frames = (), on_step: OnStep | None = None
    ) -> Segmentation:
        """Find the events of one sequence."""


def copied_segmenter(segmenter: Segmenter | None) -> Segmenter:
    """Return an unfitted copy, or the default method if there is none."""
    copy: Segmenter = EventSegmenter() if segmenter is None else clone(segmenter)
    return copy


def learnt_graph(segmenter: Segmenter) -> FloatArray | LinearGraph | None:
    """Return the graph of the rows that the method was given, on the host; None if it learns none."""
    graph = segmenter.graph_
    return graph if graph is None or isinstance(graph, LinearGraph) else to_numpy(graph)


@dataclass(frozen=True)
class _GraphOfAllFrames:
    """The graph of bursts, drawn as one of all their frames."""

    graph: LinearGraph
    of_frame: IntArray

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.of_frame), len(self.of_frame)

    def picture(self, size: int) -> Array:
        return self.graph.picture(size, rows=self.of_frame)


def graph_of_frames(segmenter: Segmenter, of_frame: IntArray) -> FloatArray | Drawable | None:
    """Return the graph of all frames if the rows were bursts; `of_frame` is the row of every frame."""
    graph = learnt_graph(segmenter)
    if graph is None:
        return None
    return _GraphOfAllFrames(graph, of_frame) if isinstance(graph, LinearGraph) else graph[np.ix_(of_frame, of_frame)]


def wants_durations(segmenter: Segmenter) -> bool:
    """Return whether a parameter of the method is a duration."""
    return isinstance(segmenter, EventSegmenter) and (
        segmenter.min_duration is not None or segmenter.expected_duration is not None
    )


def requests_of(segmenter: Segmenter | None) -> str:
    """Return the requests about number and length of the events that are not the usual ones, for a message."""
    if not isinstance(segmenter, EventSegmenter):
        return ""
    usual = EventSegmenter()
    changed = [name for name in REQUESTS if getattr(segmenter, name) != getattr(usual, name)]
    return " and ".join(f"{name}={getattr(segmenter, name)}" for name in changed)


def with_typical_duration(segmenter: Segmenter, clock: str) -> Segmenter:
    """Set the typical duration of events in photos of a day or in a film, unless it is set already."""
    if not isinstance(segmenter, EventSegmenter):
        return segmenter
    if segmenter.detector == "partition" and segmenter.typical_duration is None:
        segmenter.set_params(typical_duration=TYPICAL_EVENT[clock])
    return segmenter
