"""The story: the day, or an event and those after it, as a slide show."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from album.page.conftest import made_day, made_picture
from dayline.album.page.page import write_page
from made_photos import write_pictures

SIZES = pytest.mark.parametrize("width", [1280, 390])


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    out = tmp_path_factory.mktemp("story")
    pictures = write_pictures(((t, made_picture(t)) for t in range(60)), out)
    day = made_day()
    day = replace(day, events=(replace(day.events[0], name="Breakfast"), *day.events[1:]))
    write_page(day, out, thumbnails=pictures)
    return out


def frame(seen) -> int:
    """The frame that is shown."""
    src = seen.page.locator(".story-scene img").last.get_attribute("src")
    return int(src.removeprefix("thumbnails/").removesuffix(".jpg"))


def title(seen) -> str:
    return seen.page.locator(".story-caption").inner_text().partition("\n")[0]


@SIZES
def test_title_cards_and_photos_of_every_event_in_order(visit, folder, width):
    seen = visit(folder, width=width)
    seen.page.get_by_role("button", name="Play the day").click()
    seen.page.keyboard.press("Space")  # pauses
    shown = []
    for _ in range(40):
        shown.append(title(seen) or frame(seen))
        if shown[-1] == "Thursday 12 March 2015":
            break
        seen.page.keyboard.press("ArrowRight")
    cards = [one for one in shown if isinstance(one, str)]
    assert cards == ["Breakfast", "After Breakfast", "Morning", "Morning", "Thursday 12 March 2015"]
    photos = [one for one in shown if isinstance(one, int)]
    assert photos == sorted(set(photos))
    assert {2, 10, 22, 47} <= set(photos)  # the key photos
    assert len(photos) == 4 * 6
    assert seen.page.locator(".story-scene img").count() <= 2
    assert "The end" in seen.page.locator(".story-caption").inner_text()
    assert seen.complaints == []


@SIZES
def test_it_goes_on_by_itself_until_it_is_paused(visit, folder, width):
    seen = visit(folder, width=width)
    seen.page.get_by_role("button", name="Play the day").click()
    seen.page.select_option("#story-speed", label="Fast")
    assert title(seen) == "Breakfast"
    seen.wait_until("document.querySelector('.story-caption').textContent === ''")
    first = frame(seen)
    seen.page.get_by_role("button", name="Pause").click()
    seen.page.wait_for_timeout(2300)  # a photo is shown for 2 s
    assert frame(seen) == first
    seen.page.locator("#story-pause").click()
    seen.wait_until("!document.querySelector('.story-scene img:last-child').src.endsWith("
                    f"'{first:020d}.jpg')")  # fmt: skip


@SIZES
def test_keys_swipes_and_buttons_walk_and_leave(visit, folder, width):
    seen = visit(folder, width=width)
    seen.row(2).locator("[data-action=play]").click()
    seen.page.keyboard.press("Space")
    about = "Morning\n\n09:10 – 09:22"
    assert seen.page.locator(".story-caption").inner_text() == about
    seen.page.keyboard.press("ArrowUp")
    assert "09:04" in seen.page.locator(".story-caption").inner_text()
    seen.page.keyboard.press("ArrowUp")
    assert title(seen) == "Breakfast"
    seen.page.locator("#story-on").click()
    assert (title(seen), frame(seen)) == ("", 0)
    seen.page.mouse.move(200, 400)
    seen.page.mouse.down()
    seen.page.mouse.move(100, 400)
    seen.page.mouse.up()
    assert frame(seen) == 1
    seen.page.locator("#story-back").click()
    assert frame(seen) == 0
    seen.page.get_by_role("button", name="Close").click()
    seen.wait_until("location.hash === '' && !document.getElementById('story').open")
    assert seen.complaints == []


@SIZES
def test_the_picture_fills_the_screen_and_controls_go_while_nobody_moves(visit, folder, width):
    seen = visit(folder, width=width)
    seen.page.get_by_role("button", name="Play the day").click()
    seen.page.keyboard.press("ArrowRight")
    around = seen.page.locator(".story-around img").last
    shown = seen.page.locator(".story-scene img").last
    assert around.get_attribute("src") == shown.get_attribute("src")
    box = around.bounding_box()
    assert max(box["x"], box["y"]) < 0
    assert box["x"] + box["width"] > width
    assert box["y"] + box["height"] > 800
    controls = "getComputedStyle(document.querySelector('.story-controls')).opacity"
    assert seen.page.evaluate(controls) == "1"
    seen.wait_until(f"{controls} === '0'")
    seen.page.keyboard.press("Tab")
    seen.wait_until(f"{controls} === '1'")
    seen.page.locator(".story-scene").click()  # pauses
    seen.page.wait_for_timeout(3700)
    assert seen.page.evaluate(controls) == "1"


def test_motion_is_left_out_for_people_who_want_none(visit_alone, folder):
    seen = visit_alone(folder)
    moves = "getComputedStyle(document.querySelector('.story-scene img')).animationName"
    seen.page.get_by_role("button", name="Play the day").click()
    assert "approach" in seen.page.evaluate(moves)
    seen.page.emulate_media(reduced_motion="reduce")
    assert seen.page.evaluate(moves) == "none"


def test_the_address_plays_the_story(visit, folder):
    seen = visit(folder)
    seen.open((folder / "index.html").as_uri() + "#story")
    seen.reload()
    assert title(seen) == "Breakfast"
    seen.page.keyboard.press("Escape")
    seen.wait_until("location.hash === ''")


def test_a_page_without_pictures_has_no_story(visit, tmp_path):
    write_page(made_day(), tmp_path)
    seen = visit(tmp_path)
    assert not seen.page.locator("#play").is_visible()
    assert seen.page.locator("[data-action=play]").count() == 0
