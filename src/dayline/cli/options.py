"""Options that `dayline segment` and `dayline batch` share."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Any

import typer
from typer.core import TyperCommand

from dayline.cli.console import completing
from dayline.cli.export import FORMATS
from dayline.research.baselines.catalogue import BASELINES

if TYPE_CHECKING:
    from collections.abc import Callable

    from dayline.album.segment import Segmenter


class Command(TyperCommand):
    """A command whose arguments and options cannot be empty.

    An unset variable of the shell gives an empty value, and as a path this is the current folder.
    """

    def parse_args(self, ctx: typer.Context, args: list[str]) -> list[str]:  # type: ignore[override]
        """Parse the arguments of the command line; raise if one is empty."""
        if not ctx.resilient_parsing:
            given, _, _ = self.make_parser(ctx).parse_args(list(args))
            params: list[Any] = self.get_params(ctx)
            for param in params:
                value = given.get(param.name)
                if "" in (value if isinstance(value, (list, tuple)) else (value,)):
                    raise typer.BadParameter(
                        "it is empty (an unset shell variable?)", ctx=ctx, param=param
                    )
        return super().parse_args(ctx, args)


PRESETS = ("default", "fast", "paper", "authors")
Method = StrEnum("Method", [(name, name) for name in (*PRESETS, *BASELINES)])  # type: ignore[misc]
"""Our default, the same decision without a graph, the two published variants, and the baselines."""


def usual_model(method: Method) -> str:
    """Return the name of the model that computes features for a method unless another one is chosen."""
    return "color-lab" if method.value == "ac-color" else "lite0"


def chosen_segmenter(method: Method, *, interpolate: bool = False, **parameters: Any) -> Segmenter:
    """Return the segmenter of a method; raise if an option does not apply to it."""
    from dayline.checks import Missing
    from dayline.estimators import EventSegmenter
    from dayline.research.baselines.segmenter import BaselineSegmenter

    missing: Missing = "interpolate" if interpolate else "raise"
    if method.value in BASELINES:
        n_events = parameters.pop("n_events", None)
        for name, value in parameters.items():
            if value not in (None, 0, "cpu"):
                option = name.replace("_", "-")
                raise ValueError(
                    f"--{option} does not apply to --method {method.value}; leave it out"
                )
        return BaselineSegmenter(method.value, n_events=n_events, missing=missing)
    presets: dict[str, Callable[[], EventSegmenter]]
    presets = {
        "default": EventSegmenter,
        "fast": EventSegmenter.fast,
        "paper": EventSegmenter.paper,
        "authors": EventSegmenter.authors,
    }
    segmenter = presets[method.value]()
    segmenter.set_params(missing=missing, **parameters)
    return segmenter


class Order(StrEnum):
    """What photos are ordered by."""

    time = "time"
    name = "name"


PHOTOS, TABLES = "Photos and video", "Feature files"

METHOD = typer.Option(
    "default",
    help=(
        "default; fast (2 to 9 times as fast, slightly less accurate); the others are for"
        " comparison: the paper's text, the authors' notebook, and baselines."
    ),
)
N_EVENTS = typer.Option(
    None,
    min=1,
    help="Number of events to find; takes precedence over --level and --expected-duration.",
)
MIN_DURATION = typer.Option(
    None, help="Shortest event, in seconds (in frames if there are no times)."
)
EXPECTED_DURATION = typer.Option(None, help="Mean duration of events, in the same unit.")
LEVEL = typer.Option(0, help="Finer (1, 2, ...) or coarser (-1, -2, ...) than the default.")
DEVICE = typer.Option(
    "cpu",
    help="cpu, torch, cuda or mps.",
    autocompletion=completing(("cpu", "torch", "cuda", "mps")),
)
EXPORT = typer.Option(
    [],
    help="Additional format; repeatable (see dayline export --help).",
    autocompletion=completing(FORMATS.split(", ")),
)
QUIET = typer.Option(False, "--quiet", "-q", help="Print nothing but errors.")

ORDER = typer.Option("time", help="Sort photos by capture time or by name.", rich_help_panel=PHOTOS)
BY_FOLDER = typer.Option(
    False,
    "--by-folder",
    help="Each subfolder is a day, whatever the times of its photos.",
    rich_help_panel=PHOTOS,
)
OFFSET = typer.Option(
    [],
    help=(
        "Add to the times of a camera, by folder or model: B=+3600, B=-1:00:00 or B=+47m;"
        " repeatable. Without it, clocks that differ are found from photos that look alike."
    ),
    rich_help_panel=PHOTOS,
)
TIMEZONE = typer.Option(
    None,
    help="Time zone of photos that record none, such as Europe/Madrid.",
    rich_help_panel=PHOTOS,
)
EVERY = typer.Option(
    None,
    help=(
        "Seconds between frames of a video; default: 0.2 s up to a minute, 0.5 s up to an hour, 1 s"
        " beyond."
    ),
    rich_help_panel=PHOTOS,
)
MODEL = typer.Option(
    None,
    help=(
        "lite0 (default), color, color-lab (default for ac-color),"
        " hog or FILE.onnx (docs/models.md)."
    ),
    autocompletion=completing(("lite0", "color", "color-lab", "hog")),
    rich_help_panel=PHOTOS,
)
PAUSE_SECONDS = typer.Option(
    300.0, help="A pause is a gap longer than this ...", rich_help_panel=PHOTOS
)
PAUSE_FACTOR = typer.Option(
    10.0, help="... and than this many typical gaps, 2 hours at most.", rich_help_panel=PHOTOS
)
JUMP_KM = typer.Option(
    2.0,
    help=(
        "A distance of more than this many kilometres between two photos, far longer than those"
        " nearby, begins an event."
    ),
    rich_help_panel=PHOTOS,
)
PLACES = typer.Option(
    None,
    help=(
        "File of places that recur on several days (docs/places.md). Default: places.json next to"
        " the results of several days."
    ),
    rich_help_panel=PHOTOS,
)
NO_THUMBNAILS = typer.Option(
    False,
    "--no-thumbnails",
    help="No photos on the page; remove those of earlier runs.",
    rich_help_panel=PHOTOS,
)
BLUR_FACES = typer.Option(
    False, "--blur-faces", help="Blur faces on the page.", rich_help_panel=PHOTOS
)
SHARE = typer.Option(
    False,
    "--share",
    help="Leave out what should not be shared: links to your files and, if any, locations.",
    rich_help_panel=PHOTOS,
)
WRITE_CHAPTERS = typer.Option(
    False,
    "--write-chapters",
    help="Copy the video with the events as chapters.",
    rich_help_panel=PHOTOS,
)

KEY = typer.Option(None, help="Array with the features (.npz, .mat).", rich_help_panel=TABLES)
TRANSPOSE = typer.Option(False, "--transpose", help="Columns are frames.", rich_help_panel=TABLES)
INTERPOLATE = typer.Option(
    False,
    "--interpolate",
    help="Interpolate NaN and infinity from neighbouring frames.",
    rich_help_panel=TABLES,
)
