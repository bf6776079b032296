"""What the events of a result look like, kept next to it so that days can be compared without their photos."""

from __future__ import annotations

import base64
import binascii
import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from dayline.arrays import FloatArray
from dayline.events import Segmentation
from dayline.io.files import read_no_follow, write_text_whole
from dayline.method.graph import unit_rows

__all__ = ["EVENT_FEATURES", "EventFeatures", "event_features", "packed", "read_event_features", "unpacked"]

EVENT_FEATURES = "event-features.json"
FORMAT = "dayline-event-features"
VERSION = 1
MOST_FEATURES = 100_000
LARGEST_FILE = 2**28


@dataclass(frozen=True)
class EventFeatures:
    """Mean directions of the frames of each event.

    Attributes
    ----------
    model : str
        What computed the features; those of different models are never compared.
    means : ndarray of shape (n_events, n_features)
        Mean of the unit vectors of an event's frames; shorter than 1 where the frames differ.
    """

    model: str
    means: FloatArray

    def write(self, folder: Path) -> None:
        """Write the file of a result."""
        content = {
            "format": FORMAT,
            "version": VERSION,
            "model": self.model,
            "events": [packed(m) for m in self.means],
        }
        write_text_whole(folder / EVENT_FEATURES, json.dumps(content, indent=1) + "\n")


def event_features(segmentation: Segmentation, features: FloatArray, model: str) -> EventFeatures:
    """Average the directions of the frames of each event.

    Parameters
    ----------
    segmentation : Segmentation
        The events.
    features : ndarray of shape (n_frames, n_features)
        One row per frame.
    model : str
        What computed them.
    """
    directions = unit_rows(np.asarray(features, dtype=np.float64))
    return EventFeatures(model, np.stack([directions[e.start : e.stop].mean(axis=0) for e in segmentation.events]))


def read_event_features(folder: Path, *, n_events: int) -> EventFeatures | None:
    """Read the file of a result; None if it is missing, damaged or of other events.

    Parameters
    ----------
    folder : Path
        The folder of the result.
    n_events : int
        Number of events of the result.
    """
    path = folder / EVENT_FEATURES
    try:
        if path.lstat().st_size > LARGEST_FILE:
            return None
        content = json.loads(read_no_follow(path) or b"null")
        if (content["format"], content["version"]) != (FORMAT, VERSION) or len(content["events"]) != n_events:
            return None
        rows = [unpacked(text) for text in content["events"]]
        if len({len(row) for row in rows}) != 1 or not isinstance(content["model"], str):
            return None
        return EventFeatures(content["model"], np.stack(rows))
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        return None  # it is written again with the next result


def packed(vector: FloatArray) -> str:
    """Return a vector as text: its largest value, and every value in 1/127 of it.

    Two such vectors have the same similarity as before within about 0.001.
    """
    largest = float(np.max(np.abs(vector), initial=0.0))
    steps = np.rint(vector * (127 / largest) if largest > 0 else vector).astype(np.int8)
    return f"{largest:.6g} {base64.b64encode(steps.tobytes()).decode('ascii')}"


def unpacked(text: str) -> FloatArray:
    """Return the vector of a text from `packed`; raise ValueError if it is not one."""
    largest, _, steps = str(text).partition(" ")
    if len(steps) > 2 * MOST_FEATURES:
        raise ValueError(f"more than {MOST_FEATURES} features")
    try:
        values = np.frombuffer(base64.b64decode(steps, validate=True), dtype=np.int8)
    except binascii.Error:
        raise ValueError("features are not in base64") from None
    scale = float(largest)
    if not 0 <= scale <= 1e6 or not len(values):
        raise ValueError("features without values, or too large")
    return values.astype(np.float64) * (scale / 127)
