"""The key photo of each event: typical of it, and worth showing."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from dayline.arrays import FloatArray
from dayline.events import Segmentation
from dayline.method.graph import unit_rows

__all__ = ["with_key_photos"]

GOOD_ENOUGH = 0.7
"""Quality of an eligible photo, relative to the best of its event but for a tenth of its photos."""

ONE_IN = 10
"""A single photo may be the best for what does not belong to the event, such as someone who walks by."""


def with_key_photos(
    segmentation: Segmentation, features: FloatArray, quality: FloatArray | None = None
) -> Segmentation:
    """Choose each event's key photo: of its good photos, the one nearest to the event's mean.

    One that a person chose stays.

    Parameters
    ----------
    segmentation : Segmentation
        The events.
    features : ndarray of shape (n_frames, n_features)
        One row per frame; nearness is the cosine similarity to the mean of the event's frames.
    quality : ndarray of shape (n_frames,), optional
        See `photo_quality`. Photos with at least 70 % of the quality of the best one of the event are good, not
        counting the best tenth. If not given, all are.
    """
    directions = unit_rows(np.asarray(features, dtype=np.float64))
    events = []
    for event in segmentation.events:
        if event.key_chosen and event.key_frame is not None and event.start <= event.key_frame < event.stop:
            events.append(event)
            continue
        frames = np.arange(event.start, event.stop)
        nearness = directions[frames] @ directions[frames].mean(axis=0)
        if quality is not None:
            best = np.sort(quality[frames])[-1 - len(frames) // ONE_IN]
            nearness[quality[frames] < GOOD_ENOUGH * best] = -np.inf
        events.append(replace(event, key_frame=int(frames[np.argmax(nearness)]), key_chosen=False))
    return replace(segmentation, events=tuple(events))
