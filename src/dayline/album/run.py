"""From one source to its folder of results, whatever kind of source it is."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from dayline.album.earlier import (
    forget_corrections,
    note_unused_downloads,
    refuse_other_result,
    source_digests,
)
from dayline.album.export.formats import check_formats
from dayline.album.extraction import SourceResult, forget_read
from dayline.album.pictures import PictureFolder
from dayline.album.segment import Segmenter, row_digests, segment_source, segment_table
from dayline.album.write import Written, without_locations, write_result
from dayline.events import Segmentation
from dayline.features.tables import FeatureTable, read_features
from dayline.media.breaks import check_jumps, check_pauses
from dayline.media.faces import face_blurrer
from dayline.media.frame import TABLE_SUFFIXES, FrameSequence
from dayline.progress import OnStep
from dayline.result_folder import output_folder


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


def is_table(source: Path) -> bool:
    """Whether a source is a file of features, by its name."""
    return source.suffix.lower() in TABLE_SUFFIXES and not source.is_dir()


def check_settings(settings: Settings, *, pictures: bool = True) -> None:
    """Raise ValueError if a setting is invalid or needs a package that is missing, before any work is done.

    Parameters
    ----------
    settings : Settings
        What to check.
    pictures : bool
        Whether the sources may have pictures.
    """
    check_formats(settings.formats)
    if settings.segmenter is not None:
        settings.segmenter.check_parameters()
    check_pauses(settings.pause_factor, settings.pause_seconds)
    check_jumps(settings.jump_km)
    if settings.timezone is not None and pictures:
        from dayline.media.zones import time_zone

        time_zone(settings.timezone)
    if settings.blur_faces and pictures:
        face_blurrer()


def segment_and_write(
    source: Path | FeatureTable | FrameSequence,
    folder: Path | None,
    settings: Settings,
    *,
    name: str | None = None,
    corrections: Segmentation | None = None,
    forget: bool = False,
    on_step: OnStep | None = None,
) -> tuple[Segmentation, Written | None]:
    """Find the events of a source and write the result.

    Parameters
    ----------
    source : Path, FeatureTable or FrameSequence
        A folder of photos, a video, a feature file, features in memory, or photos already in order.
    folder : Path or None
        Where to write; None writes nothing.
    settings : Settings
        How to segment, and what to write.
    name : str, optional
        Name of features in memory.
    corrections : Segmentation, optional
        A result that a person corrected. If None, the corrections in `folder` are used.
    forget : bool
        Do not use the corrections in `folder`, in this run or a later one.
    on_step : callable, optional
        Called as on_step(what, done, total).

    Raises
    ------
    ExportError
        If some exports cannot be made from these events; page, JSON, table and all other exports
        are written.
    """
    used: Segmentation | Literal["kept"] | None = None if forget else corrections or "kept"
    if folder is not None and not forget:
        if isinstance(source, FrameSequence):
            refuse_other_result(folder, "recording", source.source.name, source.digests)
        elif isinstance(source, Path) and not is_table(source):
            name = source.resolve().name
            refuse_other_result(folder, "recording", name, source_digests(source))
    with nullcontext() if folder is None else output_folder(folder) as place:
        result = _found(source, place, settings, name, used, on_step).made_by(settings.method)
        if settings.share:
            result = without_locations(result)
        if place is None:
            return result.segmentation, None
        if corrections is None:
            note_unused_downloads(place, command="the same command with")
        if forget:
            # Before an export can fail: the next run must not use forgotten corrections.
            forget_corrections(place, result.segmentation.digests or ())
        written = write_result(
            result,
            place,
            thumbnails=settings.thumbnails,
            blur_faces=settings.blur_faces,
            formats=settings.formats,
            with_chapters=settings.write_chapters,
            share=settings.share,
            on_step=on_step,
        )
        if settings.share:
            forget_read(place)
    return result.segmentation, written


def _found(
    source: Path | FeatureTable | FrameSequence,
    folder: Path | None,
    settings: Settings,
    name: str | None,
    corrections: Segmentation | Literal["kept"] | None,
    on_step: OnStep | None,
) -> SourceResult:
    if isinstance(source, FeatureTable) or (isinstance(source, Path) and is_table(source)):
        if isinstance(source, FeatureTable):
            table = source
        else:
            table = read_features(source, key=settings.key, transpose=settings.transpose)
            name = source.name
        if folder is not None and corrections is not None:
            refuse_other_result(folder, "recording", name, row_digests(table.features))
        return segment_table(
            table.features,
            times=table.times,
            clock=table.clock,
            source=name,
            store=folder,
            corrections=corrections,
            segmenter=settings.segmenter,
            on_step=on_step,
        )
    with_pictures = settings.thumbnails and folder is not None
    return segment_source(
        source,
        store=folder,
        model=settings.model,
        every=settings.every,
        order=settings.order,
        offsets=dict(settings.offsets),
        timezone=settings.timezone,
        pause_factor=settings.pause_factor,
        pause_seconds=settings.pause_seconds,
        jump_km=settings.jump_km,
        corrections=corrections,
        segmenter=settings.segmenter,
        pictures=(
            PictureFolder(folder, settings.blur_faces)
            if with_pictures and folder is not None
            else None
        ),
        on_step=on_step,
    )
