"""Names of result folders: safe on every file system, unique, and the same in the next run."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections import Counter
from collections.abc import Sequence

__all__ = ["folder_names"]

SEPARATOR = "--"
"""Stands for the slash in the name of the result of day/film.mp4, day--film.mp4."""

LONGEST = 100
UNSAFE = re.compile(r'[<>:"\\|?*]')
DEVICES = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?", re.IGNORECASE)
OURS = {"index.html", "batch.jsonl", "thumbnails", "photos"}
"""Names of files and folders that stand beside results, or that the page of photos has."""


def folder_names(paths: Sequence[bytes], identities: Sequence[bytes] | None = None) -> list[str]:
    """Return a folder name for each path: the path itself where it is safe, else with a hash at its end.

    Parameters
    ----------
    paths : sequence of bytes
        Paths with forward slashes.
    identities : sequence of bytes, optional
        What tells paths apart, and is hashed; the paths themselves if not given.
    """
    identities = paths if identities is None else identities
    safe = [_safe(path) for path in paths]
    # Names that differ in case only are one name on some file systems.
    counts = Counter(name.casefold() for name, _ in safe)
    return [
        name if is_same and counts[name.casefold()] == 1 else f"{name}-{hashlib.sha256(identity).hexdigest()[:8]}"
        for (name, is_same), identity in zip(safe, identities, strict=True)
    ]


def _safe(path: bytes) -> tuple[str, bool]:
    """Return a safe name, and whether no other path can have the same one."""
    parts = path.decode("utf-8", "replace").split("/")
    joined = SEPARATOR.join(parts)
    name = unicodedata.normalize("NFC", joined)
    name = "".join(c if c.isprintable() and c != "\ufffd" else "_" for c in UNSAFE.sub("_", name))
    name = name[:LONGEST].lstrip(".-~ ").rstrip(". ")
    if DEVICES.fullmatch(name) or name.casefold() in OURS or not name:
        return f"_{name}", False
    clear = not any(SEPARATOR in part or part.startswith("-") or part.endswith("-") for part in parts)
    fits = len(name.encode("utf-8")) <= 2 * LONGEST
    if not fits:
        name = name.encode("utf-8")[: 2 * LONGEST].decode("utf-8", "ignore")
    return name, clear and fits and name == joined
