"""Lock folders of results while they are written, and protect files that dayline did not write."""

from __future__ import annotations

import errno
import json
import logging
import os
import shutil
import socket
import threading
import warnings
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from datetime import datetime
from itertools import count
from pathlib import Path
from typing import Literal, TypeAlias

from filelock import FileLock, Timeout

from dayline.files import (
    UNFINISHED,
    before_replacing,
    file_digest,
    open_no_follow,
    read_no_follow,
    refuse_link,
    remove_unfinished,
    write_text_whole,
    writing_whole,
)

EVENTS = "events.json"
MARK = ".dayline"
"""A file that marks a folder as a dayline result."""

SORTED_PHOTOS = ".dayline-photos.json"
"""A file that marks a folder of photos sorted by dayline and lists those it wrote."""

BATCH_RECORD = ".dayline-batch.json"
"""A file in a result of `dayline batch` that says what it was made from."""

DAY_RECORD = ".dayline-day.json"
"""A file in the result of a day that says what it was made from."""

BATCH_LIST = "batch.jsonl"
"""The list of the sequences in a result of `dayline batch`."""

LOCK = ".dayline-lock"
MANIFEST = ".dayline-files.json"
MANIFEST_FORMAT = "dayline-files-1"
HIDDEN = {MARK, LOCK, MANIFEST, BATCH_RECORD, DAY_RECORD}

NO_WAIT = getattr(os, "O_NONBLOCK", 0)  # opening a pipe would block forever
NO_LOCKS = {errno.ENOLCK, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EINVAL}

Others: TypeAlias = Literal["keep", "refuse", "replace"]
"""What to do with a file that dayline did not write; "keep" gives it a dated name."""

log = logging.getLogger(__name__)
_held: set[tuple[int, int, int]] = set()


class OutputFolderError(ValueError):
    """A folder that cannot be used for results; the message may contain private paths."""


class LockedFolderError(OutputFolderError):
    """A folder that another run is writing to."""


class UnwritableFolderError(OutputFolderError):
    """A folder in which nothing can be written, such as one on a read-only disk.

    Attributes
    ----------
    why : str
        What the system says.
    """

    def __init__(self, folder: Path, error: OSError) -> None:
        self.why = error.strerror or type(error).__name__
        super().__init__(f"{folder}: cannot be used as output folder: {self.why}")


@contextmanager
def output_folder(
    folder: str | Path, *, others: Others = "keep", names: Iterable[str] = ()
) -> Iterator[Path]:
    """Create, mark and lock a folder for results.

    A folder with files but without a dayline result raises an error. Inside the block, files that
    dayline did not write, or that have changed since, are protected according to `others`. If the
    block raises ValueError and the folder is new and still empty, it is removed again.

    Parameters
    ----------
    folder : str or Path
        Where to write results. A previous result there is updated.
    others : {"keep", "refuse", "replace"}
        What to do with files that dayline did not write.
    names : iterable of str
        Files that will be written; with "refuse", they are checked before the work starts.
    """
    folder = Path(folder)
    if folder.exists() and not folder.is_dir():
        raise OutputFolderError(f"{folder}: is a file; choose a folder for the result")

    was_there = folder.exists()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        present = {entry.name for entry in folder.iterdir()}
    except OSError as error:
        raise OutputFolderError(
            f"{folder}: cannot be used as output folder: {error.strerror}"
        ) from None

    foreign = sorted(name for name in present - HIDDEN if not UNFINISHED.fullmatch(name))
    if foreign and MARK not in present:
        first = foreign[0] if len(foreign) == 1 else f"{foreign[0]}, ..."
        raise OutputFolderError(
            f"{folder}: contains other files ({first}); choose a new or empty folder"
        )

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
def export_folder(
    folder: str | Path, *, names: Iterable[str] = (), force: bool = False
) -> Iterator[Path]:
    """Lock any folder while exporting files into it; only files written by dayline are replaced.

    Parameters
    ----------
    folder : str or Path
        Where to write; created if missing.
    names : iterable of str
        Files that will be written; those that dayline did not write raise an error before the work
        starts.
    force : bool
        Also replace files that dayline did not write.
    """
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    with _guarded(folder, "replace" if force else "refuse", marked=False, names=names):
        yield folder


@contextmanager
def _guarded(
    folder: Path, others: Others, *, marked: bool, names: Iterable[str] = ()
) -> Iterator[None]:
    """Lock a folder and protect its files, unless another block of this thread does."""
    about = folder.stat()
    key = (about.st_dev, about.st_ino, threading.get_ident())
    if key in _held:
        yield
        return
    with ExitStack() as stack:
        try:
            stack.enter_context(_locked(folder))
            if marked:
                # Marked before anything else is written, so that an interrupted run can be resumed.
                os.close(open_no_follow(folder / MARK, os.O_WRONLY | os.O_CREAT | NO_WAIT))
        except OSError as error:
            raise UnwritableFolderError(folder, error) from None
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
    """Hold the lock of a folder; the system releases it when the process ends, for any reason."""
    path = folder / LOCK
    refuse_link(path)
    lock = FileLock(path, timeout=0, thread_local=False)
    try:
        lock.acquire()
    except Timeout:
        raise LockedFolderError(
            f"{folder}: another dayline run is writing there ({_holder(path)}); wait for it or"
            " choose another folder"
        ) from None
    except OSError as error:
        if error.errno not in NO_LOCKS:
            raise
        log.warning(
            "%s: this file system has no locks; do not start a second run into this folder", folder
        )

    try:
        since = datetime.now().astimezone().isoformat(sep=" ", timespec="seconds")
        with suppress(OSError):  # Windows lets nobody write to a locked file
            path.write_text(f"process {os.getpid()} on {socket.gethostname()} since {since}")
        yield
    finally:
        # Still locked; one who has opened the file and waits notices that it is gone.
        with suppress(OSError):
            path.unlink()
        lock.release()


