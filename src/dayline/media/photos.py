"""The photos below a folder with all that their headers say: times, cameras, copies, order."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal
from zoneinfo import ZoneInfo

from dayline.events import SkippedFile
from dayline.media.decode import BadImageError, opened
from dayline.media.exif import (
    Camera,
    CaptureTime,
    Location,
    camera_of,
    exif_location,
    exif_time,
    gps_time,
    sidecar_name,
    taken_time,
    time_in_name,
)
from dayline.media.frame import FrameSequence, natural_key, shown_name
from dayline.media.order import order_photos
from dayline.media.walk import FilesFound, find_files
from dayline.media.zones import in_local_time
from dayline.progress import OnStep
from dayline.text import counted

QUARTER_HOUR, LARGEST_OFFSET, ROUNDING = 900.0, 14 * 3600.0, 2.0


@dataclass(frozen=True)
class Photos:
    """The photos below a folder, in the order in which they were found.

    Attributes
    ----------
    root : Path
        The folder.
    paths, names : tuples, one item per photo
        Files, and their names relative to `root`, safe to display.
    taken : tuple of CaptureTime or None
        Times from EXIF data or Google Takeout; names may contain others.
    cameras : tuple of Camera
        What took each photo.
    shifts : tuple of float
        Seconds to add to the time of each photo, since its camera's clock was wrong.
    locations : tuple of (float, float) or None
        Where each photo was taken.
    skipped : tuple of SkippedFile
        Photos that cannot be read.
    notes : tuple of str
        What was assumed about time zones, and which other files are there.
    """

    root: Path
    paths: tuple[Path, ...]
    names: tuple[str, ...]
    taken: tuple[CaptureTime | None, ...]
    cameras: tuple[Camera, ...]
    shifts: tuple[float, ...]
    locations: tuple[Location | None, ...]
    skipped: tuple[SkippedFile, ...] = ()
    notes: tuple[str, ...] = ()
    found: FilesFound | None = field(default=None, repr=False, compare=False)

    def __len__(self) -> int:
        """Return the number of photos."""
        return len(self.paths)


def read_photos(
    folder: Path,
    *,
    found: FilesFound | None = None,
    zone: ZoneInfo | None = None,
    on_step: OnStep | None = None,
) -> Photos:
    """Read the headers of all photos below a folder.

    Parameters
    ----------
    folder : Path
        The folder.
    found : FilesFound, optional
        Its files, if they were listed already.
    zone : ZoneInfo, optional
        Time zone of photos that record none.
    on_step : callable, optional
        Called as on_step("photos", done, total).
    """
    found = find_files(folder) if found is None else found
    sidecars: dict[Path, set[str]] = defaultdict(set)
    for path in found.sidecars:
        sidecars[path.parent].add(path.name)
    paths: list[Path] = []
    taken: list[CaptureTime | None] = []
    cameras: list[Camera] = []
    locations: list[Location | None] = []
    skipped = list(found.closed)
    n_used = 0
    for done, path in enumerate(found.photos):
        if on_step is not None and done % 100 == 0:
            on_step("photos", done, len(found.photos))
        try:
            with opened(path) as image:
                time, camera, location = exif_time(image), camera_of(image), exif_location(image)
                if time is not None and time.offset is None:
                    time = _with_utc(time, path.name, gps_time(image))
        except BadImageError as error:
            skipped.append(SkippedFile(shown_name(path.relative_to(folder)), str(error)))
            continue
        beside = sidecars.get(path.parent)
        sidecar = None if beside is None else sidecar_name(path.name, beside)
        if sidecar is not None:
            n_used += 1
            if time is None or time.offset is None:
                time = _with_utc(time, path.name, taken_time(path.parent / sidecar))
        paths.append(path)
        taken.append(time)
        cameras.append(camera)
        locations.append(location)
    local, notes = in_local_time(taken, zone=zone)
    return Photos(
        root=folder,
        paths=tuple(paths),
        names=tuple(shown_name(path.relative_to(folder)) for path in paths),
        taken=local,
        cameras=tuple(cameras),
        shifts=(0.0,) * len(paths),
        locations=tuple(locations),
        skipped=tuple(skipped),
        notes=(*notes, *_left_out(folder, found, n_used)),
        found=found,
    )


def _with_utc(time: CaptureTime | None, name: str, utc: float | None) -> CaptureTime | None:
    """Add the time of Takeout or GPS, in UTC: as the time itself, or as the time zone of a local time."""
    if utc is None:
        return time
    local = time_in_name(name) if time is None else time.seconds
    if local is not None:
        offset = round((local - utc) / QUARTER_HOUR) * QUARTER_HOUR
        fits = abs(local - utc - offset) <= ROUNDING and abs(offset) <= LARGEST_OFFSET
        # Google takes local times for UTC if it knows no time zone, so that a difference of zero
        # says nothing.
        if fits and offset:
            return (
                CaptureTime(local, offset, is_utc=True)
                if time is None
                else replace(time, offset=offset)
            )
    return CaptureTime(utc, is_utc=True) if time is None else time


def photo_sequence(
    photos: Photos,
    indices: Sequence[int] | None = None,
    *,
    source: Path | None = None,
    order: Literal["time", "name"] = "time",
    cameras: Sequence[str] = (),
    reference: str = "",
    skipped: Sequence[SkippedFile] | None = None,
    notes: Sequence[str] = (),
) -> FrameSequence:
    """Put photos in order.

    Parameters
    ----------
    photos : Photos
        All photos.
    indices : sequence of int, optional
        Those to use; all by default.
    source : Path, optional
        Folder to which names are relative; that of all photos by default.
    order : {"time", "name"}
        See `dayline.media.folder.read_photo_folder`.
    cameras, reference : sequence of str, and str
        Name of the camera of each of all photos, if clocks are to be compared, and the one whose
        clock is right.
    skipped : sequence of SkippedFile, optional
        Photos of this sequence that cannot be read; all of them by default.
    notes : sequence of str
        Notes to add.
    """
    chosen = range(len(photos)) if indices is None else indices
    folder = photos.root if source is None else source
    lost = photos.skipped if skipped is None else tuple(skipped)
    prefix = "" if folder == photos.root else f"{shown_name(folder.relative_to(photos.root))}/"
    names = [photos.names[i].removeprefix(prefix) for i in chosen]
    shifts = [photos.shifts[i] for i in chosen]
    result = order_photos(
        names,
        [photos.taken[i] for i in chosen],
        folder_name=folder.resolve().name,
        by=order,
        shifts=shifts if any(shifts) else None,
    )
    places = tuple(photos.locations[chosen[k]] for k in result.indices)
    return FrameSequence(
        source=folder,
        kind="photos",
        names=tuple(names[k] for k in result.indices),
        times=result.times,
        clock=None if result.times is None else "wall",
        order=result.rule,
        notes=(*result.notes, *notes),
        skipped=tuple(SkippedFile(file.name.removeprefix(prefix), file.why) for file in lost),
        paths=tuple(photos.paths[chosen[k]] for k in result.indices),
        cameras=tuple(cameras[chosen[k]] for k in result.indices) if cameras else (),
        locations=places if any(place is not None for place in places) else (),
        reference=reference,
        shown_times=(
            ()
            if result.times is None or not any(shifts)
            else tuple(t - shifts[k] for t, k in zip(result.times, result.indices, strict=True))
        ),
    )


def shifted(photos: Photos, seconds: Mapping[int, float]) -> Photos:
    """Add seconds to the times of photos, given by their numbers."""
    return replace(
        photos, shifts=tuple(old + seconds.get(i, 0.0) for i, old in enumerate(photos.shifts))
    )


def without_copies(photos: Photos) -> Photos:
    """Use a file that is there several times once, the first in name order, and note that.

    Only files of equal size are compared; they are copies if their bytes and times are equal.
    """
    by_size: dict[int, list[int]] = defaultdict(list)
    for i, path in enumerate(photos.paths):
        by_size[path.stat().st_size].append(i)
    originals: dict[tuple[str, float | None], int] = {}
    copies: dict[int, int] = {}
    for same in by_size.values():
        if len(same) > 1:
            for i in sorted(same, key=lambda i: natural_key(photos.names[i])):
                taken = photos.taken[i]
                # A camera in the dark may write the same bytes twice, under names with different
                # times.
                time = time_in_name(photos.names[i]) if taken is None else taken.seconds
                original = originals.setdefault((_digest(photos.paths[i]), time), i)
                if original != i:
                    copies[i] = original
    if not copies:
        return photos
    first = min(copies)
    note = (
        f"{counted(len(copies), 'file is a copy', 'files are copies')} of another (first"
        f" {photos.names[first]}, of {photos.names[copies[first]]}); each photo is used once"
    )
    return replace(_without(photos, copies), notes=(note, *photos.notes))


def _without(photos: Photos, left_out: Collection[int]) -> Photos:
    keep = [i for i in range(len(photos)) if i not in left_out]
    return replace(
        photos,
        paths=tuple(photos.paths[i] for i in keep),
        names=tuple(photos.names[i] for i in keep),
        taken=tuple(photos.taken[i] for i in keep),
        cameras=tuple(photos.cameras[i] for i in keep),
        shifts=tuple(photos.shifts[i] for i in keep),
        locations=tuple(photos.locations[i] for i in keep),
    )


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _left_out(folder: Path, found: FilesFound, n_used: int) -> tuple[str, ...]:
    notes = []
    counts = (
        (found.n_hidden, "hidden"),
        (len(found.videos), "video"),
        (found.n_other - n_used, "other"),
    )
    passed = [f"{n} {what}" for n, what in counts if n > 0]
    if passed:
        notes.append(f"skipped files that are not photos: {', '.join(passed)}")
    if found.n_raw_twins:
        files = counted(found.n_raw_twins, "RAW file is", "RAW files are")
        notes.append(f"{files} not used, since the same photo is there in another format")
    if found.results:
        first = shown_name(found.results[0].relative_to(folder))
        notes.append(f"skipped folders with earlier results: {len(found.results)} (first {first})")
    return tuple(notes)
