"""`dayline segment`: photos, a video or features in, events out."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from dayline.cli import options
from dayline.cli.options import Method, chosen_segmenter, usual_model
from dayline.text import duration_text, parse_offset

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from dayline.album.earlier import ResultKind
    from dayline.album.photo_days import FoundDays, PhotoDay
    from dayline.album.run import Settings
    from dayline.album.write import Written
    from dayline.events import Segmentation
    from dayline.media.frame import FrameSequence
    from dayline.progress import OnStep


def print_frames(source: Path, settings: Settings, *, by_folder: bool) -> None:
    """List the frames in order, with their times; write nothing."""
    from dayline.album.photo_days import PhotoDay, find_days
    from dayline.album.run import is_table
    from dayline.media.breaks import find_pauses
    from dayline.media.source import describe, open_source

    if is_table(source):
        raise ValueError(
            f"{source}: --dry-run lists the frames of photos and videos; a feature file has none"
        )
    found = find_days(source, settings, by_folder=by_folder)
    for day in found.days or (PhotoDay("", found.whole) if found.whole is not None else source,):
        if isinstance(day, PhotoDay):
            sequence = day.sequence
        else:
            sequence = open_source(
                day,
                every=settings.every,
                order=settings.order,
                offsets=dict(settings.offsets),
                timezone=settings.timezone,
            )
        pauses = {
            p.before: p
            for p in find_pauses(
                sequence.times, factor=settings.pause_factor, at_least=settings.pause_seconds
            )
        }
        if isinstance(day, PhotoDay) and day.name:
            typer.echo(f"{day.name}:")
        for row in describe(sequence):
            if row.index in pauses:
                typer.echo(f"       --- pause of {duration_text(pauses[row.index].seconds)} ---")
            typer.echo(f"{row.index:6d}  {row.time:23s}  {row.name}")
        typer.echo(f"{sequence.n_frames} frames, {sequence.order}")
        for note in sequence.notes:
            typer.echo(f"note: {note}")
        for file in sequence.skipped:
            typer.echo(f"left out: {file.name}: {file.why}")
    for note in found.notes:
        typer.echo(f"note: {note}")


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
    quiet: bool = False
    as_json: bool = False
    open_page: bool = False
    by_folder: bool = False
    places: Path | None = None


def _check(request: Request, settings: Settings, days: Sequence[Path | PhotoDay]) -> None:
    """Raise if a request cannot be met, before any work is done."""
    from dayline.album.export.formats import Kind, check_suited
    from dayline.album.places_file import read_places
    from dayline.album.run import check_settings, is_table

    source, of_features = request.source, is_table(request.source)
    check_settings(settings, pictures=not of_features)
    if request.places is not None:
        read_places(request.places)
    kind: Kind = "photos" if source.is_dir() else "features" if of_features else "video"
    check_suited(settings.formats, kind, source=source)
    if settings.formats and request.output is None and of_features:
        raise ValueError("--export needs a folder for the result; choose one with -o")
    if request.as_json and days:
        raise ValueError(
            f"{source}: --json works for one day only; read events.json in each day's result"
            " instead"
        )
    if settings.write_chapters and (source.is_dir() or of_features):
        raise ValueError(f"{source}: chapters can only be written to a video")
    if request.corrections is not None and days:
        raise ValueError(
            f"{source}: --corrections works for one day only; pass the folder of that day"
        )
    if request.corrections is not None and request.forget_corrections:
        raise ValueError(
            "--corrections and --forget-corrections contradict each other; use one of them"
        )


def segment_and_print(request: Request) -> None:
    """Segment a source, or each of several days, write the result and print it."""
    from dayline.album.earlier import refuse_other_result, source_digests
    from dayline.album.photo_days import find_days
    from dayline.album.run import Settings, is_table
    from dayline.album.write import ExportError, default_output
    from dayline.cli.console import open_in_browser, print_events, print_failures, print_notes
    from dayline.text import clean_text

    source, output = request.source, request.output
    settings = request.settings or Settings()
    found = find_days(source, settings, by_folder=request.by_folder)
    _check(request, settings, found.days)
    announcement = ""
    if output is None and not is_table(source):
        output = default_output(source)
        announcement = f"dayline: the result goes to {output} (choose another folder with -o)"
    task = _Task(request, settings, "" if request.quiet else announcement, output)
    if output is not None:
        # Before the clocks of cameras are compared, for which features are kept there.
        if not (is_table(source) or request.forget_corrections):
            kind: ResultKind = "days" if found.days else "recording"
            refuse_other_result(output, kind, source.resolve().name, source_digests(source))
        found = task.with_clocks_compared(found, output)
    page: Path | None
    exports: Sequence[Path] = ()
    renewed: Sequence[Path] = ()
    failures: Sequence[str] = ()
    if found.days and output is not None:
        page = _segment_days(task, found, output)
    else:
        try:
            result, written = task.segmented(found.whole or source, output)
        except ExportError as error:
            result, written, failures = error.segmentation, error.written, error.failures
        result = task.with_places(result, source, output)
        page = None if written is None else written.page
        exports, renewed = ((), ()) if written is None else (written.exports, written.renewed)
        if request.as_json:
            typer.echo(result.to_json(), nl=False)
        elif not request.quiet:
            print_events(result)
            print_notes(result)
    if page is not None:
        if not (request.quiet or request.as_json):
            typer.echo(f"\nThe page is {page}")
            if exports:
                # A film may have any name, and its copy has it too.
                typer.echo(f"Also written: {clean_text(', '.join(map(str, exports)))}")
            if renewed:
                typer.echo(f"Exports of earlier runs, updated: {', '.join(map(str, renewed))}")
        if request.open_page:
            open_in_browser(page)
    if failures:
        raise ValueError(f"{print_failures(failures)}; everything else is in {output}")
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
    output : Path or None
        Folder of all results.
    failed : list of str
        Messages about exports of days that failed.
    n_days, n_begun : int
        Number of days, and of those that were begun.
    """

    request: Request
    settings: Settings
    announcement: str = ""
    output: Path | None = None
    failed: list[str] = field(default_factory=list)
    n_days: int = 0
    n_begun: int = 0

    def segmented(
        self, source: Path | FrameSequence, output: Path | None
    ) -> tuple[Segmentation, Written | None]:
        """Find the events of a source and write them."""
        from dayline.album.run import segment_and_write
        from dayline.cli.console import progress_bar
        from dayline.events import read_events

        request = self.request
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

    def with_clocks_compared(self, found: FoundDays, output: Path) -> FoundDays:
        """Group photos again with the clocks of all cameras corrected."""
        from dayline.album.photo_days import find_days
        from dayline.cli.console import progress_bar

        request = self.request
        if found.photos is None:
            return found
        with progress_bar(quiet=request.quiet or request.as_json) as drawn:
            return find_days(
                request.source,
                self.settings,
                store=output,
                before=found,
                on_step=self._reporter(drawn),
            )

    def _reporter(self, drawn: OnStep | None) -> OnStep:
        def on_step(what: str, done: int, total: int) -> None:
            if self.announcement:
                typer.echo(self.announcement, err=True)
                self.announcement = ""
            if drawn is not None:
                drawn(
                    f"day {self.n_begun} of {self.n_days}: {what}" if self.n_days else what,
                    done,
                    total,
                )

        return on_step

    def with_places(
        self, segmentation: Segmentation, source: Path, output: Path | None
    ) -> Segmentation:
        """Recognize places of other days in the result of a single source, if there is a file of them."""
        from dayline.album.recognize import places_beside, read_day, recognise_places
        from dayline.album.run import is_table

        if output is None or is_table(source):
            return segmentation
        path = self.request.places or places_beside(output)
        if path is None:
            return segmentation
        (day,) = recognise_places([read_day(output)], path, rewrite=self.rewriter(lambda _: source))
        return day.segmentation

    def rewriter(
        self, source_of: Callable[[Path], Path | None]
    ) -> Callable[[Path, Segmentation], None]:
        """Return what writes a result again after its places changed, with its exports."""
        from dayline.album.recognize import rewrite_places

        def rewrite(folder: Path, segmentation: Segmentation) -> None:
            rewrite_places(folder, segmentation, source=source_of(folder))

        return rewrite

    def segmented_day(
        self, day: Path | PhotoDay, folder: Path
    ) -> tuple[Segmentation, Mapping[int, str]]:
        """Do the same for one of several days; a day whose exports fail still gets its page."""
        from dayline.album.write import ExportError
        from dayline.events import when_text
        from dayline.media.frame import shown_name
        from dayline.text import counted

        self.n_begun += 1
        written: Written | None
        try:
            segmentation, written = self.segmented(
                day if isinstance(day, Path) else day.sequence, folder
            )
        except ExportError as error:
            failed = [f"{shown_name(day.name)}: {failure}" for failure in error.failures]
            self.failed += failed
            for line in failed:
                typer.echo(f"dayline: note: {line}", err=True)
            segmentation, written = error.segmentation, error.written
        if not self.request.quiet:
            events, photos = (
                counted(len(segmentation.events), "event"),
                counted(segmentation.n_frames, "photo"),
            )
            when = when_text(segmentation)
            typer.echo(f"{shown_name(day.name)}: {events} in {photos}{f', {when}' if when else ''}")
        return segmentation, {} if written is None else written.pictures


