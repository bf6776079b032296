"""Encode pictures of a film again, so that a clip can begin and end at any of them."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any, cast

import numpy as np

if TYPE_CHECKING:
    from av.container import OutputContainer
    from av.video.codeccontext import VideoCodecContext
    from av.video.frame import VideoFrame

START_CODE = b"\x00\x00\x00\x01"
IDR = 5
"""Kind of the H.264 units that need nothing that precedes them."""

CODECS = {
    # The parameters get the last number, so that those of the film stay valid beside them.
    "h264": ("libx264", {"crf": "16", "preset": "fast", "bf": "0", "x264-params": "sps-id=31"}),
    "hevc": ("libx265", {"crf": "17", "preset": "fast", "x265-params": "bframes=0:log-level=none"}),
    "vp8": ("libvpx", {"crf": "6", "deadline": "good", "cpu-used": "4", "auto-alt-ref": "0"}),
    "vp9": ("libvpx-vp9", {"crf": "18", "deadline": "good", "cpu-used": "5", "auto-alt-ref": "0"}),
}
"""Encoder of a codec and its options; no picture is stored before one that is shown earlier."""

JOINABLE = ("h264", "vp8", "vp9")
"""Codecs whose encoded and copied packets decode one after the other in one stream."""

RATES = {"vp8": 40_000_000}
"""Bits per second at most, which this encoder needs to know."""

NO_PICTURE_TYPE = 0


class PictureEncoder:
    """How to encode pictures of a stream again, in its codec if there is an encoder for it.

    Parameters
    ----------
    stream : VideoStream
        The stream of the film.
    suffix : str
        Of the files to write.
    """

    def __init__(self, stream: Any, suffix: str) -> None:
        self.stream = stream
        name = stream.codec_context.codec.canonical_name
        self.codec = name if name in CODECS else "vp9" if suffix == ".webm" else "h264"
        self._context: VideoCodecContext | None = None
        self._quarter_turns = 0

    def turn_as(self, frame: VideoFrame) -> None:
        """Turn the pictures upright if the film says how, which another codec's stream cannot.

        Parameters
        ----------
        frame : VideoFrame
            A picture of the film, before any is encoded.
        """
        if not self.is_same_codec:
            self._quarter_turns = round(frame.rotation / 90) % 4

    @property
    def is_same_codec(self) -> bool:
        """Whether the stream has the codec of the encoder."""
        return bool(self.stream.codec_context.codec.canonical_name == self.codec)

    @property
    def can_join(self) -> bool:
        """Whether encoded packets can be joined to those of the film."""
        context = self.stream.codec_context
        is_alike = self.is_same_codec and context.pix_fmt == self._pixel_format
        return is_alike and self.codec in JOINABLE

    @property
    def _pixel_format(self) -> str:
        import av

        usable = av.codec.Codec(CODECS[self.codec][0], "w").video_formats or []
        given = self.stream.codec_context.pix_fmt
        return given if given in {form.name for form in usable} else "yuv420p"

    def add_to(self, container: OutputContainer, *, is_joined: bool) -> Any:
        """Add a stream to a container for what is encoded, and for what is copied if joined.

        Parameters
        ----------
        container : OutputContainer
            The new file.
        is_joined : bool
            Whether packets of the film are copied into it as well.
        """
        if not self.is_same_codec:
            name, options = CODECS[self.codec]
            target: Any = container.add_stream(name, self._rate, options=dict(options))
            self._configure(target.codec_context)
            return target
        target = container.add_stream_from_template(self.stream)
        if self.codec in ("h264", "hevc"):
            own = self._opened().extradata or b""
            film = annexb(self.stream.codec_context.extradata or b"") if is_joined else b""
            target.codec_context.extradata = film + own
        return target

    def _opened(self) -> VideoCodecContext:
        import av

        name, options = CODECS[self.codec]
        context = cast("VideoCodecContext", av.CodecContext.create(name, "w"))
        self._configure(context)
        context.options = dict(options)
        context.flags |= av.codec.context.Flags.global_header
        context.open()
        return context

    @property
    def _rate(self) -> Fraction:
        return Fraction(self.stream.average_rate or self.stream.base_rate or 25)

    def _configure(self, context: Any) -> None:
        given = self.stream.codec_context
        sides, shape = (given.width, given.height), given.sample_aspect_ratio
        if self._quarter_turns % 2:
            sides, shape = sides[::-1], shape and 1 / shape
        context.width, context.height = sides
        context.pix_fmt = self._pixel_format
        context.time_base = self.stream.time_base
        context.framerate = self._rate
        context.bit_rate = RATES.get(self.codec, 0)
        if shape:
            context.sample_aspect_ratio = shape
        for name in ("color_range", "color_primaries", "color_trc", "colorspace"):
            setattr(context, name, getattr(given, name))

    def encode(self, frame: VideoFrame, *, stamp: int) -> list[Any]:
        """Encode one picture; the first one, and the first after `flush`, needs no other.

        Parameters
        ----------
        frame : VideoFrame
            The picture.
        stamp : int
            When it is shown, in the time base of the stream.
        """
        if self._context is None:
            self._context = self._opened()
        context = self._context
        if self._quarter_turns:
            pixels = np.rot90(frame.to_ndarray(format="rgb24"), self._quarter_turns)
            upright = np.ascontiguousarray(pixels, dtype=np.uint8)
            frame = type(frame).from_ndarray(upright, "rgb24")
        picture = frame.reformat(width=context.width, height=context.height, format=context.pix_fmt)
        picture.pts, picture.time_base = stamp, self.stream.time_base
        picture.pict_type = NO_PICTURE_TYPE
        return self._whole(context.encode(picture))

    def flush(self) -> list[Any]:
        """Return the packets of all pictures that were given, and start anew."""
        if self._context is None:
            return []
        packets = self._whole(self._context.encode(None))
        self._context = None
        return packets

    def _whole(self, packets: list[Any]) -> list[Any]:
        """Repeat the parameters of H.264 at each key frame: those of the film may precede it."""
        import av

        if self.codec != "h264" or self._context is None:
            return packets
        found = []
        for packet in packets:
            whole = packet
            if packet.is_keyframe:
                whole = av.Packet((self._context.extradata or b"") + bytes(packet))
                whole.pts, whole.dts, whole.time_base = packet.pts, packet.dts, packet.time_base
                whole.is_keyframe = True
            found.append(whole)
        return found


def start_codes(stream: Any) -> Any:
    """Return a filter that gives packets of H.264 start codes, and key frames their parameters.

    Parameters
    ----------
    stream : VideoStream
        The stream of the packets.
    """
    from av.bitstream import BitStreamFilterContext

    return BitStreamFilterContext("h264_mp4toannexb", stream)


def annexb(extradata: bytes) -> bytes:
    """Return the parameter sets of H.264 with start codes, as in a stream.

    Parameters
    ----------
    extradata : bytes
        As a container stores them.
    """
    if extradata[:1] != b"\x01":
        return extradata
    found, place = b"", 5
    for most in (0x1F, 0xFF):  # the number of sequence sets has five bits
        n_sets = (extradata[place : place + 1] or b"\x00")[0] & most
        place += 1
        for _ in range(n_sets):
            size = int.from_bytes(extradata[place : place + 2], "big")
            found += START_CODE + extradata[place + 2 : place + 2 + size]
            place += 2 + size
    return found


def starts_anew(packet: Any) -> bool:
    """Return whether nothing from this packet on needs an earlier one.

    Parameters
    ----------
    packet : Packet
        A packet of a video.
    """
    context = packet.stream.codec_context
    if not packet.is_keyframe or context.codec.canonical_name != "h264":
        return bool(packet.is_keyframe)
    content, extradata = bytes(packet), context.extradata or b""
    if extradata[:1] != b"\x01":
        return any(unit[:1] and unit[0] & 31 == IDR for unit in content.split(b"\x00\x00\x01")[1:])
    width, place = (extradata[4] & 3) + 1, 0
    while place + width < len(content):
        if content[place + width] & 31 == IDR:
            return True
        place += width + int.from_bytes(content[place : place + width], "big")
    return False
