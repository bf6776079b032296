"""`dayline segment`: photos, a video or features in, events out."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dayline.cli.options import Options, of_corrections, of_photos
from dayline.text import duration_text, parse_offset, time_text

if TYPE_CHECKING:
    from dayline.album.export.formats import Kind
    from dayline.album.settings import Settings
    from dayline.album.write import SegmentedDay


def segment(
    source: Annotated[
        Path,
        typer.Argument(
            help=(
                "A folder of photos, with or without subfolders (grouped by day), a video, a folder"
                " of videos or of transcripts, a transcript, or a feature file."
            )
        ),
    ],
    *,
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
    options: Options,
    by_folder: Annotated[
        bool,
        of_photos("--by-folder", help="Each subfolder is a day, whatever the times of its photos."),
    ] = False,
    as_one: Annotated[
        bool,
        of_photos("--as-one", help="All photos are one sequence, also of several days."),
    ] = False,
    offset: Annotated[
        list[str] | None,
        of_photos(
            help=(
                "Add to the times of a camera, by folder or model: B=+3600, B=-1:00:00 or B=+47m;"
                " repeatable. Without it, clocks that differ are found from photos that look alike."
            )
        ),
    ] = None,
    cuts: Annotated[
        Path | None,
        of_photos(
            help=(
                "Where the shots of a video begin: PySceneDetect's CSV of scenes, or an EDL. By"
                " default, they are found."
            )
        ),
    ] = None,
    talk: Annotated[
        Path | None,
        of_photos(
            help=(
                "Subtitles or transcript of a video; default: those beside it (film.srt,"
                " film.en.srt)."
            )
        ),
    ] = None,
    corrections: Annotated[
        Path | None,
        of_corrections(
            help=(
                "events.json saved from the page; later runs use it too. Not needed if saved to the"
                " result folder."
            )
        ),
    ] = None,
    forget_corrections: Annotated[
        bool,
        of_corrections(
            "--forget-corrections",
            help="Do not use the corrections of earlier runs (a copy is kept).",
        ),
    ] = False,
    forget_learned: Annotated[
        bool,
        of_corrections(
            "--forget-learned",
            help=(
                "Do not use what your corrections of some days teach about the others: how fine"
                " events should be."
            ),
        ),
    ] = False,
    open_page: Annotated[
        bool, typer.Option("--open/--no-open", help="Open the page in a browser.")
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="List the frames in order, and stop.")
    ] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print events.json instead of a table.")
    ] = False,
) -> None:
    """Split photos, a video, a talk or a sequence of features into events."""
    from dayline.album.days import FoundDays, find_days, segment_days, segment_recording
    from dayline.album.extraction import source_kind
    from dayline.album.recognize import read_places
    from dayline.album.write import default_output
    from dayline.cli.batch import print_sources, run_batch
    from dayline.cli.console import open_in_browser, progress_bar
    from dayline.events import read_events
    from dayline.media.walk import only_kind

    offsets = tuple(parse_offset(text) for text in offset or ())
    settings = replace(options.settings(offsets=offsets), cuts=cuts, talk=talk)
    if source.is_dir() and (only := only_kind(source)) is not None:
        _check_options(source, only, options, settings, by_folder=by_folder, as_one=as_one)
        for option, is_given in (
            ("--corrections", corrections),
            ("--forget-corrections", forget_corrections),
            ("--json", as_json),
            ("--cuts", cuts),
            ("--talk", talk),
        ):
            if is_given:
                raise ValueError(f"{source}: {option} works for one file only; pass that file")
        if dry_run:
            print_sources(source, only=only)
            return
        output = default_output(source) if output is None else output
        try:
            run_batch(source, output, options, only=only)
        finally:
            if open_page and (output / "index.html").exists():
                open_in_browser(output / "index.html")
        return
    if dry_run:
        _print_frames(source, settings, by_folder=by_folder, as_one=as_one)
        return

    kind = source_kind(source)
    _check_options(source, kind, options, settings, by_folder=by_folder, as_one=as_one)
    if kind == "features" and options.export and output is None:
        raise ValueError("--export needs a folder for the result; choose one with -o")
    if corrections is not None and forget_corrections:
        raise ValueError(
            "--corrections and --forget-corrections contradict each other; use one of them"
        )
    if options.places is not None:
        read_places(options.places)
    if output is None and kind != "features":
        output = default_output(source)

    results: list[SegmentedDay] = []
    with progress_bar(quiet=options.quiet or as_json) as on_step:
        found = FoundDays()
        if not as_one:
            found = find_days(
                source,
                settings,
                by_folder=by_folder,
                forget=forget_corrections,
                store=output,
                on_step=on_step,
            )
        if found.days and output is not None:
            for option, is_given in (("--json", as_json), ("--corrections", corrections)):
                if is_given:
                    raise ValueError(
                        f"{source}: {option} works for one day only; pass the folder of that day,"
                        " or --as-one"
                    )
            for note in () if options.quiet else found.notes:
                print(f"dayline: note: {note}", file=sys.stderr)
            for day in segment_days(
                found.days,
                output,
                settings,
                source=source,
                forget=forget_corrections,
                forget_learned=forget_learned,
                places=options.places,
                on_step=on_step,
            ):
                _print_day(day, quiet=options.quiet)
                results.append(day)
        else:
            whole = segment_recording(
                found.whole or source,
                output,
                settings,
                corrections=None if corrections is None else read_events(corrections),
                forget=forget_corrections,
                places=options.places,
                on_step=on_step,
            )
            results.append(whole)

    if as_json and results[0].segmentation is not None:
        typer.echo(results[0].segmentation.to_json(), nl=False)
    elif not options.quiet:
        if not found.days:
            _print_recording(results[0])
        if output is not None:
            typer.echo(f"\nThe page is {output / 'index.html'}")
    if open_page and output is not None:
        open_in_browser(output / "index.html")

    failures = [failure for result in results for failure in result.failures]
    if failures and found.days:
        raise ValueError(f"some exports failed; the first: {failures[0]}")
    if failures:
        raise ValueError(f"{'; '.join(failures)}; everything else is in {output}")


def _check_options(
    source: Path,
    kind: Kind,
    options: Options,
    settings: Settings,
    *,
    by_folder: bool,
    as_one: bool,
) -> None:
    """Raise if an option does not apply to this kind of source, or needs a missing package."""
    from dayline.album.export.formats import check_suited
    from dayline.album.settings import check_settings

    if by_folder and as_one:
        raise ValueError("--by-folder and --as-one contradict each other; use one of them")
    for name, value, kinds, only in (
        ("--by-folder", by_folder, ("photos",), "photos"),
        ("--as-one", as_one, ("photos",), "photos"),
        ("--offset", settings.offsets, ("photos",), "photos"),
        ("--timezone", options.timezone, ("photos",), "photos"),
        ("--calendar", options.calendar, ("photos",), "photos"),
        ("--keep-screenshots", options.keep_screenshots, ("photos",), "photos"),
        ("--model", options.model, ("photos", "video"), "photos and videos"),
        ("--blur-faces", options.blur_faces, ("photos", "video"), "photos and videos"),
        ("--places", options.places, ("photos", "video"), "photos and videos"),
        ("--every", options.every, ("video",), "videos"),
        ("--write-chapters", options.write_chapters, ("video",), "videos"),
        ("--shots", options.shots, ("video",), "videos"),
        ("--cuts", settings.cuts, ("video",), "videos"),
        ("--talk", settings.talk, ("video",), "videos"),
        ("--no-talk", options.no_talk, ("video",), "videos"),
        ("--key", options.key, ("features",), "feature files"),
        ("--transpose", options.transpose, ("features",), "feature files"),
        ("--interpolate", options.interpolate, ("features",), "feature files"),
        ("--no-pauses", options.no_pauses, ("features", "talk"), "feature files and transcripts"),
        ("--word-vectors", options.word_vectors is not None, ("video", "talk"), "talk"),
        ("--no-titles", not options.titles, ("video", "talk"), "talk"),
    ):
        if value and kind not in kinds:
            raise ValueError(f"{name} only applies to {only}, not to {source}; leave it out")
    if settings.talk is not None and options.no_talk:
        raise ValueError("--talk and --no-talk contradict each other; use one of them")
    if options.shots and not (options.export or options.write_chapters):
        raise ValueError("--shots is about exports; add --export FORMAT or --write-chapters")
    check_settings(settings, pictures=kind in ("photos", "video"))
    check_suited(settings.formats, kind, source=source)


def _print_frames(source: Path, settings: Settings, *, by_folder: bool, as_one: bool) -> None:
    """List the frames in order, with their times; write nothing."""
    from dayline.album.days import FoundDays, PhotoDay, find_days
    from dayline.album.extraction import source_kind
    from dayline.decision.pauses import find_pauses
    from dayline.media.source import open_source

    if source_kind(source) in ("features", "talk"):
        raise ValueError(f"{source}: --dry-run lists the frames of photos and videos; leave it out")
    found = FoundDays() if as_one else find_days(source, settings, by_folder=by_folder)
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
            sequence.placed_times,
            factor=settings.pause_factor,
            at_least=settings.pause_seconds,
            durations=sequence.durations,
        )
        lengths = {frame: duration_text(seconds) for frame, seconds in pauses.items()}

        if isinstance(day, PhotoDay):
            typer.echo(f"{day.name}:")
        for i, frame in enumerate(sequence.frames):
            if i in lengths:
                typer.echo(f"       --- pause of {lengths[i]} ---")
            time = frame.date or ""
            if frame.time is not None:
                time = time_text(frame.time, clock=sequence.clock)
            typer.echo(f"{i:6d}  {time:23s}  {frame.name}")
        typer.echo(f"{sequence.n_frames} frames, {sequence.order}")
        for note in sequence.notes:
            typer.echo(f"note: {note}")
        for file in sequence.skipped:
            typer.echo(f"left out: {file.name}: {file.why}")
    for note in found.notes:
        typer.echo(f"note: {note}")


def _print_day(day: SegmentedDay, *, quiet: bool) -> None:
    from dayline.album.hidden import without_hidden
    from dayline.cli.console import print_left_out
    from dayline.events import frames_text, when_text
    from dayline.media.frame import shown_name
    from dayline.text import counted

    name = shown_name(day.folder.name)
    for failure in day.failures:
        print(f"dayline: note: {failure}", file=sys.stderr)
    if day.segmentation is None:
        print(f"dayline: note: {name}: {day.why}", file=sys.stderr)
    elif quiet:
        return
    elif (shown := without_hidden(day.segmentation)) is None:
        print(f"{name}: all photos are hidden")
    else:
        events, when = counted(len(shown.events), "event"), when_text(shown)
        photos = frames_text(shown, range(shown.n_frames))
        print(f"{name}: {events} in {photos}{f', {when}' if when else ''}")
        print_left_out(day.segmentation)


def _print_recording(result: SegmentedDay) -> None:
    """Print the events of one recording, and which files were written."""
    from dayline.album.hidden import without_hidden
    from dayline.cli.console import print_events, print_notes
    from dayline.text import clean_text

    if result.segmentation is not None:
        if (shown := without_hidden(result.segmentation)) is None:
            typer.echo("all photos are hidden")
        else:
            print_events(shown)
        print_notes(result.segmentation)
    if result.written is None:
        return
    for what, files in (
        ("Also written", result.written.exports),
        ("Exports of earlier runs, updated", result.written.renewed),
    ):
        if files:
            # A film may have any name, and its copy has it too.
            typer.echo(f"{what}: {clean_text(', '.join(map(str, files)))}")
