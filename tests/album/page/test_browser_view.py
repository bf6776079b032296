"""The page in a browser, served by `dayline view`: Save writes into the result."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from album.page.conftest import Visit
from album.view.conftest import running
from dayline.album.segment import segment_source
from dayline.album.write import write_result
from dayline.events import read_events
from dayline.result_folder import output_folder
from made_photos import make_day

pytestmark = pytest.mark.slow


@contextmanager
def dayline_view(folder: Path, *options: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Run the command as a person does; gives the process and the address that it prints."""
    command = [sys.executable, "-m", "dayline", "view", str(folder), "--no-open", *options]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout is not None
            yield (
                process,
                next(
                    found[0] for line in process.stdout if (found := re.search(r"http://\S+", line))
                ),
            )
        finally:
            process.kill()


@pytest.fixture
def out(tmp_path: Path) -> Path:
    make_day(tmp_path / "photos")
    folder = tmp_path / "out"
    write_result(
        segment_source(tmp_path / "photos", model="color", store=folder), folder, formats=["webvtt"]
    )
    return folder


@pytest.fixture
def tab(chromium: Any) -> Iterator[Any]:
    """Open an address in a tab; all tabs share one storage."""
    context = chromium.new_context()
    context.set_default_timeout(8000)

    def opened(address: str) -> Visit:
        visited = Visit(context.new_page())
        visited.open(address)
        return visited

    yield opened
    context.close()


def shows(seen: Visit, text: str) -> None:
    seen.page.locator("#status", has_text=re.compile(text)).wait_for()


def test_save_writes_into_the_result_and_a_reload_shows_it(tab, out):
    with dayline_view(out) as (process, address):
        seen = tab(address)
        seen.wait_until(
            "[...document.querySelectorAll('.key-picture')].every(image => image.complete &&"
            " image.naturalWidth > 0)"
        )
        seen.rename(1, "Breakfast")
        assert seen.status() == "1 change, in this browser"
        seen.page.click("#save")
        shows(seen, rf"^Saved in {out} at \d\d:\d\d$")
        seen.page.get_by_role("button", name="Share").click()
        seen.page.locator(".notice", has_text=f"dayline share {out} -o day.html").wait_for()
        assert read_events(out / "events.json").events[1].name == "Breakfast"
        assert "Breakfast" in (out / "chapters.vtt").read_text()
        seen.page.click("#undo")
        assert seen.status() == "1 change, in this browser"
        seen.page.click("#redo")
        assert seen.status().startswith("Saved in ")
        seen.reload()
        assert seen.names()[1] == "Breakfast"
        assert not seen.page.locator("#bar").is_visible()
        seen.rename(0, "Tea")
        seen.page.keyboard.press("Control+s")
        shows(seen, "^Saved in ")
        assert len(list(out.glob("events-*.json"))) == 2
        assert seen.complaints == []
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=20)
        assert process.returncode == 0
        assert (
            said == "dayline: ended; what was saved is in the result, other changes stay in the"
            " browser\n"
        )


def test_two_tabs_and_a_run_that_writes_lose_nothing(tab, out):
    with dayline_view(out) as (_, address):
        first, second = tab(address), tab(address)
        first.rename(1, "Breakfast")
        second.wait_until("document.querySelectorAll('.event .name')[1].value === 'Breakfast'")
        with output_folder(out):
            first.page.click("#save")
            first.page.locator(
                ".notice", has_text="another dayline run is writing there"
            ).wait_for()
            assert first.status() == "1 change, in this browser"
        first.answer("Try again")
        shows(first, "^Saved in ")
        shows(second, "^Saved in ")
        second.rename(0, "Tea")
        second.page.click("#save")
        shows(second, "^Saved in ")
        assert [event.name for event in read_events(out / "events.json").events] == [
            "Tea",
            "Breakfast",
            None,
        ]


def press_save(seen: Visit) -> None:
    """Press Save and wait until the result is written."""
    with seen.page.expect_response("**/events.json"):
        seen.page.click("#save")
    shows(seen, "^(Saved in |[1-9])")


def names_on_disk(out: Path) -> list[str | None]:
    return [event.name for event in read_events(out / "events.json").events]


def test_saving_twice_leaves_the_storage_usable(tab, out):
    with dayline_view(out) as (_, address):
        seen = tab(address)
        seen.rename(1, "Breakfast")
        for _ in range(3):
            press_save(seen)
            assert seen.status().startswith("Saved in ")
            assert seen.notices() == []
        seen.rename(0, "Tea")
        assert seen.status() == "1 change, in this browser"
        seen.reload()
        assert seen.names()[:2] == ["Tea", "Breakfast"]
        assert seen.notices() == []
        # Saved changes that were replaced since are not offered again.
        press_save(seen)
        seen.rename(0, "Dinner")
        press_save(seen)
        seen.reload()
        assert seen.names()[0] == "Dinner"
        assert seen.notices() == []
        assert seen.complaints == []


