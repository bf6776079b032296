"""The days in a folder of folders: photos of all cameras, on one clock, grouped by time."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from dayline.album.extraction import FrameReader, features_of
from dayline.album.pictures import PictureFolder
from dayline.album.settings import Settings
from dayline.features.extract import load_extractor
from dayline.installation import needs_extra
from dayline.media.clocks import clock_corrections
from dayline.media.frame import FrameSequence, shifted
from dayline.media.walk import holds_only_folders
from dayline.progress import OnStep
from dayline.result_folder import output_folder


@dataclass(frozen=True)
class PhotoDay:
    """The photos of one day.

    Attributes
    ----------
    name : str
        The date, or the name of its folder; the name of the folder of its result.
    sequence : FrameSequence
        Its photos.
    """

    name: str
    sequence: FrameSequence


@dataclass(frozen=True)
class FoundDays:
    """What is in a folder: several days, or one sequence.

    Attributes
    ----------
    days : tuple of PhotoDay
        The days; empty if the source is one sequence.
    whole : FrameSequence or None
        All photos, if those of several folders are of one day; None if the source is read as it is.
    notes : tuple of str
        How the photos were grouped, and what was left out.
    """

    days: tuple[PhotoDay, ...] = ()
    whole: FrameSequence | None = None
    notes: tuple[str, ...] = ()


def find_days(
    source: Path,
    settings: Settings,
    *,
    by_folder: bool = False,
    store: Path | None = None,
    on_step: OnStep | None = None,
) -> FoundDays:
    """Find the days in a folder.

    A folder that contains photos itself is one sequence. Otherwise the photos in all its subfolders
    are grouped by day (see `dayline.media.days.group_by_day`).

    Parameters
    ----------
    source : Path
        A folder; any other source is one sequence.
    settings : Settings
        How photos are read.
    by_folder : bool
        Each subfolder is a day, whatever the times of its photos.
    store : Path, optional
        Folder of the results. If given, every photo is read once, with its features, which are kept
        there, and the clocks of several cameras are compared. Otherwise only headers are read.
    on_step : callable, optional
        Called as on_step(what, done, total).
    """
    if not holds_only_folders(source):
        return FoundDays()
    return _grouped(source, settings, by_folder, store, on_step)


@needs_extra("photos", "reading photos")
def _grouped(
    source: Path, settings: Settings, by_folder: bool, store: Path | None, on_step: OnStep | None
) -> FoundDays:
    from dayline.media.days import (
        clocks_to_compare,
        group_by_day,
        group_by_folder,
        with_camera_names,
    )
    from dayline.media.photos import (
        photo_sequence,
        read_photos,
        with_given_offsets,
        without_copies,
    )

    if store is None:
        photos = read_photos(source, timezone=settings.timezone, on_step=on_step)
    else:
        with output_folder(store) as folder:
            pictures = PictureFolder(folder, settings.blur_faces) if settings.thumbnails else None
            extractor = load_extractor(settings.model, threads=1)
            reader = FrameReader(extractor, folder, pictures, on_step)
            photos = read_photos(source, timezone=settings.timezone, read=reader.read_files)

    if not by_folder:
        photos = without_copies(photos)
    photos, notes = with_given_offsets(with_camera_names(photos), dict(settings.offsets))
    if settings.order == "time":
        photos, reference = clocks_to_compare(photos)
        whole = photo_sequence(photos, reference=reference)
        clocks = [frame.clock for frame in whole.frames]
        if store is not None and whole.times is not None and any(clocks):
            corrections, wrong = clock_corrections(
                whole.times, clocks, features_of(whole), reference=reference
            )
            frames = (shifted(f, corrections.get(f.clock, 0.0)) for f in photos.frames)
            photos, notes = replace(photos, frames=tuple(frames)), (*notes, *wrong)
    photos = replace(photos, frames=tuple(replace(f, clock="") for f in photos.frames))

    groups, undated = group_by_folder(photos) if by_folder else group_by_day(photos)
    if len(groups) == 1 and groups[0][1].root == photos.root:
        one = photo_sequence(photos, order=settings.order, notes=(*notes, *photos.notes))
        return FoundDays(whole=one)
    days = tuple(
        PhotoDay(name, photo_sequence(group, order=settings.order, notes=notes))
        for name, group in groups
    )
    return FoundDays(days, notes=(*notes, *photos.notes, *undated))
