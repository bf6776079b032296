"""The command line: each command parses its arguments, calls one function and prints."""

from __future__ import annotations

import logging
import os
import re
import sys
import warnings
from typing import Any

import typer

from dayline import __version__
from dayline.cli.batch import batch
from dayline.cli.console import print_anywhere
from dayline.cli.datasets import datasets
from dayline.cli.demo import demo
from dayline.cli.doctor import doctor
from dayline.cli.evaluate import evaluate
from dayline.cli.export import export
from dayline.cli.options import Command
from dayline.cli.reproduce import reproduce
from dayline.cli.segment import segment
from dayline.cli.view import view

__all__ = ["app", "main"]

INTERRUPTED = 130
"""Exit code that shells expect after Ctrl-C."""

REQUESTS = re.compile(r"\b(n_events|min_duration|expected_duration|level)=(?=[-\d])")
"""Parameters that messages of the library name and that are options here."""

# Some versions of Typer bundle Click, others depend on it; this finds the class in both.
UsageError: Any = next(
    kind for kind in typer.BadParameter.__mro__ if kind.__name__ == "ClickException"
)

app = typer.Typer(no_args_is_help=True, pretty_exceptions_enable=False)
app.command(cls=Command)(segment)
app.command(cls=Command)(view)
app.command(cls=Command)(batch)
app.command(cls=Command)(evaluate)
app.command(cls=Command)(export)
app.command(cls=Command)(demo)
app.command(cls=Command)(datasets)
app.command(cls=Command)(reproduce)
app.command(cls=Command)(doctor)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"dayline {__version__}")
        raise typer.Exit


@app.callback()
def _about(
    version: bool = typer.Option(
        False, "--version", callback=_print_version, is_eager=True, help="Print the version."
    ),
) -> None:
    """Split a sequence of images or feature vectors into events."""


def main() -> None:
    """Run the command line; a user's mistake gives one line and exit code 2, never a traceback."""
    print_anywhere()
    warnings.showwarning = _show_warning  # type: ignore[assignment]
    logging.basicConfig(format="dayline: note: %(message)s", level=logging.WARNING)
    try:
        code = app(prog_name="dayline", standalone_mode=False)
        if code == INTERRUPTED:
            raise typer.Abort
        sys.exit(code)
    except (typer.Abort, KeyboardInterrupt):
        typer.echo(
            "dayline: stopped; no file is incomplete, and the same command resumes", err=True
        )
        sys.exit(INTERRUPTED)
    except UsageError as error:
        if type(error).__name__ == "NoArgsIsHelpError":
            typer.echo(str(error))
        else:
            typer.echo(f"dayline: {_one_line(error)}; see dayline --help", err=True)
        sys.exit(2)
    except (ValueError, OSError, MemoryError) as error:
        if os.environ.get("DAYLINE_TRACEBACK"):
            raise
        typer.echo(f"dayline: {_one_line(error)}", err=True)
        sys.exit(2)


def _one_line(error: Exception) -> str:
    if isinstance(error, UsageError):
        return " ".join(error.format_message().split()).rstrip(".")
    if isinstance(error, MemoryError):
        return "out of memory; use fewer or smaller frames"
    if isinstance(error, OSError) and error.strerror:
        # The file name is a number if the error is about an open file.
        where = (
            f"{error.filename}: " if error.filename and not isinstance(error.filename, int) else ""
        )
        return f"{where}{error.strerror}"
    return _with_options(" ".join(str(error).split()))


def _show_warning(message: Warning | str, *_: object) -> None:
    typer.echo(f"dayline: note: {_with_options(' '.join(str(message).split()))}", err=True)


def _with_options(text: str) -> str:
    """Name options instead of parameters: --n-events 3 for n_events=3."""
    return REQUESTS.sub(lambda match: f"--{match[1].replace('_', '-')} ", text)
