"""Titles of events that are safe in every file format."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from dayline.events import Event, Segmentation
from dayline.events.contexts import context_letters, same_place
from dayline.text import clean_text, clock_text

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
    letters = context_letters(segmentation.events, segmentation.places)
    return tuple(
        (event.community is not None and names.get(event.community)) or letter
        for event, letter in zip(segmentation.events, letters, strict=True)
    )


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
