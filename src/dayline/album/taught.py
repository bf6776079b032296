"""Learn from a person's corrections of some days how fine events of the others should be."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace

from dayline.album.settings import Settings
from dayline.decision.learned import Learned
from dayline.events import Segmentation

AS_FOUND = 24
"""Events that are added to those corrected, as if they had been right. They are so many that two
changes, which may be accidents, teach nothing, however few events there are."""

STEPS, MOST_DOUBLINGS = 4, 2
"""Steps in a factor of two, so that one more correction hardly ever changes all days; and the
factors of two at most."""

CORRECTIONS = "your corrections (--forget-learned leaves them out)"


def doublings_taught(edits: Iterable[Segmentation]) -> float:
    """Return how many times as many events a person wants, in factors of two.

    Days count whose boundaries the person changed: their events, relative to those that dayline
    found by itself. Names, places and key photos teach nothing.
    """
    found = wanted = AS_FOUND
    for edit in edits:
        n_found, n_events = edit.n_events_found, len(edit.events)
        moved = any(event.reason == "required" for event in edit.events[1:])
        if n_found is not None and edit.clock != "media" and (moved or n_events != n_found):
            found += n_found
            wanted += n_events
    doublings = round(STEPS * math.log2(wanted / found)) / STEPS
    return min(max(doublings, -MOST_DOUBLINGS), MOST_DOUBLINGS)


def with_taught(settings: Settings, edits: Iterable[Segmentation]) -> Settings:
    """Return the settings for days that the person has not corrected.

    They are the same if the corrections teach nothing, and if the person asks for a number or a
    duration of events, for a level, or for what labeled recordings taught.
    """
    doublings = doublings_taught(edits)
    if doublings == 0:
        return settings
    # Not before something was taught: an unchanged album needs no scikit-learn.
    from sklearn.base import clone

    from dayline.estimators import EventSegmenter

    segmenter = settings.segmenter or EventSegmenter()
    if not isinstance(segmenter, EventSegmenter):
        return settings
    asked = (segmenter.n_events, segmenter.expected_duration, segmenter.learned, segmenter.kind)
    if segmenter.detector != "partition" or segmenter.level != 0 or set(asked) != {None}:
        return settings
    learned = Learned(name=CORRECTIONS, finer=round(2.0**doublings, 3))
    return replace(settings, segmenter=clone(segmenter).set_params(learned=learned))
