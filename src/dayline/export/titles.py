"""What an event is called, in words that no file format can trip over."""

from __future__ import annotations

import math
import re
import unicodedata
from datetime import UTC, datetime, timedelta

from dayline.events import Segmentation
from dayline.text import clock_text

__all__ = ["clean_text", "context_letters", "event_titles", "time_text"]


def clean_text(text: str) -> str:
    """Put a text of others on one line, without characters that files cannot hold.

    Line breaks and runs of spaces become one space. Control characters and code points that are no
    characters go; halves of broken UTF-8 become the replacement character.
    """
    kept = "".join(_printable(character) for character in text)
    return re.sub(r"\s+", " ", kept).strip()


def _printable(character: str) -> str:
    category = unicodedata.category(character)
    if category == "Cs":
        return "\N{REPLACEMENT CHARACTER}"
    is_control = category == "Cc" and not character.isspace()
    is_noncharacter = ord(character) & 0xFFFE == 0xFFFE
    return "" if is_control or is_noncharacter else character


def event_titles(segmentation: Segmentation) -> tuple[str, ...]:
    """Call every event by its name, else "Event 3 (B)": its place, counted from 1, and its context."""
    letters = context_letters(segmentation)
    titles = []
    for number, (event, letter) in enumerate(zip(segmentation.events, letters, strict=True), start=1):
        name = clean_text(event.name or "")
        titles.append(name or f"Event {number}" + (f" ({letter})" if letter else ""))
    return tuple(titles)


def context_letters(segmentation: Segmentation) -> tuple[str, ...]:
    """Return a letter per event: A for the first context of the day, B for the next new one, and so on.

    Events of one recurring context share their letter; an event without a context has an empty one.
    """
    seen: dict[int, str] = {}
    for event in segmentation.events:
        if event.community is not None:
            seen.setdefault(event.community, _letter(len(seen)))
    return tuple("" if e.community is None else seen[e.community] for e in segmentation.events)


def _letter(number: int) -> str:
    """Count A .. Z, AA, AB, as the columns of a spreadsheet do."""
    letters = ""
    number += 1
    while number:
        number, digit = divmod(number - 1, 26)
        letters = chr(ord("A") + digit) + letters
    return letters


def time_text(segmentation: Segmentation, seconds: float | None, *, digits: int = 3) -> str:
    """Write a time for people: a date on a wall clock that knows it, else hours and minutes; "" if unknown."""
    if seconds is None or not math.isfinite(seconds):
        return ""
    if segmentation.clock == "wall" and segmentation.times is not None and not segmentation.is_dated:
        return clock_text(seconds % 86_400)
    if segmentation.clock != "wall":
        return clock_text(max(seconds, 0.0), digits=digits)
    try:
        moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=seconds)
    except OverflowError:
        raise ValueError(f"time {seconds:g} is no date; repair the times of the frames") from None
    return moment.strftime("%Y-%m-%d %H:%M:%S")
