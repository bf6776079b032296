"""`dayline view`: show a result in the browser; Save writes into it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dayline.cli.options import OpenPage

if TYPE_CHECKING:
    from dayline.album.save import Saved


def view(
    folder: Annotated[
        Path, typer.Argument(help="The folder of a result, also one with several days.")
    ],
    corrections: Annotated[
        Path | None,
        typer.Option(
            help="Save this events.json, downloaded from the page, into the result first."
        ),
    ] = None,
    source: Annotated[
        Path | None,
        typer.Option(
            help=(
                "The photos or the video: the page can then open the originals. Exports that need"
                " them find them here, or next to the result."
            )
        ),
    ] = None,
    port: Annotated[
        int | None,
        typer.Option(min=1, max=65535, help="Port to listen on, on this machine only."),
    ] = None,
    open_page: OpenPage = None,
) -> None:
    """Open a result in the browser so that Save writes to its folder.

    Served to this machine only, until you press Ctrl-C.
    """
    from dayline.album.edits import note_unused_downloads
    from dayline.album.save import is_result, save_events
    from dayline.album.view import ViewServer, prepare, serve, why_unwritable
    from dayline.cli.console import open_in_browser
    from dayline.events import read_events

    if source is not None and not source.exists():
        raise ValueError(f"{source}: no such file or folder")
    if folder.is_file() and folder.name in ("events.json", "index.html"):
        folder = folder.parent

    for result, renewed in prepare(folder, source=source):
        if isinstance(renewed, ValueError):
            typer.echo(f"dayline: note: {result}: its page is not renewed: {renewed}", err=True)
            continue
        if "index.html" in renewed.renewed:
            typer.echo(f"dayline: note: {result}: the page is renewed from events.json", err=True)
        _print_notes(renewed)

    if corrections is not None and not is_result(folder):
        raise ValueError(
            f"{folder}: --corrections works for one result only; pass the folder of that day"
        )
    if corrections is not None:
        events = read_events(corrections.expanduser())
        _print_saved(folder, save_events(events, folder, source=source))
    note_unused_downloads(folder, command=f"dayline view {folder}")

    unwritable = why_unwritable(folder)
    if unwritable is not None:
        why = f"cannot be written ({unwritable}): the page is shown, and Save downloads events.json"
        typer.echo(f"dayline: note: {folder}: {why}", err=True)
    server = ViewServer(
        folder, port=port, source=source, on_save=_print_saved, unwritable=unwritable
    )
    typer.echo(f"The page is {server.address}")
    typer.echo("Only this machine can open it, while this command runs; Ctrl-C ends it.")
    if sys.stdout.isatty() if open_page is None else open_page:
        open_in_browser(server.address)
    serve(server)
    saved = "what was saved is in the result, other changes" if unwritable is None else "changes"
    typer.echo(f"dayline: ended; {saved} stay in the browser", err=True)


def _print_saved(folder: Path, saved: Saved) -> None:
    from datetime import datetime

    before = "" if saved.history is None else f"; the previous one is {saved.history.name}"
    typer.echo(f"{datetime.now():%H:%M} saved {folder / 'events.json'}{before}")
    _print_notes(saved)


def _print_notes(saved: Saved) -> None:
    for note in saved.notes:
        typer.echo(f"dayline: note: {note}", err=True)
