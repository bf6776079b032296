"""`dayline segment`: features in, events out."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path

import typer

__all__ = ["Method", "segment"]


class Method(StrEnum):
    """Which settings to use."""

    default = "default"
    paper = "paper"
    authors = "authors"


def segment(
    source: Path = typer.Argument(
        ..., metavar="FEATURES", help=".npy, .npz, .csv, .parquet or .mat, a row per frame."
    ),
    output: Path | None = typer.Option(None, "--output", "-o", help="Folder for events.json and events.csv."),
    method: Method = typer.Option(Method.default, help="Our default, the paper's text, or the authors' notebook."),
    key: str | None = typer.Option(None, help="Array of an .npz or .mat file that holds the features."),
    transpose: bool = typer.Option(False, help="Columns are frames."),
    interpolate: bool = typer.Option(False, help="Fill NaN and infinity from the frames before and after."),
    n_events: int | None = typer.Option(None, min=1, help="How many events are wanted."),
    min_duration: float | None = typer.Option(None, help="Shortest event, in seconds (frames without times)."),
    expected_duration: float | None = typer.Option(None, help="Mean duration wanted, in the same unit."),
    level: int = typer.Option(0, help="Levels finer (1, 2, ...) or coarser (-1, -2, ...) than the usual one."),
    device: str = typer.Option("cpu", help="cpu, torch, cuda or mps."),
    quiet: bool = typer.Option(False, "--quiet", "-q", help="Print nothing but errors."),
    as_json: bool = typer.Option(False, "--json", help="Print events.json instead of a table."),
) -> None:
    """Split a sequence of features into events."""
    from dayline.cli.progress import progress_bar
    from dayline.cli.show import events_csv, print_events
    from dayline.files import prepare_output, write_text_whole
    from dayline.tables import read_features

    folder = None if output is None else prepare_output(output)
    table = read_features(source, key=key, transpose=transpose)
    with progress_bar(quiet=quiet or as_json) as on_step:
        from dayline.estimators import EventSegmenter

        presets = {Method.paper: EventSegmenter.paper, Method.authors: EventSegmenter.authors}
        segmenter = presets[method]() if method in presets else EventSegmenter()
        segmenter.set_params(missing="interpolate" if interpolate else "raise", device=device)
        segmenter.set_params(n_events=n_events, min_duration=min_duration, expected_duration=expected_duration)
        segmenter.set_params(level=level)
        result = segmenter.segment(table.features, times=table.times, on_step=on_step)
    result = result.about(source=source.name, method=method.value)
    if folder is not None:
        write_text_whole(folder / "events.csv", events_csv(result))
        write_text_whole(folder / "events.json", result.to_json())
    if as_json:
        typer.echo(result.to_json(), nl=False)
    elif not quiet:
        print_events(result)
