"""Entries of a calendar as suggestions on the page."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from album.page.conftest import MORNING, made_day
from dayline.album.calendars import Entry
from dayline.album.page.page import write_page

NASTY = "</script><img src=x onerror=alert(1)>"


@pytest.fixture
def suggested(tmp_path) -> Path:
    """The made day with a name of a person, and a calendar.

    Its events begin at 9:00, 9:04 and 9:10 (named), and after a pause at 10:12:30.
    """
    day = made_day()
    named = replace(day.events[2], name="Mine")
    day = replace(day, events=(*day.events[:2], named, *day.events[3:]))
    at = [MORNING + 60 * minutes for minutes in range(100)]
    entries = (
        Entry(NASTY, at[3], at[10]),
        Entry("Breakfast", at[0] - 600, at[3]),
        Entry("Not this one", at[10], at[22]),
        Entry("Far too long", at[0] - 86_400, at[99] + 86_400),
        Entry("Holiday <b>", at[0] - 86_400, at[99] + 86_400, all_day=True),
    )
    write_page(day, tmp_path, calendar=entries)
    return tmp_path


def shown(seen) -> list[str]:
    return [text for text in seen.page.locator(".suggestion").all_inner_texts() if text]


@pytest.mark.parametrize("width", [1280, 390])
def test_a_suggestion_is_light_until_a_person_takes_it(visit, suggested, width):
    seen = visit(suggested, width=width)
    assert shown(seen) == ["Name it “Breakfast”", f"Name it “{NASTY}”"]
    assert seen.names() == ["Event 1", "Event 2", "Mine", "Event 4"]
    assert "Holiday <b>" in seen.page.locator(".from-calendar").inner_text()

    seen.row(0).locator(".suggestion").click()
    assert seen.names()[0] == "Breakfast"
    assert shown(seen) == [f"Name it “{NASTY}”"]
    seen.row(1).locator(".suggestion").click()
    saved = seen.saved()
    assert [event.name for event in saved.events] == ["Breakfast", NASTY, "Mine", None]
    assert seen.complaints == []


def test_a_suggestion_that_was_taken_can_be_taken_back(visit, suggested):
    seen = visit(suggested)
    seen.row(0).locator(".suggestion").click()
    seen.page.click("#undo")
    assert seen.names()[0] == "Event 1"
    assert shown(seen)[0] == "Name it “Breakfast”"
    assert seen.saved().events[0].name is None


def test_events_that_are_merged_have_the_suggestion_of_their_time(visit, suggested):
    seen = visit(suggested)
    seen.merge(1)
    # Both together last ten minutes; of them, six are the second entry and three the first.
    assert shown(seen) == [f"Name it “{NASTY}”"]
