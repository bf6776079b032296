"""Which files of a result a request may read, and which part of them."""

from __future__ import annotations

import os
import re
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import IO
from urllib.parse import unquote_to_bytes

from dayline.io.files import open_no_follow

__all__ = ["OpenFile", "asked_range", "inner_path", "opened"]

KINDS = {
    ".html": "text/html; charset=utf-8",
    ".jpg": "image/jpeg",
    ".jpeg": "image/jpeg",
    ".png": "image/png",
    ".webp": "image/webp",
    ".json": "application/json",
    ".csv": "text/csv; charset=utf-8",
    ".txt": "text/plain; charset=utf-8",
    ".vtt": "text/vtt; charset=utf-8",
    ".mp4": "video/mp4",
    ".m4v": "video/mp4",
    ".mov": "video/quicktime",
    ".webm": "video/webm",
    ".mkv": "video/x-matroska",
}
OTHER_KIND = "application/octet-stream"
# Characters that separate folders or have a meaning in paths; on Windows, also those of drives and streams.
MEANT = re.compile(r"[/\\:\0]" if os.name == "nt" else r"[/\0]")
RANGE = re.compile(r"bytes=(\d{0,18})-(\d{0,18})")


@dataclass(frozen=True)
class OpenFile:
    """A file to send: its content, size and kind."""

    file: IO[bytes]
    size: int
    kind: str


def inner_path(folder: Path, address: str) -> Path | None:
    """Return the path within a folder that an address asks for; None if there is none that may be read.

    Hidden names, links, and anything outside the folder have no path.

    Parameters
    ----------
    folder : Path
        The folder, without links in its own path.
    address : str
        The path of the URL below the folder, percent-encoded, without a query.
    """
    parts = [os.fsdecode(unquote_to_bytes(part)) for part in address.split("/")]
    if parts and parts[-1] == "":
        parts[-1] = "index.html"
    if any(not part or part.startswith(".") or MEANT.search(part) for part in parts):
        return None
    path = folder.joinpath(*parts)
    try:
        # Equal only if no part of the way is a link.
        return path if path.resolve(strict=True) == path else None
    except (OSError, ValueError, RuntimeError):
        return None


def opened(path: Path) -> OpenFile | None:
    """Open a regular file; return None for anything else.

    Parameters
    ----------
    path : Path
        The file.
    """
    try:
        handle = open_no_follow(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    except (OSError, ValueError):
        return None
    file = os.fdopen(handle, "rb")
    about = os.fstat(file.fileno())
    if not stat.S_ISREG(about.st_mode):
        file.close()
        return None
    return OpenFile(file, about.st_size, KINDS.get(path.suffix.lower(), OTHER_KIND))


def asked_range(header: str | None, size: int) -> tuple[int, int] | None:
    """Return the first and last byte that a Range header asks for; None for the whole file.

    Parameters
    ----------
    header : str or None
        The header; several ranges, or other units, give the whole file.
    size : int
        Size of the file.

    Raises
    ------
    ValueError
        If the file has no such bytes.
    """
    found = RANGE.fullmatch(header.strip()) if header is not None else None
    if found is None or found[1] == found[2] == "":
        return None
    if found[1] == "":
        first, last = max(0, size - int(found[2])), size - 1
    else:
        first, last = int(found[1]), min(size - 1, int(found[2]) if found[2] else size - 1)
    if first > last:
        raise ValueError(f"no bytes {header} in a file of {size}")
    return first, last
