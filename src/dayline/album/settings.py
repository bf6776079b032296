"""What a result depends on: the options of a run, and the method that finds the events."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, Protocol

import numpy as np
from sklearn.base import clone

from dayline.album.page.graph_picture import Drawable
from dayline.arrays import Array, FloatArray, IntArray, to_numpy
from dayline.decision.decide import Frames
from dayline.estimators import EventSegmenter
from dayline.events import Segmentation
from dayline.method.linear import LinearGraph
from dayline.progress import OnStep

TYPICAL_EVENT = {"wall": 16 * 60.0, "media": 43.0}
"""Seconds, a weak prior (`typical_duration`). Photos: the EDUB-Seg days have 28 boundaries per 937
photos, one every 30 s. Films: the place changes 169 times in the 7,237 s of the studyforrest
annotations."""

REQUESTS = ("n_events", "min_duration", "expected_duration", "level")
"""Parameters that change the number or the length of events."""


class Segmenter(Protocol):
    """What `EventSegmenter` and `BaselineSegmenter` have in common."""

    @property
    def communities_(self) -> IntArray:
        """Recurring context of every frame."""

    @property
    def graph_(self) -> Array | None:
        """The learned graph, or None if the method learns none."""

    def check_parameters(self) -> None:
        """Raise ValueError if a parameter is invalid."""

    def segment(
        self,
        X: Any,
        *,
        times: Any = None,
        must: Frames = (),
        must_not: Frames = (),
        on_step: OnStep | None = None,
    ) -> Segmentation:
        """Find the events of one sequence."""


@dataclass(frozen=True)
class Settings:
    """Everything a result depends on besides its source and a person's corrections.

    Attributes
    ----------
    method : str
        Name of the method, for events.json.
    segmenter : EventSegmenter or BaselineSegmenter, optional
        The method itself; `EventSegmenter()` if None.
    formats : tuple of str
        Exports to write (`dayline.album.export.formats.FORMATS`).
    order, every, model, pause_seconds, pause_factor, jump_km, timezone
        See `segment_source`.
    offsets : tuple of (str, float)
        Seconds to add to the times of a camera, with the name of its folder or its model.
    thumbnails, blur_faces, write_chapters, share : bool
        See `write_result`.
    key, transpose
        See `dayline.features.tables.read_features`.
    """

    method: str = "default"
    segmenter: Segmenter | None = None
    formats: tuple[str, ...] = ()
    order: Literal["time", "name"] = "time"
    every: float | None = None
    model: str = "lite0"
    pause_seconds: float = 300.0
    pause_factor: float = 10.0
    jump_km: float = 2.0
    thumbnails: bool = True
    blur_faces: bool = False
    write_chapters: bool = False
    share: bool = False
    key: str | None = None
    transpose: bool = False
    offsets: tuple[tuple[str, float], ...] = ()
    timezone: str | None = None

    def __post_init__(self) -> None:
        """Raise ValueError if a setting is invalid."""
        if self.segmenter is not None:
            self.segmenter.check_parameters()
        if self.order not in ("time", "name"):
            raise ValueError(f'order "{self.order}" is not known; use "time" or "name"')
        if not self.pause_factor > 0 or not self.pause_seconds >= 0:
            raise ValueError(
                f"pauses need factor > 0 and at_least >= 0 seconds, not {self.pause_factor} and"
                f" {self.pause_seconds}"
            )
        if not self.jump_km > 0:
            raise ValueError(f"a jump needs more than 0 kilometers, not {self.jump_km:g}")


def copied_segmenter(segmenter: Segmenter | None, clock: str | None = None) -> Segmenter:
    """Return an unfitted copy of a method, with the typical duration of events in photos or a film.

    Parameters
    ----------
    segmenter : EventSegmenter or BaselineSegmenter, optional
        `EventSegmenter()` if None. A typical duration that is set already stays.
    clock : {"wall", "media"}, optional
        See `FrameSequence`; None if the times cannot be used.
    """
    copy: Segmenter = EventSegmenter() if segmenter is None else clone(segmenter)
    if clock is None or not isinstance(copy, EventSegmenter):
        return copy
    if copy.detector == "partition" and copy.typical_duration is None:
        copy.set_params(typical_duration=TYPICAL_EVENT[clock])
    return copy


def wants_durations(segmenter: Segmenter | None) -> bool:
    """Return whether a parameter of the method is a duration."""
    return isinstance(segmenter, EventSegmenter) and (
        segmenter.min_duration is not None or segmenter.expected_duration is not None
    )


def requests_of(segmenter: Segmenter | None) -> str:
    """Return the requests about number and length of the events that are not the usual ones."""
    if not isinstance(segmenter, EventSegmenter):
        return ""
    usual = EventSegmenter()
    changed = [name for name in REQUESTS if getattr(segmenter, name) != getattr(usual, name)]
    return " and ".join(f"{name}={getattr(segmenter, name)}" for name in changed)


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


def learned_graph(
    segmenter: Segmenter, of_frame: IntArray | None = None
) -> FloatArray | Drawable | None:
    """Return the graph that a method learned, on the host; None if it learns none.

    Parameters
    ----------
    segmenter : EventSegmenter or BaselineSegmenter
        The fitted method.
    of_frame : ndarray of int, optional
        Row of every frame, if the method saw bursts as one.
    """
    graph = segmenter.graph_
    if graph is None or of_frame is None:
        return graph if graph is None or isinstance(graph, LinearGraph) else to_numpy(graph)
    if isinstance(graph, LinearGraph):
        return _GraphOfAllFrames(graph, of_frame)
    matrix: FloatArray = to_numpy(graph)
    return np.asarray(matrix[np.ix_(of_frame, of_frame)])
