"""What `dayline segment` does with each kind of source, and what it says on the way."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

import typer

if TYPE_CHECKING:
    from dayline.dge import OnStep
    from dayline.events import Segmentation
    from dayline.pipeline import Finder, SourceResult, Written

    FindEvents: TypeAlias = Callable[[Path, Path | None, OnStep | None], SourceResult]
    Write: TypeAlias = Callable[..., Written]

__all__ = ["check_wishes", "is_table", "print_frames", "run", "run_table"]

TABLES = (".npy", ".npz", ".csv", ".parquet", ".mat")


def is_table(source: Path) -> bool:
    """Whether a source is a file of features, by its name."""
    return source.suffix.lower() in TABLES and not source.is_dir()


def check_wishes(
    source: Path,
    *,
    output: Path | None,
    formats: Sequence[str],
    chapters: bool,
    corrections: Path | None,
    as_json: bool,
    segmenter: Finder,
) -> None:
    """Refuse what cannot be done before anything is."""
    from dayline.export import OF_PHOTOS, check_formats
    from dayline.frames import day_folders

    check_formats(formats)
    pictures = [name for name in formats if name in OF_PHOTOS]
    if pictures and not source.is_dir() and (is_table(source) or "photos" in pictures):
        raise ValueError(f"{source}: --export {pictures[0]} sorts or shows photos, and there are none here")
    segmenter.check_parameters()
    if formats and output is None and is_table(source):
        raise ValueError("--export needs a folder for the result; name it with -o")
    if as_json and source.is_dir() and day_folders(source):
        raise ValueError(f"{source}: --json prints one day; read events.json in each day's result instead")
    if chapters and (source.is_dir() or is_table(source)):
        raise ValueError(f"{source}: chapters are written into a video, and this is none")
    if corrections is not None and source.is_dir() and day_folders(source):
        raise ValueError(f"{source}: corrections are of one day; give that day's folder and its result")


def run(
    source: Path,
    output: Path | None,
    find_events: FindEvents,
    write: Write,
    *,
    method: str,
    quiet: bool,
    as_json: bool,
    open_page: bool,
) -> None:
    """Segment a source, write its result and print it."""
    from dayline.cli.show import open_in_browser, print_events, print_notes
    from dayline.frames import day_folders
    from dayline.pipeline import default_output

    if output is None and not is_table(source):
        output = default_output(source)
        if not quiet:
            typer.echo(f"dayline: the result goes to {output} (choose another folder with -o)", err=True)
    days = day_folders(source) if source.is_dir() else ()
    page: Path | None
    if days and output is not None:
        page = _run_days(source, days, output, find_events, write, method=method, quiet=quiet)
    else:
        result, page = _run_one(source, output, find_events, write, method=method, quiet=quiet or as_json)
        if as_json:
            typer.echo(result.to_json(), nl=False)
        elif not quiet:
            print_events(result)
            print_notes(result)
    if page is not None:
        if not (quiet or as_json):
            typer.echo(f"\nThe page is {page}")
        if open_page:
            open_in_browser(page)


def run_table(
    source: Path,
    *,
    key: str | None,
    transpose: bool,
    corrections: Segmentation | None,
    segmenter: Finder,
    on_step: OnStep | None,
) -> SourceResult:
    """Segment a file of features."""
    from dayline.pipeline import segment_table
    from dayline.tables import read_features

    table = read_features(source, key=key, transpose=transpose)
    result = segment_table(
        table.features, times=table.times, corrections=corrections, segmenter=segmenter, on_step=on_step
    )
    return result.named(source.name)


def _run_one(
    source: Path, output: Path | None, find_events: FindEvents, write: Write, *, method: str, quiet: bool
) -> tuple[Segmentation, Path | None]:
    written, result = _segmented(source, output, find_events, write, method=method, quiet=quiet)
    return result, None if written is None else written.page


def _segmented(
    source: Path, output: Path | None, find_events: FindEvents, write: Write, *, method: str, quiet: bool
) -> tuple[Written | None, Segmentation]:
    from dayline.cli.progress import progress_bar
    from dayline.files import output_folder

    with nullcontext() if output is None else output_folder(output) as folder, progress_bar(quiet=quiet) as on_step:
        result = find_events(source, folder, on_step).made_by(method)
        written = None if folder is None else write(result, folder, on_step=on_step)
    return written, result.segmentation


def _run_days(
    source: Path,
    days: tuple[Path, ...],
    output: Path,
    find_events: FindEvents,
    write: Write,
    *,
    method: str,
    quiet: bool,
) -> Path:
    from dayline.frames.names import shown_name
    from dayline.pipeline import segment_days

    def segment_day(day: Path, folder: Path) -> tuple[Segmentation, Mapping[int, str]]:
        written, segmentation = _segmented(day, folder, find_events, write, method=method, quiet=quiet)
        if not quiet:
            typer.echo(f"{shown_name(day.name)}: {len(segmentation.events)} events in {segmentation.n_frames} photos")
        return segmentation, {} if written is None else written.pictures

    results = segment_days(days, output, segment_day=segment_day, title=shown_name(source.resolve().name))
    for result in results:
        if result.why:
            typer.echo(f"dayline: note: {shown_name(result.source)}: {result.why}", err=True)
    return output / "index.html"


def print_frames(
    source: Path, *, every: float | None, order: Literal["time", "name"], factor: float, at_least: float
) -> None:
    """List what would be read, in which order, with which times; nothing is written."""
    from dayline.frames import day_folders, describe, find_pauses, open_source

    if is_table(source):
        raise ValueError(f"{source}: --dry-run lists the frames of photos and videos; a feature file has none")
    for place in (day_folders(source) if source.is_dir() else ()) or (source,):
        sequence = open_source(place, every=every, order=order)
        pauses = {p.before: p for p in find_pauses(sequence.times, factor=factor, at_least=at_least)}
        for row in describe(sequence):
            if row.index in pauses:
                typer.echo(f"       --- pause of {pauses[row.index].seconds / 60:.0f} min ---")
            typer.echo(f"{row.index:6d}  {row.time:23s}  {row.name}")
        typer.echo(f"{sequence.n_frames} frames, {sequence.order}")
        for note in sequence.notes:
            typer.echo(f"note: {note}")
        for file in sequence.skipped:
            typer.echo(f"left out: {file.name}: {file.why}")
