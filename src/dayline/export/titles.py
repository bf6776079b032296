"""Titles of events that are safe in every file format."""

from __future__ import annotations

import math
import re
import unicodedata
from datetime import UTC, datetime, timedelta

from dayline.events import Event, Segmentation
from dayline.text import clock_text, context_letter

__all__ = ["clean_text", "context_letters", "event_label", "event_titles", "place_name", "time_text"]


def clean_text(text: str) -> str:
    """Put untrusted text on one line, without characters that files cannot hold.

    Line breaks and runs of spaces become one space. Control characters and noncharacters are
    removed; lone surrogates become the replacement character.
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


def event_titles(segmentation: Segmentation, *, contexts: bool = True) -> tuple[str, ...]:
    """Return the name of every event, or "Event 3 (B)": its number, counted from 1, and its context if `contexts`."""
    letters = context_letters(segmentation) if contexts else ("",) * len(segmentation.events)
    titles = []
    for number, (event, letter) in enumerate(zip(segmentation.events, letters, strict=True), start=1):
        name = clean_text(event.name or "")
        titles.append(name or f"Event {number}" + (f" ({letter})" if letter else ""))
    return tuple(titles)


def event_label(segmentation: Segmentation, event: Event) -> str:
    """Return the name of an event, else that of its place, else "Event"; for names that already say which event."""
    return clean_text(event.name or "") or place_name(segmentation, event) or "Event"


def place_name(segmentation: Segmentation, event: Event) -> str:
    """Return the name that a person gave to the place of an event, or an empty string."""
    names = (place.name for place in segmentation.places if place.community == event.community)
    return clean_text(next(names, None) or "")


def context_letters(segmentation: Segmentation) -> tuple[str, ...]:
    """Return a letter per event: A for the first context of the day, B for the next new one, and so on.

    Events of one recurring context share a letter; an event without a context gets an empty string.
    """
    seen: dict[int, str] = {}
    for event in segmentation.events:
        if event.community is not None:
            seen.setdefault(event.community, context_letter(len(seen)))
    return tuple("" if e.community is None else seen[e.community] for e in segmentation.events)


def time_text(segmentation: Segmentation, seconds: float | None, *, digits: int = 3) -> str:
    """Format a time for people: with the date if a wall clock has one, else hours and minutes; "" if unknown."""
    if seconds is None or not math.isfinite(seconds):
        return ""
    if segmentation.clock == "wall" and segmentation.times is not None and not segmentation.is_dated:
        return clock_text(seconds % 86_400)
    if segmentation.clock != "wall":
        return clock_text(max(seconds, 0.0), digits=digits)
    try:
        moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=seconds)
    except OverflowError:
        raise ValueError(f"time {seconds:g} is not a date; repair the times of the frames") from None
    return moment.strftime("%Y-%m-%d %H:%M:%S")
