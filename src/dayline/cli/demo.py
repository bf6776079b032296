"""`dayline demo`: made photos, segmented from pixels and compared with their truth."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from dayline.cli.evaluate import evaluate
from dayline.cli.options import OpenPage, Options
from dayline.cli.segment import segment

TOLERANCE = 2


def demo(
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Folder for the photos and the result.")
    ] = Path("demo"),
    seed: Annotated[
        int, typer.Option(min=0, help="Seed; each gives another sequence of photos.")
    ] = 0,
    open_page: OpenPage = None,
) -> None:
    """Make the photos of a day from real photographs, and find the events of that day."""
    from dayline.files import write_text_whole
    from dayline.research.datasets.photostream import make_photostream
    from dayline.result_folder import output_folder

    with output_folder(output) as folder:
        stream = make_photostream(folder / "outing", random_state=seed)
        write_text_whole(folder / "truth.json", stream.segmentation.to_json())
    is_opened = sys.stdout.isatty() if open_page is None else open_page
    segment(stream.folder, output=folder, options=Options(), open_page=is_opened)
    typer.echo(
        f"\nAgainst the {len(stream.boundaries)} true boundaries, at most {TOLERANCE} photos off:\n"
    )
    evaluate(folder / "events.json", folder / "truth.json", TOLERANCE)
