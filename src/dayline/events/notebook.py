"""How a notebook shows a sequence: a colored strip and a small table, as HTML without scripts."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from datetime import datetime
from html import escape
from itertools import accumulate, groupby
from typing import TYPE_CHECKING, Any

from dayline.text import counted, signed_clock

if TYPE_CHECKING:
    from dayline.events.segmentation import Event, Segmentation

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


def events_html(segmentation: Segmentation, heading: str) -> str:
    """Return a heading, a strip and a table of the events as HTML.

    All text is escaped, and nothing is loaded.
    """
    rows, colors = segmentation.to_dicts(), context_colors(segmentation.events)
    texts = [_texts(row, of_day=segmentation.clock == "wall") for row in rows]
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

    left_out = len(rows) - MOST_ROWS
    below = f"<div>and {counted(left_out, 'more event')}</div>" if left_out > 0 else ""
    return (
        f'<div><div style="margin-bottom:4px"><b>{escape(heading)}</b></div>'
        f'<div style="display:flex;max-width:760px;margin-bottom:6px">{"".join(parts)}</div>'
        '<table style="border-collapse:collapse;font-size:90%">'
        f"<thead><tr><th></th>{names}</tr></thead><tbody>{''.join(lines)}</tbody></table>"
        f"{below}</div>"
    )


def _texts(row: dict[str, Any], *, of_day: bool) -> dict[str, str]:
    """Return what the table shows of an event by column, empty where nothing is known.

    A context that has a name shows it instead of its letter.
    """

    def time(moment: datetime | None, seconds: float | None) -> str:
        if moment is not None:
            return f"{moment:%Y-%m-%d %H:%M:%S}"
        return "" if seconds is None else signed_clock(seconds % 86_400 if of_day else seconds)

    return {
        "event": str(row["event"]),
        "frames": f"{row['start']} to {row['stop'] - 1}",
        "name": row["name"] or "",
        "from": time(row["started"], row["start_time"]),
        "to": time(row["stopped"], row["stop_time"]),
        "confidence": "" if row["confidence"] is None else f"{row['confidence']:.0%}",
        "reason": row["reason"] or "",
        "context": row["place"] or row["context"] or "",
    }


def _sampled(lengths: Sequence[int]) -> list[tuple[int, int]]:
    """Return the events to draw and their lengths: of many, those at evenly spaced positions."""
    if len(lengths) <= MOST_PARTS:
        return list(enumerate(lengths))
    stops = list(accumulate(lengths))
    seen = (bisect_right(stops, k * stops[-1] // MOST_PARTS) for k in range(MOST_PARTS))
    return [(number, len(list(same))) for number, same in groupby(seen)]
