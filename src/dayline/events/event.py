"""What a segmentation consists of: events, named places, nested levels and skipped files."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

__all__ = ["Event", "NestedLevel", "Place", "Reason", "SkippedFile"]

Reason = Literal["start", "looks", "pause", "both", "asked"]


@dataclass(frozen=True)
class Event:
    """The frames start .. stop-1 between two boundaries.

    Attributes
    ----------
    start, stop : int
        First frame of the event, and first frame after it.
    community : int or None
        Its recurring context; events of the same context share the number.
    key_frame : int or None
        The most representative frame.
    start_time, stop_time : float or None
        Time of its first and last frame, in seconds (see `Segmentation.clock`). In a video of which only some frames
        were sampled, a hard cut is exact: these are the first frame after the cut and the last one before the next.
    confidence : float or None
        Probability that the boundary at its start is a true one, in [0, 1]; None for the first event.
    reason : str or None
        Why it starts: "start" (of the sequence), "looks" (the frames change), "pause", "both" or "asked" (set by
        a person).
    name : str or None
        Name given by a person.
    location : tuple of two floats or None
        Latitude and longitude in degrees, north and east positive.
    key_chosen : bool
        Whether a person chose the key frame.
    """

    start: int
    stop: int
    community: int | None = None
    key_frame: int | None = None
    start_time: float | None = None
    stop_time: float | None = None
    confidence: float | None = None
    reason: Reason | None = None
    name: str | None = None
    location: tuple[float, float] | None = None
    key_chosen: bool = False

    @property
    def n_frames(self) -> int:
        """Number of frames in the event."""
        return self.stop - self.start


@dataclass(frozen=True)
class Place:
    """A recurring context that a person named, or that was recognized on another day.

    Attributes
    ----------
    community : int
        The context.
    name : str or None
        Name given by a person, such as "kitchen".
    id : str or None
        Identifies the same place on other days (`places.json`).
    """

    community: int
    name: str | None = None
    id: str | None = None


@dataclass(frozen=True)
class NestedLevel:
    """The boundaries of a coarser or finer segmentation of the same frames.

    Attributes
    ----------
    level : int
        0 is the decision itself; negative levels are coarser, positive ones finer.
    boundaries : tuple of int
        First frame of every event except the first. Every boundary of a coarser level is among them.
    confidences : tuple of float
        Probability of each boundary.
    """

    level: int
    boundaries: tuple[int, ...]
    confidences: tuple[float, ...]


@dataclass(frozen=True)
class SkippedFile:
    """A file of the source that could not be used, and why."""

    name: str
    why: str
