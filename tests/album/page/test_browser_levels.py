"""Coarser and finer events, least confidence, and what a person did across levels."""

from __future__ import annotations

from dataclasses import replace

import pytest

from album.page.conftest import COMMUNITIES, made_day, made_picture
from dayline.album.days import segment_recording
from dayline.album.page.page import write_page
from dayline.album.settings import Settings
from dayline.events import NestedLevel, Segmentation
from made_photos import MORNING, name_at, save, scene, write_pictures

LEVELS = (
    NestedLevel(-1, (20, 45), (0.7, 0.8)),
    NestedLevel(0, (8, 20, 45), (0.6, 0.7, 0.8)),
    NestedLevel(1, (4, 8, 20, 30, 45), (0.2, 0.6, 0.7, 0.35, 0.8)),
)


def made_levels() -> Segmentation:
    return replace(made_day(), levels=LEVELS)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("levels")
    pictures = write_pictures(((t, made_picture(t)) for t in range(60)), folder)
    write_page(made_levels(), folder, thumbnails=pictures, communities=COMMUNITIES)
    return folder


def starts(result: Segmentation) -> list[int]:
    return [event.start for event in result.events]


def test_the_slider_goes_finer_and_everything_follows(visit, folder):
    seen = visit(folder)
    assert seen.page.locator("#level-count").inner_text() == "4 events"
    seen.steps("#level", "ArrowRight")
    assert seen.spans() == ["09:00", "09:02", "09:04", "09:10", "09:15", "10:12"]
    assert seen.page.locator(".band .piece").count() == 6
    assert seen.page.locator("#level-count").inner_text() == "6 events"
    assert seen.page.locator("#level").get_attribute("aria-valuetext") == "6 events"
    assert seen.page.locator(".chip").first.inner_text().startswith("Place A\n4 events")
    assert seen.page.locator("#live").inner_text() == "6 events"
    result = seen.saved()
    second, fifth = result.events[1], result.events[4]
    assert (second.start, second.stop, second.community) == (4, 8, 5)
    assert (second.confidence, second.reason) == (0.2, "content")
    assert (second.start_time, second.stop_time) == (result.times[4], result.times[7])
    assert second.key_frame == 6  # the middle, since no key photo of the result is inside
    assert fifth.confidence == 0.35
    assert result.events[3].key_frame == 22
    assert result.events[5] == made_levels().events[3]
    # What is shown is level 0 of what is saved.
    assert [(level.level, level.boundaries) for level in result.levels] == [
        (-2, LEVELS[0].boundaries),
        (-1, LEVELS[1].boundaries),
        (0, LEVELS[2].boundaries),
    ]
    assert seen.complaints == []


def test_coarser_events_take_the_most_frequent_context_and_the_nearest_key(visit, folder):
    seen = visit(folder)
    seen.steps("#level", "ArrowLeft")
    first = seen.saved().events[0]
    assert (first.start, first.stop, first.community, first.key_frame) == (0, 20, 2, 10)
    assert (first.reason, first.confidence) == ("start", None)


def test_steps_in_a_row_are_one_change_and_the_way_back_is_none(visit, folder):
    seen = visit(folder)
    seen.steps("#level", "Home", "End", "ArrowLeft")
    assert seen.saved() == made_levels()
    seen.steps("#level", "Home", "End")
    assert seen.status() == "1 change, in this browser"
    seen.page.click("#undo")
    assert seen.page.locator("#undo").is_disabled()
    assert len(seen.spans()) == 4
    assert seen.page.locator("#level").input_value() == "1"
    seen.page.click("#redo")
    assert seen.page.locator("#level").input_value() == "2"
    assert len(seen.spans()) == 6


def test_what_a_person_set_and_removed_stays_across_levels(visit, folder):
    seen = visit(folder)
    seen.split(2, 33)
    seen.merge(1)
    assert starts(seen.saved()) == [0, 20, 33, 45]
    seen.steps("#level", "ArrowRight")
    finer = seen.saved()
    assert starts(finer) == [0, 4, 20, 30, 33, 45]
    assert finer.events[4].reason == "required"
    seen.steps("#level", "Home")
    assert starts(seen.saved()) == [0, 20, 33, 45]
    # A boundary that only a finer level has is removed for good, too.
    seen.steps("#level", "End")
    seen.merge(1)
    seen.steps("#level", "Home")
    seen.steps("#level", "End")
    assert starts(seen.saved()) == [0, 20, 30, 33, 45]
    for _ in range(20):
        seen.page.keyboard.press("Control+z")
    assert seen.saved() == made_levels()
    assert seen.complaints == []


def test_an_event_with_a_name_stays_as_it_is(visit, folder):
    seen = visit(folder)
    seen.rename(1, "Breakfast")
    seen.rename(2, "Walk")
    seen.steps("#level", "Home")
    assert seen.names() == ["Event 1", "Breakfast", "Walk", "Event 4"]
    seen.steps("#level", "End")
    assert seen.names() == ["Event 1", "Event 2", "Breakfast", "Walk", "Event 5"]
    result = seen.saved()
    assert starts(result) == [0, 4, 8, 20, 45]
    assert result.events[2].confidence == 0.6
    assert result.levels[-1].level == 0


