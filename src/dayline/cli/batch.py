"""`dayline batch`: many photo folders, videos and feature files in, a result for each out."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from dayline.cli import options
from dayline.cli.options import Method, chosen_segmenter, usual_model
from dayline.text import counted

if TYPE_CHECKING:
    from collections.abc import Callable

    from dayline.batch.task import BatchRecord


def batch(
    root: Path = typer.Argument(
        ...,
        help=(
            "A folder with photo folders, videos and feature files; each is one sequence"
            " (docs/batch.md)."
        ),
    ),
    output: Path = typer.Option(..., "--output", "-o", help="Folder for the results."),
    jobs: int | None = typer.Option(
        None,
        min=1,
        help="Maximum number of processes; default: one per core.",
    ),
    cluster: str | None = typer.Option(
        None, help="Use the workers of this Dask scheduler, such as tcp://host:8786, instead."
    ),
    method: Method = options.METHOD,
    n_events: int | None = options.N_EVENTS,
    min_duration: float | None = options.MIN_DURATION,
    expected_duration: float | None = options.EXPECTED_DURATION,
    level: int = options.LEVEL,
    device: str = options.DEVICE,
    export: list[str] = options.EXPORT,
    dry_run: bool = typer.Option(
        False, "--dry-run", help="List the sequences and the folders of their results, and stop."
    ),
    quiet: bool = options.QUIET,
    order: options.Order = options.ORDER,
    every: float | None = options.EVERY,
    model: str | None = options.MODEL,
    pause_seconds: float = options.PAUSE_SECONDS,
    pause_factor: float = options.PAUSE_FACTOR,
    jump_km: float = options.JUMP_KM,
    no_thumbnails: bool = options.NO_THUMBNAILS,
    blur_faces: bool = options.BLUR_FACES,
    share: bool = options.SHARE,
    write_chapters: bool = options.WRITE_CHAPTERS,
    places: Path | None = options.PLACES,
    key: str | None = options.KEY,
    transpose: bool = options.TRANSPOSE,
    interpolate: bool = options.INTERPOLATE,
) -> None:
    """Segment many sequences; finished ones are skipped, and an interrupted run resumes."""
    from dayline.album.run import Settings
    from dayline.batch.run import segment_many
    from dayline.cli.console import progress_bar

    if cluster is not None and jobs is not None:
        raise ValueError(
            "--jobs and --cluster contradict each other; the cluster has its own workers"
        )
    if not root.is_dir():
        raise ValueError(f"{root}: no such folder; pass the folder that holds the sequences")
    if dry_run:
        _print_sources(root)
        return
    segmenter = chosen_segmenter(
        method,
        interpolate=interpolate,
        device=device,
        level=level,
        n_events=n_events,
        min_duration=min_duration,
        expected_duration=expected_duration,
    )
    settings = Settings(
        method=method.value,
        segmenter=segmenter,
        formats=tuple(export),
        order=order.value,
        every=every,
        model=model or usual_model(method),
        pause_seconds=pause_seconds,
        pause_factor=pause_factor,
        jump_km=jump_km,
        thumbnails=not no_thumbnails,
        blur_faces=blur_faces,
        share=share,
        write_chapters=write_chapters,
        key=key,
        transpose=transpose,
    )
    if cluster is not None:
        # Dask logs the loss of workers with tracebacks; what matters of it is printed here in one
        # line.
        logging.getLogger("distributed").setLevel(logging.CRITICAL)
    records = []
    with progress_bar(quiet=quiet) as bar:
        for record in segment_many(
            root,
            output=output,
            settings=settings,
            jobs=jobs,
            cluster=cluster,
            places=places,
            on_step=bar,
        ):
            _print_record(record, typer.echo if bar is None else bar.echo, quiet=quiet)
            records.append(record)
    _print_end(records, output, quiet=quiet)


def _print_sources(root: Path) -> None:
    from dayline.batch.sources import find_sources

    sources, notes = find_sources(root)
    for source in sources:
        typer.echo(f"{source.kind:6s}  {source.name}  ->  {source.folder}")
    typer.echo(counted(len(sources), "sequence"))
    for note in notes:
        typer.echo(f"note: {note}")


def _print_record(record: BatchRecord, echo: Callable[..., None], *, quiet: bool) -> None:
    for note in record.notes:
        echo(f"dayline: note: {record.source}: {note}", err=True)
    if record.status == "failed":
        echo(f"dayline: note: {record.source}: {record.message}", err=True)
    elif record.status == "done" and not quiet:
        events, frames = (
            counted(record.n_events or 0, "event"),
            counted(record.n_frames or 0, "frame"),
        )
        echo(f"{record.source}: {events} in {frames}")


def _print_end(records: list[BatchRecord], output: Path, *, quiet: bool) -> None:
    """Print how many sequences ended how; raise if one failed."""
    if not quiet:
        numbers = {
            word: sum(record.status == word for record in records)
            for word in ("done", "skipped", "failed")
        }
        many = ", ".join(f"{number} {word}" for word, number in numbers.items() if number)
        typer.echo(
            f"\n{counted(len(records), 'sequence')}: {many}\nThe page is {output / 'index.html'}"
        )
    failed = [record for record in records if record.status == "failed"]
    if failed:
        raise ValueError(
            f"{len(failed)} of {counted(len(records), 'sequence')} failed (the first:"
            f" {failed[0].source}); the same command tries them again"
        )
