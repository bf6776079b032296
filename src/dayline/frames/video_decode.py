"""Decode frames of a video in one pass that skips everything not needed."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence

import numpy as np
from av.packet import Packet
from av.video.frame import VideoFrame as DecodedFrame
from av.video.stream import VideoStream
from numpy.typing import NDArray

from dayline.frames.decode import LONGEST_SIDE
from dayline.frames.sequence import Also, FrameSequence
from dayline.frames.video_file import PacketCount, VideoFile, opened_video, packets_in_groups, refuse_huge_frames
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

    Groups of packets without a requested frame, and the rest of a group after its last requested
    frame, are read but not decoded.
    """
    wanted = {sequence.video_frames[i].stamp: i for i in indices}
    # For each group, the stamps of pending frames that need it.
    needed: defaultdict[int, set[int]] = defaultdict(set)
    for i in indices:
        frame = sequence.video_frames[i]
        for group in range(frame.first_group, frame.last_group + 1):
            needed[group].add(frame.stamp)
    count = PacketCount()
    with opened_video(sequence.source) as video:
        refuse_huge_frames(sequence.source, video)
        for decoded in _decoded(video, needed, count):
            index = wanted.pop(decoded.pts, None) if decoded.pts is not None else None
            if index is None:
                continue
            place = sequence.video_frames[index]
            for group in range(place.first_group, place.last_group + 1):
                needed[group].discard(place.stamp)
            if decoded.is_corrupt:
                on_skip(index, "frame of the video is broken")
                continue
            try:
                with reading("frame of the video", "a picture"):
                    image = _to_rgb(decoded, size=size)
                    second = None if also is None else _to_rgb(decoded, size=also.size)
            except UnreadableFileError as error:
                on_skip(index, str(error))
                continue
            if also is not None and second is not None:
                also.take(index, second)
            yield index, image
    for index in sorted(wanted.values()):
        on_skip(index, "frame of the video is missing or broken")
    if on_note is not None and count.n_broken:
        on_note(f"broken packets in the video, skipped while decoding: {count.n_broken}")


def _decoded(video: VideoFile, needed: defaultdict[int, set[int]], count: PacketCount) -> Iterator[DecodedFrame]:
    video.stream.thread_type = "AUTO"
    running = False
    for group, packet in packets_in_groups(video, count):
        if needed.get(group):
            yield from _decode(video, packet, count)
            running = True
        elif running:
            # The next group does not continue the last one: drain the decoder and restart it.
            yield from _decode(video, None, count)
            video.stream.codec_context.flush_buffers()
            running = False
            if not any(needed.values()):
                return
    if running:
        yield from _decode(video, None, count)


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
