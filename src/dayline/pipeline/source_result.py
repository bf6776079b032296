"""The result of a source, before it is written."""

from __future__ import annotations

from dataclasses import dataclass, replace

from dayline.arrays import Array
from dayline.events import Segmentation
from dayline.features import FrameKeys
from dayline.frames import FrameSequence
from dayline.pipeline.event_features import EventFeatures
from dayline.pipeline.given_pictures import GivenPictures
from dayline.report import Drawable

__all__ = ["SourceResult"]


@dataclass(frozen=True)
class SourceResult:
    """The events of a source, and what else its page shows.

    Attributes
    ----------
    segmentation : Segmentation
        The events.
    communities : tuple of int or None
        Community of every frame.
    graph : ndarray of shape (n_frames, n_frames), Drawable or None
        The learnt graph; None for baselines.
    sequence : FrameSequence or None
        The frames; None for a feature file.
    keys : FrameKeys or None
        Identifies the frames across runs.
    n_reused : int
        Number of frames whose features an earlier run had stored.
    corrections : Segmentation or None
        A person's corrections, already applied to the events; `write_result` keeps them for the next run.
    pictures : GivenPictures or None
        Pictures of a feature file's frames.
    event_features : EventFeatures or None
        What the events look like, to compare them with those of other days; None for a feature file.
    """

    segmentation: Segmentation
    communities: tuple[int, ...] | None
    graph: Array | Drawable | None
    sequence: FrameSequence | None = None
    keys: FrameKeys | None = None
    n_reused: int = 0
    corrections: Segmentation | None = None
    pictures: GivenPictures | None = None
    event_features: EventFeatures | None = None

    def named(self, source: str) -> SourceResult:
        """Return a copy with the name of the source."""
        return replace(self, segmentation=self.segmentation.about(source=source))

    def made_by(self, method: str) -> SourceResult:
        """Return a copy with the name of the method."""
        features = self.segmentation.method
        return replace(
            self, segmentation=self.segmentation.about(method=f"{method}, {features}" if features else method)
        )
