"""Films: what their headers say, and copies of them with chapters, without encoding again."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from dayline.album.export.chapters import chapters, milliseconds
from dayline.events import Segmentation
from dayline.files import writing_whole
from dayline.installation import needs_extra
from dayline.text import clock_text

if TYPE_CHECKING:
    from av.container import InputContainer, OutputContainer

    from dayline.album.export.encode import PictureEncoder

CONTAINERS = {".mp4": "mp4", ".m4v": "mp4", ".mov": "mov", ".mkv": "matroska", ".webm": "webm"}
COPIED = ("video", "audio", "subtitle")

# Containers whose duration is usually the time of the end, even if the recording starts later.
COUNTED_FROM_ZERO = ("matroska", "asf")

# Seconds by which the lengths of two copies of a film may differ: sound often outlasts the picture.
LENGTHS_DIFFER = 5.0

# The mean rate of a film with a steady rate differs a little: the last frame has no length.
STEADY = 0.001

# Packets at the start of a stream whose decoding time may be unknown; codecs reorder at most 16.
MOST_WAITING = 32

log = logging.getLogger(__name__)


@needs_extra("photos", "copying a video")
def write_chapters(
    video: str | Path, segmentation: Segmentation, output: str | Path, *, fps: float | None = None
) -> Path:
    """Copy a video with one chapter per event; video and audio are copied bit for bit.

    Existing chapters are replaced. Streams other than video, audio and subtitles (data,
    attachments) are left out, with a warning in the log.

    Parameters
    ----------
    video : str or Path
        The video that was segmented.
    segmentation : Segmentation
        Its events, with times unless `fps` is given.
    output : str or Path
        The copy: .mp4, .m4v, .mov, .mkv or .webm.
    fps : float, optional
        Frames per second: frame k is at k / fps, in place of its time.
    """
    import av

    from dayline.media.film_decode import opened_video

    video, output = Path(video), Path(output)
    kind = CONTAINERS.get(output.suffix.lower())
    if kind is None:
        raise ValueError(f"{output.name}: cannot hold chapters; use one of {', '.join(CONTAINERS)}")
    if output.exists() and output.samefile(video):
        raise ValueError(
            f"{output} is the video itself, which is never changed; choose another name"
        )
    if fps is None:
        check_is_film_of(segmentation, video)
    try:
        with opened_video(video) as opened, writing_whole(output, "wb") as file:
            original = opened.container
            film = film_facts(video)
            duration = film.duration if fps is not None else film_end(segmentation, film)
            first, *others = chapters(segmentation, fps=fps, duration=duration)
            # The first chapter covers the start of the video.
            marks = (replace(first, start=0.0), *others)
            streams = [stream for stream in original.streams if stream.type in COPIED]
            if not original.chapters():
                # In MP4, old chapters are such a stream; the new ones replace it.
                for stream in original.streams:
                    if stream not in streams:
                        log.warning(
                            "%s stream %d is left out of the copy", stream.type, stream.index
                        )

            zero = film_start(original)
            with closing(FilmCopy(file, original, streams, kind=kind, zero=zero)) as copy:
                copy.container.set_chapters(
                    [
                        {
                            "id": number,
                            "start": milliseconds(mark.start),
                            "end": milliseconds(mark.end),
                            "time_base": Fraction(1, 1000),
                            "metadata": {"title": mark.title},
                        }
                        for number, mark in enumerate(marks, start=1)
                    ]
                )
                for packet in stamped(original.demux(streams)):
                    copy.add(packet)
    except av.FFmpegError as error:
        raise ValueError(f"{video} cannot be copied to {output.name}: {error.strerror}") from None
    return output


def chaptered_name(video: Path) -> str:
    """Return the file name of the copy with chapters: Matroska if a container cannot hold them."""
    suffix = video.suffix.lower() if video.suffix.lower() in CONTAINERS else ".mkv"
    return f"{video.stem}-chapters{suffix}"


class FilmCopy:
    """A video that streams of another one are copied into, bit for bit.

    Parameters
    ----------
    file : binary file
        Where to write; the caller closes it.
    original : InputContainer
        The video to copy.
    streams : sequence of Stream
        Its streams to copy.
    kind : str
        The container, as FFmpeg names it.
    zero : Fraction
        The time in the original, in seconds, that becomes zero in the copy.
    encoder : PictureEncoder, optional
        Encodes pictures that are not copied.
    is_joined : bool
        Whether some pictures are copied and others encoded.

    Raises
    ------
    ValueError
        If the container cannot store a stream.
    """

    def __init__(
        self,
        file: IO[bytes],
        original: InputContainer,
        streams: Sequence[Any],
        *,
        kind: str,
        zero: Fraction,
        encoder: PictureEncoder | None = None,
        is_joined: bool = False,
    ) -> None:
        import av

        self.file = file
        self.container: OutputContainer = av.open(file, "w", format=kind)
        self.container.metadata.update(original.metadata)
        self._zero = zero
        self._targets: dict[int, Any] = {}
        for stream in streams:
            try:
                if stream.type == "video" and encoder is not None:
                    target = encoder.add_to(self.container, is_joined=is_joined)
                else:
                    target = _copied_stream(self.container, stream)
            except ValueError as error:
                self.container.close()
                raise ValueError(
                    f"{stream.type} stream {stream.index} cannot be stored in {kind} ({error});"
                    " use .mkv"
                ) from None
            target.metadata.update(stream.metadata)
            target.disposition = stream.disposition
            self._targets[stream.index] = target

    def close(self) -> None:
        """Finish the container."""
        self.container.close()

    def add(self, packet: Any) -> None:
        """Write a packet, which then belongs to the copy."""
        shift = round(self._zero / packet.time_base)
        packet.dts -= shift
        packet.pts = None if packet.pts is None else packet.pts - shift
        packet.stream = self._targets[packet.stream.index]
        self.container.mux(packet)


def _copied_stream(container: OutputContainer, stream: Any) -> Any:
    import av

    try:
        return container.add_stream_from_template(stream)
    except av.codec.codec.UnknownCodecError:
        # PyAV looks for an encoder, which copying does not need; AV1 has none of that name.
        return container.add_stream_from_template(stream, opaque=True)


def film_start(container: InputContainer) -> Fraction:
    """Return the time in seconds that players show as zero."""
    import av

    return Fraction(container.start_time or 0, av.time_base)


@dataclass(frozen=True)
class FilmFacts:
    """What editors and chapter files need to know about a video.

    Attributes
    ----------
    rate : Fraction or None
        Frames per second; None if they vary.
    duration : float or None
        Seconds from its start to its end.
    width, height : int
        Size of the picture.
    has_audio : bool
        Whether it has sound.
    """

    rate: Fraction | None
    duration: float | None
    width: int
    height: int
    has_audio: bool


@needs_extra("photos", "reading a video")
def film_facts(video: str | Path) -> FilmFacts:
    """Read the header of a video.

    Parameters
    ----------
    video : str or Path
        The video.
    """
    from dayline.media.film_decode import opened_video

    with opened_video(Path(video)) as opened:
        stream, container = opened.stream, opened.container
        average, base = stream.average_rate, stream.base_rate
        return FilmFacts(
            rate=Fraction(base) if average and base and abs(average / base - 1) < STEADY else None,
            duration=_length(container),
            width=stream.width,
            height=stream.height,
            has_audio=bool(container.streams.audio),
        )


def check_is_film_of(segmentation: Segmentation, video: Path) -> None:
    """Raise if this cannot be the video of these events: another film, of another length.

    A copy in another encoding has the same length, to within a few seconds of sound.

    Parameters
    ----------
    segmentation : Segmentation
        Events of a video, or of photos or features that were recorded with it.
    video : Path
        The video to check.
    """
    from dayline.media.film import film_digest
    from dayline.media.film_decode import opened_video

    times = segmentation.all_times
    if times is None:
        return
    is_of_video = segmentation.clock == "media"
    if is_of_video and segmentation.digests is not None:
        film, _, time = segmentation.digests[0].partition(":")
        if time and film == film_digest(video):
            return

    with opened_video(video) as opened:
        if opened.container.duration is None:
            return
        length = opened.container.duration / 1e6
        start = (opened.container.start_time or 0) / 1e6
    first = 0.0 if is_of_video else min(times)
    last = (times[-1] if is_of_video else max(times)) - first
    # Some containers count from zero, even if the recording starts later.
    apart = min(abs(length - last), abs(length - start - last))
    between = last / max(1, segmentation.n_frames - 1)
    if apart <= between + max(LENGTHS_DIFFER, 0.02 * length):
        return

    raise ValueError(
        f"{video.name} lasts {clock_text(length)}, but the events of"
        f" {segmentation.source or 'another recording'} span {clock_text(last)}; pass the video"
        " that was segmented, or none (--source)"
    )


def film_end(segmentation: Segmentation, film: FilmFacts) -> float | None:
    """Return the end of a video in seconds; None if it is unknown.

    The header of a damaged file may give a length that its frames exceed.

    Parameters
    ----------
    segmentation : Segmentation
        The events of the video.
    film : FilmFacts
        What its header says.
    """
    times = segmentation.all_times
    if times is None or film.duration is None:
        return film.duration
    first = 0.0 if segmentation.clock == "media" else times[0]
    return film.duration if film.duration > times[-1] - first else None


def _length(container: InputContainer) -> float | None:
    """Return the seconds from the start of a video to its end; None if it does not declare them."""
    if container.duration is None:
        return None
    declared, start = container.duration / 1e6, (container.start_time or 0) / 1e6
    from_zero = any(name in container.format.name for name in COUNTED_FROM_ZERO)
    return declared - start if from_zero and 0 < start < declared else declared


def stamped(packets: Iterable[Any]) -> Iterator[Any]:
    """Yield packets with their decoding times.

    Matroska does not store them, and readers cannot tell the first ones.

    Parameters
    ----------
    packets : iterable of Packet
        The packets of a file, in order. The empty ones that end streams are left out.
    """
    waiting: dict[int, list[Any]] = {}
    started: set[int] = set()
    for packet in packets:
        index = packet.stream.index
        if packet.dts is None and packet.pts is None:
            continue
        if (
            packet.dts is None
            and index not in started
            and len(waiting.get(index, ())) < MOST_WAITING
        ):
            waiting.setdefault(index, []).append(packet)
            continue
        if packet.dts is None:
            packet.dts = packet.pts
        held = waiting.pop(index, [])
        for k, earlier in enumerate(held):
            earlier.dts = packet.dts - (len(held) - k) * max(earlier.duration or 1, 1)
        started.add(index)
        yield from (*held, packet)
    for held in waiting.values():
        for packet in held:
            packet.dts = packet.pts
            yield packet
