"""What a person may wish of the events, beside what the frames say."""

from __future__ import annotations

from typing import Any

import numpy as np

from dayline.checks import LARGEST_COUNT, check_between

__all__ = ["WISHES", "check_wished_numbers"]

WISHES = ("n_events", "min_duration", "expected_duration", "typical_duration", "level")
"""Parameters of `EventSegmenter` that say what is wanted."""


def check_wished_numbers(**wishes: Any) -> None:
    """Refuse wishes that are no numbers, or none that could be."""
    for name, value in wishes.items():
        if name == "level":
            check_between(name, value, -1000, 1000, whole=True)
        elif value is not None:
            counted = name == "n_events"
            high = LARGEST_COUNT if counted else np.inf
            check_between(name, value, 1 if counted else 0, high, whole=counted, above=not counted)
