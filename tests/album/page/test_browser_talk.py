"""The page of a talk: what is said in each event, the search for it, and titles of all levels."""

from __future__ import annotations

import pytest

from dayline.album.page.page import write_page
from dayline.album.titles import with_titles
from dayline.events import NestedLevel, Segmentation

SAID = ("glacier <b>ice</b>", "violin concerto", "bread dough")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("talk")
    texts = tuple(f"{SAID[k // 10]} number {k}" for k in range(30))
    talk = Segmentation.from_boundaries(
        [10, 20],
        30,
        times=tuple(5.0 * k for k in range(30)),
        clock="media",
        texts=texts,
        levels=(NestedLevel(-1, (20,), (0.9,)), NestedLevel(0, (10, 20), (0.8, 0.9))),
    )
    write_page(with_titles(talk), folder)
    return folder


def test_the_search_shows_the_events_and_sentences_in_which_it_is_said(visit, folder):
    page = visit(folder).page
    page.fill("#find", "Violin")
    assert page.locator(".event:visible").count() == 1
    assert page.locator(".event:visible .said p").count() == 10
    assert page.locator(".event:visible mark").first.inner_text() == "violin"
    assert page.locator("#found").inner_text() == "10 sentences"
    page.fill("#find", "")
    assert page.locator(".event:visible").count() == 3


def test_what_is_said_is_text_whatever_it_contains(visit, folder):
    page = visit(folder).page
    page.locator(".said summary").first.click()
    lines = page.locator(".said").first.locator("p")
    lines.last.wait_for()
    assert lines.count() == 10
    assert "<b>ice</b>" in lines.first.inner_text()
    assert page.locator(".said b").count() == 0


def test_titles_are_shown_until_there_is_a_name_and_follow_the_level(visit, folder):
    page = visit(folder).page
    names = page.locator(".event .name")
    shown = [names.nth(k).get_attribute("placeholder") for k in range(3)]
    assert ["violin" in title.casefold() for title in shown] == [False, True, False]
    page.evaluate("document.getElementById('decided').open = true")
    page.locator("#level").focus()
    page.keyboard.press("Home")
    assert page.locator(".event").count() == 2
    assert "bread" in names.nth(1).get_attribute("placeholder").casefold()
    page.keyboard.press("End")
    names.nth(1).fill("Music")
    names.nth(1).blur()
    assert names.nth(1).input_value() == "Music"


def test_events_of_a_talk_have_colors_and_no_places(visit, folder):
    page = visit(folder).page
    colors = page.locator(".event").evaluate_all(
        "rows => rows.map((row) => getComputedStyle(row).getPropertyValue('--c') || row.className)"
    )
    assert len(set(colors)) == 3
    assert page.locator("text=Place A").count() == 0
