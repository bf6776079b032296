"""What a result depends on: the options of a run, and the method that finds the events."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Literal, Protocol

from dayline.album.calendars import read_calendar
from dayline.album.export.formats import check_formats
from dayline.arrays import Array, IntArray
from dayline.decision.decide import Frames
from dayline.events import Segmentation
from dayline.features.word_vectors import has_word_vectors, sentence_vectors
from dayline.media.faces import face_blurrer
from dayline.media.talk import read_talk
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
    cuts : Path or None
        Where the shots of a video begin (`dayline.media.cut_lists`); found in its frames if None.
    shots : bool
        Whether the exports of a video have its shots rather than its scenes.
    thumbnails, blur_faces, write_chapters, private : bool
        See `write_result`.
    talk : Path or None
        Transcript of a video; by default the subtitles beside it, if there are any.
    no_talk : bool
        Leave out what is said in videos, also if there are subtitles beside them.
    word_vectors : bool or None
        Compare what is said with word vectors too (`dayline.features.word_vectors`); None does if
        they are installed.
    titles : bool
        Give events titles from what is said in them (`dayline.album.titles`).
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
    cuts: Path | None = None
    shots: bool = False
    thumbnails: bool = True
    blur_faces: bool = False
    write_chapters: bool = False
    private: bool = False
    key: str | None = None
    transpose: bool = False
    offsets: tuple[tuple[str, float], ...] = ()
    timezone: str | None = None
    calendars: tuple[Path, ...] = ()
    keep_screenshots: bool = False
    talk: Path | None = None
    no_talk: bool = False
    word_vectors: bool | None = None
    titles: bool = True

    @property
    def with_word_vectors(self) -> bool:
        """Whether word vectors are used: as asked for, or else if they are installed."""
        return has_word_vectors() if self.word_vectors is None else self.word_vectors

    def __post_init__(self) -> None:
        """Raise ValueError if a setting is invalid."""
        if self.segmenter is not None:
            self.segmenter.check_parameters()
        if self.order not in ("time", "name"):
            raise ValueError(f'order "{self.order}" is not known; use "time" or "name"')
        for name in ("pause_factor", "jump_km"):
            if not (value := getattr(self, name)) > 0:
                raise ValueError(f"{name}={value:g}; it must be a number above 0")
        if not self.pause_seconds >= 0:
            raise ValueError(
                f"pause_seconds={self.pause_seconds:g}; it must be a number of at least 0"
            )


def check_settings(settings: Settings, *, pictures: bool = True) -> None:
    """Raise ValueError if a setting does not suit the source or needs a package that is missing.

    Parameters
    ----------
    settings : Settings
        What to check.
    pictures : bool
        Whether the sources may have pictures.
    """
    check_formats(settings.formats, shots=settings.shots)
    if settings.timezone is not None and pictures:
        from dayline.media.order import time_zone

        time_zone(settings.timezone)
    for path in settings.calendars:
        read_calendar(path)
    if settings.talk is not None:
        read_talk(settings.talk)
    if settings.word_vectors:
        sentence_vectors(())
    if settings.blur_faces and pictures:
        face_blurrer()


def described(settings: Settings) -> dict[str, Any]:
    """Return all that a result depends on by these settings, as JSON can hold it.

    Parameters
    ----------
    settings : Settings
        The settings; networks and calendars are known by size and time of change.
    """
    values = {field.name: getattr(settings, field.name) for field in fields(settings)}
    segmenter = values.pop("segmenter")
    parameters = {} if segmenter is None else segmenter.get_params(deep=True)
    # Nested estimators stand for themselves by their own parameters.
    values["segmenter"] = [type(segmenter).__name__, {k: repr(v) for k, v in parameters.items()}]
    values["network"] = file_state(Path(settings.model))
    values["calendars"] = [[str(path), *file_state(path)] for path in settings.calendars]
    return values


def file_state(path: Path) -> list[int]:
    """Return size and time of change of a file; an empty list if it cannot be read.

    Parameters
    ----------
    path : Path
        The file.
    """
    try:
        about = path.stat()
    except OSError:
        return []  # reading it reports the error
    return [about.st_size, about.st_mtime_ns]
