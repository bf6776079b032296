"""What a result depends on: the options of a run, and the method that finds the events."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Protocol

from dayline.album.calendars import read_calendar
from dayline.album.export.formats import check_formats
from dayline.arrays import Array, IntArray
from dayline.decision.decide import Frames
from dayline.events import Segmentation
from dayline.media.faces import face_blurrer
from dayline.progress import OnStep


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
        breaks: Iterable[int] = (),
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
    order, every, model, pause_seconds, pause_factor, jump_km, timezone, keep_screenshots
        See `segment_source`.
    offsets : tuple of (str, float)
        Seconds to add to the times of a camera, with the name of its folder or its model.
    thumbnails, blur_faces, write_chapters, share : bool
        See `write_result`.
    calendars : tuple of Path
        Calendars whose entries are suggested as names (`dayline.album.calendars`).
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
    calendars: tuple[Path, ...] = ()
    keep_screenshots: bool = False

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


def check_settings(settings: Settings, *, pictures: bool = True) -> None:
    """Raise ValueError if a setting does not suit the source or needs a package that is missing.

    Parameters
    ----------
    settings : Settings
        What to check.
    pictures : bool
        Whether the sources may have pictures.
    """
    check_formats(settings.formats)
    if settings.timezone is not None and pictures:
        from dayline.media.order import time_zone

        time_zone(settings.timezone)
    for path in settings.calendars:
        read_calendar(path)
    if settings.blur_faces and pictures:
        face_blurrer()
