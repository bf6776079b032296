"""A copy of the video with chapters: remuxed, not re-encoded."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dayline.album.export.chapters import Chapter, chapters, milliseconds
from dayline.events import Segmentation
from dayline.files import writing_whole
from dayline.installation import needs_extra
from dayline.text import clock_text

if TYPE_CHECKING:
    from av.container import InputContainer, OutputContainer

CONTAINERS = {
    ".mp4": "mp4",
    ".m4v": "mp4",
    ".mov": "mov",
    ".mkv": "matroska",
    ".webm": "webm",
}
MOST_WAITING = 32
"""Packets at the start of a stream whose decoding time may be unknown; codecs reorder at most 16 frames."""
STEADY = 0.001
"""Part by which the mean rate of a film with a steady rate may differ, because the last frame has no length."""
LENGTHS_DIFFER = 5.0
"""Seconds by which the lengths of two copies of a film may differ: sound often outlasts the picture."""
COPIED = ("video", "audio", "subtitle")
COUNTED_FROM_ZERO = ("matroska", "asf")
"""Containers whose duration is usually the time of the end, even if the recording starts later than zero."""

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
            last = segmentation.times[-1] if fps is None and segmentation.times else 0.0
            duration = _length(original, at_least=last)
            first, *others = chapters(segmentation, fps=fps, duration=duration)
            marks = (
                replace(first, start=0.0),
                *others,
            )  # the first chapter covers the start of the video
            with av.open(file, "w", format=kind) as copy:
                _remux(original, copy, marks)
    except av.FFmpegError as error:
        raise ValueError(f"{video} cannot be copied to {output.name}: {error.strerror}") from None
    return output


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
    """Raise if this cannot be the video of these events: it has another size, and another length.

    A copy in another encoding has the same length, to within a few seconds of sound.

    Parameters
    ----------
    segmentation : Segmentation
        Events of a video, or of photos or features that were recorded with it.
    video : Path
        The video to check.
    """
    if segmentation.times is None:
        return
    is_of_video = segmentation.clock == "media"
    if (
        is_of_video
        and segmentation.sizes is not None
        and segmentation.sizes[0] == video.stat().st_size
    ):
        return
    from dayline.media.film_decode import opened_video

    with opened_video(video) as opened:
        start, length = (
            stamp and stamp / 1e6
            for stamp in (opened.container.start_time, opened.container.duration)
        )
    last = (
        segmentation.times[-1] if is_of_video else max(segmentation.times) - min(segmentation.times)
    )
    # Some containers count from zero, even if the recording starts later.
    apart = min(abs((length or last) - last), abs((length or last) - (start or 0.0) - last))
    between = last / max(1, segmentation.n_frames - 1)
    if length is not None and apart > between + max(LENGTHS_DIFFER, 0.02 * length):
        if is_of_video:
            what = (
                f"of {segmentation.source or 'a video'}, whose last frame is at {clock_text(last)}"
            )
            remedy = "pass the video that was segmented"
        else:
            kind = "features" if segmentation.names is None else "photos"
            what, remedy = (
                f"of {kind} that span {clock_text(last)}",
                "leave out the source (--source)",
            )
        raise ValueError(
            f"{video.name} lasts {clock_text(length)}, but these events are {what}; {remedy}"
        )


def _length(container: InputContainer, *, at_least: float = 0.0) -> float | None:
    """Return the seconds from the start of a video to its end; None if it does not declare them."""
    if container.duration is None:
        return None
    declared, start = container.duration / 1e6, (container.start_time or 0) / 1e6
    from_zero = any(name in container.format.name for name in COUNTED_FROM_ZERO)
    # Some programs store the length; then there are frames beyond the end without the start.
    return declared - start if from_zero and 0 < start < declared - at_least else declared


def _remux(original: InputContainer, copy: OutputContainer, marks: tuple[Chapter, ...]) -> None:
    import av

    copy.metadata.update(original.metadata)
    copy.set_chapters([_chapter(mark, number) for number, mark in enumerate(marks)])
    targets: dict[int, Any] = {}
    for stream in original.streams:
        if stream.type not in COPIED:
            # In MP4, the old chapters are such a stream; the new ones replace it.
            if not original.chapters():
                log.warning("%s stream %d is left out of the copy", stream.type, stream.index)
            continue
        target = add_stream(copy, stream)
        target.metadata.update(stream.metadata)
        target.disposition = stream.disposition
        targets[stream.index] = target
    start = Fraction(original.start_time or 0, av.time_base)
    for packet in stamped(original.demux([original.streams[k] for k in targets])):
        # The copy starts at zero, as the chapters do.
        shift = round(start / packet.time_base)
        packet.dts -= shift
        packet.pts = None if packet.pts is None else packet.pts - shift
        packet.stream = targets[packet.stream.index]
        copy.mux(packet)


def stamped(packets: Iterable[Any]) -> Iterator[Any]:
    """Yield packets that have a decoding time; Matroska does not store it, and readers cannot tell the first ones.

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


def add_stream(copy: OutputContainer, stream: Any) -> Any:
    """Add a stream like `stream` to a copy; raise if its container cannot store it."""
    try:
        return copy.add_stream_from_template(stream)
    except ValueError as error:
        msg = (
            f"{stream.type} stream {stream.index} cannot be stored in {copy.format.name} ({error});"
            " use .mkv"
        )
        raise ValueError(msg) from None


def _chapter(mark: Chapter, number: int) -> Any:
    return {
        "id": number + 1,
        "start": milliseconds(mark.start),
        "end": milliseconds(mark.end),
        "time_base": Fraction(1, 1000),
        "metadata": {"title": mark.title},
    }
