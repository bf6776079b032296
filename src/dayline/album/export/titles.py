"""Events as text: their titles, the names of their places, and times for people."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta

from dayline.events import Event, Segmentation
from dayline.events.table import context_letters
from dayline.text import clean_text, clock_text


def event_titles(
    segmentation: Segmentation, *, contexts: bool = True, letters: bool = True
) -> tuple[str, ...]:
    """Return the name of every event, or "Event 3 (kitchen)": its number from 1, and its context.

    Parameters
    ----------
    segmentation : Segmentation
        The events.
    contexts : bool
        Whether contexts appear at all; not if a format has a field of its own for places.
    letters : bool
        Whether contexts without a name appear by their letters.
    """
    if contexts and letters:
        labels = context_labels(segmentation)
    else:
        labels = tuple(
            place_name(segmentation, event) if contexts else "" for event in segmentation.events
        )

    titles = []
    for number, (event, label) in enumerate(zip(segmentation.events, labels, strict=True), start=1):
        name = clean_text(event.name or "")
        titles.append(name or f"Event {number}" + (f" ({label})" if label else ""))
    return tuple(titles)


def event_label(segmentation: Segmentation, event: Event) -> str:
    """Return the name of an event, else that of its place, else "Event"."""
    return clean_text(event.name or "") or place_name(segmentation, event) or "Event"


def place_name(segmentation: Segmentation, event: Event) -> str:
    """Return the name that a person gave to the place of an event, or an empty string."""
    names = (place.name for place in segmentation.places if place.community == event.community)
    return clean_text(next(names, None) or "")


def context_labels(segmentation: Segmentation) -> tuple[str, ...]:
    """Return for each event the name that a person gave its context, else its letter."""
    letters = context_letters(segmentation.events, segmentation.places)
    return tuple(
        place_name(segmentation, event) or letter
        for event, letter in zip(segmentation.events, letters, strict=True)
    )


def time_text(segmentation: Segmentation, seconds: float | None, *, digits: int = 3) -> str:
    """Format a time for people; an empty string if it is unknown.

    With the date if a wall clock has one, else hours and minutes.
    """
    if seconds is None or not math.isfinite(seconds):
        return ""
    if segmentation.clock != "wall":
        return clock_text(max(seconds, 0.0), digits=digits)
    if segmentation.times is not None and not segmentation.is_dated:
        return clock_text(seconds % 86_400)
    return date_time(seconds).strftime("%Y-%m-%d %H:%M:%S")


def date_time(seconds: float) -> datetime:
    """Return the date and time of a camera's clock; raise if there is no such date."""
    try:
        return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=seconds)
    except OverflowError:
        raise ValueError(
            f"time {seconds:g} is not a date; repair the times of the frames"
        ) from None
