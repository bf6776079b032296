"""`dayline export`: convert events.json to the formats of other programs."""

from __future__ import annotations

from pathlib import Path

import typer

from dayline.cli.console import completing

# Repeated here so that `dayline --help` does not import the writers; a test keeps the two in step.
FORMATS = "csv, webvtt, ffmetadata, youtube, podcast, kodi, edl, otio, fcpxml, clips, ics, xmp, photos, story"


def export(
    events: Path = typer.Argument(
        ..., help="A result, its events.json, or one saved from the page."
    ),
    formats: list[str] = typer.Option(
        [],
        "--format",
        "-f",
        help=f"Repeatable: {FORMATS}.",
        autocompletion=completing(FORMATS.split(", ")),
    ),
    source: Path | None = typer.Option(
        None,
        help=(
            "The photos or the video; needed for photos, clips, --xmp-beside and --write-chapters,"
            " and for a story unless they are next to the result."
            " With a video, edl, otio and fcpxml use its frame rate, and the last event ends with"
            " it."
        ),
    ),
    output: Path | None = typer.Option(
        None, "--output", "-o", help="Folder to write to; by default that of events.json."
    ),
    fps: float | None = typer.Option(
        None,
        help=(
            "Frames per second of a video of these frames; replaces their times, if they have any."
        ),
    ),
    write_chapters: bool = typer.Option(
        False, "--write-chapters", help="Copy the video with the events as chapters."
    ),
    shots: bool = typer.Option(
        False,
        "--shots/--scenes",
        help="Write the shots of a film rather than its scenes, which are its events.",
    ),
    xmp_beside: bool = typer.Option(
        False,
        "--xmp-beside",
        help=(
            "Write XMP sidecars beside the photos of --source too; those of other programs stay as"
            " they are."
        ),
    ),
    force: bool = typer.Option(
        False,
        "--force",
        help=(
            "Also replace files that dayline did not write; those in photos/, xmp/ and clips/ are"
            " kept beside it."
        ),
    ),
) -> None:
    """Write events in the formats of other programs."""
    from dayline.album.export.film import chaptered_name
    from dayline.album.export.formats import FORMATS as FORMAT_TABLE
    from dayline.album.export.formats import ExportsFailedError, check_formats, file_names
    from dayline.album.export.formats import export as write
    from dayline.album.save import find_source
    from dayline.album.write import faces_blurred
    from dayline.events import read_events
    from dayline.result_folder import export_folder, output_folder

    if events.is_dir():
        if not (events / "events.json").is_file():
            raise ValueError(
                f"{events}: has no events.json; pass the result of one day (dayline share writes a"
                " page of several)"
            )
        events = events / "events.json"
    segmentation = read_events(events)

    if xmp_beside and "xmp" not in formats:
        formats = [*formats, "xmp"]
    if not formats and not write_chapters:
        raise ValueError(
            f"nothing to write; use --format with one of {FORMATS}, or --write-chapters"
        )
    check_formats(formats, shots=shots)
    if source is None and "story" in formats:
        source = find_source(segmentation, events.parent, None)
    if source is not None and not source.exists():
        raise ValueError(
            f"{source}: no such file or folder; pass the photos or the video as --source"
        )
    timed = [name for name, form in FORMAT_TABLE.items() if form.is_timed]
    if fps is not None and not write_chapters and not set(formats) & set(timed):
        raise ValueError(
            f"--fps only applies to {', '.join(timed)} and --write-chapters; leave it out"
        )

    names = file_names(formats, shots=shots)
    if write_chapters and source is not None:
        names.append(chaptered_name(source))
    # Events saved elsewhere may be exported into the result.
    blurred = any(faces_blurred(folder) for folder in (events.parent, output) if folder is not None)
    guarded = (
        export_folder(events.parent, names=names, force=force)
        if output is None
        else output_folder(output, others="replace" if force else "refuse", names=names)
    )

    failures: list[str] = []
    written: list[Path] = []
    with guarded as folder:
        try:
            written += write(
                segmentation,
                folder,
                formats=formats,
                shots=shots,
                with_chapters=write_chapters,
                source=source,
                fps=fps,
                blur_faces=blurred,
                xmp_beside=xmp_beside,
                force=force,
            )
        except ExportsFailedError as error:
            written += error.written
            failures += error.failures
        if failures and not written:
            # Inside the block, so that a folder created for nothing is removed again.
            raise ValueError("; ".join(failures))

    for path in written:
        typer.echo(str(path))
    if xmp_beside and source is not None and "xmp" in {path.name for path in written}:
        typer.echo(f"sidecars beside the photos in {source}")
    if failures:
        raise ValueError(f"{'; '.join(failures)}; everything else is in {folder}")
