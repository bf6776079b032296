"""Open untrusted videos with PyAV and decode their frames, skipping what they do not depend on."""

from __future__ import annotations

import hashlib
import math
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
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
from av.video.reformatter import VideoReformatter
from av.video.stream import VideoStream
from numpy.typing import NDArray

from dayline.files import UnreadableFileError, reading
from dayline.media.decode import LONGEST_SIDE
from dayline.media.frame import Also, FrameSequence, VideoFrame, shown_name

# Playlists and lists of files are excluded on purpose: they make a reader open other files.
CONTAINERS = "mov,mp4,matroska,webm,avi,mpegts,mpeg,flv,asf,ogg,mxf"

STREAMED = ("mpegts", "mpeg")
"""Containers without an index: each frame has its own stamp, at an exact rate; the last stamp gives
the length."""

MAX_PIXELS = 80_000_000
"""Largest decoded frame: 12K. Decoders hold up to 20 frames at once, so the limit is lower than for
photos."""


ENDS = 512
"""Bytes at either end of a packet that identify it."""

LEAST_PACKET = 16
"""Bytes; a longer packet of nothing but zeros at both ends was never written, or erased."""

UNCOMPRESSED = ("rawvideo", "v210", "v410", "r210")
"""Codecs whose black frames are zeros."""

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
class Listing:
    """The packets of a video, read once without decoding; filled in by `list_packets`.

    Attributes
    ----------
    groups : dict of int to int
        Group of packets of every usable frame by its stamp, in the order of the file.
    keys : dict of int to int
        Stamp of the key frame that starts a group.
    lost : dict of int to int
        Most bytes at one point of the file before a frame, by its stamp, that belong to no packet.
    lost_at_end : int
        Bytes of the file after the last packet.
    ends_broken : bool
        Whether the last packet is not whole.
    end, end_of_all : int, float
        End of the last frame as a stamp, and that of all streams in seconds.
    n_bytes, n_packets, n_unusable : int
        Bytes and number of the packets of pictures; how many are broken, or have no time stamp or
        that of another.
    n_hidden : int
        Frames between others that the file says not to show; a beginning and an end are often cut
        off so, and do not count.
    n_bytes_of_all : int
        Bytes of the packets of all streams.
    stopped : str
        Why reading stopped before the end of the file.
    digest : str
        See `dayline.media.film.film_digest`.
    """

    groups: dict[int, int] = field(default_factory=dict)
    keys: dict[int, int] = field(default_factory=dict)
    lost: dict[int, int] = field(default_factory=dict)
    lost_at_end: int = 0
    ends_broken: bool = False
    end: int = 0
    end_of_all: float = 0.0
    n_bytes: int = 0
    n_packets: int = 0
    n_unusable: int = 0
    n_hidden: int = 0
    n_bytes_of_all: int = 0
    stopped: str = ""
    digest: str = ""


def list_packets(video: VideoFile) -> Listing:
    """Read the packets of all streams of a video, up to its end or to where it cannot be read."""
    found, digest = Listing(), hashlib.sha256()
    # A movie says where its packets lie, in any order; elsewhere they follow one another.
    is_movie = "mp4" in video.container.format.name
    is_compressed = video.stream.codec_context.codec.name not in UNCOMPRESSED
    group, lost, reached = 0, 0, -1
    hidden: list[tuple[int, int]] = []
    packets = video.container.demux()
    while True:
        try:
            packet = next(packets, None)
        # A damaged file can make FFmpeg and PyAV fail in any way; the packets before it are good.
        except Exception as error:
            found.stopped = getattr(error, "strerror", None) or type(error).__name__
            break
        if packet is None:
            break

        is_picture = packet.stream_index == video.stream.index
        group += is_picture and bool(packet.is_keyframe)
        if packet.size == 0:
            continue
        found.n_bytes_of_all += packet.size
        if packet.pos is not None:
            if reached >= 0 and not is_movie:
                lost = max(lost, packet.pos - reached)
            reached = max(reached, packet.pos + packet.size)
        if packet.pts is not None and packet.time_base is not None:
            end = packet.pts + (packet.duration or 0)
            found.end_of_all = max(found.end_of_all, float(end * packet.time_base))
        if not is_picture:
            continue

        content = memoryview(packet)
        first, last = content[:ENDS], content[-ENDS:]
        digest.update(packet.size.to_bytes(8) + first + last)
        found.n_bytes += packet.size
        found.n_packets += 1
        if packet.pts is None:
            found.n_unusable += 1
            continue
        found.end = max(found.end, packet.pts + (packet.duration or 0))
        if packet.is_keyframe:
            found.keys[group] = packet.pts
        found.ends_broken = packet.is_corrupt
        is_erased = is_compressed and packet.size > LEAST_PACKET and not (any(first) or any(last))
        if packet.is_corrupt or is_erased:
            found.n_unusable += packet.is_corrupt
            lost += packet.size
        elif packet.pts in found.groups:
            found.n_unusable += 1
        elif packet.is_discard:
            hidden.append((packet.pts, group))
        else:
            found.groups[packet.pts] = group
            found.lost[packet.pts] = lost
            lost = 0
    found.n_hidden = _n_between(hidden, found.groups)
    found.lost_at_end = lost
    # The parts of a movie that has an index lie anywhere.
    if reached >= 0 and not (is_movie and video.stream.frames):
        found.lost_at_end += max(video.container.size - reached, 0)
    found.digest = digest.hexdigest()[:32]
    return found


