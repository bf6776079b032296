"""Events as rows: a table, a data frame (pandas, polars, pyarrow), the HTML of a notebook."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from html import escape
from itertools import accumulate, groupby
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from dayline.text import clean_text, context_letter, counted, signed_clock

if TYPE_CHECKING:
    from dayline.events.segmentation import Event, Place, Segmentation


def context_letters(events: Sequence[Event], places: Sequence[Place]) -> tuple[str, ...]:
    """Return a letter per event: A for the first recurring context without a name, B for the next.

    Events of one recurring context share a letter. An event gets an empty string if its context is
    named or occurs only once, or if it has none: letters only help to see what recurs.
    """
    same = same_place(events, places)
    named = {place.community for place in places if clean_text(place.name or "")}
    contexts = [
        None if e.community is None or e.community in named else same[e.community] for e in events
    ]
    counts = Counter(contexts)
    seen: dict[int, str] = {}
    for context in contexts:
        if context is not None and counts[context] > 1:
            seen.setdefault(context, context_letter(len(seen)))
    return tuple("" if context is None else seen.get(context, "") for context in contexts)


def same_place(events: Sequence[Event], places: Sequence[Place]) -> dict[int, int]:
    """Return for each context the first one of the same place, by its name or as recognized."""
    marks = {p.community: (clean_text(p.name or "") or None, p.id) for p in places}
    first: dict[tuple[str, str], int] = {}
    same: dict[int, int] = {}
    for event in events:
        if event.community is None or event.community in same:
            continue
        name, identity = marks.get(event.community, (None, None))
        # Two names are two places, whatever was recognized.
        mark = ("name", name) if name else ("id", identity) if identity else None
        same[event.community] = (
            event.community if mark is None else first.setdefault(mark, event.community)
        )
    return same


EPOCH = datetime(1970, 1, 1)
"""Without a time zone, as a camera's own clock."""

COLUMN_KINDS: dict[str, Kind] = {
    "event": "int",
    "name": "str",
    "context": "str",
    "place": "str",
    "start": "int",
    "stop": "int",
    "n_frames": "int",
    "start_time": "float",
    "stop_time": "float",
    "duration": "float",
    "date": "str",
    "started": "datetime",
    "stopped": "datetime",
    "key_frame": "int",
    "key_photo": "str",
    "first_photo": "str",
    "last_photo": "str",
    "confidence": "float",
    "earliest": "int",
    "latest": "int",
    "reason": "str",
    "latitude": "float",
    "longitude": "float",
    "town": "str",
    "country": "str",
}
"""Columns of `Segmentation.to_dicts` and `to_frame`."""


def event_rows(segmentation: Segmentation) -> list[dict[str, Any]]:
    """Return the values of every event by column; missing ones are None."""
    events, names = segmentation.events, segmentation.names
    letters = context_letters(events, segmentation.places)
    places = {place.community: place.name for place in segmentation.places}
    spans = zip(segmentation.start_times, segmentation.stop_times, strict=True)
    dates, is_dated = segmentation.start_dates, segmentation.is_dated
    intervals = (None, *segmentation.intervals)

    rows = []
    for number, (event, (start, stop)) in enumerate(zip(events, spans, strict=True), start=1):
        duration = None
        if start is not None and stop is not None and stop >= start:
            duration = round(stop - start, 6)
        shown = (event.key_frame, event.start, event.stop - 1)
        photos = [None if names is None or k is None else names[k] for k in shown]
        latitude, longitude = event.location or (None, None)
        earliest, latest = intervals[number - 1] or (None, None)
        row = {
            "event": number,
            "name": event.name,
            "context": letters[number - 1] or None,
            "place": None if event.community is None else places.get(event.community),
            "start": event.start,
            "stop": event.stop,
            "n_frames": event.n_frames,
            "start_time": start,
            "stop_time": stop,
            "duration": duration,
            "date": dates[number - 1],
            "started": moment(start) if is_dated else None,
            "stopped": moment(stop) if is_dated else None,
            "key_frame": event.key_frame,
            "key_photo": photos[0],
            "first_photo": photos[1],
            "last_photo": photos[2],
            "confidence": event.confidence,
            "earliest": earliest,
            "latest": latest,
            "reason": event.reason,
            "latitude": latitude,
            "longitude": longitude,
            "town": event.town,
            "country": event.country,
        }
        rows.append(row)
    return rows


def moment(seconds: float | None) -> datetime | None:
    """Return seconds since 1970 as a date, or None if they are none."""
    try:
        return None if seconds is None else EPOCH + timedelta(seconds=seconds)
    except (OverflowError, ValueError):  # after the year 9999, or not a number
        return None


Backend: TypeAlias = Literal["pandas", "polars", "pyarrow"]
Kind: TypeAlias = Literal["int", "float", "str", "datetime"]


