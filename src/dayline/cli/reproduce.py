"""`dayline reproduce`: a table of the paper, with published figures, ours and controls."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, TypeAlias

import typer

if TYPE_CHECKING:
    from dayline.research.reproduce.tables import Report

OfPhotos: TypeAlias = Literal[
    "edub-seg", "edub-seg-desc", "ablation", "core-ablation", "robustness"
]
PaperTable: TypeAlias = Literal["motion", OfPhotos, "synthetic", "cost"]


def reproduce(
    table: Annotated[PaperTable, typer.Argument(help="Table of the paper.")],
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Folder for the table and the measurements.")
    ],
    root: Annotated[
        Path, typer.Option(help="Folder with the data sets; see `dayline datasets`.")
    ] = Path(),
    jobs: Annotated[int, typer.Option(min=1, help="Number of processes.")] = 2,
    seeds: Annotated[
        int, typer.Option(min=1, max=1000, help="Number of seeds for mean and spread.")
    ] = 4,
    methods: Annotated[
        list[str] | None, typer.Option(help="Only these methods; repeatable.")
    ] = None,
    only: Annotated[
        list[str] | None, typer.Option(help="Only these data sets; repeatable.")
    ] = None,
    most: Annotated[
        int | None,
        typer.Option(min=1, max=100_000, help="Maximum number of sequences per data set."),
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(
            help=(
                "Compute features from the photos (docs/models.md); default: read feature files, or"
                " run lite0 if none."
            )
        ),
    ] = None,
    predictor: Annotated[
        Path | None, typer.Option(help="Trained network for CES-VCP (.safetensors).")
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")] = False,
) -> None:
    """Measure one table of the paper; an interrupted run resumes."""
    from dayline.cli.console import progress_bar
    from dayline.research.reproduce.lifelog import LIFELOG_TABLES, lifelog_report
    from dayline.research.reproduce.made import cost_report, synthetic_report
    from dayline.research.reproduce.motion import motion_report
    from dayline.research.reproduce.tables import RunOptions, save_report
    from dayline.result_folder import output_folder

    is_lifelog = table in LIFELOG_TABLES
    for name, value in (("model", model), ("predictor", predictor)):
        if value is not None and not is_lifelog:
            raise ValueError(
                f"--{name} only applies to tables of photos ({', '.join(LIFELOG_TABLES)})"
            )
    if table in ("synthetic", "cost") and only:
        raise ValueError(
            f"--only applies to tables of data sets; {table} generates its own sequences"
        )
    if not root.is_dir():
        raise ValueError(f"{root}: no such folder; pass the folder with the data sets (--root)")

    with output_folder(output) as folder, progress_bar(quiet=quiet) as bar:
        options = RunOptions(folder, seeds, jobs, methods, only, most, on_done=bar)
        if table == "cost":
            report = cost_report(options)
        elif table == "synthetic":
            report = synthetic_report(options)
        elif table == "motion":
            report = motion_report(root, options)
        else:
            report = lifelog_report(table, root, options, model=model, predictor=predictor)
        save_report(report, folder)
    if not quiet:
        _print(report)


def _print(report: Report) -> None:
    """Draw tables on a terminal; otherwise print Markdown."""
    from rich.console import Console
    from rich.markdown import Markdown

    from dayline.research.reproduce.tables import to_markdown

    console = Console()
    if console.is_terminal:
        console.print(Markdown(to_markdown(report)))
    else:
        typer.echo(to_markdown(report), nl=False)
