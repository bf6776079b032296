"""Events of many days that look alike."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import numpy as np

from dayline.method.graph import unit_rows
from dayline.pipeline.event_features import EventFeatures
from dayline.report.overview import EventNumber

__all__ = ["similar_events"]

MOST_SIMILAR = 6
MOST_EVENTS = 30_000
"""Beyond that, comparing all pairs would take minutes."""

ROWS_AT_ONCE = 1024


def similar_events(days: Sequence[EventFeatures | None]) -> dict[EventNumber, tuple[EventNumber, ...]]:
    """Find for every event those that look most like it, the most similar first.

    Parameters
    ----------
    days : sequence of EventFeatures or None
        What the events of each day look like; None if it is unknown. Only features of the same model are compared.
    """
    by_model: dict[str, list[int]] = defaultdict(list)
    for number, day in enumerate(days):
        if day is not None:
            by_model[day.model].append(number)
    found: dict[EventNumber, tuple[EventNumber, ...]] = {}
    for numbers in by_model.values():
        rows = [days[number].means for number in numbers]  # type: ignore[union-attr]
        events = [(number, k) for number, means in zip(numbers, rows, strict=True) for k in range(len(means))]
        if not 1 < len(events) <= MOST_EVENTS:
            continue
        directions = unit_rows(np.concatenate(rows)).astype(np.float32)
        n_similar = min(MOST_SIMILAR, len(events) - 1)
        for start in range(0, len(events), ROWS_AT_ONCE):
            block = directions[start : start + ROWS_AT_ONCE] @ directions.T
            own = np.arange(len(block))
            block[own, start + own] = -np.inf
            # A stable order, so that events that are alike do not change places from run to run.
            nearest = np.argsort(-block, axis=1, kind="stable")[:, :n_similar]
            for row, others in enumerate(nearest.tolist()):
                found[events[start + row]] = tuple(events[other] for other in others)
    return found
