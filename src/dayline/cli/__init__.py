"""The command line: each command parses its arguments, calls one function and prints."""

from __future__ import annotations

import sys
from typing import Any

from dayline import __version__

INTERRUPTED = 130
"""Exit code that shells expect after Ctrl-C."""


def main() -> None:
    """Run the command line; a user's mistake gives one line and exit code 2, never a traceback."""
    if sys.argv[1:] == ["--version"]:
        print(f"dayline {__version__}")  # needs nothing of what the commands load
        return

    import logging
    import os
    import warnings

    import typer

    from dayline.cli.app import UsageError, app
    from dayline.cli.console import one_line, print_anywhere

    def show_warning(message: Warning | str, *_: Any) -> None:
        typer.echo(f"dayline: note: {one_line(message)}", err=True)

    print_anywhere()
    warnings.showwarning = show_warning  # type: ignore[assignment]
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
            text = " ".join(error.format_message().split()).rstrip(".")
            typer.echo(f"dayline: {text}; see dayline --help", err=True)
        sys.exit(2)
    except (ValueError, OSError, MemoryError) as error:
        if os.environ.get("DAYLINE_TRACEBACK"):
            raise
        typer.echo(f"dayline: {one_line(error)}", err=True)
        sys.exit(2)
