"""`dayline segment`: photos, a video or features in, events out."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dayline.cli import options
from dayline.text import duration_text, parse_offset

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from dayline.album.segment import SegmentedDay
    from dayline.album.settings import Settings
    from dayline.cli.console import StepBar


def segment(
    source: Annotated[
        Path,
        typer.Argument(
            help=(
                "A folder of photos, a folder of such folders (grouped by day), a video, or a"
                " feature file."
            )
        ),
    ],
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help=(
                "Folder for the result. Default for photos and video: NAME-events. The events of a"
                " feature file are only printed by default."
            ),
        ),
    ] = None,
    method: options.Method = "default",
    n_events: options.NEvents = None,
    min_duration: options.MinDuration = None,
    expected_duration: options.ExpectedDuration = None,
    level: options.Level = 0,
    device: options.Device = "cpu",
    corrections: Annotated[
        Path | None,
        typer.Option(
            help=(
                "events.json saved from the page; later runs use it too. Not needed if saved to the"
                " result folder."
            )
        ),
    ] = None,
    forget_corrections: Annotated[
        bool,
        typer.Option(
            "--forget-corrections",
            help="Do not use the corrections of earlier runs (a copy is kept).",
        ),
    ] = False,
    export: options.Export = [],  # noqa: B006 - Typer makes a copy
    open_page: Annotated[
        bool, typer.Option("--open/--no-open", help="Open the page in a browser.")
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="List the frames in order, and stop.")
    ] = False,
    quiet: options.Quiet = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print events.json instead of a table.")
    ] = False,
    order: options.Order = "time",
    by_folder: options.ByFolder = False,
    offset: options.Offset = [],  # noqa: B006 - Typer makes a copy
    timezone: options.Timezone = None,
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
    """Split photos, a video or a sequence of features into events."""
    from dayline.album.days import FoundDays, find_days, segment_days, segment_recording
    from dayline.album.extraction import is_table, source_digests
    from dayline.album.settings import Settings
    from dayline.album.write import default_output, refuse_other_result
    from dayline.cli.console import open_in_browser, print_failures, progress_bar
    from dayline.events import read_events
    from dayline.media.walk import holds_only_folders

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
        offsets=tuple(parse_offset(text) for text in offset),
        timezone=timezone,
    )
    if dry_run:
        _print_frames(source, settings, by_folder=by_folder)
        return

    _refuse_options_of_others(
        source,
        photos={"--by-folder": by_folder, "--offset": offset, "--timezone": timezone},
        photos_and_videos={"--model": model, "--blur-faces": blur_faces, "--places": places},
        videos={"--every": every},
        tables={"--key": key, "--transpose": transpose, "--interpolate": interpolate},
    )
    _check(
        source,
        output,
        settings,
        corrections=corrections,
        forget=forget_corrections,
        places=places,
    )

    announcement = ""
    if output is None and not is_table(source):
        output = default_output(source)
        announcement = f"dayline: the result goes to {output} (choose another folder with -o)"

    results: list[SegmentedDay] = []
    found = FoundDays()
    with progress_bar(quiet=quiet or as_json, announcement=announcement) as bar:
        if output is not None and holds_only_folders(source):
            # Before the photos of all days are read, for which features are kept there.
            if not forget_corrections:
                name = source.resolve().name
                refuse_other_result(output, "days", name, source_digests(source))
            found = find_days(source, settings, by_folder=by_folder, store=output, on_step=bar)
            if found.days and as_json:
                raise ValueError(
                    f"{source}: --json works for one day only; read events.json in each day's"
                    " result instead"
                )
            if found.days and corrections is not None:
                raise ValueError(
                    f"{source}: --corrections works for one day only; pass the folder of that day"
                )

        if found.days and output is not None:
            for note in () if quiet else found.notes:
                bar.echo(f"dayline: note: {note}", err=True)
            for day in segment_days(
                found.days,
                output,
                settings,
                source=source,
                forget=forget_corrections,
                places=places,
                on_step=bar,
            ):
                _print_day(day, bar, quiet=quiet)
                results.append(day)
        else:
            whole = segment_recording(
                found.whole or source,
                output,
                settings,
                corrections=None if corrections is None else read_events(corrections),
                forget=forget_corrections,
                places=places,
                on_step=bar,
            )
            results.append(whole)

    if as_json and results[0].segmentation is not None:
        typer.echo(results[0].segmentation.to_json(), nl=False)
    elif not quiet:
        _print_end(results, output, is_days=bool(found.days))
    if open_page and output is not None:
        open_in_browser(output / "index.html")

    failures = [failure for result in results for failure in result.failures]
    if failures and found.days:
        raise ValueError(f"some exports failed; the first: {failures[0]}")
    if failures:
        raise ValueError(f"{print_failures(failures)}; everything else is in {output}")


def _check(
    source: Path,
    output: Path | None,
    settings: Settings,
    *,
    corrections: Path | None,
    forget: bool,
    places: Path | None,
) -> None:
    """Raise if a request cannot be met, before any work is done."""
    from dayline.album.export.formats import Kind, check_suited
    from dayline.album.extraction import is_table
    from dayline.album.recognize import read_places
    from dayline.album.settings import check_settings

    kind: Kind = "photos" if source.is_dir() else "features" if is_table(source) else "video"
    check_settings(settings, pictures=kind != "features")
    if places is not None:
        read_places(places)
    check_suited(settings.formats, kind, source=source)
    if settings.formats and output is None and kind == "features":
        raise ValueError("--export needs a folder for the result; choose one with -o")
    if settings.write_chapters and kind != "video":
        raise ValueError(f"{source}: chapters can only be written to a video")
    if corrections is not None and forget:
        raise ValueError(
            "--corrections and --forget-corrections contradict each other; use one of them"
        )


def _print_frames(source: Path, settings: Settings, *, by_folder: bool) -> None:
    """List the frames in order, with their times; write nothing."""
    from dayline.album.days import PhotoDay, find_days
    from dayline.album.extraction import is_table
    from dayline.media.breaks import find_pauses
    from dayline.media.source import describe, open_source

    if is_table(source):
        raise ValueError(
            f"{source}: --dry-run lists the frames of photos and videos; a feature file has none"
        )
    found = find_days(source, settings, by_folder=by_folder)
    for day in found.days or (found.whole or source,):
        if isinstance(day, PhotoDay):
            sequence = day.sequence
        elif isinstance(day, Path):
            sequence = open_source(
                day,
                every=settings.every,
                order=settings.order,
                offsets=dict(settings.offsets),
                timezone=settings.timezone,
            )
        else:
            sequence = day
        pauses = find_pauses(
            sequence.times, factor=settings.pause_factor, at_least=settings.pause_seconds
        )
        lengths = {pause.before: duration_text(pause.seconds) for pause in pauses}

        if isinstance(day, PhotoDay):
            typer.echo(f"{day.name}:")
        for row in describe(sequence):
            if row.index in lengths:
                typer.echo(f"       --- pause of {lengths[row.index]} ---")
            typer.echo(f"{row.index:6d}  {row.time:23s}  {row.name}")
        typer.echo(f"{sequence.n_frames} frames, {sequence.order}")
        for note in sequence.notes:
            typer.echo(f"note: {note}")
        for file in sequence.skipped:
            typer.echo(f"left out: {file.name}: {file.why}")
    for note in found.notes:
        typer.echo(f"note: {note}")


def _print_day(day: SegmentedDay, bar: StepBar, *, quiet: bool) -> None:
    from dayline.events import when_text
    from dayline.media.frame import shown_name
    from dayline.text import counted

    name = shown_name(day.folder.name)
    for failure in day.failures:
        bar.echo(f"dayline: note: {failure}", err=True)
    if day.segmentation is None:
        bar.echo(f"dayline: note: {name}: {day.why}", err=True)
    elif not quiet:
        events = counted(len(day.segmentation.events), "event")
        when = when_text(day.segmentation)
        photos = counted(day.segmentation.n_frames, "photo")
        bar.echo(f"{name}: {events} in {photos}{f', {when}' if when else ''}")


def _print_end(results: Sequence[SegmentedDay], output: Path | None, *, is_days: bool) -> None:
    """Print the events of one recording, and where the page and other files are."""
    from dayline.cli.console import print_events, print_notes
    from dayline.text import clean_text

    segmentation, written = results[0].segmentation, results[0].written
    if not is_days and segmentation is not None:
        print_events(segmentation)
        print_notes(segmentation)
    if output is not None:
        typer.echo(f"\nThe page is {output / 'index.html'}")
    if not is_days and written is not None:
        # A film may have any name, and its copy has it too.
        for what, files in (
            ("Also written", written.exports),
            ("Exports of earlier runs, updated", written.renewed),
        ):
            if files:
                typer.echo(f"{what}: {clean_text(', '.join(map(str, files)))}")


def _refuse_options_of_others(
    source: Path,
    *,
    photos: Mapping[str, object],
    photos_and_videos: Mapping[str, object],
    videos: Mapping[str, object],
    tables: Mapping[str, object],
) -> None:
    """Raise if an option with a value does not apply to this kind of source."""
    from dayline.album.extraction import is_table

    of_features = is_table(source)
    is_video = not (of_features or source.is_dir())
    for kind, given, fits in (
        ("feature files", tables, of_features),
        ("photos", photos, source.is_dir()),
        ("photos and videos", photos_and_videos, not of_features),
        ("videos", videos, is_video),
    ):
        wrong = [name for name, value in given.items() if value and not fits]
        if wrong:
            raise ValueError(f"{wrong[0]} only applies to {kind}, not to {source}; leave it out")
