"""`dayline segment`: photos, a video or features in, events out."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import typer

from dayline.baselines.catalogue import BASELINES

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from dayline.events import Segmentation
    from dayline.pipeline import Segmenter, SourceResult, Written
    from dayline.progress import OnStep

__all__ = ["Method", "Options", "Order", "chosen_segmenter", "segment", "segment_and_print"]

PHOTOS, TABLES = "Photos and video", "Feature files"
TABLE_SUFFIXES = (".npy", ".npz", ".csv", ".parquet", ".mat")


PRESETS = ("default", "paper", "authors")
Method = StrEnum("Method", [(name, name) for name in (*PRESETS, *BASELINES)])  # type: ignore[misc]
"""Our default, the two published variants, and the baselines."""


class Order(StrEnum):
    """What photos are ordered by."""

    time = "time"
    name = "name"


def segment(
    source: Path = typer.Argument(
        ..., help="A folder of photos, a folder with one such folder per day, a video, or a feature file."
    ),
    output: Path | None = typer.Option(None, "--output", "-o", help="Folder for the result."),
    method: Method = typer.Option(
        "default", help="Our default, the paper's text, the authors' notebook, or a baseline."
    ),
    n_events: int | None = typer.Option(None, min=1, help="Number of events to find."),
    min_duration: float | None = typer.Option(
        None, help="Shortest event, in seconds (in frames if there are no times)."
    ),
    expected_duration: float | None = typer.Option(None, help="Mean duration of events, in the same unit."),
    level: int = typer.Option(0, help="Finer (1, 2, ...) or coarser (-1, -2, ...) than the default."),
    device: str = typer.Option("cpu", help="cpu, torch, cuda or mps."),
    corrections: Path | None = typer.Option(
        None, help="events.json saved from the page; later runs use it too. Not needed if saved to the result folder."
    ),
    forget_corrections: bool = typer.Option(
        False, "--forget-corrections", help="Do not use the corrections of earlier runs (a copy is kept)."
    ),
    export: list[str] = typer.Option([], help="Additional format; repeatable (see dayline export --help)."),
    open_page: bool = typer.Option(False, "--open/--no-open", help="Open the page in a browser."),
    dry_run: bool = typer.Option(False, "--dry-run", help="List the frames in order, and stop."),
    quiet: bool = typer.Option(False, "--quiet", "-q", help="Print nothing but errors."),
    as_json: bool = typer.Option(False, "--json", help="Print events.json instead of a table."),
    order: Order = typer.Option(Order.time, help="Sort photos by capture time or by name.", rich_help_panel=PHOTOS),
    every: float | None = typer.Option(
        None,
        help="Seconds between frames of a video: 0.5 up to an hour, 1 beyond (0.2 in clips under a minute).",
        rich_help_panel=PHOTOS,
    ),
    model: str | None = typer.Option(
        None,
        help="lite0 (default), inceptionv3, color, color-lab (default for ac-color), hog or FILE.onnx "
        "(docs/models.md).",
        rich_help_panel=PHOTOS,
    ),
    weights: Path | None = typer.Option(None, help="Weights of inceptionv3.", rich_help_panel=PHOTOS),
    pause_seconds: float = typer.Option(300.0, help="A pause is a gap longer than this ...", rich_help_panel=PHOTOS),
    pause_factor: float = typer.Option(10.0, help="... and than this many typical gaps.", rich_help_panel=PHOTOS),
    no_thumbnails: bool = typer.Option(
        False, "--no-thumbnails", help="No photos on the page.", rich_help_panel=PHOTOS
    ),
    blur_faces: bool = typer.Option(False, "--blur-faces", help="Blur faces on the page.", rich_help_panel=PHOTOS),
    write_chapters: bool = typer.Option(
        False, "--write-chapters", help="Copy the video with the events as chapters.", rich_help_panel=PHOTOS
    ),
    key: str | None = typer.Option(None, help="Array with the features (.npz, .mat).", rich_help_panel=TABLES),
    transpose: bool = typer.Option(False, "--transpose", help="Columns are frames.", rich_help_panel=TABLES),
    interpolate: bool = typer.Option(
        False, "--interpolate", help="Interpolate NaN and infinity from neighbouring frames.", rich_help_panel=TABLES
    ),
) -> None:
    """Split photos, a video or a sequence of features into events."""
    if dry_run:
        _print_frames(source, every=every, order=order.value, factor=pause_factor, at_least=pause_seconds)
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
    usual_model = "color-lab" if method.value == "ac-color" else "lite0"
    options = Options(
        source=source,
        output=output,
        method=method.value,
        segmenter=segmenter,
        corrections=corrections,
        forget_corrections=forget_corrections,
        formats=tuple(export),
        order=order.value,
        every=every,
        model=model or usual_model,
        weights=weights,
        pause_seconds=pause_seconds,
        pause_factor=pause_factor,
        thumbnails=not no_thumbnails,
        blur_faces=blur_faces,
        write_chapters=write_chapters,
        key=key,
        transpose=transpose,
        quiet=quiet,
        as_json=as_json,
        open_page=open_page,
    )
    _refuse_options_of_others(
        source,
        photos_and_videos={"--model": model, "--weights": weights, "--blur-faces": blur_faces},
        videos={"--every": every},
        tables={"--key": key, "--transpose": transpose, "--interpolate": interpolate},
    )
    segment_and_print(options)


@dataclass(frozen=True)
class Options:
    """The options of `dayline segment`; each attribute has the name of its option."""

    source: Path
    output: Path | None = None
    method: str = "default"
    segmenter: Segmenter | None = None
    corrections: Path | None = None
    forget_corrections: bool = False
    formats: tuple[str, ...] = ()
    order: Literal["time", "name"] = "time"
    every: float | None = None
    model: str = "lite0"
    weights: Path | None = None
    pause_seconds: float = 300.0
    pause_factor: float = 10.0
    thumbnails: bool = True
    blur_faces: bool = False
    write_chapters: bool = False
    key: str | None = None
    transpose: bool = False
    quiet: bool = False
    as_json: bool = False
    open_page: bool = False

    @property
    def is_table(self) -> bool:
        """Whether the source is a file of features, by its name."""
        return _is_table(self.source)


def _is_table(source: Path) -> bool:
    return source.suffix.lower() in TABLE_SUFFIXES and not source.is_dir()


def _refuse_options_of_others(
    source: Path,
    *,
    photos_and_videos: Mapping[str, object],
    videos: Mapping[str, object],
    tables: Mapping[str, object],
) -> None:
    """Raise if an option is given that does not apply to this kind of source; mappings hold option and value."""
    is_table, is_video = _is_table(source), not (_is_table(source) or source.is_dir())
    for kind, given, fits in (
        ("feature files", tables, is_table),
        ("photos and videos", photos_and_videos, not is_table),
        ("videos", videos, is_video),
    ):
        wrong = [name for name, value in given.items() if value not in (None, False) and not fits]
        if wrong:
            raise ValueError(f"{wrong[0]} only applies to {kind}, not to {source}; leave it out")


def _check(options: Options, days: Sequence[Path]) -> None:
    """Raise if a request cannot be met, before any work is done."""
    from dayline.export import OF_PHOTOS, check_formats
    from dayline.frames import check_pauses
    from dayline.frames.faces import face_blurrer

    source, is_table = options.source, options.is_table
    check_formats(options.formats)
    pictures = [name for name in options.formats if name in OF_PHOTOS]
    if pictures and not source.is_dir() and (is_table or "photos" in pictures):
        raise ValueError(f"{source}: --export {pictures[0]} needs photos, and there are none here")
    if options.segmenter is not None:
        options.segmenter.check_parameters()
    check_pauses(options.pause_factor, options.pause_seconds)
    if options.weights is not None and not options.weights.is_file():
        raise ValueError(f"{options.weights}: no such file; pass the file with the weights")
    if options.blur_faces and not is_table:
        face_blurrer()
    if options.formats and options.output is None and is_table:
        raise ValueError("--export needs a folder for the result; choose one with -o")
    if options.as_json and days:
        raise ValueError(f"{source}: --json works for one day only; read events.json in each day's result instead")
    if options.write_chapters and (source.is_dir() or is_table):
        raise ValueError(f"{source}: chapters can only be written to a video")
    if options.corrections is not None and days:
        raise ValueError(f"{source}: --corrections works for one day only; pass the folder of that day")
    if options.corrections is not None and options.forget_corrections:
        raise ValueError("--corrections and --forget-corrections contradict each other; use one of them")


def segment_and_print(options: Options) -> None:
    """Segment a source, or each of several days, write the result and print it."""
    from dayline.cli.console import open_in_browser, print_events, print_notes
    from dayline.frames import day_folders
    from dayline.pipeline import ExportError, default_output

    source, output = options.source, options.output
    days = day_folders(source) if source.is_dir() else ()
    _check(options, days)
    announcement = ""
    if output is None and not options.is_table:
        output = default_output(source)
        announcement = f"dayline: the result goes to {output} (choose another folder with -o)"
    task = _Task(options, "" if options.quiet else announcement)
    page: Path | None
    if days and output is not None:
        page = _segment_days(task, days, output)
    else:
        try:
            result, written = task.segmented(source, output)
        except ExportError as error:
            raise ValueError(f"{error}; everything else is in {output}") from None
        page = None if written is None else written.page
        if options.as_json:
            typer.echo(result.to_json(), nl=False)
        elif not options.quiet:
            print_events(result)
            print_notes(result)
    if page is not None:
        if not (options.quiet or options.as_json):
            typer.echo(f"\nThe page is {page}")
        if options.open_page:
            open_in_browser(page)
    if task.failed:
        raise ValueError(f"some exports failed; the first: {task.failed[0]}")


@dataclass
class _Task:
    """The work on one source, or on each of several days.

    Attributes
    ----------
    options : Options
        The options of the command.
    announcement : str
        Printed once the work begins, since the source may be refused before that.
    failed : list of str
        Messages about exports of days that failed.
    """

    options: Options
    announcement: str = ""
    failed: list[str] = field(default_factory=list)

    def segmented(self, source: Path, output: Path | None) -> tuple[Segmentation, Written | None]:
        """Find the events of a source and write them."""
        from dayline.cli.progress import progress_bar
        from dayline.io.output_folder import output_folder
        from dayline.pipeline import forget_corrections, write_result

        options = self.options
        place = nullcontext() if output is None else output_folder(output)
        with place as folder, progress_bar(quiet=options.quiet or options.as_json) as drawn:
            on_step = self._reporter(drawn)
            result = _find_events(source, folder, options, on_step).made_by(options.method)
            if folder is None:
                return result.segmentation, None
            if options.forget_corrections:
                # Before an export can fail: the next run must not use forgotten corrections.
                forget_corrections(folder)
            written = write_result(
                result,
                folder,
                thumbnails=options.thumbnails,
                blur_faces=options.blur_faces,
                formats=options.formats,
                with_chapters=options.write_chapters,
                on_step=on_step,
            )
        return result.segmentation, written

    def _reporter(self, drawn: OnStep | None) -> OnStep:
        def on_step(what: str, done: int, total: int) -> None:
            if self.announcement:
                typer.echo(self.announcement, err=True)
                self.announcement = ""
            if drawn is not None:
                drawn(what, done, total)

        return on_step

    def segmented_day(self, day: Path, folder: Path) -> tuple[Segmentation, Mapping[int, str]]:
        """Do the same for one of several days; a day whose exports fail still gets its page."""
        from dayline.frames.names import shown_name
        from dayline.pipeline import ExportError
        from dayline.text import counted

        written: Written | None
        try:
            segmentation, written = self.segmented(day, folder)
        except ExportError as error:
            self.failed.append(f"{shown_name(day.name)}: {error}")
            typer.echo(f"dayline: note: {self.failed[-1]}", err=True)
            segmentation, written = error.segmentation, error.written
        if not self.options.quiet:
            events, photos = counted(len(segmentation.events), "event"), counted(segmentation.n_frames, "photo")
            typer.echo(f"{shown_name(day.name)}: {events} in {photos}")
        return segmentation, {} if written is None else written.pictures


def _find_events(source: Path, folder: Path | None, options: Options, on_step: OnStep) -> SourceResult:
    from dayline.events import read_events
    from dayline.io.tables import read_features
    from dayline.pipeline import PictureFolder, segment_source, segment_table

    corrections: Segmentation | Literal["kept"] | None = None if options.forget_corrections else "kept"
    if options.corrections is not None:
        corrections = read_events(options.corrections)
    if _is_table(source):
        table = read_features(source, key=options.key, transpose=options.transpose)
        return segment_table(
            table.features,
            times=table.times,
            source=source.name,
            store=folder,
            corrections=corrections,
            segmenter=options.segmenter,
            on_step=on_step,
        )
    return segment_source(
        source,
        store=folder,
        model=options.model,
        weights=options.weights,
        every=options.every,
        order=options.order,
        pause_factor=options.pause_factor,
        pause_seconds=options.pause_seconds,
        corrections=corrections,
        segmenter=options.segmenter,
        pictures=PictureFolder(folder, options.blur_faces) if options.thumbnails and folder is not None else None,
        on_step=on_step,
    )


def _segment_days(task: _Task, days: tuple[Path, ...], output: Path) -> Path:
    from dayline.frames.names import shown_name
    from dayline.pipeline import segment_days

    title = shown_name(task.options.source.resolve().name)
    results = segment_days(
        days, output, segment_day=task.segmented_day, title=title, thumbnails=task.options.thumbnails
    )
    for result in results:
        if result.why:
            typer.echo(f"dayline: note: {shown_name(result.source)}: {result.why}", err=True)
    return output / "index.html"


def _print_frames(
    source: Path, *, every: float | None, order: Literal["time", "name"], factor: float, at_least: float
) -> None:
    """List the frames in order, with their times; write nothing."""
    from dayline.frames import day_folders, describe, find_pauses, open_source

    if _is_table(source):
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


def chosen_segmenter(method: Method, *, interpolate: bool = False, **parameters: Any) -> Segmenter:
    """Return the segmenter of a method; raise if an option does not apply to it."""
    from dayline.checks import Missing
    from dayline.estimators import EventSegmenter
    from dayline.estimators.baseline import BaselineSegmenter

    missing: Missing = "interpolate" if interpolate else "raise"
    if method.value in BASELINES:
        n_events = parameters.pop("n_events", None)
        for name, value in parameters.items():
            if value not in (None, 0, "cpu"):
                option = name.replace("_", "-")
                raise ValueError(f"--{option} does not apply to --method {method.value}; leave it out")
        return BaselineSegmenter(method.value, n_events=n_events, missing=missing)
    presets: dict[str, Callable[[], EventSegmenter]]
    presets = {"default": EventSegmenter, "paper": EventSegmenter.paper, "authors": EventSegmenter.authors}
    segmenter = presets[method.value]()
    segmenter.set_params(missing=missing, **parameters)
    return segmenter
