"""Events as a table: one row per event, with the columns of `Segmentation.to_dicts` and `to_frame`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import Any

from dayline.dataframes import Kind
from dayline.events.contexts import context_letters
from dayline.events.event import Event, Place

__all__ = ["COLUMN_KINDS", "EPOCH", "event_rows"]

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
    "started": "datetime",
    "stopped": "datetime",
    "key_frame": "int",
    "key_photo": "str",
    "first_photo": "str",
    "last_photo": "str",
    "confidence": "float",
    "reason": "str",
    "latitude": "float",
    "longitude": "float",
}
"""Columns of `Segmentation.to_dicts` and `to_frame`."""


def event_rows(
    events: Sequence[Event],
    spans: Iterable[tuple[float | None, float | None]],
    *,
    names: Sequence[str] | None,
    places: Sequence[Place],
    dated: bool,
) -> list[dict[str, Any]]:
    """Return the values of every event by column; missing ones are None.

    Parameters
    ----------
    events : sequence of Event
        The events in order.
    spans : iterable of two floats or None
        When each event starts and stops, in seconds.
    names : sequence of str or None
        File name of every frame.
    places : sequence of Place
        Names of recurring contexts.
    dated : bool
        Whether the seconds are dates.
    """
    letters = context_letters(events, places)
    place_names = {place.community: place.name for place in places}
    rows = []
    for number, (event, (start, stop)) in enumerate(zip(events, spans, strict=True), start=1):
        known = start is not None and stop is not None and stop >= start
        values = (
            number,
            event.name,
            letters[number - 1] or None,
            None if event.community is None else place_names.get(event.community),
            event.start,
            event.stop,
            event.n_frames,
            start,
            stop,
            round(stop - start, 6) if known else None,  # type: ignore[operator]
            _moment(start) if dated else None,
            _moment(stop) if dated else None,
            event.key_frame,
            *(
                names[frame] if names is not None and frame is not None else None
                for frame in (event.key_frame, event.start, event.stop - 1)
            ),
            event.confidence,
            event.reason,
            *(event.location or (None, None)),
        )
        rows.append(dict(zip(COLUMN_KINDS, values, strict=True)))
    return rows


def _moment(seconds: float | None) -> datetime | None:
    try:
        return None if seconds is None else EPOCH + timedelta(seconds=seconds)
    except (OverflowError, ValueError):  # after the year 9999, or not a number
        return None
