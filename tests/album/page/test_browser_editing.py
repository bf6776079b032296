"""The page in a browser: a person corrects the events, and what is saved says so."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from album.page.conftest import edges
from dayline.album.page.page import write_page
from dayline.events import Segmentation, events_schema


def test_what_was_not_touched_is_saved_unchanged(visit, day_folder, day):
    seen = visit(day_folder)
    seen.rename(1, "Breakfast")
    events = list(day.events)
    events[1] = replace(events[1], name="Breakfast")
    assert seen.saved() == replace(day, events=tuple(events))
    assert seen.status().startswith("Downloaded as events.json at ")


def test_merging_joins_an_event_with_the_one_before(visit, day_folder, day):
    seen = visit(day_folder)
    seen.merge(2)
    assert seen.spans() == ["09:00", "09:04", "10:12"]
    merged = seen.saved().events[1]
    assert (merged.start, merged.stop) == (8, 45)
    assert (merged.reason, merged.confidence) == ("content", day.events[1].confidence)
    assert (merged.start_time, merged.stop_time) == (
        day.events[1].start_time,
        day.events[2].stop_time,
    )
    assert merged.community == 5  # 25 of its 37 frames
    assert merged.key_frame == 22  # of the larger part
    assert seen.complaints == []


def test_a_merged_event_keeps_the_name_that_is_there(visit, day_folder):
    seen = visit(day_folder)
    seen.row(2).locator(".name").fill("Lunch")
    seen.merge(2)
    assert seen.names() == ["Event 1", "Lunch", "Event 3"]
    assert [event.name for event in seen.saved().events] == [None, "Lunch", None]


def test_splitting_makes_a_boundary_that_was_asked_for(visit, day_folder, day):
    seen = visit(day_folder)
    seen.split(2, 30)
    assert not seen.page.locator("#chooser").is_visible()
    result = seen.saved()
    first, second = result.events[2:4]
    assert edges(result) == [(0, 8), (8, 20), (20, 30), (30, 45), (45, 60)]
    assert (first.reason, first.confidence, first.key_frame) == (
        "both",
        day.events[2].confidence,
        22,
    )
    assert (second.reason, second.confidence, second.key_frame) == ("required", 1, 37)
    assert (first.stop_time, second.start_time) == (day.times[29], day.times[30])
    assert (first.community, second.community) == (5, 5)


def test_moving_a_boundary_changes_both_events(visit, day_folder, day):
    seen = visit(day_folder)
    seen.row(1).locator("[data-action=move]").click()
    choices = seen.page.locator("#chooser [data-frame]").evaluate_all(
        "all => all.map(e => Number(e.dataset.frame))"
    )
    assert choices == list(range(1, 20))  # no event may become empty
    seen.page.locator('#chooser [data-frame="5"]').click()
    result = seen.saved()
    before, after = result.events[:2]
    assert edges(result) == [(0, 5), (5, 20), (20, 45), (45, 60)]
    assert (before.reason, before.confidence) == ("start", None)
    assert (after.reason, after.confidence, after.interval) == ("required", 1, (5, 5))
    assert (before.stop_time, after.start_time) == (day.times[4], day.times[5])


def test_a_boundary_moves_with_keys_alone(visit, day_folder):
    seen = visit(day_folder)
    seen.row(3).locator("[data-action=move]").focus()
    for key in ("Enter", "ArrowDown", "ArrowUp", "ArrowLeft", "ArrowLeft", "Enter"):
        seen.page.keyboard.press(key)
    assert edges(seen.saved())[2:] == [(20, 43), (43, 60)]


def test_escape_leaves_the_boundary_where_it_was(visit, day_folder):
    seen = visit(day_folder)
    seen.row(3).locator("[data-action=move]").click()
    seen.page.keyboard.press("ArrowLeft")
    seen.page.keyboard.press("Escape")
    assert seen.spans() == ["09:00", "09:04", "09:10", "10:12"]
    assert not seen.page.locator("#bar").is_visible()


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        ("s", [(0, 8), (8, 20), (20, 22), (22, 45), (45, 60)]),
        ("m", [(0, 8), (8, 45), (45, 60)]),
        ("b", [(0, 8), (8, 22), (22, 45), (45, 60)]),
        ("e", [(0, 8), (8, 20), (20, 23), (23, 60)]),
    ],
)
def test_keys_correct_events_in_the_enlarged_view(visit, day_folder, key, expected):
    seen = visit(day_folder)
    seen.row(2).locator(".key").click()  # frame 22
    seen.page.keyboard.press(key)
    seen.page.keyboard.press("Escape")
    assert edges(seen.saved()) == expected


def test_the_first_event_cannot_be_merged_up_nor_its_start_moved(visit, day_folder):
    seen = visit(day_folder)
    assert not seen.row(0).locator("[data-action=merge]").is_visible()
    assert not seen.row(0).locator("[data-action=move]").is_visible()
    seen.row(0).locator(".key").click()
    for key in ("m", "b", "Home", "s"):
        seen.page.keyboard.press(key)
    seen.page.keyboard.press("Escape")
    assert len(seen.spans()) == 4
    assert not seen.page.locator("#bar").is_visible()


def test_undo_and_redo_go_back_and_forth(visit, day_folder, day):
    seen = visit(day_folder)
    seen.merge(1)
    seen.merge(1)
    seen.rename(0, "All morning")
    assert seen.names() == ["All morning", "Event 2"]
    seen.page.click("#undo")
    assert seen.names() == ["Event 1", "Event 2"]
    seen.page.click("#undo")
    assert seen.spans() == ["09:00", "09:10", "10:12"]
    seen.page.keyboard.press("Control+z")
    assert seen.spans() == ["09:00", "09:04", "09:10", "10:12"]
    seen.page.keyboard.press("Control+Shift+z")
    seen.page.click("#redo")
    seen.page.click("#redo")
    assert seen.names() == ["All morning", "Event 2"]
    for _ in range(3):
        seen.page.keyboard.press("Control+z")
    assert seen.saved() == day


def test_a_click_on_a_button_while_a_name_is_typed_does_both(visit, day_folder):
    seen = visit(day_folder)
    seen.row(2).locator(".name").fill("Walk")
    seen.split(2, 40)
    assert [event.name for event in seen.saved().events] == [None, None, "Walk", None, None]


def test_a_name_is_trimmed_and_an_empty_one_removed(visit, day_folder):
    seen = visit(day_folder)
    name = seen.row(0).locator(".name")
    name.fill("  Tea  ")
    name.press("Enter")
    assert seen.saved().events[0].name == "Tea"
    name.fill("   ")
    name.press("Enter")
    assert seen.saved().events[0].name is None
    name.fill("not this")
    name.press("Escape")
    assert seen.saved().events[0].name is None


def test_pictures_of_untouched_rows_are_kept_when_events_change(visit, day_folder):
    seen = visit(day_folder)
    seen.page.evaluate("document.querySelectorAll('.event')[3].marked = true")
    seen.merge(1)
    assert seen.page.evaluate("document.querySelectorAll('.event')[2].marked") is True
    assert seen.names()[2] == "Event 3"


def test_odd_names_come_back_as_they_were(visit, tmp_path, day):
    odd = "caf\udce9 \U0001f600 </script> \u2028 שלום \\ \"'.jpg"
    write_page(replace(day, names=(odd,) * 60), tmp_path)
    seen = visit(tmp_path)
    seen.rename(0, "</script><b>é😀")
    result = seen.saved()
    assert result.names == (odd,) * 60
    assert result.events[0].name == "</script><b>é😀"


def test_the_saved_file_keeps_to_the_schema_and_to_plain_ascii(visit, tmp_path):
    jsonschema = pytest.importorskip("jsonschema", reason="jsonschema is not installed")
    write_page(Segmentation.from_boundaries([40], 100, source="é.npy"), tmp_path)
    seen = visit(tmp_path)
    seen.split(1, 70)
    with seen.page.expect_download() as download:
        seen.page.keyboard.press("Control+s")
    text = Path(download.value.path()).read_text(encoding="ascii")
    jsonschema.validate(json.loads(text), events_schema())
    assert list(json.loads(text))[:4] == ["format", "version", "n_frames", "events"]
    assert edges(Segmentation.from_json(text)) == [(0, 40), (40, 70), (70, 100)]


def test_an_events_context_follows_its_frames(visit, day_folder):
    seen = visit(day_folder)
    seen.move(1, 18)
    # 10 of the first 18 frames are of context 2.
    assert [event.community for event in seen.saved().events] == [2, 2, 5, 7]


def test_the_dialogs_say_where_earlier_photos_go(visit, day_folder):
    seen = visit(day_folder)
    said = seen.page.locator("#chooser .chooser-head p")
    seen.row(1).locator("[data-action=split]").click()
    assert said.inner_text() == "Choose its first photo. Earlier photos stay in Event 2."
    seen.page.keyboard.press("Escape")
    seen.row(1).locator("[data-action=move]").click()
    assert said.inner_text() == "Choose its first photo. Earlier photos join Event 1."
