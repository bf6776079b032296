"""One photo or frame of a video, and the frames of one recording in order."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from pathlib import Path, PurePath
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from dayline.arrays import IntArray
from dayline.events import SkippedFile
from dayline.text import midnight, moment

RAW_SUFFIXES = frozenset(
    {".cr2", ".cr3", ".nef", ".arw", ".dng", ".orf", ".rw2", ".raf", ".pef", ".srw"}
)
PHOTO_SUFFIXES = RAW_SUFFIXES | frozenset(
    ".jpg .jpeg .jpe .mpo .png .webp .tif .tiff .gif .heic .heif .hif .avif".split()  # noqa: SIM905
)
VIDEO_SUFFIXES = frozenset(
    ".mp4 .m4v .mov .mkv .webm .avi .mpg .mpeg .ts".split()  # noqa: SIM905
    + ".m2ts .mts .wmv .flv .3gp .ogv .vob .mxf".split()  # noqa: SIM905
)
TABLE_SUFFIXES = (".npy", ".npz", ".csv", ".parquet")


def is_video_name(name: str) -> bool:
    """Return whether a file is named like a video."""
    return PurePath(name).suffix.lower() in VIDEO_SUFFIXES


NOON = 12 * 3600.0
NUMBERS = re.compile(r"([0-9]+)")


def shown_name(path: PurePath | str) -> str:
    """Make a name safe to display: one line, valid Unicode, forward slashes.

    Bytes that are not UTF-8, control characters and bidirectional marks become backslash escapes,
    and a backslash becomes two; letters of every script are kept. Different names stay different.
    The result is not escaped for HTML.
    """
    text = path.as_posix() if isinstance(path, PurePath) else path
    # fsdecode turns a byte that is not UTF-8 into one of the characters U+DC80 to U+DCFF.
    return "".join(_shown_character(c) for c in os.fsdecode(os.fsencode(text)))


def _shown_character(c: str) -> str:
    if "\udc80" <= c <= "\udcff":
        return f"\\x{ord(c) - 0xDC00:02x}"
    if c == "\\":
        return "\\\\"
    if c.isprintable():
        return c
    # Not \x80 for U+0080, which would look like the byte.
    return (
        f"\\u{ord(c):04x}" if 0x80 <= ord(c) <= 0xFF else c.encode("unicode_escape").decode("ascii")
    )


def natural_key(name: str) -> tuple[tuple[tuple[int, int, str], ...], ...]:
    """Sort key under which photo2 comes before photo10, folder by folder."""
    return tuple(_part_key(part) for part in name.split("/"))


def by_name(path: PurePath) -> tuple[tuple[tuple[int, int, str], ...], ...]:
    """Sort key that puts files in natural order of their names; see `natural_key`."""
    return natural_key(shown_name(path.name))


def _part_key(part: str) -> tuple[tuple[int, int, str], ...]:
    pieces = NUMBERS.split(part)
    # Every second piece is a number; numbers sort before words, as in ASCII.
    return tuple(
        (0, int(p), p) if i % 2 else (1, 0, p.casefold())
        for i, p in enumerate(pieces)
        if p or i % 2
    )


@dataclass(frozen=True)
class VideoFrame:
    """Position of a frame in its video.

    Attributes
    ----------
    stamp : int
        Presentation time stamp as stored in the file, in the time base of the stream; unique per
        frame.
    first_group, last_group : int
        First and last group of packets, each starting with a key frame, needed to decode the frame.
    shown_at : int
        When the frame is shown, in the same unit; differs from `stamp` if the stamp is wrong.
    """

    stamp: int
    first_group: int
    last_group: int
    shown_at: int


@dataclass(frozen=True)
class MissingFrames:
    """Frames that a damaged video no longer has.

    Attributes
    ----------
    first, last : float
        Seconds of the frames before and after; at its end, of its last frame and of its end.
    n_frames : int
        About how many frames are missing, by their usual distance.
    """

    first: float
    last: float
    n_frames: int


@dataclass(frozen=True)
class VideoIndex:
    """All frames of a video in display order, sampled or not.

    Attributes
    ----------
    rows : ndarray of int, shape (n_frames, 4)
        The four attributes of `VideoFrame`; a long film has too many frames for one object each.
    keys : mapping of int to int
        Stamp of the key frame that starts a group, for groups that a reader can seek to.
    time_base : Fraction
        Unit of the stamps in seconds.
    start : Fraction
        Stamp in seconds that times count from.
    missing : tuple of MissingFrames
        Frames that were lost.
    """

    rows: IntArray
    keys: Mapping[int, int]
    time_base: Fraction
    start: Fraction
    missing: tuple[MissingFrames, ...] = ()

    def seconds(self, frame: VideoFrame) -> float:
        """Return when a frame is shown, in seconds since the start."""
        return round(float(frame.shown_at * self.time_base - self.start), 6)

    def seconds_at(self, number: int) -> float:
        """Return when a frame is shown, by its number among all frames of the video."""
        return self.seconds(VideoFrame(*self.rows[number].tolist()))

    def between(self, first: float, last: float) -> tuple[VideoFrame, ...]:
        """Return all frames shown from `first` to `last`, both included, in seconds."""
        # Times of frames are rounded to the microsecond.
        slack = Fraction(1, 1_000_000)
        low, high = (
            float((Fraction(seconds) + side * slack + self.start) / self.time_base)
            for seconds, side in ((first, -1), (last, 1))
        )
        shown_at = self.rows[:, 3]
        start, stop = (
            np.searchsorted(shown_at, np.ceil(low)),
            np.searchsorted(shown_at, np.floor(high), side="right"),
        )
        return tuple(VideoFrame(*row) for row in self.rows[start:stop].tolist())


Image = NDArray[np.uint8]

Location: TypeAlias = tuple[float, float]
"""Latitude and longitude in degrees, north and east positive."""


@dataclass(frozen=True)
class Camera:
    """A camera, as far as its photos name it.

    Attributes
    ----------
    model : str
        Make and model, such as "Canon EOS 5D"; empty if unknown.
    serial : str
        Serial number of the body; empty if unknown.
    """

    model: str = ""
    serial: str = ""


@dataclass(frozen=True)
class CaptureTime:
    """A time on the camera's own clock.

    Attributes
    ----------
    seconds : float
        Since 1970, as if the camera's clock showed UTC.
    offset : float or None
        Seconds by which that clock is ahead of UTC, if the photo records it.
    is_utc : bool
        Whether `seconds` is UTC because no clock of a camera is known (Google Takeout). With an
        `offset`, `seconds` is the local time derived from it.
    """

    seconds: float
    offset: float | None = None
    is_utc: bool = False


@dataclass(frozen=True)
class Seen:
    """What one look at the pixels of a frame gives.

    Attributes
    ----------
    features : ndarray of float32, shape (n_features,)
        What the events are found by.
    signature : ndarray of uint8, shape (256,)
        Gray thumbnail that tells near-identical photos (see `dayline.media.breaks`).
    measures : ndarray of float32, shape (3,)
        What makes it worth showing (see `dayline.album.key_photos.measure_photo`).
    """

    features: NDArray[np.float32]
    signature: NDArray[np.uint8]
    measures: NDArray[np.float32]


@dataclass(frozen=True)
class Frame:
    """One photo, or one frame of a video.

    Attributes
    ----------
    name : str
        Safe to display (see `shown_name`).
    path : Path
        The photo, or the video.
    digest : str
        Identifies the content: a hash of the picture without its metadata; in a video, a hash of
        the video and the time in milliseconds. Empty if the photo was not read.
    time : float or None
        Seconds (see `FrameSequence.clock`), with `shift` added; None if unknown.
    date : str or None
        The date in its name, such as 2023-07-15, if its time is not known.
    shift : float
        Seconds that were added, since the camera's clock was wrong.
    taken : CaptureTime or None
        When the photo says that it was taken; its name may contain another time.
    camera : Camera
        What took the photo.
    clock : str
        Name of the camera if clocks are to be compared: "" stands for cameras whose clocks are
        right, "?" for a photo whose time cannot be compared.
    location : (float, float) or None
        Where the photo was taken.
    in_video : VideoFrame or None
        Position in the video.
    duration : float or None
        Seconds that a video among photos lasts; it is one frame, with one picture.
    live : Path or None
        The short video that a phone keeps beside a photo.
    aside : str
        What it is if it is not a photo of the day, such as "screenshot" (see `dayline.media.aside`).
    seen : Seen or None
        What its pixels gave; None if they were not decoded.
    """

    name: str
    path: Path
    digest: str = ""
    time: float | None = None
    date: str | None = None
    shift: float = 0.0
    taken: CaptureTime | None = None
    camera: Camera = Camera()
    clock: str = ""
    location: Location | None = None
    in_video: VideoFrame | None = None
    duration: float | None = None
    live: Path | None = None
    aside: str = ""
    seen: Seen | None = field(default=None, repr=False, compare=False)


def shifted(frame: Frame, seconds: float) -> Frame:
    """Add seconds to the time of a frame, since its camera's clock is wrong."""
    time = None if frame.time is None else frame.time + seconds
    return replace(frame, time=time, shift=frame.shift + seconds)


