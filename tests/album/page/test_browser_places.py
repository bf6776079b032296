"""Contexts get letters without gaps and names; events have addresses."""

from __future__ import annotations

from dataclasses import replace

import pytest

from album.page.conftest import ASKS_ON_CLOSE
from dayline.album.export.table import context_labels
from dayline.album.page.page import renew_page, write_page
from dayline.events import Event, Place, Segmentation

COMMUNITIES = (9, 5, 3, 5, 8, 3, 2, 8)


def made(places=()):
    events = tuple(
        Event(10 * k, 10 * k + 10, community=c, start_time=600.0 * k, stop_time=600.0 * k + 300)
        for k, c in enumerate(COMMUNITIES)
    )
    times = tuple(60.0 * t for t in range(80))
    return Segmentation(
        events, times=times, clock="wall", places=tuple(Place(*place) for place in places)
    )


@pytest.fixture
def opened(visit, tmp_path):
    def open_page(places=(), **about):
        day = made(places)
        communities = [c for c in COMMUNITIES for _ in range(10)]
        write_page(day, tmp_path, communities=communities)
        return visit(tmp_path, **about)

    return open_page


def tags(seen):
    return seen.page.locator(".tag-text").all_inner_texts()


def chips(seen):
    return seen.page.locator(".chip-title").all_inner_texts()


def name(seen, text, *, only=False):
    seen.page.locator(".place-input").fill(text)
    if only:
        seen.page.get_by_label("this event only").check()
    seen.page.click("#place-save")


def test_letters_have_no_gaps_and_agree_with_the_exports(opened):
    seen = opened()
    assert chips(seen) == ["Place A", "Place B", "Place C", "Seen once"]
    shown = [tag.removeprefix("Place ").replace("Seen once", "") for tag in tags(seen)]
    assert shown == list(context_labels(made())) == ["", "A", "B", "A", "C", "B", "", "C"]
    assert seen.complaints == []


def test_names_and_letters_agree_with_the_exports(opened):
    places = [(3, "office"), (9, "hall"), (2, None, "p1"), (8, None, "p1")]
    shown = [tag.removeprefix("Place ") for tag in tags(opened(places))]
    assert (
        shown
        == list(context_labels(made(places)))
        == ["hall", "A", "office", "A", "B", "office", "B", "B"]
    )


def test_a_context_is_named_from_its_chip_and_saved(opened):
    seen = opened()
    seen.page.get_by_role("button", name="Name Place B").first.click()
    name(seen, "  kitchen ")
    assert chips(seen) == ["Place A", "kitchen", "Place C", "Seen once"]
    assert tags(seen)[2] == tags(seen)[5] == "kitchen"
    assert seen.saved().places == (Place(3, "kitchen"),)
    seen.page.click("#undo")
    assert chips(seen) == ["Place A", "Place B", "Place C", "Seen once"]
    assert seen.complaints == []


def test_a_context_seen_once_is_named_from_its_event(opened):
    seen = opened()
    seen.row(6).locator(".place-button").click()
    assert not seen.page.locator(".place-dialog fieldset").is_visible()
    name(seen, "<b>hall</b>")
    assert tags(seen)[6] == "<b>hall</b>"
    assert "<b>hall</b>" in chips(seen)
    assert seen.saved().places == (Place(2, "<b>hall</b>"),)


def test_two_contexts_with_one_name_are_one_place(opened):
    seen = opened()
    for row in (1, 2):
        seen.row(row).locator(".place-button").click()
        name(seen, "kitchen")
    assert chips(seen) == ["kitchen", "Place C", "Seen once"]
    assert "4 events" in seen.page.locator(".chip-detail").first.inner_text()
    rows = [seen.row(k).get_attribute("class") for k in (1, 2, 3, 5)]
    assert len(set(rows)) == 1
    seen.page.locator(".chip").first.click()
    assert len(seen.names()) == 4
    assert {place.name for place in seen.saved().places} == {"kitchen"}


def test_one_event_is_moved_to_another_place_or_to_a_new_one(opened):
    seen = opened([(5, "kitchen", "p1")])
    seen.row(2).locator(".place-button").click()
    name(seen, "kitchen", only=True)
    assert [tags(seen)[k] for k in (1, 2, 3, 5)] == ["kitchen", "kitchen", "kitchen", "Seen once"]
    seen.row(3).locator(".place-button").click()
    name(seen, "cellar", only=True)
    saved = seen.saved()
    assert [event.community for event in saved.events] == [9, 5, 5, 10, 8, 3, 2, 8]
    assert set(saved.places) == {Place(5, "kitchen", "p1"), Place(10, "cellar")}


def test_an_event_that_was_moved_stays_when_its_start_moves(opened):
    seen = opened()
    seen.row(4).locator(".place-button").click()
    name(seen, "cellar", only=True)
    seen.move(4, 42)
    events = seen.saved().events
    assert (events[4].start, events[4].community) == (42, 10)


