"""`dayline segment`: photos, a video or features in, events out."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import typer

from dayline.baselines.catalogue import BASELINES

if TYPE_CHECKING:
    from dayline.events import Segmentation
    from dayline.pipeline import Finder, SourceResult
    from dayline.progress import OnStep

__all__ = ["Method", "Order", "chosen_segmenter", "segment"]

PHOTOS, TABLES = "Photos and video", "Feature files"


class Method(StrEnum):
    """Our default, the two published variants, and the baselines."""

    _ignore_ = "members baseline"

    default = "default"
    paper = "paper"
    authors = "authors"
    members = vars()
    for baseline in BASELINES:
        members[baseline.replace("-", "_")] = baseline


class Order(StrEnum):
    """What photos are ordered by."""

    time = "time"
    name = "name"


def segment(
    source: Path = typer.Argument(
        ..., help="A folder of photos, a folder with one such folder per day, a video, or a feature file."
    ),
    output: Path | None = typer.Option(None, "--output", "-o", help="Folder for the result."),
    method: Method = typer.Option(
        Method.default, help="Our default, the paper's text, the authors' notebook, or a baseline."
    ),
    n_events: int | None = typer.Option(None, min=1, help="How many events are wanted."),
    min_duration: float | None = typer.Option(None, help="Shortest event, in seconds (frames without times)."),
    expected_duration: float | None = typer.Option(None, help="Mean duration wanted, in the same unit."),
    level: int = typer.Option(0, help="Levels finer (1, 2, ...) or coarser (-1, -2, ...) than the usual one."),
    device: str = typer.Option("cpu", help="cpu, torch, cuda or mps."),
    corrections: Path | None = typer.Option(
        None, help="events.json as saved on the page; kept, by later runs too. One saved into the result is found."
    ),
    forget_corrections: bool = typer.Option(
        False, "--forget-corrections", help="Do not use the corrections of earlier runs (a copy of them stays)."
    ),
    export: list[str] = typer.Option([], help="Further format, repeatable (see dayline export --help)."),
    open_page: bool = typer.Option(False, "--open/--no-open", help="Open the page in a browser."),
    dry_run: bool = typer.Option(False, "--dry-run", help="List what would be read, in which order, and stop."),
    quiet: bool = typer.Option(False, "--quiet", "-q", help="Print nothing but errors."),
    as_json: bool = typer.Option(False, "--json", help="Print events.json instead of a table."),
    order: Order = typer.Option(Order.time, help="Photos by capture time, or by name.", rich_help_panel=PHOTOS),
    every: float | None = typer.Option(None, help="Seconds between frames of a video.", rich_help_panel=PHOTOS),
    model: str | None = typer.Option(
        None,
        help="lite0 (the usual one), inceptionv3, color, color-lab (usual for ac-color), hog or FILE.onnx "
        "(docs/models.md).",
        rich_help_panel=PHOTOS,
    ),
    weights: Path | None = typer.Option(None, help="Weights of inceptionv3.", rich_help_panel=PHOTOS),
    pause_seconds: float = typer.Option(300.0, help="A pause is longer than this ...", rich_help_panel=PHOTOS),
    pause_factor: float = typer.Option(10.0, help="... and than so many usual gaps.", rich_help_panel=PHOTOS),
    no_thumbnails: bool = typer.Option(
        False, "--no-thumbnails", help="No photos on the page.", rich_help_panel=PHOTOS
    ),
    blur_faces: bool = typer.Option(False, "--blur-faces", help="Blur faces on the page.", rich_help_panel=PHOTOS),
    write_chapters: bool = typer.Option(
        False, "--write-chapters", help="Copy the video with the events as chapters.", rich_help_panel=PHOTOS
    ),
    key: str | None = typer.Option(None, help="Array that holds the features (.npz, .mat).", rich_help_panel=TABLES),
    transpose: bool = typer.Option(False, "--transpose", help="Columns are frames.", rich_help_panel=TABLES),
    interpolate: bool = typer.Option(
        False, "--interpolate", help="Fill NaN and infinity from frames before and after.", rich_help_panel=TABLES
    ),
) -> None:
    """Split photos, a video or a sequence of features into events."""
    from functools import partial

    from dayline.cli.run import check_wishes, is_table, print_frames, run, run_table
    from dayline.events import read_events
    from dayline.pipeline import PictureFolder, segment_source, write_result

    if dry_run:
        print_frames(source, every=every, order=order.value, factor=pause_factor, at_least=pause_seconds)
        return
    wishes = {"n_events": n_events, "min_duration": min_duration, "expected_duration": expected_duration}
    segmenter = chosen_segmenter(method, interpolate=interpolate, device=device, level=level, **wishes)
    check_wishes(
        source, output=output, formats=export, chapters=write_chapters, corrections=corrections,
        forget_corrections=forget_corrections, as_json=as_json, weights=weights, segmenter=segmenter,
        pauses=(pause_factor, pause_seconds),
        of_photos={"--model": model is not None, "--weights": weights is not None, "--blur-faces": blur_faces},
        of_videos={"--every": every is not None},
        of_tables={"--key": key is not None, "--transpose": transpose, "--interpolate": interpolate},
    )  # fmt: skip
    usual_model = "color-lab" if method.value == "ac-color" else "lite0"
    corrected: Segmentation | Literal["kept"] | None = None if forget_corrections else "kept"
    if corrections is not None:
        corrected = read_events(corrections)
    of_table = partial(run_table, key=key, transpose=transpose, corrections=corrected, segmenter=segmenter)
    of_frames = partial(
        segment_source, model=model or usual_model, weights=weights, every=every, order=order.value,
        pause_factor=pause_factor, pause_seconds=pause_seconds, corrections=corrected, segmenter=segmenter,
    )  # fmt: skip
    write = partial(
        write_result, thumbnails=not no_thumbnails, blur_faces=blur_faces, formats=export,
        with_chapters=write_chapters,
    )  # fmt: skip

    def find_events(place: Path, store: Path | None, on_step: OnStep | None) -> SourceResult:
        if is_table(place):
            return of_table(place, store=store, on_step=on_step)
        pictures = None if no_thumbnails or store is None else PictureFolder(store, blur_faces)
        return of_frames(place, store=store, pictures=pictures, on_step=on_step)

    run(
        source, output, find_events, write, method=method.value, quiet=quiet, as_json=as_json, open_page=open_page,
        forget=forget_corrections, thumbnails=not no_thumbnails,
    )  # fmt: skip


def chosen_segmenter(method: Method, *, interpolate: bool = False, **wishes: Any) -> Finder:
    """Set the method up; what a baseline cannot be told is refused."""
    from dayline.checks import Missing
    from dayline.estimators import EventSegmenter
    from dayline.estimators.baseline import BaselineSegmenter

    missing: Missing = "interpolate" if interpolate else "raise"
    if method.value in BASELINES:
        n_events = wishes.pop("n_events", None)
        for name, value in wishes.items():
            if value not in (None, 0, "cpu"):
                option = name.replace("_", "-")
                raise ValueError(f"--{option} is for our own methods; --method {method.value} does not know it")
        return BaselineSegmenter(method.value, n_events=n_events, missing=missing)
    presets = {Method.paper: EventSegmenter.paper, Method.authors: EventSegmenter.authors}
    segmenter = presets[method]() if method in presets else EventSegmenter()
    segmenter.set_params(missing=missing, **wishes)
    return segmenter
