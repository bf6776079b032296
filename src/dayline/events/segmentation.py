"""All events of one sequence: boundaries, labels, levels and places, to and from events.json."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from datetime import date
from importlib.resources import files
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal

import numpy as np

from dayline.arrays import IntArray
from dayline.events.table import Backend, data_frame, event_rows, events_html, moment
from dayline.files import UnreadableFileError, check_against, parse_json
from dayline.text import counted, kinds_text, signed_clock

Reason = Literal["start", "content", "pause", "both", "date", "required"]


@dataclass(frozen=True)
class Event:
    """The frames start .. stop-1 between two boundaries.

    Attributes
    ----------
    start, stop : int
        First frame of the event, and first frame after it.
    community : int or None
        Its recurring context; events of the same context share the number.
    key_frame : int or None
        The most representative frame.
    start_time, stop_time : float or None
        Time of its first and last frame with a time, in seconds (see `Segmentation.clock`); None if
        no frame has one. A video among photos lasts until its end. In a film of which only some
        frames were sampled, a hard cut is exact: these are the first frame after the cut
        and the last one before the next.
    confidence : float or None
        Probability that the boundary at its start is a true one, in [0, 1]; None for the first
        event.
    reason : str or None
        Why it starts: "start" (of the sequence), "content" (the frames change), "pause", "both",
        "date" (of frames without a time of day another date begins, or they begin or end) or
        "required" (set by a person, or with `must`).
    name : str or None
        Name given by a person.
    title : str or None
        What sets its words apart from the rest of the talk; a name takes precedence.
    location : tuple of two floats or None
        Latitude and longitude in degrees, north and east positive.
    town, country : str or None
        Where that is, by name; None if no town is near, or no gazetteer is installed.
    key_chosen : bool
        Whether a person chose the key frame.
    interval : tuple of two ints or None
        First and last frame in which the boundary at its start lies; see `Segmentation.intervals`.
    """

    start: int
    stop: int
    community: int | None = None
    key_frame: int | None = None
    start_time: float | None = None
    stop_time: float | None = None
    confidence: float | None = None
    reason: Reason | None = None
    name: str | None = None
    title: str | None = None
    location: tuple[float, float] | None = None
    town: str | None = None
    country: str | None = None
    key_chosen: bool = False
    interval: tuple[int, int] | None = None

    @property
    def n_frames(self) -> int:
        """Number of frames in the event."""
        return self.stop - self.start

    def without_location(self) -> Event:
        """Return a copy that does not say where the photos were taken."""
        return replace(self, location=None, town=None, country=None)


@dataclass(frozen=True)
class Place:
    """A recurring context that a person named, or that was recognized on another day.

    Attributes
    ----------
    community : int
        The context.
    name : str or None
        Name given by a person, such as "kitchen".
    id : str or None
        Identifies the same place on other days (`places.json`).
    """

    community: int
    name: str | None = None
    id: str | None = None


@dataclass(frozen=True)
class NestedLevel:
    """The boundaries of a coarser or finer segmentation of the same frames.

    Attributes
    ----------
    level : int
        0 is the decision itself; negative levels are coarser, positive ones finer.
    boundaries : tuple of int
        First frame of every event except the first. Every boundary of a coarser level is among
        them.
    confidences : tuple of float
        Probability of each boundary.
    """

    level: int
    boundaries: tuple[int, ...]
    confidences: tuple[float, ...]


@dataclass(frozen=True)
class Shot:
    """What a camera of a film recorded without a break: all frames, whether sampled or not.

    Attributes
    ----------
    start, stop : int
        First frame of the shot, and first frame after it; they count all frames of the film.
    start_time, stop_time : float
        Time of its first and its last frame, in seconds.
    how : {"start", "cut", "dissolve", "fade"}
        How it begins. A shot that is mixed with the one before begins at the first frame of which
        it makes up half, and after a fade in the middle of what shows neither.
    """

    start: int
    stop: int
    start_time: float
    stop_time: float
    how: Literal["start", "cut", "dissolve", "fade"] = "cut"


@dataclass(frozen=True)
class SkippedFile:
    """A file of the source that could not be used, and why."""

    name: str
    why: str


@dataclass(frozen=True)
class SetAside:
    """A file that is in no event, since it is not a photo of the day.

    Attributes
    ----------
    name : str
        File name, relative to the source.
    kind : str
        What it is, such as "screenshot".
    digest : str
        Identifies it by its content.
    time : float or None
        As `Segmentation.times`.
    """

    name: str
    kind: str
    digest: str
    time: float | None = None


EVENTS_VERSION = 1
EVENTS_FORMAT = "dayline-events"
MOST_FRAMES = 10_000_000
"""More than a day of video at 100 frames per second; a small file that declares more is
rejected."""


def events_schema() -> dict[str, Any]:
    """Return the JSON Schema of events.json."""
    text = (files("dayline") / "events.schema.json").read_text(encoding="utf-8")
    schema: dict[str, Any] = json.loads(text)
    return schema


def boundaries_to_labels(boundaries: Iterable[int], n_frames: int) -> IntArray:
    """Number the events: 0 up to the first boundary, 1 from there to the next, and so on."""
    opens = np.zeros(n_frames, dtype=np.int64)
    opens[np.asarray(list(boundaries), dtype=np.int64)] = 1
    return np.cumsum(opens)


def labels_to_boundaries(labels: Iterable[Any]) -> IntArray:
    """Return the frames whose label differs from that of the previous frame."""
    values = np.asarray(list(labels) if not isinstance(labels, np.ndarray) else labels)
    return np.flatnonzero(values[1:] != values[:-1]) + 1


A_YEAR = 366 * 86_400
PER_FRAME = ("scores", "times", "dates", "names", "digests", "durations", "texts")


@dataclass(frozen=True)
class Segmentation:
    """All events of one sequence, in order and without gaps.

    Attributes
    ----------
    events : tuple of Event
        The first starts at frame 0, each later one where the previous one stops.
    scores : tuple of float or None
        Boundary score of every frame.
    times : tuple of float or None
        Time of every frame in seconds; None for one whose time is not known.
    dates : tuple of str or None
        Date of every frame, such as 2023-07-15, if there are frames of which only the date is
        known; None for one without a date.
    clock : {"wall", "media"} or None
        "wall": seconds since 1970 on the camera's own clock; "media": seconds since the start of
        the recording.
    names : tuple of str or None
        File name of every frame, relative to the source.
    digests : tuple of str or None
        Identifies every frame by its content, whatever its name and time: a photo by its picture, a
        frame of a film by the film and its time, a row of a table by its values.
    durations : tuple of float or None
        Seconds that each video among photos lasts, None for a photo; None if there is no video.
    texts : tuple of str or None
        What is said from every frame until the next one; None if there is no transcript.
    source : str or None
        Name of the source, for display.
    method : str or None
        Name of the method and, for photos and video, the model of the features; no other settings.
    skipped : tuple of SkippedFile
        Files that could not be used.
    set_aside : tuple of SetAside
        Screenshots and the like, which are in no event.
    notes : tuple of str
        Notes for the user (order used, clock jumps, repairs).
    places : tuple of Place
        Names of recurring contexts, at most one per context.
    levels : tuple of NestedLevel
        Coarser and finer segmentations, coarsest first; empty if the method has none.
    shots : tuple of Shot
        The shots of a film, in order and without gaps; events are scenes of one or more.
    n_events_range : tuple of two ints or None
        Fewest and most events that several ways of deciding have: how uncertain the number is. None
        if the method has only one.
    n_events_found : int or None
        Events that dayline finds by itself, without requests and corrections; None if unknown.
    favorites : tuple of int
        Photos that a person likes best, in increasing order.
    hidden : tuple of int
        Photos that a person hid, in increasing order: only the page of the result shows them, and
        only on request. Frames of a film cannot be hidden.
    """

    events: tuple[Event, ...]
    scores: tuple[float, ...] | None = None
    times: tuple[float | None, ...] | None = None
    clock: Literal["wall", "media"] | None = None
    dates: tuple[str | None, ...] | None = None
    names: tuple[str, ...] | None = None
    digests: tuple[str, ...] | None = None
    durations: tuple[float | None, ...] | None = None
    texts: tuple[str, ...] | None = None
    source: str | None = None
    method: str | None = None
    skipped: tuple[SkippedFile, ...] = field(default=())
    set_aside: tuple[SetAside, ...] = field(default=())
    notes: tuple[str, ...] = field(default=())
    places: tuple[Place, ...] = field(default=())
    levels: tuple[NestedLevel, ...] = field(default=())
    shots: tuple[Shot, ...] = field(default=())
    n_events_range: tuple[int, int] | None = None
    n_events_found: int | None = None
    favorites: tuple[int, ...] = field(default=())
    hidden: tuple[int, ...] = field(default=())

    def __post_init__(self) -> None:
        """Raise ValueError for gaps, overlaps and per-frame values of the wrong length."""
        if not self.events or self.events[0].start != 0:
            raise ValueError(
                "a segmentation needs at least one event, and the first must start at frame 0"
            )
        for before, after in pairwise(self.events):
            if before.stop != after.start:
                raise ValueError(
                    f"event {before.start}..{before.stop} and the next one leave a gap or overlap"
                )

        for event in self.events:
            if event.stop <= event.start:
                raise ValueError(f"event {event.start}..{event.stop} contains no frames")
            if event.key_frame is not None and not 0 <= event.key_frame < self.n_frames:
                raise ValueError(
                    f"event {event.start}..{event.stop}: key frame {event.key_frame} does not exist"
                )

        for what in PER_FRAME:
            values = getattr(self, what)
            if values is not None and len(values) != self.n_frames:
                raise ValueError(f"{len(values)} {what} for {self.n_frames} frames")
        for day in {day for day in self.dates or () if day is not None}:
            if str(date.fromisoformat(day)) != day:
                raise ValueError(f"{day} is not a date such as 2023-07-15")
        for what, marked in (("favorites", self.favorites), ("hidden", self.hidden)):
            if any(a >= b for a, b in pairwise((-1, *marked, self.n_frames))):
                raise ValueError(f"{what} must be numbers of frames, in increasing order")
        if self.hidden and self.clock == "media":
            raise ValueError("frames of a film cannot be hidden; remove them from hidden")
        fewest, most = self.n_events_range or (1, 1)
        if not 1 <= fewest <= most:
            raise ValueError(
                f"n_events_range is {self.n_events_range}; it must increase, from 1 on"
            )
        if len({place.community for place in self.places}) < len(self.places):
            raise ValueError("two places have the same community")

        stops = [0, *(shot.stop for shot in self.shots)]
        for stop, shot in zip(stops[:-1], self.shots, strict=True):
            if shot.start != stop or shot.stop <= shot.start:
                raise ValueError(
                    f"shot {shot.start}..{shot.stop} is empty, or the one before does not stop there"
                )

        for level in self.levels:
            n_boundaries, n_confidences = len(level.boundaries), len(level.confidences)
            if n_confidences != n_boundaries:
                raise ValueError(
                    f"level {level.level} has {n_confidences} confidences for {n_boundaries}"
                    " boundaries"
                )
            if any(a >= b for a, b in pairwise((0, *level.boundaries, self.n_frames))):
                raise ValueError(
                    f"the boundaries of level {level.level} must increase, between 1 and the last"
                    " frame"
                )

    @property
    def n_frames(self) -> int:
        """Number of frames of the sequence."""
        return self.events[-1].stop

    @property
    def boundaries(self) -> tuple[int, ...]:
        """First frame of every event except the first."""
        return tuple(event.start for event in self.events[1:])

    @property
    def intervals(self) -> tuple[tuple[int, int] | None, ...]:
        """First and last frame in which each boundary lies with a probability of 80 %.

        If people would mark it at all: that is its confidence. One frame for a boundary that was
        required and for an exact cut, None where nothing is known, as after a change by hand.
        """
        return tuple(
            event.interval
            if event.interval and event.interval[0] <= event.start <= event.interval[1]
            else None
            for event in self.events[1:]
        )

    @property
    def start_times(self) -> tuple[float | None, ...]:
        """When each event starts: at its `start_time` after the previous frame, or its first time.

        A file may be edited by hand, so that a `start_time` belongs to another frame.
        """
        if self.times is None:
            return tuple(event.start_time for event in self.events)
        starts: list[float | None] = []
        for event in self.events:
            inside = self.times[event.start : event.stop]
            first, exact = next((t for t in inside if t is not None), None), event.start_time
            before = self.times[event.start - 1] if event.start > 0 else None
            starts.append(exact if _is_between(before, exact, first) else first)
        return tuple(starts)

    @property
    def stop_times(self) -> tuple[float | None, ...]:
        """When each event stops: at its `stop_time` if the next starts later, or its last time."""
        if self.times is None:
            return tuple(event.stop_time for event in self.events)
        stops: list[float | None] = []
        for event, start in zip(self.events, [*self.start_times[1:], None], strict=True):
            inside = range(event.start, event.stop)
            last, exact = last_time(self.times, self.durations, inside), event.stop_time
            # The last sentence of a talk may end long after it starts.
            is_end = event.stop == self.n_frames and _is_between(last, exact, np.inf)
            stops.append(exact if is_end or _is_between(last, exact, start) else last)
        return tuple(stops)

    @property
    def is_dated(self) -> bool:
        """Whether dates are known; times of day alone lie in the first days of 1970."""
        if self.dates is not None:
            return True
        if self.clock != "wall" or self.times is None:
            return False
        return not all(time is None or 0 <= time < A_YEAR for time in self.times)

    @property
    def all_times(self) -> tuple[float, ...] | None:
        """Time of every frame; None if that of any frame is not known."""
        known = tuple(time for time in self.times or () if time is not None)
        return known if len(known) == self.n_frames else None

    @property
    def time_span(self) -> tuple[float, float] | None:
        """Earliest and latest time; None if no frame has one."""
        known = [time for time in self.times or () if time is not None]
        return (min(known), max(known)) if known else None

    @property
    def date_span(self) -> tuple[date, date] | None:
        """First and last date; None if there are no dates."""
        if not self.is_dated:
            return None
        found = [date.fromisoformat(day) for day in self.dates or () if day is not None]
        found += [when.date() for t in self.time_span or () if (when := moment(t)) is not None]
        return (min(found), max(found)) if found else None

    @property
    def start_dates(self) -> tuple[str | None, ...]:
        """Date on which each event starts, such as 2023-07-15; None if it is not known."""
        if self.dates is not None:
            return tuple(self.dates[event.start] for event in self.events)
        starts = [moment(start) if self.is_dated else None for start in self.start_times]
        return tuple(None if start is None else f"{start:%Y-%m-%d}" for start in starts)

    @property
    def labels(self) -> IntArray:
        """The event number of every frame."""
        return boundaries_to_labels(self.boundaries, self.n_frames)

    @classmethod
    def from_boundaries(
        cls,
        boundaries: Iterable[int],
        n_frames: int,
        *,
        communities: Sequence[int] | None = None,
        confidences: Iterable[float] | None = None,
        intervals: Sequence[tuple[int, int]] | None = None,
        required: Iterable[int] = (),
        pauses: Iterable[int] = (),
        **about: Any,
    ) -> Segmentation:
        """Build the events between boundaries.

        Parameters
        ----------
        boundaries : iterable of int
            Increasing, each 1 <= b < n_frames.
        n_frames : int
            Length of the sequence.
        communities : sequence of int, optional
            Community of every frame; each event gets the most frequent one.
        confidences : iterable of float, optional
            Confidence of every boundary; NaN is unknown.
        intervals : sequence of (int, int), optional
            First and last frame in which every boundary may be.
        required : iterable of int, optional
            Boundaries that were required; the others begin where the frames change.
        pauses : iterable of int, optional
            Boundaries where the recording paused.
        **about
            Other attributes of the segmentation (scores, times, ...).
        """
        edges = [0, *(int(b) for b in boundaries), int(n_frames)]
        for what in PER_FRAME:
            if about.get(what) is not None:
                about[what] = _listed(what, about[what], n_frames)
        times: Any = about.get("times")
        n_events = len(edges) - 1
        given = [np.nan] * n_events if confidences is None else [np.nan, *confidences]
        if len(given) != n_events:
            raise ValueError(f"{len(given) - 1} confidences for {n_events - 1} boundaries")
        places = [None] * n_events if intervals is None else [None, *intervals]
        reasons: dict[int, Reason] = {0: "start"}
        reasons.update({int(b): "pause" for b in pauses})
        reasons.update({int(b): "required" for b in required})

        events = []
        for (start, stop), confidence, interval in zip(pairwise(edges), given, places, strict=True):
            known = [time for time in (times or ())[start:stop] if time is not None]
            event = Event(
                start,
                stop,
                None if communities is None else _most_frequent(communities[start:stop]),
                start_time=known[0] if known else None,
                stop_time=known[-1] if known else None,
                confidence=None if np.isnan(confidence) else round(float(confidence), 4),
                interval=interval,
                reason=reasons.get(start, "content"),
            )
            events.append(event)
        return cls(events=tuple(events), **about)

    def __repr__(self) -> str:
        """Return the numbers of events and frames, and from when to when.

        ASCII, so that it prints anywhere.
        """
        return f"Segmentation({', '.join(self._summary())})"

    def _summary(self) -> list[str]:
        when = when_text(self)
        said = [counted(len(self.events), "event"), counted(self.n_frames, "frame")]
        return [*said, when] if when else said

    def _repr_html_(self) -> str:
        """Return what a notebook shows: the events as a colored strip and as a table."""
        heading = ", ".join([*([self.source] if self.source else []), *self._summary()])
        return events_html(self, heading)

    def to_dicts(self) -> list[dict[str, Any]]:
        """Return one dictionary per event.

        Missing values are None. `to_frame` has the same columns.

        Returns
        -------
        list of dict
            event : int
                Counts from 1, as on the page and in events.csv.
            name, context, place : str or None
                Name of the event; letter of its context, if it recurs and has no name; name of the
                context.
            start, stop, n_frames : int
                Frames start .. stop-1; they count from 0.
            start_time, stop_time, duration : float or None
                Time of the first and the last frame in seconds on `clock`, and the seconds between
                them (None if the clock was set back).
            date : str or None
                Date on which it starts, such as 2023-07-15, also of photos without a time of day.
            started, stopped : datetime or None
                The same times as dates on the camera's own clock, without a time zone; None if
                there are no dates or no times.
            key_frame : int or None
                The most representative frame.
            key_photo, first_photo, last_photo : str or None
                File names of three frames.
            confidence, reason
                See `Event`.
            earliest, latest : int or None
                First and last frame of the interval of the boundary at its start (`intervals`).
            latitude, longitude : float or None
                Degrees, north and east positive.
        """
        return event_rows(self)

    def to_frame(self, backend: Backend = "pandas") -> Any:
        """Return the events as a data frame, one row per event, with the columns of `to_dicts`.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}
            Library of the data frame; it must be installed.
        """
        return data_frame(self.to_dicts(), backend)

    def about(self, **changes: Any) -> Segmentation:
        """Return a copy with changed attributes (source, method, notes, ...)."""
        return replace(self, **changes)

    def to_json(self) -> str:
        """Return the segmentation as JSON; docs/events-json.md describes the format."""
        about = {"format": EVENTS_FORMAT, "version": EVENTS_VERSION, "n_frames": self.n_frames}
        content = about | asdict(self)
        return json.dumps(content, indent=1, ensure_ascii=True, allow_nan=False) + "\n"

    @classmethod
    def from_json(cls, text: str) -> Segmentation:
        """Read JSON written by `to_json` in this or an older version."""
        content = _parsed(text)
        parts = {
            "events": Event,
            "skipped": SkippedFile,
            "set_aside": SetAside,
            "places": Place,
            "levels": NestedLevel,
            "shots": Shot,
        }
        for name, kind in parts.items():
            content[name] = [_made(kind, part) for part in content.get(name, ())]
        made: Segmentation = _made(cls, content)
        if content.get("n_frames", made.n_frames) != made.n_frames:
            raise ValueError(
                f"n_frames is {content['n_frames']}, but the last event stops at {made.n_frames}"
            )
        return made


def _parsed(text: str) -> dict[str, Any]:
    """Return the content of events.json; raise ValueError if it does not fit the schema."""
    content = parse_json(text)
    if not isinstance(content, dict) or content.get("format") != EVENTS_FORMAT:
        raise ValueError(f'not an events file: "format" should be "{EVENTS_FORMAT}"')
    version = content.get("version")
    if not isinstance(version, int) or not 1 <= version <= EVENTS_VERSION:
        raise ValueError(
            f"unknown events version {version!r} (known: 1 to {EVENTS_VERSION}); update dayline"
        )
    try:
        # The events also give the number of frames, so a file without it is fine.
        check_against(events_schema(), {"n_frames": 1} | content)
    except ValueError as error:
        raise ValueError(f"missing or invalid fields: {error}") from None
    return content


def _made(kind: Any, content: dict[str, Any]) -> Any:
    """Make a dataclass from those values of a file that it knows; lists become tuples."""
    values = {}
    for one in fields(kind):
        if one.name in content:
            value = content[one.name]
            values[one.name] = tuple(value) if isinstance(value, list) else value
    return kind(**values)


def read_events(path: str | Path) -> Segmentation:
    """Read an events.json file; raise an error that names the file if it is invalid."""
    try:
        return Segmentation.from_json(Path(path).read_text(encoding="utf-8"))
    except UnicodeDecodeError:
        raise UnreadableFileError(f"{path}: not a text file") from None
    except ValueError as error:
        raise UnreadableFileError(f"{path}: {error}") from None


def when_text(segmentation: Segmentation) -> str:
    """Format from when to when a sequence lasts: "2023-07-14 08:00 to 18:00".

    Empty if that is not known.
    """
    if segmentation.time_span is None:
        days = segmentation.date_span
        return "" if days is None else " to ".join(dict.fromkeys(map(str, days)))
    first, last = segmentation.time_span
    if not np.isfinite([first, last]).all():
        return ""
    if segmentation.clock != "wall":
        return f"{signed_clock(first)} to {signed_clock(last)}"
    start, stop = moment(first), moment(last)
    if start is None or stop is None:
        return ""
    if not segmentation.is_dated:
        return f"{start:%H:%M} to {stop:%H:%M}"
    day = "" if start.date() == stop.date() else f"{stop:%Y-%m-%d} "
    return f"{start:%Y-%m-%d %H:%M} to {day}{stop:%H:%M}"


def last_time(
    times: Sequence[float | None], durations: Sequence[float | None] | None, frames: Sequence[int]
) -> float | None:
    """Return the time of the last frame that has one; a video lasts until its end.

    Parameters
    ----------
    times, durations : sequences of float or None
        Of all frames, as in `Segmentation`.
    frames : sequence of int
        Some frames, in order.
    """
    known = [(time, k) for k in frames if (time := times[k]) is not None]
    if not known:
        return None
    lengths = durations or [None] * len(times)
    ends = [time + length for time, k in known if (length := lengths[k]) is not None]
    return max([known[-1][0], *ends])


def frames_text(segmentation: Segmentation, frames: Iterable[int]) -> str:
    """Count frames by what they are: "39 photos and 2 videos", "60 frames" or "80 sentences".

    Parameters
    ----------
    segmentation : Segmentation
        The events.
    frames : iterable of int
        Some of its frames.
    """
    is_photos = segmentation.clock != "media" and segmentation.names is not None
    lengths = segmentation.durations or (None,) * segmentation.n_frames
    is_talk = segmentation.texts is not None and segmentation.names is None
    thing = "photo" if is_photos else "sentence" if is_talk else "frame"
    kinds = [thing if lengths[k] is None else "video" for k in frames]
    return kinds_text(kinds) or counted(0, thing)


def _is_between(low: float | None, value: float | None, high: float | None) -> bool:
    return None not in (low, value, high) and low < value < high  # type: ignore[operator]


def _listed(what: str, values: Iterable[Any], n_frames: int) -> tuple[Any, ...]:
    """Return one value per frame as a tuple of Python objects; times as numbers."""
    listed = tuple(values.tolist() if isinstance(values, np.ndarray) else values)
    if len(listed) != n_frames:
        raise ValueError(f"{len(listed)} {what} for {n_frames} frames")
    try:
        if what != "times":
            return listed
        return tuple(None if time is None else float(time) for time in listed)
    except (TypeError, ValueError):
        raise ValueError(
            'times must be numbers; pass dates as seconds since 1970, with clock="wall"'
        ) from None


def _most_frequent(values: Sequence[int]) -> int | None:
    if len(values) == 0:
        return None
    numbers, counts = np.unique(np.asarray(values), return_counts=True)
    return int(numbers[np.argmax(counts)])
