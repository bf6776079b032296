"""One page to give away, with the photos of events and their story, in one file or a folder.

It contains nothing but what it shows: no original file, no metadata, no path, nothing hidden.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from io import BytesIO
from math import sqrt
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dayline.album.export.photos import photo_path
from dayline.album.export.table import place_name
from dayline.album.page.page import dates_heading, day_heading
from dayline.album.page.template import render
from dayline.events import Event, Segmentation
from dayline.files import write_text_whole
from dayline.media.frame import shown_name
from dayline.progress import OnStep, no_report
from dayline.text import counted, moment

if TYPE_CHECKING:
    from PIL import Image

MOST_IN_STORY = 6
"""Photos of one event in the story."""

MOST_VIDEOS = 3
"""Videos of one event in the story, the longest ones."""

SIDE = 1600
"""Pixels of the longer side of a picture, if there is room for it."""

LEAST_SIDE = 360
"""Rather than smaller pictures, a page has fewer."""

FILE_BYTES = 20e6
"""As much as can be sent."""

PAGE_BYTES, PHOTO_BYTES = 60_000, 600
"""What the page takes besides its pictures, at most: by itself, and for each of them."""

QUALITY = 80
IN_TEXT = 4 / 3
"""Characters per byte of a picture that is written as text."""

Pixels = NDArray[np.uint8]


@dataclass(frozen=True)
class SharedDay:
    """Photos to be shown, of one result.

    Attributes
    ----------
    segmentation : Segmentation
        The events, without hidden photos (see `without_hidden`).
    source : Path or None
        The folder of the photos; if None, only small pictures are used.
    small : mapping of int to Path
        Small pictures of frames, for those whose photo cannot be read.
    is_blurred : bool
        Whether faces are blurred in the small pictures.
    """

    segmentation: Segmentation
    source: Path | None = None
    small: Mapping[int, Path] = field(default_factory=dict)
    is_blurred: bool = False


@dataclass(frozen=True)
class Written:
    """What was written.

    Attributes
    ----------
    n_photos, n_all : int
        Photos on the page, and photos that it could show.
    side : int
        Pixels of the longer side of the largest picture.
    n_bytes : int
        Size of the page with its pictures and videos.
    n_videos, n_playable : int
        Videos that are shown, and those of them that play; a picture stands for the others.
    """

    n_photos: int
    n_all: int
    side: int
    n_bytes: int
    n_videos: int = 0
    n_playable: int = 0


@dataclass(frozen=True)
class Telling:
    """What a page says besides pictures, times, and the names of events.

    Attributes
    ----------
    title : str
        Heading; empty for the dates.
    places : bool
        Names of places and towns.
    locations : bool
        Coordinates.
    names : bool
        Names of the files.
    """

    title: str = ""
    places: bool = False
    locations: bool = False
    names: bool = False


def best_frames(segmentation: Segmentation, event: Event, most: int) -> list[int]:
    """Return the key photo of an event, its favorites, and others spread over it, in order."""
    favorites = set(segmentation.favorites)
    frames = range(event.start, event.stop)
    key = frames[len(frames) // 2] if event.key_frame is None else event.key_frame
    liked = [frame for frame in frames if frame in favorites and frame != key]
    others = [frame for frame in frames if frame not in favorites and frame != key]
    best = [key, *_spread(liked, most - 1)]
    return sorted([*best, *_spread(others, most - len(best))])


def _spread(frames: Sequence[int], most: int) -> list[int]:
    n = min(max(most, 0), len(frames))
    return [frames[i * len(frames) // n] for i in range(n)]


def write_story(
    days: Sequence[SharedDay],
    path: Path,
    *,
    folder: Path | None = None,
    telling: Telling | None = None,
    best_only: bool = False,
    blur: Callable[[Pixels], Pixels] | None = None,
    max_bytes: float | None = None,
    on_step: OnStep = no_report,
) -> Written:
    """Write the page.

    Parameters
    ----------
    days : sequence of SharedDay
        The days, in order.
    path : Path
        The page.
    folder : Path, optional
        Where to put the pictures and videos, beside the page; by default the pictures are in the
        page itself, and videos are not.
    telling : Telling, optional
        What the page says.
    best_only : bool
        Show only the photos of the story.
    blur : callable, optional
        Blurs faces in a picture; then no video plays.
    max_bytes : float, optional
        Largest size of the page with its pictures: they are reduced until they fit, and if that is
        not enough, events show fewer. By default 20 MB with the pictures in it, else any size.
    on_step : callable
        Called as on_step("pictures", done, total).
    """
    telling = telling or Telling()
    if max_bytes is None:
        max_bytes = FILE_BYTES if folder is None else float("inf")
    n_all = sum(day.segmentation.n_frames for day in days)
    most = (
        MOST_IN_STORY if best_only else max(e.n_frames for d in days for e in d.segmentation.events)
    )
    side = SIDE
    while True:
        chosen = [
            (day, frame)
            for day in days
            for event in day.segmentation.events
            for frame in best_frames(day.segmentation, event, most)
        ]
        store = _Store(folder, max_bytes - PAGE_BYTES - PHOTO_BYTES * len(chosen))
        for done, (day, frame) in enumerate(chosen):
            on_step("pictures", done, len(chosen))
            store.add(day, frame, _read(day, frame, side, blur), side)
            if store.n_bytes > store.most_bytes:
                break
        else:
            break

        excess = store.n_bytes * len(chosen) / (done + 1) / max(store.most_bytes, 1.0)
        side = min(int(0.95 * store.side / sqrt(excess)), store.side - 1)
        if side < LEAST_SIDE:
            if most <= 1:
                raise ValueError(
                    f"{counted(len(chosen), 'photo')}, one of each event, take more than"
                    f" {max_bytes / 1e6:g} MB; choose events (--events), days (--days), or a larger"
                    " size (--max-mb)"
                )
            most = min(most - 1, max(1, int(most * (side / LEAST_SIDE) ** 2)))
            side = LEAST_SIDE

    if not store.addresses:
        raise ValueError("there are no pictures of these photos; pass the photos as --source")
    videos = [
        (day, frame)
        for day, frame in chosen
        if _seconds(day, frame) is not None and (id(day), frame) in store.addresses
    ]
    if folder is not None and blur is None:
        for done, (day, frame) in enumerate(videos):
            on_step("videos", done, len(videos))
            store.add_video(day, frame)
    shown = [_day_content(day, store, telling) for day in days]
    n_photos = len(store.addresses)
    dates = [date for day in days for date in day.segmentation.date_span or ()]
    content = {
        "title": telling.title or (dates_heading(min(dates), max(dates)) if dates else "Photos"),
        "facts": ", ".join(
            counted(n, what)
            for n, what in ((n_photos - len(videos), "photo"), (len(videos), "video"))
            if n
        ),
        "embedded": folder is None,
        "days": [
            {"heading": day_heading(day.segmentation) if len(days) > 1 else None, "events": events}
            for day, events in zip(days, shown, strict=True)
            if events
        ],
    }
    text = render("share", content)
    write_text_whole(path, text)
    n_bytes = len(text.encode()) + (0 if folder is None else int(store.n_bytes))
    return Written(n_photos, n_all, store.side, n_bytes, len(videos), len(store.videos))


class _Store:
    """The encoded pictures: in a folder, or as text for the page."""

    def __init__(self, folder: Path | None, most_bytes: float) -> None:
        self.folder = folder
        self.most_bytes = most_bytes
        self.n_bytes = 0.0
        self.side = 0
        self.addresses: dict[tuple[int, int], str] = {}
        self.ratios: dict[tuple[int, int], float] = {}
        self.videos: dict[tuple[int, int], str] = {}

    def add(self, day: SharedDay, frame: int, picture: Image.Image | None, side: int) -> None:
        """Keep a picture of at most this many pixels."""
        if picture is None:
            return
        from PIL import Image

        picture.thumbnail((side, side), Image.Resampling.LANCZOS, reducing_gap=2.0)
        buffer = BytesIO()
        picture.save(buffer, "JPEG", quality=QUALITY, progressive=True)
        content = buffer.getvalue()
        key = id(day), frame
        if self.folder is None:
            self.n_bytes += IN_TEXT * len(content)
            text = base64.b64encode(content).decode("ascii")
            self.addresses[key] = f"data:image/jpeg;base64,{text}"
        else:
            self.n_bytes += len(content)
            self.addresses[key] = f"{self.folder.name}/{len(self.addresses) + 1:04d}.jpg"
            (self.folder.parent / self.addresses[key]).write_bytes(content)
        self.ratios[key] = round(picture.width / picture.height, 3)
        self.side = max(self.side, *picture.size)

    def add_video(self, day: SharedDay, frame: int) -> None:
        """Keep a video, encoded anew, if the frame is one that can be reached and has room."""
        from dayline.album.export.shared_video import LONGEST, write_small_video
        from dayline.media.videos import read_video_frame

        found, key = day.segmentation, (id(day), frame)
        seconds = _seconds(day, frame)
        if seconds is None or seconds > LONGEST:
            return
        if day.source is None or found.names is None or self.folder is None or day.is_blurred:
            return
        name = found.names[frame]
        path = self.folder / f"{len(self.videos) + 1:04d}.mp4"
        try:
            original = photo_path(name, source=day.source)
            # Another video of the same name may be one that is hidden.
            read, _ = read_video_frame(original, name)
            if found.digests is not None and read.digest != found.digests[frame]:
                return
            write_small_video(original, path)
        except (ValueError, OSError):  # the picture shows it
            path.unlink(missing_ok=True)
            return
        n_bytes = path.stat().st_size
        if self.n_bytes + n_bytes > self.most_bytes:
            path.unlink()
            return
        self.n_bytes += n_bytes
        self.videos[key] = f"{self.folder.name}/{path.name}"


def _seconds(day: SharedDay, frame: int) -> float | None:
    """Return how long a video lasts; None for a photo."""
    durations = day.segmentation.durations
    return None if durations is None else durations[frame]


def _read(
    day: SharedDay, frame: int, side: int, blur: Callable[[Pixels], Pixels] | None
) -> Image.Image | None:
    """Return the picture of a frame: the photo itself if it still is the same, else the small one.

    Only the pixels: no metadata.
    """
    from PIL import Image

    from dayline.media.decode import BadImageError, decode_photo, read_photo

    segmentation, small = day.segmentation, day.small.get(frame)
    pixels: Pixels | None = None
    is_blurred = False
    if day.source is not None and segmentation.names is not None and _seconds(day, frame) is None:
        name = segmentation.names[frame]
        try:
            read, found = read_photo(photo_path(name, source=day.source), name, size=side)
            # Another photo of the same name may be one that is hidden.
            is_same = segmentation.digests is None or read.digest == segmentation.digests[frame]
            pixels = found if is_same else None
        except (BadImageError, ValueError, OSError):
            pixels = None
    if pixels is None and small is not None:
        try:
            pixels, is_blurred = decode_photo(small, size=side), day.is_blurred
        except BadImageError:
            return None
    if pixels is None:
        return None
    return Image.fromarray(pixels if blur is None or is_blurred else blur(pixels))


def _day_content(day: SharedDay, store: _Store, telling: Telling) -> list[dict[str, Any]]:
    """Return what the page shows of the events of a day that have a picture."""
    segmentation = day.segmentation
    times = zip(segmentation.start_times, segmentation.stop_times, strict=True)
    found = []
    for number, (event, (start, stop)) in enumerate(
        zip(segmentation.events, times, strict=True), 1
    ):
        frames = [f for f in range(event.start, event.stop) if (id(day), f) in store.addresses]
        if not frames:
            continue

        when = _when(segmentation, start, stop)
        place = place_name(segmentation, event) if telling.places else ""
        town = event.town if telling.places else None
        country = event.country if telling.places else None
        about = [when, *dict.fromkeys((place, town, country))]
        if telling.locations and event.location is not None:
            about.append("{:.4f}, {:.4f}".format(*event.location))
        best = set(best_frames(segmentation, event, MOST_IN_STORY)).intersection(frames)
        videos = [frame for frame in frames if (id(day), frame) in store.videos]
        videos.sort(key=lambda frame: _seconds(day, frame) or 0.0, reverse=True)
        best.update(videos[:MOST_VIDEOS])

        found.append(
            {
                "title": event.name or when or f"Event {number}",
                "is_unnamed": event.name is None and segmentation.clock == "wall",
                "start": "" if start is None else start,
                "stop": "" if stop is None else stop,
                "place": place,
                "town": town or "",
                "about": " · ".join(filter(None, about)),
                "photos": [
                    {
                        "address": store.addresses[id(day), frame],
                        "ratio": store.ratios[id(day), frame],
                        "label": _label(day, frame, telling),
                        "video": store.videos.get((id(day), frame), ""),
                        "length": _length(day, frame),
                        "is_best": frame in best or not best,
                        "is_key": frame == event.key_frame,
                    }
                    for frame in frames
                ],
            }
        )
    return found


def _when(segmentation: Segmentation, start: float | None, stop: float | None) -> str:
    if segmentation.clock != "wall" or start is None or stop is None:
        return ""
    first, last = f"{moment(start):%H:%M}", f"{moment(stop):%H:%M}"
    return first if first == last else f"{first} – {last}"


def _length(day: SharedDay, frame: int) -> str:
    """Return how long a video lasts, such as 0:12; nothing for a photo."""
    seconds = _seconds(day, frame)
    return "" if seconds is None else "{}:{:02d}".format(*divmod(max(1, round(seconds)), 60))


def _label(day: SharedDay, frame: int, telling: Telling) -> str:
    """Return what stands for a picture where it cannot be seen."""
    segmentation, length = day.segmentation, _length(day, frame)
    time = None if segmentation.times is None else segmentation.times[frame]
    when = _when(segmentation, time, time)
    name = shown_name(segmentation.names[frame]) if telling.names and segmentation.names else ""
    what = f"video of {length}" if length else ""
    return ", ".join(filter(None, (when, what, name))) or f"Photo {frame + 1}"
