"""Photos first: pictures on the first screen, whole; and the enlarged view of the photo itself."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from PIL import Image

from album.page.conftest import made_day, made_picture
from dayline.album.page.page import write_page
from made_photos import write_pictures

SIZES = pytest.mark.parametrize("width", [1280, 390])
# Every third photo is upright.
SHAPES = [(90, 120), (90, 120), (120, 90)]
FOLD = "document.querySelector('.decided').open = false"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Pictures of two shapes, and originals that are four times as large, but the last ten."""
    root = tmp_path_factory.mktemp("pictures")
    out, photos = root / "out", root / "photos"
    photos.mkdir()
    pictures = write_pictures(
        ((t, made_picture(t, height=SHAPES[t % 3][0], width=SHAPES[t % 3][1])) for t in range(60)),
        out,
    )
    for t in range(50):
        height, width = SHAPES[t % 3]
        pixels = np.repeat(np.repeat(made_picture(t, height=height, width=width), 4, 0), 4, 1)
        Image.fromarray(pixels).save(photos / f"{t:03d}.jpg")
    day = made_day()
    day = replace(day, events=(replace(day.events[0], name="Breakfast"), *day.events[1:]))
    write_page(
        day, out, thumbnails=pictures, originals=[photos / f"{t:03d}.jpg" for t in range(60)]
    )
    return out


@SIZES
def test_the_first_screen_is_pictures_and_what_decided_is_folded(visit, folder, width):
    seen = visit(folder, width=width)
    seen.page.evaluate(FOLD)
    boxes = [one.bounding_box() for one in seen.page.locator(".best-one").all()]
    assert len(boxes) == 4
    assert max(box["y"] + box["height"] for box in boxes) < 800
    # Key photos 2, 10, 22 and 47; each is whole, and those of a row are equally high.
    ratios = [box["width"] / box["height"] for box in boxes]
    assert ratios == pytest.approx([3 / 4, 4 / 3, 4 / 3, 3 / 4], rel=0.02)
    assert boxes[0]["height"] == pytest.approx(boxes[1]["height"], abs=1.5)
    captions = seen.page.locator(".best-one .caption").all_inner_texts()
    assert captions == ["09:00 Breakfast", "09:04 After Breakfast", "09:10 Morning", "10:12"]
    for selector in (".curve", "#level", ".chip", ".event .why"):
        assert seen.page.locator(selector).filter(visible=True).count() == 0, selector
    seen.page.get_by_text("How it was decided").click()
    assert seen.page.locator(".curve").is_visible()
    assert seen.row(2).locator(".why").is_visible()
    assert "ontext" not in seen.page.locator("main").inner_text()
    assert seen.page.evaluate("document.documentElement.scrollWidth") == width


@SIZES
def test_pictures_of_events_are_whole_and_large(visit, folder, width):
    seen = visit(folder, width=width)
    seen.row(1).scroll_into_view_if_needed()
    boxes = [one.bounding_box() for one in seen.row(1).locator(".thumb").all()[:6]]
    expected = [SHAPES[t % 3][1] / SHAPES[t % 3][0] for t in range(8, 14)]
    assert [box["width"] / box["height"] for box in boxes] == pytest.approx(expected, rel=0.03)
    assert min(box["height"] for box in boxes) >= 90


@SIZES
def test_the_enlarged_view_shows_the_photo_itself_if_it_is_there(visit, folder, width):
    seen = visit(folder, width=width)
    seen.row(0).locator(".key").click()
    seen.wait_until("document.querySelector('.stage img')?.naturalWidth === 360")
    assert seen.page.locator(".stage img").get_attribute("src") == "../photos/002.jpg"
    assert seen.page.locator(".viewer-title").inner_text() == "Breakfast"
    detail = seen.page.locator(".viewer-detail").inner_text()
    assert detail == "Thu 12 Mar, 09:01:00  ·  3 of 8  ·  002.jpg  ·  Place A"
    seen.page.keyboard.press("End")
    seen.page.wait_for_timeout(400)
    assert seen.page.locator(".stage img").evaluate("e => e.naturalWidth") == 90
    assert [c for c in seen.complaints if "ERR_FILE_NOT_FOUND" not in c] == []


def scale(seen):
    return seen.page.locator(".stage img").evaluate(
        "e => new DOMMatrix(getComputedStyle(e).transform).a"
    )


@SIZES
def test_pictures_are_zoomed_and_dragged_with_buttons_keys_wheel_and_pointer(visit, folder, width):
    seen = visit(folder, width=width)
    seen.row(0).locator(".key").click()
    seen.page.get_by_role("button", name="Larger").click()
    assert scale(seen) == pytest.approx(1.5)
    seen.page.keyboard.press("+")
    assert scale(seen) == pytest.approx(2.25)
    left = seen.page.locator(".stage img").bounding_box()["x"]
    seen.page.keyboard.press("ArrowLeft")  # drags, since it is zoomed
    assert seen.page.locator(".stage img").bounding_box()["x"] > left
    box = seen.page.locator(".stage").bounding_box()
    middle = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    left = seen.page.locator(".stage img").bounding_box()["x"]
    seen.page.mouse.move(*middle)
    seen.page.mouse.down()
    seen.page.mouse.move(middle[0] - 50, middle[1])
    seen.page.mouse.up()
    assert seen.page.locator(".stage img").bounding_box()["x"] == pytest.approx(left - 50, abs=1)
    seen.page.keyboard.press("0")
    assert scale(seen) == 1
    seen.page.mouse.wheel(0, -200)
    assert scale(seen) > 1.5
    # The next picture is whole again, and a swipe leads on.
    seen.page.keyboard.press("PageDown")
    assert scale(seen) == 1
    seen.page.mouse.move(*middle)
    seen.page.mouse.down()
    seen.page.mouse.move(middle[0] - 90, middle[1])
    seen.page.mouse.up()
    assert "09:04:30" in seen.page.locator(".viewer-detail").inner_text()


@SIZES
def test_the_address_of_a_photo_opens_it_and_follows_the_view(visit, folder, width):
    seen = visit(folder, width=width)
    seen.open((folder / "index.html").as_uri() + "#photo-23")
    seen.reload()
    assert seen.page.locator("#viewer").is_visible()
    assert "022.jpg" in seen.page.locator(".viewer-detail").inner_text()
    seen.page.keyboard.press("ArrowRight")
    seen.wait_until("location.hash === '#photo-24'")
    seen.page.keyboard.press("Escape")
    seen.wait_until("location.hash === ''")
