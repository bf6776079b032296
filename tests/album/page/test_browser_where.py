"""Towns and maps on the pages of days, and towns in the overview."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from album.page.conftest import made_day
from dayline.album.page.overview import Day, write_overview
from dayline.album.page.page import write_page
from dayline.events import Segmentation

TOWNS = [("Lisbon", "Portugal"), ("Lisbon", "Portugal"), ("Sintra", "Portugal"), (None, None)]
DAY = 86_400.0
NASTY = "</script><b>Town"


def day_in(towns, *, after: int = 0) -> Segmentation:
    day = made_day()
    events = tuple(
        replace(
            event,
            town=town,
            country=country,
            location=None if town is None else (38.7, -9.1),
            start_time=event.start_time + after * DAY,
            stop_time=event.stop_time + after * DAY,
        )
        for event, (town, country) in zip(day.events, towns, strict=True)
    )
    times = tuple(time + after * DAY for time in day.times)
    return replace(day, events=events, times=times)


DAY_MAP = {
    # Ten kilometers to the east, then four to the south.
    "points": [[0, -5.0, -2.0], [10, 5.0, -2.0], [30, 5.0, 2.0], [50, 5.0, 2.0]],
    "towns": [["Lisbon", 5.0, 2.0], ["Sintra", -5.0, -2.0], [NASTY, 0.0, 0.0], ["Far", 90.0, 0.0]],
}


@pytest.fixture(scope="module")
def album(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("album")
    days = [day_in(TOWNS), day_in([("Sevilla <b>", "Spain")] * 4, after=1)]
    for k, day in enumerate(days):
        write_page(day, folder / f"day {k}", day_map=None if k else DAY_MAP)
    rows = [Day(f"day {k}", f"day {k}", day) for k, day in enumerate(days)]
    write_overview(rows, folder, title="holiday")
    return folder


def test_events_say_their_town_and_have_it_in_their_title_if_a_day_has_several(visit, album):
    seen = visit(album / "day 0")
    titles = seen.page.locator(".event .name").evaluate_all("all => all.map(e => e.placeholder)")
    in_lisbon = "Morning in Lisbon"
    assert titles == [in_lisbon, in_lisbon, "Morning in Sintra", "Morning"]
    overview = visit(album)
    overview.page.locator("#day-1 .events summary").click()
    assert overview.page.locator("#day-1 .card-title").all_inner_texts() == titles
    assert "Lisbon, Sintra" in seen.page.locator("#summary").inner_text()
    assert seen.row(2).locator(".town").inner_text() == "Sintra, Portugal"
    seen.rename(2, "The palace")
    assert seen.names()[2] == "The palace"
    assert seen.saved().events[2].town == "Sintra"
    assert seen.complaints == []


def test_a_town_of_a_whole_day_is_not_repeated_in_titles(visit, album):
    seen = visit(album / "day 1")
    title = seen.row(0).locator(".name")
    assert title.get_attribute("placeholder") == "Morning"
    assert "Sevilla <b>" in seen.page.locator("#summary").inner_text()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("sintra", "1 event on 1 day"),
        ("portugal", "3 events on 1 day"),
        ("spain", "4 events on 1 day"),
    ],
)
def test_the_search_finds_towns_and_countries(visit, album, words, said):
    seen = visit(album)
    seen.page.fill("#search", words)
    assert seen.page.locator("#found").inner_text() == said
    assert "Lisbon, Sintra" in seen.page.locator("#day-1").text_content()
    assert seen.complaints == []


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("color_scheme", ["light", "dark"])
def test_the_map_shows_the_way_in_the_colors_of_the_events(visit, album, width, color_scheme):
    seen = visit(album / "day 0", width=width, color_scheme=color_scheme)
    page = seen.page
    colors = "all => all.map(e => e.className.baseVal.split(' ').at(-1))"
    lines = page.locator(".map-line").evaluate_all(colors)
    assert page.locator(".map-point").evaluate_all(colors) == lines
    assert len(lines) == 4

    # All on one scale, inside: the way south is 0.4 times as long as the way east.
    at = "all => all.map(e => [+e.getAttribute('cx'), +e.getAttribute('cy')])"
    (x0, y0), (x1, y1), (x2, y2), _ = page.locator(".map-point").evaluate_all(at)
    assert y0 == y1
    assert x1 == x2
    assert (y2 - y1) / (x1 - x0) == pytest.approx(0.4, abs=0.01)
    box = page.locator(".map-box").bounding_box()
    assert 0 < x0 < x1 < box["width"] <= width
    assert page.locator(".map-name").all_text_contents() == ["Lisbon", "Sintra", NASTY]
    assert "Map of the day" in page.locator(".map svg").get_attribute("aria-label")
    # The pictures come first.
    assert page.evaluate("document.querySelector('#best ~ #map') !== null")
    assert seen.complaints == []


def test_a_point_of_the_map_opens_its_photo_and_a_merged_event_is_one_line(visit, album):
    seen = visit(album / "day 0")
    seen.page.locator('.map-point[data-frame="10"]').click()
    assert "09:05" in seen.page.locator(".viewer-detail").inner_text()
    seen.page.keyboard.press("Escape")
    seen.merge(1)
    assert seen.page.locator(".map-line").count() == 3


def test_a_hidden_photo_is_not_on_the_map(visit, album):
    seen = visit(album / "day 0")
    seen.row(1).locator("[data-action=hide]").click()
    frames = "all => all.map(e => e.dataset.frame)"
    assert seen.page.locator(".map-point").evaluate_all(frames) == ["0", "30", "50"]
    seen.row(0).locator("[data-action=hide]").click()
    seen.row(0).locator("[data-action=hide]").click()  # the third event, now the first of the list
    assert not seen.page.locator("#map").is_visible()
    seen.page.click("#undo")
    assert seen.page.locator(".map-point").evaluate_all(frames) == ["30", "50"]


def test_a_hidden_photo_takes_the_coordinates_but_not_the_town_of_the_others(visit, album):
    seen = visit(album / "day 0")
    seen.row(1).locator("[data-action=hide]").click()
    seen.page.evaluate("location.hash = '#photo-1'")
    seen.page.locator(".viewer[open]").wait_for()
    seen.page.keyboard.press("h")
    seen.page.keyboard.press("Escape")
    events = seen.saved().events
    assert [(event.town, event.location) for event in events[:2]] == [
        ("Lisbon", None),
        (None, None),
    ]
    # All events of this day have the same coordinates, as the parts of a divided one have.
    assert (events[2].town, events[2].location) == ("Sintra", None)


def test_a_day_without_locations_has_no_map(visit, album):
    seen = visit(album / "day 1")
    assert not seen.page.locator("#map").is_visible()
    assert seen.complaints == []