def data_frame(rows: Sequence[Mapping[str, Any]], backend: Backend) -> Any:
    """Make a data frame of `event_rows`; its types do not depend on the values."""
    columns = {name: [row[name] for row in rows] for name in COLUMN_KINDS}
    types: dict[Kind, Any]
    try:
        if backend == "pandas":
            import pandas

            # Int64 with a capital letter has a missing value; int64 would turn a column with one
            # into floats.
            types = {"int": "Int64", "float": "f8", "str": "object", "datetime": "datetime64[us]"}
            return pandas.DataFrame(
                {
                    name: pandas.Series(v, dtype=types[COLUMN_KINDS[name]])
                    for name, v in columns.items()
                }
            )
        if backend == "polars":
            import polars

            types = {"int": polars.Int64, "float": polars.Float64, "str": polars.String}
            types["datetime"] = polars.Datetime("us")
            schema = {name: types[kind] for name, kind in COLUMN_KINDS.items()}
            return polars.DataFrame(columns, schema=schema)
        if backend == "pyarrow":
            import pyarrow

            types = {"int": pyarrow.int64(), "float": pyarrow.float64(), "str": pyarrow.string()}
            types["datetime"] = pyarrow.timestamp("us")
            fields = [(name, types[kind]) for name, kind in COLUMN_KINDS.items()]
            return pyarrow.table(columns, schema=pyarrow.schema(fields))
    except ModuleNotFoundError as error:
        raise ValueError(
            f"backend={backend!r} needs {error.name}, which is not installed; pip install"
            f" {backend}, or use to_dicts(), which needs nothing"
        ) from None
    raise ValueError(f'backend={backend!r} is not known; use "pandas", "polars" or "pyarrow"')


CONTEXT_COLORS = (
    "#332288",
    "#88ccee",
    "#117733",
    "#ddcc77",
    "#cc6677",
    "#44aa99",
    "#882255",
    "#999933",
    "#aa4499",
)
"""The "muted" colors of Paul Tol, which people with any kind of color vision tell apart."""

NO_CONTEXT = "#bbbbbb"
CELL = "padding:1px 10px 1px 0;text-align:left;white-space:nowrap"
WIDE_CELL = f"{CELL};max-width:24em;overflow:hidden;text-overflow:ellipsis"
MOST_ROWS = 40
MOST_PARTS = 400
"""More parts of a strip are narrower than a pixel or two; a long sequence is sampled instead."""


def context_colors(events: Sequence[Event]) -> list[str]:
    """Return the color of every event: that of its context, in the order in which they occur."""
    numbers: dict[int, int] = {}
    colors = []
    for event in events:
        if event.community is None:
            colors.append(NO_CONTEXT)
        else:
            number = numbers.setdefault(event.community, len(numbers))
            colors.append(CONTEXT_COLORS[number % len(CONTEXT_COLORS)])
    return colors


def event_texts(segmentation: Segmentation) -> list[dict[str, str]]:
    """Return what a table shows of every event, by column; empty where nothing is known.

    A context that has a name shows it instead of its letter, and times have dates if there are
    several days.
    """
    rows = event_rows(segmentation)
    days = {row[when].date() for row in rows for when in ("started", "stopped") if row[when]}

    def time(moment: datetime | None, seconds: float | None) -> str:
        if moment is not None and len(days) > 1:
            return f"{moment:%Y-%m-%d %H:%M:%S}"
        of_day = segmentation.clock == "wall"
        return "" if seconds is None else signed_clock(seconds % 86_400 if of_day else seconds)

    return [
        {
            "event": str(row["event"]),
            "start": str(row["start"]),
            "stop": str(row["stop"]),
            "frames": str(row["n_frames"]),
            "from": time(row["started"], row["start_time"]) or row["date"] or "",
            "to": time(row["stopped"], row["stop_time"]),
            "confidence": "" if row["confidence"] is None else f"{row['confidence']:.0%}",
            "reason": row["reason"] or "",
            "context": clean_text(row["place"] or row["context"] or ""),
            "name": clean_text(row["name"] or event.title or ""),
        }
        for row, event in zip(rows, segmentation.events, strict=True)
    ]


def events_html(segmentation: Segmentation, heading: str) -> str:
    """Return a heading, a strip and a table of the events as HTML.

    All text is escaped, and nothing is loaded.
    """
    texts, colors = event_texts(segmentation), context_colors(segmentation.events)
    columns = [name for name in texts[0] if any(text[name] for text in texts)]
    names = "".join(f'<th style="{CELL}">{name}</th>' for name in columns)

    lines = []
    for text, color in zip(texts[:MOST_ROWS], colors, strict=False):
        block = f'<div style="width:10px;height:10px;background:{color}"></div>'
        cells = "".join(f'<td style="{WIDE_CELL}">{escape(text[name])}</td>' for name in columns)
        lines.append(f'<tr><td style="padding-right:6px">{block}</td>{cells}</tr>')

    parts = []
    for number, length in _sampled([event.n_frames for event in segmentation.events]):
        text = texts[number]
        title = escape(f"event {text['event']}: {text['name'] or text['context']}")
        look = f"background:{colors[number]};border-right:1px solid #fff;box-sizing:border-box"
        parts.append(
            f'<div title="{title}" style="flex:{length} 1 0;min-width:0;height:18px;{look}"></div>'
        )

    left_out = len(texts) - MOST_ROWS
    below = f"<div>and {counted(left_out, 'more event')}</div>" if left_out > 0 else ""
    return (
        f'<div><div style="margin-bottom:4px"><b>{escape(heading)}</b></div>'
        f'<div style="display:flex;max-width:760px;margin-bottom:6px">{"".join(parts)}</div>'
        '<table style="border-collapse:collapse;font-size:90%">'
        f"<thead><tr><th></th>{names}</tr></thead><tbody>{''.join(lines)}</tbody></table>"
        f"{below}</div>"
    )


def _sampled(lengths: Sequence[int]) -> list[tuple[int, int]]:
    """Return the events to draw and their lengths: of many, those at evenly spaced positions."""
    if len(lengths) <= MOST_PARTS:
        return list(enumerate(lengths))
    stops = list(accumulate(lengths))
    seen = (bisect_right(stops, k * stops[-1] // MOST_PARTS) for k in range(MOST_PARTS))
    return [(number, len(list(same))) for number, same in groupby(seen)]
