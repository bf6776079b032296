"""A folder of photos: what is in it, in which order, and what cannot be used."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from dayline.events import SkippedFile
from dayline.frames.capture_time import CaptureTime, exif_time
from dayline.frames.decode import BadImageError, opened
from dayline.frames.names import by_name, shown_name
from dayline.frames.order import order_photos
from dayline.frames.sequence import FrameSequence, refuse_mostly_bad
from dayline.frames.suffixes import PHOTO_SUFFIXES, VIDEO_SUFFIXES
from dayline.io.output_folder import MARK, SORTED_PHOTOS, OwnFiles

__all__ = ["day_folders", "read_photo_folder"]

# Folders that programs fill with copies of photos.
MACHINE_FOLDERS = frozenset({"@eaDir", "__MACOSX", "lost+found"})
# A folder with both is a dayline result moved without its mark; events.json alone may be a user's corrections.
RESULT_FILES = ("events.json", "index.html")
# 100CANON, 101_PANA: cameras start a new one every thousand photos, even in the middle of a day.
CAMERA_FOLDER = re.compile(r"[1-9]\d{2}[0-9A-Z_]{5}", re.ASCII)


@dataclass
class _Found:
    """The contents of a folder and its subfolders."""

    root: Path
    photos: list[Path] = field(default_factory=list)
    videos: list[Path] = field(default_factory=list)
    n_other: int = 0
    n_hidden: int = 0
    results: list[Path] = field(default_factory=list)
    closed: list[SkippedFile] = field(default_factory=list)


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
    _refuse_result(folder)
    found = _walk(folder)
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
    _refuse_result(folder)
    try:
        entries = sorted(folder.iterdir(), key=by_name)
    except OSError as error:
        raise ValueError(f"{shown_name(folder)}: folder cannot be read: {error.strerror or error}") from None
    if any(_is_photo_name(p.name) and not _is_folder(p) and not _is_export(p) for p in entries):
        return ()
    days = tuple(p for p in entries if _is_folder(p) and not _is_passed_over(p) and _walk(p).photos)
    return () if all(CAMERA_FOLDER.fullmatch(p.name) for p in days) else days


def _walk(folder: Path) -> _Found:
    found = _Found(folder)
    for path in _files_below(folder, found, been={_identity(folder)}):
        suffix = path.suffix.lower()
        if path.name.startswith("."):
            found.n_hidden += 1
        elif suffix in PHOTO_SUFFIXES and not _is_export(path):
            found.photos.append(path)
        elif suffix in VIDEO_SUFFIXES:
            found.videos.append(path)
        else:
            found.n_other += 1
    return found


def _files_below(folder: Path, found: _Found, been: set[tuple[int, int]]) -> Iterator[Path]:
    """Yield the files below a folder; each real folder is visited once, so cycles of links end."""
    try:
        entries = sorted(folder.iterdir(), key=lambda p: (p.is_symlink(), os.fsencode(p.name)))
    except OSError as error:
        why = f"folder cannot be read: {error.strerror or error}"
        found.closed.append(SkippedFile(shown_name(folder.relative_to(found.root)), why))
        return
    for path in entries:
        if not _is_folder(path):
            yield path
        elif not path.name.startswith(".") and path.name not in MACHINE_FOLDERS:
            if _is_result(path) or _is_export(path):
                found.results.append(path)
            elif (identity := _identity(path)) not in been:
                been.add(identity)
                yield from _files_below(path, found, been)


def _is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except PermissionError:
        # The parent folder can be listed but not entered; opening the file reports that later.
        return False


def _is_result(folder: Path) -> bool:
    try:
        marked = (folder / MARK).is_file()  # also set by an interrupted run
        return marked or all((folder / name).is_file() for name in RESULT_FILES)
    except PermissionError:
        return False


def _is_export(path: Path) -> bool:
    """Whether `dayline export` wrote this file or folder: links to the photos, or a contact sheet."""
    try:
        if path.name.partition("-kept-")[0] == "photos":
            return (path / SORTED_PHOTOS).is_file()
        return path.name == "contact-sheet.png" and OwnFiles(path.parent).wrote(path.name)
    except (OSError, ValueError):
        return False


def _refuse_result(folder: Path) -> None:
    """Reject a result folder, whose thumbnails would be read as photos."""
    if _is_result(folder):
        raise ValueError(
            f"{shown_name(folder)}: is a dayline result, not a folder of photos; pass its source instead"
        )


def _identity(folder: Path) -> tuple[int, int]:
    about = folder.stat()
    return about.st_dev, about.st_ino


def _is_photo_name(name: str) -> bool:
    return not name.startswith(".") and Path(name).suffix.lower() in PHOTO_SUFFIXES


def _is_passed_over(folder: Path) -> bool:
    return folder.name.startswith(".") or folder.name in MACHINE_FOLDERS or _is_result(folder) or _is_export(folder)


def _read_headers(folder: Path, found: _Found) -> tuple[list[Path], list[CaptureTime | None], list[SkippedFile]]:
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


def _left_out(folder: Path, found: _Found) -> tuple[str, ...]:
    notes = []
    counts = ((found.n_hidden, "hidden"), (len(found.videos), "video"), (found.n_other, "other"))
    passed = [f"{n} {what}" for n, what in counts if n]
    if passed:
        notes.append(f"skipped files that are not photos: {', '.join(passed)}")
    if found.results:
        first = shown_name(found.results[0].relative_to(folder))
        notes.append(f"skipped folders with earlier results: {len(found.results)} (first {first})")
    return tuple(notes)


def _nothing(folder: Path, found: _Found) -> str:
    if found.videos:
        first = shown_name(found.videos[0].relative_to(folder))
        n_videos = len(found.videos)
        return f"{shown_name(folder)}: contains no photos but {n_videos} videos; pass one of them ({first})"
    kinds = " ".join(sorted(s.lstrip(".") for s in PHOTO_SUFFIXES))
    return f"{shown_name(folder)}: contains no photos ({kinds}); pass a folder with photos"