def _holder(path: Path) -> str:
    with suppress(OSError, ValueError):
        return (read_no_follow(path) or b"").decode("utf-8", "replace") or "process unknown"
    return "process unknown"


def _remove_leftovers(folder: Path) -> None:
    """Remove what a killed run left behind; the lock ensures that no other run is active."""
    for place in _places(folder):
        remove_unfinished(place)


def has_unfinished(folder: Path) -> bool:
    """Return whether a killed run left files in a folder of results, or another one is at work."""
    places = [place for place in _places(folder) if place.is_dir()]
    names = (name for place in places for name in os.listdir(place))  # noqa: PTH208
    return any(name == LOCK or UNFINISHED.fullmatch(name) for name in names)


def _places(folder: Path) -> tuple[Path, Path]:
    """Return the folders that runs write to; the folder itself may be a link, the other not."""
    return folder.resolve(), folder / "thumbnails"


class OwnFiles:
    """The files that dayline wrote into a folder, by their hashes in a hidden file there.

    Parameters
    ----------
    folder : Path
        The folder.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def wrote(self, name: str) -> bool:
        """Whether the file exists and is unchanged since dayline wrote it."""
        path = self.folder / name
        return (
            path.is_file()
            and not path.is_symlink()
            and file_digest(path) in self._known().get(name, ())
        )

    def names(self) -> Iterable[str]:
        """Return the names of the files that dayline wrote, also of those that are gone."""
        return self._known().keys()

    def adopt(self, name: str) -> None:
        """Take a file that is kept elsewhere for one that dayline wrote."""
        self._save(self._known() | {name: [file_digest(self.folder / name)]})

    def refuse_others(self, names: Iterable[str]) -> None:
        """Raise before the work starts the error that `make_way` would raise at the end."""
        for name in names:
            path = self.folder / name
            if os.path.lexists(path) and not self.wrote(name):
                raise OutputFolderError(
                    f"{path}: exists, but dayline did not write it; choose another folder (-o) or"
                    " use --force"
                )

    def make_way(self, name: str, finished: Path, others: Others) -> None:
        """Protect a file that dayline did not write, and record what replaces it.

        Parameters
        ----------
        name : str
            The file to be replaced.
        finished : Path
            The file that replaces it.
        others : {"keep", "refuse", "replace"}
            What to do with a file that dayline did not write.
        """
        path = self.folder / name
        new = file_digest(finished)
        known = self._known()
        current = file_digest(path) if path.is_file() and not path.is_symlink() else None
        if current != new and os.path.lexists(path) and current not in known.get(name, ()):
            if others == "refuse":
                self.refuse_others([name])
            elif others == "keep" and current is not None:
                aside = keep_aside(path)
                warnings.warn(
                    f"{name} is not the file that dayline wrote; it is kept as {aside}",
                    stacklevel=5,
                )
            elif others == "keep":
                warnings.warn(
                    f"{name} was a link, which is not followed; its target is not used",
                    stacklevel=5,
                )

        # Both are recorded until the new one is in place, so that a kill in between does not make
        # them look like files that dayline did not write.
        digests = [new]
        if current is not None and current != new and current in known.get(name, ()):
            digests = [current, new]
        if known.get(name) != digests:
            self._save(known | {name: digests})

    def settle(self) -> None:
        """Forget replaced and deleted files."""
        known = self._known()
        settled = {}
        for name, digests in known.items():
            path = self.folder / name
            if len(digests) > 1 and path.is_file() and not path.is_symlink():
                current = file_digest(path)
                digests = [current] if current in digests else digests
            if os.path.lexists(path):
                settled[name] = digests
        if settled != known:
            self._save(settled)

    def _known(self) -> dict[str, list[str]]:
        text = read_no_follow(self.folder / MANIFEST)
        if text is None:
            return {}
        try:
            content = json.loads(text)
            if content["format"] != MANIFEST_FORMAT:
                return {}
            return {
                str(name): [str(digest) for digest in digests]
                for name, digests in content["files"].items()
            }
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
            # No file is known to be written by dayline, so all are kept.
            return {}

    def _save(self, known: dict[str, list[str]]) -> None:
        content = {"format": MANIFEST_FORMAT, "files": known}
        write_text_whole(
            self.folder / MANIFEST, json.dumps(content, indent=1, sort_keys=True) + "\n"
        )


def inner_results(folder: Path) -> list[Path]:
    """Return the results directly in a folder, such as those of days; links are not followed."""
    found = (path for path in sorted(folder.iterdir()) if not path.is_symlink())
    return [path for path in found if (path / MARK).is_file()]


def keep_aside(path: Path) -> Path:
    """Keep a file under a second, dated name in the same folder before it is replaced.

    The date is that of its last change, so that the same file is kept only once.
    """
    when = datetime.fromtimestamp(path.stat().st_mtime).strftime("%Y-%m-%dT%H-%M-%S")
    for number in count(1):
        aside = path.with_name(
            f"{path.stem}-{when}{f'-{number}' if number > 1 else ''}{path.suffix}"
        )
        if os.path.lexists(aside):
            if (
                aside.is_file()
                and not aside.is_symlink()
                and file_digest(aside) == file_digest(path)
            ):
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
    """Copy a file atomically, for file systems without hard links."""
    with path.open("rb") as original, writing_whole(target, "wb") as copy:
        shutil.copyfileobj(original, copy)
    shutil.copystat(path, target)
