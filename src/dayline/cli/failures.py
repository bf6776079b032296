"""How commands report exports that failed."""

from __future__ import annotations

from collections.abc import Sequence

import typer

__all__ = ["print_failures"]


def print_failures(failures: Sequence[str]) -> str:
    """Print one line per failed export and return a summary; a single failure is its own summary."""
    if len(failures) == 1:
        return failures[0]
    for failure in failures:
        typer.echo(f"dayline: {' '.join(failure.split())}", err=True)
    return f"{len(failures)} exports failed"