def test_a_key_photo_that_was_chosen_stays_across_levels(visit, folder):
    seen = visit(folder)
    seen.row(0).locator('.strip [data-frame="6"]').click()
    seen.page.keyboard.press("k")
    seen.page.keyboard.press("Escape")
    seen.row(1).locator('.strip [data-frame="15"]').click()
    seen.page.locator("#viewer").get_by_text("Use as key photo").click()
    assert seen.page.locator("#viewer").get_by_text("Use as key photo").is_disabled()
    seen.page.keyboard.press("Escape")
    assert [(e.key_frame, e.key_chosen) for e in seen.saved().events[:3]] == [
        (6, True),
        (15, True),
        (22, False),
    ]
    assert (
        seen.row(0).locator(".key-picture").get_attribute("src")
        == "thumbnails/00000000000000000006.jpg"
    )
    seen.steps("#level", "Home")
    assert seen.saved().events[0].key_frame == 6
    seen.steps("#level", "End")
    assert [e.key_frame for e in seen.saved().events[:3]] == [2, 6, 15]
    seen.merge(1)
    assert seen.saved().events[0].key_frame == 6  # chosen, though the other part is as long


def test_the_least_confidence_leaves_boundaries_out_until_it_is_lowered(visit, folder):
    seen = visit(folder)
    assert seen.page.locator("#least-text").inner_text() == "any"
    seen.split(0, 3)
    seen.steps("#level", "End")
    seen.steps("#least", *["ArrowRight"] * 8)
    assert seen.page.locator("#least-text").inner_text() == "40%"
    # 4 and 30 are below 40%; 3 was set by the person.
    assert starts(seen.saved()) == [0, 3, 8, 20, 45]
    seen.steps("#least", *["ArrowRight"] * 5)
    assert starts(seen.saved()) == [0, 3, 20, 45]
    seen.steps("#least", "Home")
    assert starts(seen.saved()) == [0, 3, 4, 8, 20, 30, 45]
    assert seen.status().startswith("Downloaded as events.json at ")


def test_saved_levels_are_nested_and_come_back(visit, folder, tmp_path):
    seen = visit(folder)
    seen.split(2, 33)
    seen.steps("#level", "End")
    seen.steps("#least", *["ArrowRight"] * 5)
    saved = seen.saved()
    assert {level.level: level.boundaries for level in saved.levels} == {
        -2: (20, 33, 45),
        -1: (8, 20, 33, 45),
        0: (8, 20, 30, 33, 45),
    }
    write_page(saved, tmp_path, communities=COMMUNITIES)
    again = visit(tmp_path)
    assert again.page.locator("#level").input_value() == "2"
    again.steps("#level", "Home")
    assert starts(again.saved()) == [0, 20, 33, 45]


def test_edited_events_are_taken_up_at_the_level_they_belong_to(visit, tmp_path):
    edited = Segmentation.from_boundaries(
        [4, 20, 30, 45], 60, times=made_day().times, clock="wall", levels=LEVELS
    )
    write_page(edited, tmp_path)
    seen = visit(tmp_path)
    assert seen.page.locator("#level").input_value() == "2"
    seen.steps("#level", "ArrowLeft")
    assert starts(seen.saved()) == [0, 20, 45]  # 8 was removed


def test_a_reload_keeps_the_level_and_what_the_person_did(visit, folder):
    seen = visit(folder)
    seen.split(2, 33)
    seen.merge(1)
    seen.steps("#level", "End")
    assert len(seen.spans()) == 6
    seen.reload()
    assert len(seen.spans()) == 6
    assert seen.page.locator("#level").input_value() == "2"
    seen.steps("#level", "ArrowLeft")
    assert starts(seen.saved()) == [0, 20, 33, 45]


def test_without_levels_there_is_no_slider_and_without_confidence_no_filter(
    visit, day_folder, tmp_path
):
    seen = visit(day_folder)
    assert not seen.page.locator("#level").is_visible()
    assert seen.page.locator("#least").is_visible()
    seen.steps("#least", *["ArrowRight"] * 13)
    assert starts(seen.saved()) == [0, 20, 45]
    assert seen.saved().levels == ()
    write_page(Segmentation.from_boundaries([40], 100), tmp_path)
    assert not visit(tmp_path).page.locator("#least").is_visible()


def test_exact_times_of_cuts_survive_a_change_of_level(visit, tmp_path):
    times = tuple(0.5 * k for k in range(60))
    film = Segmentation.from_boundaries([20, 40], 60, times=times, clock="media", source="film.mp4")
    first, second, third = film.events
    cut = (replace(first, stop_time=9.92), replace(second, start_time=9.96), third)
    levels = (
        NestedLevel(-1, (), ()),
        NestedLevel(0, (20, 40), (0.6, 0.4)),
        NestedLevel(1, (10, 20, 40), (0.2, 0.6, 0.4)),
    )
    write_page(replace(film, events=cut, levels=levels), tmp_path)
    seen = visit(tmp_path)
    seen.steps("#level", "Home")
    seen.steps("#level", "End")
    assert [(e.start_time, e.stop_time) for e in seen.saved().events[1:3]] == [
        (5.0, 9.92),
        (9.96, 19.5),
    ]


def test_the_slider_joins_photos_across_pauses_of_the_camera(visit, tmp_path):
    """Six photos six minutes apart among denser ones; each is an event at the usual level."""
    seconds = [20 * k for k in range(40)]
    seconds += [seconds[-1] + 360 * k for k in range(1, 7)]
    seconds += [seconds[-1] + 360 + 20 * k for k in range(40)]
    for k, second in enumerate(seconds):
        colour = "red" if k < 40 else "green" if k < 46 else "blue"
        save(scene(colour, k), tmp_path / "in" / name_at(MORNING + second))
    result = segment_recording(tmp_path / "in", tmp_path / "out", Settings(model="color"))
    assert set(range(40, 47)) <= set(result.segmentation.boundaries)
    seen = visit(tmp_path / "out")
    seen.steps("#level", "Home")
    assert len(seen.names()) <= 4
    joined = [event.start for event in seen.saved().events]
    assert len(set(joined) & set(range(41, 46))) <= 1
