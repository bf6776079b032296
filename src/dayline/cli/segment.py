"""`dayline segment`: features in, events out."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from dayline.checks import Missing
    from dayline.events import Segmentation
    from dayline.tables import FeatureTable

__all__ = ["Method", "segment"]


class Method(StrEnum):
    """Which settings to use."""

    default = "default"
    paper = "paper"
    authors = "authors"
    ces = "ces"
    kts = "kts"
    tw_finch = "tw-finch"
    window_difference = "window-difference"
    kernel_rbf = "kernel-rbf"
    kernel_cosine = "kernel-cosine"
    tsc = "tsc"
    kmeans = "kmeans"


def segment(
    source: Path = typer.Argument(
        ..., metavar="FEATURES", help=".npy, .npz, .csv, .parquet or .mat, a row per frame."
    ),
    output: Path | None = typer.Option(None, "--output", "-o", help="Folder for events.json and events.csv."),
    method: Method = typer.Option(
        Method.default, help="Our default, the paper's text, the authors' notebook, or a baseline."
    ),
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
    missing: Missing = "interpolate" if interpolate else "raise"
    wishes = {"min_duration": min_duration, "expected_duration": expected_duration, "level": level}
    with progress_bar(quiet=quiet or as_json) as on_step:
        if method.value in BASELINES:
            _refuse_wishes(method, **wishes, device=device)
            result = _by_baseline(method, table, n_events, missing)
        else:
            from dayline.estimators import EventSegmenter

            presets = {Method.paper: EventSegmenter.paper, Method.authors: EventSegmenter.authors}
            segmenter = presets[method]() if method in presets else EventSegmenter()
            segmenter.set_params(missing=missing, device=device, n_events=n_events, **wishes)
            result = segmenter.segment(table.features, times=table.times, on_step=on_step)
    result = result.about(source=source.name, method=method.value)
    if folder is not None:
        write_text_whole(folder / "events.csv", events_csv(result))
        write_text_whole(folder / "events.json", result.to_json())
    if as_json:
        typer.echo(result.to_json(), nl=False)
    elif not quiet:
        print_events(result)


BASELINES: dict[str, tuple[str, str, dict[str, str]]] = {
    "ces": ("ces", "ContextualSegmenter", {}),
    "kts": ("kts", "KernelTemporalSegmenter", {}),
    "tw-finch": ("tw_finch", "TemporalFinch", {}),
    "window-difference": ("window_difference", "WindowDifferenceSegmenter", {}),
    "kernel-rbf": ("kernel_change", "KernelChangeSegmenter", {"kernel": "rbf"}),
    "kernel-cosine": ("kernel_change", "KernelChangeSegmenter", {"kernel": "cosine"}),
    "tsc": ("tsc", "TemporalSubspaceSegmenter", {}),
    "kmeans": ("kmeans_smoothed", "SmoothedKMeans", {}),
}
"""Module, class and parameters of the baselines that need nothing but features."""


def _refuse_wishes(method: Method, **wishes: object) -> None:
    given = [name for name, value in wishes.items() if value not in (None, 0, "cpu")]
    if given:
        option = given[0].replace("_", "-")
        raise ValueError(f"--{option} is for our own methods; --method {method.value} does not know it")


def _by_baseline(method: Method, table: FeatureTable, n_events: int | None, missing: Missing) -> Segmentation:
    """Segment with one of the paper's baselines; it has no scores of its own to tell."""
    from importlib import import_module

    from dayline.events import Segmentation

    module, name, given = BASELINES[method.value]
    segmenter = getattr(import_module(f"dayline.baselines.{module}"), name)(**given).set_params(missing=missing)
    if n_events is not None:
        if "n_events" not in segmenter.get_params():
            _refuse_wishes(method, n_events=n_events)
        segmenter.set_params(n_events=n_events)
    found = segmenter.fit(table.features).boundaries_
    times = None if table.times is None else tuple(float(t) for t in table.times)
    return Segmentation.from_boundaries(found, len(table.features), times=times)
