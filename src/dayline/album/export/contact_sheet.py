"""A contact sheet: the key photos of all events in one picture."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from dayline.album.export.chapters import event_titles, time_text
from dayline.album.export.photos import photo_path
from dayline.events import Segmentation
from dayline.events.table import same_place
from dayline.files import writing_whole
from dayline.installation import needs_extra
from dayline.media.faces import face_blurrer
from dayline.text import counted

if TYPE_CHECKING:
    from PIL import Image, ImageDraw, ImageFont

    from dayline.media.film_decode import VideoFile

    Font = ImageFont.FreeTypeFont | ImageFont.ImageFont

Pixels = NDArray[np.uint8]
Hide = Callable[[Pixels], Pixels]
"""Applied to a picture before it is shown, for example to blur faces."""


def photo_thumbnail(
    path: str | Path, size: tuple[int, int], *, hide: Hide | None = None
) -> Image.Image | None:
    """Read a photo upright and within `size`; None if it cannot be read.

    Parameters
    ----------
    path : str or Path
        The photo.
    size : tuple of int
        Largest width and height.
    hide : callable, optional
        Applied to the pixels before they are made small.
    """
    from dayline.media.decode import BadImageError, decode_photo

    try:
        # The detector would miss small faces in a smaller picture.
        pixels = decode_photo(Path(path), size=max(*size, 480 if hide else 0))
    except BadImageError:
        return None
    return _small(pixels, size, hide)


def video_thumbnails(
    path: str | Path, times: Sequence[float], size: tuple[int, int], *, hide: Hide | None = None
) -> list[Image.Image | None]:
    """Read the frame of a video at each time; None if there is none.

    Parameters
    ----------
    path : str or Path
        The video.
    times : sequence of float
        Seconds since its start.
    size : tuple of int
        Largest width and height.
    hide : callable, optional
        Applied to the pixels before they are made small.
    """
    from av.error import FFmpegError

    from dayline.media.film_decode import opened_video, refuse_huge_frames

    path = Path(path)
    try:
        with opened_video(path) as video:
            refuse_huge_frames(path, video)
            return [_frame_at(video, time, size, hide) for time in times]
    except FFmpegError as error:
        raise ValueError(f"{path} cannot be read as a video: {error.strerror}") from None


def _frame_at(
    video: VideoFile, time: float, size: tuple[int, int], hide: Hide | None
) -> Image.Image | None:
    import av

    start = (video.container.start_time or 0) / av.time_base
    video.container.seek(int((time + start) * av.time_base))
    for frame in video.container.decode(video.stream):
        if frame.time is not None and frame.time - start >= time - 0.0005:
            picture: Image.Image = frame.to_image()  # type: ignore[no-untyped-call]
            return _small(np.asarray(picture.rotate(frame.rotation, expand=True)), size, hide)
    return None


def _small(pixels: Pixels, size: tuple[int, int], hide: Hide | None) -> Image.Image:
    from PIL import Image

    picture = Image.fromarray(pixels if hide is None else hide(pixels))
    picture.thumbnail(size)
    return picture


LARGEST_TILE = 320
MOST_PIXELS = 40_000_000
MARGIN = 12
TEXT = 16
BACKGROUND, EMPTY = (250, 249, 246), (226, 224, 218)
INK, QUIET = (30, 30, 30), (110, 110, 110)
CONTEXT_COLOURS = (
    (0, 114, 178), (230, 159, 0), (0, 158, 115), (204, 121, 167),
    (86, 180, 233), (213, 94, 0), (240, 228, 66), (120, 120, 120),
)  # fmt: skip
"""The Okabe-Ito palette, which people with colour blindness can distinguish; it repeats after eight colours."""


@needs_extra("photos", "a contact sheet")
def write_contact_sheet(
    segmentation: Segmentation,
    path: str | Path,
    *,
    source: str | Path,
    columns: int | None = None,
    blur_faces: bool = False,
) -> Path:
    """Draw the key photo of every event with its title, time and context colour.

    A photo that cannot be read is drawn as an empty tile that says so.

    Parameters
    ----------
    segmentation : Segmentation
        Events; one without a key frame shows its middle frame.
    path : str or Path
        The PNG to write.
    source : str or Path
        The folder of photos, or the video, that was segmented.
    columns : int, optional
        Pictures per row. By default, as many as make the sheet about square, at most 8.
    blur_faces : bool
        Blur the faces that are found (extra "faces"); some are missed.
    """
    from PIL import Image, ImageFont

    path, source = Path(path), Path(source)
    n_events = len(segmentation.events)
    columns = columns or min(8, math.ceil(math.sqrt(n_events)))
    rows = math.ceil(n_events / columns)
    side = _tile_side(rows * columns)
    width, height = side + MARGIN, side * 3 // 4 + 3 * TEXT + MARGIN
    sheet = Image.new("RGB", (columns * width + MARGIN, rows * height + MARGIN), BACKGROUND)
    font = ImageFont.load_default(TEXT - 3)
    pictures = _key_pictures(segmentation, source, side, face_blurrer() if blur_faces else None)
    for number, tile in enumerate(_tiles(segmentation, pictures)):
        corner = (MARGIN + number % columns * width, MARGIN + number // columns * height)
        _draw(sheet, tile, corner=corner, side=side, font=font)
    with writing_whole(path, "wb") as file:
        sheet.save(file, format="PNG")
    return path


@dataclass(frozen=True)
class _Tile:
    """What the sheet shows for one event."""

    picture: Image.Image | None
    title: str
    about: str
    colour: tuple[int, int, int] | None


def _tile_side(n_tiles: int) -> int:
    """Return a tile size that keeps the sheet of a very long day small enough for image viewers."""
    return max(64, min(LARGEST_TILE, int(math.sqrt(MOST_PIXELS / n_tiles))))


def _key_pictures(
    segmentation: Segmentation, source: Path, side: int, hide: Hide | None
) -> list[Image.Image | None]:
    keys = [
        (e.start + e.stop) // 2 if e.key_frame is None else e.key_frame for e in segmentation.events
    ]
    outside = [k for k in keys if not 0 <= k < segmentation.n_frames]
    if outside:
        raise ValueError(
            f"key frame {outside[0]} is not one of the {segmentation.n_frames} frames; repair the"
            " events file"
        )
    size = (side, side * 3 // 4)
    if segmentation.names is not None and source.is_dir():
        return [
            photo_thumbnail(photo_path(segmentation.names[k], source=source), size, hide=hide)
            for k in keys
        ]
    if segmentation.times is not None and segmentation.clock == "media" and source.is_file():
        return video_thumbnails(source, [segmentation.times[k] for k in keys], size, hide=hide)
    raise ValueError(
        f"a contact sheet needs the photos or the video of these events; {source} is neither"
    )


def _tiles(segmentation: Segmentation, pictures: Sequence[Image.Image | None]) -> list[_Tile]:
    same = same_place(segmentation.events, segmentation.places)
    order = {context: k for k, context in enumerate(dict.fromkeys(same.values()))}
    tiles = []
    for event, time, title, picture in zip(
        segmentation.events,
        (
            segmentation.start_times
            if segmentation.times is not None
            else (None,) * len(segmentation.events)
        ),
        event_titles(segmentation),
        pictures,
        strict=True,
    ):
        frames = counted(event.n_frames, "frame")
        about = ", ".join(
            part for part in (time_text(segmentation, time, digits=0), frames) if part
        )
        colour = None
        if event.community is not None:
            colour = CONTEXT_COLOURS[order[same[event.community]] % len(CONTEXT_COLOURS)]
        tiles.append(_Tile(picture, title, about, colour))
    return tiles


def _draw(
    sheet: Image.Image, tile: _Tile, *, corner: tuple[int, int], side: int, font: Font
) -> None:
    from PIL import ImageDraw

    draw = ImageDraw.Draw(sheet)
    (x, y), height = corner, side * 3 // 4
    draw.rectangle((x, y, x + side - 1, y + height - 1), fill=EMPTY)
    if tile.picture is None:
        draw.text((x + 8, y + 8), "cannot be read", font=font, fill=QUIET)
    else:
        place = (x + (side - tile.picture.width) // 2, y + (height - tile.picture.height) // 2)
        sheet.paste(tile.picture, place)
    y += height
    if tile.colour:
        draw.rectangle((x, y, x + side - 1, y + 3), fill=tile.colour)
    draw.text((x, y + 7), _fit(draw, font, tile.title, side), font=font, fill=INK)
    draw.text((x, y + 7 + TEXT), _fit(draw, font, tile.about, side), font=font, fill=QUIET)


def _fit(draw: ImageDraw.ImageDraw, font: Font, text: str, width: int) -> str:
    if draw.textlength(text, font=font) <= width:
        return text
    while text and draw.textlength(f"{text}...", font=font) > width:
        text = text[: len(text) * 9 // 10]
    return f"{text}..."
