"""Untrusted files: damage gives a one-line error that names the file, and memory is limited."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import PurePath

__all__ = ["UnreadableFileError", "allowed_bytes", "check_allocation", "reading"]

ALWAYS_ALLOWED = 256 * 2**20
"""Bytes of memory that the content of any file may take, however small the file is."""

LARGEST_EXPANSION = 16
"""Above that, content may take this many times the file size; real features compress by a factor of two or three."""


class UnreadableFileError(ValueError):
    """A file that cannot be used; the message is one line that names the file."""


@contextmanager
def reading(name: str | PurePath, kind: str) -> Iterator[None]:
    """Turn any exception that a library raises on a damaged file into a one-line error.

    Wrap only the library calls: a bug in dayline inside the block would be reported as damage. Checks in the block
    raise `UnreadableFileError`, which passes unchanged.

    Parameters
    ----------
    name : str or PurePath
        Name of the file in the message.
    kind : str
        What the file should be, with an article: "a NumPy file".
    """
    try:
        yield
    except UnreadableFileError:
        raise
    except MemoryError as error:
        raise UnreadableFileError(f"{name}: not enough memory to read it") from error
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
    """Return how many bytes of memory the content of a file of this size may take."""
    return max(ALWAYS_ALLOWED, LARGEST_EXPANSION * file_size)


def check_allocation(name: str | PurePath, n_bytes: int, *, file_size: int | None = None, what: str = "it") -> None:
    """Raise an error if a file declares sizes that need more memory than its own size justifies.

    Call this with the sizes declared in a header, before allocating.

    Parameters
    ----------
    name : str or PurePath
        Name of the file in the message.
    n_bytes : int
        Bytes that reading would allocate.
    file_size : int, optional
        Size of the file; if not given, `name` must be its path.
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
