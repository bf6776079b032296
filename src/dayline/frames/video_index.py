"""All frames of a video and where they are in its file, without their pixels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from dayline.arrays import IntArray

__all__ = ["VideoFrame", "VideoIndex", "video_index"]


@dataclass(frozen=True)
class VideoFrame:
    """Position of a frame in its video.

    Attributes
    ----------
    stamp : int
        Presentation time stamp as stored in the file, in the time base of the stream; unique per frame.
    first_group, last_group : int
        First and last group of packets, each starting with a key frame, needed to decode the frame.
    shown_at : int
        When the frame is shown, in the same unit; differs from `stamp` if the stamp is wrong.
    """

    stamp: int
    first_group: int
    last_group: int
    shown_at: int


@dataclass(frozen=True)
class VideoIndex:
    """All frames of a video in display order, sampled or not.

    Attributes
    ----------
    rows : ndarray of int, shape (n_frames, 4)
        The four attributes of `VideoFrame`; a long film has too many frames for one object each.
    keys : mapping of int to int
        Stamp of the key frame that starts a group, for groups that a reader can seek to.
    time_base : Fraction
        Unit of the stamps in seconds.
    start : Fraction
        Stamp in seconds that times count from.
    """

    rows: IntArray
    keys: Mapping[int, int]
    time_base: Fraction
    start: Fraction

    def seconds(self, frame: VideoFrame) -> float:
        """Return when a frame is shown, in seconds since the start."""
        return round(float(frame.shown_at * self.time_base - self.start), 6)

    def between(self, first: float, last: float) -> tuple[VideoFrame, ...]:
        """Return all frames shown from `first` to `last`, in seconds since the start, both included."""
        # Times of frames are rounded to the microsecond.
        slack = Fraction(1, 1_000_000)
        low, high = (
            float((Fraction(seconds) + side * slack + self.start) / self.time_base)
            for seconds, side in ((first, -1), (last, 1))
        )
        shown_at = self.rows[:, 3]
        start, stop = np.searchsorted(shown_at, np.ceil(low)), np.searchsorted(shown_at, np.floor(high), side="right")
        return tuple(VideoFrame(*row) for row in self.rows[start:stop].tolist())


def video_index(
    frames: Sequence[VideoFrame], keys: Mapping[int, int], *, time_base: Fraction, start: Fraction
) -> VideoIndex:
    """Build the index of a video from its frames in display order."""
    rows = np.asarray([(f.stamp, f.first_group, f.last_group, f.shown_at) for f in frames], dtype=np.int64)
    return VideoIndex(rows, keys, time_base, start)
