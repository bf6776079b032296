"""A folder of photos: what is in it, in which order, and what cannot be used."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from dayline.events import SkippedFile
from dayline.frames.capture_time import CaptureTime, exif_time
from dayline.frames.decode import BadImageError, opened
from dayline.frames.names import by_name, shown_name
from dayline.frames.order import order_photos
from dayline.frames.sequence import FrameSequence, refuse_mostly_bad
from dayline.frames.suffixes import PHOTO_SUFFIXES
from dayline.frames.walk import (
    CAMERA_FOLDER,
    FilesFound,
    find_files,
    is_export,
    is_folder,
    is_passed_over,
    is_photo_name,
    refuse_result,
)

__all__ = ["day_folders", "read_photo_folder"]


def read_photo_folder(path: str | Path, *, order: Literal["time", "name"] = "time") -> FrameSequence:
    """Find the photos in a folder and its subfolders, in the order in which they were taken.

    Only headers are read. Photos are ordered by EXIF time with sub-seconds and offset from UTC, else by
    a time in the file names, else by name in natural order; equal times are ordered by name.

    Parameters
    ----------
    path : str or Path
        The folder.
    order : {"time", "name"}
        "name" orders by name and ignores the times.

    Raises
    ------
    ValueError
        If there are no photos, or more than half of them cannot be read.
    """
    folder = Path(path)
    if order not in ("time", "name"):
        raise ValueError(f'order "{order}" is not known; use "time" or "name"')
    if not folder.is_dir():
        raise ValueError(f"{shown_name(folder)}: no such folder")
    refuse_result(folder)
    found = find_files(folder)
    if not found.photos and not found.closed:
        raise ValueError(_nothing(folder, found))
    readable, exif_times, skipped = _read_headers(folder, found)
    refuse_mostly_bad(folder, skipped, n_good=len(readable))
    names = [shown_name(p.relative_to(folder)) for p in readable]
    result = order_photos(names, exif_times, folder_name=folder.resolve().name, by=order)
    return FrameSequence(
        source=folder,
        kind="photos",
        names=tuple(names[i] for i in result.indices),
        times=result.times,
        clock=None if result.times is None else "wall",
        order=result.rule,
        notes=(*result.notes, *_left_out(folder, found)),
        skipped=tuple(skipped),
        paths=tuple(readable[i] for i in result.indices),
    )


def day_folders(path: str | Path) -> tuple[Path, ...]:
    """Return the subfolders, in name order, if a folder has one subfolder per day; else an empty tuple.

    It does if it contains no photos itself but its subfolders do. The folders that cameras start
    every thousand photos (100CANON, 101CANON) are not days.
    """
    folder = Path(path)
    if not folder.is_dir():
        raise ValueError(f"{shown_name(folder)}: no such folder")
    refuse_result(folder)
    try:
        entries = sorted(folder.iterdir(), key=by_name)
    except OSError as error:
        raise ValueError(f"{shown_name(folder)}: folder cannot be read: {error.strerror or error}") from None
    if any(is_photo_name(p.name) and not is_folder(p) and not is_export(p) for p in entries):
        return ()
    days = tuple(p for p in entries if is_folder(p) and not is_passed_over(p) and find_files(p).photos)
    return () if all(CAMERA_FOLDER.fullmatch(p.name) for p in days) else days


def _read_headers(folder: Path, found: FilesFound) -> tuple[list[Path], list[CaptureTime | None], list[SkippedFile]]:
    readable: list[Path] = []
    times: list[CaptureTime | None] = []
    skipped = list(found.closed)
    for path in found.photos:
        try:
            with opened(path) as image:
                times.append(exif_time(image))
            readable.append(path)
        except BadImageError as error:
            skipped.append(SkippedFile(shown_name(path.relative_to(folder)), str(error)))
    return readable, times, skipped


def _left_out(folder: Path, found: FilesFound) -> tuple[str, ...]:
    notes = []
    counts = ((found.n_hidden, "hidden"), (len(found.videos), "video"), (found.n_other, "other"))
    passed = [f"{n} {what}" for n, what in counts if n]
    if passed:
        notes.append(f"skipped files that are not photos: {', '.join(passed)}")
    if found.results:
        first = shown_name(found.results[0].relative_to(folder))
        notes.append(f"skipped folders with earlier results: {len(found.results)} (first {first})")
    return tuple(notes)


def _nothing(folder: Path, found: FilesFound) -> str:
    if found.videos:
        first = shown_name(found.videos[0].relative_to(folder))
        n_videos = len(found.videos)
        return f"{shown_name(folder)}: contains no photos but {n_videos} videos; pass one of them ({first})"
    kinds = " ".join(sorted(s.lstrip(".") for s in PHOTO_SUFFIXES))
    return f"{shown_name(folder)}: contains no photos ({kinds}); pass a folder with photos"
