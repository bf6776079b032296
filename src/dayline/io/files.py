"""Files that appear whole or not at all, and links that are not followed."""

from __future__ import annotations

import errno
import os
import re
import shutil
import stat
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any, TypeAlias

__all__ = [
    "UNFINISHED",
    "before_replacing",
    "open_no_follow",
    "read_no_follow",
    "refuse_link",
    "remove_unfinished",
    "temporary_folder",
    "write_text_whole",
    "writing_whole",
]

UNFINISHED = re.compile(r"\.dayline-.*-[a-z0-9_]{8}\.part")
"""Names of files and folders that are still being written, or that a killed run left behind."""

BeforeReplacing: TypeAlias = Callable[[Path, Path], None]
"""Called with the path to be replaced and the finished file that takes its place; may refuse by raising."""

_watched: dict[Path, BeforeReplacing] = {}


@contextmanager
def writing_whole(path: str | Path, mode: str = "w", *, durable: bool = True) -> Iterator[IO[Any]]:
    """Open a file beside `path`; it takes the place of `path` only when the block ends well.

    A link at `path` is replaced, not followed.

    Parameters
    ----------
    path : str or Path
        The file to write. Its folder must exist.
    mode : {"w", "wb"}
        Text (UTF-8, plain line feeds) or bytes.
    durable : bool
        Wait until the disk has the content, so that a power cut leaves the old or the new file. Files that are
        checked and made again when damaged can do without.
    """
    path = Path(path)
    encoding, newline = (None, None) if "b" in mode else ("utf-8", "")
    try:
        handle, temporary = tempfile.mkstemp(prefix=_prefix(path.name), suffix=".part", dir=path.parent)
    except OSError as error:
        raise type(error)(error.errno, error.strerror, str(path)) from None
    try:
        with open(handle, mode, encoding=encoding, newline=newline) as file:  # noqa: PTH123
            yield file
            file.flush()
            if durable:
                os.fsync(file.fileno())
        # mkstemp makes files only the owner can read; a result is meant to be shared.
        os.chmod(temporary, 0o666 & ~_umask())  # noqa: PTH101
        watcher = _watched.get(path.parent.resolve())
        if watcher is not None:
            watcher(path, Path(temporary))
        os.replace(temporary, path)  # noqa: PTH105
    except BaseException as error:
        with suppress(FileNotFoundError):
            os.unlink(temporary)  # noqa: PTH108
        if isinstance(error, OSError) and error.errno is not None and error.filename is None:
            # A disk that is full does not say of which file.
            raise type(error)(error.errno, error.strerror, str(path)) from None
        raise


@contextmanager
def before_replacing(folder: Path, watcher: BeforeReplacing) -> Iterator[None]:
    """Call `watcher` before any file directly in `folder` is replaced by `writing_whole`.

    This is how an output folder protects files that dayline did not write, whoever writes into it.
    """
    place = folder.resolve()
    outer = _watched.get(place)
    _watched[place] = watcher
    try:
        yield
    finally:
        if outer is None:
            del _watched[place]
        else:
            _watched[place] = outer


def write_text_whole(path: str | Path, text: str) -> None:
    """Write a text file so that a reader sees the old or the new one, never a part."""
    with writing_whole(path) as file:
        file.write(text)


def temporary_folder(folder: Path, name: str) -> Path:
    """Make a hidden folder in `folder` in which something called `name` is prepared."""
    return Path(tempfile.mkdtemp(prefix=_prefix(name), suffix=".part", dir=folder))


def remove_unfinished(folder: Path, *, older_than: float = 0.0, pattern: re.Pattern[str] = UNFINISHED) -> None:
    """Remove what killed runs left in a folder.

    Parameters
    ----------
    folder : Path
        The folder; one that is missing or a link is left alone.
    older_than : float
        Only what was last changed so many seconds ago.
    pattern : re.Pattern
        Names of what is removed.
    """
    if folder.is_symlink() or not folder.is_dir():
        return
    for path in [path for path in folder.iterdir() if pattern.fullmatch(path.name)]:
        if time.time() - path.lstat().st_mtime < older_than:
            continue
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()


def _prefix(name: str) -> str:
    return f".dayline-{name[:40]}-"


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def open_no_follow(path: Path, flags: int, mode: int = 0o666) -> int:
    """Open a file as os.open does, but refuse a link in its place."""
    try:
        return os.open(path, flags | getattr(os, "O_NOFOLLOW", 0), mode)
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.EMLINK):
            raise ValueError(f"{path}: is a link to another place; remove it") from None
        raise


def read_no_follow(path: Path) -> bytes | None:
    """Read a regular file; None if there is none, ValueError if a link or something else is in its place."""
    try:
        # A pipe would block the open for ever; a regular file does not mind the flag.
        handle = open_no_follow(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    except FileNotFoundError:
        return None
    with os.fdopen(handle, "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise ValueError(f"{path}: is not a regular file; remove it")
        return file.read()


def refuse_link(path: Path) -> None:
    """Refuse a link where a folder of results is written; it would lead elsewhere."""
    if path.is_symlink():
        raise ValueError(f"{path}: is a link to another place; remove it, results stay inside their folder")
