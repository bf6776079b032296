"""Photos sorted into one folder per event, as hard links: nothing is moved or stored twice."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Sequence
from pathlib import Path, PurePosixPath, PureWindowsPath

from dayline.album.export.folder import (
    check_ours,
    free_name,
    last_copies,
    remove_ours,
    replacing_folder,
    safe_name,
)
from dayline.album.export.table import event_label, time_text
from dayline.events import Segmentation
from dayline.media.frame import shown_name
from dayline.result_folder import SORTED_PHOTOS as MANIFEST
from dayline.text import clean_text, counted

CANNOT_LINK = {
    errno.EXDEV,
    errno.EPERM,
    errno.EACCES,
    errno.EMLINK,
    errno.ENOTSUP,
    errno.EOPNOTSUPP,
    errno.ENOSYS,
}


def sort_photos(
    segmentation: Segmentation, folder: str | Path, *, source: str | Path, force: bool = False
) -> Path:
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
    force : bool
        Replace a folder with other files, too; these are kept in a folder beside it.
    """
    folder = Path(folder)
    if segmentation.names is None:
        raise ValueError("the frames have no file names to sort; segment a folder of photos")
    if Path(source).resolve().is_relative_to(folder.resolve()):
        raise ValueError(
            f"{source} is inside {folder}, which would be replaced; choose another folder"
        )
    photos = [photo_path(name, source=source) for name in segmentation.names]
    with replacing_folder(folder, originals=photos, force=force) as made:
        for name, event in zip(folder_names(segmentation), segmentation.events, strict=True):
            (made / name).mkdir()
            taken: set[str] = set()
            for photo in photos[event.start : event.stop]:
                _link_or_copy(photo, made / name / free_name(photo.stem, photo.suffix, taken))
    return folder


def photo_path(name: str, *, source: str | Path) -> Path:
    """Return the path of a photo; raise if its name points outside the source."""
    if "\\" in name:
        # events.json holds names with unprintable bytes escaped; find the file whose escaped name
        # matches.
        shown = (
            p
            for p in Path(source).rglob("*")
            if shown_name(p.relative_to(source)) == name and p.is_file()
        )
        found = next(shown, None)
        if found is not None:
            return found
    path = Path(source) / checked_name(name)
    if not path.is_file():
        why = "" if Path(source).is_dir() else ", which is not a folder"
        raise ValueError(
            f"photo {clean_text(name)!r} is not in {source}{why}; pass the folder that was"
            " segmented"
        )
    return path


def checked_name(name: str) -> str:
    """Return the name of a photo; raise if it points outside the source."""
    parts = PurePosixPath(name).parts + PureWindowsPath(name).parts
    if (
        ".." in parts
        or PurePosixPath(name).is_absolute()
        or PureWindowsPath(name).anchor
        or "\0" in name
    ):
        raise ValueError(
            f"photo name {clean_text(name)!r} points outside the photo folder; repair the events"
            " file"
        )
    return name


def folder_names(segmentation: Segmentation) -> list[str]:
    """Name a folder per event: "2024-05-12 16.51 Lunch", without dates "03 16.51 Lunch"."""
    width = max(2, len(str(len(segmentation.events))))
    taken: set[str] = set()
    names = []
    for number, (event, start) in enumerate(
        zip(segmentation.events, segmentation.start_times, strict=True), start=1
    ):
        when = time_text(segmentation, start).replace(":", ".")[:-3]  # without seconds
        if not segmentation.is_dated:
            # Times of day alone do not sort the events of a night.
            when = f"{number:0{width}d} {when}".rstrip()
        title = safe_name(event_label(segmentation, event))
        names.append(free_name(f"{when} {title}".rstrip(". "), "", taken))
    return names


def _link_or_copy(photo: Path, target: Path) -> None:
    photo = photo.resolve()
    try:
        os.link(photo, target)
    except OSError as error:
        if error.errno not in CANNOT_LINK:
            raise
        shutil.copy2(photo, target)


def remove_sorted_photos(folder: Path, photos: Sequence[Path] = ()) -> None:
    """Remove a folder that `sort_photos` wrote; raise if that would lose anything.

    Parameters
    ----------
    folder : Path
        The folder.
    photos : sequence of Path
        The photos in the source, as far as they are known.
    """
    if not (folder / MANIFEST).is_file():
        raise ValueError("dayline did not write it")
    check_ours(folder, photos)
    last = last_copies(folder, photos)
    if last:
        raise ValueError(f"{counted(len(last), 'photo')} in it may exist nowhere else")
    remove_ours(folder, photos)
