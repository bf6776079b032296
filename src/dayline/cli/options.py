"""Options that `dayline segment` and `dayline batch` share."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

from typer import BadParameter, Context, Option
from typer.core import TyperCommand

from dayline.cli.console import completing
from dayline.cli.export import FORMATS
from dayline.research.baselines.catalogue import BASELINES

if TYPE_CHECKING:
    from dayline.album.settings import Segmenter

MODELS = ("lite0", "color", "color-lab", "hog")
DEVICES = ("cpu", "torch", "cuda", "mps")
PRESETS = ("default", "fast", "paper", "authors")
METHODS = (*PRESETS, *BASELINES)
"""Our default, the same decision without a graph, the two published variants, and the baselines."""


class Command(TyperCommand):
    """A command whose arguments and options cannot be empty.

    An unset variable of the shell gives an empty value, and as a path this is the current folder.
    """

    def parse_args(self, ctx: Context, args: list[str]) -> list[str]:  # type: ignore[override]
        """Parse the arguments of the command line; raise if one is empty."""
        if not ctx.resilient_parsing:
            given, _, _ = self.make_parser(ctx).parse_args(list(args))
            params: list[Any] = self.get_params(ctx)
            for param in params:
                value = given.get(param.name)
                if "" in (value if isinstance(value, (list, tuple)) else (value,)):
                    raise BadParameter(
                        "it is empty (an unset shell variable?)", ctx=ctx, param=param
                    )
        return super().parse_args(ctx, args)


def usual_model(method: str) -> str:
    """Return the model that computes features for a method unless another one is chosen."""
    return "color-lab" if method == "ac-color" else "lite0"


def chosen_segmenter(method: str, *, interpolate: bool = False, **parameters: Any) -> Segmenter:
    """Return the segmenter of a method; raise if an option does not apply to it."""
    from dayline.estimators import EventSegmenter
    from dayline.research.baselines.segmenter import BaselineSegmenter

    missing: Literal["interpolate", "raise"] = "interpolate" if interpolate else "raise"
    if method in BASELINES:
        n_events = parameters.pop("n_events", None)
        for name, value in parameters.items():
            if value not in (None, 0, "cpu"):
                option = name.replace("_", "-")
                raise ValueError(f"--{option} does not apply to --method {method}; leave it out")
        return BaselineSegmenter(method, n_events=n_events, missing=missing)

    make = EventSegmenter if method == "default" else getattr(EventSegmenter, method)
    segmenter: EventSegmenter = make()
    return segmenter.set_params(missing=missing, **parameters)


PHOTOS, TABLES = "Photos and video", "Feature files"

Method: TypeAlias = Annotated[
    Literal[METHODS],  # type: ignore[valid-type]
    Option(
        help=(
            "default; fast (2 to 9 times as fast, slightly less accurate); the others are for"
            " comparison: the paper's text, the authors' notebook, and baselines."
        )
    ),
]
NEvents: TypeAlias = Annotated[
    int | None,
    Option(
        min=1,
        help="Number of events to find; takes precedence over --level and --expected-duration.",
    ),
]
MinDuration: TypeAlias = Annotated[
    float | None, Option(help="Shortest event, in seconds (in frames if there are no times).")
]
ExpectedDuration: TypeAlias = Annotated[
    float | None, Option(help="Mean duration of events, in the same unit.")
]
Level: TypeAlias = Annotated[
    int, Option(help="Finer (1, 2, ...) or coarser (-1, -2, ...) than the default.")
]
Device: TypeAlias = Annotated[
    str, Option(help="cpu, torch, cuda or mps.", autocompletion=completing(DEVICES))
]
Export: TypeAlias = Annotated[
    list[str],
    Option(
        help="Additional format; repeatable (see dayline export --help).",
        autocompletion=completing(FORMATS.split(", ")),
    ),
]
Quiet: TypeAlias = Annotated[bool, Option("--quiet", "-q", help="Print nothing but errors.")]

Order: TypeAlias = Annotated[
    Literal["time", "name"],
    Option(help="Sort photos by capture time or by name.", rich_help_panel=PHOTOS),
]
ByFolder: TypeAlias = Annotated[
    bool,
    Option(
        "--by-folder",
        help="Each subfolder is a day, whatever the times of its photos.",
        rich_help_panel=PHOTOS,
    ),
]
Offset: TypeAlias = Annotated[
    list[str],
    Option(
        help=(
            "Add to the times of a camera, by folder or model: B=+3600, B=-1:00:00 or B=+47m;"
            " repeatable. Without it, clocks that differ are found from photos that look alike."
        ),
        rich_help_panel=PHOTOS,
    ),
]
Timezone: TypeAlias = Annotated[
    str | None,
    Option(
        help="Time zone of photos that record none, such as Europe/Madrid.",
        rich_help_panel=PHOTOS,
    ),
]
Every: TypeAlias = Annotated[
    float | None,
    Option(
        help=(
            "Seconds between frames of a video; default: 0.2 s up to a minute, 0.5 s up to an hour,"
            " 1 s beyond."
        ),
        rich_help_panel=PHOTOS,
    ),
]
Model: TypeAlias = Annotated[
    str | None,
    Option(
        help=(
            "lite0 (default), color, color-lab (default for ac-color), hog or FILE.onnx"
            " (docs/models.md)."
        ),
        autocompletion=completing(MODELS),
        rich_help_panel=PHOTOS,
    ),
]
PauseSeconds: TypeAlias = Annotated[
    float, Option(help="A pause is a gap longer than this ...", rich_help_panel=PHOTOS)
]
PauseFactor: TypeAlias = Annotated[
    float,
    Option(help="... and than this many typical gaps, 2 hours at most.", rich_help_panel=PHOTOS),
]
JumpKm: TypeAlias = Annotated[
    float,
    Option(
        help=(
            "A distance of more than this many kilometers between two photos, far longer than those"
            " nearby, begins an event."
        ),
        rich_help_panel=PHOTOS,
    ),
]
Places: TypeAlias = Annotated[
    Path | None,
    Option(
        help=(
            "File of places that recur on several days (docs/places.md). Default: places.json next"
            " to the results of several days."
        ),
        rich_help_panel=PHOTOS,
    ),
]
NoThumbnails: TypeAlias = Annotated[
    bool,
    Option(
        "--no-thumbnails",
        help="No photos on the page; remove those of earlier runs.",
        rich_help_panel=PHOTOS,
    ),
]
BlurFaces: TypeAlias = Annotated[
    bool, Option("--blur-faces", help="Blur faces on the page.", rich_help_panel=PHOTOS)
]
Share: TypeAlias = Annotated[
    bool,
    Option(
        "--share",
        help="Leave out what should not be shared: links to your files and, if any, locations.",
        rich_help_panel=PHOTOS,
    ),
]
WriteChapters: TypeAlias = Annotated[
    bool,
    Option(
        "--write-chapters",
        help="Copy the video with the events as chapters.",
        rich_help_panel=PHOTOS,
    ),
]

Key: TypeAlias = Annotated[
    str | None, Option(help="Array with the features (.npz).", rich_help_panel=TABLES)
]
Transpose: TypeAlias = Annotated[
    bool, Option("--transpose", help="Columns are frames.", rich_help_panel=TABLES)
]
Interpolate: TypeAlias = Annotated[
    bool,
    Option(
        "--interpolate",
        help="Interpolate NaN and infinity from neighboring frames.",
        rich_help_panel=TABLES,
    ),
]
