"""Folders of exported files, replaced as a whole and only if nobody changed them."""

from __future__ import annotations

import filecmp
import hashlib
import json
import re
import shutil
import unicodedata
import warnings
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path, PurePosixPath
from typing import TypeAlias

from dayline.files import read_no_follow, temporary_folder
from dayline.result_folder import SORTED_PHOTOS as MANIFEST
from dayline.text import clean_text, counted

Stamps: TypeAlias = Mapping[str, Sequence[int | str | None]]
"""Size, time of change and hash of every file that an earlier run wrote; no hash for links."""

MANIFEST_FORMAT = "dayline-photos-2"
KEPT = "-kept-"
REMEDY = "move it elsewhere, choose another folder, or use dayline export --force"
LONGEST_NAME = 60
# File systems allow 255 bytes; date, number and extension need some of them.
LONGEST_IN_BYTES = 180


@contextmanager
def replacing_folder(
    folder: Path, *, originals: Sequence[Path] = (), force: bool = False
) -> Iterator[Path]:
    """Yield an empty folder that becomes `folder` if the block succeeds.

    A folder of an earlier run is replaced; one that contains anything else, or anything changed
    since, is refused.

    Parameters
    ----------
    folder : Path
        The folder to create; its parent must exist.
    originals : sequence of Path
        Files whose links and copies in the folder may be removed even if they were changed. Links
        and copies of files that are not among them any more are kept in a folder beside it.
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
        _write_manifest(made)
        if force:
            _keep_others(folder, originals, shown=folder)
        if originals:
            _keep_last_copies(folder, originals)
        _take_place(made, folder, old=workshop / "old", originals=originals, force=force)
    finally:
        shutil.rmtree(workshop, ignore_errors=True)


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


def copies_among(paths: Sequence[Path], originals: Sequence[Path]) -> set[Path]:
    """Return the paths that are links to one of the originals, or have the same content.

    Parameters
    ----------
    paths, originals : sequence of Path
        Files; contents are read only to compare files of the same size.
    """
    by_size = defaultdict(list)
    for original in originals:
        by_size[original.stat().st_size].append(original)
    return {
        path
        for path in paths
        if any(
            path.samefile(original) or filecmp.cmp(path, original, shallow=False)
            for original in by_size[path.stat().st_size]
        )
    }


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
    # Without any file of dayline's own: no later run replaces this folder.
    (kept / MANIFEST).write_text(_manifest_text({}), encoding="utf-8")
    return kept


def last_copies(folder: Path, originals: Sequence[Path]) -> list[Path]:
    """Return the files in a folder of links and copies that exist nowhere else.

    Parameters
    ----------
    folder : Path
        The folder, without files of others.
    originals : sequence of Path
        The photos in the source.
    """
    present = [stamp(photo) for photo in originals]
    single = [
        path
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name != MANIFEST and path.stat().st_nlink == 1
    ]
    single = [path for path in single if stamp(path) not in present]
    copies = copies_among(single, originals)
    return [path for path in single if path not in copies]


def _check_is_folder(folder: Path, shown: Path | None = None) -> None:
    if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
        raise ValueError(
            f"{shown or folder} exists and is not a folder written by dayline; choose another one"
        )


def _manifest_text(stamps: Stamps) -> str:
    return json.dumps({"format": MANIFEST_FORMAT, "files": stamps}, indent=1)


def _write_manifest(made: Path) -> None:
    stamps = {}
    for path in sorted(path for path in made.rglob("*") if path.is_file()):
        # A link to a photo can be compared with it instead.
        digest = None if path.stat().st_nlink > 1 else _digest(path)
        stamps[path.relative_to(made).as_posix()] = [*stamp(path), digest]
    (made / MANIFEST).write_text(_manifest_text(stamps), encoding="utf-8")


def _manifest(folder: Path, shown: Path) -> Stamps:
    """Read the list of files that an earlier run wrote, with their stamps."""
    text = read_no_follow(folder / MANIFEST) if folder.is_dir() else None
    if text is None:
        return {}
    try:
        files = json.loads(text)["files"]
        return {str(name): list(stamp) for name, stamp in files.items()}
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        raise ValueError(
            f"{shown / MANIFEST} is damaged; remove {shown} or choose another one"
        ) from None


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _others(folder: Path, stamps: Stamps, originals: Sequence[Path]) -> list[tuple[Path, str]]:
    """Return what dayline did not write or what was changed since, and which of both it is."""
    folders = {parent.as_posix() for name in stamps for parent in PurePosixPath(name).parents}
    others = []
    changed = []
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if path.is_dir() and not path.is_symlink():
            if name not in folders:
                others.append((path, "not written by dayline"))
        elif name != MANIFEST:
            if name not in stamps or path.is_symlink():
                others.append((path, "not written by dayline"))
            elif not _is_unchanged(path, stamps[name]):
                changed.append(path)

    # Removing another link to a photo of the source, or a copy, loses nothing, even if the photo
    # was changed.
    copies = copies_among(changed, originals)
    others += [(path, "that was changed since") for path in changed if path not in copies]
    return others


def _is_unchanged(path: Path, known: Sequence[int | str | None]) -> bool:
    """Whether a file has the time or the content that it was written with.

    A copy of a result has other times.
    """
    size, modified = stamp(path)
    known_size, known_time, digest = (*known, None, None, None)[:3]
    return size == known_size and (
        modified == known_time or (digest is not None and _digest(path) == digest)
    )


def _keep_others(folder: Path, originals: Sequence[Path], *, shown: Path) -> None:
    """Move what dayline did not write, or what was changed since, out of a folder."""
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
        warnings.warn(
            f"{counted(len(files), 'file')} in {shown} not written by dayline, or changed since:"
            f" kept in {kept}",
            stacklevel=4,
        )


def _keep_last_copies(folder: Path, originals: Sequence[Path]) -> None:
    """Move photos that exist nowhere else out of a folder that is about to be replaced.

    A photo that was deleted or edited in the source since may live on only as the link that an
    earlier run made.
    """
    last = last_copies(folder, originals)
    if last:
        kept = keep_beside(last, folder)
        warnings.warn(
            f"{counted(len(last), 'sorted photo')} no longer in the source: the last copies are in"
            f" {kept}",
            stacklevel=4,
        )


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
    """Turn any text into part of a file name for Windows, macOS and Linux; it may be empty."""
    plain = re.sub(r'[<>:"/\\|?*]', "_", clean_text(text))[:LONGEST_NAME]
    return plain.encode()[:LONGEST_IN_BYTES].decode(errors="ignore").rstrip(". ")


def free_name(stem: str, suffix: str, taken: set[str]) -> str:
    """Return the name, numbered if it is taken, and take it.

    Two names are the same if they differ only in case or in the composition of characters.
    """
    candidate, k = f"{stem}{suffix}", 1
    while _folded(candidate) in taken:
        k += 1
        candidate = f"{stem} ({k}){suffix}"
    taken.add(_folded(candidate))
    return candidate


def _folded(name: str) -> str:
    return unicodedata.normalize("NFC", name.casefold())
