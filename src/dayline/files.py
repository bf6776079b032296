"""Files that appear whole or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

__all__ = ["write_text_whole", "writing_whole"]


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
    handle, temporary = tempfile.mkstemp(prefix=f".{path.name[:40]}.", suffix=".part", dir=path.parent)
    try:
        with open(handle, mode, encoding=encoding, newline=newline) as file:  # noqa: PTH123
            yield file
        # mkstemp makes files only the owner can read; a result is meant to be shared.
        os.chmod(temporary, 0o666 & ~_umask())  # noqa: PTH101
        os.replace(temporary, path)  # noqa: PTH105
    except BaseException:
        with suppress(FileNotFoundError):
            os.unlink(temporary)  # noqa: PTH108
        raise


def write_text_whole(path: str | Path, text: str) -> None:
    """Write a text file so that a reader sees the old or the new one, never a part."""
    with writing_whole(path) as file:
        file.write(text)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
