"""Overview and days are one album: ways between them, the same places, and names on Save."""

from __future__ import annotations

import warnings
from dataclasses import replace
from pathlib import Path

import pytest

from dayline.album.days import find_days, segment_days
from dayline.album.page.page import page_data
from dayline.album.save import save_events
from dayline.album.settings import Settings
from dayline.events import Place, read_events
from made_photos import make_day

DAYS = {
    "12": (("red", 10), ("green", 10), ("red", 10)),
    "13": (("blue", 10), ("red", 12)),
    "14": (("sand", 10), ("green", 10), ("sand", 10), ("blue", 10)),
}
SIZES = pytest.mark.parametrize("width", [1280, 390])


@pytest.fixture(scope="module")
def album(tmp_path_factory) -> Path:
    trip, out = tmp_path_factory.mktemp("album") / "trip", tmp_path_factory.mktemp("out") / "out"
    for day, scenes in DAYS.items():
        make_day(trip, scenes, day=f"201503{day}")
    settings = Settings(model="color")
    list(segment_days(find_days(trip, settings, store=out).days, out, settings, source=trip))
    return out


def folder(album, day):
    return album / f"2015-03-{day}"


def places_on_day(seen):
    """Label and color of each event."""
    rows = seen.page.locator(".event")
    return rows.evaluate_all("""all => all.map(row => [
        row.querySelector(".tag-text").textContent,
        row.className.split(" ").filter(name => /^c\\d+$/.test(name)).join(),
    ])""")


def places_on_overview(seen, day):
    row = seen.page.locator(f"#day-{day}")
    row.locator("summary").click()
    row.locator(".card").first.wait_for()
    return row.locator(".card").evaluate_all("""all => all.map(card => [
        card.querySelector(".place-text")?.textContent ?? "Seen once",
        card.className.split(" ").filter(name => /^c\\d+$/.test(name)).join(),
    ])""")


def follow(seen, link, heading):
    seen.page.locator(link).focus()
    with seen.page.expect_navigation():
        seen.page.keyboard.press("Enter")
    assert seen.page.locator("h1").inner_text() == heading


@SIZES
def test_from_the_overview_through_the_days_and_back_by_keyboard(visit, album, width):
    seen = visit(album, width=width)
    follow(seen, "#day-1 h3 a", "Thursday 12 March 2015")
    assert seen.page.locator(".ways").first.locator("a").all_inner_texts() == [
        "trip",
        "Fri 13 March ›",
        "Search",
    ]
    follow(seen, ".events + .ways [rel=next]", "Friday 13 March 2015")
    follow(seen, ".events + .ways [rel=next]", "Saturday 14 March 2015")
    assert seen.page.locator(".ways [rel=next]").count() == 0
    follow(seen, "header [rel=prev]", "Friday 13 March 2015")
    follow(seen, "header .ways a:first-child", "trip")
    assert seen.page.url.endswith("#day-2")
    assert seen.complaints == []


def test_a_place_has_the_same_letter_and_color_on_every_page(visit, album):
    for number, day in enumerate(DAYS, start=1):
        on_day = places_on_day(visit(folder(album, day)))
        assert on_day == places_on_overview(visit(album), number)
        assert all(color for label, color in on_day if label != "Seen once")
    # Red is on two days, once on the second of them.
    first, second = (places_on_day(visit(folder(album, day))) for day in ("12", "13"))
    assert first[0] == first[2] == second[1]
    assert first[0][0].startswith("Place ")
    detail = visit(folder(album, "13")).page.locator(".chip", has_text=second[1][0])
    assert detail.locator(".chip-detail").inner_text().startswith("1 event · ")


def letters(album):
    days = [page_data(folder(album, day) / "index.html")["album"]["places"] for day in DAYS]
    return [{c: one["label"] for c, one in day.items() if not one["named"]} for day in days]


def test_a_name_that_is_saved_is_on_all_days_at_once_and_counts_agree(visit, album):
    before = letters(album)
    saved = read_events(folder(album, "13") / "events.json")
    community = saved.events[1].community
    others = tuple(place for place in saved.places if place.community != community)
    with warnings.catch_warnings(action="ignore"):
        done = save_events(
            replace(saved, places=(*others, Place(community, "kitchen"))), folder(album, "13")
        )
    assert not done.notes
    assert done.mark == page_data(folder(album, "13") / "index.html")["base"]
    # All other places keep their letters.
    for was, now in zip(before, letters(album), strict=True):
        assert now.items() < was.items() or now == was
    first = read_events(folder(album, "12") / "events.json")
    assert "kitchen" in [place.name for place in first.places]
    on_first = visit(folder(album, "12"))
    assert [label for label, _ in places_on_day(on_first)][::2] == ["kitchen", "kitchen"]
    overview = visit(album)
    row = overview.page.locator(".time tbody tr", has_text="kitchen")
    assert row.locator(".days").inner_text() == "2 days"
    chip = on_first.page.locator(".chip", has_text="kitchen").locator(".chip-detail")
    assert chip.inner_text().startswith("2 events · ")


@SIZES
def test_the_story_of_a_day_leads_to_that_of_the_next(visit, album, width):
    seen = visit(album, width=width)
    follow(seen, "#day-1 a[href$='#story']", "Thursday 12 March 2015")
    seen.wait_until("document.getElementById('story').open")
    seen.page.keyboard.press("End")
    way = seen.page.locator(".story-ways a")
    assert way.inner_text() == "Fri 13 March"
    with seen.page.expect_navigation():
        way.press("Enter")
    seen.wait_until("document.getElementById('story').open")
    assert seen.page.locator("h1").inner_text() == "Friday 13 March 2015"
    seen.page.keyboard.press("Escape")
    seen.wait_until("location.hash === ''")
    follow(seen, "header .ways a:first-child", "trip")
    assert seen.complaints == []


def test_a_page_of_one_day_alone_has_no_ways(visit, day_folder):
    assert visit(day_folder).page.locator(".ways").count() == 0
