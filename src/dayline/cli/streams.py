"""Terminals and pipes that cannot show every character."""

from __future__ import annotations

import io
import sys

__all__ = ["can_show", "print_anywhere"]


def print_anywhere() -> None:
    """Print unencodable characters as backslash escapes, so that printing never fails a finished run."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def can_show(text: str, encoding: str) -> bool:
    """Return whether an encoding has all characters of a text."""
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        return False
    return True
