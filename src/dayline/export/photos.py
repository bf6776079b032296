"""Photos sorted into one folder per event, as hard links: nothing is moved or stored twice."""

from __future__ import annotations

import errno
import json
import os
import re
import shutil
import warnings
from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path, PurePosixPath, PureWindowsPath

from dayline.events import Segmentation
from dayline.export.titles import clean_text, event_titles
from dayline.frames.names import shown_name
from dayline.io.files import read_no_follow, temporary_folder
from dayline.io.output_folder import SORTED_PHOTOS as MANIFEST
from dayline.text import counted

__all__ = ["photo_path", "sort_photos"]

MANIFEST_FORMAT = "dayline-photos-2"
KEPT = "-kept-"
REMEDY = "move it elsewhere or choose another folder"
CANNOT_LINK = {
    errno.EXDEV,
    errno.EPERM,
    errno.EACCES,
    errno.EMLINK,
    errno.ENOTSUP,
    errno.EOPNOTSUPP,
    errno.ENOSYS,
}
LONGEST_NAME = 60


def sort_photos(segmentation: Segmentation, folder: str | Path, *, source: str | Path) -> Path:
    """Create `folder` with one folder per event that contains its photos as hard links.

    If a hard link cannot be made (another disk, a file system without them), the photo is copied.
    The photos themselves are neither moved nor changed. A folder of an earlier run is replaced; one
    that contains anything else is refused.

    Parameters
    ----------
    segmentation : Segmentation
        Events with the names of their photos.
    folder : str or Path
        The folder to create; its parent must exist.
    source : str or Path
        The folder that the names are relative to.
    """
    folder = Path(folder)
    if segmentation.names is None:
        raise ValueError("the frames have no file names to sort; segment a folder of photos")
    if Path(source).resolve().is_relative_to(folder.resolve()):
        raise ValueError(f"{source} is inside {folder}, which would be replaced; choose another folder")
    photos = [photo_path(name, source=source) for name in segmentation.names]
    _check_ours(folder, photos)
    workshop = temporary_folder(folder.parent, folder.name)
    try:
        made = workshop / "new"
        made.mkdir()
        written = {p.relative_to(made).as_posix(): _stamp(p) for p in _fill(made, segmentation, photos)}
        manifest = {"format": MANIFEST_FORMAT, "files": written}
        (made / MANIFEST).write_text(json.dumps(manifest, indent=1), encoding="utf-8")
        _keep_last_copies(folder, photos)
        _take_place(made, folder, old=workshop / "old", photos=photos)
    finally:
        shutil.rmtree(workshop, ignore_errors=True)
    return folder


def photo_path(name: str, *, source: str | Path) -> Path:
    """Return the path of a photo; raise if its name points outside the source."""
    if "\\" in name:
        # events.json holds names with unprintable bytes escaped; find the file whose escaped name matches.
        shown = (p for p in Path(source).rglob("*") if shown_name(p.relative_to(source)) == name and p.is_file())
        found = next(shown, None)
        if found is not None:
            return found
    parts = PurePosixPath(name).parts + PureWindowsPath(name).parts
    if ".." in parts or PurePosixPath(name).is_absolute() or PureWindowsPath(name).anchor or "\0" in name:
        raise ValueError(f"photo name {clean_text(name)!r} points outside the photo folder; repair the events file")
    path = Path(source) / name
    if not path.is_file():
        why = "" if Path(source).is_dir() else ", which is not a folder"
        raise ValueError(f"photo {clean_text(name)!r} is not in {source}{why}; pass the folder that was segmented")
    return path


def _fill(made: Path, segmentation: Segmentation, photos: list[Path]) -> Iterator[Path]:
    width = max(2, len(str(len(segmentation.events))))
    titles = event_titles(segmentation)
    for number, event in enumerate(segmentation.events):
        here = made / _folder_name(number, titles[number], width=width)
        here.mkdir()
        taken: set[str] = set()
        for photo in photos[event.start : event.stop]:
            target = here / _free_name(photo.name, taken)
            _link_or_copy(photo, target)
            yield target


def _folder_name(number: int, title: str, *, width: int) -> str:
    """Turn any title into a folder name like "03 Lunch with Ada", valid on all systems."""
    plain = re.sub(r'[<>:"/\\|?*]', "_", title)
    default = re.fullmatch(rf"Event {number + 1}(?: \((\w+)\))?", plain)
    if default:
        plain = " ".join(part for part in ("event", default[1]) if part)
    return f"{number + 1:0{width}d} {plain[:LONGEST_NAME]}".rstrip(". ")


