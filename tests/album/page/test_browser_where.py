"""Towns on the pages of days and of an album."""

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


@pytest.fixture(scope="module")
def album(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("album")
    days = [day_in(TOWNS), day_in([("Sevilla <b>", "Spain")] * 4, after=1)]
    for k, day in enumerate(days):
        write_page(day, folder / f"day {k}")
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
