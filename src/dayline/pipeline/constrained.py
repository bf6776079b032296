"""Run the method with boundaries that must and must not be."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any

from dayline.arrays import FloatArray
from dayline.dge import OnStep
from dayline.estimators import EventSegmenter
from dayline.events import Segmentation

__all__ = ["segment_constrained"]


def segment_constrained(
    segmenter: EventSegmenter,
    features: FloatArray,
    *,
    times: FloatArray | None,
    must: Sequence[int],
    must_not: Sequence[int],
    on_step: OnStep | None,
) -> Segmentation:
    """Segment features; boundaries in `must` are there, those in `must_not` are not."""
    segment: Any = segmenter.segment
    if "must" in inspect.signature(segment).parameters:
        found: Segmentation = segment(features, times=times, must=must, must_not=must_not, on_step=on_step)
        return found
    found = segment(features, times=times, on_step=on_step)
    boundaries = sorted({*found.boundaries, *must} - set(must_not))
    communities = segmenter.communities_.tolist()
    about = {"scores": found.scores, "times": found.times}
    return Segmentation.from_boundaries(boundaries, found.n_frames, communities=communities, **about)
