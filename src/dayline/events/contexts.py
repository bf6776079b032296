"""Contexts that recur among the events of a segmentation, and their letters."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from dayline.events.event import Event, Place
from dayline.text import clean_text, context_letter

__all__ = ["context_letters", "same_place"]


def context_letters(events: Sequence[Event], places: Sequence[Place]) -> tuple[str, ...]:
    """Return a letter per event: A for the first recurring context without a name, B for the next one, and so on.

    Events of one recurring context share a letter. An event gets an empty string if its context is named or occurs
    only once, or if it has none: letters only help to see what recurs.
    """
    same = same_place(events, places)
    named = {place.community for place in places if clean_text(place.name or "")}
    contexts = [None if e.community is None or e.community in named else same[e.community] for e in events]
    counts = Counter(contexts)
    seen: dict[int, str] = {}
    for context in contexts:
        if context is not None and counts[context] > 1:
            seen.setdefault(context, context_letter(len(seen)))
    return tuple("" if context is None else seen.get(context, "") for context in contexts)


def same_place(events: Sequence[Event], places: Sequence[Place]) -> dict[int, int]:
    """Return for each context the first one that shows the same place: with the same name, or recognized as such."""
    marks = {p.community: (clean_text(p.name or "") or None, p.id) for p in places}
    first: dict[tuple[str, str], int] = {}
    same: dict[int, int] = {}
    for event in events:
        if event.community is None or event.community in same:
            continue
        name, identity = marks.get(event.community, (None, None))
        # Two names are two places, whatever was recognized.
        mark = ("name", name) if name else ("id", identity) if identity else None
        same[event.community] = event.community if mark is None else first.setdefault(mark, event.community)
    return same
