"""`dayline reproduce`: a table of the paper, with published figures, ours and controls side by side."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from dayline.research.reproduce.report import Report


class PaperTable(StrEnum):
    """Tables of the paper."""

    motion = "motion"
    edub_seg = "edub-seg"
    edub_seg_desc = "edub-seg-desc"
    ablation = "ablation"
    core_ablation = "core-ablation"
    robustness = "robustness"
    synthetic = "synthetic"
    cost = "cost"


def reproduce(
    table: PaperTable = typer.Argument(..., help="Table of the paper."),
    root: Path = typer.Option(Path(), help="Folder with the data sets; see `dayline datasets`."),
    output: Path = typer.Option(
        ..., "--output", "-o", help="Folder for the table and the measurements."
    ),
    jobs: int = typer.Option(2, min=1, help="Number of processes."),
    seeds: int = typer.Option(4, min=1, max=1000, help="Number of seeds for mean and spread."),
    methods: list[str] | None = typer.Option(None, help="Only these methods; repeatable."),
    only: list[str] | None = typer.Option(None, help="Only these data sets; repeatable."),
    most: int | None = typer.Option(
        None, min=1, max=100_000, help="Maximum number of sequences per data set."
    ),
    model: str | None = typer.Option(
        None,
        help=(
            "Compute features from the photos (docs/models.md); default: read feature files, or run"
            " lite0 if none."
        ),
    ),
    predictor: Path | None = typer.Option(None, help="Trained network for CES-VCP (.safetensors)."),
    quiet: bool = typer.Option(False, "--quiet", "-q", help="Print nothing but errors."),
) -> None:
    """Measure one table of the paper; an interrupted run resumes."""
    from dayline.cli.console import progress_bar
    from dayline.research.reproduce import cost, lifelog, motion, synthetic
    from dayline.research.reproduce.report import save_report
    from dayline.result_folder import output_folder

    reports: dict[PaperTable, Callable[..., Report]] = {
        PaperTable.motion: motion.motion_report,
        PaperTable.synthetic: synthetic.synthetic_report,
        PaperTable.cost: cost.cost_report,
    }
    days: dict[str, Any] = {"model": model, "predictor": predictor}
    if table.value in lifelog.LIFELOG_TABLES:
        reports[table] = partial(lifelog.lifelog_report, table.value, **days)
    elif any(days.values()):
        given = next(name for name, value in days.items() if value)
        raise ValueError(
            f"--{given} only applies to tables of photos ({', '.join(lifelog.LIFELOG_TABLES)})"
        )
    if table in (PaperTable.synthetic, PaperTable.cost) and only:
        raise ValueError(
            f"--only applies to tables of data sets; {table.value} generates its own sequences"
        )
    if not root.is_dir():
        raise ValueError(f"{root}: no such folder; pass the folder with the data sets (--root)")
    with output_folder(output) as folder, progress_bar(quiet=quiet) as on_done:
        report = reports[table](
            root,
            out=folder,
            n_seeds=seeds,
            n_jobs=jobs,
            methods=methods,
            only=only,
            most=most,
            on_done=on_done,
        )
        save_report(report, folder)
    if not quiet:
        _print(report)


def _print(report: Report) -> None:
    """Draw tables on a terminal; otherwise print Markdown."""
    from rich.console import Console
    from rich.markdown import Markdown

    from dayline.research.reproduce.report import to_markdown

    console = Console()
    if console.is_terminal:
        console.print(Markdown(to_markdown(report)))
    else:
        typer.echo(to_markdown(report), nl=False)
