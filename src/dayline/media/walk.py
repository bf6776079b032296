"""Find files below a folder, but hidden ones, copies made by programs, and results of dayline.

Needs no package beyond the base install.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from dayline.events import SkippedFile
from dayline.media.frame import (
    PHOTO_SUFFIXES,
    RAW_SUFFIXES,
    VIDEO_SUFFIXES,
    shown_name,
)
from dayline.media.talk import OF_FOLDERS
from dayline.result_folder import MARK, SORTED_PHOTOS

# Folders that programs fill with copies of photos.
MACHINE_FOLDERS = frozenset({"@eaDir", "__MACOSX", "lost+found"})
# A folder with both is a dayline result moved without its mark; events.json alone may be a user's
# corrections.
RESULT_FILES = ("events.json", "index.html")

LIVE_PHOTO, LIVE_VIDEO = (".heic", ".heif", ".jpg", ".jpeg"), (".mov", ".mp4")
"""What phones save a live photo as."""

CAMERA_FOLDER = re.compile(r"[1-9]\d{2}[0-9A-Z_]{5}", re.ASCII)
"""100CANON, 101_PANA: cameras start a new one every thousand photos, even within a day."""


@dataclass
class FilesFound:
    """The contents of a folder and its subfolders.

    Attributes
    ----------
    root : Path
        The folder.
    photos, videos : list of Path
        Files by their suffix; exports of dayline are not photos.
    talks : list of Path
        Subtitles and transcripts, also those of the videos.
    sidecars : list of Path
        Files that end in .json; Google Takeout keeps times in them.
    live : dict of Path to Path
        Videos that may belong to a photo beside them: phones keep a few seconds around a photo as
        IMG_1.MOV beside IMG_1.HEIC. They are not among `videos`.
    n_raw_twins : int
        Number of RAW files that are not used, since the same photo is there in another format.
    n_other, n_hidden : int
        Number of other files, sidecars of photos aside but transcripts included, and of hidden
        files.
    results : list of Path
        Results and exports of dayline, which are not entered.
    closed : list of SkippedFile
        Folders that cannot be read.
    """

    root: Path
    photos: list[Path] = field(default_factory=list)
    videos: list[Path] = field(default_factory=list)
    talks: list[Path] = field(default_factory=list)
    sidecars: list[Path] = field(default_factory=list)
    live: dict[Path, Path] = field(default_factory=dict)
    n_raw_twins: int = 0
    n_other: int = 0
    n_hidden: int = 0
    results: list[Path] = field(default_factory=list)
    closed: list[SkippedFile] = field(default_factory=list)

    def name(self, path: Path) -> str:
        """Name a file relative to the folder, safe to display."""
        return shown_name(path.relative_to(self.root))


def find_files(folder: Path) -> FilesFound:
    """Find the photos and videos in a folder and its subfolders.

    A link to a folder above is not followed: the rest of that folder does not belong to this one.
    """
    found = FilesFound(folder)
    whole = folder.resolve()
    been = {_identity(path) for path in (whole, *whole.parents) if is_folder(path)}
    for path in _files_below(folder, found, been):
        suffix = path.suffix.lower()
        if path.name.startswith("."):
            found.n_hidden += 1
        elif suffix in PHOTO_SUFFIXES and not is_export(path):
            found.photos.append(path)
        elif suffix in VIDEO_SUFFIXES:
            found.videos.append(path)
        elif suffix == ".json":
            found.sidecars.append(path)
        elif suffix != ".xmp":
            found.n_other += 1
            if suffix in OF_FOLDERS:
                found.talks.append(path)
    _leave_out_raw_twins(found)
    _pair_live_photos(found)
    return found


def only_kind(folder: Path) -> Literal["video", "talk"] | None:
    """Return what a folder without photos is of: videos, else transcripts; None if neither."""
    found = find_files(folder)
    if found.photos or not (found.videos or found.talks):
        return None
    return "video" if found.videos else "talk"


def _leave_out_raw_twins(found: FilesFound) -> None:
    """Use IMG_1.JPG rather than IMG_1.CR2 beside it: cameras can save each photo twice."""
    others = {_place(path) for path in found.photos if path.suffix.lower() not in RAW_SUFFIXES}
    kept = [
        path
        for path in found.photos
        if path.suffix.lower() not in RAW_SUFFIXES or _place(path) not in others
    ]
    found.n_raw_twins, found.photos = len(found.photos) - len(kept), kept


def _pair_live_photos(found: FilesFound) -> None:
    photos = {_place(p): p for p in reversed(found.photos) if p.suffix.lower() in LIVE_PHOTO}
    for path in found.videos:
        photo = photos.get(_place(path)) if path.suffix.lower() in LIVE_VIDEO else None
        if photo is not None:
            found.live.setdefault(photo, path)
    paired = set(found.live.values())
    found.videos = [path for path in found.videos if path not in paired]


def _place(path: Path) -> tuple[Path, str]:
    return path.parent, path.stem.casefold()


def _files_below(folder: Path, found: FilesFound, been: set[tuple[int, int]]) -> Iterator[Path]:
    """Yield the files below a folder; each real folder is visited once, so cycles of links end."""
    try:
        entries = entries_of(folder)
    except UnreadableFolderError as error:
        found.closed.append(SkippedFile(found.name(folder), error.why))
        return
    for path in entries:
        if not is_folder(path):
            yield path
        elif not path.name.startswith(".") and path.name not in MACHINE_FOLDERS:
            if _is_result(path) or is_export(path):
                found.results.append(path)
            elif (identity := _identity(path)) not in been:
                been.add(identity)
                yield from _files_below(path, found, been)


class UnreadableFolderError(ValueError):
    """A folder whose entries cannot be listed.

    Attributes
    ----------
    why : str
        The reason, without the name of the folder.
    """

    def __init__(self, folder: Path, error: OSError) -> None:
        self.why = f"folder cannot be read: {error.strerror or error}"
        super().__init__(f"{shown_name(folder)}: {self.why}")


def entries_of(folder: Path) -> list[Path]:
    """Return the entries of a folder by name, links last."""
    try:
        return sorted(folder.iterdir(), key=lambda p: (p.is_symlink(), os.fsencode(p.name)))
    except OSError as error:
        raise UnreadableFolderError(folder, error) from None


def is_folder(path: Path) -> bool:
    """Whether a path is a folder that can be looked at."""
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


def is_export(path: Path) -> bool:
    """Whether `dayline export` wrote this folder: links to the photos, or clips."""
    try:
        is_named = path.name.partition("-kept-")[0] in ("photos", "clips")
        return is_named and (path / SORTED_PHOTOS).is_file()
    except OSError:
        return False


def refuse_result(folder: Path) -> None:
    """Reject a result folder, whose thumbnails would be read as photos."""
    if _is_result(folder):
        raise ValueError(
            f"{shown_name(folder)}: is a dayline result, not a folder of photos; pass its source"
            " instead"
        )


def _identity(folder: Path) -> tuple[int, int]:
    about = folder.stat()
    return about.st_dev, about.st_ino


def holds_only_folders(path: str | Path) -> bool:
    """Whether a folder contains no photos itself, but has subfolders that may."""
    folder = Path(path)
    if not folder.is_dir():
        return False
    refuse_result(folder)
    entries = entries_of(folder)
    if any(is_photo(path) for path in entries):
        return False
    return any(is_folder(p) and not is_passed_over(p) for p in entries)


def is_photo(path: Path) -> bool:
    """Whether a path is named like a photo, and neither hidden nor a folder."""
    is_named = not path.name.startswith(".") and path.suffix.lower() in PHOTO_SUFFIXES
    return is_named and not is_folder(path) and not is_export(path)


def is_passed_over(folder: Path) -> bool:
    """Whether a folder is hidden, filled by a program, or a result of dayline."""
    return (
        folder.name.startswith(".")
        or folder.name in MACHINE_FOLDERS
        or _is_result(folder)
        or is_export(folder)
    )
