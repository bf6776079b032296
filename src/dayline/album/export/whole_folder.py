"""Folders of exported files, replaced as a whole and only if nobody changed them."""

from __future__ import annotations

import filecmp
import hashlib
import json
import re
import shutil
import unicodedata
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path, PurePosixPath
from typing import TypeAlias

from dayline.files import read_no_follow, temporary_folder
from dayline.result_folder import SORTED_PHOTOS as MANIFEST
from dayline.text import clean_text, counted

Stamps: TypeAlias = Mapping[str, Sequence[int | str | None]]
"""Size, modification time and hash of every file that an earlier run wrote, as far as they are known."""

MANIFEST_FORMAT = "dayline-photos-2"
KEPT = "-kept-"
REMEDY = "move it elsewhere, choose another folder, or use dayline export --force"
LONGEST_NAME = 60
LONGEST_IN_BYTES = 180
"""File systems allow 255 bytes; date, number and extension need some of them."""


@contextmanager
def replacing_folder(
    folder: Path,
    *,
    originals: Sequence[Path] = (),
    before_replacing: Callable[[], None] | None = None,
    force: bool = False,
) -> Iterator[Path]:
    """Yield an empty folder that becomes `folder` if the block succeeds.

    A folder of an earlier run is replaced; one that contains anything else, or anything changed
    since, is refused.

    Parameters
    ----------
    folder : Path
        The folder to create; its parent must exist.
    originals : sequence of Path
        Files whose links and copies in the folder may be removed even if they were changed.
    before_replacing : callable, optional
        Called once the new folder is complete, while the earlier one is still there.
    force : bool
        Replace the folder even if it contains other files; these are kept in a folder beside it.
    """
    _check_is_folder(folder)
    if not force:
        check_ours(folder, originals)
    workshop = temporary_folder(folder.parent, folder.name)
    try:
        made = workshop / "new"
        made.mkdir()
        yield made
        files = sorted(path for path in made.rglob("*") if path.is_file())
        stamps = {
            path.relative_to(made).as_posix(): [*stamp(path), _own_digest(path)] for path in files
        }
        manifest = {"format": MANIFEST_FORMAT, "files": stamps}
        (made / MANIFEST).write_text(json.dumps(manifest, indent=1), encoding="utf-8")
        if force:
            _keep_others(folder, originals, shown=folder)
        if before_replacing is not None:
            before_replacing()
        _take_place(made, folder, old=workshop / "old", originals=originals, force=force)
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
    """Raise if the folder contains anything that dayline did not write, or that was changed since.

    Parameters
    ----------
    folder : Path
        The folder.
    originals : sequence of Path
        See `replacing_folder`.
    shown : Path, optional
        The folder in messages, if it was moved.
    """
    shown = shown or folder
    _check_is_folder(folder, shown)
    for path, why in _others(folder, _manifest(folder, shown), originals):
        kind = "folder" if path.is_dir() and not path.is_symlink() else "file"
        name = clean_text(path.relative_to(folder).as_posix())
        raise ValueError(f"{shown} has a {kind} {name!r} {why}; {REMEDY}")


def copies_of(originals: Sequence[Path]) -> Callable[[Path], bool]:
    """Return a function that says whether a file is a link to one of these files, or has the same content.

    Parameters
    ----------
    originals : sequence of Path
        The files; their contents are read only to compare files of the same size.
    """
    by_size: dict[int, list[Path]] = {}
    for original in originals:
        by_size.setdefault(original.stat().st_size, []).append(original)

    def is_copy(path: Path) -> bool:
        same_size = by_size.get(path.stat().st_size, ())
        return any(path.samefile(file) for file in same_size) or any(
            filecmp.cmp(path, file, shallow=False) for file in same_size
        )

    return is_copy