def _segment_days(task: _Task, found: FoundDays, output: Path) -> Path:
    from dayline.album.days import segment_days
    from dayline.media.frame import shown_name

    title = shown_name(task.request.source.resolve().name)
    for note in () if task.request.quiet else found.notes:
        typer.echo(f"dayline: note: {note}", err=True)
    task.n_days = len(found.days)
    sources = {
        output / day.name: day if isinstance(day, Path) else day.sequence.source
        for day in found.days
    }
    results = segment_days(
        found.days,
        output,
        segment_day=task.segmented_day,
        title=title,
        source=task.request.source,
        thumbnails=task.settings.thumbnails,
        places=task.request.places,
        rewrite=task.rewriter(sources.get),
    )
    for result in results:
        if result.why:
            typer.echo(f"dayline: note: {shown_name(result.folder.name)}: {result.why}", err=True)
    return output / "index.html"


def segment(
    source: Path = typer.Argument(
        ...,
        help=(
            "A folder of photos, a folder of such folders (grouped by day), a video, or a feature"
            " file."
        ),
    ),
    output: Path | None = typer.Option(
        None,
        "--output",
        "-o",
        help=(
            "Folder for the result. Default for photos and video: NAME-events. The events of a"
            " feature file are only printed by default."
        ),
    ),
    method: Method = options.METHOD,
    n_events: int | None = options.N_EVENTS,
    min_duration: float | None = options.MIN_DURATION,
    expected_duration: float | None = options.EXPECTED_DURATION,
    level: int = options.LEVEL,
    device: str = options.DEVICE,
    corrections: Path | None = typer.Option(
        None,
        help=(
            "events.json saved from the page; later runs use it too. Not needed if saved to the"
            " result folder."
        ),
    ),
    forget_corrections: bool = typer.Option(
        False,
        "--forget-corrections",
        help="Do not use the corrections of earlier runs (a copy is kept).",
    ),
    export: list[str] = options.EXPORT,
    open_page: bool = typer.Option(False, "--open/--no-open", help="Open the page in a browser."),
    dry_run: bool = typer.Option(False, "--dry-run", help="List the frames in order, and stop."),
    quiet: bool = options.QUIET,
    as_json: bool = typer.Option(False, "--json", help="Print events.json instead of a table."),
    order: options.Order = options.ORDER,
    by_folder: bool = options.BY_FOLDER,
    offset: list[str] = options.OFFSET,
    timezone: str | None = options.TIMEZONE,
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
    """Split photos, a video or a sequence of features into events."""
    from dayline.album.run import Settings

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
        offsets=tuple(parse_offset(text) for text in offset),
        timezone=timezone,
    )
    if dry_run:
        print_frames(source, settings, by_folder=by_folder)
        return
    request = Request(
        source=source,
        output=output,
        settings=settings,
        corrections=corrections,
        forget_corrections=forget_corrections,
        quiet=quiet,
        as_json=as_json,
        open_page=open_page,
        by_folder=by_folder,
        places=places,
    )
    _refuse_options_of_others(
        source,
        photos={
            "--by-folder": by_folder,
            "--offset": tuple(offset) or None,
            "--timezone": timezone,
        },
        photos_and_videos={
            "--model": model,
            "--blur-faces": blur_faces,
            "--places": places,
        },
        videos={"--every": every},
        tables={"--key": key, "--transpose": transpose, "--interpolate": interpolate},
    )
    segment_and_print(request)


def _refuse_options_of_others(
    source: Path,
    *,
    photos: Mapping[str, object],
    photos_and_videos: Mapping[str, object],
    videos: Mapping[str, object],
    tables: Mapping[str, object],
) -> None:
    """Raise if an option is given that does not apply to this kind of source; mappings hold option and value."""
    from dayline.album.run import is_table

    of_features = is_table(source)
    is_video = not (of_features or source.is_dir())
    for kind, given, fits in (
        ("feature files", tables, of_features),
        ("photos", photos, source.is_dir()),
        ("photos and videos", photos_and_videos, not of_features),
        ("videos", videos, is_video),
    ):
        wrong = [name for name, value in given.items() if value not in (None, False) and not fits]
        if wrong:
            raise ValueError(f"{wrong[0]} only applies to {kind}, not to {source}; leave it out")
