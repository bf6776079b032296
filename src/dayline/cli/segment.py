"""`dayline segment`: photos, a video or features in, events out."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from dayline.cli import options
from dayline.cli.dry_run import print_frames
from dayline.cli.methods import Method, chosen_segmenter, usual_model
from dayline.cli.request import Request, segment_and_print
from dayline.text import parse_bytes, parse_offset

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["segment"]


def segment(
    source: Path = typer.Argument(
        ..., help="A folder of photos, a folder of such folders (grouped by day), a video, or a feature file."
    ),
    output: Path | None = typer.Option(
        None,
        "--output",
        "-o",
        help="Folder for the result. Default for photos and video: NAME-events. The events of a feature file are "
        "only printed by default.",
    ),
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
        None, help="Memory limit, such as 8G or 500M; a source that will probably need more is refused."
    ),
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
    weights: Path | None = options.WEIGHTS,
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
    from dayline.pipeline import Settings

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
        max_memory=None if max_memory is None else parse_bytes(max_memory, option="--max-memory"),
        quiet=quiet,
        as_json=as_json,
        open_page=open_page,
        by_folder=by_folder,
        places=places,
    )
    _refuse_options_of_others(
        source,
        photos={"--by-folder": by_folder, "--offset": tuple(offset) or None, "--timezone": timezone},
        photos_and_videos={"--model": model, "--weights": weights, "--blur-faces": blur_faces, "--places": places},
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
    from dayline.pipeline import is_table

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
