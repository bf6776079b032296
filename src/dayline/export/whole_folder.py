"""Folders of exported files, replaced as a whole and only if nobody changed them."""

from __future__ import annotations

import json
import re
import shutil
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path, PurePosixPath

from dayline.export.titles import clean_text
from dayline.io.files import read_no_follow, temporary_folder
from dayline.io.output_folder import SORTED_PHOTOS as MANIFEST

__all__ = ["MANIFEST", "check_ours", "empty_manifest", "free_name", "replacing_folder", "safe_name", "stamp"]

MANIFEST_FORMAT = "dayline-photos-2"
REMEDY = "move it elsewhere or choose another folder"
LONGEST_NAME = 60
LONGEST_IN_BYTES = 180
"""File systems allow 255 bytes; date, number and extension need some of them."""


@contextmanager
def replacing_folder(
    folder: Path, *, originals: Sequence[Path] = (), before_replacing: Callable[[], None] | None = None
) -> Iterator[Path]:
    """Yield an empty folder that becomes `folder` if the block succeeds.

    A folder of an earlier run is replaced; one that contains anything else, or anything changed since, is refused.

    Parameters
    ----------
    folder : Path
        The folder to create; its parent must exist.
    originals : sequence of Path
        Files whose hard links in the folder may be removed even if they were changed.
    before_replacing : callable, optional
        Called once the new folder is complete, while the earlier one is still there.
    """
    check_ours(folder, originals)
    workshop = temporary_folder(folder.parent, folder.name)
    try:
        made = workshop / "new"
        made.mkdir()
        yield made
        files = sorted(path for path in made.rglob("*") if path.is_file())
        stamps = {path.relative_to(made).as_posix(): stamp(path) for path in files}
        manifest = {"format": MANIFEST_FORMAT, "files": stamps}
        (made / MANIFEST).write_text(json.dumps(manifest, indent=1), encoding="utf-8")
        if before_replacing is not None:
            before_replacing()
        _take_place(made, folder, old=workshop / "old", originals=originals)
    finally:
        shutil.rmtree(workshop, ignore_errors=True)


def empty_manifest() -> str:
    """Return the manifest of a folder whose files a later run does not replace."""
    return json.dumps({"format": MANIFEST_FORMAT, "files": {}})


def stamp(path: Path) -> list[int]:
    """Return size and modification time, which reveal a file that someone replaced."""
    about = path.stat()
    return [about.st_size, about.st_mtime_ns]


def check_ours(folder: Path, originals: Sequence[Path] = (), *, shown: Path | None = None) -> None:
    """Raise if the folder contains anything that dayline did not write, or that was changed since."""
    shown = shown or folder
    if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
        raise ValueError(f"{shown} exists and is not a folder written by dayline; choose another one")
    if not folder.is_dir():
        return
    stamps = _manifest(folder, shown)
    folders = {parent.as_posix() for name in stamps for parent in PurePosixPath(name).parents}
    linked = {(about.st_dev, about.st_ino) for about in (original.stat() for original in originals)}
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
            is_link = (about.st_dev, about.st_ino) in linked
            if not is_link and stamps[name] != [about.st_size, about.st_mtime_ns]:
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


def _take_place(made: Path, folder: Path, *, old: Path, originals: Sequence[Path]) -> None:
    """Replace the old folder with the new one; restore the old one if that fails."""
    if folder.exists():
        folder.rename(old)
    try:
        # Check again, now that the folder is out of reach of others.
        check_ours(old, originals, shown=folder)
        made.rename(folder)
    except BaseException:
        if old.exists():
            old.rename(folder)
        raise


def safe_name(text: str) -> str:
    """Turn any text into part of a file name that is valid on Windows, macOS and Linux; may be empty."""
    plain = re.sub(r'[<>:"/\\|?*]', "_", clean_text(text))[:LONGEST_NAME]
    return plain.encode()[:LONGEST_IN_BYTES].decode(errors="ignore").rstrip(". ")


def free_name(stem: str, suffix: str, taken: set[str]) -> str:
    """Return the name, numbered if it is taken (case and composition of characters aside), and take it."""
    candidate, k = f"{stem}{suffix}", 1
    while _folded(candidate) in taken:
        k += 1
        candidate = f"{stem} ({k}){suffix}"
    taken.add(_folded(candidate))
    return candidate


def _folded(name: str) -> str:
    return unicodedata.normalize("NFC", name.casefold())