def _free_name(name: str, taken: set[str]) -> str:
    """Return the name, numbered if the event already has a photo of that name (ignoring case)."""
    stem, suffix = os.path.splitext(name)  # noqa: PTH122 - both parts at once
    candidate, k = name, 1
    while candidate.casefold() in taken:
        k += 1
        candidate = f"{stem} ({k}){suffix}"
    taken.add(candidate.casefold())
    return candidate


def _link_or_copy(photo: Path, target: Path) -> None:
    photo = photo.resolve()
    try:
        os.link(photo, target)
    except OSError as error:
        if error.errno not in CANNOT_LINK:
            raise
        shutil.copy2(photo, target)


def _stamp(path: Path) -> list[int]:
    """Return size and modification time, which reveal a photo that someone replaced."""
    about = path.stat()
    return [about.st_size, about.st_mtime_ns]


def _check_ours(folder: Path, photos: Sequence[Path], *, shown: Path | None = None) -> None:
    """Raise if the folder contains anything that dayline did not write, or that was changed since."""
    shown = shown or folder
    if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
        raise ValueError(f"{shown} exists and is not a folder written by dayline; choose another one")
    if not folder.is_dir():
        return
    stamps = _manifest(folder, shown)
    folders = {parent.as_posix() for name in stamps for parent in PurePosixPath(name).parents}
    originals = {(about.st_dev, about.st_ino) for about in (photo.stat() for photo in photos)}
    for path in folder.rglob("*"):
        name = path.relative_to(folder).as_posix()
        if path.is_dir() and not path.is_symlink():
            if name not in folders:
                raise ValueError(f"{shown} has a folder {clean_text(name)!r} not written by dayline; {REMEDY}")
        elif name != MANIFEST:
            if name not in stamps or path.is_symlink():
                raise ValueError(f"{shown} has a file {clean_text(name)!r} not written by dayline; {REMEDY}")
            about = path.stat()
            # Removing another link to a photo of the source loses nothing, even if the photo was changed.
            linked = (about.st_dev, about.st_ino) in originals
            if not linked and stamps[name] != [about.st_size, about.st_mtime_ns]:
                raise ValueError(f"{shown} has a file {clean_text(name)!r} that was changed since; {REMEDY}")


def _manifest(folder: Path, shown: Path) -> dict[str, list[int] | None]:
    """Read the list of files that an earlier run wrote, with their stamps (version 0.1.0 stored names only)."""
    text = read_no_follow(folder / MANIFEST)
    if text is None:
        return {}
    try:
        content = json.loads(text)
        if isinstance(content, list):
            return {str(name): None for name in content}
        return {str(name): list(stamp) for name, stamp in content["files"].items()}
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        raise ValueError(f"{shown / MANIFEST} is damaged; remove {shown} or choose another one") from None


def _keep_last_copies(folder: Path, photos: Sequence[Path]) -> None:
    """Move photos that exist nowhere else out of a folder that is about to be replaced.

    A photo that was deleted or edited in the source since may live on only as the link that an earlier run made.
    """
    present = [_stamp(photo) for photo in photos]
    files = [path for path in folder.rglob("*") if path.is_file() and path.name != MANIFEST]
    last = [path for path in files if path.stat().st_nlink == 1 and _stamp(path) not in present]
    if not last:
        return
    kept = folder.with_name(f"{folder.name}{KEPT}{datetime.now():%Y-%m-%dT%H-%M-%S-%f}")
    for path in last:
        target = kept / path.relative_to(folder)
        target.parent.mkdir(parents=True, exist_ok=True)
        path.rename(target)
    (kept / MANIFEST).write_text(json.dumps({"format": MANIFEST_FORMAT, "files": {}}), encoding="utf-8")
    photos_text = counted(len(last), "sorted photo")
    warnings.warn(f"{photos_text} no longer in the source: the last copies are in {kept}", stacklevel=4)


def _take_place(made: Path, folder: Path, *, old: Path, photos: Sequence[Path]) -> None:
    """Replace the old folder with the new one; restore the old one if that fails."""
    if folder.exists():
        folder.rename(old)
    try:
        # Check again, now that the folder is out of reach of others.
        _check_ours(old, photos, shown=folder)
        made.rename(folder)
    except BaseException:
        if old.exists():
            old.rename(folder)
        raise