@dataclass(frozen=True)
class Photos:
    """The photos below a folder, in the order in which they were found.

    Attributes
    ----------
    root : Path
        The folder.
    frames : tuple of Frame
        The photos, with names relative to `root`; without times (see `FrameSequence`).
    skipped : tuple of SkippedFile
        Photos that cannot be read.
    notes : tuple of str
        What was assumed about time zones, and which other files are there.
    aside : tuple of Frame
        Screenshots and the like, which are in no event.
    """

    root: Path
    frames: tuple[Frame, ...]
    skipped: tuple[SkippedFile, ...] = ()
    notes: tuple[str, ...] = ()
    aside: tuple[Frame, ...] = ()


@dataclass(frozen=True)
class FrameSequence:
    """The frames of a source, in order.

    Attributes
    ----------
    source : Path
        The folder or the video.
    kind : {"photos", "video"}
        Kind of source.
    frames : tuple of Frame
    clock : {"wall", "media"} or None
        "wall": seconds since 1970 on the camera's own clock, or since midnight if the date is
        unknown; "media": seconds since the start of the recording; None: no times.
    order : str
        Text that describes the rule behind the order.
    notes : tuple of str
        Notes for the user: contradictions, clock jumps, skipped files.
    skipped : tuple of SkippedFile
        Files that cannot be used, with the reason.
    video : VideoIndex or None
        All frames of the video, of which `frames` are some (video only).
    aside : tuple of Frame
        Screenshots and the like, which are in no event (photos only).
    """

    source: Path
    kind: Literal["photos", "video"]
    frames: tuple[Frame, ...]
    clock: Literal["wall", "media"] | None
    order: str
    notes: tuple[str, ...] = ()
    skipped: tuple[SkippedFile, ...] = ()
    video: VideoIndex | None = field(default=None, repr=False, compare=False)
    aside: tuple[Frame, ...] = ()

    @property
    def n_frames(self) -> int:
        """Number of frames."""
        return len(self.frames)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Name of every frame."""
        return tuple(frame.name for frame in self.frames)

    @cached_property
    def times(self) -> tuple[float | None, ...] | None:
        """Time of every frame in seconds, None where it is not known; None if there are none."""
        return None if self.clock is None else tuple(frame.time for frame in self.frames)

    @cached_property
    def placed_times(self) -> tuple[float, ...] | None:
        """The times, and for frames without one where they stand between the others; never shown.

        That is noon of its date, or the time of the frame before if that is later. None if no frame
        has a time.
        """
        known = [time for time in self.times or () if time is not None]
        if not known:
            return None
        placed: list[float] = []
        last = known[0]
        for frame in self.frames:
            if frame.time is not None:
                last = frame.time
            elif frame.date is not None:
                last = max(last, midnight(frame.date) + NOON) if placed else midnight(frame.date)
            placed.append(last)
        return tuple(placed)

    @cached_property
    def dates(self) -> tuple[str | None, ...] | None:
        """Date of every frame, if only the date of some is known."""
        if all(frame.date is None for frame in self.frames):
            return None
        return tuple(
            frame.date if frame.time is None else str(moment(frame.time).date())
            for frame in self.frames
        )

    @cached_property
    def durations(self) -> tuple[float | None, ...] | None:
        """Seconds that each video among photos lasts; None if there is no video."""
        lengths = tuple(frame.duration for frame in self.frames)
        return lengths if any(length is not None for length in lengths) else None

    @cached_property
    def digests(self) -> tuple[str, ...]:
        """Hash of the content of every frame."""
        return tuple(frame.digest for frame in self.frames)

    @cached_property
    def paths(self) -> tuple[Path, ...]:
        """File of every frame."""
        return tuple(frame.path for frame in self.frames)

    @cached_property
    def locations(self) -> tuple[Location | None, ...]:
        """Location of every frame; empty if no frame has one."""
        places = tuple(frame.location for frame in self.frames)
        return places if any(place is not None for place in places) else ()


@dataclass(frozen=True)
class Also:
    """A second output size for the frames of a video, so that no frame is decoded twice.

    Attributes
    ----------
    size : int
        Shorter side in pixels.
    take : callable
        Called with the index and image of each frame before the first size is yielded.
    frames : container of int, optional
        Indices of the frames for which it is called; all by default.
    """

    size: int
    take: Callable[[int, Image], None]
    frames: Container[int] | None = None

    def __contains__(self, index: int) -> bool:
        """Return whether a frame is taken."""
        return self.frames is None or index in self.frames


def refuse_mostly_bad(source: Path, skipped: Sequence[SkippedFile], *, n_good: int) -> None:
    """Raise ValueError if more than half of the files or frames of a source cannot be used.

    Videos among photos do not count: another program may have given their suffixes to other files.
    """
    bad = [file for file in skipped if not is_video_name(file.name)]
    if len(bad) <= n_good:
        return

    first = bad[0]
    raise ValueError(
        f"{shown_name(source)}: {len(bad)} of {len(bad) + n_good} frames cannot be read,"
        f" more than half (first {first.name}: {first.why}); remove or repair them"
    )
