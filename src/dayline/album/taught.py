"""Learn from a person's corrections of some days how fine events of the others should be."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from dayline.album.edits import corrections_folder, kept_edits, take_in_all
from dayline.album.settings import Settings
from dayline.decision.learned import Learned
from dayline.events import Segmentation
from dayline.result_folder import MARK

AS_FOUND = 24
"""Events that are added to those corrected, as if they had been right. They are so many that two
changes, which may be accidents, teach nothing, however few events there are."""

STEPS, MOST_DOUBLINGS = 4, 2
"""Steps in a factor of two, so that one more correction hardly ever changes all days; and the
factors of two at most."""

CORRECTIONS = "your corrections (--forget-learned leaves them out)"


def with_changed_boundaries(edits: Iterable[Segmentation]) -> list[Segmentation]:
    """Return the edits that teach: names, places and key photos do not."""
    return [
        edit
        for edit in edits
        if edit.n_events_found is not None
        and (
            len(edit.events) != edit.n_events_found
            or any(event.reason == "required" for event in edit.events[1:])
        )
    ]


def doublings_taught(edits: Iterable[Segmentation]) -> float:
    """Return how many times as many events a person wants, in factors of two.

    Results count whose boundaries the person changed: their events, relative to those that dayline
    found by itself.
    """
    found = wanted = AS_FOUND
    for edit in with_changed_boundaries(edits):
        found += edit.n_events_found or 0
        wanted += len(edit.events)
    doublings = round(STEPS * math.log2(wanted / found)) / STEPS
    return min(max(doublings, -MOST_DOUBLINGS), MOST_DOUBLINGS)


def learn_from_results(folders: Iterable[Path], *, name: str) -> Learned:
    """Learn how fine events should be from what a person corrected in results.

    Raises ValueError for a folder that is no result, or in which no boundary was changed.
    """
    taught: list[Segmentation] = []
    for folder in dict.fromkeys(map(corrections_folder, folders)):
        if not (folder / MARK).is_file():
            raise ValueError(f"{folder} is no result of dayline; pass the OUT of dayline segment")
        take_in_all(folder)
        changed = with_changed_boundaries(kept_edits(folder))
        if not changed:
            raise ValueError(
                f"{folder}: no boundary was corrected; merge, split or move events with"
                " dayline view, and save"
            )
        taught += changed
    return Learned(
        name=name,
        n_recordings=len(taught),
        n_boundaries=sum(len(edit.boundaries) for edit in taught),
        finer=round(2.0 ** doublings_taught(taught), 3),
    )


def with_taught(settings: Settings, edits: Iterable[Segmentation]) -> Settings:
    """Return the settings for days that the person has not corrected.

    They are the same if the corrections teach nothing, and if the person asks for a number or a
    duration of events, for a level, or for what labeled recordings taught.
    """
    doublings = doublings_taught(edit for edit in edits if edit.clock != "media")
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
