"""All commands, as an application of Typer."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from dayline import __version__
from dayline.cli.batch import batch
from dayline.cli.datasets import datasets
from dayline.cli.demo import demo
from dayline.cli.doctor import doctor
from dayline.cli.evaluate import evaluate
from dayline.cli.export import export
from dayline.cli.options import Command
from dayline.cli.reproduce import reproduce
from dayline.cli.segment import segment
from dayline.cli.view import view

# Some versions of Typer bundle Click, others depend on it; this finds the class in both.
UsageError: Any = next(
    kind for kind in typer.BadParameter.__mro__ if kind.__name__ == "ClickException"
)

app = typer.Typer(no_args_is_help=True, pretty_exceptions_enable=False)
for command in (segment, view, batch, evaluate, export, demo, datasets, reproduce, doctor):
    app.command(cls=Command)(command)


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
