"""`dayline learn`: labeled recordings of one kind in, a small file of what they teach out."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from dayline.decision.learned import Learned


def learn(
    files: Annotated[
        list[Path],
        typer.Argument(
            help=(
                "Features of recordings of one kind with their boundaries or labels (.npz); or"
                " results that you corrected (folders)."
            )
        ),
    ],
    *,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="File of what was learned (.json).")
    ],
    name: Annotated[str, typer.Option(help="Name of the kind.")] = "",
    tolerance: Annotated[int, typer.Option(min=0, help="Frames a boundary may be off.")] = 5,
    key: Annotated[str | None, typer.Option(help="Array with the features.")] = None,
) -> None:
    """Learn a kind of recording from labeled examples, or from what you corrected, for --learned."""
    if output.suffix.lower() != ".json":
        raise ValueError(f"{output}: what was learned is a .json file; choose such a name")
    if any(path.is_dir() for path in files):
        learned = _from_results(files, name=name or output.stem)
    else:
        learned = _from_tables(files, name=name or output.stem, tolerance=tolerance, key=key)
    learned.save(output)
    typer.echo(f"{learned.name}: {learned}")
    typer.echo(f"dayline segment SOURCE --learned {output} uses it")


def _from_results(folders: list[Path], *, name: str) -> Learned:
    from dayline.album.taught import learn_from_results

    file = next((path for path in folders if not path.is_dir()), None)
    if file is not None:
        raise ValueError(f"{file} is no folder; pass labeled recordings or results, not both")
    return learn_from_results(folders, name=name)


def _from_tables(files: list[Path], *, name: str, tolerance: int, key: str | None) -> Learned:
    from dayline.cli.console import progress_bar
    from dayline.estimators import EventSegmenter
    from dayline.features.tables import read_features
    from dayline.research.datasets.annotations import read_boundaries

    tables, boundaries = [], []
    for path in files:
        if path.suffix.lower() != ".npz":
            raise ValueError(f"{path}: a labeled recording is an .npz file (docs/how-to/teach.md)")
        tables.append(read_features(path, key=key))
        found = read_boundaries(path).boundaries
        n = len(tables[-1].features)
        wrong = next((b for b in found.tolist() if not 0 < b < n), None)
        if wrong is not None:
            raise ValueError(f"{path}: frame {wrong} is no boundary; they are 1 to {n - 1} here")
        boundaries.append(found)
    with progress_bar(quiet=False) as on_step:
        learned = EventSegmenter.learn(
            [table.features for table in tables],
            boundaries,
            times=[table.times for table in tables],
            tolerance=tolerance,
            name=name,
            on_step=on_step,
        ).learned
    assert learned is not None
    return learned
