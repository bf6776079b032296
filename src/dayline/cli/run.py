"""What `dayline segment` does with each kind of source, and what it says on the way."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
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
    forget_corrections: bool,
    as_json: bool,
    weights: Path | None,
    segmenter: Finder,
    pauses: tuple[float, float],
    of_photos: Mapping[str, bool],
    of_videos: Mapping[str, bool],
    of_tables: Mapping[str, bool],
) -> None:
    """Refuse what cannot be done before anything is; `of_...` say which options of that kind were given."""
    from dayline.export import OF_PHOTOS, check_formats
    from dayline.frames import check_pauses, day_folders
    from dayline.frames.faces import face_blurrer

    check_formats(formats)
    pictures = [name for name in formats if name in OF_PHOTOS]
    if pictures and not source.is_dir() and (is_table(source) or "photos" in pictures):
        raise ValueError(f"{source}: --export {pictures[0]} sorts or shows photos, and there are none here")
    segmenter.check_parameters()
    check_pauses(*pauses)
    if weights is not None and not weights.is_file():
        raise ValueError(f"{weights}: no such file; give the file of the weights")
    if of_photos.get("--blur-faces") and not is_table(source):
        face_blurrer()
    _refuse_options(source, of_tables, "feature files", is_table(source))
    _refuse_options(source, of_photos, "photos and videos", not is_table(source))
    _refuse_options(source, of_videos, "videos", not (is_table(source) or source.is_dir()))
    if formats and output is None and is_table(source):
        raise ValueError("--export needs a folder for the result; name it with -o")
    if as_json and source.is_dir() and day_folders(source):
        raise ValueError(f"{source}: --json prints one day; read events.json in each day's result instead")
    if chapters and (source.is_dir() or is_table(source)):
        raise ValueError(f"{source}: chapters are written into a video, and this is none")
    if corrections is not None and source.is_dir() and day_folders(source):
        raise ValueError(f"{source}: corrections are of one day; give that day's folder and its result")
    if corrections is not None and forget_corrections:
        raise ValueError("--corrections and --forget-corrections contradict each other; give one of them")


def _refuse_options(source: Path, given: Mapping[str, bool], kind: str, right: bool) -> None:
    wrong = [name for name, is_given in given.items() if is_given and not right]
    if wrong:
        raise ValueError(f"{wrong[0]} is for {kind}, and {source} is none; leave it out")


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
    forget: bool = False,
    thumbnails: bool = True,
) -> None:
    """Segment a source, write its result and print it; `forget` corrections kept from earlier runs."""
    from dayline.cli.show import open_in_browser, print_events, print_notes
    from dayline.frames import day_folders
    from dayline.pipeline import ExportError, default_output

    work = _Work(find_events, write, method, quiet=quiet, bar=not (quiet or as_json), forget=forget)
    if output is None and not is_table(source):
        output = default_output(source)
        if not quiet:
            work.first_words = f"dayline: the result goes to {output} (choose another folder with -o)"
    days = day_folders(source) if source.is_dir() else ()
    page: Path | None
    if days and output is not None:
        page = _run_days(source, days, output, work, thumbnails=thumbnails)
    else:
        try:
            written, result = work.segmented(source, output)
        except ExportError as error:
            raise ValueError(f"{error}; all else is in {output}") from None
        page = None if written is None else written.page
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
    if work.failed:
        raise ValueError(f"exports could not be made; {work.failed[0]}")


def run_table(
    source: Path,
    *,
    key: str | None,
    transpose: bool,
    corrections: Segmentation | Literal["kept"] | None,
    store: Path | None,
    segmenter: Finder,
    on_step: OnStep | None,
) -> SourceResult:
    """Segment a file of features."""
    from dayline.pipeline import segment_table
    from dayline.tables import read_features

    table = read_features(source, key=key, transpose=transpose)
    return segment_table(
        table.features,
        times=table.times,
        source=source.name,
        store=store,
        corrections=corrections,
        segmenter=segmenter,
        on_step=on_step,
    )


@dataclass
class _Work:
    """What is done with one source, or with each of several days.

    Attributes
    ----------
    find_events, write, method
        How events are found and written, and by which method.
    quiet, bar, forget : bool
        Say nothing; show how far it is; forget corrections kept from earlier runs.
    first_words : str
        Said when the work begins: nothing goes anywhere while it may still be refused.
    failed : list of str
        Exports of days that could not be made.
    """

    find_events: FindEvents
    write: Write
    method: str
    quiet: bool
    bar: bool
    forget: bool = False
    first_words: str = ""
    failed: list[str] = field(default_factory=list)

    def segmented(self, source: Path, output: Path | None) -> tuple[Written | None, Segmentation]:
        """Find the events of a source and write them."""
        from dayline.cli.progress import progress_bar
        from dayline.output_folder import output_folder
        from dayline.pipeline import forget_corrections

        place = nullcontext() if output is None else output_folder(output)
        with place as folder, progress_bar(quiet=not self.bar) as drawn:

            def on_step(what: str, done: int, total: int) -> None:
                if self.first_words:
                    typer.echo(self.first_words, err=True)
                    self.first_words = ""
                if drawn is not None:
                    drawn(what, done, total)

            result = self.find_events(source, folder, on_step).made_by(self.method)
            if folder is not None and self.forget:
                # Before an export may fail: what is to be forgotten must not come back with the next run.
                forget_corrections(folder)
            written = None if folder is None else self.write(result, folder, on_step=on_step)
        return written, result.segmentation

    def segmented_day(self, day: Path, folder: Path) -> tuple[Segmentation, Mapping[int, str]]:
        """Do the same for one of several days; one whose exports fail has its page nevertheless."""
        from dayline.frames.names import shown_name
        from dayline.pipeline import ExportError

        written: Written | None
        try:
            written, segmentation = self.segmented(day, folder)
        except ExportError as error:
            self.failed.append(f"{shown_name(day.name)}: {error}")
            typer.echo(f"dayline: note: {self.failed[-1]}", err=True)
            written, segmentation = error.written, error.segmentation
        if not self.quiet:
            n_events, n_photos = len(segmentation.events), segmentation.n_frames
            events, photos = ("event" if n_events == 1 else "events"), ("photo" if n_photos == 1 else "photos")
            typer.echo(f"{shown_name(day.name)}: {n_events} {events} in {n_photos} {photos}")
        return segmentation, {} if written is None else written.pictures


def _run_days(source: Path, days: tuple[Path, ...], output: Path, work: _Work, *, thumbnails: bool) -> Path:
    from dayline.frames.names import shown_name
    from dayline.pipeline import segment_days

    title = shown_name(source.resolve().name)
    results = segment_days(days, output, segment_day=work.segmented_day, title=title, thumbnails=thumbnails)
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
