"""Photos sorted into one folder per event, as hard links: nothing is moved or stored twice."""

from __future__ import annotations

import errno
import os
import shutil
import warnings
from collections.abc import Sequence
from pathlib import Path, PurePosixPath, PureWindowsPath

from dayline.album.export.chapters import event_label, time_text
from dayline.album.export.whole_folder import (
    check_ours,
    copies_of,
    free_name,
    keep_beside,
    replacing_folder,
    safe_name,
    stamp,
)
from dayline.events import Segmentation
from dayline.files import temporary_folder
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
    with replacing_folder(
        folder,
        originals=photos,
        before_replacing=lambda: _keep_last_copies(folder, photos),
        force=force,
    ) as made:
        _fill(made, segmentation, photos)
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


def _fill(made: Path, segmentation: Segmentation, photos: list[Path]) -> None:
    for name, event in zip(folder_names(segmentation), segmentation.events, strict=True):
        here = made / name
        here.mkdir()
        taken: set[str] = set()
        for photo in photos[event.start : event.stop]:
            stem, suffix = os.path.splitext(photo.name)  # noqa: PTH122 - both parts at once
            _link_or_copy(photo, here / free_name(stem, suffix, taken))


def folder_names(segmentation: Segmentation) -> list[str]:
    """Name a folder per event: "2024-05-12 16.51 Lunch", without dates "03 16.51 Lunch"; "Event" without a name."""
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
    # Before it is moved: after a kill, the next run would remove what was moved.
    _check_nothing_is_lost(folder, photos, shown=folder)
    workshop = temporary_folder(folder.parent, folder.name)
    old = workshop / "old"
    try:
        folder.rename(old)
        try:
            # Check again, now that the folder is out of reach of others.
            _check_nothing_is_lost(old, photos, shown=folder)
        except BaseException:
            old.rename(folder)
            raise
    finally:
        shutil.rmtree(workshop, ignore_errors=True)


def _check_nothing_is_lost(folder: Path, photos: Sequence[Path], *, shown: Path) -> None:
    check_ours(folder, photos, shown=shown)
    last = last_copies(folder, photos)
    if last:
        raise ValueError(f"{counted(len(last), 'photo')} in it may exist nowhere else")


def last_copies(folder: Path, photos: Sequence[Path]) -> list[Path]:
    """Return the files in a folder of sorted photos that exist nowhere else.

    Parameters
    ----------
    folder : Path
        The folder that `sort_photos` wrote.
    photos : sequence of Path
        The photos in the source.
    """
    present, is_copy = [stamp(photo) for photo in photos], copies_of(photos)
    files = [path for path in folder.rglob("*") if path.is_file() and path.name != MANIFEST]
    single = [path for path in files if path.stat().st_nlink == 1]
    return [path for path in single if stamp(path) not in present and not is_copy(path)]


def _keep_last_copies(folder: Path, photos: Sequence[Path]) -> None:
    """Move photos that exist nowhere else out of a folder that is about to be replaced.

    A photo that was deleted or edited in the source since may live on only as the link that an
    earlier run made.
    """
    last = last_copies(folder, photos)
    if not last:
        return
    kept = keep_beside(last, folder)
    photos_text = counted(len(last), "sorted photo")
    warnings.warn(
        f"{photos_text} no longer in the source: the last copies are in {kept}", stacklevel=4
    )
