"""A folder of results: locked while it is written, and careful with every file that dayline did not write."""

from __future__ import annotations

import errno
import hashlib
import json
import logging
import os
import re
import shutil
import socket
import sys
import threading
import warnings
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from datetime import datetime
from itertools import count
from pathlib import Path
from typing import Literal, TypeAlias

from dayline.io.files import (
    UNFINISHED,
    before_replacing,
    open_no_follow,
    read_no_follow,
    remove_unfinished,
    write_text_whole,
    writing_whole,
)

if sys.platform != "win32":
    import fcntl

__all__ = ["MARK", "OutputFolderError", "OwnFiles", "export_folder", "keep_aside", "output_folder"]

MARK = ".dayline"
"""A file that says: this folder is a result of dayline."""

LOCK = ".dayline-lock"
MANIFEST = ".dayline-files.json"
MANIFEST_FORMAT = "dayline-files-1"
HIDDEN = {MARK, LOCK, MANIFEST}

# What version 0.1.0 left when it was killed; only looked for in folders of results.
UNFINISHED_0_1_0 = re.compile(r"\..+\.[a-z0-9_]{8}\.part")
DIGEST = re.compile(r"[0-9a-f]{64}")
NO_LOCKS = {errno.ENOLCK, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EINVAL}

Others: TypeAlias = Literal["keep", "refuse", "replace"]
"""What happens to a file in the way that dayline did not write: kept under a dated name, refused, or replaced."""

log = logging.getLogger(__name__)
_held: set[tuple[int, int, int]] = set()


class OutputFolderError(ValueError):
    """A folder that cannot take results; the message may name private paths and files."""


@contextmanager
def output_folder(folder: str | Path, *, others: Others = "keep", names: Iterable[str] = ()) -> Iterator[Path]:
    """Make, mark and lock a folder for results.

    A folder that holds files but no result of dayline is refused. Inside the block, files that dayline did not write,
    or that somebody changed since, are protected as `others` says. If the work in the block is refused (ValueError)
    and the folder is new and still empty, it is removed again.

    Parameters
    ----------
    folder : str or Path
        Where results will be written. A previous result there is updated.
    others : {"keep", "refuse", "replace"}
        What to do about files in the way.
    names : iterable of str
        Files that will be written; with "refuse", one of somebody else is refused before the work begins.
    """
    folder = Path(folder)
    if folder.exists() and not folder.is_dir():
        raise OutputFolderError(f"{folder}: is a file; name a folder for the result")
    was_there = folder.exists()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        names = {entry.name for entry in folder.iterdir()}
    except OSError as error:
        raise OutputFolderError(f"{folder}: cannot be used as output folder: {error.strerror}") from None
    strangers = sorted(name for name in names - HIDDEN if not UNFINISHED.fullmatch(name))
    if strangers and MARK not in names:
        raise OutputFolderError(f"{folder}: holds other files ({strangers[0]}, ...); name a new or empty folder")
    try:
        with _guarded(folder, others, marked=True, names=names):
            yield folder
    except ValueError:
        if not was_there and {entry.name for entry in folder.iterdir()} <= HIDDEN:
            for name in HIDDEN:
                (folder / name).unlink(missing_ok=True)
            folder.rmdir()
        raise


@contextmanager
def export_folder(folder: str | Path, *, names: Iterable[str] = (), force: bool = False) -> Iterator[Path]:
    """Lock any folder while files are exported into it; only files that dayline wrote are replaced.

    Parameters
    ----------
    folder : str or Path
        Where to write; made if missing.
    names : iterable of str
        Files that will be written; one of somebody else is refused before the work begins.
    force : bool
        Replace files of others, too.
    """
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    with _guarded(folder, "replace" if force else "refuse", marked=False, names=names):
        yield folder


@contextmanager
def _guarded(folder: Path, others: Others, *, marked: bool, names: Iterable[str] = ()) -> Iterator[None]:
    """Lock a folder and watch over its files; inside another such block of the same thread, nothing more is done."""
    about = folder.stat()
    key = (about.st_dev, about.st_ino, threading.get_ident())
    if key in _held:
        yield
        return
    with ExitStack() as stack:
        try:
            stack.enter_context(_locked(folder))
            if marked:
                # Marked before anything else is written, so that an interrupted run can be taken up again.
                os.close(open_no_follow(folder / MARK, os.O_WRONLY | os.O_CREAT))
        except OSError as error:
            raise OutputFolderError(f"{folder}: cannot be used as output folder: {error.strerror}") from None
        _remove_leftovers(folder)
        own = OwnFiles(folder)
        if others == "refuse":
            own.refuse_others(names)

        def check(path: Path, finished: Path) -> None:
            if path.name not in HIDDEN:
                own.make_way(path.name, finished, others)

        stack.enter_context(before_replacing(folder, check))
        _held.add(key)
        stack.callback(_held.remove, key)
        stack.callback(own.settle)
        yield


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Hold the folder's lock; the system releases it when a process ends, however it ends."""
    path = folder / LOCK
    if sys.platform == "win32":  # it has no such lock; two runs into one folder are not told apart there
        yield
        return
    while True:
        handle = open_no_follow(path, os.O_RDWR | os.O_CREAT)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = os.read(handle, 200).decode("utf-8", "replace") or "process unknown"
            os.close(handle)
            raise OutputFolderError(
                f"{folder}: another run of dayline writes there ({holder}); wait for it, or name another folder"
            ) from None
        except OSError as error:
            if error.errno not in NO_LOCKS:
                os.close(handle)
                raise
            log.warning("%s: this file system has no locks; start no second run into this folder", folder)
        # Whoever held it before may have removed the file between our opening and our locking it.
        with suppress(FileNotFoundError):
            if os.path.samestat(os.fstat(handle), path.lstat()):
                break
        os.close(handle)
    try:
        os.ftruncate(handle, 0)
        since = datetime.now().astimezone().isoformat(sep=" ", timespec="seconds")
        os.write(handle, f"process {os.getpid()} on {socket.gethostname()} since {since}".encode())
        yield
    finally:
        with suppress(FileNotFoundError):
            path.unlink()
        os.close(handle)


