"""The days in a folder of folders: photos of all cameras, on one clock, grouped by time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from dayline.album.extraction import extract_frames, frame_keys
from dayline.album.run import Settings
from dayline.features.extract import load_extractor
from dayline.features.store import FeatureStore, FrameKeys
from dayline.files import refuse_link
from dayline.installation import needs_extra
from dayline.media.clocks import clock_corrections, is_worth_comparing
from dayline.media.frame import FrameSequence
from dayline.media.walk import day_folders
from dayline.progress import OnStep
from dayline.result_folder import output_folder

if TYPE_CHECKING:
    from dayline.media.days import DayGroup
    from dayline.media.photos import Photos


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
        The days; empty if the source is one sequence. A path is a folder with the photos of one
        day.
    whole : FrameSequence or None
        All photos, if those of several folders are of one day; None if the source is read as it is.
    notes : tuple of str
        How the photos were grouped, and what was left out.
    photos : Photos or None
        All photos, as they were read.
    """

    days: tuple[Path | PhotoDay, ...] = ()
    whole: FrameSequence | None = None
    notes: tuple[str, ...] = ()
    photos: Photos | None = field(default=None, repr=False, compare=False)


def find_days(
    source: Path,
    settings: Settings,
    *,
    by_folder: bool = False,
    store: Path | None = None,
    before: FoundDays | None = None,
    on_step: OnStep | None = None,
) -> FoundDays:
    """Find the days in a folder.

    A folder that contains photos itself is one sequence. Otherwise the photos in all its subfolders
    are grouped by day (see `dayline.media.days.day_numbers`).

    Parameters
    ----------
    source : Path
        A folder; any other source is one sequence.
    settings : Settings
        How photos are read.
    by_folder : bool
        Each subfolder is a day, whatever the times of its photos.
    store : Path, optional
        Folder of the results. If given, the clocks of several cameras are compared, for which
        features are computed and kept there.
    before : FoundDays, optional
        What was found without `store`, so that no photo is opened twice.
    on_step : callable, optional
        Called as on_step(what, done, total).
    """
    if not source.is_dir():
        return FoundDays()
    if by_folder:
        return FoundDays(day_folders(source))
    return _grouped(source, settings, store, before, on_step)


@needs_extra("photos", "reading photos")
def _grouped(
    source: Path,
    settings: Settings,
    store: Path | None,
    before: FoundDays | None,
    on_step: OnStep | None,
) -> FoundDays:
    from dayline.media.days import clocks_to_compare, group_by_day, with_camera_names
    from dayline.media.frame import shifted
    from dayline.media.photos import (
        photo_sequence,
        read_photos,
        with_given_offsets,
        without_copies,
    )
    from dayline.media.walk import holds_only_folders

    if not holds_only_folders(source):
        return FoundDays()
    read = None if before is None else before.photos
    if read is None:
        read = without_copies(read_photos(source, timezone=settings.timezone, on_step=on_step))
    photos, moved = with_given_offsets(with_camera_names(read), dict(settings.offsets))
    extracted = None
    if settings.order == "time":
        compared, reference = clocks_to_compare(photos)
        whole = photo_sequence(compared, reference=reference)
        if store is not None and whole.n_frames and is_worth_comparing(whole):
            extracted, corrections, notes = _compared(whole, settings, store, on_step)
            frames = (shifted(f, corrections.get(f.clock, 0.0)) for f in compared.frames)
            photos, moved = replace(photos, frames=tuple(frames)), (*moved, *notes)
    photos = replace(photos, frames=tuple(replace(f, clock="") for f in photos.frames))
    groups, undated = group_by_day(photos)
    if len(groups) == 1 and not groups[0].folder:
        one = photo_sequence(photos, order=settings.order, notes=(*moved, *photos.notes))
        return FoundDays(whole=one, photos=read)
    found_notes = (*moved, *photos.notes, *undated)
    if (
        all(group.folder for group in groups)
        and not any(frame.shift for frame in photos.frames)
        and settings.timezone is None
    ):
        return FoundDays(
            tuple(source / group.folder for group in groups), notes=found_notes, photos=read
        )
    days = _days(photos, groups, settings.order, moved)
    if extracted is not None and store is not None:
        _share(extracted, days, store)
    return FoundDays(days, notes=found_notes, photos=read)


def _compared(
    whole: FrameSequence, settings: Settings, store: Path, on_step: OnStep | None
) -> tuple[FrameSequence, dict[str, float], tuple[str, ...]]:
    """Compare the clocks of all cameras by the features of all photos, which are kept with the results."""
    extractor = load_extractor(settings.model)
    with output_folder(store) as folder:
        extracted = extract_frames(whole, extractor, store=folder, bursts=False, on_step=on_step)
    sequence = extracted.sequence
    if not is_worth_comparing(sequence) or sequence.times is None:
        return sequence, {}, ()
    clocks = [frame.clock for frame in sequence.frames]
    corrections, notes = clock_corrections(
        sequence.times, clocks, extracted.features, reference=sequence.reference
    )
    return sequence, corrections, notes


def _share(whole: FrameSequence, days: Sequence[Path | PhotoDay], store: Path) -> None:
    """Give each day the values computed from its photos, so that no photo is decoded twice."""
    keys = frame_keys(whole)
    place = {path: i for i, path in enumerate(whole.paths)}
    parts = []
    for day in days:
        if not isinstance(day, Path):
            there = frame_keys(day.sequence)
            known = [k for k, path in enumerate(day.sequence.paths) if path in place]
            chosen = [place[day.sequence.paths[k]] for k in known]
            parts.append((day.name, _some(keys, chosen), _some(there, known)))
    with output_folder(store) as folder:
        for name, _, _ in parts:
            refuse_link(folder / name)
            with output_folder(folder / name):
                pass
        for file in ("features.npz", "sharpness.npz"):
            FeatureStore(folder / file).share(
                (folder / name / file, here, there) for name, here, there in parts
            )


def _some(keys: FrameKeys, indices: Sequence[int]) -> FrameKeys:
    return FrameKeys(
        tuple(keys.names[i] for i in indices),
        tuple(keys.sizes[i] for i in indices),
        tuple(keys.modified[i] for i in indices),
        None if keys.times is None else tuple(keys.times[i] for i in indices),
    )


def _days(
    photos: Photos, groups: Sequence[DayGroup], order: Literal["time", "name"], notes: Sequence[str]
) -> tuple[Path | PhotoDay, ...]:
    from dayline.media.photos import photo_sequence

    days: list[Path | PhotoDay] = []
    for group in groups:
        source = photos.root / group.folder if group.folder else photos.root
        if not group.frames:
            days.append(source)
            continue
        sequence = photo_sequence(
            photos, group.frames, source=source, order=order, skipped=group.skipped, notes=notes
        )
        days.append(PhotoDay(group.name, sequence))
    return tuple(days)