def test_returning_to_earlier_events_and_saving_them_is_what_a_reload_shows(tab, out):
    with dayline_view(out) as (_, address):
        first, second = tab(address), tab(address)
        first.rename(0, "Lunch")
        press_save(first)
        for key, name in [("#undo", None), ("#redo", "Lunch"), ("#undo", None)]:
            first.page.click(key)
            press_save(first)
            assert names_on_disk(out) == [name, None, None]
            second.wait_until(f"document.querySelector('.event .name').value === '{name or ''}'")
            shows(second, "^Saved in ")
        first.reload()
        assert first.names() == ["Event 1", "Event 2", "Event 3"]
        assert not first.page.locator("#bar").is_visible()
        assert first.notices() == second.notices() == []
        first.rename(1, "Walk")
        assert first.status() == "1 change, in this browser"
        press_save(first)
        assert names_on_disk(out) == [None, "Walk", None]
        first.reload()
        assert first.names() == ["Event 1", "Walk", "Event 3"]
        assert first.complaints == second.complaints == []


def test_a_note_of_a_save_that_the_result_no_longer_contains_is_not_believed(tab, out):
    before = (out / "events.json").read_bytes(), (out / "index.html").read_bytes()
    with dayline_view(out) as (_, address):
        seen = tab(address)
        seen.rename(0, "Lunch")
        press_save(seen)
        # As another browser, or a run without the corrections, might leave it.
        (out / "events.json").write_bytes(before[0])
        (out / "index.html").write_bytes(before[1])
        seen.reload()
        assert seen.names()[0] == "Event 1"
        assert not seen.page.locator("#bar").is_visible()
        seen.rename(1, "Walk")
        press_save(seen)
        assert names_on_disk(out) == [None, "Walk", None]


@contextmanager
def slow_save(seen: Visit) -> Iterator[Callable[[], None]]:
    """Hold what Save sends; gives a function that lets the server answer, and waits for it."""
    held: list[Any] = []
    seen.page.route("**/events.json", lambda route: held.append(route))

    def answer() -> None:
        while not held:
            seen.page.wait_for_timeout(20)
        with seen.page.expect_response("**/events.json"):
            held.pop(0).continue_()
        seen.wait_until("document.getElementById('status').textContent !== 'Saving'")

    yield answer
    seen.page.unroute("**/events.json")


def test_what_is_typed_while_save_takes_long_stays(tab, out):
    with dayline_view(out) as (_, address):
        seen = tab(address)
        seen.rename(0, "Breakfast")
        with slow_save(seen) as answer:
            seen.page.click("#save")
            assert seen.status() == "Saving"
            seen.row(1).locator(".name").click()
            seen.page.keyboard.type("Walk to")
            answer()
            seen.page.keyboard.type(" the old harbour")
        assert seen.names()[1] == "Walk to the old harbour"
        assert seen.status().startswith("Saved in ")
        seen.page.keyboard.press("Tab")
        assert seen.status() == "1 change, in this browser"
        seen.reload()
        assert seen.names() == ["Breakfast", "Walk to the old harbour", "Event 3"]
        assert names_on_disk(out) == ["Breakfast", None, None]
        assert seen.complaints == []


def test_typing_goes_on_after_control_s_and_names_given_meanwhile_are_kept(tab, out):
    with dayline_view(out) as (_, address):
        seen = tab(address)
        seen.row(1).locator(".name").click()
        with slow_save(seen) as answer:
            seen.page.keyboard.type("Lun")
            seen.page.keyboard.press("Control+s")
            assert seen.status() == "Saving"
            seen.rename(0, "Tea")
            seen.row(1).locator(".name").click()
            seen.page.keyboard.press("End")
            seen.page.keyboard.type("ch wi")
            answer()
            assert names_on_disk(out) == [None, "Lun", None]
            seen.page.keyboard.type("th Ana")
        seen.page.keyboard.press("Enter")
        assert seen.names() == ["Tea", "Lunch with Ana", "Event 3"]
        assert seen.status() == "2 changes, in this browser"
        seen.reload()
        assert seen.names() == ["Tea", "Lunch with Ana", "Event 3"]
        # In the dialog of a place, Ctrl+S names it first.
        seen.page.locator(".place-button").first.click()
        seen.page.keyboard.type("Kitchen")
        seen.page.keyboard.press("Control+s")
        shows(seen, "^Saved in ")
        assert not seen.page.locator(".place-dialog").is_visible()
        assert names_on_disk(out) == ["Tea", "Lunch with Ana", None]
        assert [place.name for place in read_events(out / "events.json").places] == ["Kitchen"]
        assert seen.complaints == []


