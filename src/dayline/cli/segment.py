"""`dayline segment`: photos, a video or features in, events out."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import typer

from dayline.baselines.catalogue import BASELINES
from dayline.cli import options
from dayline.text import parse_bytes

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from dayline.events import Segmentation
    from dayline.pipeline import Segmenter, Settings, Written
    from dayline.progress import OnStep

__all__ = ["Method", "Order", "Request", "chosen_segmenter", "segment", "segment_and_print", "usual_model"]

LONG_WORK = 20.0
"""Seconds; longer work is announced with a forecast."""

PRESETS = ("default", "fast", "paper", "authors")
Method = StrEnum("Method", [(name, name) for name in (*PRESETS, *BASELINES)])  # type: ignore[misc]
"""Our default, the same decision without a graph, the two published variants, and the baselines."""


class Order(StrEnum):
    """What photos are ordered by."""

    time = "time"
    name = "name"


def segment(
    source: Path = typer.Argument(
        ..., help="A folder of photos, a folder with one such folder per day, a video, or a feature file."
    ),
    output: Path | None = typer.Option(None, "--output", "-o", help="Folder for the result."),
    method: Method = options.METHOD,
    n_events: int | None = options.N_EVENTS,
    min_duration: float | None = options.MIN_DURATION,
    expected_duration: float | None = options.EXPECTED_DURATION,
    level: int = options.LEVEL,
    device: str = options.DEVICE,
    corrections: Path | None = typer.Option(
        None, help="events.json saved from the page; later runs use it too. Not needed if saved to the result folder."
    ),
    forget_corrections: bool = typer.Option(
        False, "--forget-corrections", help="Do not use the corrections of earlier runs (a copy is kept)."
    ),
    export: list[str] = options.EXPORT,
    max_memory: str | None = typer.Option(
        None, help="Refuse a source that will probably need more memory, such as 8G or 500M."
    ),
    open_page: bool = typer.Option(False, "--open/--no-open", help="Open the page in a browser."),
    dry_run: bool = typer.Option(False, "--dry-run", help="List the frames in order, and stop."),
    quiet: bool = options.QUIET,
    as_json: bool = typer.Option(False, "--json", help="Print events.json instead of a table."),
    order: Order = options.ORDER,
    every: float | None = options.EVERY,
    model: str | None = options.MODEL,
    weights: Path | None = options.WEIGHTS,
    pause_seconds: float = options.PAUSE_SECONDS,
    pause_factor: float = options.PAUSE_FACTOR,
    no_thumbnails: bool = options.NO_THUMBNAILS,
    blur_faces: bool = options.BLUR_FACES,
    write_chapters: bool = options.WRITE_CHAPTERS,
    places: Path | None = options.PLACES,
    key: str | None = options.KEY,
    transpose: bool = options.TRANSPOSE,
    interpolate: bool = options.INTERPOLATE,
) -> None:
    """Split photos, a video or a sequence of features into events."""
    from dayline.pipeline import Settings

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
    settings = Settings(
        method=method.value,
        segmenter=segmenter,
        formats=tuple(export),
        order=order.value,
        every=every,
        model=model or usual_model(method),
        weights=weights,
        pause_seconds=pause_seconds,
        pause_factor=pause_factor,
        thumbnails=not no_thumbnails,
        blur_faces=blur_faces,
        write_chapters=write_chapters,
        key=key,
        transpose=transpose,
    )
    request = Request(
        source=source,
        output=output,
        settings=settings,
        corrections=corrections,
        forget_corrections=forget_corrections,
        max_memory=None if max_memory is None else parse_bytes(max_memory, option="--max-memory"),
        quiet=quiet,
        as_json=as_json,
        open_page=open_page,
        places=places,
    )
    _refuse_options_of_others(
        source,
        photos_and_videos={"--model": model, "--weights": weights, "--blur-faces": blur_faces, "--places": places},
        videos={"--every": every},
        tables={"--key": key, "--transpose": transpose, "--interpolate": interpolate},
    )
    segment_and_print(request)


@dataclass(frozen=True)
class Request:
    """What `dayline segment` was asked for; each attribute has the name of its option.

    Without `settings`, those of the default method are used.
    """

    source: Path
    output: Path | None = None
    settings: Settings | None = None
    corrections: Path | None = None
    forget_corrections: bool = False
    max_memory: int | None = None
    quiet: bool = False
    as_json: bool = False
    open_page: bool = False
    places: Path | None = None


def _refuse_options_of_others(
    source: Path,
    *,
    photos_and_videos: Mapping[str, object],
    videos: Mapping[str, object],
    tables: Mapping[str, object],
) -> None:
    """Raise if an option is given that does not apply to this kind of source; mappings hold option and value."""
    from dayline.pipeline import is_table

    of_features = is_table(source)
    is_video = not (of_features or source.is_dir())
    for kind, given, fits in (
        ("feature files", tables, of_features),
        ("photos and videos", photos_and_videos, not of_features),
        ("videos", videos, is_video),
    ):
        wrong = [name for name, value in given.items() if value not in (None, False) and not fits]
        if wrong:
            raise ValueError(f"{wrong[0]} only applies to {kind}, not to {source}; leave it out")


def _check(request: Request, settings: Settings, days: Sequence[Path]) -> None:
    """Raise if a request cannot be met, before any work is done."""
    from dayline.export import OF_PHOTOS
    from dayline.pipeline import check_settings, is_table

    source, of_features = request.source, is_table(request.source)
    check_settings(settings, pictures=not of_features)
    pictures = [name for name in settings.formats if name in OF_PHOTOS]
    if pictures and not source.is_dir() and (of_features or "photos" in pictures):
        raise ValueError(f"{source}: --export {pictures[0]} needs photos, and there are none here")
    if settings.formats and request.output is None and of_features:
        raise ValueError("--export needs a folder for the result; choose one with -o")
    if request.as_json and days:
        raise ValueError(f"{source}: --json works for one day only; read events.json in each day's result instead")
    if settings.write_chapters and (source.is_dir() or of_features):
        raise ValueError(f"{source}: chapters can only be written to a video")
    if request.corrections is not None and days:
        raise ValueError(f"{source}: --corrections works for one day only; pass the folder of that day")
    if request.corrections is not None and request.forget_corrections:
        raise ValueError("--corrections and --forget-corrections contradict each other; use one of them")


def segment_and_print(request: Request) -> None:
    """Segment a source, or each of several days, write the result and print it."""
    from dayline.cli.console import open_in_browser, print_events, print_notes
    from dayline.frames import day_folders
    from dayline.pipeline import ExportError, Settings, default_output, is_table

    source, output = request.source, request.output
    settings = request.settings or Settings()
    days = day_folders(source) if source.is_dir() else ()
    _check(request, settings, days)
    announcement = ""
    if output is None and not is_table(source):
        output = default_output(source)
        announcement = f"dayline: the result goes to {output} (choose another folder with -o)"
    task = _Task(request, settings, "" if request.quiet else announcement)
    page: Path | None
    if days and output is not None:
        page = _segment_days(task, days, output)
    else:
        try:
            result, written = task.segmented(source, output)
        except ExportError as error:
            raise ValueError(f"{error}; everything else is in {output}") from None
        result = task.with_places(result, source, output)
        page = None if written is None else written.page
        if request.as_json:
            typer.echo(result.to_json(), nl=False)
        elif not request.quiet:
            print_events(result)
            print_notes(result)
    if page is not None:
        if not (request.quiet or request.as_json):
            typer.echo(f"\nThe page is {page}")
        if request.open_page:
            open_in_browser(page)
    if task.failed:
        raise ValueError(f"some exports failed; the first: {task.failed[0]}")


@dataclass
class _Task:
    """The work on one source, or on each of several days.

    Attributes
    ----------
    request : Request
        What the command was asked for.
    settings : Settings
        Its settings.
    announcement : str
        Printed once the work begins, since the source may be refused before that.
    failed : list of str
        Messages about exports of days that failed.
    """

    request: Request
    settings: Settings
    announcement: str = ""
    failed: list[str] = field(default_factory=list)

    def segmented(self, source: Path, output: Path | None) -> tuple[Segmentation, Written | None]:
        """Find the events of a source and write them."""
        from dayline.cli.progress import progress_bar
        from dayline.events import read_events
        from dayline.pipeline import segment_and_write

        request = self.request
        self._forecast(source)
        corrections = None if request.corrections is None else read_events(request.corrections)
        with progress_bar(quiet=request.quiet or request.as_json) as drawn:
            return segment_and_write(
                source,
                output,
                self.settings,
                corrections=corrections,
                forget=request.forget_corrections,
                on_step=self._reporter(drawn),
            )

    def _forecast(self, source: Path) -> None:
        """Say how long the work takes if that is long; raise if it would take too much memory."""
        from dayline.forecast import forecast, needed_memory
        from dayline.pipeline import is_table, sequence_size
        from dayline.text import bytes_text, counted, duration_text

        try:
            n_frames, n_features = sequence_size(source, self.settings)
        except (ValueError, OSError):
            return  # the source cannot be used, which is said when it is read
        expected = forecast(n_frames, n_features, self.settings.method)
        needed, most = needed_memory(expected), self.request.max_memory
        if most is not None and needed > most:
            raise ValueError(
                f"{source}: {counted(n_frames, 'frame')} need about {bytes_text(needed)} of memory, more than "
                f"--max-memory {bytes_text(most)}; allow more, or use fewer frames"
            )
        if not self.request.quiet and expected.seconds is not None and expected.seconds > LONG_WORK:
            after = "" if is_table(source) else " once their features are computed"
            typer.echo(
                f"dayline: {counted(n_frames, 'frame')} take about {duration_text(expected.seconds)} and "
                f"{bytes_text(needed)} of memory{after}",
                err=True,
            )

    def _reporter(self, drawn: OnStep | None) -> OnStep:
        def on_step(what: str, done: int, total: int) -> None:
            if self.announcement:
                typer.echo(self.announcement, err=True)
                self.announcement = ""
            if drawn is not None:
                drawn(what, done, total)

        return on_step

    def with_places(self, segmentation: Segmentation, source: Path, output: Path | None) -> Segmentation:
        """Recognize places of other days in the result of a single source, if there is a file of them."""
        from dayline.pipeline import is_table, places_beside, read_day, recognise_places

        if output is None or is_table(source):
            return segmentation
        path = self.request.places or places_beside(output)
        if path is None:
            return segmentation
        (day,) = recognise_places([read_day(output)], path, rewrite=self.rewriter(lambda _: source))
        return day.segmentation

    def rewriter(self, source_of: Callable[[Path], Path | None]) -> Callable[[Path, Segmentation], None]:
        """Return what writes a result again after its places changed, with the exports of this request."""
        from dayline.pipeline import rewrite_places

        def rewrite(folder: Path, segmentation: Segmentation) -> None:
            formats, blur = self.settings.formats, self.settings.blur_faces
            rewrite_places(folder, segmentation, formats=formats, source=source_of(folder), blur_faces=blur)

        return rewrite

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
        if not self.request.quiet:
            events, photos = counted(len(segmentation.events), "event"), counted(segmentation.n_frames, "photo")
            typer.echo(f"{shown_name(day.name)}: {events} in {photos}")
        return segmentation, {} if written is None else written.pictures


def _segment_days(task: _Task, days: tuple[Path, ...], output: Path) -> Path:
    from dayline.frames.names import shown_name
    from dayline.pipeline import segment_days

    title = shown_name(task.request.source.resolve().name)
    results = segment_days(
        days,
        output,
        segment_day=task.segmented_day,
        title=title,
        thumbnails=task.settings.thumbnails,
        places=task.request.places,
        rewrite=task.rewriter({output / day.name: day for day in days}.get),
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
    from dayline.pipeline import is_table

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


def usual_model(method: Method) -> str:
    """Return the name of the model that computes features for a method unless another one is chosen."""
    return "color-lab" if method.value == "ac-color" else "lite0"


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
    presets = {
        "default": EventSegmenter,
        "fast": EventSegmenter.fast,
        "paper": EventSegmenter.paper,
        "authors": EventSegmenter.authors,
    }
    segmenter = presets[method.value]()
    segmenter.set_params(missing=missing, **parameters)
    return segmenter
