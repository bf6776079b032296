"""Where each event took place: the median location of its photos."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from dayline.events import Event, Segmentation

__all__ = ["with_locations"]

DIGITS = 5
"""Digits of a degree: about a metre."""


def with_locations(segmentation: Segmentation, locations: Sequence[tuple[float, float] | None]) -> Segmentation:
    """Give each event the median location of its frames; None if none of them has one.

    Parameters
    ----------
    segmentation : Segmentation
        The events.
    locations : sequence of (float, float) or None
        Latitude and longitude of every frame; empty if no frame has one.
    """
    if not locations:
        return segmentation
    return replace(segmentation, events=tuple(_located(event, locations) for event in segmentation.events))


def _located(event: Event, locations: Sequence[tuple[float, float] | None]) -> Event:
    known = [location for location in locations[event.start : event.stop] if location is not None]
    if not known:
        return replace(event, location=None)
    latitudes, longitudes = np.asarray(known, dtype=np.float64).T
    # Relative to the first photo, so that 179.9 and -179.9 are neighbours.
    around = (longitudes - longitudes[0] + 180.0) % 360.0 - 180.0
    longitude = (longitudes[0] + float(np.median(around)) + 180.0) % 360.0 - 180.0
    return replace(event, location=(round(float(np.median(latitudes)), DIGITS), round(float(longitude), DIGITS)))
