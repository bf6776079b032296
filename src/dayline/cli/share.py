"""`dayline share`: write a page to give away, in one file or a folder."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated

import typer

MOST_NUMBERS = 100_000


def share(
    result: Annotated[
        Path, typer.Argument(help="The folder of a result of photos, also one with several days.")
    ],
    output: Annotated[
        Path,
        typer.Option(
            "--output",
            "-o",
            help="A file that ends with .html, which contains the pictures, or a folder.",
        ),
    ],
    events: Annotated[
        str, typer.Option(help="Numbers of events on the page of a day: 3,5-7. Default: all.")
    ] = "",
    days: Annotated[
        str, typer.Option(help="Numbers of days on the overview: 1,3-4. Default: all.")
    ] = "",
    source: Annotated[
        Path | None,
        typer.Option(help="The photos, if they are not next to the result."),
    ] = None,
    title: Annotated[str, typer.Option(help="Heading; by default the date.")] = "",
    with_places: Annotated[
        bool, typer.Option("--with-places", help="Include the names of places and towns.")
    ] = False,
    with_locations: Annotated[
        bool, typer.Option("--with-locations", help="Include coordinates.")
    ] = False,
    with_names: Annotated[
        bool, typer.Option("--with-names", help="Include the names of the files.")
    ] = False,
    blur_faces: Annotated[
        bool, typer.Option("--blur-faces", help="Blur faces; it misses some.")
    ] = False,
    max_mb: Annotated[
        float | None,
        typer.Option(
            min=0.2,
            help=(
                "Megabytes of the page with its pictures, which are reduced until they fit;"
                " default: 20 for a file, no limit for a folder."
            ),
        ),
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Replace what dayline did not write.")
    ] = False,
) -> None:
    """Write a page to give away, with the photos of a result and their story.

    Hidden photos are left out, and so are places, locations, and the names of files.
    """
    from dayline.album.export.story import Telling
    from dayline.album.share import share as write
    from dayline.cli.console import progress_bar
    from dayline.text import counted

    if source is not None and not source.is_dir():
        raise ValueError(f"{source}: no such folder; pass the photos as --source")
    with progress_bar(quiet=False) as step:
        done = write(
            result,
            output,
            days=_numbers(days, "--days"),
            events=_numbers(events, "--events"),
            telling=Telling(title, with_places, with_locations, with_names),
            source=source,
            blur_faces=blur_faces,
            max_mb=max_mb,
            force=force,
            on_step=step,
        )
    size = f"{done.n_bytes / 1e6:.1f} MB, pictures of up to {done.side} pixels"
    photos = counted(done.n_all, "photo", "photos and videos" if done.n_videos else None)
    if done.n_photos < done.n_all:
        photos = f"{done.n_photos} of {photos}, the best of each event"
    typer.echo(f"{output}: {photos}, {size}")
    if n_still := done.n_videos - done.n_playable:
        way = "; they play in a folder (-o FOLDER)" if output.suffix == ".html" else ""
        typer.echo(f"{counted(n_still, 'video')} shown by a picture only{way}")


def _numbers(text: str, option: str) -> tuple[int, ...]:
    """Return the numbers in a text such as 3,5-7."""
    found: list[int] = []
    for part in filter(None, text.replace(" ", "").split(",")):
        match = re.fullmatch(r"(\d{1,7})(?:-(\d{1,7}))?", part)
        first = int(match[1]) if match else 0
        last = int(match[2] or first) if match else 0
        if first < 1 or last < first or last - first > MOST_NUMBERS:
            raise ValueError(f"{option}: {part!r} is not a number or a range; write 3,5-7")
        found += range(first, last + 1)
    return tuple(found)