def _remove_leftovers(folder: Path) -> None:
    """Remove what a killed run left behind; the lock says that no other run is at work here."""
    marked = (folder / MARK).is_file()
    for place in (folder, folder / "thumbnails"):
        remove_unfinished(place)
        if marked:
            remove_unfinished(place, pattern=UNFINISHED_0_1_0)


class OwnFiles:
    """Which files of a folder dayline wrote, by their hashes in a hidden file of that folder.

    Parameters
    ----------
    folder : Path
        The folder.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def wrote(self, name: str) -> bool:
        """Tell whether the file of this name is there just as dayline wrote it."""
        path = self.folder / name
        return path.is_file() and not path.is_symlink() and _digest(path) in self._known().get(name, ())

    def refuse_others(self, names: Iterable[str]) -> None:
        """Refuse before the work what `make_way` would refuse after it."""
        for name in names:
            path = self.folder / name
            if os.path.lexists(path) and not self.wrote(name):
                raise OutputFolderError(
                    f"{path}: exists, and dayline did not write it; name another folder (-o), or replace it (--force)"
                )

    def make_way(self, name: str, finished: Path, others: Others) -> None:
        """Protect a file of others that is about to be replaced, and remember the one that replaces it.

        Parameters
        ----------
        name : str
            The file to be replaced.
        finished : Path
            What replaces it.
        others : {"keep", "refuse", "replace"}
            What to do about a file that dayline did not write.
        """
        path = self.folder / name
        new = _digest(finished)
        known = self._known()
        current = _digest(path) if path.is_file() and not path.is_symlink() else None
        if current != new and os.path.lexists(path) and current not in known.get(name, ()):
            if others == "refuse":
                self.refuse_others([name])
            elif others == "keep" and current is not None:
                aside = keep_aside(path)
                warnings.warn(f"{name} is not as dayline left it; it is kept as {aside}", stacklevel=5)
        # Both are ours until the new one is in place, so that a kill in between does not make strangers of them.
        known[name] = [current, new] if current is not None and current in known.get(name, ()) else [new]
        self._save(known)

    def settle(self) -> None:
        """Forget the files that were replaced, and those that are gone."""
        known = self._known()
        settled = {}
        for name, digests in known.items():
            path = self.folder / name
            if len(digests) > 1 and path.is_file() and not path.is_symlink():
                current = _digest(path)
                digests = [current] if current in digests else digests
            if os.path.lexists(path):
                settled[name] = digests
        if settled != known:
            self._save(settled)

    def _known(self) -> dict[str, list[str]]:
        text = read_no_follow(self.folder / MANIFEST)
        if text is None:
            return self._known_0_1_0()
        try:
            content = json.loads(text)
            if content["format"] != MANIFEST_FORMAT:
                return {}
            return {str(name): [str(digest) for digest in digests] for name, digests in content["files"].items()}
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
            # Nothing is known to be ours, so everything is kept.
            return {}

    def _known_0_1_0(self) -> dict[str, list[str]]:
        """Version 0.1.0 kept the hash of events.json in the mark, and of nothing else."""
        mark = (read_no_follow(self.folder / MARK) or b"").decode("ascii", "replace")
        if not DIGEST.fullmatch(mark):
            return {}
        others = [self.folder / name for name in ("index.html", "graph.png", "events.csv")]
        present = {path.name: [_digest(path)] for path in others if path.is_file() and not path.is_symlink()}
        return {"events.json": [mark], **present}

    def _save(self, known: dict[str, list[str]]) -> None:
        content = {"format": MANIFEST_FORMAT, "files": known}
        write_text_whole(self.folder / MANIFEST, json.dumps(content, indent=1, sort_keys=True) + "\n")


def keep_aside(path: Path) -> Path:
    """Give a file a second, dated name beside it, under which it stays when it is replaced.

    The date is that of its last change, so that the same file is kept once however often this is done.
    """
    when = datetime.fromtimestamp(path.stat().st_mtime).strftime("%Y-%m-%dT%H-%M-%S")
    for number in count(1):
        aside = path.with_name(f"{path.stem}-{when}{f'-{number}' if number > 1 else ''}{path.suffix}")
        if os.path.lexists(aside):
            if aside.is_file() and not aside.is_symlink() and _digest(aside) == _digest(path):
                return aside
            continue
        try:
            os.link(path, aside)
        except FileExistsError:
            continue
        except OSError:
            _copy(path, aside)
        return aside
    raise AssertionError("count never ends")


def _copy(path: Path, target: Path) -> None:
    """Copy a file whole, for file systems without hard links."""
    with path.open("rb") as original, writing_whole(target, "wb") as copy:
        shutil.copyfileobj(original, copy)
    shutil.copystat(path, target)


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
