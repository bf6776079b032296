"""Options that several commands share, and the settings that they stand for."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

from typer import Option

from dayline.cli.console import completing
from dayline.cli.export import FORMATS
from dayline.research.baselines.catalogue import BASELINES

if TYPE_CHECKING:
    from dayline.album.settings import Segmenter, Settings

MODELS = ("lite0", "color", "color-lab", "hog")
KINDS = ("cooking", "gestures", "sensors")
DEVICES = ("cpu", "torch", "cuda", "mps")
PRESETS = ("default", "fast", "paper", "authors")
METHODS = (*PRESETS, *BASELINES)
"""Our default, the same decision without a graph, the two published variants, and the baselines."""

of_fineness = partial(Option, rich_help_panel="How many events")
of_corrections = partial(Option, rich_help_panel="Corrections")
of_photos = partial(Option, rich_help_panel="Photos and video")
of_tables = partial(Option, rich_help_panel="Feature files")

OpenPage: TypeAlias = Annotated[
    bool | None,
    Option(
        "--open/--no-open", help="Open the page in a browser; default on a terminal with a display."
    ),
]


@dataclass(frozen=True)
class Options:
    """How to segment, and what to write; each attribute is an option of the command line."""

    method: Annotated[
        Literal[METHODS],  # type: ignore[valid-type]
        Option(
            metavar="<name>",  # all of them would leave the help of every option a narrow column
            help=(
                "default; fast (2 to 9 times as fast, slightly less accurate); for comparison, paper"
                f" (as published), authors (their notebook) and the baselines {', '.join(BASELINES)}."
            ),
        ),
    ] = "default"
    n_events: Annotated[
        int | None,
        of_fineness(
            min=1,
            help="Number of events to find; takes precedence over --level and --expected-duration.",
        ),
    ] = None
    min_duration: Annotated[
        str | None,
        of_fineness(
            metavar="<duration>",
            help="Shortest event: 45s, 30min, 1h 30min; a number is seconds (frames without times).",
        ),
    ] = None
    expected_duration: Annotated[
        str | None,
        of_fineness(metavar="<duration>", help="Mean duration of events, written the same way."),
    ] = None
    level: Annotated[
        int, of_fineness(help="Finer (1, 2, ...) or coarser (-1, -2, ...) than the default.")
    ] = 0
    learned: Annotated[
        Path | None,
        of_fineness(help="File of dayline learn: what labeled recordings of this kind taught."),
    ] = None
    kind: Annotated[
        str | None,
        of_fineness(
            help="Kind of recording, if it is one that is known: cooking, gestures or sensors.",
            autocompletion=completing(KINDS),
        ),
    ] = None
    device: Annotated[
        str, Option(help="cpu, torch, cuda or mps.", autocompletion=completing(DEVICES))
    ] = "cpu"
    export: Annotated[
        list[str] | None,
        Option(
            help="Additional format; repeatable (see dayline export --help).",
            autocompletion=completing(FORMATS.split(", ")),
        ),
    ] = None
    quiet: Annotated[bool, Option("--quiet", "-q", help="Print nothing but errors.")] = False
    order: Annotated[
        Literal["time", "name"],
        of_photos(help="Sort photos by capture time or by name."),
    ] = "time"
    timezone: Annotated[
        str | None,
        of_photos(help="Time zone of photos that record none, such as Europe/Madrid."),
    ] = None
    calendar: Annotated[
        list[Path] | None,
        of_photos(
            help=(
                "Calendar file (.ics) whose entries are suggested as names of events at the same"
                " time; repeatable."
            )
        ),
    ] = None
    every: Annotated[
        float | None,
        of_photos(
            help=(
                "Seconds between frames of a video; default: 0.2 s up to a minute, 0.5 s up to an"
                " hour, 1 s beyond."
            )
        ),
    ] = None
    model: Annotated[
        str | None,
        of_photos(
            help=(
                "lite0 (default), color, color-lab (default for ac-color), hog or FILE.onnx"
                " (docs/models.md)."
            ),
            autocompletion=completing(MODELS),
        ),
    ] = None
    pause_seconds: Annotated[float, of_photos(help="A pause is a gap longer than this ...")] = 300.0
    pause_factor: Annotated[
        float,
        of_photos(help="... and than this many typical gaps, 2 hours at most."),
    ] = 10.0
    jump_km: Annotated[
        float,
        of_photos(
            help=(
                "A distance of more than this many kilometers between two photos, far longer than"
                " those nearby, begins an event."
            )
        ),
    ] = 2.0
    keep_screenshots: Annotated[
        bool,
        of_photos(
            "--keep-screenshots",
            help="Keep screenshots, scanned documents and receipts among the photos.",
        ),
    ] = False
    no_thumbnails: Annotated[
        bool,
        of_photos("--no-thumbnails", help="No photos on the page; remove those of earlier runs."),
    ] = False
    blur_faces: Annotated[bool, of_photos("--blur-faces", help="Blur faces on the page.")] = False
    private: Annotated[
        bool,
        of_photos(
            "--private",
            help="Leave out locations, links to your files, and what was read of them.",
        ),
    ] = False
    shots: Annotated[
        bool,
        of_photos(
            "--shots/--scenes",
            help="Export the shots of a video rather than its scenes, which are its events.",
        ),
    ] = False
    write_chapters: Annotated[
        bool,
        of_photos("--write-chapters", help="Copy the video with the events as chapters."),
    ] = False
    no_talk: Annotated[
        bool,
        of_photos("--no-talk", help="Divide a video by its pictures alone, not by its subtitles."),
    ] = False
    titles: Annotated[
        bool,
        of_photos(
            "--titles/--no-titles", help="Title events by what is said in them, if that is known."
        ),
    ] = True
    word_vectors: Annotated[
        bool | None,
        of_photos(
            "--word-vectors/--no-word-vectors",
            help=(
                "Compare what is said by its meaning, too (extra talk). Default: if it is"
                " installed."
            ),
        ),
    ] = None
    places: Annotated[
        Path | None,
        of_photos(
            help=(
                "File of places that recur on several days (docs/places.md). Default: places.json"
                " next to the results of several days."
            )
        ),
    ] = None
    key: Annotated[str | None, of_tables(help="Array with the features (.npz).")] = None
    transpose: Annotated[bool, of_tables("--transpose", help="Columns are frames.")] = False
    interpolate: Annotated[
        bool,
        of_tables(
            "--interpolate",
            help="Interpolate NaN and infinity from neighboring frames; skip rows that are missing.",
        ),
    ] = False
    no_pauses: Annotated[
        bool,
        of_tables("--no-pauses", help="Begin no event for a gap in the times alone."),
    ] = False

    def settings(self, *, offsets: tuple[tuple[str, float], ...] = ()) -> Settings:
        """Return the settings of a run; raise if an option is invalid."""
        from dayline.album.settings import Settings

        return Settings(
            method=self.method,
            segmenter=self._segmenter(),
            formats=tuple(self.export or ()),
            order=self.order,
            every=self.every,
            model=self.model or ("color-lab" if self.method == "ac-color" else "lite0"),
            pause_seconds=self.pause_seconds,
            pause_factor=self.pause_factor,
            jump_km=self.jump_km,
            thumbnails=not self.no_thumbnails,
            blur_faces=self.blur_faces,
            shots=self.shots,
            write_chapters=self.write_chapters,
            private=self.private,
            key=self.key,
            transpose=self.transpose,
            offsets=offsets,
            timezone=self.timezone,
            calendars=tuple(self.calendar or ()),
            keep_screenshots=self.keep_screenshots,
            no_talk=self.no_talk,
            titles=self.titles,
            word_vectors=self.word_vectors,
        )

    def _segmenter(self) -> Segmenter | None:
        if self.method == "default" and self._parameters() == Options()._parameters():
            return None  # the default; importing scikit-learn takes longer than all other options

        from dayline.estimators import EventSegmenter
        from dayline.research.baselines.segmenter import BaselineSegmenter

        if self.method in BASELINES:
            for option, is_given in (
                ("--level", self.level != 0),
                ("--device", self.device != "cpu"),
                ("--min-duration", self.min_duration is not None),
                ("--expected-duration", self.expected_duration is not None),
                ("--no-pauses", self.no_pauses),
                ("--learned", self.learned is not None),
                ("--kind", self.kind is not None),
            ):
                if is_given:
                    raise ValueError(
                        f"{option} does not apply to --method {self.method}; leave it out"
                    )
            missing = self._parameters()["missing"]
            return BaselineSegmenter(self.method, n_events=self.n_events, missing=missing)

        make = EventSegmenter if self.method == "default" else getattr(EventSegmenter, self.method)
        segmenter: EventSegmenter = make()
        return segmenter.set_params(**self._parameters())

    def _parameters(self) -> dict[str, Any]:
        """Return the parameters of EventSegmenter that are options."""
        from dayline.decision.learned import Learned

        return {
            "missing": "interpolate" if self.interpolate else "raise",
            "pauses": not self.no_pauses,
            "device": self.device,
            "level": self.level,
            "n_events": self.n_events,
            "min_duration": _number_or_text(self.min_duration),
            "expected_duration": _number_or_text(self.expected_duration),
            "kind": self.kind,
            "learned": None if self.learned is None else Learned.load(self.learned),
        }


def _number_or_text(duration: str | None) -> float | str | None:
    """Return a number, which has no unit, as such; `EventSegmenter` reads all others."""
    try:
        return None if duration is None else float(duration)
    except ValueError:
        return duration


def with_options(command: Callable[..., None]) -> Callable[..., None]:
    """Replace the parameter `options` of a command by one parameter for each of `Options`."""
    shared = inspect.signature(Options, eval_str=True).parameters
    parameters: list[inspect.Parameter] = []
    for parameter in inspect.signature(command, eval_str=True).parameters.values():
        if parameter.name == "options":
            parameters += [p.replace(kind=parameter.kind) for p in shared.values()]
        else:
            parameters.append(parameter)

    @wraps(command)
    def call(**values: Any) -> None:
        options = Options(**{name: values.pop(name) for name in shared})
        command(options=options, **values)

    call.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    call.__annotations__ = {p.name: p.annotation for p in parameters}
    return call
