"""Photos that are added change no event that a person touched, and no address."""

from __future__ import annotations

import warnings
from dataclasses import replace
from pathlib import Path

import pytest

from dayline.album.days import find_days, segment_days, segment_recording
from dayline.album.page.addresses import event_numbers, kept_addresses, photo_numbers
from dayline.album.page.overview import overview_data
from dayline.album.page.page import page_data
from dayline.album.save import save_events
from dayline.album.settings import Settings
from dayline.events import Segmentation, read_events
from made_photos import make_day, save, scene

SETTINGS = Settings(model="color")
DAY = (("red", 10), ("green", 10), ("blue", 10))


def run(photos: Path, out: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = find_days(photos, SETTINGS, store=out)
        if found.days:
            list(segment_days(found.days, out, SETTINGS, source=photos))
        else:
            segment_recording(found.whole or photos, out, SETTINGS)


def events(folder: Path) -> Segmentation:
    return read_events(folder / "events.json")


def digests_of(result: Segmentation) -> list[tuple[str, ...]]:
    return [result.digests[e.start : e.stop] for e in result.events]


def numbers(folder: Path) -> tuple[list[int], list[int]]:
    """The number in the address of each event, and of each photo."""
    result, addresses = events(folder), kept_addresses(page_data(folder / "index.html"))
    return event_numbers(result, addresses), photo_numbers(result, addresses)


def add_earlier(photos: Path, day: str, n: int = 10) -> None:
    """Photos of the same day, two hours before the others."""
    for k in range(n):
        save(scene("sand", 500 + k), photos / f"{day}_0700{3 * k:02d}.png")


@pytest.fixture
def photos(tmp_path) -> Path:
    for day in ("20150312", "20150313"):
        make_day(tmp_path / "photos", DAY, day=day)
    return tmp_path / "photos"


def test_addresses_of_events_and_photos_stay_when_photos_come_before_them(photos, tmp_path):
    out = tmp_path / "out"
    run(photos, out)
    day = out / "2015-03-12"
    before = events(day)
    assert numbers(day) == ([1, 2, 3], list(range(1, 31)))
    add_earlier(photos, "20150312")
    run(photos, out)
    after = events(day)
    assert digests_of(after)[1:] == digests_of(before)
    assert numbers(day) == ([4, 1, 2, 3], [*range(31, 41), *range(1, 31)])
    shown = overview_data(out)["days"][0]
    assert (shown["event_numbers"], shown["photo_numbers"]) == numbers(day)
    # Photos that are removed take no address of others with them.
    for path in sorted(photos.glob("20150312_0900*")):
        path.unlink()
    run(photos, out)
    assert numbers(day) == ([4, 1, 2, 3], [*range(31, 41), *range(3, 31)])


def test_events_that_a_person_touched_stay_and_nothing_is_there_twice(photos, tmp_path):
    out = tmp_path / "out"
    run(photos, out)
    day = out / "2015-03-12"
    found = events(day)
    # Named; begun elsewhere; with another key photo.
    second = replace(found.events[1], name="Walk", stop=18)
    third = replace(found.events[2], start=18, reason="required", key_frame=25, key_chosen=True)
    save_events(replace(found, events=(found.events[0], second, third)), day)
    before = events(day)
    add_earlier(photos, "20150312")
    make_day(photos, DAY, day="20150319")  # next week
    run(photos, out)
    after = events(day)
    assert digests_of(after)[1:] == digests_of(before)
    assert [event.name for event in after.events] == [None, None, "Walk", None]
    assert after.digests[after.events[3].key_frame] == before.digests[25]
    assert numbers(day)[0] == [4, 1, 2, 3]
    everything = [
        digest
        for name in ("2015-03-12", "2015-03-13", "2015-03-19")
        for digest in events(out / name).digests
    ]
    assert len(everything) == len(set(everything)) == 100


def test_events_that_are_merged_answer_to_both_addresses(photos, tmp_path):
    out = tmp_path / "out"
    run(photos, out)
    day = out / "2015-03-12"
    found = events(day)
    merged = replace(found.events[0], stop=20)
    save_events(replace(found, events=(merged, found.events[2])), day)
    assert numbers(day)[0] == [1, 3]
    result, addresses = events(day), kept_addresses(page_data(day / "index.html"))
    at = [int(result.labels[result.digests.index(digest)]) for digest in addresses["events"]]
    assert at == [0, 0, 1]


@pytest.mark.parametrize("width", [1280, 390])
def test_old_addresses_open_the_same_event_and_photo(visit, photos, tmp_path, width):
    for path in photos.glob("20150313*"):
        path.unlink()
    out = tmp_path / "out"
    run(photos, out)  # one day: its page is in the folder itself
    seen = visit(out, width=width)
    name = "document.activeElement.closest('.event').querySelector('.from').textContent"
    seen.open((out / "index.html").as_uri() + "#event-2")
    seen.wait_until("document.activeElement.className === 'name'")
    began = seen.page.evaluate(name)
    add_earlier(photos, "20150312")
    make_day(photos, DAY, day="20150313")
    run(photos, out)
    for address in ("index.html#event-2", "2015-03-12/index.html#event-2"):
        seen.page.goto("about:blank")
        seen.page.goto(f"{out.as_uri()}/{address}")
        seen.wait_until("document.activeElement.className === 'name'")
        assert seen.page.evaluate(name) == began == "09:05"
    seen.page.goto("about:blank")
    seen.page.goto(f"{out.as_uri()}/index.html#photo-11")
    seen.wait_until("document.querySelector('#viewer')?.open")
    assert "09:05:00" in seen.page.locator(".viewer-detail").inner_text()
    assert seen.page.evaluate("location.pathname").endswith("/2015-03-12/index.html")
    seen.page.keyboard.press("ArrowRight")
    seen.wait_until("location.hash === '#photo-12'")
    assert seen.complaints == []


def test_a_page_that_others_changed_is_no_source_of_addresses():
    wrong = [{}, {"addresses": 3}, {"addresses": {"events": [1], "photos": None}}]
    assert [kept_addresses(page) for page in wrong] == [None] * 3
