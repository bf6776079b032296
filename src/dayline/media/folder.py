"""A folder of photos: what is in it, in which order, and what cannot be used."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

from dayline.media.days import camera_names, compared_cameras
from dayline.media.frame import (
    PHOTO_SUFFIXES,
    FrameSequence,
    by_name,
    refuse_mostly_bad,
    shown_name,
)
from dayline.media.order import span_text
from dayline.media.photos import Photos, photo_sequence, read_photos, shifted
from dayline.media.walk import (
    CAMERA_FOLDER,
    FilesFound,
    find_files,
    is_export,
    is_folder,
    is_passed_over,
    is_photo_name,
    refuse_result,
)
from dayline.media.zones import time_zone
from dayline.progress import OnStep


def read_photo_folder(
    path: str | Path,
    *,
    order: Literal["time", "name"] = "time",
    offsets: Mapping[str, float] | None = None,
    timezone: str | None = None,
) -> FrameSequence:
    """Find the photos in a folder and its subfolders, in the order in which they were taken.

    Only headers are read. Photos are ordered by EXIF time with sub-seconds and offset from UTC,
    else by the time in the .json file of Google Takeout, else by a time in the file names, else by
    name in natural order; equal times are ordered by name.

    Parameters
    ----------
    path : str or Path
        The folder.
    order : {"time", "name"}
        "name" orders by name and ignores the times.
    offsets : mapping of str to float, optional
        Seconds to add to the times of a camera, by the name of its folder or its model.
    timezone : str, optional
        Time zone of photos that record none, such as "Europe/Madrid".

    Raises
    ------
    ValueError
        If there are no photos, or more than half of them cannot be read.
    """
    if order not in ("time", "name"):
        raise ValueError(f'order "{order}" is not known; use "time" or "name"')
    photos = photos_in(path, timezone=timezone)
    refuse_mostly_bad(photos.root, photos.skipped, n_good=len(photos))
    cameras = camera_names(photos)
    photos, notes, known = with_given_offsets(photos, cameras, offsets or {})
    compared, reference = compared_cameras(photos, cameras, known) if order == "time" else ((), "")
    return photo_sequence(
        photos, order=order, cameras=compared, reference=reference, notes=(*notes, *photos.notes)
    )


def photos_in(
    path: str | Path, *, timezone: str | None = None, on_step: OnStep | None = None
) -> Photos:
    """Read the headers of the photos in a folder and its subfolders.

    Parameters
    ----------
    path : str or Path
        The folder.
    timezone : str, optional
        Time zone of photos that record none.
    on_step : callable, optional
        Called as on_step("photos", done, total).

    Raises
    ------
    ValueError
        If there are no photos.
    """
    folder = Path(path)
    zone = None if timezone is None else time_zone(timezone)
    if not folder.is_dir():
        raise ValueError(f"{shown_name(folder)}: no such folder")
    refuse_result(folder)
    found = find_files(folder)
    if not found.photos and not found.closed:
        raise ValueError(_nothing(folder, found))
    return read_photos(folder, found=found, zone=zone, on_step=on_step)


def with_given_offsets(
    photos: Photos, cameras: Sequence[str], offsets: Mapping[str, float]
) -> tuple[Photos, tuple[str, ...], frozenset[int]]:
    """Add the given seconds to the times of cameras; return the photos, notes, and which photos have a given offset.

    Parameters
    ----------
    photos : Photos
        The photos.
    cameras : sequence of str
        Name of the camera of each photo (see `camera_names`).
    offsets : mapping of str to float
        Seconds to add, by name of the camera, its model, or the folder of its photos.
    """
    seconds: dict[int, float] = {}
    notes = []
    for name, value in offsets.items():
        fits = [
            i
            for i, (camera, about, file) in enumerate(
                zip(cameras, photos.cameras, photos.names, strict=True)
            )
            if name.casefold()
            in (camera.casefold(), about.model.casefold(), *file.casefold().split("/")[:-1])
        ]
        if not fits:
            tops = [file.partition("/")[0] for file in photos.names if "/" in file]
            names = ", ".join(
                dict.fromkeys(
                    [*sorted(set(tops)), *sorted({c.model for c in photos.cameras if c.model})]
                )
            )
            raise ValueError(
                f"--offset {name}: no camera or folder has this name; there are: {names or 'none'}"
            )
        seconds.update(dict.fromkeys(fits, value))
        if value:
            way = "added to" if value > 0 else "taken from"
            notes.append(f"{span_text(abs(value))} {way} the times of {name}, as requested")
    return shifted(photos, seconds), tuple(notes), frozenset(seconds)


def day_folders(path: str | Path) -> tuple[Path, ...]:
    """Return the subfolders, in name order, if a folder has one subfolder per day; else an empty tuple.

    It does if it contains no photos itself but its subfolders do. The folders that cameras start
    every thousand photos (100CANON, 101CANON) are not days.
    """
    folder = Path(path)
    entries = _entries(folder)
    if _holds_photos(entries):
        return ()
    days = tuple(
        p for p in entries if is_folder(p) and not is_passed_over(p) and find_files(p).photos
    )
    return () if all(CAMERA_FOLDER.fullmatch(p.name) for p in days) else days


def holds_only_folders(path: str | Path) -> bool:
    """Whether a folder contains no photos itself, but has subfolders that may."""
    entries = _entries(Path(path))
    return not _holds_photos(entries) and any(
        is_folder(p) and not is_passed_over(p) for p in entries
    )


def _entries(folder: Path) -> list[Path]:
    if not folder.is_dir():
        raise ValueError(f"{shown_name(folder)}: no such folder")
    refuse_result(folder)
    try:
        return sorted(folder.iterdir(), key=by_name)
    except OSError as error:
        raise ValueError(
            f"{shown_name(folder)}: folder cannot be read: {error.strerror or error}"
        ) from None


def _holds_photos(entries: Sequence[Path]) -> bool:
    return any(is_photo_name(p.name) and not is_folder(p) and not is_export(p) for p in entries)


def _nothing(folder: Path, found: FilesFound) -> str:
    if found.videos:
        first = shown_name(found.videos[0].relative_to(folder))
        n_videos = len(found.videos)
        return (
            f"{shown_name(folder)}: contains no photos but {n_videos} videos; pass one of them"
            f" ({first})"
        )
    kinds = " ".join(sorted(s.lstrip(".") for s in PHOTO_SUFFIXES))
    return f"{shown_name(folder)}: contains no photos ({kinds}); pass a folder with photos"
