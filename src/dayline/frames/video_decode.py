"""Decode frames of a video, skipping what they do not depend on."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np
from av.packet import Packet
from av.video.frame import VideoFrame as DecodedFrame
from av.video.stream import VideoStream
from numpy.typing import NDArray

from dayline.frames.decode import LONGEST_SIDE
from dayline.frames.sequence import Also, FrameSequence
from dayline.frames.video_file import PacketCount, PacketReader, VideoFile, opened_video, refuse_huge_frames
from dayline.io.untrusted import UnreadableFileError, reading

__all__ = ["video_images"]


def video_images(
    sequence: FrameSequence,
    *,
    size: int,
    indices: Sequence[int],
    on_skip: Callable[[int, str], None],
    on_note: Callable[[str], None] | None = None,
    also: Also | None = None,
) -> Iterator[tuple[int, NDArray[np.uint8]]]:
    """Decode frames of a video; see `dayline.frames.images`.

    Groups of packets without a requested frame are sought past or read without decoding, and so is the rest of
    a group after its last requested frame. Frames that no other depends on are decoded only if requested.
    Frames that do not come this way are decoded again without shortcuts, from the start of the file.
    """
    work = _Work(sequence, {sequence.video_frames[i].stamp: i for i in indices})
    keys = None if sequence.video is None else sequence.video.keys
    counts = []
    for shortcuts in (keys, None) if keys else (None,):
        if not work.wanted:
            break
        counts.append(PacketCount())
        with opened_video(sequence.source) as video:
            refuse_huge_frames(sequence.source, video)
            for index, decoded in _requested(video, work, counts[-1], keys=shortcuts):
                if decoded.is_corrupt:
                    on_skip(index, "frame of the video is broken")
                    continue
                try:
                    with reading("frame of the video", "a picture"):
                        image = _to_rgb(decoded, size=size)
                        second = None if also is None or index not in also else _to_rgb(decoded, size=also.size)
                except UnreadableFileError as error:
                    on_skip(index, str(error))
                    continue
                if also is not None and second is not None:
                    also.take(index, second)
                yield index, image
    for index in sorted(work.wanted.values()):
        on_skip(index, "frame of the video is missing or broken")
    n_broken = max((count.n_broken for count in counts), default=0)
    if on_note is not None and n_broken:
        on_note(f"broken packets in the video, skipped while decoding: {n_broken}")
    if on_note is not None and work.is_lost:
        on_note("the video could not be searched and was read from its start")


class _Work:
    """The frames still to be decoded.

    Attributes
    ----------
    wanted : dict of int to int
        Stamp of each frame and its index in the sequence.
    is_lost : bool
        Whether seeking in the file went wrong.
    """

    def __init__(self, sequence: FrameSequence, wanted: dict[int, int]) -> None:
        self.wanted = wanted
        self.is_lost = False
        self._sequence = sequence
        # For each group, the stamps of pending frames that need it.
        self._needed: defaultdict[int, set[int]] = defaultdict(set)
        for stamp, index in wanted.items():
            for group in self._groups_of(index):
                self._needed[group].add(stamp)

    def _groups_of(self, index: int) -> range:
        frame = self._sequence.video_frames[index]
        return range(frame.first_group, frame.last_group + 1)

    def needs(self, group: int) -> bool:
        """Return whether a pending frame depends on a group."""
        return bool(self._needed.get(group))

    def take(self, stamp: int | None) -> int | None:
        """Return the index of a frame that is pending, which it then no longer is."""
        index = None if stamp is None else self.wanted.pop(stamp, None)
        if stamp is not None and index is not None:
            for group in self._groups_of(index):
                self._needed[group].discard(stamp)
        return index

    def groups(self) -> list[int]:
        """Return the groups that pending frames depend on."""
        return sorted(group for group, stamps in self._needed.items() if stamps)


def _requested(
    video: VideoFile, work: _Work, count: PacketCount, *, keys: Mapping[int, int] | None
) -> Iterator[tuple[int, DecodedFrame]]:
    """Decode the pending frames, with their indices; take shortcuts if the key frames of groups are given."""
    video.stream.thread_type = "AUTO"
    reader = PacketReader(video, count, keys)
    ahead = deque(work.groups())
    running = False

    def taken(packet: Packet[VideoStream] | None) -> Iterator[tuple[int, DecodedFrame]]:
        for decoded in _decode(video, packet, count):
            index = work.take(decoded.pts)
            if index is not None:
                yield index, decoded

    for group, packet in reader:
        if work.needs(group):
            if keys is not None:
                # A frame that no other depends on (most B frames) is skipped without loss unless it is wanted itself.
                video.stream.codec_context.skip_frame = "DEFAULT" if packet.pts in work.wanted else "NONREF"
            yield from taken(packet)
            running = True
            continue
        if running:
            # The next group does not continue the last one: drain the decoder and restart it.
            yield from taken(None)
            video.stream.codec_context.flush_buffers()
            running = False
        while ahead and (ahead[0] <= group or not work.needs(ahead[0])):
            ahead.popleft()
        if not ahead:
            return
        reader.skip_to(ahead[0])
    if running:
        yield from taken(None)
    work.is_lost |= reader.is_lost


def _decode(video: VideoFile, packet: Packet[VideoStream] | None, count: PacketCount) -> list[DecodedFrame]:
    try:
        return video.stream.codec_context.decode(packet)
    # FFmpeg and PyAV fail in many ways on damaged data.
    except Exception:
        # A broken packet loses its own frame and perhaps some that depend on it, but not the video.
        count.n_broken += 1
        return []


def _to_rgb(frame: DecodedFrame, *, size: int) -> NDArray[np.uint8]:
    shorter, longer = sorted((frame.width, frame.height))
    scale = min(1.0, size / shorter, LONGEST_SIDE * size / longer)
    width, height = (max(1, round(side * scale)) for side in (frame.width, frame.height))
    interpolation = "AREA" if scale < 1 else "BILINEAR"
    rgb = frame.reformat(width=width, height=height, format="rgb24", interpolation=interpolation).to_ndarray()
    # The rotation tag is counterclockwise, as in rot90.
    return np.ascontiguousarray(np.rot90(rgb, round(frame.rotation / 90)), dtype=np.uint8)
