"""`dayline segment --dry-run`: the frames in order, as they would be used."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from dayline.text import duration_text

if TYPE_CHECKING:
    from pathlib import Path

    from dayline.pipeline import Settings

__all__ = ["print_frames"]


def print_frames(source: Path, settings: Settings, *, by_folder: bool) -> None:
    """List the frames in order, with their times; write nothing."""
    from dayline.frames import describe, find_pauses, open_source
    from dayline.pipeline import PhotoDay, find_days, is_table

    if is_table(source):
        raise ValueError(f"{source}: --dry-run lists the frames of photos and videos; a feature file has none")
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
            for p in find_pauses(sequence.times, factor=settings.pause_factor, at_least=settings.pause_seconds)
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
