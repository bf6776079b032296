"""Folders of exported files, replaced as a whole and only if nobody changed them."""

from __future__ import annotations

import filecmp
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

from dayline.files import file_digest, read_no_follow, temporary_folder
from dayline.result_folder import SORTED_PHOTOS as MANIFEST
from dayline.text import clean_text, counted

Stamps: TypeAlias = Mapping[str, Sequence[int | str | None]]
"""Size, time of change and hash of every file that an earlier run wrote; no hash for links."""

MANIFEST_FORMAT = "dayline-photos-2"
KEPT = re.compile(r"-kept-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-\d{6}")
REMEDY = "move it elsewhere, choose another folder, or use --force"
LONGEST_NAME = 60
# File systems allow 255 bytes; date, number and extension need some of them.
LONGEST_IN_BYTES = 180


@contextmanager
def replacing_folder(
    folder: Path, *, originals: Sequence[Path] | None = None, force: bool = False
) -> Iterator[Path]:
    """Yield an empty folder that becomes `folder` if the block succeeds.

    A folder of an earlier run is replaced; one that contains anything else, or anything changed
    since, is refused.

    Parameters
    ----------
    folder : Path
        The folder to create; its parent must exist.
    originals : sequence of Path, optional
        The files that those in the folder are links to, or copies of. Links and copies of them may
        be removed even if they were changed; those of other files are kept in a folder beside it.
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
        _take_place(made, folder, originals)
    finally:
        shutil.rmtree(workshop, ignore_errors=True)


def _take_place(made: Path, folder: Path, originals: Sequence[Path] | None) -> None:
    """Move the old folder aside, and then remove from it what dayline can write again.

    A run that is killed in between loses nothing, and the next one goes on removing.
    """
    aside = folder.with_name(f"{folder.name}-kept-{datetime.now():%Y-%m-%dT%H-%M-%S-%f}")
    if folder.exists():
        folder.rename(aside)
    try:
        made.rename(folder)
    except BaseException:
        if aside.exists():
            aside.rename(folder)
        raise

    for kept in sorted(folder.parent.iterdir()):
        is_named = KEPT.fullmatch(kept.name.removeprefix(folder.name)) is not None
        if not is_named or not kept.is_dir() or kept.is_symlink():
            continue
        if kept != aside and not _manifest(kept):
            continue  # of an earlier run that finished
        left = remove_ours(kept, originals)
        if left:
            # Without any file of dayline's own: no later run replaces this folder.
            (kept / MANIFEST).write_text(_manifest_text({}), encoding="utf-8")
            warnings.warn(
                f"{counted(len(left), 'file')} in {folder} not written by dayline, changed since,"
                f" or of a photo no longer in the source: kept in {kept}",
                stacklevel=4,
            )


def check_ours(folder: Path, originals: Sequence[Path] | None = None) -> None:
    """Raise if the folder contains anything that dayline did not write, or that was changed since.

    Parameters
    ----------
    folder : Path
        The folder.
    originals : sequence of Path, optional
        See `replacing_folder`.
    """
    stamps = _manifest(folder)
    if stamps is None:
        raise ValueError(f"{folder / MANIFEST} is damaged; remove {folder} or choose another one")
    for path, why in _others(folder, stamps, originals):
        kind = "folder" if path.is_dir() and not path.is_symlink() else "file"
        name = clean_text(path.relative_to(folder).as_posix())
        raise ValueError(f"{folder} has a {kind} {name!r} {why}; {REMEDY}")


def is_as_written(folder: Path) -> bool:
    """Whether a folder holds the files that dayline wrote into it, and nothing else.

    Parameters
    ----------
    folder : Path
        Photos or sidecars of an earlier run.
    """
    stamps = _manifest(folder)
    return (
        bool(stamps)
        and all((folder / name).is_file() for name in stamps or ())
        and not _others(folder, stamps or {}, None)
    )


def last_copies(folder: Path, originals: Sequence[Path]) -> list[Path]:
    """Return the files in a folder of links and copies that exist nowhere else.

    A photo that was deleted or edited in the source since may live on only as the link that an
    earlier run made.

    Parameters
    ----------
    folder : Path
        The folder.
    originals : sequence of Path
        The photos in the source.
    """
    present = {_stamp(photo) for photo in originals}
    single = [
        path
        for path in _files(folder)
        if not path.is_symlink() and path.stat().st_nlink == 1 and _stamp(path) not in present
    ]
    copies = _copies_among(single, originals)
    return [path for path in single if path not in copies]


def remove_ours(folder: Path, originals: Sequence[Path] | None) -> list[Path]:
    """Remove from a folder what dayline can write again, and the folder if nothing is left.

    Parameters
    ----------
    folder : Path
        The folder.
    originals : sequence of Path, optional
        See `replacing_folder`.

    Returns
    -------
    list of Path
        The files that are left.
    """
    # If the list is damaged, no file is known to be dayline's own.
    lasting = {path for path, _ in _others(folder, _manifest(folder) or {}, originals)}
    if originals is not None:
        lasting.update(last_copies(folder, originals))
    left = [path for path in _files(folder) if path in lasting]
    for path in _files(folder):
        if path not in lasting:
            path.unlink()

    for inner in sorted(folder.rglob("*"), reverse=True):
        if inner.is_dir() and not inner.is_symlink() and not any(inner.iterdir()):
            inner.rmdir()
    if not left:
        (folder / MANIFEST).unlink(missing_ok=True)
        folder.rmdir()
    return left


def _files(folder: Path) -> list[Path]:
    """Return all files and links in a folder but the list of those that dayline wrote."""
    return [
        path
        for path in sorted(folder.rglob("*"))
        if (path.is_symlink() or not path.is_dir()) and path != folder / MANIFEST
    ]


def _check_is_folder(folder: Path) -> None:
    if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
        raise ValueError(
            f"{folder} exists and is not a folder written by dayline; choose another one"
        )


def _stamp(path: Path) -> tuple[int, int]:
    """Return size and modification time, which reveal a file that someone replaced."""
    about = path.stat()
    return about.st_size, about.st_mtime_ns


def _manifest_text(stamps: Stamps) -> str:
    return json.dumps({"format": MANIFEST_FORMAT, "files": stamps}, indent=1)


def _write_manifest(made: Path) -> None:
    stamps = {}
    for path in _files(made):
        # A link to a photo can be compared with it instead.
        digest = None if path.stat().st_nlink > 1 else file_digest(path)
        stamps[path.relative_to(made).as_posix()] = [*_stamp(path), digest]
    (made / MANIFEST).write_text(_manifest_text(stamps), encoding="utf-8")


def _manifest(folder: Path) -> Stamps | None:
    """Read the list of files that an earlier run wrote, with their stamps; None if damaged."""
    text = read_no_follow(folder / MANIFEST) if folder.is_dir() else None
    if text is None:
        return {}
    try:
        files = json.loads(text)["files"]
        return {str(name): list(stamp) for name, stamp in files.items()}
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return None


def _others(
    folder: Path, stamps: Stamps, originals: Sequence[Path] | None
) -> list[tuple[Path, str]]:
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
    copies = _copies_among(changed, originals or ())
    others += [(path, "that was changed since") for path in changed if path not in copies]
    return others


def _is_unchanged(path: Path, known: Sequence[int | str | None]) -> bool:
    """Whether a file has the time or the content that it was written with.

    A copy of a result has other times.
    """
    size, modified = _stamp(path)
    known_size, known_time, digest = (*known, None, None, None)[:3]
    return size == known_size and (
        modified == known_time or (digest is not None and file_digest(path) == digest)
    )


def _copies_among(paths: Sequence[Path], originals: Sequence[Path]) -> set[Path]:
    """Return the paths that are links to one of the originals, or have the same content.

    Contents are read only to compare files of the same size.
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
