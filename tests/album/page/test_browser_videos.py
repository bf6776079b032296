"""Videos among photos, live photos, and what is set aside, on the page of a day."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from album.page.conftest import made_day, made_picture
from dayline.album.page.page import write_page
from dayline.events import SetAside
from made_films import make_moving_film
from made_photos import save, write_pictures

SIZES = pytest.mark.parametrize("width", [1280, 390])
VIDEO, LIVE, UNKNOWN = 3, 10, 21
PLAYS = "(document.querySelector('{0} video')?.currentTime ?? 0) > 0.2"


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """The made day; frame 3 is a video, 10 a live photo, 21 a video that no browser knows."""
    root = tmp_path_factory.mktemp("videos")
    out, photos = root / "out", root / "photos"
    pictures = write_pictures(((t, made_picture(t)) for t in range(63)), out)
    originals = [photos / f"{t:03d}.jpg" for t in range(60)]
    originals += [photos / f"Screenshot_{k}.png" for k in range(3)]
    for t, path in enumerate(originals):
        save(made_picture(t), path)
    originals[VIDEO] = make_moving_film(photos / "003.webm", [50])
    originals[UNKNOWN] = photos / "021.mp4"
    originals[UNKNOWN].write_bytes(b"x" * 2000)
    live = make_moving_film(photos / "010.webm", [25])
    day = made_day()
    times = [day.times[0] + 100, day.times[0] + 700, None]
    day = replace(
        day,
        durations=tuple({VIDEO: 2.0, UNKNOWN: 125.0}.get(t) for t in range(60)),
        set_aside=tuple(
            SetAside(f"Screenshot_{k}.png", "screenshot", f"shot{k}", time)
            for k, time in enumerate(times)
        ),
    )
    write_page(day, out, thumbnails=pictures, originals=originals, live={LIVE: live})
    return out


def stage(seen) -> str:
    return seen.page.locator(".stage :is(img, video)").first.evaluate("e => e.tagName")


@SIZES
def test_a_video_plays_from_its_tile(visit, folder, width):
    seen = visit(folder, width=width)
    assert seen.row(0).locator(".count").inner_text() == "7 photos, 1 video (0:02)"
    assert "58 photos, 2 videos (2:07)" in seen.page.locator("#summary").inner_text()
    tile = seen.row(0).locator(f'.strip [data-frame="{VIDEO}"]')
    tile.scroll_into_view_if_needed()
    assert tile.locator(".badge").get_attribute("data-length") == "0:02"
    assert "0:02" not in tile.inner_text()  # it is in the name that is spoken
    assert tile.get_attribute("aria-label") == "09:01:30, video of 0:02, 003.jpg"
    tile.click()
    seen.wait_until(PLAYS.format(".stage"))
    pause = seen.page.locator(".viewer-actions [data-key=p]")
    assert pause.inner_text() == "Pause"
    pause.click()
    assert seen.page.evaluate("document.querySelector('.stage video').paused")
    # The next photo ends it; on the way back it waits to be played.
    seen.page.keyboard.press("ArrowRight")
    assert stage(seen) == "IMG"
    assert pause.is_hidden()
    seen.page.keyboard.press("ArrowLeft")
    assert stage(seen) == "VIDEO"
    seen.page.keyboard.press("p")
    seen.wait_until(PLAYS.format(".stage"))
    assert seen.complaints == []


@SIZES
def test_the_live_part_plays_and_the_photo_returns(visit, folder, width):
    seen = visit(folder, width=width)
    seen.page.evaluate(f"location.hash = '#photo-{LIVE + 1}'")
    seen.wait_until("document.getElementById('viewer').open")
    assert stage(seen) == "IMG"
    seen.page.get_by_role("button", name="Play, or pause (P)").click()
    seen.wait_until(PLAYS.format(".stage"))
    seen.wait_until("document.querySelector('.stage video') === null")  # it lasts a second
    assert stage(seen) == "IMG"
    assert seen.page.locator(".viewer-detail").inner_text().count("010.jpg") == 1


@SIZES
def test_a_video_that_the_browser_does_not_know_is_a_picture_and_a_link(visit, folder, width):
    seen = visit(folder, width=width)
    seen.page.evaluate(f"location.hash = '#photo-{UNKNOWN + 1}'")
    seen.wait_until("document.querySelector('.film-fails') !== null")
    assert stage(seen) == "IMG"
    link = seen.page.locator(".film-fails a")
    assert link.get_attribute("href") == "../photos/021.mp4"
    box = link.bounding_box()
    assert 0 <= box["x"] <= box["x"] + box["width"] <= width
    assert (
        box["y"] + box["height"]
        <= seen.page.locator(".stage").bounding_box()["y"]
        + (seen.page.locator(".stage").bounding_box()["height"])
    )


@SIZES
def test_the_story_plays_videos(visit, folder, width):
    seen = visit(folder, width=width)
    seen.page.get_by_role("button", name="Play the day").click()
    for _ in range(12):
        if seen.page.locator(".story-scene video").count():
            break
        seen.page.keyboard.press("ArrowRight")
    seen.wait_until(PLAYS.format(".story-scene"))
    seen.page.keyboard.press("Space")
    assert seen.page.evaluate("document.querySelector('.story-scene video').paused")
    seen.page.keyboard.press("Space")
    # It goes on by itself when the video ends, well before the 20 s that it may take.
    seen.wait_until("document.querySelector('.story-scene').lastElementChild.tagName === 'IMG'")
    assert seen.page.locator("#story").is_visible()


@SIZES
def test_screenshots_are_a_folded_strip_at_the_end(visit, folder, width):
    seen = visit(folder, width=width)
    seen.page.evaluate("document.getElementById('aside').open = false")
    strip = seen.page.locator("#aside-strip")
    assert strip.is_hidden()
    summary = seen.page.locator("#aside summary")
    assert summary.inner_text() == "3 screenshots"
    summary.click()
    buttons = strip.locator("button")
    assert buttons.evaluate_all("all => all.map(b => b.getAttribute('aria-label'))") == [
        "09:01, screenshot, Screenshot_0.png",
        "09:11, screenshot, Screenshot_1.png",
        "screenshot, Screenshot_2.png",
    ]
    assert seen.page.evaluate("document.documentElement.scrollWidth <= innerWidth")

    buttons.nth(1).click()
    title = seen.page.locator(".viewer-title")
    detail = seen.page.locator(".viewer-detail")
    assert title.inner_text() == "Screenshot"
    assert detail.inner_text() == "09:11:40  ·  2 of 3  ·  Screenshot_1.png"
    # Keys that edit events do nothing here, and the ends are ends.
    for key in ("s", "m", "k", "f", "h", "ArrowUp", "End", "ArrowRight"):
        seen.page.keyboard.press(key)
    assert "3 of 3" in detail.inner_text()
    seen.page.keyboard.press("Home")
    assert "1 of 3" in detail.inner_text()
    seen.wait_until("document.querySelector('.stage img').src.endsWith('/photos/Screenshot_0.png')")
    seen.page.keyboard.press("Escape")
    assert seen.page.locator("#bar").is_hidden()  # nothing was edited
    # Photos of the day are as before.
    seen.row(0).locator('.strip [data-frame="0"]').click()
    seen.wait_until("document.querySelector('.viewer-title').textContent !== 'Screenshot'")
    assert seen.page.locator(".film").is_visible()
    assert seen.complaints == []


def test_without_pictures_the_names_are_listed(visit, tmp_path):
    day = replace(made_day(), set_aside=(SetAside("<b>.png", "screenshot", "x"),))
    write_page(day, tmp_path / "out")
    seen = visit(tmp_path / "out")
    assert seen.page.locator("#aside li").text_content() == "<b>.png"
    assert seen.page.locator("#aside b").count() == 0
