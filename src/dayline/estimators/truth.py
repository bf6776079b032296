"""True events as scikit-learn passes them: one label per frame."""

from __future__ import annotations

from typing import Any

import numpy as np

from dayline.arrays import IntArray
from dayline.checks import list_frames
from dayline.events import labels_to_boundaries

__all__ = ["true_boundaries"]


def true_boundaries(y: Any, n_frames: int) -> IntArray:
    """Return the boundaries of a labelling; raise ValueError if a frame has no label.

    Parameters
    ----------
    y : array-like of shape (n_frames,)
        Labels that change where a new event begins: numbers or strings.
    n_frames : int
        Length of the sequence.
    """
    labels = np.asarray(y)
    if labels.shape != (n_frames,):
        raise ValueError(
            f"y has shape {labels.shape} for {n_frames} frames; pass the event of every frame, "
            "not the boundaries (dayline.events.boundaries_to_labels converts them)"
        )
    # Only NaN differs from itself; it would differ from the label before it, too, and count as a boundary.
    missing = [k for k, label in enumerate(labels.tolist()) if label is None or label != label]
    if missing:
        raise ValueError(f"y: {list_frames(missing)} {'has' if len(missing) == 1 else 'have'} no label")
    return labels_to_boundaries(labels)
