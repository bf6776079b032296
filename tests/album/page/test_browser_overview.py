"""The page of many days: calendar, timelines, places, search, similar events, links."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from dayline.album.page.overview import Day, write_overview
from dayline.album.page.page import write_page
from dayline.events import Event, Place, Segmentation, SetAside

NASTY = "</script><img src=x onerror=alert(1)>"
FIRST = 1672563600.0  # 1 January 2023, 09:00


def made_day(number, contexts, places):
    start = FIRST + 86400 * number
    events = tuple(
        Event(
            10 * k,
            10 * k + 10,
            community=c,
            start_time=start + 3600 * k,
            stop_time=start + 3600 * k + 1800,
        )
        for k, c in enumerate(contexts)
    )
    times = tuple(start + 3600 * (t // 10) + 200 * (t % 10) for t in range(10 * len(contexts)))
    return Segmentation(
        events,
        times=times,
        clock="wall",
        names=tuple(f"SHOT_{number}_{t:03d}.jpg" for t in range(len(times))),
        places=places,
        source=f"day {number}",
    )


def made_days():
    kitchen, office, unnamed = ("kitchen", "p1"), ("office", "p2"), (None, "p3")
    plans = [
        (0, [1, 2, 1], (Place(1, *kitchen), Place(2, *office))),
        (1, [4, 3, 7], (Place(4, *office), Place(3, *unnamed))),
        (33, [5, 6], (Place(5, *unnamed), Place(6, *kitchen))),
    ]
    days = [made_day(*plan) for plan in plans]
    first = days[0].events
    days[0] = replace(days[0], events=(first[0], replace(first[1], name="Meeting <b>"), first[2]))
    rows = [Day(f"day {k}", f"day %{k}", day) for k, day in enumerate(days)]
    return [*rows, Day("broken", "broken", None, why="no photos")]


@pytest.fixture(scope="module")
def album(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("album")
    days = made_days()
    for day in days[:3]:
        write_page(day.segmentation, folder / day.folder)
    write_overview(days, folder, title=NASTY, similar={(0, 0): [(2, 1), (0, 2)], (2, 1): [(0, 0)]})
    return folder


def texts(seen, selector):
    return seen.page.locator(selector).all_inner_texts()


def test_the_page_needs_nothing_from_elsewhere_and_runs_no_foreign_html(visit, album):
    seen = visit(album)
    assert seen.complaints == []
    assert all(request.startswith("file:") for request in seen.requests)
    assert seen.page.locator("h1").inner_text() == NASTY
    policy = re.search(
        r'Content-Security-Policy" content="([^"]*)"', (album / "index.html").read_text()
    )[1]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy


def test_the_calendar_shows_each_day_with_its_photos(visit, album):
    seen = visit(album)
    assert texts(seen, ".month h3") == ["January 2023", "February 2023"]
    labels = seen.page.locator("a.date").evaluate_all("cells => cells.map(cell => cell.title)")
    assert labels == [
        "1 January 2023: 30 photos, 3 events",
        "2 January 2023: 30 photos, 3 events",
        "3 February 2023: 20 photos, 2 events",
    ]
    seen.page.locator("a.date").first.focus()
    seen.page.keyboard.press("ArrowRight")
    assert seen.page.evaluate("document.activeElement.title").startswith("2 January")
    seen.page.keyboard.press("Enter")
    assert seen.page.url.endswith("#day-2")


def test_time_per_place_counts_all_days(visit, album):
    seen = visit(album)
    rows = [row.split("\t") for row in texts(seen, ".time tbody tr")]
    assert [(row[0].strip(), row[2], row[3]) for row in rows] == [
        ("kitchen", "1 h 30 min", "2 days"),
        ("office", "1 h", "2 days"),
        ("Place C", "1 h", "2 days"),
    ]
    months = (
        seen.page.locator(".time tbody tr")
        .first.locator(".column")
        .evaluate_all("all => all.map(c => c.title)")
    )
    assert months == ["January 2023: 1 h", "February 2023: 30 min"]


def test_days_are_timelines_in_the_colours_of_the_places(visit, album):
    seen = visit(album)
    colours = seen.page.locator("#day-1 .piece").evaluate_all("all => all.map(p => p.className)")
    assert colours == ["piece c0", "piece c1", "piece c0"]
    assert seen.page.locator("#day-3 .piece").nth(1).get_attribute("class") == "piece c0"
    assert "c-none" in seen.page.locator("#day-2 .piece").nth(2).get_attribute("class")
    left = "all => all.map(p => p.getBoundingClientRect().left)"
    first, third = (seen.page.locator(f"#day-{k} .piece").evaluate_all(left)[0] for k in (1, 3))
    assert first == pytest.approx(third)


def test_search_finds_events_by_name_place_and_day(visit, album):
    seen = visit(album)
    for words, said, n_events, n_days in [
        ("kitchen", "3 events on 2 days", 3, 2),
        ("MEETING", "1 event on 1 day", 1, 1),
        ("office january", "2 events on 2 days", 2, 2),
        ("broken", "1 day", 0, 1),
        # "c" is in "office" and "kitchen", too.
        ("place C", "2 events on 2 days", 2, 2),
        ("place C february", "1 event on 1 day", 1, 1),
        ("Place Z", "Nothing found", 0, 0),
        ("event 3", "2 events on 2 days", 2, 2),
        ("Event 3 january 2 ", "2 events on 2 days", 2, 2),
        ("shot_1_007", "1 event on 1 day", 1, 1),
        ("shot", "8 events on 3 days", 8, 3),
    ]:
        seen.page.fill("#search", words)
        assert seen.page.locator("#found").inner_text() == said, words
        assert seen.page.locator("#results .card").count() == n_events, words
        assert seen.page.locator("#days > li:visible").count() == n_days, words
    seen.page.fill("#search", "kitchen")
    assert seen.page.locator("#found").inner_text() == "3 events on 2 days"
    seen.page.keyboard.press("Escape")
    assert seen.page.locator("#days > li:visible").count() == 4


@pytest.mark.parametrize("width", [1280, 390])
def test_a_search_that_finds_nothing_says_so_in_one_line(visit, album, width):
    seen = visit(album, width=width)
    seen.page.fill("#search", "nothing of this kind")
    assert seen.page.locator("#found").inner_text() == "Nothing found"
    assert seen.page.locator("main").inner_text().strip() == ""
    seen.page.keyboard.press("Escape")
    assert seen.page.locator("#days > li:visible").count() == 4


def test_a_place_that_is_clicked_is_exactly_this_place(visit, album):
    seen = visit(album)
    seen.page.get_by_role("button", name="Place C").click()
    assert seen.page.locator("#found").inner_text() == "2 events on 2 days"


def test_more_like_this_leads_to_other_days(visit, album):
    seen = visit(album)
    seen.page.locator("#day-1 summary").click()
    seen.page.locator("#day-1 .card").first.get_by_role("button", name="More like").click()
    similar = seen.page.locator("#event .cards .card a").evaluate_all(
        "all => all.map(a => a.getAttribute('href'))"
    )
    assert similar == ["day%20%252/index.html#event-2", "day%20%250/index.html#event-3"]
    seen.page.keyboard.press("Escape")
    assert not seen.page.locator("#event").is_visible()


def test_links_open_the_page_of_the_day_at_the_event(visit, album):
    seen = visit(album)
    seen.page.fill("#search", "meeting")
    seen.page.locator("#results .card a").click()
    assert seen.page.url.endswith("/index.html#event-2")
    seen.wait_until("document.activeElement?.value === 'Meeting <b>'")


def test_a_file_that_is_found_opens_enlarged(visit, album):
    seen = visit(album)
    seen.page.fill("#search", "shot_1_017")
    link = seen.page.locator("#results .card a")
    assert link.inner_text() == "SHOT_1_017.jpg"
    with seen.page.expect_navigation():
        link.click()
    seen.wait_until("document.getElementById('viewer').open")
    assert "SHOT_1_017.jpg" in seen.page.locator(".viewer-detail").inner_text()


def test_days_without_clock_or_scripts_are_still_listed(visit, tmp_path):
    plain = Segmentation((Event(0, 4), Event(4, 9)))
    write_overview([Day("x", "x", plain), Day("y", "y", plain)], tmp_path, title="t")
    seen = visit(tmp_path)
    assert seen.complaints == []
    assert seen.page.locator("#calendar").is_hidden()
    assert seen.page.locator("#places").is_hidden()
    assert seen.page.locator(".piece").count() == 4
    assert 'href="x/index.html">x</a>' in (tmp_path / "index.html").read_text()


@pytest.mark.parametrize("width", [1280, 390])
def test_the_search_finds_files_set_aside_and_entries_of_whole_days(visit, tmp_path, width):
    days = made_days()[:3]
    aside = tuple(SetAside(f"Screenshot_{k}.png", "screenshot", f"x{k}") for k in range(12))
    days[1] = replace(days[1], segmentation=replace(days[1].segmentation, set_aside=aside))
    days[2] = replace(days[2], entries=("Anniversary <b>", "Paris"))
    for day in days:
        write_page(day.segmentation, tmp_path / day.folder)
    write_overview(days, tmp_path, title="year")
    seen = visit(tmp_path, width=width)
    assert (
        seen.page.locator(".from-calendar").text_content()
        == "Anniversary <b> · Paris in your calendar"
    )

    def found(text):
        seen.page.fill("#search", text)
        # Rows that were out of view are not laid out at once.
        shown = seen.page.locator("#days > li:not([hidden]) h3").all_text_contents()
        return seen.page.locator("#found").inner_text(), shown

    assert found("screenshot") == ("12 files set aside on 1 day", ["Monday 2 January 2023"])
    assert seen.page.locator("#results").is_hidden()
    assert found("screenshot_11")[0] == "1 file set aside on 1 day"
    assert found("anniversary")[1] == ["Friday 3 February 2023"]
    assert found("anniversary")[0] == "2 events on 1 day"
    assert found("nowhere") == ("Nothing found", [])
    found("screenshot_3")
    seen.page.locator(".found-aside a", has_text="Screenshot_3.png").click()
    seen.wait_until("document.getElementById('aside').open")
    assert seen.page.locator("#aside li").count() == 12
    assert seen.complaints == []


def test_nothing_that_was_set_aside_is_told_of_a_day_with_hidden_photos(tmp_path):
    days = made_days()[:1]
    aside = (SetAside("Screenshot_bank.png", "screenshot", "x"),)
    hidden = replace(days[0].segmentation, set_aside=aside, hidden=(3,))
    write_overview([replace(days[0], segmentation=hidden)], tmp_path, title="year")
    assert "Screenshot_bank" not in (tmp_path / "index.html").read_text()
