"""`dayline batch`: many photo folders, videos, transcripts, tables in, a result for each out."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dayline.cli.options import Options
from dayline.text import counted

if TYPE_CHECKING:
    from dayline.album.export.formats import Kind
    from dayline.batch.task import BatchRecord


def batch(
    root: Annotated[
        Path,
        typer.Argument(
            help=(
                "A folder with photo folders, videos, transcripts and feature files; each is one"
                " sequence (docs/batch.md)."
            )
        ),
    ],
    *,
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
    options: Options,
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run", help="List the sequences and the folders of their results, and stop."
        ),
    ] = False,
) -> None:
    """Segment many sequences; finished ones are skipped, and an interrupted run resumes."""
    if cluster is not None and jobs is not None:
        raise ValueError(
            "--jobs and --cluster contradict each other; the cluster has its own workers"
        )
    if dry_run:
        print_sources(root)
        return
    run_batch(root, output, options, jobs=jobs, cluster=cluster)


def run_batch(
    root: Path,
    output: Path,
    options: Options,
    *,
    jobs: int | None = None,
    cluster: str | None = None,
    only: Kind | None = None,
) -> None:
    """Segment many sequences and print a line for each; raise if some failed.

    Parameters
    ----------
    root, output, options, jobs, cluster
        See `batch`.
    only : {"photos", "video", "features", "talk"}, optional
        Leave out what is not of this kind.
    """
    from dayline.batch.run import segment_many
    from dayline.cli.console import progress_bar

    records = []
    with progress_bar(quiet=options.quiet) as on_step:
        for record in segment_many(
            root,
            output=output,
            settings=options.settings(),
            jobs=jobs,
            cluster=cluster,
            only=only,
            places=options.places,
            on_step=on_step,
        ):
            _print_record(record, quiet=options.quiet)
            records.append(record)

    if not options.quiet:
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


def print_sources(root: Path, *, only: Kind | None = None) -> None:
    """List the sequences of a folder and the folders of their results."""
    from dayline.batch.sources import given_sources

    sources = given_sources(root, only=only)
    for source in sources:
        typer.echo(f"{source.kind:8s}  {source.name}  ->  {source.folder}")
    typer.echo(counted(len(sources), "sequence"))


def _print_record(record: BatchRecord, *, quiet: bool) -> None:
    from dayline.cli.console import one_line
    from dayline.media.talk import is_talk

    for message in (*record.notes, record.message):
        if message:
            print(f"dayline: note: {record.source}: {one_line(message)}", file=sys.stderr)
    if record.status == "done" and not quiet:
        events = counted(record.n_events or 0, "event")
        thing = "sentence" if is_talk(Path(record.source)) else "frame"
        print(f"{record.source}: {events} in {counted(record.n_frames or 0, thing)}")
