"""Fifty days are one album: with the keyboard alone, on a phone, and without filling the memory."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from album.page.conftest import made_picture
from album.page.test_accessibility import SMALL, UNNAMED, axe, faults, tab_to  # noqa: F401
from dayline.album.page.overview import Day, album_data, find_album_places, write_overview
from dayline.album.page.page import put_in_album, write_page
from dayline.events import Segmentation
from made_photos import write_pictures

MORNING = 1426118400.0 + 9 * 3600  # 12 March 2015, 09:00
N_DAYS = 50
SIZES = pytest.mark.parametrize("width", [1280, 390])


def made(number: int) -> Segmentation:
    """Twelve photos of a day in three events; where it begins and ends is one place."""
    start = MORNING + 86_400 * number
    day = Segmentation.from_boundaries(
        (4, 8),
        12,
        communities=[0] * 4 + [1] * 4 + [0] * 4,
        times=tuple(start + 1200.0 * t for t in range(12)),
        clock="wall",
        names=tuple(f"IMG_{number:02d}{t:02d}.jpg" for t in range(12)),
        digests=tuple(f"{number} {t}" for t in range(12)),
        source="trip",
    )
    return replace(day, events=tuple(replace(e, key_frame=e.start + 1) for e in day.events))


@pytest.fixture(scope="module")
def album(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("fifty")
    rows = []
    for number in range(N_DAYS):
        day, name = made(number), f"day-{number:02d}"
        pictures = write_pictures(((t, made_picture(t + number)) for t in range(12)), folder / name)
        write_page(day, folder / name, thumbnails=pictures)
        rows.append(Day(name, name, day, "", pictures, dict.fromkeys(pictures, 4 / 3)))
    places = find_album_places(rows)
    for number, row in enumerate(rows):
        put_in_album(folder / row.name, album_data(rows, number, places, title="trip"))
    write_overview(rows, folder, title="trip", places=places)
    return folder


def follow(seen, selector: str, heading: str) -> None:
    tab_to(seen.page, selector)
    with seen.page.expect_navigation():
        seen.page.keyboard.press("Enter")
    assert seen.page.locator("h1").inner_text() == heading


@SIZES
def test_from_overview_to_day_to_story_to_next_day_back_and_to_the_search(visit, album, width):
    seen = visit(album, width=width)
    page, press = seen.page, seen.page.keyboard.press
    follow(seen, "#day-3 h3 a", "Saturday 14 March 2015")
    tab_to(page, "#play")
    press("Enter")
    assert page.locator("#story").is_visible()
    press("End")
    follow(seen, ".story-ways a", "Sunday 15 March 2015")
    # Its story begins by itself; the page is behind it.
    seen.wait_until("document.getElementById('story').open")
    press("Escape")
    seen.wait_until("location.hash === ''")
    follow(seen, ".ways a:first-child", "trip")
    assert page.url.endswith("#day-4")
    seen.wait_until(
        """(({ top }) => 0 <= top && top < innerHeight)(
            document.getElementById("day-4").getBoundingClientRect())"""
    )
    press("/")
    page.keyboard.type("friday")
    assert page.locator("#found").inner_text() == "21 events on 7 days"
    follow(seen, "#results .card-title a", "Friday 13 March 2015")
    # From a day, the same key leads to the search of all days, but while a name is typed, or a
    # dialog is open.
    press("/")
    assert page.evaluate("document.activeElement.value") == "/"
    press("Escape")
    press("?")
    seen.wait_until("document.querySelector('dialog[open]') !== null")
    press("/")
    page.wait_for_timeout(100)
    assert page.locator("h1").inner_text() == "Friday 13 March 2015"
    press("Escape")
    seen.wait_until("document.querySelector('dialog[open]') === null")
    with page.expect_navigation():
        press("/")
    page.keyboard.type("img_4903")
    assert page.locator("#results a").first.inner_text() == "IMG_4903.jpg"
    follow(seen, "#results .card-title a", "Thursday 30 April 2015")
    seen.wait_until("document.getElementById('viewer').open")
    press("Escape")
    follow(seen, "[rel=prev]", "Wednesday 29 April 2015")
    assert seen.complaints == []


@pytest.mark.slow
@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (390, "dark"), (320, "light")])
def test_axe_finds_nothing_and_nothing_is_wider_than_the_screen(
    visit,
    axe,  # noqa: F811
    album,
    width,
    scheme,
):
    seen = visit(album, width=width, color_scheme=scheme)
    wide = "document.documentElement.scrollWidth"
    assert faults(axe, seen.page) == []
    assert seen.page.evaluate(wide) <= width
    seen = visit(album / "day-07", width=width, color_scheme=scheme)
    assert faults(axe, seen.page) == []
    assert seen.page.evaluate(wide) <= width
    for opener in ("#play", ".best-one"):
        seen.page.locator(opener).first.click()
        seen.page.keyboard.press("ArrowRight")
        seen.page.wait_for_timeout(900)
        assert faults(axe, seen.page) == [], opener
        seen.page.keyboard.press("Escape")


def test_a_phone_has_large_targets_and_says_what_it_shows(visit, album):
    for folder in (album, album / "day-07"):
        page = visit(folder, width=390).page
        assert page.evaluate(UNNAMED) == []
        assert page.evaluate(SMALL) == []


@SIZES
def test_pictures_of_days_far_away_are_let_go_and_come_back(visit, album, width):
    seen = visit(album, width=width)
    shown = "[...document.querySelectorAll('#day-1 img')].every(one => one.src && one.complete)"
    gone = "[...document.querySelectorAll('#day-1 img')].every(one => !one.hasAttribute('src'))"
    seen.wait_until(shown)
    height = seen.page.locator("#day-1").bounding_box()["height"]
    # Racing past, faster than pictures load.
    seen.page.evaluate(
        """async () => {
          for (let y = 0; y < document.documentElement.scrollHeight; y += 1000) {
            scrollTo(0, y);
            await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
          }
        }"""
    )
    seen.wait_until(gone)
    seen.wait_until("document.querySelector('#days > li:not(.near) img[src]') === null")
    seen.page.evaluate("scrollTo(0, 0)")
    seen.wait_until(shown)
    assert seen.page.locator("#day-1").bounding_box()["height"] == pytest.approx(height, abs=1)
    assert seen.complaints == []
