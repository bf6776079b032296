"""Events and segmentations: boundaries <-> labels <-> events, to and from JSON."""

from __future__ import annotations

from dayline.events.segmentation import (
    EVENTS_VERSION,
    MOST_FRAMES,
    Event,
    NestedLevel,
    Place,
    Segmentation,
    SetAside,
    Shot,
    SkippedFile,
    boundaries_to_labels,
    events_schema,
    frames_text,
    labels_to_boundaries,
    last_time,
    read_events,
    when_text,
)
from dayline.events.table import COLUMN_KINDS

__all__ = [
    "COLUMN_KINDS",
    "EVENTS_VERSION",
    "MOST_FRAMES",
    "Event",
    "NestedLevel",
    "Place",
    "Segmentation",
    "SetAside",
    "Shot",
    "SkippedFile",
    "boundaries_to_labels",
    "events_schema",
    "frames_text",
    "labels_to_boundaries",
    "last_time",
    "read_events",
    "when_text",
]
