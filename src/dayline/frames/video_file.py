"""A video file through PyAV: opened without trust, its packets one after another."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import av
from av.container import InputContainer
from av.error import FFmpegError
from av.packet import Packet
from av.stream import Disposition
from av.video.stream import VideoStream

from dayline.frames.decode import MAX_PIXELS
from dayline.frames.names import shown_name

__all__ = ["PacketCount", "VideoFile", "opened_video", "packets_in_groups", "refuse_huge_frames"]

# Left out with a purpose: playlists and lists of files, which make a reader open other files.
CONTAINERS = "mov,mp4,matroska,webm,avi,mpegts,mpeg,flv,asf,ogg,mxf"


@dataclass(frozen=True)
class VideoFile:
    """An open file and the stream in it that holds the pictures."""

    container: InputContainer
    stream: VideoStream


@dataclass
class PacketCount:
    """What went wrong while packets were read: filled by `packets_in_groups`."""

    n_broken: int = 0
    n_without_stamp: int = 0
    stopped: str = ""


@contextmanager
def opened_video(path: Path) -> Iterator[VideoFile]:
    """Open a video; one clear ValueError when it is none, or holds no pictures."""
    name = shown_name(path)
    if not path.is_file():
        raise ValueError(f"{name}: {'not a regular file' if path.exists() else 'no such file'}")
    if path.stat().st_size == 0:
        raise ValueError(f"{name}: empty file")
    try:
        # The prefix keeps a colon in the name from being read as a protocol; the lists keep to this one file.
        options = {"format_whitelist": CONTAINERS, "protocol_whitelist": "file"}
        container = av.open(f"file:{path}", options=options)
    except PermissionError:
        raise ValueError(f"{name}: no permission to read it") from None
    except (FFmpegError, OSError) as error:
        why = error.strerror or type(error).__name__
        raise ValueError(
            f"{name}: cannot be opened as a video ({why}); it may be cut off or something else"
        ) from None
    with container:
        if not container.streams:
            raise ValueError(f"{name}: cannot be opened as a video (nothing in it can be read); it may be cut off")
        streams = [s for s in container.streams.video if not s.disposition & Disposition.attached_pic]
        if not streams:
            raise ValueError(f"{name}: has no video stream, only sound or other data")
        yield VideoFile(container, streams[0])


def refuse_huge_frames(path: Path, video: VideoFile) -> None:
    """Refuse a video whose frames are larger than the largest photo that is decoded."""
    width, height = video.stream.width, video.stream.height
    if width * height > MAX_PIXELS:
        limit = f"over the limit of {MAX_PIXELS // 1_000_000} megapixels"
        raise ValueError(f"{shown_name(path)}: frames of {width} x {height} pixels are {limit}")


def packets_in_groups(video: VideoFile, count: PacketCount) -> Iterator[tuple[int, Packet[VideoStream]]]:
    """Read packets with the number of their group; each key frame opens a group.

    Broken packets and those without a time stamp are counted and left out; a file that ends too
    early ends the packets, and `count.stopped` says so.
    """
    group = 0
    packets = video.container.demux(video.stream)
    while True:
        try:
            packet = next(packets, None)
        except (FFmpegError, OSError) as error:
            count.stopped = error.strerror or type(error).__name__
            return
        if packet is None:
            return
        # The numbering counts every key frame, usable or not, so that two passes agree on it.
        group += bool(packet.is_keyframe)
        if packet.size == 0:
            continue
        if packet.is_corrupt:
            count.n_broken += 1
        elif packet.pts is None:
            count.n_without_stamp += 1
        else:
            yield group, packet
