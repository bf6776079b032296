"""Files of others: a damaged one is one line that names it, and none makes a reader allocate without limit."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import PurePath

__all__ = ["UnreadableFileError", "allowed_bytes", "check_allocation", "reading"]

ALWAYS_ALLOWED = 256 * 2**20
"""Bytes that the content of any file may take in memory, however small the file is."""

LARGEST_EXPANSION = 16
"""How many times the size of its file the content may take beyond that; real features compress by two or three."""


class UnreadableFileError(ValueError):
    """A file that cannot be used; the message is one line that names the file."""


@contextmanager
def reading(name: str | PurePath, kind: str) -> Iterator[None]:
    """Turn whatever a library raises on a damaged file into one line.

    Wrap the calls into the library and nothing else: a bug of our own inside the block would be reported as damage.
    Our own checks inside it raise `UnreadableFileError`, which passes unchanged.

    Parameters
    ----------
    name : str or PurePath
        The file, as the message should name it.
    kind : str
        What the file should be, with its article: "a NumPy file".
    """
    try:
        yield
    except UnreadableFileError:
        raise
    except MemoryError as error:
        raise UnreadableFileError(f"{name}: there is not enough memory to read it") from error
    except OSError as error:
        reason = _first_line(error.strerror or str(error)) or type(error).__name__
        raise UnreadableFileError(f"{name}: cannot be read as {kind}: {reason}") from error
    # Libraries raise anything on damaged files: their own types, struct.error, AssertionError, RecursionError, ...
    except Exception as error:
        reason = _first_line(str(error)) or type(error).__name__
        raise UnreadableFileError(f"{name}: damaged, or not {kind} ({reason})") from error


def _first_line(text: str) -> str:
    line = next((line.strip() for line in text.splitlines() if line.strip()), "")
    return line if len(line) <= 200 else f"{line[:197]}..."


def allowed_bytes(file_size: int) -> int:
    """Return how many bytes the content of a file of this size may take in memory."""
    return max(ALWAYS_ALLOWED, LARGEST_EXPANSION * file_size)


def check_allocation(name: str | PurePath, n_bytes: int, *, file_size: int | None = None, what: str = "it") -> None:
    """Refuse a file whose declared sizes ask for more memory than it can have a use for.

    Call it with the sizes that a header declares, before anything of that size is allocated.

    Parameters
    ----------
    name : str or PurePath
        The file, as the message should name it.
    n_bytes : int
        What reading would allocate.
    file_size : int, optional
        Size of the file; asked of the file system when not given, which needs `name` to be its path.
    what : str
        What declares the size, for the message: "array 'features'".
    """
    limit = allowed_bytes(os.stat(name).st_size if file_size is None else file_size)  # noqa: PTH116
    if n_bytes > limit:
        raise UnreadableFileError(
            f"{name}: {what} declares {_size(n_bytes)}, over the limit of {_size(limit)} for a file of this size"
        )


def _size(n_bytes: int) -> str:
    return f"{n_bytes / 2**20:,.0f} MB" if n_bytes < 2**30 else f"{n_bytes / 2**30:,.1f} GB"
