"""Open untrusted videos with PyAV and decode their frames, skipping what they do not depend on."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, cast

import av
import numpy as np
from av.container import InputContainer
from av.error import FFmpegError
from av.packet import Packet
from av.stream import Disposition
from av.video.frame import VideoFrame as DecodedFrame
from av.video.stream import VideoStream
from numpy.typing import NDArray

from dayline.files import UnreadableFileError, reading
from dayline.media.decode import LONGEST_SIDE
from dayline.media.frame import Also, FrameSequence, VideoFrame, shown_name

# Playlists and lists of files are excluded on purpose: they make a reader open other files.
CONTAINERS = "mov,mp4,matroska,webm,avi,mpegts,mpeg,flv,asf,ogg,mxf"

STREAMED = ("mpegts", "mpeg")
"""Containers without an index: each frame has its own stamp, at an exact rate; the last stamp gives the length."""

MAX_PIXELS = 80_000_000
"""Largest decoded frame: 12K. Decoders hold up to 20 frames at once, so the limit is lower than for photos."""


FAR_AHEAD = 2
"""Groups from which on seeking is faster than reading on: see `benchmarks/speed/video.py`."""


@dataclass(frozen=True)
class VideoFile:
    """An open file and its video stream."""

    container: InputContainer
    stream: VideoStream

    @property
    def time_base(self) -> Fraction:
        """Unit of the time stamps in seconds."""
        return Fraction(self.stream.time_base or 1)


@dataclass
class PacketCount:
    """How many packets were read and what went wrong; filled in by `packets_in_groups`."""

    n_packets: int = 0
    n_broken: int = 0
    n_without_stamp: int = 0
    stopped: str = ""


@contextmanager
def opened_video(path: Path) -> Iterator[VideoFile]:
    """Open a video; raise ValueError if the file is not a video or has no video stream."""
    name = shown_name(path)
    if not path.is_file():
        raise ValueError(f"{name}: {'not a regular file' if path.exists() else 'no such file'}")
    if path.stat().st_size == 0:
        raise ValueError(f"{name}: empty file")
    with _opened(path, name) as container:
        if not container.streams:
            raise ValueError(
                f"{name}: cannot be opened as a video (no readable stream); it may be truncated"
            )
        streams = [
            s for s in container.streams.video if not s.disposition & Disposition.attached_pic
        ]
        if not streams:
            raise ValueError(f"{name}: has no video stream, only sound or other data")
        # PyAV's type hints promise a decoder, but a codec unknown to FFmpeg has none.
        known = [stream for stream in streams if cast("Any", stream.codec_context) is not None]
        if not known:
            raise ValueError(f"{name}: unknown video codec; convert it to H.264")
        yield VideoFile(container, known[0])


def _opened(path: Path, name: str) -> InputContainer:
    # The prefix keeps a colon in the name from being read as a protocol; the whitelists prevent
    # opening other files.
    options = {"format_whitelist": CONTAINERS, "protocol_whitelist": "file"}
    with reading(name, "a video"):
        try:
            return av.open(f"file:{path}", options=options)
        except PermissionError:
            raise UnreadableFileError(f"{name}: no permission to read it") from None
        except (FFmpegError, OSError) as error:
            why = error.strerror or type(error).__name__
            raise UnreadableFileError(
                f"{name}: cannot be opened as a video ({why}); it may be truncated or not a video"
            ) from None


def refuse_huge_frames(path: Path, video: VideoFile) -> None:
    """Reject a video whose frames are too large, whether declared in the header or changed later."""
    video.stream.codec_context.options = {"max_pixels": str(MAX_PIXELS)}
    width, height = video.stream.width, video.stream.height
    if width * height > MAX_PIXELS:
        limit = f"over the limit of {MAX_PIXELS // 1_000_000} megapixels"
        raise ValueError(f"{shown_name(path)}: frames of {width} x {height} pixels are {limit}")


def packets_in_groups(
    video: VideoFile, count: PacketCount
) -> Iterator[tuple[int, Packet[VideoStream]]]:
    """Yield packets with the number of their group; each key frame starts a group.

    Broken packets and packets without a time stamp are counted and skipped. If the file ends early,
    iteration stops and `count.stopped` gives the reason.
    """
    return iter(PacketReader(video, count))


class PacketReader:
    """Reads packets with the number of their group, in order, and skips ahead if asked to.

    Parameters
    ----------
    video : VideoFile
        An open video, at its start.
    count : PacketCount
        Filled in while reading.
    keys : mapping of int to int, optional
        Stamp of the key frame that starts a group, for groups to which `skip_to` may seek.

    Attributes
    ----------
    is_lost : bool
        Whether seeking went wrong; iteration then ends, and the rest is to be read from the start.
    """

    def __init__(
        self, video: VideoFile, count: PacketCount, keys: Mapping[int, int] | None = None
    ) -> None:
        self.is_lost = False
        self._video, self._count = video, count
        self._keys = {} if keys is None else keys
        self._groups = {stamp: group for group, stamp in self._keys.items()}
        self._group = 0
        self._sought: int | None = None
        self._read_on_to = 0
        self._packets = video.container.demux(video.stream)

    def __iter__(self) -> Iterator[tuple[int, Packet[VideoStream]]]:
        """Yield groups and packets."""
        while not self.is_lost:
            try:
                packet = next(self._packets, None)
            # A damaged file can make FFmpeg and PyAV fail in any way; the packets before it are
            # still good.
            except Exception as error:
                self._count.stopped = getattr(error, "strerror", None) or type(error).__name__
                return
            if packet is None:
                self.is_lost = self._sought is not None
                return
            if self._sought is not None:
                if not packet.is_keyframe:
                    continue
                if not self._found(packet):
                    self.is_lost = True
                    return
            else:
                # Every key frame is counted, usable or not, so that two passes agree.
                self._group += bool(packet.is_keyframe)
            if packet.size == 0:
                continue
            self._count.n_packets += 1
            if packet.is_corrupt:
                self._count.n_broken += 1
            elif packet.pts is None:
                self._count.n_without_stamp += 1
            else:
                yield self._group, packet

    def skip_to(self, group: int) -> None:
        """Seek to a group that is ahead, if that is faster than to read on; flush the decoder before."""
        # Without an index, a search lands anywhere.
        if self._video.container.format.name in STREAMED:
            return
        # A reader that landed before the group it sought would land there again.
        if (
            group - self._group < FAR_AHEAD
            or group not in self._keys
            or self._group < self._read_on_to
        ):
            return
        try:
            self._video.container.seek(self._keys[group], stream=self._video.stream)
        except (FFmpegError, OSError):
            self.is_lost = True
            return
        self._sought = self._read_on_to = group
        self._packets = self._video.container.demux(self._video.stream)

    def _found(self, packet: Packet[VideoStream]) -> bool:
        """Return whether the first key frame after seeking is a known one, no later than the one sought."""
        group = None if packet.pts is None else self._groups.get(packet.pts)
        if group is None or self._sought is None or group > self._sought:
            return False
        self._group, self._sought = group, None
        return True


def video_images(
    sequence: FrameSequence,
    *,
    size: int,
    indices: Sequence[int],
    on_skip: Callable[[int, str], None],
    on_note: Callable[[str], None] | None = None,
    also: Also | None = None,
) -> Iterator[tuple[int, NDArray[np.uint8]]]:
    """Decode frames of a video; see `dayline.media.source.images`.

    Groups of packets without a requested frame are sought past or read without decoding, and so is
    the rest of a group after its last requested frame. Frames that no other depends on are decoded
    only if requested. Frames that do not come this way are decoded again without shortcuts, from
    the start of the file.
    """
    work = _Work(sequence, {_in_video(sequence, i).stamp: i for i in indices})
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
                        second = (
                            None
                            if also is None or index not in also
                            else _to_rgb(decoded, size=also.size)
                        )
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
        frame = _in_video(self._sequence, index)
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


def _in_video(sequence: FrameSequence, index: int) -> VideoFrame:
    frame = sequence.frames[index].in_video
    if frame is None:
        raise ValueError(f"{sequence.source.name}: not a video")
    return frame


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
                # A frame that no other depends on (most B frames) is skipped without loss unless it
                # is wanted itself.
                video.stream.codec_context.skip_frame = (
                    "DEFAULT" if packet.pts in work.wanted else "NONREF"
                )
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


def _decode(
    video: VideoFile, packet: Packet[VideoStream] | None, count: PacketCount
) -> list[DecodedFrame]:
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
    rgb = frame.reformat(
        width=width, height=height, format="rgb24", interpolation=interpolation
    ).to_ndarray()
    # The rotation tag is counterclockwise, as in rot90.
    return np.ascontiguousarray(np.rot90(rgb, round(frame.rotation / 90)), dtype=np.uint8)
