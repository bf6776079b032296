"""How a notebook shows a sequence: a colored strip and a small table, as HTML without scripts."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from html import escape
from itertools import accumulate, groupby
from typing import Any

from dayline.text import counted, signed_clock

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


def context_color(context: int | None) -> str:
    """Return the color of the nth context in the order in which they first occur."""
    return NO_CONTEXT if context is None else CONTEXT_COLORS[context % len(CONTEXT_COLORS)]


def events_html(
    heading: str, rows: Sequence[Mapping[str, Any]], *, contexts: Sequence[int | None], of_day: bool
) -> str:
    """Return a heading, a strip and a table of the events as HTML.

    All text is escaped, and nothing is loaded.

    Parameters
    ----------
    heading : str
        A line above the strip.
    rows : sequence of mapping
        The events, as `Segmentation.to_dicts` returns them.
    contexts : sequence of int or None
        The context of every event; each has a color, whether it recurs or not.
    of_day : bool
        Whether seconds are times of day rather than since the start.
    """
    numbers: dict[int, int] = {}
    for context in contexts:
        if context is not None:
            numbers.setdefault(context, len(numbers))
    colors = [context_color(None if context is None else numbers[context]) for context in contexts]
    columns = {
        "event": "event",
        "frames": "start",
        "name": "name",
        "from": "start_time",
        "to": "stop_time",
    }
    columns |= {name: name for name in ("confidence", "reason", "context")}

    # A context that has a name shows it instead of its letter.
    known = {key: any(row[key] is not None for row in rows) for key in (*columns.values(), "place")}
    shown = [
        name for name, key in columns.items() if known[key] or (key == "context" and known["place"])
    ]
    names = "".join(f'<th style="{CELL}">{name}</th>' for name in shown)

    lines = []
    for row, color in zip(rows[:MOST_ROWS], colors, strict=False):
        block = (
            '<td style="padding-right:6px"><div'
            f' style="width:10px;height:10px;background:{color}"></div></td>'
        )
        cells = (escape(_cell(row, name, of_day=of_day)) for name in shown)
        texts = "".join(f'<td style="{WIDE_CELL}">{text}</td>' for text in cells)
        lines.append(f"<tr>{block}{texts}</tr>")

    left_out = len(rows) - MOST_ROWS
    below = f"<div>and {counted(left_out, 'more event')}</div>" if left_out > 0 else ""
    return (
        f'<div><div style="margin-bottom:4px"><b>{escape(heading)}</b></div>'
        f'<div style="display:flex;max-width:760px;margin-bottom:6px">{_strip(rows, colors)}</div>'
        "<table"
        f' style="border-collapse:collapse;font-size:90%"><thead><tr><th></th>{names}</tr></thead>'
        f"<tbody>{''.join(lines)}</tbody></table>{below}</div>"
    )


def _cell(row: Mapping[str, Any], column: str, *, of_day: bool) -> str:
    if column == "frames":
        return f"{row['start']} to {row['stop'] - 1}"
    if column in ("from", "to"):
        moment, seconds = (
            (row["started"], row["start_time"])
            if column == "from"
            else (row["stopped"], row["stop_time"])
        )
        if moment is not None:
            return f"{moment:%Y-%m-%d %H:%M:%S}"
        return "" if seconds is None else signed_clock(seconds % 86_400 if of_day else seconds)
    if column == "confidence":
        return "" if row[column] is None else f"{row[column]:.0%}"
    return str((row["place"] if column == "context" else None) or row[column] or "")


def _strip(rows: Sequence[Mapping[str, Any]], colors: Sequence[str]) -> str:
    """Return the parts of the strip, to scale."""
    parts = []
    for number, length in _sampled([row["n_frames"] for row in rows]):
        row, color = rows[number], colors[number]
        text = escape(
            f"event {row['event']}: {row['name'] or row['place'] or row['context'] or ''}"
        )
        parts.append(
            f'<div title="{text}" style="flex:{length} 1'
            f" 0;min-width:0;height:18px;background:{color};border-right:1px solid"
            ' #fff;box-sizing:border-box"></div>'
        )
    return "".join(parts)


def _sampled(lengths: Sequence[int]) -> list[tuple[int, int]]:
    """Return the events to draw and their lengths: of many, those at evenly spaced positions."""
    if len(lengths) <= MOST_PARTS:
        return list(enumerate(lengths))
    stops = list(accumulate(lengths))
    seen = (bisect_right(stops, k * stops[-1] // MOST_PARTS) for k in range(MOST_PARTS))
    return [(number, len(list(same))) for number, same in groupby(seen)]
