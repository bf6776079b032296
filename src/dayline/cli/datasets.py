"""`dayline datasets`: which data sets of the paper a folder contains."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def datasets(
    root: Annotated[Path, typer.Option(help="Folder with the data sets.")] = Path(),
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """List the data sets of the paper: required files, source, terms, and sequences found."""
    import json
    from dataclasses import asdict

    from dayline.research.datasets.catalogue import list_datasets

    entries = list_datasets(root)
    if as_json:
        typer.echo(json.dumps([asdict(entry) for entry in entries], indent=1))
        return
    for entry in entries:
        found = f"{entry.n_sequences} sequences" if entry.n_sequences else "not found"
        typer.echo(f"{entry.name}: {found}")
        typer.echo(f"  needs  {entry.needs}\n  from   {entry.source}\n  terms  {entry.terms}")
        if entry.problem:
            typer.echo(f"  error  {entry.problem}")
