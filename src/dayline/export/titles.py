"""Titles of events that are safe in every file format."""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from dayline.events import Event, Segmentation
from dayline.text import clock_text, context_letter

__all__ = [
    "clean_text",
    "context_labels",
    "context_letters",
    "event_label",
    "event_titles",
    "place_name",
    "same_place",
    "time_text",
]


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


def event_titles(segmentation: Segmentation, *, contexts: bool = True, letters: bool = True) -> tuple[str, ...]:
    """Return the name of every event, or "Event 3 (kitchen)": its number, counted from 1, and its context.

    Parameters
    ----------
    segmentation : Segmentation
        The events.
    contexts : bool
        Whether contexts appear at all; not if a format has a field of its own for places.
    letters : bool
        Whether contexts without a name appear by their letters.
    """
    labels: Sequence[str] = [place_name(segmentation, event) if contexts else "" for event in segmentation.events]
    if contexts and letters:
        labels = context_labels(segmentation)
    titles = []
    for number, (event, label) in enumerate(zip(segmentation.events, labels, strict=True), start=1):
        name = clean_text(event.name or "")
        titles.append(name or f"Event {number}" + (f" ({label})" if label else ""))
    return tuple(titles)


def event_label(segmentation: Segmentation, event: Event) -> str:
    """Return the name of an event, else that of its place, else "Event"; for names that already say which event."""
    return clean_text(event.name or "") or place_name(segmentation, event) or "Event"


def place_name(segmentation: Segmentation, event: Event) -> str:
    """Return the name that a person gave to the place of an event, or an empty string."""
    names = (place.name for place in segmentation.places if place.community == event.community)
    return clean_text(next(names, None) or "")


def context_labels(segmentation: Segmentation) -> tuple[str, ...]:
    """Return for each event the name that a person gave its context, else the letter of the context."""
    names = {place.community: clean_text(place.name or "") for place in segmentation.places}
    letters = context_letters(segmentation)
    return tuple(
        (event.community is not None and names.get(event.community)) or letter
        for event, letter in zip(segmentation.events, letters, strict=True)
    )


def context_letters(segmentation: Segmentation) -> tuple[str, ...]:
    """Return a letter per event: A for the first recurring context without a name, B for the next one, and so on.

    Events of one recurring context share a letter. An event gets an empty string if its context is named or occurs
    only once, or if it has none: letters only help to see what recurs.
    """
    same = same_place(segmentation)
    named = {place.community for place in segmentation.places if clean_text(place.name or "")}
    contexts = [
        None if e.community is None or e.community in named else same[e.community] for e in segmentation.events
    ]
    counts = Counter(contexts)
    seen: dict[int, str] = {}
    for context in contexts:
        if context is not None and counts[context] > 1:
            seen.setdefault(context, context_letter(len(seen)))
    return tuple("" if context is None else seen.get(context, "") for context in contexts)


def same_place(segmentation: Segmentation) -> dict[int, int]:
    """Return for each context the first one that shows the same place: with the same name, or recognized as such."""
    marks = {p.community: (clean_text(p.name or "") or None, p.id) for p in segmentation.places}
    first: dict[tuple[str, str], int] = {}
    same: dict[int, int] = {}
    for event in segmentation.events:
        if event.community is None or event.community in same:
            continue
        name, identity = marks.get(event.community, (None, None))
        # Two names are two places, whatever was recognized.
        mark = ("name", name) if name else ("id", identity) if identity else None
        same[event.community] = event.community if mark is None else first.setdefault(mark, event.community)
    return same


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