def test_the_dialog_works_with_keys_alone(opened):
    seen = opened()
    button = seen.page.get_by_role("button", name="Name Place A").first
    button.focus()
    seen.page.keyboard.press("Enter")
    seen.page.keyboard.type("office")
    seen.page.keyboard.press("Enter")
    assert chips(seen)[0] == "office"
    seen.page.get_by_role("button", name="Rename office").first.focus()
    seen.page.keyboard.press("Enter")
    seen.page.keyboard.type("other")
    seen.page.keyboard.press("Escape")
    assert chips(seen)[0] == "office"


def test_the_address_of_an_event_shows_it(opened, tmp_path):
    seen = opened()
    seen.open((tmp_path / "index.html").as_uri() + "#event-7")
    seen.reload()
    assert seen.page.evaluate("document.activeElement.closest('.event').dataset.event") == "6"
    box = seen.row(6).bounding_box()
    assert 0 <= box["y"] < 800
    seen.open((tmp_path / "index.html").as_uri() + "#event-99")
    assert seen.complaints == []


def test_places_of_a_written_page_are_replaced_safely(visit, tmp_path):
    write_page(made(), tmp_path)
    before = (tmp_path / "index.html").read_text()
    renew_page(made().about(places=(Place(5, "</script><b>x"), Place(3, "a & b"))), tmp_path)
    seen = visit(tmp_path)
    assert chips(seen)[:2] == ["</script><b>x", "a & b"]
    renew_page(made(), tmp_path)
    assert (tmp_path / "index.html").read_text() == before


def test_an_event_moved_to_a_place_stays_there_after_a_reload_and_on_a_renewed_page(
    opened, tmp_path
):
    seen = opened()
    seen.row(1).locator(".place-button").click()
    name(seen, "cellar", only=True)
    assert [tags(seen)[k] for k in (1, 3)] == ["cellar", "Seen once"]
    seen.reload()
    seen.wait_until("document.querySelectorAll('.tag-text')[1].textContent === 'cellar'")
    events = list(made().events)
    events[6] = replace(events[6], name="later")
    renew_page(made().about(events=tuple(events)), tmp_path)
    seen.reload()
    seen.answer("Restore")
    assert [tags(seen)[k] for k in (1, 3)] == ["cellar", "Seen once"]
    assert seen.names()[6] == "later"
    assert seen.complaints == []


def test_undo_keys_stay_in_the_dialog_and_leaving_the_page_with_text_in_it_asks(opened):
    seen = opened([(3, "office")])
    seen.rename(0, "Lunch")
    seen.saved()
    assert seen.page.evaluate(ASKS_ON_CLOSE) is False
    seen.row(1).locator(".place-button").click()
    assert seen.page.evaluate(ASKS_ON_CLOSE) is False
    seen.page.keyboard.type("Kitchen")
    assert seen.page.evaluate(ASKS_ON_CLOSE) is True
    field = seen.page.locator(".place-input")
    for key, text in [("Control+z", ""), ("Control+y", "Kitchen")]:
        seen.page.keyboard.press(key)
        assert field.input_value() == text  # the browser takes back what was typed
        assert seen.names()[0] == "Lunch"
    seen.page.get_by_label("this event only").focus()
    seen.page.keyboard.press("Control+z")
    assert seen.names()[0] == "Lunch"
    seen.page.keyboard.press("Escape")
    assert seen.page.evaluate(ASKS_ON_CLOSE) is False
    # A name that is there already is no change.
    seen.page.get_by_role("button", name="Rename office").first.click()
    assert seen.page.evaluate(ASKS_ON_CLOSE) is False
    seen.page.keyboard.press("Escape")
    seen.page.keyboard.press("Control+z")
    assert seen.names()[0] == "Event 1"
    assert seen.complaints == []


def test_control_z_does_not_change_events_while_the_first_photo_of_one_is_chosen(opened):
    seen = opened()
    seen.merge(1)
    assert seen.page.evaluate("document.activeElement.closest('.event').dataset.event") == "0"
    seen.row(3).locator("[data-action=move]").click()
    seen.page.keyboard.press("Control+z")
    assert len(seen.names()) == 7
    seen.page.keyboard.press("Escape")
    seen.row(0).locator(".name").focus()
    seen.page.keyboard.press("Control+z")  # nothing is typed there: this takes back the merge
    assert len(seen.names()) == 8


def test_what_is_typed_is_kept_if_another_tab_names_the_place_and_the_row_is_filtered_out(
    opened, visit, tmp_path
):
    first = opened()
    second = visit(tmp_path)
    second.page.locator(".chip", has_text="Seen once").click()
    assert second.names() == ["Event 1", "Event 7"]
    second.row(1).locator(".name").click()
    second.page.keyboard.type("Nap")
    first.row(6).locator(".place-button").click()
    name(first, "sofa")
    second.wait_until("document.querySelectorAll('.event').length === 1")
    second.page.click("#show-all-events")
    assert second.names()[6] == "Nap"
    assert tags(second)[6] == "sofa"
    first.wait_until("document.querySelectorAll('.event .name')[6].value === 'Nap'")
    assert first.complaints == second.complaints == []
