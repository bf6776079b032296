"""Names of files: safe to show, and in the order a person would put them."""

from __future__ import annotations

import os
import re
from pathlib import PurePath

__all__ = ["natural_key", "shown_name"]

NUMBERS = re.compile(r"([0-9]+)")


def shown_name(path: PurePath | str) -> str:
    """Write a name so that it can be shown anywhere: one line, valid Unicode, forward slashes.

    Bytes that are no UTF-8, control characters and marks that turn the direction of writing become
    backslash escapes; letters of every script stay. It is not escaped for HTML.
    """
    text = path.as_posix() if isinstance(path, PurePath) else path
    valid = os.fsencode(text).decode("utf-8", "backslashreplace")
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in valid)


def natural_key(name: str) -> tuple[tuple[tuple[int, int, str], ...], ...]:
    """Sort key under which photo2 comes before photo10, folder by folder."""
    return tuple(_part_key(part) for part in name.split("/"))


def _part_key(part: str) -> tuple[tuple[int, int, str], ...]:
    pieces = NUMBERS.split(part)
    # Every second piece is a number; numbers come before words, as they do in ASCII.
    return tuple((0, int(p), p) if i % 2 else (1, 0, p.casefold()) for i, p in enumerate(pieces) if p or i % 2)
