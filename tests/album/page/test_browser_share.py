"""What a person sees who gets only the file, or the folder, that `dayline share` wrote."""

from __future__ import annotations

from pathlib import Path

import pytest

from cli.run_command import run, segmented
from cli.test_share import with_videos
from made_secrets import NAME, hide, make_trip

pytestmark = pytest.mark.filterwarnings("ignore:.* is kept as:UserWarning")
PHONE = (390, 844)
BOTH = pytest.mark.parametrize("output", ["one", "folder"])


@pytest.fixture(scope="module")
def given(tmp_path_factory) -> Path:
    place = tmp_path_factory.mktemp("given")
    make_trip(place / "trip")
    segmented(place / "trip", "-o", place / "out")
    hide(place / "out" / "2015-03-12")
    for output in ("one/index.html", "folder"):
        assert run("share", place / "out", "-o", place / "given" / output).returncode == 0
    (place / "trip").rename(place / "gone")
    return place / "given"


@BOTH
@pytest.mark.parametrize("size", [PHONE, (1280, 800)])
def test_it_opens_from_disk_shows_the_photos_and_asks_nobody(visit, given, output, size):
    seen = visit(given / output, width=size[0], height=size[1])
    assert seen.page.locator("h1").inner_text() == "12–13 March 2015"
    assert seen.page.locator("h3").all_inner_texts() == ["Morning"] * 3
    assert NAME not in seen.page.locator("body").inner_text()
    for k in range(31):
        seen.page.locator("main img").nth(k).scroll_into_view_if_needed()
    seen.wait_until("[...document.images].every(i => i.complete && i.naturalWidth > 0)")
    assert seen.page.evaluate("document.documentElement.scrollWidth") == size[0]
    assert all(request.startswith(("file://", "data:")) for request in seen.requests)
    assert seen.complaints == []


def told(seen) -> tuple[list[str], int]:
    """Go through the story: what its cards say, and how many photos it shows."""
    cards, photos = [], set()
    for _ in range(60):
        words = seen.page.locator(".story-caption").inner_text()
        cards += [words.partition("\n")[0]] if words else []
        if not words:
            photos.add(seen.page.locator(".story-scene img").last.get_attribute("src"))
        if "The end" in words:
            break
        seen.page.locator("#story-on").click()
    return cards, len(photos)


@BOTH
def test_the_story_plays_on_a_phone(visit, given, output):
    seen = visit(given / output, width=PHONE[0], height=PHONE[1])
    seen.page.get_by_role("button", name="Play", exact=True).click()
    assert "Thursday 12 March" in seen.page.locator(".story-caption").inner_text()
    seen.page.select_option("#story-speed", label="Fast")
    seen.wait_until("document.querySelector('.story-title').textContent === 'Morning'")
    seen.wait_until("document.querySelector('.story-caption').textContent === ''")  # by itself
    seen.wait_until("document.querySelector('.story-scene img').naturalWidth > 0")
    seen.page.locator("#story-pause").click()
    seen.page.keyboard.press("Home")
    cards, n_photos = told(seen)
    assert cards == [
        "Thursday 12 March 2015", "Morning", "Morning",
        "Friday 13 March 2015", "Morning", "12–13 March 2015",
    ]  # fmt: skip
    assert n_photos == 3 * 6
    seen.page.keyboard.press("Escape")
    assert seen.complaints == []


def test_a_photo_opens_whole_and_swipes_lead_on(visit, given):
    seen = visit(given / "one", width=PHONE[0], height=PHONE[1])
    seen.page.locator("main img").nth(4).click()
    assert seen.page.locator("#story-pause").inner_text() == "Play"
    first = seen.page.locator("main img").nth(4).get_attribute("src")
    assert seen.page.locator(".story-scene img").last.get_attribute("src") == first
    seen.page.mouse.move(300, 400)
    seen.page.mouse.down()
    seen.page.mouse.move(100, 400)
    seen.page.mouse.up()
    following = seen.page.locator("main img").nth(5).get_attribute("src")
    assert seen.page.locator(".story-scene img").last.get_attribute("src") == following


def test_titles_do_not_name_a_hidden_event(visit, tmp_path):
    make_trip(tmp_path / "trip")
    segmented(tmp_path / "trip" / "2015-03-12", "-o", tmp_path / "out")
    hide(tmp_path / "out")
    run("share", tmp_path / "out", "-o", tmp_path / "given")
    seen = visit(tmp_path / "given")
    assert seen.page.locator("h3").all_inner_texts() == ["Morning", "Morning"]
    assert seen.page.locator("h1").inner_text() == "Thursday 12 March 2015"
    assert seen.page.locator("h2").count() == 0


def test_an_exported_story_has_its_photos_only_and_plays(visit, tmp_path):
    make_trip(tmp_path / "trip")
    segmented(tmp_path / "trip" / "2015-03-13", "-o", tmp_path / "of day")
    done = run("export", tmp_path / "of day", "--format", "story", "-o", tmp_path / "given",
               "--source", tmp_path / "trip" / "2015-03-13")  # fmt: skip
    assert done.returncode == 0, done.stderr
    (tmp_path / "given" / "story.html").rename(tmp_path / "index.html")
    for width, height in (PHONE, (1280, 800)):
        seen = visit(tmp_path, width=width, height=height)
        assert seen.page.locator("main img").count() == 6
        seen.page.get_by_role("button", name="Play", exact=True).click()
        assert told(seen) == (["Morning", "Friday 13 March 2015"], 6)
        assert seen.complaints == []


@pytest.mark.parametrize("width", [390, 1280])
def test_a_video_plays_from_its_picture_and_in_the_story(visit, tmp_path, width):
    with_videos(tmp_path)
    assert run("share", tmp_path / "out", "-o", tmp_path / "given").returncode == 0
    seen = visit(tmp_path / "given", width=width)
    button = seen.page.locator("main button:has(.badge)")
    assert button.count() == 1
    box, mark = button.bounding_box(), button.locator(".badge").bounding_box()
    assert box["x"] <= mark["x"] < mark["x"] + mark["width"] <= box["x"] + box["width"]
    if not seen.page.evaluate(
        "document.createElement('video').canPlayType('video/mp4; codecs=avc1.42E01E')"
    ):
        pytest.skip("this Chromium has no H.264")
    playing = "(document.querySelector('.story-scene video')?.currentTime ?? 0) > 0.1"
    assert seen.page.locator("header .soft").inner_text() == "31 photos, 1 video"
    button.click()
    seen.wait_until(playing)
    seen.page.keyboard.press("Escape")
    seen.page.get_by_role("button", name="Play", exact=True).click()
    seen.page.locator("#story-pause").click()
    for _ in range(20):
        if seen.page.locator(".story-scene video").count():
            break
        seen.page.locator("#story-on").click()
    seen.page.locator("#story-pause").click()
    seen.wait_until(playing)
    assert seen.complaints == []
