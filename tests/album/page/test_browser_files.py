"""The page in a browser: links to the photos themselves, the film at an event, and locations."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import av
import pytest

from album.page.conftest import COMMUNITIES, made_day, made_picture
from dayline.album.page.page import page_data, renew_page, write_page
from dayline.events import Segmentation, Shot
from dayline.text import time_text
from made_films import film_frames
from made_photos import write_pictures


@pytest.fixture(scope="module")
def film(tmp_path_factory) -> Path:
    """Eight seconds in four scenes, in a format that every Chromium plays."""
    path = tmp_path_factory.mktemp("films") / "my film #1.webm"
    with av.open(str(path), "w") as container:
        stream = container.add_stream(
            "libvpx", rate=25, options={"deadline": "realtime", "cpu-used": "8"}
        )
        stream.width, stream.height, stream.pix_fmt = 160, 90, "yuv420p"
        for pixels in film_frames([50, 50, 50, 50]):
            container.mux(stream.encode(av.VideoFrame.from_ndarray(pixels, "rgb24")))
        container.mux(stream.encode())
    return path


def film_page(folder: Path, film: Path) -> Path:
    """The page of a film of which every fifth frame was sampled; its second cut is exact."""
    times = tuple(0.2 * k for k in range(40))
    found = Segmentation.from_boundaries(
        [10, 20, 30], 40, times=times, clock="media", source=film.name
    )
    events = list(found.events)
    events[2] = replace(events[2], start_time=3.96)
    pictures = write_pictures(((k, made_picture(k)) for k in range(40)), folder)
    write_page(replace(found, events=tuple(events)), folder, thumbnails=pictures, film=film)
    return folder


def test_the_shots_of_a_film_lie_under_its_scenes(visit, film):
    folder = film_page(film.parent / "shots", film)
    data = read_events_of(folder)
    shots = tuple(Shot(25 * k, 25 * (k + 1), float(k), k + 0.96) for k in range(8))
    renew_page(data.about(shots=shots), folder)
    seen = visit(folder)
    strip = seen.page.locator("svg.shots")
    assert strip.get_attribute("aria-label") == "8 shots"
    assert "8 shots" in seen.page.locator("#summary").inner_text()
    # Eight shots of a second: the first, third, fifth and seventh are filled.
    assert strip.locator("path").get_attribute("d").count("M") == 4


def test_a_film_says_what_it_counts_and_each_time_once(visit, film):
    """Forty frames of two hundred were sampled; frames of films are named by their times."""
    folder = film_page(film.parent / "counts", film)
    data = read_events_of(folder)
    names = tuple(time_text(0.2 * k, clock="media") for k in range(40))
    write_page(data.about(shots=(Shot(0, 200, 0.0, 7.96),), names=names), folder)
    seen = visit(folder)
    facts = seen.page.locator("#summary span").all_inner_texts()
    assert facts[:3] == ["8 s", "40 of 200 frames looked at", "4 events"]
    assert seen.row(0).locator(".count").inner_text() == "10 frames looked at"
    seen.page.evaluate("location.hash = '#photo-12'")
    seen.wait_until("document.querySelector('.viewer-detail')?.textContent")
    detail = seen.page.locator(".viewer-detail").text_content()
    assert detail.split("  ·  ") == ["0:00:02", "2 of 10"]


def test_the_player_has_the_events_as_chapters(visit, film):
    folder = film_page(film.parent / "chapters", film)
    data = read_events_of(folder)
    events = (replace(data.events[0], name="Salt & <i>pepper</i>"), *data.events[1:])
    renew_page(data.about(events=events), folder)
    seen = visit(folder)
    seen.row(1).locator("[data-action=play]").click()
    chapters = seen.page.locator(".player").evaluate(
        """player => Array.from(player.textTracks, ({ kind, cues }) => [
          kind, Array.from(cues, (cue) => [cue.startTime, cue.getCueAsHTML().textContent])])"""
    )
    titles = ["Salt & <i>pepper</i>", "Event 2", "Event 3", "Event 4"]
    starts = [0, 2, 3.96, 6]
    assert chapters == [["chapters", [list(one) for one in zip(starts, titles, strict=True)]]]
    assert seen.complaints == []


def read_events_of(folder: Path) -> Segmentation:
    data = page_data(folder / "index.html")
    return Segmentation.from_json(json.dumps(data["segmentation"]))


PLAYED = "document.querySelector('.player')?.currentTime > {}"


def test_the_film_plays_at_an_event_and_pauses_at_its_end(visit, film):
    seen = visit(film_page(film.parent / "out", film))
    seen.row(2).locator("[data-action=play]").click()
    player = seen.page.locator(".player")
    assert player.get_attribute("src") == "../my%20film%20%231.webm#t=3.96,6"
    assert player.get_attribute("controls") is not None
    seen.wait_until(PLAYED.format(3.95))
    assert seen.page.locator(".viewer-title").inner_text() == "Event 3"
    seen.wait_until(PLAYED.format(4.5))
    # The title and the frames below follow the film.
    seen.wait_until("document.querySelector('.viewer-detail').textContent.startsWith('0:00:05')")
    seen.wait_until("document.querySelector('.player').paused")
    assert 5.9 <= player.evaluate("e => e.currentTime") < 7.9
    # "Play" goes on from there, into the next event.
    seen.page.keyboard.press("p")
    seen.wait_until(PLAYED.format(6.5))
    seen.wait_until("document.querySelector('.viewer-title').textContent === 'Event 4'")
    seen.page.keyboard.press("ArrowLeft")
    assert seen.page.locator(".player").count() == 0
    assert seen.page.locator(".stage img").count() == 1
    assert seen.complaints == []


def test_an_edit_does_not_stop_the_film_and_closing_does(visit, film):
    seen = visit(film_page(film.parent / "edit", film))
    seen.row(1).locator(".key").click()
    seen.page.locator("#viewer").get_by_text("Play", exact=True).last.click()
    seen.wait_until(PLAYED.format(2.9))
    assert seen.page.locator(".viewer-actions [data-key=p]").inner_text() == "Pause"
    seen.page.keyboard.press("p")
    assert seen.page.evaluate("document.querySelector('.player').paused") is True
    # Dragging its controls is no swipe to another frame.
    box = seen.page.locator(".player").bounding_box()
    seen.page.mouse.move(box["x"] + 100, box["y"] + 100)
    seen.page.mouse.down()
    seen.page.mouse.move(box["x"] + 300, box["y"] + 100)
    seen.page.mouse.up()
    assert seen.page.locator(".player").count() == 1
    seen.page.keyboard.press("s")
    assert seen.page.locator(".player").count() == 1
    assert seen.page.locator(".event").count() == 5
    seen.page.keyboard.press("Escape")
    seen.page.locator(".event .key").first.click()
    assert seen.page.locator(".player").count() == 0


def test_a_film_that_cannot_be_played_says_so(visit, film, tmp_path):
    broken = tmp_path / "broken.mp4"
    broken.write_bytes(b"not a film")
    seen = visit(film_page(tmp_path / "out", broken))
    seen.row(0).locator("[data-action=play]").click()
    text = seen.page.locator(".film-fails")
    assert text.inner_text().startswith("This browser cannot play the video")
    assert text.locator("a").get_attribute("href") == "../broken.mp4"
    seen.page.keyboard.press("ArrowRight")
    assert seen.page.locator(".stage img").count() == 1


def test_the_enlarged_view_opens_the_photo_itself(visit, tmp_path, day):
    photos = [tmp_path / "my photos" / f"{t:03d} é#?.jpg" for t in range(60)]
    photos[0].parent.mkdir()
    photos[10].write_bytes(b"x")
    out = tmp_path / "out"
    pictures = write_pictures(((t, made_picture(t)) for t in range(60)), out)
    write_page(day, out, thumbnails=pictures, communities=COMMUNITIES, originals=photos)
    seen = visit(out)
    seen.row(1).locator(".key").click()
    link = seen.page.get_by_text("Open the original")
    assert link.get_attribute("href") == "../my%20photos/010%20%C3%A9%23%3F.jpg"
    assert link.evaluate("a => a.href") == photos[10].as_uri()
    assert link.get_attribute("rel") == "noopener"
    assert seen.complaints == []


def test_without_originals_there_is_no_link_and_no_film(visit, day_folder):
    seen = visit(day_folder)
    seen.row(1).locator(".key").click()
    assert not seen.page.get_by_text("Open the original").is_visible()
    assert not seen.page.locator("#viewer").get_by_text("Play", exact=True).is_visible()


def test_a_location_is_one_line_of_numbers(visit, tmp_path):
    day = made_day()
    events = (replace(day.events[0], location=(41.387412, -2.16861)), *day.events[1:])
    write_page(replace(day, events=events), tmp_path)
    seen = visit(tmp_path)
    assert seen.page.locator(".location").all_inner_texts() == ["41.3874, -2.1686"]
    assert seen.row(0).locator("a").count() == 0
    # Edits and other levels keep it.
    seen.merge(1)
    assert seen.saved().events[0].location == (41.387412, -2.16861)
