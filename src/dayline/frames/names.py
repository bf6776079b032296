"""File names: safe to display, and in natural order."""

from __future__ import annotations

import os
import re
from pathlib import PurePath

__all__ = ["by_name", "natural_key", "shown_name"]

NUMBERS = re.compile(r"([0-9]+)")


def shown_name(path: PurePath | str) -> str:
    """Make a name safe to display: one line, valid Unicode, forward slashes.

    Bytes that are not UTF-8, control characters and bidirectional marks become backslash escapes, and a
    backslash becomes two; letters of every script are kept. Different names stay different. The result is
    not escaped for HTML.
    """
    text = path.as_posix() if isinstance(path, PurePath) else path
    # fsdecode turns a byte that is not UTF-8 into one of the characters U+DC80 to U+DCFF.
    return "".join(_shown_character(c) for c in os.fsdecode(os.fsencode(text)))


def _shown_character(c: str) -> str:
    if "\udc80" <= c <= "\udcff":
        return f"\\x{ord(c) - 0xDC00:02x}"
    if c == "\\":
        return "\\\\"
    if c.isprintable():
        return c
    # Not \x80 for U+0080, which would look like the byte.
    return f"\\u{ord(c):04x}" if 0x80 <= ord(c) <= 0xFF else c.encode("unicode_escape").decode("ascii")


def natural_key(name: str) -> tuple[tuple[tuple[int, int, str], ...], ...]:
    """Sort key under which photo2 comes before photo10, folder by folder."""
    return tuple(_part_key(part) for part in name.split("/"))


def by_name(path: PurePath) -> tuple[tuple[tuple[int, int, str], ...], ...]:
    """Sort key that puts files in natural order of their names; see `natural_key`."""
    return natural_key(shown_name(path.name))


def _part_key(part: str) -> tuple[tuple[int, int, str], ...]:
    pieces = NUMBERS.split(part)
    # Every second piece is a number; numbers sort before words, as in ASCII.
    return tuple((0, int(p), p) if i % 2 else (1, 0, p.casefold()) for i, p in enumerate(pieces) if p or i % 2)
