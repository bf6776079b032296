"""Events have titles by themselves, of what is known of them, until a person names them."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import pytest

from album.page.conftest import made_day, made_picture
from dayline.album.export.table import event_titles
from dayline.album.page.overview import Day, write_overview
from dayline.album.page.page import write_page
from dayline.album.page.template import bundle
from dayline.album.titles import automatic_title
from dayline.events import Place
from made_photos import write_pictures

HOUR = 3600


@pytest.fixture
def title(chromium):
    """Call the function of the page that makes titles."""
    tab = chromium.new_page()
    script = bundle("titles").replace('"use strict";\n(() => {', "(known) => {")
    script = script.rpartition("})();")[0] + "return automaticTitle(known); }"
    yield lambda **known: tab.evaluate(script, {"start": None, "stop": None, **known})
    tab.close()


@pytest.mark.parametrize(
    ("hour", "expected"),
    [
        (0, "Night"),
        (4.9, "Night"),
        (5, "Early morning"),
        (8, "Morning"),
        (11, "Midday"),
        (14, "Afternoon"),
        (18, "Evening"),
        (22, "Night"),
        (24 + 9, "Morning"),
        (-1, "Night"),
    ],
)
def test_the_part_of_the_day_is_the_title_if_nothing_else_is_known(title, hour, expected):
    assert title(start=hour * HOUR, stop=hour * HOUR + 60) == expected
    with_town = title(start=hour * HOUR, stop=hour * HOUR + 60, town="Palma")
    assert with_town == f"{expected} in Palma"


@pytest.mark.parametrize(
    ("minutes", "expected"),
    [
        (9, "At the sea"),
        (10, "At the sea, 10 minutes"),
        (41, "At the sea, 40 minutes"),
        (89, "At the sea, 1½ hours"),
        (120, "At the sea, 2 hours"),
    ],
)
def test_the_name_of_a_place_comes_with_the_time_spent_there(title, minutes, expected):
    assert title(start=0, stop=60 * minutes, place="At the sea", town="Palma") == expected


def test_an_event_soon_after_one_with_a_name_is_after_it(title):
    lunch = {"name": "Lunch", "stop": 14 * HOUR}
    assert title(start=14.5 * HOUR, stop=15 * HOUR, before=lunch) == "After Lunch"
    assert title(start=15.5 * HOUR, stop=16 * HOUR, before=lunch) == "Afternoon"
    # Nobody gave that one a name.
    assert title(start=14 * HOUR, stop=15 * HOUR, before=lunch | {"name": None}) == "Afternoon"


def test_without_a_time_only_the_place_is_known(title):
    assert title(place="Kitchen") == "Kitchen"
    assert title(town="Palma") == "Palma"
    assert title() is None


def test_exports_call_events_as_the_page_does(title):
    before = {"name": "Lunch", "stop": 14 * HOUR}
    spans = [(None, None), (14.0, 14.1), (14.99, 17.24), (15.01, 15.2), (-1.0, -0.5), (23.5, 24.75)]
    for start, stop in spans:
        times = [time if time is None else HOUR * time for time in (start, stop)]
        for place, town, last in product((None, "Sea"), (None, "Palma"), (None, before)):
            shown = title(start=times[0], stop=times[1], place=place, town=town, before=last)
            ended = None if last is None else (last["name"], last["stop"])
            made = automatic_title(*times, place=place or "", town=town or "", before=ended)
            assert made == (shown or "")


def test_day_and_overview_call_events_the_same_and_people_see_places(visit, tmp_path):
    day = replace(made_day(), places=(Place(5, "At the sea"),))
    day = replace(day, events=(replace(day.events[0], name="Breakfast"), *day.events[1:]))
    expected = ["Breakfast", "After Breakfast", "At the sea, 10 minutes", "Morning"]
    assert list(event_titles(day)) == expected
    write_page(day, tmp_path / "day")
    write_overview([Day("day", "day", day)], tmp_path, title="trip")
    seen = visit(tmp_path / "day")
    shown = seen.page.locator(".event .name").evaluate_all(
        "all => all.map(field => field.value || field.placeholder)"
    )
    assert shown == expected
    assert "context" not in seen.page.locator("body").inner_text().lower()
    seen.rename(1, "Walk")
    assert seen.row(2).locator(".name").get_attribute("placeholder") == expected[2]
    overview = visit(tmp_path)
    overview.page.locator("#day-1 .events summary").click()
    assert overview.page.locator("#day-1 .card-title a").all_inner_texts() == expected
    overview.page.locator("#search").fill("at the sea, 10")
    assert overview.page.locator("#results .card-title a").all_inner_texts() == expected[2:3]
    assert "context" not in overview.page.locator("body").inner_text().lower()


def test_pictures_without_a_time_have_no_caption_of_a_number(visit, tmp_path):
    day = replace(made_day(), times=(None,) * 60, dates=("2023-07-16",) * 60, scores=None)
    untimed = [replace(event, start_time=None, stop_time=None) for event in day.events]
    day = replace(day, events=(*untimed[:3], replace(untimed[3], name="Picnic")))
    pictures = write_pictures(((t, made_picture(t)) for t in range(60)), tmp_path)
    write_page(day, tmp_path, thumbnails=pictures)
    captions = visit(tmp_path).page.locator(".best-one .caption").all_inner_texts()
    assert [caption.strip() for caption in captions] == ["", "", "", "Picnic"]