def _n_between(hidden: Sequence[tuple[int, int]], groups: Mapping[int, int]) -> int:
    """Count hidden frames, by stamp and group, that are neither before all others nor after."""
    if not groups:
        return 0
    first, last = min(groups), max(groups)
    return sum(
        not (stamp < first and group <= groups[first])
        and not (stamp > last and group >= groups[last])
        for stamp, group in hidden
    )


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
            # Some cameras write tags that are not UTF-8.
            return av.open(f"file:{path}", options=options, metadata_errors="replace")
        except (FFmpegError, OSError) as error:
            why = error.strerror or type(error).__name__
            raise UnreadableFileError(
                f"{name}: cannot be opened as a video ({why}); it may be truncated or not a video"
            ) from None


def refuse_huge_frames(path: Path, video: VideoFile) -> None:
    """Reject a video whose frames are too large, by its header or from a later frame on."""
    video.stream.codec_context.options = {"max_pixels": str(MAX_PIXELS)}
    width, height = video.stream.width, video.stream.height
    if width * height > MAX_PIXELS:
        limit = f"over the limit of {MAX_PIXELS // 1_000_000} megapixels"
        raise ValueError(f"{shown_name(path)}: frames of {width} x {height} pixels are {limit}")


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
    frames = {i: sequence.frames[i].in_video for i in indices}
    wanted = {i: frame for i, frame in frames.items() if frame is not None}
    for index, decoded in decoded_frames(sequence, wanted, on_skip=on_skip, on_note=on_note):
        second = None
        try:
            with reading("frame of the video", "a picture"):
                image = _to_rgb(decoded, size=size)
                if also is not None and index in also:
                    second = _to_rgb(decoded, size=also.size)
        except UnreadableFileError as error:
            on_skip(index, str(error))
            continue
        if also is not None and second is not None:
            also.take(index, second)
        yield index, image


def decoded_frames(
    sequence: FrameSequence,
    frames: Mapping[int, VideoFrame],
    *,
    on_skip: Callable[[int, str], None],
    on_note: Callable[[str], None] | None = None,
    in_order: bool = False,
) -> Iterator[tuple[int, DecodedFrame]]:
    """Decode frames of a video as they are stored; see `video_images`.

    Parameters
    ----------
    sequence : FrameSequence
        The video.
    frames : mapping of int to VideoFrame
        The frames by any number.
    on_skip, on_note : callable
        See `dayline.media.source.images`.
    in_order : bool
        Yield them in the order in which they are shown, and those that come later not at all.
    """
    wanted = {frame.stamp: (i, frame) for i, frame in frames.items()}
    keys = {} if sequence.video is None else sequence.video.keys
    most_broken, is_read_again = 0, False
    latest = -math.inf
    for shortcuts in (keys, {}) if keys else ({},):
        if not wanted:
            break
        n_broken = 0
        with opened_video(sequence.source) as video:
            refuse_huge_frames(sequence.source, video)
            for found in _decoded(video, wanted, shortcuts, may_skip=not in_order):
                if found is None:
                    n_broken += 1
                    continue
                index, decoded = found
                is_read_again |= bool(keys and not shortcuts)
                if decoded.is_corrupt or (in_order and index < latest):
                    on_skip(index, "frame of the video is broken")
                else:
                    latest = index
                    yield index, decoded
        most_broken = max(most_broken, n_broken)

    for index in sorted(index for index, _ in wanted.values()):
        on_skip(index, "frame of the video is missing or broken")
    if on_note is not None and most_broken:
        on_note(f"broken packets in the video, skipped while decoding: {most_broken}")
    if on_note is not None and is_read_again:
        on_note("the video could not be searched and was read from its start")


