"""Which pictures a clip has, and which packets of the film can be copied to it."""

from __future__ import annotations

import warnings
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from dayline.album.export.encode import starts_anew
from dayline.album.export.film import stamped
from dayline.album.export.folder import safe_name
from dayline.album.export.table import event_label
from dayline.events import Segmentation
from dayline.text import counted

if TYPE_CHECKING:
    from dayline.media.film_decode import VideoFile
    from dayline.media.frame import VideoIndex

TOLERANCE = 0.001
"""Seconds by which the time of a frame in events.json may differ from its stamp."""


@dataclass(frozen=True)
class Clip:
    """One clip to write.

    Attributes
    ----------
    name : str
        Name of its file, without the suffix.
    zero : Fraction
        The time in the film, in seconds, that is zero in the clip.
    first, stop : int
        Its pictures among all in display order, from `first` to `stop` - 1.
    packets : range
        Packets of pictures that are copied, by their order in the file.
    copied : range
        The pictures in them.
    delay : int
        How long before a picture is shown it is decoded, in the time base of the stream.
    """

    name: str
    zero: Fraction
    first: int
    stop: int
    packets: range = range(0)
    copied: range = range(0)
    delay: int = 0

    @property
    def encoded(self) -> list[int]:
        """The pictures that are encoded again."""
        if not self.copied:
            return list(range(self.first, self.stop))
        return [*range(self.first, self.copied.start), *range(self.copied.stop, self.stop)]


def clips_of(segmentation: Segmentation, starts: Sequence[float], index: VideoIndex) -> list[Clip]:
    """Return the clips with their first and last pictures; warn of events without a picture.

    Parameters
    ----------
    segmentation : Segmentation
        Events of the video.
    starts : sequence of float
        When they start, in seconds.
    index : VideoIndex
        The pictures of the video.
    """
    shown = [float(tick * index.time_base - index.start) for tick in index.rows[:, 3].tolist()]
    # The first clip has all that precedes its event.
    firsts = [0, *(bisect_left(shown, start - TOLERANCE) for start in starts[1:]), len(shown)]
    width = max(2, len(str(len(starts))))
    clips, empty = [], []
    for k, event in enumerate(segmentation.events):
        first, stop = firsts[k], firsts[k + 1]
        if first >= stop:
            empty.append(k + 1)
            continue
        name = f"{k + 1:0{width}d} {safe_name(event_label(segmentation, event))}".rstrip(". ")
        zero = int(index.rows[first, 3]) * index.time_base
        clips.append(Clip(name, zero if first else index.start, first, stop))
    if empty:
        which = ", ".join(map(str, empty))
        warnings.warn(
            f"{counted(len(empty), 'event')} without a picture in the video: {which}", stacklevel=4
        )
    return clips


def plan_copies(
    opened: VideoFile, index: VideoIndex, clips: Sequence[Clip], *, can_join: bool
) -> tuple[list[int | None], list[Clip]]:
    """Choose which packets to copy to each clip.

    Parameters
    ----------
    opened : VideoFile
        The video, at its start.
    index : VideoIndex
        Its pictures.
    clips : sequence of Clip
        See `clips_of`.
    can_join : bool
        Whether encoded pictures can be joined to copied ones; if not, a clip is copied as a whole
        or not at all.

    Returns
    -------
    ranks : list of int or None
        The picture of every packet of the video, among all in display order; None if it has none.
    clips : list of Clip
        The clips, with what is copied.
    """
    rank_of = {stamp: rank for rank, stamp in enumerate(index.rows[:, 0].tolist())}
    ranks: list[int | None] = []
    delays: dict[int, int] = {}
    for packet in stamped(opened.container.demux(opened.stream)):
        if not packet.size:
            continue
        # A second packet with the same stamp is not usable.
        rank = None if packet.pts is None else rank_of.pop(packet.pts, None)
        if rank is not None and starts_anew(packet):
            delays[len(ranks)] = max(packet.pts - packet.dts, 0)
        ranks.append(rank)

    keys = sorted((rank, number) for number in delays if (rank := ranks[number]) is not None)
    planned = []
    for clip in clips:
        at = bisect_left(keys, (clip.first, 0))
        packets, copied, delay = range(0), range(0), 0
        if at < len(keys) and keys[at][0] < clip.stop:
            rank, number = keys[at]
            packets = _whole_run(ranks, number, clip.stop)
            copied, delay = range(rank, rank + len(packets)), delays[number]
        if not can_join and len(copied) < clip.stop - clip.first:
            packets, copied, delay = range(0), range(0), 0
        planned.append(Clip(clip.name, clip.zero, clip.first, clip.stop, packets, copied, delay))
    return ranks, planned


def _whole_run(ranks: Sequence[int | None], start: int, stop: int) -> range:
    """Return the most packets from a key frame on whose pictures follow one another.

    Parameters
    ----------
    ranks : sequence of int or None
        The picture of every packet.
    start : int
        The packet of the key frame.
    stop : int
        The first picture that is not wanted.
    """
    first = latest = ranks[start]
    end = start
    for number in range(start, len(ranks)):
        rank = ranks[number]
        if first is None or latest is None or rank is None or not first <= rank < stop:
            break
        latest = max(latest, rank)
        if latest - first == number - start:
            end = number + 1
    return range(start, end)
