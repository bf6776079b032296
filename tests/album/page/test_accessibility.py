"""Accessibility of all pages: what axe-core finds, and the whole page with the keyboard alone."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from album.page.conftest import COMMUNITIES, MORNING, made_day, made_picture
from dayline.album.calendars import Entry
from dayline.album.export.story import SharedDay, write_story
from dayline.album.page.overview import Day, SequenceRow, write_overview, write_sequences
from dayline.album.page.page import write_page
from dayline.events import NestedLevel, Segmentation, SetAside
from made_photos import write_pictures

LEVELS = (NestedLevel(-1, (20, 45), (0.7, 0.8)), NestedLevel(0, (8, 20, 45), (0.6, 0.7, 0.8)))
SCREENS = [(1280, "light"), (1280, "dark"), (390, "light"), (320, "dark")]


def photos(folder: Path) -> None:
    pictures = write_pictures(((t, made_picture(t)) for t in range(62)), folder)
    day = made_day()
    events = (*day.events[:3], replace(day.events[3], name="Lunch", location=(41.4, 2.2)))
    durations = tuple(75.0 if t == 3 else None for t in range(60))
    aside = tuple(SetAside(f"Screenshot_{k}.png", "screenshot", f"s{k}") for k in range(2))
    day = replace(day, events=events, levels=LEVELS, durations=durations, set_aside=aside)
    originals = [folder / "thumbnails" / f"{t:020d}.jpg" for t in range(62)]
    graph = 0.1 + 0.8 * np.equal.outer(COMMUNITIES, COMMUNITIES)
    write_page(
        day,
        folder,
        thumbnails=pictures,
        graph=graph,
        communities=COMMUNITIES,
        originals=originals,
        day_map={"points": [[0, -5.0, 0.0], [30, 5.0, 2.0]], "towns": [["Lisbon", 5.0, 2.0]]},
        calendar=(
            Entry("Breakfast", MORNING, MORNING + 600),
            Entry("Holiday", MORNING, MORNING, all_day=True),
        ),
    )


def without_pictures(folder: Path) -> None:
    write_page(replace(made_day(), levels=LEVELS), folder, communities=COMMUNITIES)


def film(folder: Path) -> None:
    times = tuple(0.5 * k for k in range(60))
    found = Segmentation.from_boundaries(
        [20, 40], 60, times=times, clock="media", source="film.mp4"
    )
    pictures = write_pictures(((k, made_picture(k)) for k in range(0, 60, 2)), folder)
    write_page(found, folder, thumbnails=pictures, film=folder / "film.mp4")


def table(folder: Path) -> None:
    write_page(Segmentation.from_boundaries([40], 100, source="features.npy"), folder)


def several_days(folder: Path) -> None:
    times = [1426118400.0 + 86400 * (t // 10) + 3600 * 9 + 60 * t for t in range(30)]
    write_page(
        Segmentation.from_boundaries([5, 10, 20], 30, times=tuple(times), clock="wall"), folder
    )


def located_day(number: int) -> Day:
    """A day at home, or one of the fourth and fifth, which are a trip."""
    day, town = made_day(), "Lisbon" if number in (4, 5) else "Hamburg"
    location = {"Lisbon": (38.7, -9.1), "Hamburg": (53.6, 10.0)}[town]
    events = tuple(replace(event, location=location, town=town) for event in day.events)
    times = tuple(time + 86_400 * number for time in day.times)
    return Day(f"day {number}", f"day {number}", replace(day, events=events, times=times))


def overview(folder: Path) -> None:
    pictures = write_pictures([(2, made_picture(2))], folder / "one")
    days = [Day("one", "one", made_day(), pictures=pictures), Day("two", "two", None, "no photos")]
    days += [located_day(number) for number in range(1, 8)]
    write_overview(days, folder, title="A trip", similar={(0, 0): [(0, 2)]})


def sequences(folder: Path) -> None:
    rows = [SequenceRow("one", "one", 60, 4, 1.5), SequenceRow("two", None, why="no photos")]
    write_sequences(rows, folder, title="Archive", n_total=3)


def given(folder: Path) -> None:
    pictures = write_pictures(((t, made_picture(t)) for t in range(60)), folder)
    small = {t: folder / address for t, address in pictures.items()}
    write_story([SharedDay(made_day(), small=small)], folder / "index.html")


@pytest.fixture(scope="module")
def axe():
    module = pytest.importorskip(
        "axe_playwright_python.sync_playwright", reason="axe-playwright-python is missing"
    )
    return module.Axe()


def faults(axe, page) -> list[str]:
    """What axe-core calls serious or critical: rule, and the elements concerned."""
    found = axe.run(page).response["violations"]
    return [
        f"{fault['id']}: {[node['target'] for node in fault['nodes']][:3]}"
        for fault in found
        if fault["impact"] in ("serious", "critical")
    ]


@pytest.mark.slow
@pytest.mark.parametrize(
    "made", [photos, without_pictures, film, table, several_days, overview, sequences, given]
)
def test_axe_finds_no_serious_fault(visit, axe, tmp_path, made):
    made(tmp_path)
    for width, scheme in SCREENS:
        page = visit(tmp_path, width=width, color_scheme=scheme).page
        assert page.evaluate("document.documentElement.scrollWidth") <= width, scheme
        for summary in page.locator("#days summary").all():
            summary.click()
        assert faults(axe, page) == [], (width, scheme)


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_no_serious_fault_in_dialogs_and_while_editing(visit, axe, tmp_path, scheme):
    photos(tmp_path)
    for width in (1280, 390):
        page = visit(tmp_path, width=width, color_scheme=scheme).page
        page.locator("#graph summary").click()
        page.locator(".event .name").nth(1).fill("Walk")
        page.locator(".event .name").nth(1).press("Enter")
        assert faults(axe, page) == [], "editing"
        page.locator("[data-action=split]").first.click()
        assert faults(axe, page) == [], "choosing a boundary"
        page.keyboard.press("Escape")
        page.locator("#help-button").click()
        assert faults(axe, page) == [], "help"
        page.keyboard.press("Escape")
        page.locator(".key").first.click()
        assert faults(axe, page) == [], "enlarged view"
        page.keyboard.press("Escape")
        page.locator("#play").click()
        page.keyboard.press("End")
        page.wait_for_timeout(1000)
        assert faults(axe, page) == [], "story"


# Controls whose spoken name lacks what they show, so that nobody can say it to use them.
UNNAMED = """() => [...document.querySelectorAll("a, button")]
    .filter(one => one.checkVisibility() && one.ariaLabel && /[a-z0-9]/i.test(one.innerText))
    .map(one => [one.innerText.replace(/\\s+/g, " ").trim(), one.ariaLabel])
    .filter(([shown, spoken]) => !spoken.toLowerCase().includes(shown.toLowerCase()))"""
# Controls that are smaller than a fingertip, but links within a sentence.
SMALL = """() => [...document.querySelectorAll(
        "a, button, select, summary, label, [role=slider], input:not([type=radio])"
    )]
    .filter(one => one.checkVisibility() && !one.matches(".skip"))
    .map(one => [one.outerHTML.slice(0, 90), one.getBoundingClientRect()])
    .filter(([_, box]) => box.width < 43.9 || box.height < 43.9)
    .map(([text, box]) => `${box.width} x ${box.height}: ${text}`)"""


def test_spoken_names_contain_what_is_shown_and_phones_have_large_targets(visit, tmp_path):
    photos(tmp_path)
    page = visit(tmp_path, width=390).page

    def check():
        assert page.evaluate(UNNAMED) == []
        assert page.evaluate(SMALL) == []

    page.locator(".event .name").nth(1).fill("Walk")
    page.locator(".event .name").nth(1).press("Enter")
    page.evaluate("scrollTo(0, 0)")
    check()
    for opener in ("#play", ".place-button", "[data-action=move]:visible", "#help-button", ".key"):
        page.locator(opener).first.click()
        check()
        page.keyboard.press("Escape")


def test_the_overview_has_large_targets_on_phones(visit, tmp_path):
    overview(tmp_path)
    page = visit(tmp_path, width=390).page
    page.locator("#day-1 summary").click()
    # Days below the window are not laid out.
    page.evaluate(
        "for (const day of document.querySelectorAll('li')) day.style.contentVisibility = 'visible'"
    )
    assert page.evaluate(UNNAMED) == []
    assert page.evaluate(SMALL) == []
    page.get_by_role("button", name="More like").first.click()
    assert page.evaluate(UNNAMED) == []
    assert page.evaluate(SMALL) == []


def test_a_shared_page_and_its_story_have_large_targets_on_phones(visit, tmp_path):
    given(tmp_path)
    page = visit(tmp_path, width=390).page
    for selector in ("#play", "main button"):
        assert page.evaluate(UNNAMED) == []
        assert page.evaluate(SMALL) == []
        page.locator(selector).first.click()
        assert page.evaluate(UNNAMED) == []
        assert page.evaluate(SMALL) == []
        page.keyboard.press("Escape")


def test_print_shows_no_controls(visit, tmp_path):
    photos(tmp_path)
    page = visit(tmp_path).page
    page.emulate_media(media="print")
    try:
        shown = page.locator("button:visible").all_inner_texts()
        assert set("".join(shown).split()) & {"Name", "Rename", "Split", "Merge", "Save"} == set()
    finally:
        page.emulate_media(media="screen")


def test_axe_sees_faults_in_spite_of_the_policy_of_the_page(visit, axe, tmp_path):
    table(tmp_path)
    page = visit(tmp_path).page
    page.evaluate("document.body.append(document.createElement('button'))")
    assert [fault.partition(":")[0] for fault in faults(axe, page)] == ["button-name"]


def tab_to(page, selector: str) -> None:
    """Press Tab until an element has the focus; it must be reached without a pointer."""
    for _ in range(80):
        if page.evaluate("selector => document.activeElement.matches(selector)", selector):
            return
        page.keyboard.press("Tab")
    pytest.fail(f"Tab does not reach {selector}")


@pytest.mark.slow
def test_everything_works_with_the_keyboard_alone(visit, tmp_path):
    photos(tmp_path)
    seen = visit(tmp_path)
    page, press = seen.page, seen.page.keyboard.press
    # Help, by its key and by its button; the focus returns.
    press("?")
    assert page.locator("#help").is_visible()
    press("Escape")
    tab_to(page, "#help-button")
    press("Enter")
    assert "undo" in page.locator("#help").inner_text()
    press("Escape")
    assert page.evaluate("document.activeElement.id") == "help-button"
    # Coarser, back, and only what is sure.
    tab_to(page, "#level")
    press("ArrowLeft")
    assert page.locator("#level-count").inner_text() == "3 events"
    press("ArrowRight")
    tab_to(page, "#least")
    for _ in range(13):
        press("ArrowRight")
    assert page.locator(".event").count() == 3
    press("Home")
    assert page.locator(".event").count() == 4
    # Name the second event, split it, move its start, and merge the third one up.
    tab_to(page, '.event[data-event="1"] .name')
    page.keyboard.type("Walk?")
    press("Enter")
    assert not page.locator("#help").is_visible()
    tab_to(page, '.event[data-event="1"] [data-action=split]')
    for key in ("Enter", "ArrowRight", "Enter"):
        press(key)
    assert seen.spans()[:3] == ["09:00", "09:04", "09:05"]
    tab_to(page, '.event[data-event="1"] [data-action=move]')
    for key in ("Enter", "ArrowLeft", "Enter"):
        press(key)
    tab_to(page, '.event[data-event="3"] [data-action=merge]')
    press("Enter")
    # A key photo in the enlarged view, reached through the timeline.
    tab_to(page, ".track")
    for key in ("End", "Enter", "k", "Escape"):
        press(key)
    with page.expect_download():
        press("Control+s")
    tab_to(page, "#save")
    with page.expect_download() as download:
        press("Enter")
    saved = Segmentation.from_json(Path(download.value.path()).read_text(encoding="utf-8"))
    assert [event.start for event in saved.events] == [0, 7, 10, 45]
    assert [event.name for event in saved.events] == [None, "Walk?", None, "Lunch"]
    assert (saved.events[3].key_frame, saved.events[3].key_chosen) == (59, True)
    assert seen.complaints == []


def test_a_day_is_reached_from_the_menu(visit, tmp_path):
    several_days(tmp_path)
    seen = visit(tmp_path, height=500)
    tab_to(seen.page, "#days")
    assert seen.page.locator("#days option").all_inner_texts() == [
        "Go to a day",
        "Thu 12 Mar",
        "Fri 13 Mar",
        "Sat 14 Mar",
    ]
    seen.page.select_option("#days", label="Sat 14 Mar")
    seen.wait_until(
        "document.querySelectorAll('.new-day')[2].getBoundingClientRect().bottom < innerHeight"
    )
    assert seen.page.locator("#live").inner_text() == "Sat 14 Mar, Event 4"


@pytest.mark.parametrize("width", [320, 390])
def test_buttons_are_whole_and_visible_on_a_phone(visit, tmp_path, width):
    photos(tmp_path)
    page = visit(tmp_path, width=width, height=740).page
    page.locator(".event .name").first.fill("renamed")
    page.locator(".event .name").first.press("Enter")
    for selector in ("#save", "#undo", "#redo", "#level-count", "#least-text", "#help-button"):
        box = page.locator(selector).bounding_box()
        assert box["x"] >= 0, selector
        assert box["x"] + box["width"] <= width, selector
    bar = page.locator("#bar").bounding_box()
    save = page.locator("#save").bounding_box()
    assert save["x"] + save["width"] <= bar["x"] + bar["width"]


@pytest.mark.parametrize("width", [1280, 390])
def test_actions_are_visible_without_a_pointer(visit, tmp_path, width):
    photos(tmp_path)
    page = visit(tmp_path, width=width).page
    shown = page.locator(".actions").evaluate_all(
        "all => all.map(e => getComputedStyle(e).opacity)"
    )
    assert shown == ["1"] * 4
