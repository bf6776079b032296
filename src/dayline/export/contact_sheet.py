"""A contact sheet: the key photo of every event on one picture."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING

from dayline.events import Segmentation
from dayline.export.photos import photo_path
from dayline.export.pictures import photo_thumbnail, video_thumbnails
from dayline.export.titles import context_letters, event_title, time_text
from dayline.files import writing_whole

if TYPE_CHECKING:
    from PIL import Image, ImageDraw, ImageFont

__all__ = ["write_contact_sheet"]

LARGEST_TILE = 320
MOST_PIXELS = 40_000_000
MARGIN = 12
TEXT = 16
BACKGROUND, INK, QUIET = (250, 249, 246), (30, 30, 30), (110, 110, 110)
CONTEXT_COLOURS = (
    (0, 114, 178), (230, 159, 0), (0, 158, 115), (204, 121, 167),
    (86, 180, 233), (213, 94, 0), (240, 228, 66), (120, 120, 120),
)  # fmt: skip
"""Okabe and Ito's colours, which people with colour blindness can tell apart; they repeat after eight."""


def write_contact_sheet(
    segmentation: Segmentation, path: str | Path, *, source: str | Path, columns: int | None = None
) -> Path:
    """Draw the key photo of every event with its title, its time and the colour of its context.

    A photo that cannot be read is drawn as an empty tile that says so.

    Parameters
    ----------
    segmentation : Segmentation
        Events; one without a key frame shows the one in its middle.
    path : str or Path
        The PNG to write.
    source : str or Path
        The folder of photos, or the video, that was segmented.
    columns : int, optional
        Pictures per row. By default as many as make the sheet about square, at most 8.
    """
    from PIL import Image, ImageDraw, ImageFont

    path, source = Path(path), Path(source)
    n_events = len(segmentation.events)
    columns = columns or min(8, math.ceil(math.sqrt(n_events)))
    rows = math.ceil(n_events / columns)
    side = _tile_side(rows * columns)
    pictures = _key_pictures(segmentation, source, side)
    cell = (side + MARGIN, side * 3 // 4 + 3 * TEXT + MARGIN)
    sheet = Image.new("RGB", (columns * cell[0] + MARGIN, rows * cell[1] + MARGIN), BACKGROUND)
    draw, font = ImageDraw.Draw(sheet), ImageFont.load_default(TEXT - 3)
    for number, picture in enumerate(pictures):
        corner = (MARGIN + number % columns * cell[0], MARGIN + number // columns * cell[1])
        _draw_tile(sheet, draw, font, corner, picture, side)
        _draw_words(draw, font, (corner[0], corner[1] + side * 3 // 4), segmentation, number, side)
    with writing_whole(path, "wb") as file:
        sheet.save(file, format="PNG", optimize=True)
    return path


def _tile_side(n_tiles: int) -> int:
    """Keep the sheet of a very long day within what viewers open."""
    return max(64, min(LARGEST_TILE, int(math.sqrt(MOST_PIXELS / n_tiles))))


def _key_pictures(segmentation: Segmentation, source: Path, side: int) -> list[Image.Image | None]:
    keys = [(e.start + e.stop) // 2 if e.key_frame is None else e.key_frame for e in segmentation.events]
    outside = [k for k in keys if not 0 <= k < segmentation.n_frames]
    if outside:
        raise ValueError(
            f"key frame {outside[0]} is not one of {segmentation.n_frames} frames; repair the events file"
        )
    size = (side, side * 3 // 4)
    if segmentation.names is not None and source.is_dir():
        return [photo_thumbnail(photo_path(segmentation.names[k], source=source), size) for k in keys]
    if segmentation.times is not None and segmentation.clock == "media" and source.is_file():
        return video_thumbnails(source, [segmentation.times[k] for k in keys], size)
    raise ValueError(f"a contact sheet needs the photos or the video of these events; {source} is neither")


def _draw_tile(
    sheet: Image.Image,
    draw: ImageDraw.ImageDraw,
    font: ImageFont.FreeTypeFont | ImageFont.ImageFont,
    corner: tuple[int, int],
    picture: Image.Image | None,
    side: int,
) -> None:
    x, y = corner
    height = side * 3 // 4
    draw.rectangle((x, y, x + side - 1, y + height - 1), fill=(226, 224, 218))
    if picture is None:
        draw.text((x + 8, y + 8), "cannot be read", font=font, fill=QUIET)
        return
    sheet.paste(picture, (x + (side - picture.width) // 2, y + (height - picture.height) // 2))


def _draw_words(
    draw: ImageDraw.ImageDraw,
    font: ImageFont.FreeTypeFont | ImageFont.ImageFont,
    corner: tuple[int, int],
    segmentation: Segmentation,
    number: int,
    side: int,
) -> None:
    x, y = corner
    event = segmentation.events[number]
    letters = context_letters(segmentation)
    if letters[number]:
        order = sorted(set(letters), key=letters.index).index(letters[number])
        draw.rectangle((x, y, x + side - 1, y + 3), fill=CONTEXT_COLOURS[order % len(CONTEXT_COLOURS)])
    title = _fit(draw, font, event_title(segmentation, number), side)
    draw.text((x, y + 7), title, font=font, fill=INK)
    frames = f"{event.n_frames} frame" + ("s" if event.n_frames > 1 else "")
    time = None if segmentation.times is None else segmentation.times[event.start]
    about = ", ".join(part for part in (time_text(segmentation, time, digits=0), frames) if part)
    draw.text((x, y + 7 + TEXT), _fit(draw, font, about, side), font=font, fill=QUIET)


def _fit(
    draw: ImageDraw.ImageDraw, font: ImageFont.FreeTypeFont | ImageFont.ImageFont, text: str, width: int
) -> str:
    if draw.textlength(text, font=font) <= width:
        return text
    while text and draw.textlength(f"{text}...", font=font) > width:
        text = text[: len(text) * 9 // 10]
    return f"{text}..."
