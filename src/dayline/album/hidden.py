"""Leave out the photos that a person hid, and find the photo that shows an event without them.

Hidden photos stay in events.json and on the page of the result, where one switch shows them;
nothing else may contain anything of them.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from dayline.events import Event, Segmentation, last_time
from dayline.events.segmentation import PER_FRAME


def key_shown(segmentation: Segmentation, event: Event) -> int | None:
    """Return the frame that shows an event: the chosen one, else a favorite, never a hidden one.

    None if all its frames are hidden, or it has no key frame.
    """
    key = event.key_frame
    shown = sorted(set(range(event.start, event.stop)).difference(segmentation.hidden))
    if key is None or (event.key_chosen and key in shown):
        return key
    favorites = sorted(set(shown).intersection(segmentation.favorites))
    return min(favorites or shown, key=lambda frame: abs(frame - key), default=None)


def shown_frames(segmentation: Segmentation) -> list[int]:
    """Return the frames that are not hidden."""
    return sorted(set(range(segmentation.n_frames)).difference(segmentation.hidden))


def shown_events(segmentation: Segmentation) -> list[int]:
    """Return the numbers, from 0, of the events of which some frame is not hidden."""
    return sorted(set(segmentation.labels[shown_frames(segmentation)].tolist()))


def without_hidden(segmentation: Segmentation) -> Segmentation | None:
    """Leave out hidden photos, and events and places that have no others; None if nothing is left.

    The others are numbered anew. Levels, notes, and the lists of files that could not be used or
    were set aside, which may tell of the hidden ones, are left out, too.
    """
    if not segmentation.hidden:
        return segmentation
    frames = shown_frames(segmentation)
    number = {frame: k for k, frame in enumerate(frames)}

    events: list[Event] = []
    for k in shown_events(segmentation):
        event = segmentation.events[k]
        inside = [number[frame] for frame in range(event.start, event.stop) if frame in number]
        key = key_shown(segmentation, event)
        if len(inside) < event.n_frames and segmentation.times is not None:
            times = [segmentation.times[frames[k]] for k in inside]
            known = [time for time in times if time is not None]
            shown = [frames[k] for k in inside]
            last = last_time(segmentation.times, segmentation.durations, shown)
            event = replace(event, start_time=known[0] if known else None, stop_time=last)
        event = replace(
            event,
            start=inside[0],
            stop=inside[-1] + 1,
            key_frame=None if key is None else number[key],
            key_chosen=event.key_chosen and key == event.key_frame,
            interval=None,
        )
        events.append(event)
    if not events:
        return None

    left: dict[str, Any] = {}
    for what in PER_FRAME:
        values = getattr(segmentation, what)
        left[what] = None if values is None else tuple(values[k] for k in frames)
    communities = {event.community for event in events}
    return segmentation.about(
        events=tuple(events),
        **left,
        favorites=tuple(number[k] for k in segmentation.favorites if k in number),
        hidden=(),
        places=tuple(p for p in segmentation.places if p.community in communities),
        levels=(),
        notes=(),
        skipped=(),
        set_aside=(),
        n_events_range=None,
        n_events_found=None,
    )
