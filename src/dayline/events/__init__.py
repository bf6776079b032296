"""Events and segmentations: boundaries <-> labels <-> events, to and from JSON."""

from __future__ import annotations

from dayline.events.columns import COLUMN_KINDS
from dayline.events.event import Event, NestedLevel, Place, SkippedFile
from dayline.events.events_json import EVENTS_VERSION, MOST_FRAMES, events_schema
from dayline.events.labels import boundaries_to_labels, labels_to_boundaries
from dayline.events.segmentation import Segmentation, read_events, when_text

__all__ = [
    "COLUMN_KINDS",
    "EVENTS_VERSION",
    "MOST_FRAMES",
    "Event",
    "NestedLevel",
    "Place",
    "Segmentation",
    "SkippedFile",
    "boundaries_to_labels",
    "events_schema",
    "labels_to_boundaries",
    "read_events",
    "when_text",
]