def test_edits_survive_a_kill_of_the_server_and_are_saved_by_the_next_one(tab, out):
    with dayline_view(out) as (process, address):
        seen = tab(address)
        seen.rename(1, "Breakfast")
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        seen.page.click("#save")
        seen.page.locator(".notice", has_text="dayline view does not answer").wait_for()
        assert seen.status() == "1 change, in this browser"
    with dayline_view(out) as (_, address):
        seen.open(address)
        assert seen.names()[1] == "Breakfast"
        seen.page.click("#save")
        shows(seen, "^Saved in ")
    assert read_events(out / "events.json").events[1].name == "Breakfast"


def test_a_run_between_edits_and_save_is_noticed_and_the_edits_are_offered(tab, out, tmp_path):
    with dayline_view(out) as (_, address):
        seen = tab(address)
        seen.rename(1, "Breakfast")
        # Another run finds other events.
        found = segment_source(tmp_path / "photos", model="color", store=out)
        events = read_events(out / "events.json")
        merged = type(events).from_boundaries(
            (12,), events.n_frames, times=events.times, clock=events.clock
        )
        again = merged.about(names=events.names, digests=events.digests, source=events.source)
        write_result(
            type(found)(**{**vars(found), "segmentation": again, "corrections": None}), out
        )
        seen.page.click("#save")
        seen.page.locator(".notice", has_text="has changed since this page was opened").wait_for()
        seen.reload()
        assert len(seen.names()) == 2
        seen.answer("Restore")
        seen.page.click("#save")
        shows(seen, "^Saved in ")
    assert [event.name for event in read_events(out / "events.json").events] == [None, "Breakfast"]


def test_save_downloads_if_the_folder_cannot_be_written(tab, out):
    with running(out, unwritable="Read-only file system") as client:
        seen = tab(client.server.address)
        assert seen.page.locator("#save").text_content() == "Save events.json"
        seen.rename(1, "Breakfast")
        with seen.page.expect_download() as download:
            seen.page.click("#save")
        assert '"Breakfast"' in Path(download.value.path()).read_text()
        assert seen.status().startswith("Downloaded as events.json at ")
        (notice,) = seen.notices()
        assert "This result cannot be written." in notice
        assert "dayline view COPY --corrections" in notice
        assert names_on_disk(out) == [None, None, None]
        seen.reload()
        assert seen.names()[1] == "Breakfast"
        assert seen.complaints == []


def test_originals_open_if_their_folder_is_named(tab, out, tmp_path):
    with dayline_view(out, "--source", str(tmp_path / "photos")) as (_, address):
        seen = tab(address)
        seen.rename(0, "Tea")
        seen.page.click("#save")
        shows(seen, "^Saved in ")
        seen.row(0).locator(".key").click()
        link = seen.page.locator("#viewer a", has_text="original")
        assert (
            seen.page.evaluate(
                "address => fetch(address).then(answer => answer.status)",
                link.get_attribute("href"),
            )
            == 200
        )
        assert seen.complaints == []
    with dayline_view(out) as (_, address):
        seen = tab(address)
        seen.row(0).locator(".key").click()
        assert not seen.page.locator("#viewer a", has_text="original").is_visible()


def test_hidden_photos_and_favorites_are_saved_and_outlive_a_run(out, tab):
    with running(out) as client:
        seen = tab(client.server.address)
        seen.row(1).locator("[data-action=hide]").click()
        seen.row(0).locator(".thumb[data-frame='3']").click()
        seen.page.keyboard.press("f")
        seen.page.keyboard.press("Escape")
        seen.page.click("#save")
        shows(seen, "^Saved")
        saved = read_events(out / "events.json")
        assert (saved.favorites, saved.hidden) == ((3,), tuple(range(12, 26)))
        assert len((out / "events.csv").read_text().splitlines()) == 1 + 2
        seen.reload()
        assert seen.page.locator(".event").count() == 2
        assert seen.row(0).locator(".key").get_attribute("data-frame") == "3"
        seen.page.locator("#show-hidden").click()
        assert seen.page.locator(".event.hidden-event").count() == 1
    (out.parent / "photos").rename(out.parent / "elsewhere")
    for k, path in enumerate(sorted((out.parent / "elsewhere").iterdir())):
        path.rename(path.with_name(f"{k:03d}-{path.name}"))
    again = segment_source(out.parent / "elsewhere", model="color", store=out)
    assert again.segmentation.hidden == saved.hidden
    assert again.segmentation.favorites == (3,)
    assert again.segmentation.events[0].key_frame == 3
    assert not again.segmentation.events[0].key_chosen
