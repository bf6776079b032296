"""Photos sorted into one folder per event: hard links, so that nothing is moved or stored twice."""

from __future__ import annotations

import errno
import json
import os
import re
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath, PureWindowsPath

from dayline.events import Segmentation
from dayline.export.titles import clean_text, event_titles
from dayline.frames.names import shown_name
from dayline.io.files import read_no_follow, temporary_folder

__all__ = ["photo_path", "sort_photos"]

MANIFEST_FORMAT = "dayline-photos-2"
WAY_OUT = "move it elsewhere or choose another folder"
MANIFEST = ".dayline-photos.json"
"""What we wrote, so that a later run can tell its own files from those of others."""

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
    """Make `folder` with one folder per event, and in it the photos as hard links.

    Where no hard link can be made (another disk, a file system without them), the photo is copied.
    The photos themselves stay as and where they are. A folder of an earlier run is replaced; one
    that holds anything else is refused.

    Parameters
    ----------
    segmentation : Segmentation
        Events with the names of their photos.
    folder : str or Path
        The folder to make; its parent must exist.
    source : str or Path
        The folder that the names are relative to.
    """
    folder = Path(folder)
    if segmentation.names is None:
        raise ValueError("the frames have no file names, so there is nothing to sort; segment a folder of photos")
    photos = [photo_path(name, source=source) for name in segmentation.names]
    _check_ours(folder, photos)
    workshop = temporary_folder(folder.parent, folder.name)
    try:
        made = workshop / "new"
        made.mkdir()
        written = {p.relative_to(made).as_posix(): _stamp(p) for p in _fill(made, segmentation, photos)}
        manifest = {"format": MANIFEST_FORMAT, "files": written}
        (made / MANIFEST).write_text(json.dumps(manifest, indent=1), encoding="utf-8")
        _take_place(made, folder, old=workshop / "old", photos=photos)
    finally:
        shutil.rmtree(workshop, ignore_errors=True)
    return folder


def photo_path(name: str, *, source: str | Path) -> Path:
    """Return where a photo lies; a name that leads out of the source is refused."""
    if "\\" in name:
        # Names are kept as they are shown; one that cannot be shown is found by how it would be.
        shown = (p for p in Path(source).rglob("*") if shown_name(p.relative_to(source)) == name and p.is_file())
        found = next(shown, None)
        if found is not None:
            return found
    parts = PurePosixPath(name).parts + PureWindowsPath(name).parts
    if ".." in parts or PurePosixPath(name).is_absolute() or PureWindowsPath(name).anchor or "\0" in name:
        raise ValueError(f"photo name {clean_text(name)!r} leads out of the folder of photos; repair the events file")
    path = Path(source) / name
    if not path.is_file():
        way_out = "pass the folder that was segmented" if Path(source).is_dir() else "it is no folder of photos"
        raise ValueError(f"photo {clean_text(name)!r} is not in {source}; {way_out}")
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
    """Make "03 Lunch with Ada" of any title: no separators, no characters that some system refuses."""
    plain = re.sub(r'[<>:"/\\|?*]', "_", title)
    default = re.fullmatch(rf"Event {number + 1}(?: \((\w+)\))?", plain)
    if default:
        plain = " ".join(part for part in ("event", default[1]) if part)
    return f"{number + 1:0{width}d} {plain[:LONGEST_NAME]}".rstrip(". ")


def _free_name(name: str, taken: set[str]) -> str:
    """Keep the name, or number it when the event has a photo of that name (in whatever case)."""
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
    """Size and time of modification: what tells a photo from one that somebody put in its place."""
    about = path.stat()
    return [about.st_size, about.st_mtime_ns]


def _check_ours(folder: Path, photos: Sequence[Path], *, shown: Path | None = None) -> None:
    """Refuse to replace anything that an earlier run of ours did not write, or that was changed since."""
    shown = shown or folder
    if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
        raise ValueError(f"{shown} exists and is not a folder of ours; choose another one")
    if not folder.is_dir():
        return
    stamps = _manifest(folder, shown)
    folders = {parent.as_posix() for name in stamps for parent in PurePosixPath(name).parents}
    originals = {(about.st_dev, about.st_ino) for about in (photo.stat() for photo in photos)}
    for path in folder.rglob("*"):
        name = path.relative_to(folder).as_posix()
        if path.is_dir() and not path.is_symlink():
            if name not in folders:
                raise ValueError(f"{shown} holds the folder {clean_text(name)!r}, which is not ours; {WAY_OUT}")
        elif name != MANIFEST:
            if name not in stamps or path.is_symlink():
                raise ValueError(f"{shown} holds {clean_text(name)!r}, which is not ours; {WAY_OUT}")
            about = path.stat()
            # Another link to a photo of the source loses nothing, whatever was done to the photo.
            linked = (about.st_dev, about.st_ino) in originals
            if not linked and stamps[name] != [about.st_size, about.st_mtime_ns]:
                raise ValueError(f"{shown} holds {clean_text(name)!r}, which was changed by hand; {WAY_OUT}")


def _manifest(folder: Path, shown: Path) -> dict[str, list[int] | None]:
    """Read what an earlier run wrote, with the stamp of each file (version 0.1.0 kept names only)."""
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


def _take_place(made: Path, folder: Path, *, old: Path, photos: Sequence[Path]) -> None:
    """Put the new folder where the old one was; the old one comes back if that fails."""
    if folder.exists():
        folder.rename(old)
    try:
        # Once more, now that nobody can find it to put anything in.
        _check_ours(old, photos, shown=folder)
        made.rename(folder)
    except BaseException:
        if old.exists():
            old.rename(folder)
        raise
