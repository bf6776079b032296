"""The command line: each command parses its arguments, calls one function and prints."""

from __future__ import annotations

import gc
import itertools
import logging
import os
import signal
import sys
import warnings
from typing import Annotated, Any

import typer

from dayline import __version__
from dayline.cli.batch import batch
from dayline.cli.console import one_line, print_anywhere
from dayline.cli.datasets import datasets
from dayline.cli.demo import demo
from dayline.cli.doctor import doctor
from dayline.cli.evaluate import evaluate
from dayline.cli.export import export
from dayline.cli.learn import learn
from dayline.cli.options import with_options
from dayline.cli.reproduce import reproduce
from dayline.cli.segment import segment
from dayline.cli.share import share
from dayline.cli.view import view

INTERRUPTED = 130
"""Exit code that shells expect after Ctrl-C."""

STOPPED = "dayline: stopped; no file is incomplete, and the same command resumes"

# Some versions of Typer bundle Click, others depend on it; this finds the class in both.
UsageError: Any = next(
    kind for kind in typer.BadParameter.__mro__ if kind.__name__ == "ClickException"
)

app = typer.Typer(no_args_is_help=True, pretty_exceptions_enable=False)
for command in (
    with_options(segment),
    view,
    with_options(batch),
    learn,
    evaluate,
    export,
    share,
    demo,
    datasets,
    reproduce,
    doctor,
):
    app.command()(command)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"dayline {__version__}")
        raise typer.Exit


@app.callback()
def _about(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version."
        ),
    ] = False,
) -> None:
    """Split a sequence of images or feature vectors into events."""


def main() -> None:
    """Run the command line; a user's mistake gives one line and exit code 2, never a traceback."""

    def show_warning(message: Warning | str, *_: Any) -> None:
        print(f"dayline: note: {one_line(message)}", file=sys.stderr)

    # What is imported stays; looking through it for garbage again and again takes .1 s.
    gc.set_threshold(10_000)
    print_anywhere()
    warnings.showwarning = show_warning  # type: ignore[assignment]
    notes = logging.StreamHandler()
    # What other packages log does not say which file or sequence it is about, or is a traceback.
    notes.addFilter(logging.Filter("dayline"))
    logging.basicConfig(format="dayline: note: %(message)s", handlers=[notes])
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # not in the background
        signal.signal(signal.SIGINT, _interrupt)
    try:
        _refuse_empty(sys.argv)
        code = app(prog_name="dayline", standalone_mode=False)
        if code == INTERRUPTED:
            raise typer.Abort
        sys.exit(code)
    except (typer.Abort, KeyboardInterrupt):
        if signal.getsignal(signal.SIGINT) is _end_at_once:  # which need not repeat this line
            signal.signal(signal.SIGINT, lambda *_: os._exit(INTERRUPTED))
        typer.echo(STOPPED, err=True)
        sys.exit(INTERRUPTED)
    except UsageError as error:
        if type(error).__name__ == "NoArgsIsHelpError":
            typer.echo(str(error))
        else:
            text = " ".join(error.format_message().split()).rstrip(".")
            text = text.replace("Value error, ", "")  # what Pydantic, below Typer, puts before
            context = getattr(error, "ctx", None)
            command = "dayline" if context is None else context.command_path
            typer.echo(f"dayline: {text}; see {command} --help", err=True)
        sys.exit(2)
    except (ValueError, OSError, MemoryError) as error:
        if os.environ.get("DAYLINE_TRACEBACK"):
            raise
        typer.echo(f"dayline: {one_line(error)}", err=True)
        sys.exit(2)


def _interrupt(*_: Any) -> None:
    """Stop at Ctrl-C; a second one ends the process at once.

    A second exception would appear while the first one is handled, also where Python cannot raise
    it and prints a traceback instead, as in a generator that is closed.
    """
    signal.signal(signal.SIGINT, _end_at_once)
    raise KeyboardInterrupt


def _end_at_once(*_: Any) -> None:
    # Not through a stream, which may be in use at this moment. A progress bar hides the cursor.
    show_cursor = "\x1b[?25h" if os.isatty(2) else ""
    os.write(2, f"{show_cursor}{STOPPED}\n".encode())
    os._exit(INTERRUPTED)


def _refuse_empty(words: list[str]) -> None:
    """Raise if a value is empty, as that of an unset variable of the shell.

    As a path it would be the current folder.
    """
    for before, word in itertools.pairwise(words):
        if word == "":
            raise ValueError(f"the value after {before} is empty (an unset shell variable?)")
        if word.startswith("--") and word.endswith("="):
            raise ValueError(f"the value after {word} is empty (an unset shell variable?)")
