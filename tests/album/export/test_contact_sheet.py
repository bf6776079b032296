from __future__ import annotations

import numpy as np
import pytest
from PIL import Image

from dayline.album.export.contact_sheet import CONTEXT_COLOURS, MARGIN, write_contact_sheet
from dayline.events import Event, Segmentation

RED, GREEN, BLUE = (200, 30, 30), (30, 160, 30), (30, 30, 200)


@pytest.fixture
def day(tmp_path) -> Segmentation:
    for name, colour in {"r.png": RED, "g.png": GREEN, "b.png": BLUE}.items():
        Image.new("RGB", (640, 480), colour).save(tmp_path / name)
    (tmp_path / "bad.jpg").write_bytes(b"\xff\xd8 not a photo")
    events = (
        Event(0, 2, community=5, key_frame=1, name="\u05e9\u05dc\u05d5\u05dd " * 40),
        Event(2, 3, community=1),
        Event(3, 4, community=5, name="<x>\x00"),
    )
    return Segmentation(
        events, names=("b.png", "r.png", "g.png", "bad.jpg"), times=(0, 30, 60, 90), clock="wall"
    )


def test_the_sheet_shows_the_key_photos_over_the_colours_of_their_contexts(day, tmp_path):
    sheet = Image.open(write_contact_sheet(day, tmp_path / "sheet.png", source=tmp_path, columns=3))
    assert sheet.format == "PNG"
    tile = (sheet.width - MARGIN) // 3
    middles = [(MARGIN + k * tile + 100, MARGIN + 100) for k in range(3)]
    assert [sheet.getpixel(p) for p in middles[:2]] == [RED, GREEN]
    bars = [sheet.getpixel((x, MARGIN + 240 + 1)) for x, _ in middles]
    assert bars == [CONTEXT_COLOURS[0], CONTEXT_COLOURS[1], CONTEXT_COLOURS[0]]


def test_a_photo_that_cannot_be_read_is_an_empty_tile_with_words(day, tmp_path):
    sheet = Image.open(write_contact_sheet(day, tmp_path / "sheet.png", source=tmp_path, columns=3))
    tile = (sheet.width - MARGIN) // 3
    empty = np.asarray(sheet)[MARGIN : MARGIN + 240, MARGIN + 2 * tile : MARGIN + 2 * tile + 320]
    assert tuple(empty[200, 200]) == (226, 224, 218)
    assert (empty < 150).any()


@pytest.mark.slow
def test_a_thousand_events_stay_within_what_viewers_open(tmp_path):
    Image.new("RGB", (8, 6), RED).save(tmp_path / "r.png")
    many = Segmentation.from_boundaries(range(1, 1000), 1000, names=("r.png",) * 1000)
    with Image.open(write_contact_sheet(many, tmp_path / "sheet.png", source=tmp_path)) as sheet:
        assert sheet.width * sheet.height < 64_000_000


def test_a_film_without_its_video_is_refused(film, tmp_path):
    with pytest.raises(ValueError, match="needs the photos or the video"):
        write_contact_sheet(film, tmp_path / "sheet.png", source=tmp_path)
    assert list(tmp_path.iterdir()) == []
