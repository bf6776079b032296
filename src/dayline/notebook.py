"""How a notebook shows a sequence: a coloured strip and a small table, as HTML without scripts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from itertools import groupby

__all__ = ["CONTEXT_COLORS", "StripPart", "context_color", "summary_html"]

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
"""The "muted" colours of Paul Tol, which people with any kind of colour vision tell apart."""

NO_CONTEXT = "#bbbbbb"
MOST_PARTS = 400
"""More parts of a strip are narrower than a pixel or two; a long sequence is sampled instead."""


@dataclass(frozen=True)
class StripPart:
    """A part of the strip: its length, its colour, and the text shown when the pointer is on it."""

    length: int
    color: str
    text: str


def context_color(context: int | None) -> str:
    """Return the colour of the nth context, counted from 0 in the order in which they first occur."""
    return NO_CONTEXT if context is None else CONTEXT_COLORS[context % len(CONTEXT_COLORS)]


def summary_html(
    heading: str,
    strip: Sequence[StripPart],
    columns: Sequence[str],
    rows: Sequence[tuple[str, Sequence[str]]],
    *,
    more: str = "",
) -> str:
    """Return a heading, the strip and a table as HTML; all text is escaped, and nothing is loaded.

    Parameters
    ----------
    heading : str
        A line above the strip.
    strip : sequence of StripPart
        Drawn to scale.
    columns : sequence of str
        Column names of the table.
    rows : sequence of (str, sequence of str)
        The colour of each row, and its cells.
    more : str
        A line below the table.
    """
    cell = "padding:1px 10px 1px 0;text-align:left;white-space:nowrap"
    wide = f"{cell};max-width:24em;overflow:hidden;text-overflow:ellipsis"
    names = "".join(f'<th style="{cell}">{escape(name)}</th>' for name in columns)
    lines = []
    for color, cells in rows:
        block = f'<td style="padding-right:6px"><div style="width:10px;height:10px;background:{color}"></div></td>'
        texts = "".join(f'<td style="{wide}">{escape(text)}</td>' for text in cells)
        lines.append(f"<tr>{block}{texts}</tr>")
    parts = "".join(
        f'<div title="{escape(part.text)}" style="flex:{part.length} 1 0;min-width:0;height:18px;'
        f'background:{part.color};border-right:1px solid #fff;box-sizing:border-box"></div>'
        for part in _sampled(strip)
    )
    below = f"<div>{escape(more)}</div>" if more else ""
    return (
        f'<div><div style="margin-bottom:4px"><b>{escape(heading)}</b></div>'
        f'<div style="display:flex;max-width:760px;margin-bottom:6px">{parts}</div>'
        f'<table style="border-collapse:collapse;font-size:90%"><thead><tr><th></th>{names}</tr></thead>'
        f"<tbody>{''.join(lines)}</tbody></table>{below}</div>"
    )


def _sampled(strip: Sequence[StripPart]) -> list[StripPart]:
    """Return at most `MOST_PARTS` parts: of more, those at evenly spaced positions."""
    if len(strip) <= MOST_PARTS:
        return list(strip)
    total = sum(part.length for part in strip)
    seen, number, stop = [], 0, strip[0].length
    for k in range(MOST_PARTS):
        while stop <= k * total // MOST_PARTS:
            number += 1
            stop += strip[number].length
        seen.append(number)
    return [StripPart(len(list(same)), strip[n].color, strip[n].text) for n, same in groupby(seen)]
