"""Marks of a result: whose frames it is about, and which events it shows."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict
from typing import Any

from dayline.events import Segmentation

__all__ = ["events_mark", "frames_mark"]


def frames_mark(segmentation: Segmentation) -> str:
    """Return a mark of the recording: pages with the same frames have the same mark, whatever their events.

    Parameters
    ----------
    segmentation : Segmentation
        A result.
    """
    s = segmentation
    return _mark([s.source, s.n_frames, s.clock, s.names, s.times, s.sizes])


def events_mark(segmentation: Segmentation) -> str:
    """Return a mark of what a person can edit: two results with the same events and places have the same mark.

    Parameters
    ----------
    segmentation : Segmentation
        A result.
    """
    return _mark([[asdict(event) for event in segmentation.events], [asdict(place) for place in segmentation.places]])


def _mark(content: object) -> str:
    return hashlib.sha256(json.dumps(_as_floats(content)).encode("ascii")).hexdigest()[:24]


def _as_floats(value: Any) -> Any:
    """Make all numbers floats: a browser writes 3.0 as 3."""
    if isinstance(value, dict):
        return {key: _as_floats(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_as_floats(inner) for inner in value]
    return float(value) if isinstance(value, int) else value
