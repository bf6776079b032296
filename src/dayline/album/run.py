"""From one source to its folder of results, whatever kind of source it is."""

from __future__ import annotations

from contextlib import nullcontext
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
from dayline.album.segment import row_digests, segment_frames, segment_table
from dayline.album.settings import Settings
from dayline.album.write import Written, without_locations, write_result
from dayline.events import Segmentation
from dayline.features.tables import FeatureTable, read_features
from dayline.media.faces import face_blurrer
from dayline.media.frame import TABLE_SUFFIXES, FrameSequence
from dayline.progress import OnStep
from dayline.result_folder import output_folder


def is_table(source: Path) -> bool:
    """Whether a source is a file of features, by its name."""
    return source.suffix.lower() in TABLE_SUFFIXES and not source.is_dir()


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
            name = source.source.resolve().name
            refuse_other_result(folder, "recording", name, source.digests)
        elif isinstance(source, Path) and not is_table(source):
            name = source.resolve().name
            refuse_other_result(folder, "recording", name, source_digests(source))
    with nullcontext() if folder is None else output_folder(folder) as place:
        result = _found(source, place, settings, name, used, on_step)
        if settings.share:
            result = without_locations(result)
        if place is None:
            return result.segmentation, None
        if forget:
            # Before an export can fail: the next run must not use forgotten corrections.
            forget_corrections(place, result.segmentation.digests or ())
        if corrections is None:
            note_unused_downloads(place, command="the same command with")
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
            method=settings.method,
            on_step=on_step,
        )
    pictures = None
    if settings.thumbnails and folder is not None:
        pictures = PictureFolder(folder, settings.blur_faces)
    return segment_frames(
        source,
        settings,
        store=folder,
        corrections=corrections,
        pictures=pictures,
        on_step=on_step,
    )
