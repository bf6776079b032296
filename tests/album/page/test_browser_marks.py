"""Favorites and hidden photos on the page of a day."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from album.page.conftest import made_day, made_picture
from dayline.album.page.page import write_page
from dayline.events import Segmentation
from made_photos import write_pictures

SIZES = pytest.mark.parametrize("width", [1280, 390])


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    out = tmp_path_factory.mktemp("marks")
    pictures = write_pictures(((t, made_picture(t)) for t in range(60)), out)
    events = tuple(replace(e, location=(60.0 + k, 10.0)) for k, e in enumerate(made_day().events))
    write_page(replace(made_day(), events=events), out, thumbnails=pictures)
    return out


def shown(seen) -> set[int]:
    """The frames of which the page has loaded, or would load, a picture."""
    script = "images => images.map(image => image.getAttribute('src'))"
    addresses = seen.page.locator("body img").evaluate_all(script)
    return {int(Path(a).stem) for a in addresses if a.startswith("thumbnails/")}


def story_frames(seen) -> list[int]:
    seen.page.get_by_role("button", name="Play the day").click()
    seen.page.keyboard.press("Space")
    found = []
    for _ in range(40):
        address = seen.page.locator(".story-scene img").last.get_attribute("src")
        found.append(int(Path(address).stem))
        if seen.page.get_by_text("The end").is_visible():
            break
        seen.page.keyboard.press("ArrowRight")
    seen.page.keyboard.press("Escape")
    seen.wait_until("location.hash === ''")
    return found


@SIZES
def test_a_hidden_photo_is_nowhere_until_it_is_asked_for(visit, folder, width):
    seen = visit(folder, width=width)
    seen.row(0).locator(".key").click()  # frame 2, the key photo
    seen.page.keyboard.press("h")
    assert "09:01:30" in seen.page.locator(".viewer-detail").inner_text()  # the next one
    seen.page.keyboard.press("ArrowLeft")
    assert "09:00:30" in seen.page.locator(".viewer-detail").inner_text()
    assert "2 of 7" in seen.page.locator(".viewer-detail").inner_text()
    seen.page.keyboard.press("Escape")
    assert 2 not in shown(seen)
    assert "59 photos" in seen.page.locator("#summary").inner_text()
    assert "7 photos" in seen.row(0).inner_text()
    assert 2 not in story_frames(seen)

    seen.page.get_by_role("button", name="Show 1 hidden").click()
    dimmed = seen.row(0).locator(".thumb.hidden-photo")
    assert dimmed.get_attribute("data-frame") == "2"
    assert float(dimmed.locator("img").evaluate("e => getComputedStyle(e).opacity")) < 0.5
    assert 2 not in story_frames(seen)
    dimmed.click()
    seen.page.get_by_role("button", name="Unhide (H)").click()
    seen.page.keyboard.press("Escape")
    assert not seen.page.locator("#show-hidden").is_visible()
    assert seen.row(0).locator(".thumb").count() == 8
    assert seen.page.locator(".hidden-photo").count() == 0
    assert seen.complaints == []


@SIZES
def test_a_hidden_event_is_left_out_and_can_be_taken_back(visit, folder, width):
    seen = visit(folder, width=width)
    seen.rename(1, "A secret")
    seen.row(1).locator("[data-action=hide]").click()
    assert seen.names() == ["Event 1", "Event 3", "Event 4"]
    assert "A secret" not in seen.page.locator("body").inner_text()
    assert not shown(seen) & set(range(8, 20))
    assert not set(story_frames(seen)) & set(range(8, 20))
    assert seen.page.locator(".piece[data-event='1']").count() == 0
    assert seen.status() == "2 changes, in this browser"
    seen.reload()  # before it is saved
    assert seen.names() == ["Event 1", "Event 3", "Event 4"]
    seen.page.locator("#show-hidden").click()
    assert seen.names()[1] == "A secret"
    seen.row(1).get_by_role("button", name="Unhide this event").click()
    assert not seen.page.locator("#show-hidden").is_visible()
    assert seen.names()[1] == "A secret"
    seen.page.keyboard.press("Control+z")
    seen.page.locator("body").press("Control+z")
    assert seen.complaints == []


def test_marks_are_saved_by_number_and_say_nothing_of_where(visit, folder):
    seen = visit(folder)
    seen.row(1).locator(".key").click()
    seen.page.keyboard.press("ArrowRight")
    for key in ("f", "ArrowRight", "f", "f", "ArrowRight", "h"):
        seen.page.keyboard.press(key)
    seen.page.keyboard.press("Escape")
    saved = seen.saved()
    assert (saved.favorites, saved.hidden) == ((11,), (13,))
    assert [event.location for event in saved.events] == [
        (60.0, 10.0), None, (62.0, 10.0), (63.0, 10.0),
    ]  # fmt: skip


@SIZES
def test_a_favorite_shows_its_event_and_is_in_the_story(visit, folder, width):
    seen = visit(folder, width=width)
    seen.row(2).locator(".key").click()  # frames 20 to 44, key 22
    for _ in range(9):
        seen.page.keyboard.press("ArrowRight")
    seen.page.get_by_role("button", name="Favorite (F)").click()
    assert seen.page.locator("[data-key=f]").get_attribute("aria-pressed") == "true"
    seen.page.keyboard.press("Escape")
    assert seen.row(2).locator(".key").get_attribute("data-frame") == "31"
    assert 31 in story_frames(seen)
    # A key photo that the person chooses comes first.
    seen.row(2).locator(".key").click()
    for key in ("ArrowRight", "k", "Escape"):
        seen.page.keyboard.press(key)
    assert seen.row(2).locator(".key").get_attribute("data-frame") == "32"


def test_photos_with_the_same_content_are_hidden_together(visit, tmp_path):
    day = made_day()
    digests = tuple("the same" if t in (3, 30) else f"photo{t}" for t in range(60))
    pictures = write_pictures(((t, made_picture(t)) for t in range(60)), tmp_path)
    write_page(replace(day, digests=digests), tmp_path, thumbnails=pictures)
    seen = visit(tmp_path)
    seen.row(0).locator(".thumb[data-frame='3']").click()
    seen.page.keyboard.press("h")
    seen.page.keyboard.press("Escape")
    assert seen.saved().hidden == (3, 30)


def test_unsaved_marks_return_on_a_renewed_page_on_the_same_photos_only(visit, tmp_path):
    day = made_day()
    write_page(day, tmp_path)
    seen = visit(tmp_path)
    seen.row(1).locator("[data-action=hide]").click()  # frames 8 to 19
    # Photo 10 is gone, and others come before: hidden photos are found by their content.
    left = [0, 0, *(t for t in range(60) if t != 10)]
    digests = tuple(f"new{k}" if k < 2 else f"photo{t}" for k, t in enumerate(left))
    times = tuple(day.times[t] for t in left)
    renewed = Segmentation.from_boundaries(
        (10, 21, 46), 61, times=times, clock="wall", digests=digests, source="my day"
    )
    write_page(renewed, tmp_path)
    seen.reload()
    seen.answer("Restore")
    saved = seen.saved()
    assert {saved.digests[k] for k in saved.hidden} == {f"photo{t}" for t in range(8, 20)} - {
        "photo10"
    }


def test_a_page_that_lists_hidden_photos_has_them_in_its_data_only(visit, folder, tmp_path):
    pictures = write_pictures(((t, made_picture(t)) for t in range(60)), tmp_path)
    day = replace(made_day(), hidden=tuple(range(8, 20)), favorites=(25,))
    day = replace(
        day, events=(day.events[0], replace(day.events[1], name="A secret"), *day.events[2:])
    )
    page = write_page(day, tmp_path, thumbnails=pictures)
    visible, _, data = page.read_text().partition('<script type="application/json"')
    assert "A secret" not in visible
    assert json.loads(data.partition(">")[2].partition("<")[0])["segmentation"]["hidden"]
    seen = visit(tmp_path)
    assert seen.names() == ["Event 1", "Event 3", "Event 4"]
    assert seen.row(1).locator(".key").get_attribute("data-frame") == "25"
    assert not any(f"/{t:020d}.jpg" in request for t in range(8, 20) for request in seen.requests)


@SIZES
def test_share_says_how_and_that_changes_must_be_saved_first(visit, folder, width):
    seen = visit(folder, width=width)
    seen.page.get_by_role("button", name="Share").click()
    (text,) = seen.notices()
    assert f"dayline share {folder} -o day.html" in text
    assert "Save first" not in text
    seen.row(0).locator("[data-action=hide]").click()
    seen.page.get_by_role("button", name="Share").click()
    (text,) = seen.notices()
    assert "Save first" in text
    # Escape closes it and returns to the button, wherever the keyboard was in it.
    seen.page.locator(".notice .command").focus()
    seen.page.keyboard.press("Escape")
    assert seen.notices() == []
    assert seen.page.evaluate("document.activeElement.id") == "share"