def keep_beside(paths: Sequence[Path], folder: Path, *, shown: Path | None = None) -> Path:
    """Move files out of a folder that is about to be replaced, into a new folder beside it.

    Parameters
    ----------
    paths : sequence of Path
        Files in `folder`.
    folder : Path
        The folder.
    shown : Path, optional
        Where the folder belongs, if it was moved.
    """
    shown = shown or folder
    kept = shown.with_name(f"{shown.name}{KEPT}{datetime.now():%Y-%m-%dT%H-%M-%S-%f}")
    for path in paths:
        target = kept / path.relative_to(folder)
        target.parent.mkdir(parents=True, exist_ok=True)
        path.rename(target)
    (kept / MANIFEST).write_text(empty_manifest(), encoding="utf-8")
    return kept


def _check_is_folder(folder: Path, shown: Path | None = None) -> None:
    if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
        raise ValueError(
            f"{shown or folder} exists and is not a folder written by dayline; choose another one"
        )


def _own_digest(path: Path) -> str | None:
    """Return the hash of a file; None for a link to a photo, with which it can be compared instead."""
    return None if path.stat().st_nlink > 1 else _digest(path)


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _others(folder: Path, stamps: Stamps, originals: Sequence[Path]) -> Iterator[tuple[Path, str]]:
    """Yield what dayline did not write into a folder or what was changed since, and which of both it is."""
    folders = {parent.as_posix() for name in stamps for parent in PurePosixPath(name).parents}
    # Removing another link to a photo of the source, or a copy, loses nothing, even if the photo
    # was changed.
    is_copy = copies_of(originals)
    for path in folder.rglob("*"):
        name = path.relative_to(folder).as_posix()
        if path.is_dir() and not path.is_symlink():
            if name not in folders:
                yield path, "not written by dayline"
        elif name != MANIFEST:
            if name not in stamps or path.is_symlink():
                yield path, "not written by dayline"
            elif not _is_unchanged(path, stamps[name]) and not is_copy(path):
                yield path, "that was changed since"


def _is_unchanged(path: Path, known: Sequence[int | str | None]) -> bool:
    """Whether a file has the time, or the content, that it was written with; a copy of a result has other times."""
    size, modified = stamp(path)
    known_size, known_time, digest = (*known, None, None, None)[:3]
    return size == known_size and (
        modified == known_time or (digest is not None and _digest(path) == digest)
    )


def _keep_others(folder: Path, originals: Sequence[Path], *, shown: Path) -> None:
    """Move what dayline did not write, or what was changed since, out of a folder that is about to be replaced."""
    if not folder.is_dir():
        return
    try:
        stamps = _manifest(folder, shown)
    except ValueError:  # it is damaged, so that no file is known to be dayline's own
        stamps = {}
    found = [path for path, _ in _others(folder, stamps, originals)]
    files = [path for path in found if path.is_symlink() or not path.is_dir()]
    if files:
        kept = keep_beside(files, folder, shown=shown)
        files_text = counted(len(files), "file")
        warnings.warn(
            f"{files_text} in {shown} not written by dayline, or changed since: kept in {kept}",
            stacklevel=4,
        )


def _manifest(folder: Path, shown: Path) -> Stamps:
    """Read the list of files that an earlier run wrote, with their stamps (version 0.1.0 stored names only)."""
    text = read_no_follow(folder / MANIFEST) if folder.is_dir() else None
    if text is None:
        return {}
    try:
        content = json.loads(text)
        if isinstance(content, list):
            return {str(name): [] for name in content}
        return {str(name): list(stamp) for name, stamp in content["files"].items()}
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        raise ValueError(
            f"{shown / MANIFEST} is damaged; remove {shown} or choose another one"
        ) from None


def _take_place(
    made: Path, folder: Path, *, old: Path, originals: Sequence[Path], force: bool
) -> None:
    """Replace the old folder with the new one; restore the old one if that fails."""
    if folder.exists():
        folder.rename(old)
    try:
        # Check again, now that the folder is out of reach of others.
        if force:
            _keep_others(old, originals, shown=folder)
        else:
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
