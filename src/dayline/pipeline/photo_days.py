"""The days in a folder of folders: photos of all cameras, on one clock, grouped by time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from dayline.extras import needs_extra
from dayline.frames import FrameSequence, day_folders
from dayline.pipeline.run import Settings
from dayline.progress import OnStep

if TYPE_CHECKING:
    from dayline.frames.photo_days import DayGroup
    from dayline.frames.photo_set import Photos

__all__ = ["FoundDays", "PhotoDay", "find_days"]


@dataclass(frozen=True)
class PhotoDay:
    """A day whose photos are in several folders, or in one folder with other days.

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
    days : tuple of Path or PhotoDay
        The days; empty if the source is one sequence. A path is a folder with the photos of one day.
    whole : FrameSequence or None
        All photos, if those of several folders are of one day; None if the source is read as it is.
    notes : tuple of str
        How the photos were grouped, and what was left out.
    """

    days: tuple[Path | PhotoDay, ...] = ()
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

    A folder that contains photos itself is one sequence. Otherwise the photos in all its subfolders are grouped by
    day (see `dayline.frames.day_split.day_numbers`).

    Parameters
    ----------
    source : Path
        A folder; any other source is one sequence.
    settings : Settings
        How photos are read.
    by_folder : bool
        Each subfolder is a day, whatever the times of its photos.
    store : Path, optional
        Folder of the results. If given, the clocks of several cameras are compared, for which features are computed
        and kept there.
    on_step : callable, optional
        Called as on_step(what, done, total).
    """
    if not source.is_dir():
        return FoundDays()
    if by_folder:
        return FoundDays(day_folders(source))
    return _grouped(source, settings, store, on_step)


@needs_extra("photos", "reading photos")
def _grouped(source: Path, settings: Settings, store: Path | None, on_step: OnStep | None) -> FoundDays:
    from dayline.frames.folder import holds_only_folders, photos_in, with_given_offsets
    from dayline.frames.photo_days import camera_names, group_by_day
    from dayline.frames.photo_set import photo_sequence, without_copies

    if not holds_only_folders(source):
        return FoundDays()
    del store
    photos = without_copies(photos_in(source, timezone=settings.timezone, on_step=on_step))
    cameras = camera_names(photos)
    photos, given, known = with_given_offsets(photos, cameras, dict(settings.offsets))
    groups, undated = group_by_day(photos)
    notes = (*given, *photos.notes, *undated)
    if len(groups) == 1 and not groups[0].folder:
        compared = tuple("" if camera in known else camera for camera in cameras)
        several = settings.order == "time" and len(set(cameras)) > 1
        whole = photo_sequence(
            photos, order=settings.order, cameras=compared if several else (), notes=(*given, *photos.notes)
        )
        return FoundDays(whole=whole)
    if all(group.folder for group in groups) and not given and settings.timezone is None:
        return FoundDays(tuple(source / group.folder for group in groups), notes=notes)
    return FoundDays(_days(photos, groups, settings.order), notes=notes)


def _days(photos: Photos, groups: Sequence[DayGroup], order: Literal["time", "name"]) -> tuple[Path | PhotoDay, ...]:
    from dayline.frames.photo_set import photo_sequence

    days: list[Path | PhotoDay] = []
    for group in groups:
        source = photos.root / group.folder if group.folder else photos.root
        if not group.indices:
            days.append(source)
            continue
        sequence = photo_sequence(photos, group.indices, source=source, order=order, skipped=group.skipped)
        days.append(PhotoDay(group.name, sequence))
    return tuple(days)
