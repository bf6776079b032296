"""The video cut into one file per event: remuxed at key frames, not re-encoded."""

from __future__ import annotations

import logging
import warnings
from bisect import bisect_right
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

from dayline.album.export.chapters import Chapter
from dayline.album.export.film import CONTAINERS, FilmCopy, film_start, stamped
from dayline.album.export.folder import replacing_folder, safe_name
from dayline.album.export.table import event_label
from dayline.events import Segmentation
from dayline.installation import needs_extra
from dayline.text import counted

if TYPE_CHECKING:
    from dayline.media.film_decode import VideoFile

COPIED = ("audio", "subtitle")
"""Streams that clips have besides the video."""

TOLERANCE = 0.001
"""Seconds by which the time of a frame in events.json may differ from its stamp."""

LATEST = 10.0
"""Seconds by which sound may lie behind the picture in a file; a clip is then finished."""

log = logging.getLogger(__name__)


@needs_extra("photos", "cutting a video")
def write_clips(
    segmentation: Segmentation,
    marks: Sequence[Chapter],
    folder: str | Path,
    *,
    source: str | Path,
    force: bool = False,
) -> Path:
    """Cut a video into one clip per event; picture and sound are copied bit for bit.

    A clip can only start at a key frame: it starts at the last one before its event, and ends where
    the next clip starts. In films whose groups of frames overlap ("open GOP"), the few frames there
    that need both are left out. An event that contains no key frame is in the clip of the event
    before it. Warnings say how far clips start before their events, and which events have no clip.

    Parameters
    ----------
    segmentation : Segmentation
        Events of the video.
    marks : sequence of Chapter
        Their chapters.
    folder : str or Path
        The folder to create; its parent must exist. A folder of an earlier run is replaced; one
        that contains anything else is refused.
    source : str or Path
        The video.
    force : bool
        Replace a folder with other files, too; these are kept in a folder beside it.
    """
    import av

    from dayline.media.film_decode import opened_video

    folder, source = Path(folder), Path(source)
    if segmentation.clock == "wall" or not source.is_file():
        raise ValueError("clips can only be cut from a video; use the photos export for photos")
    starts = [mark.start for mark in marks]
    try:
        with opened_video(source) as opened:
            cuts = _cuts(segmentation, starts, _key_times(opened))
        suffix = source.suffix.lower() if source.suffix.lower() in CONTAINERS else ".mkv"
        with opened_video(source) as opened, replacing_folder(folder, force=force) as made:
            _copy(opened, cuts, made, suffix=suffix)
    except av.FFmpegError as error:
        raise ValueError(f"{source} cannot be cut: {error.strerror}") from None
    return folder


def _key_times(opened: VideoFile) -> list[float]:
    """Return the times of all key frames, in order."""
    origin = film_start(opened.container)
    stamps = [
        packet.dts if packet.pts is None else packet.pts
        for packet in opened.container.demux(opened.stream)
        if packet.is_keyframe and packet.size
    ]
    return sorted(float(stamp * opened.time_base - origin) for stamp in stamps if stamp is not None)


def _cuts(
    segmentation: Segmentation, starts: Sequence[float], keys: Sequence[float]
) -> dict[float, str]:
    """Return the key frame where every clip starts, in seconds, and the name of the clip.

    Events that share a key frame share a clip.
    """
    width = max(2, len(str(len(starts))))
    cuts: dict[float, str] = {}
    joined, earliest = [], 0.0
    for number, (event, start) in enumerate(zip(segmentation.events, starts, strict=True), start=1):
        before = bisect_right(keys, start + TOLERANCE)
        # The first clip has all that precedes the first key frame.
        key = keys[before - 1] if cuts and before else 0.0
        if cuts and key <= max(cuts):
            joined.append(number)
            continue
        if cuts:
            earliest = max(earliest, start - key)
        name = f"{number:0{width}d} {safe_name(event_label(segmentation, event))}"
        cuts[key] = name.rstrip(". ")
    if earliest > TOLERANCE:
        warnings.warn(
            f"clips start at key frames, up to {earliest:.1f} s before their events; fcpxml and edl"
            " are exact",
            stacklevel=4,
        )
    if joined:
        which = ", ".join(map(str, joined))
        warnings.warn(
            f"{counted(len(joined), 'event')} without a key frame, part of the clip before instead:"
            f" {which}",
            stacklevel=4,
        )
    return cuts


def _copy(opened: VideoFile, cuts: dict[float, str], folder: Path, *, suffix: str) -> None:
    """Copy every packet to its clip, in one pass."""
    streams = [opened.stream, *(s for s in opened.container.streams if s.type in COPIED)]
    kind = CONTAINERS[suffix]
    origin = film_start(opened.container)
    starts, names = list(cuts), list(cuts.values())
    number = 0  # of the clip that receives pictures
    finished = 0
    clips: dict[int, FilmCopy] = {}
    try:
        for packet in stamped(opened.container.demux(streams)):
            stamp = packet.dts if packet.pts is None else packet.pts
            time = float(stamp * packet.time_base - origin)
            if packet.stream.index == opened.stream.index:
                while (
                    packet.is_keyframe
                    and number + 1 < len(cuts)
                    and time >= starts[number + 1] - TOLERANCE
                ):
                    number += 1
                # Pictures that follow a key frame in the file but precede it in time need the clip
                # before.
                if number and time < starts[number] - TOLERANCE:
                    continue
                which = number
            else:
                which = max(bisect_right(starts, time) - 1, 0)

            if which < finished:
                log.warning(
                    "%s at %.1f s is left out: it lies far behind the picture",
                    packet.stream.type,
                    time,
                )
                continue
            if which not in clips:
                file = (folder / f"{names[which]}{suffix}").open("wb")
                zero = origin + (Fraction(starts[which]).limit_denominator(10**6) if which else 0)
                clips[which] = FilmCopy(file, opened.container, streams, kind=kind, zero=zero)
                clips[which].container.metadata["title"] = names[which]
            clips[which].add(packet)

            # Thousands of events would need more open files than a system allows.
            while finished < number and time > starts[finished + 1] + LATEST:
                if finished in clips:
                    _finish(clips.pop(finished))
                finished += 1
    finally:
        for clip in clips.values():
            _finish(clip)


def _finish(clip: FilmCopy) -> None:
    try:
        clip.close()
    finally:
        clip.file.close()
