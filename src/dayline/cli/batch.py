"""`dayline batch`: many photo folders, videos and feature files in, a result for each out."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dayline.cli import options
from dayline.text import counted

if TYPE_CHECKING:
    from dayline.batch.task import BatchRecord
    from dayline.cli.console import StepBar


def batch(
    root: Annotated[
        Path,
        typer.Argument(
            help=(
                "A folder with photo folders, videos and feature files; each is one sequence"
                " (docs/batch.md)."
            )
        ),
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder for the results.")],
    jobs: Annotated[
        int | None,
        typer.Option(min=1, help="Maximum number of processes; default: one per core."),
    ] = None,
    cluster: Annotated[
        str | None,
        typer.Option(
            help="Use the workers of this Dask scheduler, such as tcp://host:8786, instead."
        ),
    ] = None,
    method: options.Method = "default",
    n_events: options.NEvents = None,
    min_duration: options.MinDuration = None,
    expected_duration: options.ExpectedDuration = None,
    level: options.Level = 0,
    device: options.Device = "cpu",
    export: options.Export = [],  # noqa: B006 - Typer makes a copy
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run", help="List the sequences and the folders of their results, and stop."
        ),
    ] = False,
    quiet: options.Quiet = False,
    order: options.Order = "time",
    every: options.Every = None,
    model: options.Model = None,
    pause_seconds: options.PauseSeconds = 300.0,
    pause_factor: options.PauseFactor = 10.0,
    jump_km: options.JumpKm = 2.0,
    no_thumbnails: options.NoThumbnails = False,
    blur_faces: options.BlurFaces = False,
    share: options.Share = False,
    write_chapters: options.WriteChapters = False,
    places: options.Places = None,
    key: options.Key = None,
    transpose: options.Transpose = False,
    interpolate: options.Interpolate = False,
) -> None:
    """Segment many sequences; finished ones are skipped, and an interrupted run resumes."""
    from dayline.album.settings import Settings
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

    settings = Settings(
        method=method,
        segmenter=options.chosen_segmenter(
            method,
            interpolate=interpolate,
            device=device,
            level=level,
            n_events=n_events,
            min_duration=min_duration,
            expected_duration=expected_duration,
        ),
        formats=tuple(export),
        order=order,
        every=every,
        model=model or options.usual_model(method),
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
        import logging

        # Dask logs the loss of workers with tracebacks; dayline reports it in one line.
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
            _print_record(record, bar, quiet=quiet)
            records.append(record)

    if not quiet:
        counts = [
            f"{sum(record.status == word for record in records)} {word}"
            for word in ("done", "skipped", "failed")
            if any(record.status == word for record in records)
        ]
        typer.echo(f"\n{counted(len(records), 'sequence')}: {', '.join(counts)}")
        typer.echo(f"The page is {output / 'index.html'}")
    failed = [record for record in records if record.status == "failed"]
    if failed:
        raise ValueError(
            f"{len(failed)} of {counted(len(records), 'sequence')} failed (the first:"
            f" {failed[0].source}); the same command tries them again"
        )


def _print_sources(root: Path) -> None:
    from dayline.batch.sources import find_sources

    sources = find_sources(root)
    for source in sources:
        typer.echo(f"{source.kind:8s}  {source.name}  ->  {source.folder}")
    typer.echo(counted(len(sources), "sequence"))


def _print_record(record: BatchRecord, bar: StepBar, *, quiet: bool) -> None:
    messages = [*record.notes, *([record.message] if record.status == "failed" else [])]
    for message in messages:
        bar.echo(f"dayline: note: {record.source}: {message}", err=True)
    if record.status == "done" and not quiet:
        events = counted(record.n_events or 0, "event")
        bar.echo(f"{record.source}: {events} in {counted(record.n_frames or 0, 'frame')}")