def small_images(
    sequence: FrameSequence, *, width: int, height: int
) -> Iterator[tuple[int, NDArray[np.uint8]]]:
    """Decode all frames of a video in one pass, stretched to a small size.

    Frames that cannot be decoded are left out, and so are those up to the next key frame, since
    what they show may be wrong.

    Parameters
    ----------
    sequence : FrameSequence
        The video.
    width, height : int
        Size in pixels.

    Yields
    ------
    number : int
        Of the frame among all frames of the video.
    image : array of shape (height, width, 3), uint8
        RGB, as stored: not rotated.
    """
    if sequence.video is None:
        raise ValueError(f"{sequence.source.name}: not a video")
    numbers = {stamp: k for k, stamp in enumerate(sequence.video.rows[:, 0].tolist())}
    # Kept, since a new one for every frame takes as long as decoding it.
    halfway, on = VideoReformatter(), VideoReformatter()

    with opened_video(sequence.source) as video:
        refuse_huge_frames(sequence.source, video)
        video.stream.thread_type = "AUTO"

        packets = video.container.demux(video.stream)
        is_broken = False
        while True:
            try:
                packet = next(packets, None)
            # As in `list_packets`, which has said why.
            except Exception:
                packet = None
            if packet is not None and packet.size == 0:
                continue
            for frame in _decode(video, packet):
                if frame is None or frame.is_corrupt:
                    is_broken = True
                    continue
                is_broken &= not frame.key_frame
                if is_broken or frame.pts not in numbers:
                    continue
                with suppress(UnreadableFileError), reading("frame of the video", "a picture"):
                    # Averaging every pixel of a large frame would take longer than decoding it.
                    middle = halfway.reformat(
                        frame, width=4 * width, height=4 * height, interpolation="FAST_BILINEAR"
                    )
                    small = on.reformat(
                        middle, width=width, height=height, format="rgb24", interpolation="AREA"
                    )
                    yield numbers[frame.pts], np.asarray(small.to_ndarray(), dtype=np.uint8)
            if packet is None:
                return


def _decoded(
    video: VideoFile,
    wanted: dict[int, tuple[int, VideoFrame]],
    keys: Mapping[int, int],
    *,
    may_skip: bool,
) -> Iterator[tuple[int, DecodedFrame] | None]:
    """Decode frames in one pass over the packets of a video; yield None for a broken packet.

    Parameters
    ----------
    video : VideoFile
        An open video, at its start.
    wanted : dict of int to (int, VideoFrame)
        The frames to decode and their indices, by their stamps. They are removed as they come;
        those that remain were broken, or seeking went wrong.
    keys : mapping of int to int
        Stamp of the key frame that starts a group, for groups to which to seek; without any, all
        packets are read, and all of a needed group are decoded.
    may_skip : bool
        Whether frames that are not wanted may be skipped while decoding; readers that are late,
        as for AV1, then leave out wanted ones, too.
    """
    needed = Counter(g for _, f in wanted.values() for g in range(f.first_group, f.last_group + 1))
    ahead = deque(sorted(needed))
    # Without an index, a search lands anywhere.
    may_seek = video.container.format.name not in STREAMED
    group_of = {stamp: group for group, stamp in keys.items()}
    group, sought, read_on_to, is_running = 0, None, 0, False
    video.stream.thread_type = "AUTO"
    context = video.stream.codec_context
    packets = video.container.demux(video.stream)
    while True:
        try:
            packet = next(packets, None)
        # As in `list_packets`, which has said why.
        except Exception:
            packet = None
        if packet is not None:
            if sought is None:
                # Every key frame is counted, usable or not, so that two passes agree.
                group += bool(packet.is_keyframe)
            elif packet.is_keyframe:
                landed = None if packet.pts is None else group_of.get(packet.pts)
                if landed is None or landed > sought:
                    return
                group, sought = landed, None
            if sought is not None or packet.size == 0 or packet.pts is None:
                continue
            if packet.is_corrupt:
                yield None
                continue

        is_needed = packet is not None and needed[group] > 0
        if packet is not None and is_needed and keys and may_skip:
            # A frame that no other depends on (most B frames) is skipped without loss unless it is
            # wanted itself.
            context.skip_frame = "DEFAULT" if packet.pts in wanted else "NONREF"
        if is_needed or is_running:
            # After the last packet of a needed group, the decoder still holds some frames.
            for decoded in _decode(video, packet if is_needed else None):
                if decoded is None:
                    yield None
                elif decoded.pts is not None and decoded.pts in wanted:
                    index, frame = wanted.pop(decoded.pts)
                    needed.subtract(range(frame.first_group, frame.last_group + 1))
                    yield index, decoded
        if packet is None:
            return

        if is_running and not is_needed:
            # The next needed group does not continue the last one.
            context.flush_buffers()
        is_running = is_needed
        if is_needed:
            continue

        while ahead and (ahead[0] <= group or not needed[ahead[0]]):
            ahead.popleft()
        if not ahead:
            return
        # A reader that landed before the group it sought would land there again.
        is_far = ahead[0] - group >= FAR_AHEAD and group >= read_on_to
        if may_seek and is_far and ahead[0] in keys:
            try:
                video.container.seek(keys[ahead[0]], stream=video.stream)
            except (FFmpegError, OSError):
                return
            sought = read_on_to = ahead[0]
            packets = video.container.demux(video.stream)


def _decode(video: VideoFile, packet: Packet[VideoStream] | None) -> Sequence[DecodedFrame | None]:
    """Return the frames that a packet completes, or one None if it is broken."""
    try:
        return video.stream.codec_context.decode(packet)
    # FFmpeg and PyAV fail in many ways on damaged data.
    except Exception:
        # A broken packet loses its own frame and perhaps some that depend on it, but not the video.
        return [None]


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
