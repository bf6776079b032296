"""The key photo of each event: typical of it, and sharp."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from dayline.arrays import FloatArray
from dayline.events import Segmentation
from dayline.method.graph import unit_rows

__all__ = ["with_key_photos"]


def with_key_photos(
    segmentation: Segmentation, features: FloatArray, sharpness: FloatArray | None = None
) -> Segmentation:
    """Choose each event's key photo: of the sharper half of its frames, the one nearest to the event's mean.

    One that a person chose stays.

    Parameters
    ----------
    segmentation : Segmentation
        The events.
    features : ndarray of shape (n_frames, n_features)
        One row per frame; nearness is the cosine similarity to the mean of the event's frames.
    sharpness : ndarray of shape (n_frames,), optional
        High for sharp frames. Without it, all frames are eligible.
    """
    directions = unit_rows(np.asarray(features, dtype=np.float64))
    events = []
    for event in segmentation.events:
        if event.key_chosen and event.key_frame is not None and event.start <= event.key_frame < event.stop:
            events.append(event)
            continue
        frames = np.arange(event.start, event.stop)
        nearness = directions[frames] @ directions[frames].mean(axis=0)
        if sharpness is not None:
            blurred = sharpness[frames] < np.median(sharpness[frames])
            nearness[blurred] = -np.inf
        events.append(replace(event, key_frame=int(frames[np.argmax(nearness)]), key_chosen=False))
    return replace(segmentation, events=tuple(events))
