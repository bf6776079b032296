"""Values that the shell completes, beyond commands, options and file names."""

from __future__ import annotations

from collections.abc import Callable, Iterable

__all__ = ["completing"]


def completing(values: Iterable[str]) -> Callable[[str], list[str]]:
    """Return what Typer calls with the beginning of a word: the values that start with it."""
    known = list(values)

    def complete(incomplete: str) -> list[str]:
        return [value for value in known if value.startswith(incomplete)]

    return complete
