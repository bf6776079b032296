"""Files that appear whole or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

__all__ = ["MARK", "output_folder", "prepare_output", "write_text_whole", "writing_whole"]

MARK = ".dayline"
"""A file that says: this folder is a result of ours."""


@contextmanager
def writing_whole(path: str | Path, mode: str = "w") -> Iterator[IO[Any]]:
    """Open a file beside `path`; it takes the place of `path` only when the block ends well.

    Parameters
    ----------
    path : str or Path
        The file to write. Its folder must exist.
    mode : {"w", "wb"}
        Text (UTF-8, plain line feeds) or bytes.
    """
    path = Path(path)
    encoding, newline = (None, None) if "b" in mode else ("utf-8", "")
    try:
        handle, temporary = tempfile.mkstemp(prefix=f".{path.name[:40]}.", suffix=".part", dir=path.parent)
    except OSError as error:
        raise type(error)(error.errno, error.strerror, str(path)) from None
    try:
        with open(handle, mode, encoding=encoding, newline=newline) as file:  # noqa: PTH123
            yield file
        # mkstemp makes files only the owner can read; a result is meant to be shared.
        os.chmod(temporary, 0o666 & ~_umask())  # noqa: PTH101
        os.replace(temporary, path)  # noqa: PTH105
    except BaseException as error:
        with suppress(FileNotFoundError):
            os.unlink(temporary)  # noqa: PTH108
        if isinstance(error, OSError) and error.errno is not None and error.filename is None:
            # A disk that is full does not say of which file.
            raise type(error)(error.errno, error.strerror, str(path)) from None
        raise


def write_text_whole(path: str | Path, text: str) -> None:
    """Write a text file so that a reader sees the old or the new one, never a part."""
    with writing_whole(path) as file:
        file.write(text)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def prepare_output(folder: str | Path) -> Path:
    """Make the output folder; refuse one that holds files but no result of ours.

    Parameters
    ----------
    folder : str or Path
        Where results will be written. A previous result there is updated.
    """
    folder = Path(folder)
    if folder.exists() and not folder.is_dir():
        raise ValueError(f"{folder}: is a file; name a folder for the result")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        others = [p.name for p in folder.iterdir()]
        if others and MARK not in others:
            raise ValueError(f"{folder}: holds other files ({sorted(others)[0]}, ...); name a new or empty folder")
        # Marked before anything else is written, so that an interrupted run can be taken up again.
        (folder / MARK).touch()
    except OSError as error:
        raise ValueError(f"{folder}: cannot be used as output folder: {error.strerror}") from None
    return folder


@contextmanager
def output_folder(folder: str | Path) -> Iterator[Path]:
    """Prepare the output folder; where what follows is refused and it is new and empty, leave none behind."""
    was_there = Path(folder).exists()
    prepared = prepare_output(folder)
    try:
        yield prepared
    except ValueError:
        if not was_there and [path.name for path in prepared.iterdir()] == [MARK]:
            (prepared / MARK).unlink()
            prepared.rmdir()
        raise
